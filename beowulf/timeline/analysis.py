"""All that is known of a recorded run, and the tables that say it in a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from beowulf.errors import plain
from beowulf.timeline import clock, matching, recording, run_packets, trace
from beowulf.timeline import critical_path as paths
from beowulf.timeline import waits as reasons
from beowulf.timeline.trace import COMPLETES, PART, RECEIVES, SENDS, UNENDED, WORLD, Trace, cut

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import RenderableType
    from rich.table import Table

SHOWN = 10  # waits in the terminal


@dataclass(frozen=True)
class Analysis:
    """A run: its events, its messages, its waits and its critical path."""

    trace: Trace
    details: Mapping[str, Any]

    @cached_property
    def events(self) -> pd.DataFrame:
        """A row each; see matching.events."""
        return matching.events(self.trace)

    @cached_property
    def messages(self) -> pd.DataFrame:
        """A row for each that was sent and received; see matching.messages."""
        return matching.messages(self.events)

    @cached_property
    def collectives(self) -> pd.DataFrame:
        """The calls of each rank, with the number of the collective call that they are one of."""
        return matching.collectives(self.events)

    @cached_property
    def waits(self) -> pd.DataFrame:
        """Why ranks waited, the longest first; see waits.waits."""
        return reasons.waits(
            self.trace,
            self.events,
            self.messages,
            self.collectives,
            eager_bytes=float(self.details.get("eager_bytes", recording.SHIPPED_EAGER_BYTES)),
            held=self.wire.held if self.wire else None,
        )

    @cached_property
    def wire(self) -> run_packets.Wire | None:
        """The packets, where they were captured while the program ran; see run_packets.read."""
        file = self.trace.folder / recording.CAPTURE if self.trace.folder else None
        if file is None or not file.exists():
            return None
        return run_packets.read(file, self.trace, self.events, self.messages)

    @property
    def nodes(self) -> list[str]:
        """Who the packets are between, as `wire` numbers them: a node's name, an address where it has none."""
        known = self.details.get("cluster", {}).get("addresses", {})
        names = {ip: name for name, ip in known.items()}
        return [names.get(each, each) for each in self.wire.nodes] if self.wire else []

    @property
    def warnings(self) -> list[str]:
        """What is to be known before the picture is believed."""
        doubts = [
            clock.impossible(self.trace, self.events, self.messages),
            reasons.deadlock(self.waits) or self._alone(),
        ]
        captured = self.details.get("capture", {})
        return [
            *self.trace.warnings,
            *filter(None, doubts),
            *(plain(str(each)) for each in captured.get("warnings", ())),
            *(self.wire.warnings if self.wire else ()),
        ]

    def _alone(self) -> str:
        """A sentence where messages of a whole run that came to its end lack a side."""
        if "since" in self.trace.details:  # the other side may lie beyond the cut
            return ""
        sends, receives = map(len, matching.unmatched(self.events, self.messages))
        if self.trace.warnings or not (sends or receives):
            return ""
        return (
            f"Sends without a receive: {sends:,}; receives without a send: {receives:,}. Nobody took these"
            " messages, or a call was made in a way that is not recorded, such as PMPI_Send."
        )

    @cached_property
    def critical_path(self) -> paths.Path:
        """The chain that decided how long the run took."""
        return paths.critical_path(self.trace, self.events, self.waits)

    @property
    def program(self) -> str:
        """The name of the program, empty where it is not known; a rank's own command line may be cut short."""
        return str(self.details.get("program") or Path(self.trace.ranks[0].program).name)

    @property
    def length_ns(self) -> int:
        """From the first rank's beginning to the last one's end."""
        return self.trace.ended_ns - self.trace.began_ns

    @cached_property
    def parts(self) -> pd.DataFrame:
        """For each rank in ns: `run`, `computing`, `in_mpi`, and of the latter `waiting`; run = computing + in_mpi."""
        import pandas as pd

        calls = self.events[(self.events["flags"] & PART) == 0]
        spent = (calls["ended_ns"] - calls["began_ns"]).groupby(calls["rank"]).sum()
        # A wait for several messages has several reasons, and lasts as long as the longest of them.
        waited = self.waits.groupby(["rank", "event"])["waited_ns"].max().groupby("rank").sum()
        rows = []
        for each in self.trace.ranks:
            run = (each.left_out_since_ns if each.left_out else each.ended_ns) - each.began_ns
            inside = int(spent.get(each.rank, 0))
            waiting = min(int(waited.get(each.rank, 0)), inside)
            rows.append((each.rank, each.host, run, run - inside, inside, waiting))
        return pd.DataFrame(rows, columns=["rank", "host", "run", "computing", "in_mpi", "waiting"])

    def name(self, event: int) -> str:
        """The MPI function of an event."""
        return self.trace.calls[int(self.events["call"].to_numpy()[event])]

    def __rich__(self) -> RenderableType:
        from rich.console import Group

        return Group(*self.warnings, _ranks(self), longest_waits(self), _path(self))


