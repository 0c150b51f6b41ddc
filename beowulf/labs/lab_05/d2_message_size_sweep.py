"""D2, message-size sweep: above which size does a message wait for its sender's work?

Paper D, figure 5 and table 5: rank 0 posts, works and waits; rank 1 only receives; 10 to 80 KB in steps of 10 (the
text says 85 KB, the table ends at 80). T_P1 jumps from the time of a message to that of rank 0's work. The paper says
that such a message is larger than the socket buffer; a message above the library's eager limit also waits. A capture
distinguishes the two: with a socket buffer the first bytes leave at once, with a rendezvous only the request does.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

from beowulf.cluster import Cluster
from beowulf.errors import LabError
from beowulf.labs.lab_05 import overlap
from beowulf.labs.lab_05.overlap import (
    DEFAULT,
    KB,
    LONGER,
    ONE_USER,
    ONE_USER_SOCKET,
    SOLARIS,
    SOLARIS_SOCKET,
    TAG,
    TESTED,
    THREADED,
    Amount,
    Way,
    chosen,
    in_way,
    kb,
    send_buffers,
)
from beowulf.measure.judgement import Span, again, within
from beowulf.measure.measurement import Measurement
from beowulf.measure.statistics import Summary, summary
from beowulf.measure.sweep import PAPER_D
from beowulf.measure.table import of_rows, summarised
from beowulf.packets.ch3 import HEADER_BYTES
from beowulf.packets.costs import departures
from beowulf.record import Point, Record
from beowulf.studies.study import CABLE, Claim, Judgement, Plan, Study, undecided
from beowulf.studies.wire_costs import observed
from beowulf.verdict import Outcome

if TYPE_CHECKING:
    import pandas as pd

    from beowulf.figures import Figure

PAPER_SECONDS = 3.8
SECONDS, QUICK_SECONDS = 0.1, 0.03
FULL, QUICK = Amount(launches=6, passes=5), Amount(launches=2, passes=5)
# The two causes of a step, and everything that is measured.
EAGER, SOCKETS = (ONE_USER, SOLARIS), (ONE_USER_SOCKET, SOLARIS_SOCKET)
CAUSES = (*EAGER, *SOCKETS)
WAYS = (*CAUSES, DEFAULT, TESTED, THREADED)
EARLY = 0.5  # of the work: what leaves by then has left before rank 0 calls MPI again
# T_P1 as a share of T_P0: about 0 when the message leaves during the work, about 1 when it waits.
MIDDLE = 0.5


def plan(cluster: Cluster, *, quick: bool, seconds: float | None = None) -> Plan:
    """10 to 80 KB with both MPICHs of the paper, the default, MPI_Test and a progress thread."""
    work_s = seconds or (QUICK_SECONDS if quick else SECONDS)
    scaled = {"paper_seconds": PAPER_SECONDS, "scale": work_s / PAPER_SECONDS}
    amount = QUICK if quick else FULL
    about = overlap.swept(amount, work_s, PAPER_D, **scaled)

    def steps(measurement: Measurement) -> None:
        for number in range(amount.launches):
            words = overlap.sweep_arguments(work_s, PAPER_D, amount.passes, number)
            for way in WAYS:
                with captured(measurement, way, number, about):
                    overlap.launch(measurement, way, "message_sweep.c", words, number=number)

    return Plan(amount.launches * len(WAYS), about, steps)


@contextmanager
def captured(
    measurement: Measurement, way: Way, number: int, about: Mapping[str, Any]
) -> Iterator[None]:
    """Capture the first launch of each cause around this block; the Record keeps what left at once."""
    if number or way not in CAUSES:
        yield
        return
    early_s = EARLY * about["seconds"]
    with ExitStack() as capture:
        seen = None
        try:
            reader = partial(departures, within_s=early_s)
            seen = capture.enter_context(observed(measurement, reader))
        except LabError as why:
            absence = {"not_captured": why.message}
            measurement.points.append(Point({**way.at, "launch": number}, facts=absence))
        yield
    if seen is None:
        return
    of_all = seen.messages
    sent = of_all[
        (of_all["tag"] == TAG) & ~of_all["collective"].astype(bool) & (of_all["source"] == 0)
    ]
    for size in about["sizes"]:
        timed = sent[sent["bytes"] == size].tail(about["passes"])  # what came before is warm-up
        facts: dict[str, Any] = {
            "left_bytes": timed["left_bytes"].tolist(),
            "asked_first": (timed["protocol"] == "rendezvous").tolist(),
            "within_s": early_s,
            "capture": seen.capture,
        }
        at = {**way.at, "size_bytes": size, "launch": number}
        measurement.points.append(Point(at, facts=facts))


def shares(record: Record, way: Way) -> dict[int, Summary]:
    """T_P1 as a share of T_P0 at each size, pass by pass; LabError when there are no samples."""
    samples = chosen(record, "duration_s", **way.at)
    wide = samples.pivot(
        index=["size_bytes", "launch", "pass"], columns="rank", values="duration_s"
    )
    ratios = (wide[1] / wide[0]).dropna()
    return {
        int(str(size)): of_rows(each, busy=record.busy)
        for size, each in ratios.groupby("size_bytes")
    }


def step(by_size: Mapping[int, Summary], *, certain: bool = True) -> tuple[int, int] | None:
    """The last size at which messages leave during the work, and the first at which they wait.

    (0, first) when all of them wait, (last, 0) when none does. None when it is not one step, or a
    size is undecided; if it need not be `certain`, the medians decide.
    """
    sizes = sorted(by_size)
    if certain and any(by_size[size].low <= MIDDLE <= by_size[size].high for size in sizes):
        return None
    late = [by_size[size].median > MIDDLE for size in sizes]
    if late != sorted(late):
        return None
    before = [size for size, waits in zip(sizes, late, strict=True) if not waits]
    after = sizes[len(before) :]
    return (before[-1] if before else 0, after[0] if after else 0)


def one_step(way: Way, cluster: str, below: int, above: int) -> Claim:
    """Table 5: one step on each of the paper's clusters, where its limit is."""

    def judge(record: Record) -> Judgement:
        seen = step(shares(record, way))
        evidence = f"{_in_words(seen)}; the eager limit was {way.limit_bytes:,} bytes"
        numbers = {"below": seen[0], "above": seen[1]} if seen else {}
        if way.buffer_bytes:
            numbers["send_buffer_bytes"] = max(send_buffers(record, way), default=0)
            evidence += f", the send buffer {numbers['send_buffer_bytes']:,} by getsockopt"
        return Judgement(_is(seen, seen == (below, above)), evidence, numbers)

    says = f"{cluster}: T_P1 jumps between {kb(below)} and {kb(above)} (table 5)"
    judged = in_way(way, judge, LONGER)
    # The step is seen where our limit places it.
    return Claim(f"{way.mpich}-step", says, judged, place="table 5", rests_on="demonstration")


