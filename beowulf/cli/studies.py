"""The commands that measure a study of the papers and judge their claims."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from beowulf.cli.options import KEPT_IN, AsJson, Folder, Quick, Wait
from beowulf.cli.running_measurement import report
from beowulf.errors import LabError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from beowulf.figures import Figure
    from beowulf.record import Record
    from beowulf.verdict import Verdicts

Variant = Annotated[
    str,
    typer.Option(help="A word that marks this Record, such as broken-a."),
]
Given = Annotated[
    bool,
    typer.Option("--given", help="Use the labs' given Record of a full run, not yours."),
]


def study(
    name: Annotated[str, typer.Argument(help="The study's ID; they are listed below.")],
    quick: Quick = False,
    adaptive: Annotated[
        bool,
        typer.Option("--adaptive", help="Add sizes where times are off the line; few studies can."),
    ] = False,
    records: Folder = KEPT_IN,
    variant: Variant = "",
    traces: Annotated[
        Path | None,
        typer.Option("--trace", help="A folder for the MPI calls of each launch."),
    ] = None,
    wait: Wait = False,
    when: Annotated[
        str, typer.Option(help="`quiet` waits up to 3 minutes for a quiet machine.")
    ] = "now",
    as_json: AsJson = False,
) -> None:
    """Measure a study of the papers, and judge its claims.

    Its Record is kept.

    Example: beowulf study A2
    """
    from beowulf.cluster import running
    from beowulf.desk.notebook import incomplete_message, measure_and_save
    from beowulf.studies import find, judge
    from beowulf.this_machine.progress import bar

    title, cluster = find(name).title, running()
    with bar(title, shown=not as_json) as progress:
        record, path = measure_and_save(
            name,
            cluster,
            records,
            variant=variant,
            quick=quick,
            adaptive=adaptive,
            wait=wait,
            report=report,
            progress=progress,
            when=when,
            traces=traces,
        )
    print_verdicts(judge(record), as_json)
    if not record.complete:
        report(incomplete_message(record, path, "Run this command again"))
    elif not as_json:
        print(f"The Record is in {path}.")
    if traces and not any(traces.glob("*.trace")):
        report(f"Nothing was recorded: {record.study} starts no MPI program of the labs itself.")
    report_incomplete(record)


def claims(
    name: Annotated[str, typer.Argument(help="The study's ID; `beowulf study -h` lists them.")],
    records: Folder = KEPT_IN,
    variant: Variant = "",
    given: Given = False,
    why: Annotated[
        bool,
        typer.Option("--why", help="Explain why a modern result agrees or differs."),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Judge the claims of a study again, by its newest Record.

    Example: beowulf claims A2 --json
    """
    from beowulf.studies import find, judge

    record = _given(name) if given else _newest(name, records, variant)
    verdicts = judge(record)
    print_verdicts(verdicts, as_json)
    if why and not as_json:
        reasons = find(name).reasons((each.outcome for each in verdicts), record.cluster)
        for outcome, reason in reasons.items():
            print(f"Why {outcome}: {reason}")


def calibrate(
    output: Annotated[Path, typer.Argument(help="The platform to write, in TOML.")],
    name: Annotated[
        str, typer.Option("--study", help="The study whose newest Record is read.")
    ] = "E1",
    nodes: Annotated[int, typer.Option(help="The number of nodes of the platform.")] = 4,
    records: Folder = KEPT_IN,
) -> None:
    """Make a platform for simulations from your measurements.

    Messages take as long on it as yours did.

    Example: beowulf calibrate mine.toml --nodes 64
    """
    from beowulf.measure import calibration

    found = calibration.of(_newest(name, records, ""))
    for each in found.sizes:
        missed = f"  {each.error_percent:+.1f} % off if it were left out" if each.between else ""
        print(
            f"{each.size_bytes:>9,} bytes  {each.median:>11,.1f} µs ({each.low:,.1f} to {each.high:,.1f}){missed}"
        )
    if found.send_us:
        print(
            f"A message of one byte keeps its sender busy for {found.send_us:.1f} µs,"
            f" its receiver for {found.receive_us:.1f}."
        )
    else:
        print("The Record has no overheads: measure E1 again if messages in a row matter to you.")
    worst = f"Between the measured sizes the platform may be off by {found.worst_percent:.0f} %."
    about = (
        f"Messages take as long as in {found.record} (links of {found.rate}).\n{worst}\n"
        "Work takes no time in it: what a program computes is not simulated."
    )
    try:
        output.write_text(found.platform(nodes).toml(about), encoding="utf-8")
    except OSError as problem:
        raise LabError(f"{output} was not written: {problem.strerror}.") from None
    print(f"{worst} Written: {output}.")
    # A user has one cluster at a time in a state folder.
    print(
        f"Next: `BEOWULF_STATE=~/simulated beowulf up --target {output}` starts it beside the cluster that is running."
    )