def read(folder: Path) -> Analysis:
    """The run whose traces are in a folder."""
    details = recording.details(folder)
    stopped_ns = int(details.get("stopped_ns", 0))
    return Analysis(clock.aligned(trace.read(folder, stopped_ns=stopped_ns)), details)


def between_messages(found: Analysis) -> Analysis:
    """The same run from the first message of MPI_COMM_WORLD to the last, and to its end where a call never ended."""
    first, last = [], []
    for each in found.trace.ranks:
        flags = each.events["flags"]
        of_messages = (flags & (SENDS | RECEIVES | COMPLETES)) != 0
        mine = each.events[
            (of_messages & (each.events["comm"] == WORLD)) | ((flags & UNENDED) != 0)
        ]
        first += mine["began_ns"][(mine["flags"] & (SENDS | RECEIVES | UNENDED)) != 0].tolist()
        last += mine["ended_ns"].tolist()
    return Analysis(cut(found.trace, min(first), max(last)), found.details) if first else found


def _ms(ns: float) -> str:
    return f"{ns / 1e6:.3f}"


def _table(title: str, columns: dict[str, bool], rows: Iterable[Sequence[object]]) -> Table:
    """A table for the terminal; `columns` are those that have numbers, and those that have none."""
    from rich.table import Table

    made = Table(title=title, title_justify="left")
    for head, number in columns.items():
        made.add_column(head, justify="right" if number else "left", no_wrap=not number)
    for row in rows:
        made.add_row(*map(str, row))
    return made


def _ranks(found: Analysis) -> Table:
    columns = {"rank": False, "node": False, "whole run": True, "computing": True}
    columns |= {"in MPI": True, "of it waiting": True}
    rows = [(*row[:2], *map(_ms, row[2:])) for row in found.parts.to_numpy().tolist()]
    return _table("Where the time of each rank went, in ms", columns, rows)


def longest_waits(found: Analysis) -> RenderableType:
    """A table of them, the longest first."""
    if found.waits.empty:
        return "No rank waited for another one for more than 0.02 ms."
    columns = {"at ms": True, "rank": True, "in": False, "reason": False}
    columns |= {"for rank": True, "ms": True}
    rows = [
        (
            _ms(row["since_ns"] - found.trace.began_ns),
            row["rank"],
            found.name(row["event"]),
            row["kind"],
            "itself" if row["cause"] == row["rank"] else row["cause"],
            "> " * (row["kind"] == reasons.NEVER_ENDED) + _ms(row["waited_ns"]),
        )
        for row in found.waits.head(SHOWN).to_dict("records")
    ]
    return _table(f"The longest of {len(found.waits):,} waits", columns, rows)


def _path(found: Analysis) -> str:
    path = found.critical_path
    whole = path.length_ns or 1
    shares = ", ".join(f"{ns / whole:.0%} {what}" for what, ns in path.parts_ns.items())
    ranks = {step.rank for step in path.steps}
    messages = sum(step.is_message for step in path.steps)
    through = "1 rank" if len(ranks) == 1 else f"{len(ranks)} ranks"
    what = (
        "1 message or collective call"
        if messages == 1
        else f"{messages} messages or collective calls"
    )
    return f"The critical path goes through {through} and {what}. Of its {_ms(whole)} ms: {shares}."
