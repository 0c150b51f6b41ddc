"""What happens behind a notebook's cells: a study saves its Record, tables fit into a cell."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from beowulf.cluster import Cluster
from beowulf.cluster.holding.lock import Report
from beowulf.cluster.namespaces.faults import PUZZLES
from beowulf.course import personal_code
from beowulf.errors import LabError, Sentence, UsageError
from beowulf.measure.watched import Watched
from beowulf.record import GIVEN, Record
from beowulf.studies import by_kind, draw, find, given, known
from beowulf.this_machine.progress import InCell, Progress, aside, no_progress
from beowulf.this_machine.user import learner

if TYPE_CHECKING:
    import pandas as pd

# It becomes part of a file's name.
VARIANT = re.compile(r"\w[\w-]*")
LONGEST_TABLE = 60  # rows that a terminal prints


def study(
    name: str,
    cluster: Cluster,
    *,
    variant: str = "",
    quick: bool = False,
    progress: bool = True,
    when: str = "now",
) -> Record:
    """Measure, draw meanwhile, and save beside the notebook; LabError while someone else measures on the cluster."""
    if shown := _given(find(name).id, cluster):
        return shown
    from beowulf.this_machine.progress import bar

    folder = cluster.records or Path("records")
    try:
        with bar(find(name).title, shown=progress, draw=draw) as report:
            record, path = measure_and_save(
                name,
                cluster,
                folder,
                variant=variant,
                quick=quick,
                report=print,
                progress=report,
                when=when,
            )
    except KeyboardInterrupt:
        raise NothingMeasuredError(
            f"Study {find(name).id} was stopped before it had measured anything: there is no Record of it."
            " Run this cell again to measure."
        ) from None
    if not record.complete:
        left = incomplete_message(record, path, "Run this cell again")
        print(*record.warnings, left, sep="\n", file=aside())
        if isinstance(report, InCell):
            report.show(lambda: record, now=True)
    return record


def _given(study: str, cluster: Cluster) -> Record | None:
    """If this kind of cluster cannot show a study, the Record of it that comes with the labs."""
    why = by_kind.unseen(study, cluster) if cluster.cannot_show else ""
    record = given.record(study) if why else None
    if record:
        print(
            f"{why} {given.SAYS} It was measured on {record.started[:10]} on a cluster of the kind"
            f" {record.cluster.get('kind')}."
        )
    return record


def prepare() -> None:
    """Let tables fit into a notebook's cells, and let pyshark run in them as its documentation shows.

    Each cell that is run updates what its learner shares with the class, if anything.
    """
    fit_tables()
    nest_loops()
    share_runs()


def share_runs() -> None:
    """After each cell, update what its learner shares with the class (beowulf/desk/sharing.py)."""
    from IPython.core.getipython import get_ipython

    from beowulf.desk import sharing

    shell: Any = get_ipython()
    if shell:
        shell.events.register("post_run_cell", sharing.runs.after)


def nest_loops() -> None:
    """Where cells run inside an event loop, as Jupyter's do, let the code they call run that loop for a while, too.

    pyshark waits for each packet from tshark in this way, and asyncio alone does not allow it.
    """
    import asyncio

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return  # in a terminal
    import nest_asyncio2

    from beowulf.packets import dissector

    nest_asyncio2.apply()
    dissector.let_pyshark_wait()


def fit_tables() -> None:
    """In a notebook, let the tables of pandas be as wide as the cell: titles break at `_`, long words anywhere.

    A title does not break before a unit.

    In a terminal, print all of their columns, side by side as far as they fit.
    """
    from IPython.core.getipython import get_ipython

    shell: Any = get_ipython()
    if shell:
        import numpy as np

        np.set_printoptions(legacy="1.25")  # -12.3, not np.float64(-12.3)
        formatters = shell.display_formatter.formatters
        formatters["text/html"].for_type_by_name("pandas", "DataFrame", fitted)
        if type(shell).__name__ == "TerminalInteractiveShell":
            formatters["text/plain"].for_type_by_name("pandas", "DataFrame", print_whole)


def print_whole(frame: pd.DataFrame, printer: Any, cycle: bool) -> None:
    """What a terminal prints of a table."""
    width = shutil.get_terminal_size().columns
    printer.text(frame.to_string(line_width=width, max_rows=LONGEST_TABLE))


def fitted(table: pd.DataFrame) -> str:
    """The HTML of a table that a page of any width can hold."""
    page = re.sub(
        "(<th[^>]*)>(.*?)</th>",
        lambda title: f"{title[1]}>{re.sub('_(?=[a-z]{3})', '_<wbr>', title[2])}</th>",
        str(cast("Any", table)._repr_html_()),
    )
    page = re.sub(r"<td>([-+.,:\d]+)</td>", r'<td style="white-space:nowrap">\1</td>', page)
    # Only what no line can hold, as a path, is broken within a word.
    page = re.sub(
        r"<td>([^<]*[^<\s]{24}[^<]*)</td>", r'<td style="overflow-wrap:anywhere">\1</td>', page
    )
    return f'<div style="overflow-x:auto">{page}</div>'


class NothingMeasuredError(Sentence, KeyboardInterrupt):
    """A study was interrupted before its first sample."""


def incomplete_message(record: Record, path: Path, again: str) -> str:
    """What is left of a measurement that was cut short, where, and that `again` is what to do next."""
    samples = sum(len(point.samples) for point in record.points)
    return (
        f"Kept: {samples} samples of study {record.study}, in {path}, which is marked as"
        f" incomplete. {again} to measure all of it; until then its claims are inconclusive at best."
    )


def measure_and_save(
    name: str,
    cluster: Cluster,
    folder: Path,
    *,
    variant: str = "",
    quick: bool = False,
    adaptive: bool = False,
    wait: bool = False,
    report: Report | None = None,
    progress: Progress = no_progress,
    when: str = "now",
    traces: Path | None = None,
) -> tuple[Record, Path]:
    """Measure a study, say whose Record it is, and save it in `folder`; returns the Record and its file.

    `adaptive` is for the studies that can add sizes between their own; UsageError for the others. `wait` and
    `report`: as in Watched; `when` and `traces`: as in Study.measure.
    """
    if adaptive and not find(name).adaptive:
        able = [each for each in known() if find(each).adaptive]
        raise UsageError(
            f"The sizes of study {find(name).id} cannot be refined.",
            f"`--adaptive` is for {' and '.join(sorted(able))}.",
        )
    if variant and not VARIANT.fullmatch(variant):
        raise UsageError(
            f"A variant is a word of letters, digits and hyphens, not {variant!r}.",
            "For example: `broken-a`.",
        )
    if variant == GIVEN:
        raise UsageError(
            f"{GIVEN!r} names the Records that come with the labs.",
            "Choose another name for yours.",
        )
    try:  # before the measurement, which would be lost otherwise
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise LabError(
            f"The folder {folder} for your Records cannot be made: {error.strerror}.",
            "Name another one, or work in a folder that you may write to.",
        ) from error
    by_kind.refuse_unseen(find(name).id, cluster)
    if code := personal_code.missing():
        (report or print)(code)
    options = {"adaptive": True} if adaptive else {}
    with Watched(cluster, find(name).id, wait=wait, report=report) as watched:
        _refuse_a_false_name(cluster.broken, variant)
        record = find(name).measure(
            cluster, folder, quick=quick, progress=progress, when=when, traces=traces, **options
        )
        record.learner = learner()
        record.variant = variant
        return record, watched.end(record).save_in(folder)


def _refuse_a_false_name(broken: str, variant: str) -> None:
    """A Record of a broken cluster must not pass for one of a whole cluster, or of another broken one."""
    named = variant.removeprefix("broken-") if variant.startswith("broken-") else ""
    if broken and not variant:
        raise LabError(
            f"The cluster is broken ({broken}), and this Record would pass for one of a whole cluster.",
            f"Name it with `--variant broken-{broken}`, or heal the cluster first: `beowulf up`.",
        )
    if named in PUZZLES and broken != named:
        state = f"broken ({broken})" if broken else "not broken"
        raise LabError(
            f"The cluster is {state}, but this Record is meant to be of broken cluster {named}.",
            f"`beowulf break {named}` breaks it in that way; `beowulf up` heals it.",
        )
