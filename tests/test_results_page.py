"""Is docs/results.md what was measured, claim by claim, and does it say what is not measured?"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from benchmarks import full_studies, results_page
from benchmarks.result import Result
from benchmarks.result import markdown as figures
from benchmarks.rows import answer
from beowulf.studies import STUDIES, find
from beowulf.verdict import ARITHMETIC

BEFORE = {"load_1min": 0.25, "cores": 2, "waiting_for_a_core_percent_10s": 0.0}


def claim(name: str, outcome: str, **more: str) -> dict[str, Any]:
    made = {"study": "?", "claim": name, "says": f"the claim {name}", "outcome": outcome}
    return {**made, "evidence": f"of {name}: 3 | 4 < 5 * 6", "advice": "", "records": ["0"], **more}


def run(study: str, *verdicts: dict[str, Any], took_s: float = 60.0) -> full_studies.Run:
    return full_studies.Run(study, "2026-01-02T03:04:05.678Z", took_s, BEFORE, verdicts)


def result(runs: Sequence[full_studies.Run], failed: dict[str, str] | None = None) -> Result:
    """What no machine measured: of invented runs, and kept in a temporary folder only."""
    found = full_studies.findings(runs, failed or {}, [], [])
    return Result(
        name="full_studies",
        title=full_studies.TITLE,
        started="2026-01-02T03:00:00.000Z",
        ended="2026-01-02T04:00:00.000Z",
        rounds=2,
        seed=1,
        noise="",
        rows=[answer(question, found.samples, "", 1) for question in found.questions],
        samples_s=found.samples,
        order=found.order,
        raw_samples_s={},
        facts=found.facts,
        notes=found.notes,
        circumstances={"before": BEFORE, "after": BEFORE, "pauses_busy_percent": []},
        versions={"kernel": "6.0-made", "machine": "none", "python": "3", "commit": "abc"},
    )


def section(page: str, name: str) -> str:
    return page.partition(f"## {results_page.heading(name)}\n")[2].partition("\n## ")[0]


@pytest.fixture
def kept(tmp_path: Path) -> Result:
    """Two runs of B1, one of D5 and nothing else, saved and read again."""
    runs = [
        run("B1", claim("one", "contradicted"), claim("two", "inconclusive")),
        run("D5", claim("sum", "holds", rests_on="arithmetic"), claim("gain", "holds")),
        run("B1", claim("one", "contradicted"), claim("two", "holds"), took_s=90.0),
    ]
    return Result.load(result(runs).save(tmp_path)[0])


def test_the_page_is_what_was_measured() -> None:
    page = results_page.PAGE.read_text(encoding="utf-8")
    assert page == results_page.markdown(results_page.measured()), (
        "`python -m benchmarks.results_page` writes it again"
    )


def test_the_page_names_every_study(kept: Result) -> None:
    for page in (results_page.PAGE.read_text(), results_page.markdown(kept)):
        for name in STUDIES:
            assert section(page, name), name


def test_a_claim_has_its_measure_its_verdict_and_why(kept: Result) -> None:
    shown = section(results_page.markdown(kept), "B1")
    assert "| the claim one | of one: 3 \\| 4 \\< 5 \\* 6 | ✗ contradicted |" in shown
    why = find("B1").differs
    assert f"- **contradicted**: {why['contradicted']}" in shown
    assert f"- **holds**: {why['holds']}" in shown
    assert why["inconclusive"] not in shown  # it is of the run before
    assert "2026-01-02 03:04 UTC, 90 s, the last of 2 runs; load before: 0.25 on 2 cores." in shown


def test_runs_that_differ_are_counted(kept: Result) -> None:
    assert "✓ holds (1 of 2 runs) |" in section(results_page.markdown(kept), "B1")


def test_arithmetic_is_listed_and_not_counted(kept: Result) -> None:
    page = results_page.markdown(kept)
    measured, _, arithmetic = section(page, "D5").partition(f"{ARITHMETIC}:")
    assert "the claim gain" in measured
    assert "the claim sum" in arithmetic
    summary = page.partition("## Summary")[2].partition("\n## ")[0]
    lines = {line.split("]")[0][3:5]: line for line in summary.splitlines()}
    assert lines["D5"].endswith("| 1 | 0 | 0 | 1.0 |")
    assert lines["B1"].endswith("| 1 | 1 | 0 | 1.5 |")
    assert "| all | 2 | 1 | 0 | 2.5 |" in summary


def test_what_was_not_measured_says_so(kept: Result) -> None:
    page = results_page.markdown(kept)
    assert section(page, "A5").strip() == "Not measured yet."
    nothing = results_page.markdown(None)
    assert results_page.NOTHING in nothing
    assert {section(nothing, name).strip() for name in STUDIES} == {"Not measured yet."}
    why = "The switch is on fire."
    failed = result([run("B1", claim("one", "holds"))], {"A5": why})
    assert section(results_page.markdown(failed), "A5").strip() == f"Not measured yet: {why}"


def test_the_circumstances_are_on_the_page(kept: Result) -> None:
    page = results_page.markdown(kept)
    rows = ("| runs of each study | 1, 2 |", "| cores | 2 |", "| link rate | 100mbit |")
    for needed in (*rows, "6.0-made", "classic MPICH", "abc", "median 0.25"):
        assert needed in page, needed


def test_the_verdicts_are_kept_and_not_in_the_table_of_times(kept: Result, tmp_path: Path) -> None:
    plain = json.loads((tmp_path / "full_studies.json").read_text())["facts"]["runs"]
    assert set(plain) == {"B1", "D5"}
    one, two = plain["B1"]["verdicts"]
    assert (one["outcomes"], two["outcomes"]) == (["contradicted"] * 2, ["inconclusive", "holds"])
    assert (one["says"], one["evidence"]) == ("the claim one", "of one: 3 | 4 < 5 * 6")
    assert plain["B1"]["before"] == BEFORE
    assert "the claim one" not in figures(kept)
