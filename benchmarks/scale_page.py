"""docs/scale.md: what a class of 30, 300 and 10,000 learners needs, from kept results.

`python -m benchmarks.scale_page` puts their figures into scale_page.txt. A test sees whether it was run.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping
from pathlib import Path

from benchmarks import deadline, hub
from benchmarks.deadline import FULL, QUICK
from benchmarks.grading import CORES
from benchmarks.result import Result, table
from beowulf import paths
from beowulf.lab_file import read
from beowulf.measure.line import LONGEST_REST_S

PAGE = paths.root() / "docs" / "scale.md"
TEXT = Path(__file__).with_name("scale_page.txt")
RESULTS = Path(__file__).with_name("results")
HOUR_S, MB, GB = 3600.0, 1e6, 1e9
HUB_BYTES = 64 * GB
LEAST_S = 0.001  # the kernel counts processor time in steps


def main() -> None:
    """Write the page from the kept results."""
    PAGE.write_text(markdown(kept()), encoding="utf-8")
    print(f"Written: {PAGE}.")


def kept() -> dict[str, Result]:
    """The results that the page is made of."""
    return {name: Result.load(RESULTS / f"{name}.json") for name in ("hub", "deadline", "grading")}


def markdown(results: Mapping[str, Result]) -> str:
    """The whole page."""
    costs, waits, grading = (results[name] for name in ("hub", "deadline", "grading"))
    facts = waits.facts
    return TEXT.read_text(encoding="utf-8").format(
        cores=costs.circumstances["before"]["cores"],
        in_short=_in_short(costs, waits, grading),
        bearable=_time(facts["bearable_s"]),
        rest=_time(LONGEST_REST_S),
        memory=_rows(
            costs, (hub.FIRST, hub.READS, hub.CLUSTER, hub.ENGINES, hub.MEASURES), "memory"
        ),
        cores_used=_rows(costs, (hub.IDLE, hub.BOOT), "processor time"),
        readers=f"{HUB_BYTES / _median(costs, hub.READS):,.0f}",
        measurers=f"{HUB_BYTES / _median(costs, hub.MEASURES):,.0f}",
        days=facts["days"],
        turns=facts[f"studies, {FULL}"],
        lab=facts[f"lab, {FULL}"][:2],
        full=_time(facts[f"seconds, {FULL}"]),
        quick=_time(facts[f"seconds, {QUICK}"]),
        waits=_waits(waits),
        grading=_grading(grading),
        processor=_rows(costs, sorted(_of(costs, hub.GRADED.format(""))), "lab"),
        storage=_storage(costs),
        of_a_learner=f"{_of_a_learner_bytes(costs) / MB:,.0f} MB",
        one_line=_one_line(waits),
        hour=f"{HOUR_S / _slowest(grading):,.0f}",
    )


def _median(result: Result, name: str) -> float:
    return statistics.median(result.samples_s[name])


def _of(result: Result, begin: str) -> dict[str, float]:
    """The medians of what begins so, by the rest of the name."""
    return {name: _median(result, name) for name in result.samples_s if name.startswith(begin)}


def _rows(result: Result, names: tuple[str, ...] | list[str], heading: str) -> str:
    units = {row.ours: row.unit for row in result.rows}
    rows = []
    for name in names:
        value = _median(result, name)
        shown = f"{value / MB:,.0f} MB" if units[name] == "bytes" else f"{value:.2g} s"
        if units[name] == "s" and value < LEAST_S:
            shown = f"below {LEAST_S:g} s"
        rows.append([name, shown])
    return table([heading, "measured"], rows)


def _in_short(costs: Result, waits: Result, grading: Result) -> str:
    rows = [
        [
            f"{learners:,}",
            *(_machines(waits.facts["enough"][f"{learners}, {how}"]) for how in (FULL, QUICK)),
            f"{learners * _median(costs, hub.READS) / GB:,.0f} GB",
            _time(learners * _slowest(grading)),
            f"{learners * _of_a_learner_bytes(costs) / GB:,.0f} GB",
        ]
        for learners in deadline.CLASSES
    ]
    headings = (
        "learners",
        "machines to measure on, full studies",
        "the same with `--quick`",
        "memory when all read at once",
        f"grading a lab on {CORES} cores, at most",
        "storage of all labs, estimated",
    )
    return table(headings, rows)


def _machines(number: int | None) -> str:
    return f"{number:,}" if number else "more than were tried"


def _waits(waits: Result) -> str:
    rows = [
        [name, _time(statistics.median(taken)), f"{100 * waits.facts['late'][name]:.0f} %"]
        for name, taken in waits.samples_s.items()
    ]
    return table(["learners and machines", "longest wait", "too late"], rows)


def _one_line(waits: Result) -> str:
    first = min(deadline.CLASSES)
    name = deadline.of(first, 1, FULL)
    return f"{first} learners with full studies: the longest wait is {_time(_median(waits, name))}"


def _slowest(grading: Result) -> float:
    """Seconds that a submission takes, of the lab that takes longest."""
    return max(_median(grading, name) for name in grading.samples_s if name[:2].isdigit())


def _grading(grading: Result) -> str:
    rows = [
        [
            name,
            f"{_median(grading, name):.2f} s",
            f"{HOUR_S / _median(grading, name) / CORES:,.0f}",
        ]
        for name in sorted(grading.samples_s)
        if name[:2].isdigit()
    ]
    return table(["lab", f"a submission on {CORES} cores", "submissions an hour and core"], rows)


def _storage(costs: Result) -> str:
    rows = [
        [name, f"{statistics.median(sizes) / MB:.2f} MB", f"{max(sizes) / MB:.2f} MB"]
        for name in (*_records(), hub.CAPTURES, hub.NOTEBOOK)
        if (sizes := costs.samples_s[name])
    ]
    return table(["file", "median", "largest"], rows)


def _records() -> list[str]:
    return [hub.RECORD.format(how) for how in (hub.QUICK, hub.FULL)]


def _of_a_learner_bytes(costs: Result) -> float:
    """The notebooks of all labs, and for each of their studies the largest Record with the captures that we know."""
    labs = [read(slug) for slug in paths.labs()]
    a_record = max(size for name in _records() for size in costs.samples_s[name])
    a_study = a_record + _median(costs, hub.CAPTURES)
    return len(labs) * max(costs.samples_s[hub.NOTEBOOK]) + a_study * sum(
        len(lab.studies) for lab in labs
    )


def _time(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    if seconds < 2 * HOUR_S:
        return f"{seconds / 60:.0f} min"
    hours = seconds / HOUR_S
    return f"{hours:.0f} h" if hours < 48 else f"{math.ceil(hours / 24)} days"


if __name__ == "__main__":
    main()
