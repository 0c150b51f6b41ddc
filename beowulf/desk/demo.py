"""A first look at the labs: a ping-pong on four nodes, measured, captured and recorded, as one page."""

from __future__ import annotations

import os
import tempfile
import time
import webbrowser
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from beowulf import figures, paths
from beowulf.cluster import Cluster, module, state
from beowulf.cluster.common.config import ClusterConfig
from beowulf.desk import jupyter
from beowulf.errors import LabError, UsageError
from beowulf.exercises import timelines
from beowulf.figures import Figure
from beowulf.labs.lab_04 import e1_latency_model as e1
from beowulf.measure import roundtrips
from beowulf.measure.measurement import Measurement
from beowulf.packets.ladder import ladder
from beowulf.packets.mpi_messages import messages
from beowulf.record import Record
from beowulf.report import content, report_page
from beowulf.timeline import picture, recording
from beowulf.timeline.analysis import Analysis

HERE = Path(__file__).parent
PAGE = "demo.html"
SIZES = (0, *(4**power for power in range(11)))  # up to a MiB
LAUNCHES, PASSES = roundtrips.QUICK_LAUNCHES, roundtrips.QUICK_PASSES
# Of the messages that are captured and recorded: long enough for several packets, short enough to see each.
BYTES, CHUNK_US = 10_000, 20_000
TRIPS = 3  # on the timeline
MARGIN = 0.02  # of the time that the timeline shows, left free at both ends


@dataclass(frozen=True)
class Section:
    """A section of the page: what it shows, and the figure; without one, why this cluster cannot show it."""

    name: str
    heading: str
    text: str
    figure: Figure | None = None


def show(output: Path | None, pictures: Path | None, *, open_browser: bool) -> None:
    """Measure on the demo's own cluster, take it down, write the page and open it."""
    page = _place(output)
    with tempfile.TemporaryDirectory(prefix="beowulf-demo-") as traces:
        with _cluster() as (cluster, boot_s):
            print("node00 and node01 play ping-pong.", flush=True)
            record = _timed(cluster)
            print("They play once more, and this run is recorded.", flush=True)
            run = _recorded(cluster, Path(traces))
        sections = [_curve(record), _one_message(run, cluster), _ranks(run)]
        for each in sections:
            if pictures and each.figure:
                _draw(each.figure, pictures / f"demo-{each.name}.svg")
    page.write_text(_html(sections, cluster, record, run, boot_s), encoding="utf-8")
    print(f"The page is {page}.", flush=True)
    if open_browser and not webbrowser.open(page.as_uri()):
        print("No browser was found here; open the page yourself.")


def _place(output: Path | None) -> Path:
    """Where the page goes; UsageError when nothing can be written there."""
    folder = output.parent if output else paths.here()
    if not output and not os.access(folder, os.W_OK):
        folder = Path.home()
    if not os.access(folder, os.W_OK):
        raise UsageError(
            f"The page cannot be written to {folder}.", "Choose another place with `--output`."
        )
    return folder.resolve() / (output.name if output else PAGE)


@contextmanager
def _cluster() -> Iterator[tuple[Cluster, float]]:
    """Four nodes beside any that the user already has, and how long they took to boot; one demo per user at a time."""
    own = paths.state()
    folder = own.with_name(f"{own.name}-demo")
    if state.cluster_in(own):
        print("You already have a cluster running. It stays as it is: the demo boots its own.")
    if state.cluster_in(folder / "cluster"):
        print(
            "Another demo of yours is running. This one begins when that one has ended.", flush=True
        )
    with state.locked(folder):
        began, cluster = time.monotonic(), None
        try:
            cluster = jupyter.boot(ClusterConfig(), folder / "cluster")
            boot_s = time.monotonic() - began
            print(f"{len(cluster.nodes)} nodes are up.", flush=True)
            yield cluster, boot_s
        finally:
            if cluster:
                module(cluster.kind).down(folder=folder / "cluster")
                print("The cluster is down.", flush=True)
            with suppress(OSError):
                folder.rmdir()


def _timed(cluster: Cluster) -> Record:
    """Half round trips of all sizes, measured as in study E1."""
    sweep = {"sizes": list(SIZES), "launches": LAUNCHES, "passes": PASSES}
    with Measurement("E1", cluster, Path(), quick=True, sweep=sweep) as session:
        for launch in range(LAUNCHES):
            roundtrips.run(session, 2, SIZES, passes=PASSES, launch=launch, at={"sweep": "wide"})
    return _whole(session)


