"""An exercise, declared: what a learner's own program, function or count gives, kept as a Record.

What every exercise does alike is done here: hold the cluster, show how far it is, name the Record's variant and its
learner, and save it beside the notebook.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from beowulf.cluster import Cluster
from beowulf.errors import LabError
from beowulf.measure.measurement import Measurement
from beowulf.measure.watched import Watched
from beowulf.record import Record, moment, newest
from beowulf.this_machine import host_state
from beowulf.this_machine.progress import bar
from beowulf.this_machine.user import learner


@dataclass(frozen=True)
class Exercise:
    """What a learner's own work gives: a Record of `study` with this `variant`. `asks` is said while it is measured."""

    study: str
    variant: str
    asks: str = ""

    def measure(
        self,
        cluster: Cluster,
        steps: Callable[[Measurement], None],
        *,
        of: str = "It",
        hint: str = "Fix it, save it, and run this cell again.",
        half: bool = False,
        place: Cluster | None = None,
        **how: Any,
    ) -> Record:
        """Let `steps` measure, and keep the Record; `how` goes to the Measurement.

        Where it was not measured to its end nothing is kept, and LabError says so `of` what; but an exercise can keep
        the `half` of it, because what was wrong is in the Record. `place` is another cluster than the learner's, such
        as a simulated one.
        """
        folder = records(cluster)
        with (
            bar(self.asks, shown=bool(self.asks)) as progress,
            Measurement(self.study, place or cluster, folder, progress=progress, **how) as session,
        ):
            steps(session)
        return self.keep(session.record(), folder, of=of, hint=hint, half=half)

    def keep(
        self, record: Record, folder: Path, *, of: str = "It", hint: str = "", half: bool = False
    ) -> Record:
        """The Record of a Measurement, named and saved; LabError where it was cut short."""
        if not record.complete and not half:
            raise LabError(f"{of} was not measured to the end. {' '.join(record.warnings)}", hint)
        record.learner, record.variant = learner(), self.variant
        record.save_in(folder)
        return record

    def own(self, of: Cluster | Record, cell: str) -> Record:
        """This Record, or the newest one beside the notebook; LabError without one names the `cell` that makes it."""
        if found := of if isinstance(of, Record) else newest(records(of), self.study, self.variant):
            return found
        raise LabError("There is no measurement of yours to draw.", f"Run the cell with `{cell}`.")

    @contextmanager
    def record(
        self,
        cluster: Cluster,
        *,
        sweep: Mapping[str, Any] | None = None,
        program: Mapping[str, Any] | None = None,
        watched: Watched | None = None,
    ) -> Iterator[Record]:
        """A Record that is filled here without a Measurement, and is saved when that went well."""
        made = Record(
            self.study,
            variant=self.variant,
            program=dict(program or {}),
            sweep={"exercise": self.variant, **(sweep or {})},
            cluster=dict(cluster.describe()),
            circumstances={"before": host_state.now(), "after": {}},
            versions=host_state.versions(),
            learner=learner(),
            started=moment(),
        )
        yield made
        made.circumstances["after"] = host_state.now()
        made.ended = moment()
        (watched.end(made) if watched else made).save_in(records(cluster))


def records(cluster: Cluster) -> Path:
    """Where the Records of a cluster are kept: beside the notebook."""
    return cluster.records or Path("records")