def larger_than_the_buffer(record: Record) -> Judgement:
    """Whether all messages above the small send buffer wait, and the first that waits is longer with the larger one."""
    small, large = (step(shares(record, way)) for way in SOCKETS)
    evidence = "; ".join(
        f"{way.says}: {_in_words(seen)}" for way, seen in zip(SOCKETS, (small, large), strict=True)
    )
    if small is None or large is None:
        return Judgement("inconclusive", evidence)
    moved = small[1] > 0 and (large[1] == 0 or large[1] > small[1])
    waits = small[0] <= ONE_USER_SOCKET.buffer_bytes
    return Judgement("holds" if moved and waits else "contradicted", evidence)


def no_step(way: Way, how: str) -> Claim:
    """With a higher limit, or with something that makes progress, there is no step."""

    def judge(record: Record) -> Judgement:
        ratios = shares(record, way)
        seen, largest = step(ratios), max(ratios)
        evidence = (
            f"{_in_words(seen)}; at {kb(largest)} T_P1 is {ratios[largest].median:.2f} of T_P0"
            f" ({ratios[largest].low:.2f} to {ratios[largest].high:.2f})"
        )
        if record.select(**ONE_USER.at):
            # A thread that spins takes a core from the work where ranks and threads outnumber the cores.
            times = _sender_s(record, way) / _sender_s(record, ONE_USER)
            evidence += f"; T_P0 is {times:.2f} times that with {ONE_USER.says}"
        numbers = {"share": ratios[largest].median}
        return Judgement(_is(seen, seen is not None and seen[1] == 0), evidence, numbers)

    says = f"{how}, rank 1 does not wait for rank 0's work at any size"
    return Claim(f"{way.mpich}-{way.progress}-no-step", says, in_way(way, judge, LONGER))


