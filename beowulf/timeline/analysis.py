"""All that is known of a recorded run, and the tables that say it in a terminal."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from beowulf.timeline import clock, matching, recording, simgrid, trace, wire
from beowulf.timeline import critical_path as paths
from beowulf.timeline import waits as reasons
from beowulf.timeline.trace import COMPLETES, PART, RECEIVES, SENDS, UNENDED, WORLD, Trace, cut

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import RenderableType

SHOWN = 10  # waits in the terminal
WHAT_IF = 3  # messages in the terminal
MOST_REPLAYED = 300_000  # events; more take longer than a reader waits


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
    def wire(self) -> wire.Wire | None:
        """The packets, where they were captured while the program ran; see wire.read."""
        file = self.trace.folder / recording.CAPTURE if self.trace.folder else None
        if file is None or not file.exists():
            return None
        return wire.read(file, self.trace, self.events, self.messages)

    @property
    def nodes(self) -> list[str]:
        """Who the packets are between, as `wire` numbers them: a node's name, an address where it has none."""
        known = self.details.get("cluster", {}).get("addresses", {})
        names = {ip: name for name, ip in known.items()}
        return [names.get(each, each) for each in self.wire.nodes] if self.wire else []

    @property
    def warnings(self) -> list[str]:
        """What is to be known before the picture is believed."""
        captured = self.details.get("capture", {})
        return [
            *self.trace.warnings,
            *filter(None, [clock.impossible(self.trace, self.events, self.messages)]),
            *filter(None, [reasons.deadlock(self.waits) or self._alone()]),
            *captured.get("warnings", ()),
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

    @cached_property
    def replay(self) -> paths.Replay:
        """What the run would have taken, were a message free."""
        return paths.Replay(self.trace, self.events, self.waits, self.messages)

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
        rows = []
        for each in self.trace.ranks:
            run = each.ended_ns - each.began_ns
            inside = int(spent.get(each.rank, 0))
            if each.left_out:
                run = (each.left_out_since_ns or each.ended_ns) - each.began_ns
            mine = self.waits[self.waits["rank"] == each.rank]
            waiting = min(int(mine.groupby("event")["waited_ns"].max().sum()), inside)
            rows.append((each.rank, each.host, run, run - inside, inside, waiting))
        return pd.DataFrame(rows, columns=["rank", "host", "run", "computing", "in_mpi", "waiting"])

    def name(self, event: int) -> str:
        """The MPI function of an event."""
        return self.trace.calls[int(self.events["call"].to_numpy()[event])]

    def __rich__(self) -> RenderableType:
        from rich.console import Group

        return Group(
            *self.warnings, _ranks(self), longest_waits(self), _path(self), *_what_if(self)
        )


def read(folder: Path) -> Analysis:
    """The run whose traces are in a folder, or in a file of SimGrid's."""
    if folder.is_file():
        return Analysis(simgrid.read(folder), {})
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


def _ranks(found: Analysis) -> RenderableType:
    from rich.table import Table

    table = Table(title="Where the time of each rank went, in ms", title_justify="left")
    for head in ("rank", "node"):
        table.add_column(head, no_wrap=True)
    for head in ("whole run", "computing", "in MPI", "of it waiting"):
        table.add_column(head, justify="right")
    for row in found.parts.itertuples():
        table.add_row(
            str(row.rank),
            str(row.host),
            *(_ms(float(value)) for value in (row.run, row.computing, row.in_mpi, row.waiting)),  # type: ignore[arg-type]
        )
    return table


def longest_waits(found: Analysis) -> RenderableType:
    """A table of them, the longest first."""
    from rich.table import Table

    if found.waits.empty:
        return "No rank waited for another one for more than 0.02 ms."
    table = Table(title=f"The longest of {len(found.waits):,} waits", title_justify="left")
    table.add_column("at ms", justify="right")
    table.add_column("rank", justify="right")
    table.add_column("in", no_wrap=True)
    table.add_column("reason", no_wrap=True)
    table.add_column("for rank", justify="right")
    table.add_column("ms", justify="right")
    for row in found.waits.head(SHOWN).itertuples():
        table.add_row(
            _ms(int(row.since_ns) - found.trace.began_ns),  # type: ignore[arg-type]
            str(row.rank),
            found.name(int(row.event)),  # type: ignore[arg-type]
            str(row.kind),
            str(row.cause),
            _ms(int(row.waited_ns)),  # type: ignore[arg-type]
        )
    return table


def _what_if(found: Analysis) -> list[str]:
    """By how much the run were shorter without the cost of the messages that ranks waited for longest."""
    if len(found.events) > MOST_REPLAYED:
        return []
    whole = found.replay.length_ns()
    lines = []
    for number in dict.fromkeys(
        found.waits.query("message >= 0")["message"].head(WHAT_IF).tolist()
    ):
        saved = whole - found.replay.length_ns(free={number})
        message = found.messages.loc[number]
        what = f"{message['got_bytes']:,} B from rank {message['source']} to {message['to']} with tag {message['tag']}"
        lines.append(
            f"If {what} cost nothing, the run were {_ms(saved)} ms shorter ({saved / whole:.1%})."
        )
    return lines


def _path(found: Analysis) -> str:
    path = found.critical_path
    whole = path.length_ns or 1
    shares = ", ".join(f"{ns / whole:.0%} {what}" for what, ns in path.parts_ns.items())
    ranks = [str(step.rank) for step in path.steps]
    return (
        f"The critical path goes through {len(set(ranks))} ranks and "
        f"{sum(s.is_message for s in path.steps)} messages or"
        f" collective calls. Of its {_ms(whole)} ms: {shares}."
    )
