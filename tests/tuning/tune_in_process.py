"""Knobs of a learner's cluster, read, set and put back without starting a command."""

from __future__ import annotations

from running import Beowulf, app
from typer.testing import CliRunner

from beowulf.tuning import knob_places
from beowulf.tuning.change import changing
from beowulf.tuning.knobs import find


def rules(learner: Beowulf) -> list[str]:
    """How many rules each node has."""
    readings = knob_places.read(learner.cluster, [find("firewall")])["firewall"]
    return [readings[node].value for node in sorted(readings)]


def set_(learner: Beowulf, knob: str, value: str) -> None:
    """As `beowulf tune apply KNOB VALUE --unmeasured`, without starting a command."""
    with changing(learner.cluster, [(find(knob), value)]) as change:
        change.keep()


def tune(learner: Beowulf, *words: str, code: int = 0) -> str:
    """What `beowulf tune WORDS` says, its lines as they are, in this process."""
    environment = {"BEOWULF_STATE": str(learner.state), "COLUMNS": "200"}
    done = CliRunner().invoke(app, ["tune", *words], env=environment)
    said = f"{done.output}{done.exception if done.exception else ''}"
    assert getattr(done.exception, "exit_code", done.exit_code) == code, said
    return said
