"""The commands that do as paper E did: every knob alone and all together, and programs before and after."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from beowulf.cli import tune_tables, tune_trial, way
from beowulf.cli.studies import report_incomplete
from beowulf.cli.tune_trial import KEPT_IN, AsJson, Folder, Host, Keep, Quick, Revert
from beowulf.cli.way import Force
from beowulf.errors import LabError

if TYPE_CHECKING:
    from beowulf.cluster import Cluster
    from beowulf.record import Record
    from beowulf.tuning.knob import Knob


def all_(
    keep: Keep = False,
    revert: Revert = False,
    host: Host = False,
    quick: Quick = False,
    records: Folder = KEPT_IN,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Paper E's procedure: each knob alone, then all of them together.

    Changes every knob not at its low-latency setting; at the end, all of them are kept or put back. Without --keep and
    --revert you are asked; without a terminal, they are put back. On an unchanged cluster, paper E's state is made
    first (interrupt moderation and a firewall) and taken away, part by part; at the end everything is as it was. With
    --host, this machine's own knobs are turned too, there only those of the paper.

    Example: beowulf tune all --revert
    """
    from beowulf.cluster import running
    from beowulf.tuning import change, machines, trial

    tune_trial.refuse_both(keep, revert)
    cluster = running()
    way.make("beowulf tune all", force)
    change.clear(cluster)
    turns = trial.untuned(cluster, host=host)
    if all(machines.belongs_here(cluster, knob) for knob, _ in turns):
        _papers_state(cluster, host, quick, records, as_json)
        return
    for knob, value in turns:
        if machines.belongs_here(cluster, knob):
            tune_trial.allow(knob, value, host)
    tune_trial.show_first(cluster, turns)
    _each_and_all(cluster, turns, keep, revert, quick, records, as_json)


def _each_and_all(
    cluster: Cluster,
    turns: list[tuple[Knob, str]],
    keep: bool,
    revert: bool,
    quick: bool,
    records: Path,
    as_json: bool,
) -> None:
    rounds = [[turn] for turn in turns] + ([turns] if len(turns) > 1 else [])
    trials: list[dict[str, Any]] = []
    for together in rounds:
        last = together is rounds[-1]
        how = (last and keep, revert or not last, quick, records, as_json)
        trials.append(tune_trial.measured(cluster, together, *how))
    if as_json:
        print(json.dumps({"trials": trials, "fate": trials[-1]["fate"]}, indent=1))
    elif len(turns) > 1:
        alone = sum(each["ratio"]["median"] - 1 for each in trials[:-1])
        print(tune_tables.added_up(100 * alone, 100 * (trials[-1]["ratio"]["median"] - 1)))


def _papers_state(cluster: Cluster, host: bool, quick: bool, records: Path, as_json: bool) -> None:
    """Study E6: the state before is made on the nodes that measure, and taken away."""
    from beowulf.notebook import measure_and_save
    from beowulf.progress import bar
    from beowulf.studies.lab_07 import e6_knobs
    from beowulf.studies.lab_07.knob_gains import absent, gains
    from beowulf.tuning import machines, paper_e_baseline
    from beowulf.tuning.knobs import ALL

    missing = paper_e_baseline.absent_knobs(cluster, host=host)
    here = {name: value for name, value in paper_e_baseline.TESTBED.items() if name not in missing}
    if not here:
        raise LabError("No knob of paper E can be turned here.", "`beowulf tune` says why.")
    own = paper_e_baseline.machines_parts(missing)
    for name, value in own.items():
        if machines.belongs_here(cluster, ALL[name]):
            tune_trial.allow(ALL[name], value, host)
    tune_trial.show_first(cluster, [(ALL[name], value) for name, value in (here | own).items()])
    if not as_json:
        made = ", ".join(f"{name} {value}" for name, value in here.items())
        print(f"Nobody has turned a knob here, so paper E's state is made first: {made}.")
    with bar(e6_knobs.STUDY.title, shown=not as_json) as progress:
        record, path = measure_and_save(
            "E6", cluster, records, quick=quick, more={"host": host}, progress=progress
        )
    by_knob = gains(record)
    reasons = {
        name: why for name in paper_e_baseline.PAPER_E_KNOBS if (why := absent(record, name))
    }
    if as_json:
        print(json.dumps(tune_tables.plain_gains(by_knob, reasons, record.sweep), indent=1))
    else:
        print("\n".join(tune_tables.gained(by_knob, reasons, tuple(here))))
        _rely(record)
        print(f"Everything is as it was. The Record is in {path}; `beowulf claims E6` judges it.")
    report_incomplete(record)


def compare(
    programs: Annotated[
        list[str] | None,
        typer.Argument(help="Of kernels, search, hpl and hpcc; all of them if left out."),
    ] = None,
    quick: Annotated[
        bool,
        typer.Option(
            "--quick", help="Small problems, few runs; kernels and search, unless you name others."
        ),
    ] = False,
    picture: Annotated[
        Path | None, typer.Option("--picture", help="Draw it as well, as .png or .svg.")
    ] = None,
    records: Folder = KEPT_IN,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """What do programs gain when latency is tuned? The ping-pong beside NPB's kernels, a search, HPL, and hpcc.

    Before: with interrupt moderation and a firewall on every node, as paper E's nodes came with. After: without. Both
    take turns; at the end everything is as it was. Programs are kernels, search, hpl and hpcc; all of them if left out.

    Example: beowulf tune compare kernels --quick
    """
    from beowulf.cluster import running
    from beowulf.progress import bar
    from beowulf.studies.lab_07 import before_after as both
    from beowulf.tuning import change, change_preview, paper_e_baseline
    from beowulf.tuning.knobs import ALL

    names, cluster = both.chosen(programs or (), quick=quick), running()
    way.make("beowulf tune compare", force)
    change.clear(cluster)
    if change_preview.shown_first(cluster):
        parts = paper_e_baseline.parts(cluster).items()
        tune_trial.show_first(cluster, [(ALL[name], value) for name, value in parts])
    by_program: dict[str, Record] = {}
    left_out: list[str] = []
    for name in names:
        try:
            with bar(name, shown=not as_json) as progress:
                by_program[name], _ = both.measure(
                    name, cluster, records, quick=quick, progress=progress
                )
        except LabError as error:
            if programs:  # the user asked for this one
                raise
            left_out.append(f"{name}: {error}")
            continue
        if not by_program[name].complete:  # Ctrl-C is meant for all of it
            break
    rows = {name: both.rows(record) for name, record in by_program.items()}
    every = [row for each in rows.values() for row in each]
    if not every:
        raise LabError(
            " ".join(["Nothing could be measured before and after.", *left_out]),
            "`beowulf status` and `beowulf doctor` say what is missing.",
        )
    if as_json:
        print(json.dumps(tune_tables.plain_rows(rows, both.conclusion(every), left_out), indent=1))
    else:
        print("\n".join(tune_tables.compared(rows)))
        print("\n".join(["", both.conclusion(every), *(f"Left out: {each}" for each in left_out)]))
        _rely(*by_program.values())
        print(f"The Records are in {records}.")
    if picture is not None:
        drawn = both.picture(every).save(picture)
        if not as_json:
            print(f"Written: {', '.join(str(file) for file in drawn)}.")
    for record in by_program.values():
        report_incomplete(record)


def _rely(*records: Record) -> None:
    from beowulf.studies.lab_07.before_after import doubts

    if reasons := doubts(records):
        print(f"Do not rely on it: {'; '.join(reasons)}.")