def _is(seen: tuple[int, int] | None, as_claimed: bool) -> Outcome:
    if seen is None:
        return "inconclusive"
    return "holds" if as_claimed else "contradicted"


def first_share(record: Record, way: Way, size: int) -> tuple[Span, bool]:
    """The share of a message of this size that leaves at once, from least to most; and whether all ask first.

    MPICH's header does not count. LabError when no such message was captured.
    """
    points = [p for p in record.select(**way.at, size_bytes=size) if p.facts.get("left_bytes")]
    if not points:
        raise LabError("No message of this size was captured.", "Measure again.")
    all_left = [left for p in points for left in p.facts["left_bytes"]]
    shares = [max(left - HEADER_BYTES, 0) / size for left in all_left]
    return Span(min(shares), max(shares)), all(all(p.facts["asked_first"]) for p in points)


def seen_on_the_wire(way: Way, cause: str, low: float, high: float, asks_first: bool) -> Claim:
    """What a capture shows for one cause: how much of the longest message leaves before its sender's next call."""

    def judge(record: Record) -> Judgement:
        if why := not_captured(record, way):
            return undecided(why, "`beowulf doctor` says what a capture needs.")
        size = max(record.sweep.get("sizes", PAPER_D))
        share, asked = first_share(record, way, size)
        asking = "a request to send comes first" if asked else "no request to send comes first"
        return Judgement(
            within(share, low, high) if asked == asks_first else "contradicted",
            f"{share.low:.0%} to {share.high:.0%} of {kb(size)} leave while rank 0 works, and"
            f" {low:.0%} to {high:.0%} is asked; {asking}",
            {"low": share.low, "high": share.high, "asked_first": asked},
            advice=again(record),
        )

    says = f"{way.says}: of a message that waits, {cause} before its sender's next call"
    return Claim(f"{way.mpich}-on-the-wire", says, in_way(way, judge), needs="samples")


def not_captured(record: Record, way: Way) -> str:
    """Why this way's messages were not captured, or not all of their packets; empty where they were."""
    for point in record.select(**way.at):
        if why := point.facts.get("not_captured"):
            return f"nothing was captured: {why}"
        if point.facts.get("capture", {}).get("dropped"):
            return "packets were dropped from the capture"
    return ""


def _sender_s(record: Record, way: Way) -> float:
    return summary(chosen(record, "duration_s", **way.at, rank=0)["duration_s"].to_numpy()).median


def _in_words(seen: tuple[int, int] | None) -> str:
    if seen is None:
        return "no single step is visible"
    if seen[1] == 0:
        return f"no step over {MIDDLE} of T_P0 at any size"
    if not seen[0]:
        return f"later than {MIDDLE} of T_P0 at every size"
    return f"a step over {MIDDLE} of T_P0 between {kb(seen[0])} and {kb(seen[1])}"


def paper_table(record: Record) -> pd.DataFrame:
    """The Record in the form of the paper's table 5: medians of T_P0 and T_P1 by size and library."""
    times = summarised(record, "duration_s", ["mpich", "progress", "size_bytes", "rank"])
    keys = ["mpich", "progress", "size_bytes"]
    wide = times.pivot(index=keys, columns="rank", values="median").reset_index()
    wide.insert(2, "message_kb", wide.pop("size_bytes") / KB)
    return wide.rename(columns={0: "p0_s", 1: "p1_s"}).rename_axis(columns=None)


