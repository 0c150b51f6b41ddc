"""The commands that look at the knobs, turn them one at a time, measure what that does, and put everything back."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from beowulf.cli import tune_tables
from beowulf.errors import UsageError

if TYPE_CHECKING:
    from beowulf.cluster import Cluster
    from beowulf.tuning.knob import Knob, Reading

app = typer.Typer(
    invoke_without_command=True,
    help="Where do the microseconds go? The knobs that latency may depend on, one at a time.",
)
KNOB = Annotated[str, typer.Argument(help="The knob's name, such as firewall.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print plain data for a script.")]
Folder = Annotated[Path, typer.Option("--records", help="The folder that keeps your Records.")]
Keep = Annotated[bool, typer.Option("--keep", help="Keep it, whatever comes out.")]
Revert = Annotated[bool, typer.Option("--revert", help="Put it back, whatever comes out.")]
Quick = Annotated[bool, typer.Option("--quick", help="Fewer and shorter samples.")]
Host = Annotated[
    bool,
    typer.Option("--host", help="Allow a change of this machine itself; what changes is listed."),
]
KEPT_IN = Path("records")
PING_PONG = 2  # nodes that measure


@app.callback()
def tune(context: typer.Context, as_json: AsJson = False) -> None:
    """Ask every node paper E's questions, and show each knob with its present value.

    Example: beowulf tune
    """
    if context.invoked_subcommand is not None:
        return
    from beowulf.cluster import running
    from beowulf.tuning import checklist, log, machines
    from beowulf.tuning.knobs import ALL

    cluster = running()
    answers = checklist.ask(cluster)
    found = {ALL[name]: each for name, each in machines.read(cluster, ALL.values()).items()}
    open_ = log.of_cluster(cluster).open() + log.of_host().open()
    if as_json:
        plain = [tune_tables.plain(knob, readings) for knob, readings in found.items()]
        asked = [tune_tables.answer(each) for each in answers]
        events = [tune_tables.event(entry) for entry in open_]
        print(json.dumps({"checklist": asked, "knobs": plain, "open": events}, indent=1))
        return
    print("\n".join(tune_tables.overview(answers, found, open_)))


@app.command()
def show(name: KNOB, as_json: AsJson = False) -> None:
    """Explain a knob: what it is, why it matters, what it does here, and the commands that turn it.

    Example: beowulf tune show firewall
    """
    from beowulf.cluster import namespaces
    from beowulf.tuning import machines
    from beowulf.tuning.knobs import find

    knob, cluster = find(name), namespaces.running()
    readings: dict[str, Reading] = {}
    if cluster or knob.on_host:
        readings = machines.read(cluster, [knob])[knob.name]
    if as_json:
        print(json.dumps(tune_tables.plain(knob, readings), indent=1))
        return
    print("\n".join(tune_tables.explained(knob, readings)))


@app.command()
def apply(
    name: KNOB,
    value: Annotated[str | None, typer.Argument(help="Paper E's choice if left out.")] = None,
    keep: Keep = False,
    revert: Revert = False,
    unmeasured: Annotated[
        bool, typer.Option("--unmeasured", help="Set it and keep it, without measuring.")
    ] = False,
    host: Host = False,
    quick: Quick = False,
    records: Folder = KEPT_IN,
    as_json: AsJson = False,
) -> None:
    """Turn one knob and measure a whole cycle, before and after in turns; then keep it or put it back.

    Without --keep and --revert you are asked; where nobody can be asked, it is put back.

    Example: beowulf tune apply firewall 1000 --revert
    """
    from beowulf.cluster import running
    from beowulf.tuning.change import changing
    from beowulf.tuning.knobs import find

    _refuse_both(keep or unmeasured, revert)
    knob = find(name)
    chosen = knob.accepted(value if value is not None else knob.tuned)
    cluster = running()
    if knob.on_host:
        _allow(knob, chosen, host)
    with changing(cluster, [(knob, chosen)]) as changes:
        nothing = changes.each[0].changes_nothing
        if unmeasured and not nothing:
            changes.keep()
    plain: dict[str, Any] = {"knobs": {knob.name: chosen}, "fate": "nothing changed"}
    text = (
        f"{knob.name} is {chosen} already; nothing was changed."
        f" `beowulf tune apply {knob.name} {knob.shows}` shows what it does."
    )
    if not nothing and not unmeasured:
        plain = _trial(cluster, [(knob, chosen)], keep, revert, quick, records, as_json)
    elif not nothing:
        plain, text = {**plain, "fate": "kept"}, f"{knob.name} {chosen}: kept, unmeasured."
    if as_json or nothing or unmeasured:
        print(tune_tables.json_or(as_json, plain, text))


@app.command("all")
def all_(
    keep: Keep = False,
    revert: Revert = False,
    host: Host = False,
    quick: Quick = False,
    records: Folder = KEPT_IN,
    as_json: AsJson = False,
) -> None:
    """Paper E's procedure: each knob that is not as short messages like it, alone; then all of them together.

    At the end, all of them are kept or put back. Without --keep and --revert you are asked; where nobody can be
    asked, they are put back.

    Example: beowulf tune all --revert
    """
    from beowulf.cluster import running
    from beowulf.tuning import change, trial

    _refuse_both(keep, revert)
    cluster = running()
    change.clear(cluster)
    turns = trial.untuned(cluster, host=host)
    for knob, value in turns:
        if knob.on_host:
            _allow(knob, value, host)
    if not turns:
        text = (
            "Every knob is as short messages like it; nothing was changed. To see what one does, untune it first:"
            " `beowulf tune apply firewall 100 --unmeasured`."
        )
        print(tune_tables.json_or(as_json, {"trials": [], "fate": "nothing changed"}, text))
        return
    rounds = [[turn] for turn in turns] + ([turns] if len(turns) > 1 else [])
    told: list[dict[str, Any]] = []
    for together in rounds:
        last = together is rounds[-1]
        told.append(
            _trial(cluster, together, last and keep, revert or not last, quick, records, as_json)
        )
    if as_json:
        print(json.dumps({"trials": told, "fate": told[-1]["fate"]}, indent=1))
    elif len(turns) > 1:
        alone = sum(1 - each["ratio"]["median"] for each in told[:-1])
        both = 1 - told[-1]["ratio"]["median"]
        print(
            f"The gains of each alone add up to {100 * alone:.0f} %; all together gain {100 * both:.0f} %."
        )


@app.command()
def revert() -> None:
    """Put everything back that `beowulf tune` has changed, exactly as it was; after a crash too.

    A node that is down is put back as soon as `beowulf up` has started it again.

    Example: beowulf tune revert
    """
    from beowulf.cluster import namespaces
    from beowulf.tuning import change, log

    cluster = namespaces.running()
    logs = [log.of_host()] + ([log.of_cluster(cluster)] if cluster else [])
    done: list[str] = []
    waiting: set[str] = set()
    for each in logs:
        names = {entry.number: f"{entry.knob} {entry.value}" for entry in each.open()}
        if not names:
            continue
        with each.held():
            found = change.put_all_back(cluster, each, each.open())
        done += [names[number] for number, down in found.items() if number in names and not down]
        waiting |= {place for down in found.values() for place in down}
    if waiting:
        print(
            f"{', '.join(sorted(waiting))} does not run: `beowulf up` starts it and puts it back too."
        )
    print(f"Put back: {', '.join(done)}." if done else "Nothing was to be put back.")


@app.command("log")
def log_(as_json: AsJson = False) -> None:
    """Show every change that was made, what was there before, and what became of it.

    Example: beowulf tune log
    """
    from beowulf.cluster import namespaces
    from beowulf.tuning import log

    cluster = namespaces.running()
    entries = log.of_host().entries() + (log.of_cluster(cluster).entries() if cluster else [])
    entries.sort(key=lambda entry: entry.at)
    if as_json:
        print(json.dumps([tune_tables.event(entry) for entry in entries], indent=1))
        return
    if not entries:
        print("No knob has been turned.")
        return
    rows: list[tuple[str, ...]] = [("when", "knob", "set to", "was", "now it is")]
    for entry in entries:
        where = f" (not yet {', '.join(entry.open)})" if entry.asked and entry.open else ""
        rows.append(
            (
                entry.at,
                entry.knob,
                entry.value,
                tune_tables.now(entry.before),
                f"{entry.fate}{where}",
            )
        )
    print("\n".join(tune_tables.table(rows)))


def _trial(
    cluster: Cluster,
    turns: list[tuple[Knob, str]],
    keep: bool,
    revert: bool,
    quick: bool,
    records: Path,
    as_json: bool,
) -> dict[str, Any]:
    """Measure these changes, keep them or put them back, and say so; the same as plain data."""
    from beowulf.progress import bar
    from beowulf.tuning import trial
    from beowulf.tuning.change import changing

    name = ", ".join(f"{knob.name} {value}" for knob, value in turns)
    with changing(cluster, turns, nodes=cluster.nodes[:PING_PONG]) as changes:
        with bar(name, shown=not as_json) as told:
            found = trial.measure(cluster, changes, records, quick=quick, progress=told)
        kept = keep or (not revert and _wanted(f"{name}: {found}"))
        if kept:
            changes.keep()
    fate = "kept" if kept else "put back"
    if not as_json:
        print(f"{name}: {found}; {fate}.")
    decided = {"decision": found.decision, "ratio": vars(found.ratio)}
    return {"knobs": {knob.name: value for knob, value in turns}, **decided, "fate": fate}


def _refuse_both(keep: bool, revert: bool) -> None:
    if keep and revert:
        raise UsageError("Either keep it or put it back: --keep and --revert exclude each other.")


def _allow(knob: Knob, value: str, host: bool) -> None:
    lines = knob.set(value, knob.where[0])
    if not host:
        raise UsageError(
            f"{knob.name} belongs to this machine and not to the cluster; nothing was changed.",
            f"With `--host`, these lines are run here:\n{lines}",
        )
    print(f"On this machine are run:\n{lines}", file=sys.stderr)
    if _somebody() and not typer.confirm("Run them?"):
        raise typer.Exit(1)


def _wanted(found: str) -> bool:
    if not _somebody():
        return False
    print(found)
    return typer.confirm("Keep it?")


def _somebody() -> bool:
    return sys.stdin is not None and sys.stdin.isatty() and sys.stdout.isatty()
