"""E1, the model of latency: T(n) = alpha + beta n, and the step where MPICH changes its way.

Paper E, equations 1 and 2: the time of a message is the latency, which is that of an empty message,
and its bytes over the bandwidth. A library departs from the line where long messages begin: they wait
until the receiver has asked for them, which costs a round trip more (paper D's eager limit, set here
to three values). The step is looked for without knowing where it was put.

For how long a short message keeps its sender and its receiver busy is measured as well: a calibration needs it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from beowulf.cluster import Cluster
from beowulf.cluster.common.hydra import EAGER_LIMIT
from beowulf.figures import Figure
from beowulf.measure.fit import Fit, alpha_beta, eager_limit
from beowulf.measure.measurement import Measurement
from beowulf.measure.roundtrips import (
    HALF,
    LAUNCHES,
    PASSES,
    QUICK_LAUNCHES,
    QUICK_PASSES,
    need_nodes,
    overheads,
    run,
)
from beowulf.measure.statistics import summary
from beowulf.measure.sweep import powers_of_two, steps
from beowulf.record import Point, Record
from beowulf.studies.roundtrip_sweep import at_the_link
from beowulf.studies.study import CABLE, Claim, Judgement, Plan, Study, quiet_claim
from beowulf.verdict import Outcome

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

T = TypeVar("T")
LIMITS = (16_384, 65_536, 131_072)  # paper D's MPICH2 and MPICH1, and MPICH's default
LAST_BYTES = 1024 * 1024
PARTS = 8  # around a limit, the sizes rise by this part of it
NEAR_THE_MODEL = 0.15
MOSTLY = 0.9
ALPHA_NEAR = 0.15
OFF = {"off": HALF, "low": "low", "high": "high"}


def plan(cluster: Cluster, *, quick: bool, sizes: Sequence[int] | None = None) -> Plan:
    """Ping-pong of two nodes: a wide sweep for the line, an even one around each eager limit; and the overheads."""
    need_nodes(cluster, 2)
    launches, passes = (QUICK_LAUNCHES, QUICK_PASSES) if quick else (LAUNCHES, PASSES)
    wide = powers_of_two(0, LAST_BYTES) if sizes is None else list(sizes)

    def launch_all(measurement: Measurement) -> None:
        for launch in range(launches):
            once = partial(run, measurement, 2, passes=passes, launch=launch)
            once(wide, at={"sweep": "wide"})
            for limit in LIMITS:
                environment = {EAGER_LIMIT: str(limit)}
                at = {"sweep": "even", "limit_bytes": limit}
                once(around(limit), environment=environment, at=at)
            overheads(measurement, launch)

    about = {"sizes": wide, "limits": list(LIMITS), "parts": PARTS}
    about |= {"launches": launches, "passes": passes}
    return Plan(launches * (2 + len(LIMITS)), about, launch_all)


def around(limit: int) -> list[int]:
    """The sizes from half of the limit to half more than it, in steps of an eighth of it."""
    return steps(limit // 2, 3 * limit // 2, limit // PARTS)


def times(record: Record, **at: object) -> dict[int, list[float]]:
    """All half round trips (us) by size, of the points with these coordinates."""
    return _by_size(record, lambda point: point.samples, **at)


def _by_size(record: Record, of: Callable[[Point], list[T]], **at: object) -> dict[int, list[T]]:
    by_size: dict[int, list[T]] = {}
    for point in record.select(**at):
        if point.quantity == HALF:
            by_size.setdefault(int(point.at["size_bytes"]), []).extend(of(point))
    return by_size


class Facts(NamedTuple):
    """A Record, the times of its wide sweep, and the line through them."""

    record: Record
    wide: dict[int, list[float]]
    fit: Fit

    @classmethod
    def of(cls, record: Record) -> Facts:
        """Those of this Record; LabError when its times make no line."""
        wide = times(record, sweep="wide")
        launches = _by_size(
            record, lambda p: [int(p.at.get("launch", 0))] * len(p.samples), sweep="wide"
        )
        return cls(record, wide, alpha_beta(wide, launches=launches, busy=record.busy))

    @property
    def numbers(self) -> dict[str, float]:
        """The two parameters of the line."""
        alpha, beta = self.fit.alpha_us.value, self.fit.beta_us_per_byte.value
        return {"alpha_us": alpha, "beta_us_per_byte": beta}


def line(facts: Facts) -> Judgement:
    """Equation 1: how many sizes lie near the line."""
    off = facts.fit.residuals
    near = [size for size, share in off.items() if abs(share) <= NEAR_THE_MODEL]
    worst = max(off, key=lambda size: abs(off[size]))
    return Judgement(
        "holds" if len(near) >= MOSTLY * len(off) else "contradicted",
        f"{len(near)} of {len(off)} sizes are within {NEAR_THE_MODEL:.0%} of the line;"
        f" {worst:,} bytes are {off[worst]:+.0%} off",
        facts.numbers,
    )


def alpha_is_latency(facts: Facts) -> Judgement:
    """Where the line begins, against an empty message."""
    if 0 not in facts.wide:
        return Judgement(
            "inconclusive", "no empty message was measured", advice="Put 0 among the sizes."
        )
    empty, alpha = summary(facts.wide[0], busy=facts.record.busy), facts.fit.alpha_us
    near = alpha.low <= empty.median <= alpha.high
    near = near or abs(alpha.value - empty.median) <= ALPHA_NEAR * empty.median
    return Judgement(
        "holds" if near else "contradicted",
        f"alpha is {alpha.value:.1f} µs ({alpha.low:.1f} to {alpha.high:.1f}); half the round trip"
        f" of an empty message takes {empty.median:.1f} µs ({empty.low:.1f} to {empty.high:.1f})",
        {**facts.numbers, "empty_us": empty.median},
    )


def beta_is_the_links(facts: Facts) -> Judgement:
    """The inverse slope of the line, against what headers leave of the link."""
    return at_the_link("1 / beta is", facts.fit.bandwidth_bytes_per_s * 8 / 1e6, facts.record)


def steps_at_the_limits(facts: Facts) -> Judgement:
    """Around each limit that was set, the step that is seen without knowing where it was put."""
    listed, right, wrong = [], 0, 0
    numbers = {}
    for limit in LIMITS:
        seen = eager_limit(
            times(facts.record, sweep="even", limit_bytes=limit), busy=facts.record.busy
        )
        if seen is None:
            listed.append(f"limit {limit:,}: no step")
            continue
        numbers[f"limit_{limit}"] = [seen.below, seen.above]
        step = limit // PARTS
        if seen.below - step <= limit <= seen.above + step:
            right += 1
        else:
            wrong += 1
        listed.append(
            f"limit {limit:,}: {seen.jump_us.value:.0f} µs more between"
            f" {seen.below:,} and {seen.above:,} bytes"
        )
    outcome: Outcome = "holds" if right == len(LIMITS) else "inconclusive"
    full = " and without --quick" if facts.record.sweep.get("quick") else ""
    return Judgement(
        "contradicted" if wrong else outcome,
        "; ".join(listed),
        numbers,
        advice=f"The step is small beside the time of a long message: measure on a quiet machine{full};"
        " study D2 finds the same limit where a rank works meanwhile.",
    )


def picture(facts: Facts) -> Figure:
    """T(n) with the line that was fitted to it, and below what the line leaves over."""
    import pandas as pd

    from beowulf import figures

    alpha, mbit = facts.fit.alpha_us.value, facts.fit.bandwidth_bytes_per_s * 8 / 1e6
    title = f"T(n) = alpha + beta n: alpha {alpha:.1f} µs, 1 / beta {mbit:.1f} Mbit/s"
    rows = []
    for size in sorted(facts.wide):
        seen, model = summary(facts.wide[size], busy=facts.record.busy), facts.fit.time_us(size)
        rows.append([size, seen.median, seen.low, seen.high, model])
    table = pd.DataFrame(rows, columns=["size_bytes", HALF, "low", "high", "model_us"])
    charts: dict[str, Callable[[Axes], Figure]] = {
        "time": partial(_with_the_line, table, title),
        "rest": partial(_without_the_line, table),
    }
    return figures.one_below_another(title, charts)


def _with_the_line(table: pd.DataFrame, title: str, axes: Axes) -> Figure:
    import pandas as pd

    from beowulf import figures

    model = table["model_us"]
    columns: dict[str, Any] = {HALF: model, "low": model, "high": model, "line": "fitted"}
    fitted = table.assign(**columns)
    both = pd.concat([table.assign(line="measured"), fitted]).drop(columns="model_us")
    figure = figures.over_sizes(
        both,
        HALF,
        "line",
        title=title,
        y_title="half round trip, median with 95 % interval (µs)",
        y_log=figures.spans_decades(both[HALF]),
        axes=axes,
    )
    legend: Any = axes.get_legend()
    for drawn in (axes.lines[1], legend.legend_handles[1]):
        drawn.set_marker("")  # of a line that was computed; the marks are what was measured
    return figure


def _without_the_line(table: pd.DataFrame, axes: Axes) -> Figure:
    from beowulf import figures

    off = {f"{name}_percent": 100 * (table[of] / table["model_us"] - 1) for name, of in OFF.items()}
    return figures.over_sizes(
        table[["size_bytes", "model_us"]].assign(**off),
        "off_percent",
        low="low_percent",
        high="high_percent",
        title="Time minus the line",
        y_title="half round trip minus the line (% of the line)",
        axes=axes,
    )


STUDY = Study(
    id="E1",
    title="Latency and rate: T(n) = alpha + beta n, and the eager limit",
    plan=plan,
    simulates=True,
    facts=Facts.of,
    judged=[
        quiet_claim("line", "The time of a message is alpha + beta n", line, place="equation 1"),
        quiet_claim(
            "alpha",
            "alpha is the latency of an empty message",
            alpha_is_latency,
            place="equation 2",
        ),
        quiet_claim(
            "beta",
            "1 / beta is the rate of the link that headers leave",
            beta_is_the_links,
            place="equation 1",
        ),
        Claim(
            "eager-step",
            "Where long messages begin, the time makes a step, at MPICH's eager limit",
            steps_at_the_limits,
        ),
    ],
    draw=picture,
    needs=(CABLE,),
    differs={
        "holds": (
            "An empty message and the slope of long ones are alpha and beta on any network, and "
            "where MPICH begins to ask first, at its eager limit, a message costs a round trip "
            "more."
        ),
        "contradicted": (
            "A shaped link saves credit while the other direction is used, so the short messages "
            "of a ping-pong cross at up to twice its rate and take half of what the line says; a "
            "real cable saves nothing."
        ),
        "inconclusive": (
            "Asking first costs some ten microseconds of the thousands that a long message takes, "
            "which a busy machine hides, and links without a known rate leave beta with nothing "
            "to be compared with."
        ),
    },
)