def picture(record: Record) -> Figure:
    """T_P1 over T_P0 by size for each library, with the step of each of the paper's two shaded, and table 5's marks."""
    import pandas as pd

    from beowulf import figures, papers

    rows, steps = [], {}
    cases = {way: partial(shares, record, way) for way in WAYS}
    for way, by_size in overlap.of_cases("D2", cases).items():
        rows += [
            {"size_kb": size / KB, "library": way.says, **vars(share)}
            for size, share in by_size.items()
        ]
        if way in CAUSES and all(seen := step(by_size) or (0, 0)):
            steps[way] = seen
    figure = figures.lines(
        pd.DataFrame(rows),
        "size_kb",
        "median",
        "library",
        title="How long does rank 1 wait for its message?",
        x_title="message (KB of 1024 bytes)",
        y_title="T_P1 over T_P0, median (1: as long as rank 0's work)",
        low="low",
        high="high",
    )
    axes = figure.drawing.axes[0]
    for below, above in dict.fromkeys(steps.values()):
        axes.axvspan(below / KB, above / KB, color="#B0B0B0", alpha=0.3, zorder=0)
    notes = [
        f"{way.says}: the step is between {kb(a)} and {kb(b)}." for way, (a, b) in steps.items()
    ]
    figure.alt = " ".join([figure.alt, *notes])
    marks = [
        (row["message_kb"], row[f"{cluster}_p1_s"] / row[f"{cluster}_p0_s"])
        for cluster in ("one_user", "solaris")
        for row in papers.table("D-table-5").to_dict("records")
    ]
    return overlap.with_printed(figure, marks, "paper D, table 5, both clusters")


STUDY = Study(
    id="D2",
    title="Message-size sweep: where does a message begin to wait for its sender?",
    plan=plan,
    judged=[
        Claim(
            "larger-than-the-buffer",
            "Messages larger than the socket buffer wait for their sender's work (we set 24 KB, and 96 KB, with"
            " which only longer ones may)",
            in_way(ONE_USER_SOCKET, in_way(SOLARIS_SOCKET, larger_than_the_buffer, LONGER), LONGER),
            place="section IV.A",
        ),
        one_step(ONE_USER, "MPICH2 on the one-user cluster", 10 * KB, 20 * KB),
        one_step(SOLARIS, "LAM and MPICH1 on the Solaris cluster", 60 * KB, 70 * KB),
        one_step(
            ONE_USER_SOCKET,
            "Imitated by a small send buffer and small segments, MPICH2 on the one-user cluster",
            10 * KB,
            20 * KB,
        ),
        one_step(
            SOLARIS_SOCKET,
            "Imitated by a larger send buffer, LAM and MPICH1 on the Solaris cluster",
            60 * KB,
            70 * KB,
        ),
        *(seen_on_the_wire(way, "only a request leaves", 0.0, 0.1, True) for way in EAGER),
        *(seen_on_the_wire(way, "the first bytes leave", 0.1, 0.95, False) for way in SOCKETS),
        no_step(DEFAULT, "With the library's own limit of 128 KB"),
        no_step(TESTED, "With MPI_Test in the work"),
        no_step(THREADED, "With a progress thread"),
    ],
    draw=picture,
    as_printed=paper_table,
    troubles=overlap.late_by("duration_s"),
    needs=(CABLE,),
    differs={
        "holds": (
            "MPICH's MPI_Isend fills the socket's buffer, which takes less than its size of a message,"
            " and leaves the rest to the next MPI call; above an eager limit rank 1 also waits, and only a capture"
            " distinguishes the causes."
        ),
        "contradicted": (
            "What a send buffer takes depends on the pieces in which the kernel keeps data: a few frames then, up to"
            " 64 KB today, so the same buffer can hold back other sizes."
        ),
        "inconclusive": (
            "Near the limit some messages leave and some wait, a capture lost packets, or the nodes' buffers could"
            " not be fixed: longer work, or a cluster of this machine with MPICH's CH3, can decide it."
        ),
    },
)