def show(
    name: Annotated[str, typer.Argument(help="The study's ID; `beowulf study -h` lists them.")],
    records: Folder = KEPT_IN,
    variant: Variant = "",
    given: Given = False,
    picture: Annotated[
        Path | None,
        typer.Option(
            "--picture",
            help="Draw it instead, as .png or .svg, with a description and a table in files next to it.",
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Print the newest Record of a study.

    That is every point, with its samples and facts.

    Example: beowulf show A5 --picture idle.png
    """
    from beowulf.studies import find, of_exercise

    record = _given(name) if given else _newest(name, records, variant)
    if picture is not None:
        figure = _picture(record)
        files = figure.save(picture)
        print(figure.alt)
        print(f"Written: {', '.join(map(str, files))}.")
        return
    if as_json:
        print(json.dumps(record.as_plain(), indent=1))
        return
    by = f"by {record.learner}" if not given else "given with the labs, not measured by you"
    print(f"study {record.study}, {record.started} to {record.ended}, {by}")
    asked = () if of_exercise(record.study) else find(record.study).asked
    print("\n".join(point_lines(record, asked)))


def point_lines(record: Record, asked: Sequence[str] = ()) -> list[str]:
    """Every point with its samples and facts, but for those facts that are `asked`."""
    lines = []
    for point in record.points:
        lines += ["", ", ".join(f"{key}: {value}" for key, value in point.at.items())]
        if point.samples:
            lines.append(f"  {point.quantity}: {_joined(point.samples)}")
        for key, value in point.facts.items():
            if key not in asked:
                lines += [f"  {line}" for line in _lines(key, value)]
    return lines


def _joined(values: Sequence[Any]) -> str:
    return ", ".join(f"{each:g}" if isinstance(each, float) else str(each) for each in values)


def _lines(key: str, value: object) -> list[str]:
    """A fact on a line, or a line for each part of a fact that has parts."""
    if isinstance(value, dict):
        return [f"{key} {line}" for name, part in value.items() for line in _lines(name, part)]
    if isinstance(value, list):
        plain = not value or not isinstance(value[0], dict | list)
        return [f"{key}: {_joined(value) or 'none'}"] if plain else [f"{key}: {v}" for v in value]
    if isinstance(value, str) and "\n" in value:
        return [f"{key}: {part}" for part in value.splitlines()]
    return [f"{key}: {value:.6g}" if isinstance(value, float) else f"{key}: {value}"]


def _picture(record: Record) -> Figure:
    from beowulf.exercises.heat import reading
    from beowulf.exercises.timelines import RUN

    if record.study in reading.STUDIES or any(RUN in each.at for each in record.points):
        from beowulf.exercises.heat import picture

        return picture(record)
    from beowulf.studies import draw

    return draw(record)


def _given(name: str) -> Record:
    from beowulf.studies import find
    from beowulf.studies import given as with_labs

    study = find(name).id
    if record := with_labs.record(study):
        return record
    known = ", ".join(with_labs.studies()) or "none"
    raise LabError(f"No Record of study {study} is given with the labs.", f"There are: {known}.")


def _newest(name: str, records: Path, variant: str) -> Record:
    from beowulf.record import newest
    from beowulf.studies import find, of_exercise

    study = name.upper() if of_exercise(name) else find(name).id
    # An exercise may have Records of several variants, and none without.
    record = newest(records, study, variant or (None if of_exercise(name) else ""))
    if record is None:
        which = f"{study}, variant {variant}," if variant else study
        named = f" --variant {variant}" if variant else ""
        measures = f"`beowulf study {study}{named}`"
        raise LabError(
            f"There is no Record of study {which} in {records}.",
            f"{'A cell of its lab' if of_exercise(name) else measures} measures one;"
            " `--records` names another folder.",
        )
    return record


def report_incomplete(record: Record) -> None:
    """Print on stderr what went wrong meanwhile; exit code 1 for a measurement that was cut short."""
    for warning in record.warnings:
        report(warning)
    if not record.complete:
        raise typer.Exit(1)


def print_verdicts(verdicts: Verdicts, as_json: bool) -> None:
    """Print Verdicts as a table, or as JSON."""
    print(json.dumps([each.as_plain() for each in verdicts], indent=1) if as_json else verdicts)