def _recorded(cluster: Cluster, traces: Path) -> Analysis:
    """The MPI calls of some round trips, and their packets if this cluster shows them."""
    wire = bool(cluster.can.whole_wire)
    with Measurement("E1", cluster, Path(), timed=False, traces=traces, capture=wire) as session:
        roundtrips.run(session, 2, [BYTES], passes=1, chunk_us=CHUNK_US)
    _whole(session)
    assert session.last_trace
    return timelines.analysed(session.last_trace)


def _whole(session: Measurement) -> Record:
    record = session.record()
    if not record.complete:
        raise LabError(record.warnings[-1], "Start the demo again.")
    return record


def _curve(record: Record) -> Section:
    facts = e1.Facts.of(record)
    alpha_us, mbit_per_s = facts.fit.alpha_us.value, facts.fit.bandwidth_bytes_per_s * 8 / 1e6
    return Section(
        "curve",
        "How long a message takes",
        f"On the left the curve is flat: the shortest message takes the latency alpha, here {alpha_us:.1f} µs."
        f" On the right it rises, because each byte takes beta: 1 / beta is the bandwidth, here"
        f" {mbit_per_s:,.1f} Mbit/s.",
        e1.curve(facts),
    )


def _one_message(run: Analysis, cluster: Cluster) -> Section:
    heading = "One message on the wire"
    if run.wire is None:
        return Section("ladder", heading, "No packets can be captured on this kind of cluster.")
    assert run.trace.folder
    capture = run.trace.folder / recording.CAPTURE
    table = messages(capture)
    mine = table.index[(table["from_rank"] == 0) & (table["bytes"] == BYTES)]
    names = {cluster.address(node): node for node in cluster.nodes}
    figure = ladder(capture, int(mine[-TRIPS]), names=names)
    kinds, last_us = figure.table["kind"].value_counts(), figure.table["time_us"].iloc[-1]
    acks = int(kinds.get("ack", 0))
    return Section(
        "ladder",
        heading,
        f"A message of {BYTES:,} bytes left node00 in {kinds['data']} packets, and node01 sent"
        f" {acks} acknowledgement{'s' * (acks != 1)} (ACK) back. Time runs down; the last packet came"
        f" {last_us:,.0f} µs after the first.",
        figure,
    )


def _ranks(run: Analysis) -> Section:
    """The last round trips, beginning with the message that the ladder shows."""
    mine = run.messages[run.messages["bytes"] == BYTES]
    begins = run.events["began_ns"].to_numpy()[mine[mine["source"] == 0]["send"]]
    ends = run.events["ended_ns"].to_numpy()[mine["received"]]
    from_s, to_s = ((ns - run.trace.began_ns) / 1e9 for ns in (sorted(begins)[-TRIPS], max(ends)))
    margin = MARGIN * (to_s - from_s)
    shares = (run.parts["waiting"] / run.parts["run"]).to_list()
    waits = " and ".join(f"rank {rank} waited for {share:.0%}" for rank, share in enumerate(shares))
    below = " Below are the packets between their nodes." if run.wire else ""
    return Section(
        "timeline",
        "What the ranks do meanwhile",
        f"Each rank sends its message, then waits for the other's; lines join the two ends of a message.{below}"
        f" Of the whole recorded run, {waits}.",
        picture.picture(run, from_s=max(from_s - margin, 0.0), to_s=to_s + margin),
    )


def _draw(figure: Figure, file: Path) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    with figures.style():
        figure.drawing.savefig(file, metadata={"Title": figure.title, "Date": None})


def _html(
    sections: list[Section], cluster: Cluster, record: Record, run: Analysis, boot_s: float
) -> str:
    environment = Environment(
        loader=FileSystemLoader([HERE, report_page.HERE]),
        autoescape=True,
        undefined=StrictUndefined,
    )
    environment.filters["as_figure"] = _as_figure
    measured: dict[str, Any] = {
        "when": f"{record.started[:16].replace('T', ' ')} UTC",
        "cluster": f"kind {cluster.kind}, booted in {boot_s:.1f} s",
        "program": f"labs/{roundtrips.LAB}/{record.program['name']}: {LAUNCHES} launches, {PASSES} passes over"
        f" {len(SIZES)} sizes each; then one more launch, recorded, of {BYTES:,} bytes",
        **content.circumstances(record),
    }
    measured["warnings"] = " ".join([*record.warnings, *run.warnings])
    del measured["busy"]  # which the warnings say
    return environment.get_template("demo.html").render(
        sections=sections,
        cluster=cluster,
        measured={name: value for name, value in measured.items() if value},
        busy=record.busy,
    )


def _as_figure(figure: Figure) -> Markup:
    """The picture with its sentence and its table, as a notebook shows it."""
    return Markup(figure._repr_mimebundle_()["text/html"])
