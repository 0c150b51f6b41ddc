"""B5, unlike nodes: what does one slow node do to all?

Paper B's four PCs had four processors: a Pentium of 1.6 GHz as master, a Celeron of 1.72 GHz, a
Sempron and a Pentium 4. It does not examine the effect. Here the nodes of a local cluster get
different shares of a core, and every rank works a little between two exchanges in a ring.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager

from beowulf import paths
from beowulf.cluster import Cluster
from beowulf.course import personal_code
from beowulf.figures import Figure
from beowulf.measure.judgement import quotient
from beowulf.measure.measurement import Measurement
from beowulf.measure.roundtrips import EXCHANGE, LAB, need_nodes
from beowulf.measure.table import summarised, summary_of
from beowulf.record import Record
from beowulf.studies.study import Judgement, Need, Plan, Study, quiet_claim
from beowulf.tuning.change import Changes, changed
from beowulf.tuning.knobs.cpu_share import CpuShare
from beowulf.verdict import Outcome

RANKS = 4
# Shares of a core: on two cores they leave room for other programs; the last unlike node has half.
SHARES: Mapping[str, tuple[float, ...]] = {"like": (0.4,) * RANKS, "unlike": (0.4, 0.35, 0.3, 0.2)}
WORK_US = 40_000  # long compared with the 10 ms in which a share is counted, else most of it costs no share
SIZE_BYTES = 8
LAUNCHES, QUICK_LAUNCHES = 3, 2
PASSES, QUICK_PASSES = 10, 10
NEAR = 0.25
ENDS = ("median", "low", "high")


def plan(cluster: Cluster, *, quick: bool) -> Plan:
    """Exchanges in a ring with work between them, on equal and on different nodes, alternating.

    LabError where nodes cannot be made to differ.
    """
    need_nodes(cluster, RANKS)
    launches, passes = (QUICK_LAUNCHES, QUICK_PASSES) if quick else (LAUNCHES, PASSES)

    def steps(measurement: Measurement) -> None:
        for launch in range(launches):
            for name, each in SHARES.items():
                words: list[str | int] = ["--pattern", "ring", "--protocol", "nonblocking"]
                words += ["--sizes", SIZE_BYTES, "--compute-us", WORK_US, "--passes", passes]
                words += ["--chunks", 1, "--seed", personal_code.seed(launch)]
                with shared(cluster, each):
                    program = paths.root() / "labs" / LAB / "roundtrip.c"
                    measurement.launch(program, RANKS, words, launch=launch, at={"nodes": name})

    shares = {name: list(each) for name, each in SHARES.items()}
    about = {"launches": launches, "passes": passes, "work_us": WORK_US, **shares}
    return Plan(launches * len(SHARES), about, steps)


def shared(cluster: Cluster, shares: Sequence[float]) -> AbstractContextManager[Changes]:
    """Within this context each node has its share of a core."""
    shares_of = zip(cluster.nodes, shares, strict=False)
    turns = [(CpuShare(), f"{100 * share:.0f}", (node,)) for node, share in shares_of]
    return changed(cluster, turns)


def slowest_sets_the_pace(record: Record) -> Judgement:
    """How long a step takes on unlike nodes, compared with the shares that they had."""
    like, unlike = (
        summary_of(
            (p for p in record.select(nodes=nodes) if p.quantity == EXCHANGE), busy=record.busy
        )
        for nodes in SHARES
    )
    expected = min(record.sweep["like"]) / min(record.sweep["unlike"])
    times = unlike.median / like.median
    possible = quotient(unlike, like)
    outcome: Outcome = "inconclusive"
    if abs(times / expected - 1) <= NEAR:
        outcome = "holds"
    elif possible.high < expected * (1 - NEAR) or possible.low > expected * (1 + NEAR):
        outcome = "contradicted"
    return Judgement(
        outcome,
        f"a step takes {times:.2f} times as long ({possible.low:.2f} to {possible.high:.2f}) as on like nodes;"
        f" the slowest node has 1/{expected:.2g} of their share, and {NEAR:.0%} more or less is allowed",
        {"times": times, "low": possible.low, "high": possible.high, "expected": expected},
    )


def picture(record: Record) -> Figure:
    """How long a step takes on like and on unlike nodes: medians with their intervals."""
    from beowulf.figures import segments
    from beowulf.figures.segments import Value

    steps = summarised(record, EXCHANGE, ["nodes"]).to_dict("records")
    ms = [Value(str(e["nodes"]), *(e[name] / 1000 for name in ENDS)) for e in steps]
    return segments.intervals(
        ms,
        title="A step of four nodes: work, then an exchange in a ring",
        value_title="time of a step, median (ms)",
    )


STUDY = Study(
    id="B5",
    title="Four unlike nodes: one of them sets the pace",
    plan=plan,
    judged=[
        quiet_claim(
            "slowest-sets-the-pace",
            "A step of all nodes lasts as long as the slowest node needs",
            slowest_sets_the_pace,
        )
    ],
    draw=picture,
    needs=(
        Need(
            "cpu_limits",
            "a node's share of a processor can be limited only by root on the machine that the nodes run on",
        ),
    ),
    differs={
        "holds": (
            "A ring waits for its slowest member, whatever makes it slow: a smaller share of a core here, or an"
            " older processor in the paper's cluster, which the paper does not examine."
        ),
        "contradicted": (
            "A step took longer or shorter than the slowest node's share of a core predicts, so something other than"
            " the shares set its pace, such as another program on these cores."
        ),
        "inconclusive": (
            "Shares are counted in periods of 10 ms, and another load on the machine moves a step by as much as"
            " a quarter, the margin of the claim; a machine that is left alone can decide it."
        ),
    },
)
