"""The commands that look at the knobs, turn them one at a time, measure what that does, and put everything back."""

from __future__ import annotations

import json
from contextlib import nullcontext
from typing import TYPE_CHECKING, Annotated, Any

import typer

from beowulf.cli import running_measurement, tune_paper, tune_tables, tune_trial
from beowulf.cli.options import KEPT_IN, AsJson, Folder, Force, Quick
from beowulf.errors import UsageError

if TYPE_CHECKING:
    from beowulf.tuning.knob import Reading

app = typer.Typer(
    invoke_without_command=True,
    help="Change the knobs that latency may depend on, one at a time.",
)
NEWEST = 10  # of the log
KNOB = Annotated[str, typer.Argument(help="The knob's name, such as firewall.")]


@app.callback()
def tune(context: typer.Context) -> None:
    """Ask every node paper E's questions and ours, and show each knob with its present value.

    Example: beowulf tune
    """
    if context.invoked_subcommand is not None:
        return
    from beowulf.cluster import running
    from beowulf.tuning import checklist, knob_places, log
    from beowulf.tuning.knobs import ALL, EACH

    cluster = running()
    answers = checklist.ask(cluster)
    readings_by_knob = {ALL[name]: each for name, each in knob_places.read(cluster, EACH).items()}
    open_ = log.of_cluster(cluster).open() + log.of_host().open()
    print("\n".join(tune_tables.overview(answers, readings_by_knob, open_)))


@app.command()
def show(name: KNOB) -> None:
    """Explain a knob: what it is, why it matters, what it does here, and the commands that turn it.

    Example: beowulf tune show firewall
    """
    from beowulf.cluster import here
    from beowulf.tuning import knob_places
    from beowulf.tuning.knobs import find

    knob, cluster = find(name), here()
    readings: dict[str, Reading] = {}
    if cluster or knob.on_host:
        readings = knob_places.read(cluster, [knob])[knob.name]
    print("\n".join(tune_tables.explained(knob, readings)))


@app.command()
def apply(
    name: KNOB,
    value: Annotated[
        str | None, typer.Argument(help="The best for short messages if left out.")
    ] = None,
    keep: Annotated[bool, typer.Option("--keep", help="Keep it, whatever the result.")] = False,
    revert: Annotated[bool, typer.Option("--revert", help="Undo it, whatever the result.")] = False,
    unmeasured: Annotated[
        bool, typer.Option("--unmeasured", help="Set it and keep it, without measuring.")
    ] = False,
    host: Annotated[
        bool,
        typer.Option("--host", help="Allow a change of this machine; changes are listed."),
    ] = False,
    quick: Quick = False,
    records: Folder = KEPT_IN,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Turn one knob and measure a whole cycle, before and after in turns; then keep it or put it back.

    Without --keep or --revert, you are asked; without a terminal, it is put back.

    Example: beowulf tune apply firewall 1000 --revert
    """
    from beowulf.cluster import running
    from beowulf.tuning import knob_places
    from beowulf.tuning.change import changing
    from beowulf.tuning.knobs import find

    if (keep or unmeasured) and revert:
        raise UsageError("`--revert` cannot be combined with `--keep` or `--unmeasured`.")
    knob = find(name)
    chosen = knob.accepted(value if value is not None else knob.tuned)
    cluster = running()
    running_measurement.ask_before("beowulf tune apply", force)
    if knob_places.belongs_here(cluster, knob):
        tune_trial.allow(knob, chosen, host)
    with changing(cluster, [(knob, chosen)], agree=tune_trial.agree) as changes:
        nothing = changes.each[0].changes_nothing
        if unmeasured and not nothing:
            changes.keep()
    plain: dict[str, Any] = {"knobs": {knob.name: chosen}, "fate": "nothing changed"}
    text = (
        f"{knob.name} is {chosen} already; nothing was changed."
        f" `beowulf tune apply {knob.name} {knob.shows}` shows what it does."
    )
    if not nothing and not unmeasured:
        how = (keep, revert, quick, records, as_json)
        plain = tune_trial.measured(cluster, knob, chosen, *how)
    elif not nothing:
        plain, text = {**plain, "fate": "kept"}, f"{knob.name} {chosen}: kept, unmeasured."
    if as_json or nothing or unmeasured:
        print(json.dumps(plain, indent=1) if as_json else text)


app.command()(tune_paper.compare)


@app.command()
def revert(force: Force = False) -> None:
    """Put back everything that `beowulf tune` has changed, exactly as it was, even after a crash.

    A node that is down is put back as soon as `beowulf up` has started it again.

    Example: beowulf tune revert
    """
    from beowulf.cluster import here
    from beowulf.tuning import change, change_preview, log

    cluster = here()
    running_measurement.ask_before("beowulf tune revert", force)
    logs = [log.of_host()] + ([log.of_cluster(cluster)] if cluster else [])
    done: list[str] = []
    waiting: set[str] = set()
    for each in logs:
        names = {entry.number: f"{entry.knob} {entry.value}" for entry in each.open()}
        if not names:
            continue
        hold = (
            cluster.holding("`beowulf tune revert`", measures=False) if cluster else nullcontext()
        )
        with hold, each.held():
            if text := change_preview.going(cluster, each.open()):
                change_preview.show(text)
            waiting_by_change = change.put_all_back(cluster, each, each.open())
        done += [
            names[number]
            for number, down in waiting_by_change.items()
            if number in names and not down
        ]
        waiting |= {place for down in waiting_by_change.values() for place in down}
    if waiting:
        hint = "does not run: `beowulf up` starts it and puts it back too."
        if change_preview.shown_first(cluster):
            hint = "does not answer: `beowulf up` puts it back as soon as it does."
        print(f"{', '.join(sorted(waiting))} {hint}")
    print(f"Undone: {', '.join(done)}." if done else "There was nothing to undo.")


@app.command("log")
def log_() -> None:
    """Show the changes not yet put back, and the newest of the others: what was there before, what became of each.

    Example: beowulf tune log
    """
    from beowulf.cluster import here
    from beowulf.tuning import log

    cluster = here()
    entries = log.of_host().entries() + (log.of_cluster(cluster).entries() if cluster else [])
    entries.sort(key=lambda entry: entry.at)
    if not entries:
        print("No knob has been turned.")
        return
    rows: list[tuple[str, ...]] = [("when", "knob", "set to", "was", "now it is")]
    if older := [entry for entry in entries[:-NEWEST] if not entry.open]:
        print(f"Older changes that were put back are not shown: {len(older)}.")
    for entry in (entry for entry in entries if entry not in older):
        where = f" (not yet {', '.join(entry.open)})" if entry.to_revert and entry.open else ""
        was = tune_tables.now(entry.before)
        rows.append((entry.at, entry.knob, entry.value, was, f"{entry.fate}{where}"))
    print("\n".join(tune_tables.table(rows)))
