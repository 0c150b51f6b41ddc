"""E1, the model of latency: T(n) = alpha + beta n, and the step where MPICH changes its protocol.

Paper E, equations 1 and 2: the time of a message is the latency, which is that of an empty message,
and its bytes over the bandwidth. A library departs from the line where long messages begin: they wait
until the receiver has asked for them, which costs a round trip more (the eager limit, set here to
three values; paper D speaks of a socket buffer's limit). The step is looked for without knowing where it was put.

For how long a short message keeps its sender and its receiver busy is measured as well: a calibration needs it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import astuple, replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from beowulf.cluster import Cluster
from beowulf.cluster.common.hydra import EAGER_LIMIT
from beowulf.errors import LabError
from beowulf.figures import Figure
from beowulf.measure.fit import Fit, alpha_beta, eager_limit
from beowulf.measure.judgement import Agreement
from beowulf.measure.link_capacity import frame, mtu_of, payload_mbit_per_s
from beowulf.measure.measurement import Measurement
from beowulf.measure.roundtrips import (
    HALF,
    PASSES,
    QUICK_LAUNCHES,
    QUICK_PASSES,
    need_nodes,
    overheads,
    run,
)
from beowulf.measure.statistics import Ratio, Summary, summary
from beowulf.measure.sweep import powers_of_two, steps
from beowulf.record import Point, Record
from beowulf.studies.quantity import Quantity, Seen, known
from beowulf.studies.roundtrip_sweep import NEAR_THE_LINK, at_the_link
from beowulf.studies.states import put_in
from beowulf.studies.study import CABLE, Claim, Judgement, Plan, Study, quiet_claim
from beowulf.verdict import Outcome

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

T = TypeVar("T")
# One within each of paper D's two limits (10 to 20 KB, 60 to 70 KB), and MPICH's default.
LIMITS = (16_384, 65_536, 131_072)
LAST_BYTES = 1024 * 1024
PARTS = 8  # around a limit, the sizes rise by this part of it
NEAR_THE_MODEL = 0.15
MOSTLY = 0.9
ALPHA_NEAR = 0.15
# alpha differs between launches by more than between a launch's samples, so many launches determine its interval.
LAUNCHES = 8
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
    """A Record, the times of its wide sweep with the launch of each, and the line through them."""

    record: Record
    wide: dict[int, list[float]]
    launches: dict[int, list[int]]
    fit: Fit

    @classmethod
    def of(cls, record: Record) -> Facts:
        """Those of this Record; LabError when its times make no line."""
        wide = times(record, sweep="wide")
        launches = _by_size(
            record, lambda p: [int(p.at.get("launch", 0))] * len(p.samples), sweep="wide"
        )
        return cls(record, wide, launches, alpha_beta(wide, launches=launches, busy=record.busy))

    @property
    def numbers(self) -> dict[str, float]:
        """The two parameters of the line."""
        alpha, beta = self.fit.alpha_us.value, self.fit.beta_us_per_byte.value
        return {"alpha_us": alpha, "beta_us_per_byte": beta}


def line(facts: Facts) -> Judgement:
    """Equation 1: at how many sizes the interval of the time is within a margin of the line."""
    over = {size: _over_the_line(facts, size) for size in facts.wide}
    agree = Agreement.of(over.values(), NEAR_THE_MODEL)
    worst = max(over, key=lambda size: abs(over[size].median - 1))
    off = f"{worst:,} bytes take {over[worst].median:.2f} times the line's time"
    off += f" ({over[worst].low:.2f} to {over[worst].high:.2f})"
    return Judgement(agree.outcome(MOSTLY), f"{agree}; {off}", facts.numbers)


def _over_the_line(facts: Facts, size: int) -> Ratio:
    """How many times as long as on the line a message takes, with the interval of its own time."""
    seen = summary(facts.wide[size], launches=facts.launches[size], busy=facts.record.busy)
    model = facts.fit.time_us(size)
    return Ratio(seen.median / model, seen.low / model, seen.high / model, seen.n)


def _alpha(facts: Facts) -> Seen:
    return Seen(*astuple(facts.fit.alpha_us))


def _empty(facts: Facts) -> Summary:
    if 0 not in facts.wide:
        raise LabError("No empty message was measured.", "Add 0 to the list of sizes.")
    return summary(facts.wide[0], launches=facts.launches[0], busy=facts.record.busy)


ALPHA = Quantity("alpha", _alpha, "µs")
EMPTY = Quantity("half the round trip of an empty message", _empty, "µs")


def beta_is_the_links(facts: Facts) -> Judgement:
    """The inverse slope of the line, against what headers leave of the link."""
    beta = facts.fit.beta_us_per_byte
    inverse = Seen(*(8 / each for each in (beta.value, beta.high, beta.low)))
    left = payload_mbit_per_s(facts.record.cluster)
    if left is None:  # which says so
        return at_the_link("1 / beta is", inverse.median, facts.record)
    near = known("1 / beta", inverse, "Mbit/s")
    seen = near.within((1 - NEAR_THE_LINK) * left, (1 + NEAR_THE_LINK) * left)(facts)
    data, whole = frame(mtu_of(facts.record.cluster))
    leave = f"headers leave {data} of every {whole} bytes, {left:.1f} Mbit/s"
    return replace(seen, evidence=f"{seen.evidence}; {leave}")


def steps_at_the_limits(facts: Facts) -> Judgement:
    """Around each limit that was set, the step that is found without knowing the limit."""
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
        "; ".join([*listed, f"the step must be within 1/{PARTS} of the limit"]),
        numbers,
        advice=f"The step is small compared with the time of a long message: measure on a quiet machine{full};"
        " study D2 finds the same limit while a rank works.",
    )


def picture(facts: Facts) -> Figure:
    """T(n) with the line fitted to it, and below it the differences from the line."""
    from beowulf import figures

    title, table = _title(facts), _table(facts)
    charts: dict[str, Callable[[Axes], Figure]] = {
        "time": partial(_with_the_line, table, title),
        "rest": partial(_without_the_line, table),
    }
    return figures.one_below_another(title, charts)


def curve(facts: Facts) -> Figure:
    """T(n) with only the line fitted to it."""
    return _with_the_line(_table(facts), _title(facts))


def _title(facts: Facts) -> str:
    alpha, mbit = facts.fit.alpha_us.value, facts.fit.bandwidth_bytes_per_s * 8 / 1e6
    return f"T(n) = alpha + beta n: alpha {alpha:.1f} µs, 1 / beta {mbit:.1f} Mbit/s"


def _table(facts: Facts) -> pd.DataFrame:
    import pandas as pd

    rows = []
    for size in sorted(facts.wide):
        seen, model = summary(facts.wide[size], busy=facts.record.busy), facts.fit.time_us(size)
        rows.append([size, seen.median, seen.low, seen.high, model])
    return pd.DataFrame(rows, columns=["size_bytes", HALF, "low", "high", "model_us"])


def _with_the_line(table: pd.DataFrame, title: str, axes: Axes | None = None) -> Figure:
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
    place = axes or figure.drawing.axes[0]
    legend: Any = place.get_legend()
    for drawn in (place.lines[1], legend.legend_handles[1]):
        drawn.set_marker("")  # a computed line has no marks: they show what was measured
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


CLAIMS = [
    quiet_claim(
        "line",
        f"The time of a message is alpha + beta n: at most one size in ten is more than"
        f" {NEAR_THE_MODEL:.0%} off the line",
        line,
        place="equation 1",
    ),
    quiet_claim(
        "alpha",
        f"alpha is the latency of an empty message, within {ALPHA_NEAR:.0%}",
        (ALPHA / EMPTY).within(1 - ALPHA_NEAR, 1 + ALPHA_NEAR),
    ),
    quiet_claim(
        "beta",
        f"1 / beta is the rate of the link that headers leave, within {NEAR_THE_LINK:.0%}",
        beta_is_the_links,
    ),
    Claim(
        "eager-step",
        "Where long messages begin, the time makes a step, at MPICH's eager limit",
        steps_at_the_limits,
    ),
]
OF_THE_LINK = ("line", "beta")  # on this machine's cables the rate is ours


def claims(record: Record) -> list[Claim]:
    """On a link whose rate we set, the claims on the line and its slope are demonstrations."""
    return [put_in(record, each) if each.name in OF_THE_LINK else each for each in CLAIMS]


STUDY = Study(
    id="E1",
    title="Latency and rate: T(n) = alpha + beta n, and the eager limit",
    plan=plan,
    simulates=True,
    facts=Facts.of,
    judged=claims,
    draw=picture,
    needs=(CABLE,),
    differs={
        "holds": (
            "An empty message and the slope of long ones are alpha and beta on any network, and where MPICH begins "
            "to ask first, at its eager limit, a message costs one more round trip."
        ),
        "contradicted": {
            "": (
                "Cards that moderate their interrupts, and a library that changes its protocol with the "
                "size, add time that belongs neither to the latency nor to the bytes of a message."
            ),
            "namespaces": (
                "A token bucket in place of a cable saves credit while the answer travels, so messages of up to a "
                "few kilobytes cross at up to twice its rate; real cables, or VMs with `netem rate`, save none and "
                "can decide."
            ),
        },
        "inconclusive": (
            "Asking first takes about ten microseconds of the thousands that a long message takes, which a busy "
            "machine hides, and on links without a known rate there is nothing to compare beta with."
        ),
    },
)
