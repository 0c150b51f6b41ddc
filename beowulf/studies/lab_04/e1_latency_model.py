"""E1, the model of latency: T(n) = alpha + n / beta, and the step where MPICH changes its way.

Paper E, equations 1 and 2: the time of a message is the latency, which is that of an empty message,
and its bytes over the bandwidth. A library departs from the line where long messages begin: they wait
until the receiver has asked for them, which costs a round trip more (paper D's eager limit, set here
to three values). The step is looked for without knowing where it was put.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from beowulf.cluster import Cluster
from beowulf.errors import LabError
from beowulf.figures import Figure
from beowulf.measure.fit import Fit, alpha_beta, eager_limit
from beowulf.measure.judgement import need_study, unjudged, verdict
from beowulf.measure.measurement import Measurement
from beowulf.measure.quality import NO_SAMPLES, trouble
from beowulf.measure.roundtrips import (
    HALF,
    LAUNCHES,
    PASSES,
    QUICK_LAUNCHES,
    QUICK_PASSES,
    need_nodes,
    run,
)
from beowulf.measure.statistics import summary
from beowulf.measure.sweep import powers_of_two, steps
from beowulf.measure.wire import payload_mbit_per_s
from beowulf.record import Record
from beowulf.studies import Progress, no_progress
from beowulf.studies.lab_05.overlap import EAGER_LIMIT
from beowulf.verdict import Outcome, Verdict

ID = "E1"
TITLE = "Latency and rate: T(n) = alpha + n / beta, and the eager limit"

LIMITS = (16_384, 65_536, 131_072)  # paper D's MPICH2 and MPICH1, and MPICH's default
LAST_BYTES = 1024 * 1024
PARTS = 8  # around a limit, the sizes rise by this part of it
NEAR_THE_MODEL = 0.15
MOSTLY = 0.9
ALPHA_NEAR = 0.15
BETA_NEAR = 0.05

LINE = "The time of a message is alpha + n / beta"
ALPHA = "alpha is the latency of an empty message"
BETA = "beta is the rate of the link that headers leave"
STEP = "Where long messages begin, the time makes a step, at MPICH's eager limit"
CLAIMS = {"line": LINE, "alpha": ALPHA, "beta": BETA, "eager-step": STEP}


def measure(
    cluster: Cluster,
    folder: Path,
    *,
    quick: bool = False,
    progress: Progress = no_progress,
    sizes: Sequence[int] | None = None,
) -> Record:
    """Ping-pong of two nodes: a wide sweep for the line, and an even one around each eager limit."""
    need_nodes(cluster, 2)
    launches, passes = (QUICK_LAUNCHES, QUICK_PASSES) if quick else (LAUNCHES, PASSES)
    wide = powers_of_two(0, LAST_BYTES) if sizes is None else list(sizes)
    swept = {"sizes": wide, "limits": list(LIMITS), "parts": PARTS}
    with Measurement(
        ID,
        cluster,
        folder,
        quick=quick,
        progress=progress,
        launches=launches * (1 + len(LIMITS)),
        sweep={**swept, "launches": launches, "passes": passes},
    ) as session:
        for launch in range(launches):
            run(session, 2, wide, passes=passes, launch=launch, at={"sweep": "wide"})
            for limit in LIMITS:
                run(
                    session,
                    2,
                    around(limit),
                    passes=passes,
                    launch=launch,
                    environment={EAGER_LIMIT: str(limit)},
                    at={"sweep": "even", "limit_bytes": limit},
                )
    return session.record()


def around(limit: int) -> list[int]:
    """The sizes from half of the limit to half more than it, in steps of an eighth of it."""
    return steps(limit // 2, 3 * limit // 2, limit // PARTS)


def times(record: Record, **at: object) -> dict[int, list[float]]:
    """All half round trips (us) by size, of the points with these coordinates."""
    found: dict[int, list[float]] = {}
    for point in record.select(**at):
        if point.quantity == HALF:
            found.setdefault(int(point.at["size_bytes"]), []).extend(point.samples)
    return found


def claims(record: Record) -> list[Verdict]:
    """What the model says, each held against this Record."""
    need_study(record, ID)
    bad = trouble(record)
    if NO_SAMPLES in bad:
        return unjudged(record, CLAIMS, bad)
    wide = times(record, sweep="wide")
    try:
        fit = alpha_beta(wide)
    except LabError as no_line:
        said = no_line.what.rstrip(".")
        return unjudged(record, CLAIMS, [*bad, said[0].lower() + said[1:]])
    return [
        _line(record, fit, bad),
        _alpha(record, fit, wide, bad),
        _beta(record, fit, bad),
        _steps(record, bad),
    ]


def _line(record: Record, fit: Fit, bad: list[str]) -> Verdict:
    near = [size for size, share in fit.residuals.items() if abs(share) <= NEAR_THE_MODEL]
    worst = max(fit.residuals, key=lambda size: abs(fit.residuals[size]))
    outcome: Outcome = "holds" if len(near) >= MOSTLY * len(fit.residuals) else "contradicted"
    return verdict(
        record,
        "line",
        LINE,
        outcome,
        f"{len(near)} of {len(fit.residuals)} sizes are within {NEAR_THE_MODEL:.0%} of the line;"
        f" {worst:,} bytes are {fit.residuals[worst]:+.0%} off",
        numbers=_numbers(fit),
        trouble=bad,
    )


def _numbers(fit: Fit) -> dict[str, float]:
    return {"alpha_us": fit.alpha_us.value, "beta_bytes_per_s": fit.beta_bytes_per_s.value}


def _alpha(record: Record, fit: Fit, wide: Mapping[int, list[float]], bad: list[str]) -> Verdict:
    if 0 not in wide:
        return verdict(
            record,
            "alpha",
            ALPHA,
            "inconclusive",
            "no empty message was measured",
            advice="Put 0 among the sizes.",
            trouble=bad,
        )
    empty = summary(wide[0])
    alpha = fit.alpha_us
    near = alpha.low <= empty.median <= alpha.high
    near = near or abs(alpha.value - empty.median) <= ALPHA_NEAR * empty.median
    return verdict(
        record,
        "alpha",
        ALPHA,
        "holds" if near else "contradicted",
        f"alpha is {alpha.value:.1f} µs ({alpha.low:.1f} to {alpha.high:.1f}); half the round trip"
        f" of an empty message takes {empty.median:.1f} µs ({empty.low:.1f} to {empty.high:.1f})",
        numbers={**_numbers(fit), "empty_us": empty.median},
        trouble=bad,
    )


def _beta(record: Record, fit: Fit, bad: list[str]) -> Verdict:
    beta = fit.beta_bytes_per_s
    mbit, left = beta.value * 8 / 1e6, payload_mbit_per_s(record.cluster)
    if left is None:
        return verdict(
            record,
            "beta",
            BETA,
            "inconclusive",
            f"beta is {mbit:.1f} Mbit/s, and the links have no known rate",
            advice="Measure on a cluster with a rate, such as `beowulf up --rate 100mbit`.",
            trouble=bad,
        )
    return verdict(
        record,
        "beta",
        BETA,
        "holds" if abs(mbit - left) <= BETA_NEAR * left else "contradicted",
        f"beta is {mbit:.1f} Mbit/s; headers leave {left:.1f} Mbit/s",
        numbers={**_numbers(fit), "left_mbit_per_s": left},
        trouble=bad,
    )


def _steps(record: Record, bad: list[str]) -> Verdict:
    said, right, wrong = [], 0, 0
    numbers = {}
    for limit in LIMITS:
        found = eager_limit(times(record, sweep="even", limit_bytes=limit))
        if found is None:
            said.append(f"limit {limit:,}: no step")
            continue
        numbers[f"limit_{limit}"] = [found.below, found.above]
        step = limit // PARTS
        if found.below - step <= limit <= found.above + step:
            right += 1
        else:
            wrong += 1
        said.append(
            f"limit {limit:,}: {found.jump_us.value:.0f} µs more between"
            f" {found.below:,} and {found.above:,} bytes"
        )
    outcome: Outcome = "contradicted" if wrong else "holds" if right else "inconclusive"
    if right < len(LIMITS) and not wrong:
        outcome = "inconclusive"
    return verdict(
        record,
        "eager-step",
        STEP,
        outcome,
        "; ".join(said),
        advice="The step is small beside the time of a long message: measure on a quiet machine"
        f"{' and without --quick' if record.sweep.get('quick') else ''}; study D2 finds the same"
        " limit where a rank works meanwhile."
        if outcome == "inconclusive"
        else "",
        numbers=numbers,
        trouble=bad,
    )


def picture(record: Record) -> Figure:
    """What the line leaves over: how far each size is off alpha + n / beta."""
    from beowulf import figures

    need_study(record, ID)
    import pandas as pd

    wide = times(record, sweep="wide")
    fit = alpha_beta(wide)
    rows = []
    for size in sorted(wide):
        found, said = summary(wide[size]), fit.time_us(size)
        rows.append(
            {
                "size_bytes": size,
                HALF: found.median,
                "model_us": said,
                "off_percent": 100 * (found.median - said) / said,
                "low_percent": 100 * (found.low - said) / said,
                "high_percent": 100 * (found.high - said) / said,
            }
        )
    alpha, beta = fit.alpha_us.value, fit.beta_bytes_per_s.value * 8 / 1e6
    return figures.lines(
        pd.DataFrame(rows),
        "size_bytes",
        "off_percent",
        low="low_percent",
        high="high_percent",
        x_log=True,
        title=f"Time minus the line: alpha {alpha:.1f} µs, beta {beta:.1f} Mbit/s",
        x_title="message size (bytes)",
        y_title="half round trip minus the line (% of the line)",
    )
