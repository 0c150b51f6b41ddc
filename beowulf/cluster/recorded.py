"""A cluster that is not there: it answers from Records, in grading and for a learner whose machine cannot run one."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from beowulf.cluster import WIRE, Abilities, Cluster, Completed, Hardware
from beowulf.errors import LabError
from beowulf.record import Point, Record, newest, readable, say_passed_over

if TYPE_CHECKING:
    from beowulf.cluster.capture import Capture

ANSWERS, ANSWERS_STUDY = "answers.json", "ask"


class RecordedCluster(Cluster):
    """Repeats earlier answers and Records, from the folder `records`."""

    kind = "recorded"
    can = Abilities(recorded=True)

    def __init__(self, records: Path) -> None:
        self.records = records

    @property
    def nodes(self) -> tuple[str, ...]:
        """The nodes that the recorded cluster had."""
        return tuple(self.describe().get("nodes", ()))

    def address(self, node: str, network: int = 0) -> str:
        """The address that the node had; empty if no Record tells."""
        return str(self.describe().get("addresses", {}).get(node, ""))

    def dead_nodes(self) -> list[str]:
        """None: a Record tells what was dead when it was measured."""
        return []

    def record(self, study: str, variant: str = "") -> Record:
        """The newest Record of that study and variant."""
        assert self.records is not None
        record = newest(self.records, study, variant)
        if record is None:
            wanted = f"{study}, variant {variant}" if variant else study
            raise LabError(
                f"There is no Record of study {wanted} in {self.records}.",
                "Measure it on a cluster of your own first: the Record is saved there by itself.",
            )
        return record

    def replay(self, study: str, variant: str = "") -> Record | None:
        """The newest Record of that study and variant."""
        return self.record(study, variant)

    def interface(self, node: str, network: int = 0) -> str:
        """The name of the network card that the node had."""
        cards = self.describe().get("node_cards", {}) if network == 0 else {}
        return str(cards.get(node) or super().interface(node, network))

    def hardware(self, node: str) -> Hardware:
        """The cores and the memory that the node had."""
        description = self.describe()
        try:
            return Hardware(
                int(description["node_cores"][node]), int(description["node_memory_bytes"][node])
            )
        except (KeyError, TypeError, ValueError):
            raise LabError(f"No Record says what hardware {node} had.", "", node) from None

    def run(
        self,
        node: str,
        command: str | list[str],
        *,
        timeout_s: float = 60,
        stdin: str = "",
    ) -> Completed:
        """The recorded answer of this command on this node."""
        assert self.records is not None
        for point in reversed(_answers(self.records).select(node=node, command=command)):
            facts = point.facts
            return Completed(facts["returncode"], facts["stdout"], facts["stderr"], 0.0)
        raise LabError(
            f"This is a recorded cluster, and `{command}` was not run on {node} when it was recorded.",
            "Run the notebook on a running cluster first.",
        )

    def describe(self) -> Mapping[str, Any]:
        """The description in the newest Record that has one."""
        return self._description

    @cached_property
    def _description(self) -> Mapping[str, Any]:
        assert self.records is not None
        records, strange = readable(self.records, "*.json")
        say_passed_over(strange)
        described = [
            record for record in records if record.cluster and record.study != ANSWERS_STUDY
        ]
        latest = max(described, key=lambda record: record.started, default=None)
        return latest.cluster if latest else {}

    def break_it(self, fault: str, node: str = "") -> None:
        """Nothing: the Record of the broken cluster is what counts."""

    def heal(self) -> None:
        """Nothing to heal."""

    def shell(self, node: str, command: str, *, terminal: bool = False) -> NoReturn:
        """Not available."""
        raise _not_here("a shell")

    def capture(
        self,
        file: Path,
        *,
        where: str = WIRE,
        snap_bytes: int = 128,
        packet_filter: str = "",
        most_mb: float = 1000,
        ring: bool = False,
    ) -> Capture:
        """Not available; the Record names the captures that were taken."""
        raise _not_here("a capture")


COLUMNS = {"recorded": RecordedCluster.can}


def remember(records: Path, node: str, command: str, answer: Completed) -> None:
    """Keep what a command on a node printed, in place of an earlier answer to the same."""
    facts = {
        "returncode": answer.returncode,
        "stdout": answer.stdout,
        "stderr": answer.stderr,
    }
    _keep(records, {"node": node, "command": command}, facts)


def remember_values(records: Path, at: Mapping[str, Any], values: list[Any]) -> None:
    """Keep what engines gave, one value a rank, in place of what they gave before at the same coordinates."""
    _keep(records, at, {"values": values})


def recall(records: Path, at: Mapping[str, Any]) -> list[Any] | None:
    """What engines gave there; None where nothing is kept."""
    for point in reversed(_answers(records).points):
        if point.at == at and isinstance(point.facts.get("values"), list):
            return list(point.facts["values"])
    return None


def _keep(records: Path, at: Mapping[str, Any], facts: dict[str, Any]) -> None:
    record = _answers(records)
    record.points = [*(p for p in record.points if p.at != at), Point(dict(at), facts=facts)]
    records.mkdir(parents=True, exist_ok=True)
    record.save(records / ANSWERS)


def _answers(records: Path) -> Record:
    path = records / ANSWERS
    return Record.load(path, study=ANSWERS_STUDY) if path.exists() else Record(study=ANSWERS_STUDY)


def _not_here(what: str) -> LabError:
    return LabError(f"A recorded cluster cannot give {what}.", "`beowulf up` boots a real one.")
