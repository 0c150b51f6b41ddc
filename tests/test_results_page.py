"""Does the page of results have what was measured, claim by claim, and say what could not be measured?"""

from __future__ import annotations

from typing import Any, get_args

import pytest

from benchmarks import full_studies, results_page
from beowulf.studies import find
from beowulf.verdict import ARITHMETIC, OWN, OWN_CHECKS, Outcome

BEFORE = {"load_1min": 0.25, "cores": 2, "waiting_for_a_core_percent_10s": 0.0}


def claim(name: str, outcome: str, **more: str) -> dict[str, Any]:
    made = {"study": "?", "claim": name, "says": f"the claim {name}", "outcome": outcome}
    return {**made, "evidence": f"of {name}: 3 | 4 < 5 * 6", "advice": "", "records": ["0"], **more}


def run(*verdicts: dict[str, Any], took_s: float = 60.0) -> dict[str, Any]:
    started = "2026-01-02T03:04:05.678Z"
    return {"started": started, "took_s": took_s, "before": BEFORE, "verdicts": verdicts}


def result(runs: dict[str, list[Any]], failed: dict[str, str] | None = None) -> dict[str, Any]:
    """What no machine measured: of invented runs."""
    earlier = {"samples": {}, "facts": {"runs": {}}}
    versions = {"kernel": "6.0-made", "machine": "none", "python": "3", "commit": "abc"}
    facts = full_studies.findings(runs, failed or {}, [], earlier).facts
    return {"facts": facts, "versions": versions}


def section(page: str, name: str) -> str:
    return page.partition(f"## {results_page.title(name)}\n")[2].partition("\n## ")[0]


@pytest.fixture
def made() -> dict[str, Any]:
    """Two runs of B1, one of D5 and nothing else."""
    return result(
        {
            "B1": [
                run(claim("one", "contradicted"), claim("two", "inconclusive")),
                run(claim("one", "contradicted"), claim("two", "holds"), took_s=90.0),
            ],
            "D5": [
                run(
                    claim("sum", "holds", rests_on="arithmetic"),
                    claim("ours", "contradicted", place=OWN),
                    claim("gain", "holds", place="table 9"),
                )
            ],
        }
    )


def test_a_claim_has_its_measure_its_verdict_and_why(made: dict[str, Any]) -> None:
    shown = section(results_page.markdown(made), "B1")
    assert "✓ holds (1 of 2 runs) |" in shown
    assert "| the claim one | of one: 3 \\| 4 \\< 5 \\* 6 | ✗ contradicted |" in shown
    why = find("B1").reasons(get_args(Outcome), {})
    assert f"- **contradicted**: {why['contradicted']}" in shown
    assert f"- **holds**: {why['holds']}" in shown
    assert why["inconclusive"] not in shown  # it is of the run before
    assert "2026-01-02 03:04 UTC, 90 s, the last of 2 runs; load before: 0.25 on 2 cores." in shown


def test_own_checks_and_arithmetic_are_listed_and_not_counted(made: dict[str, Any]) -> None:
    page = results_page.markdown(made)
    measured, _, others = section(page, "D5").partition(f"{OWN_CHECKS}:")
    assert "the claim gain (table 9)" in measured
    own, _, arithmetic = others.partition(f"{ARITHMETIC}:")
    assert "the claim ours" in own
    assert "the claim sum" in arithmetic
    summary = page.partition("## Summary")[2].partition("\n## ")[0]
    lines = {line.split("]")[0][3:5]: line for line in summary.splitlines()}
    assert lines["D5"].endswith("| 1 | 0 | 0 | 1.0 |")
    assert lines["B1"].endswith("| 1 | 1 | 0 | 1.5 |")
    assert "| all | 2 | 1 | 0 | 2.5 |" in summary


def test_what_could_not_be_measured_says_so(made: dict[str, Any]) -> None:
    assert "## A5" not in results_page.markdown(made)
    why = "The switch is on fire."
    failed = result({"B1": [run(claim("one", "holds"))]}, {"A5": why})
    assert section(results_page.markdown(failed), "A5").strip() == f"Not measured yet: {why}"


def test_a_study_that_is_not_measured_again_keeps_its_run(made: dict[str, Any]) -> None:
    earlier = {"samples": {"B1": [60.0, 90.0], "D5": [60.0]}, "facts": made["facts"]}
    found = full_studies.findings({"D5": [run(took_s=7.0)]}, {}, [], earlier)
    assert found.samples == {"B1": [60.0, 90.0], "D5": [7.0]}
    assert found.facts["runs"]["B1"] == made["facts"]["runs"]["B1"]
    assert found.facts["runs"]["D5"]["took_s"] == 7.0


def test_what_is_simulated_as_well_has_a_section_of_its_own_and_no_count(
    made: dict[str, Any],
) -> None:
    simulated = {**run(claim("flat", "holds")), "cluster": {"kind": "simulated"}}
    page = results_page.markdown(
        result({"C2": [run(claim("flat", "contradicted"))], "C2-1995": [simulated]})
    )
    shown = section(page, "C2-1995")
    assert "simulated by SimGrid, not measured" in shown
    assert f"- **holds**: {find('C2').reasons(['holds'], {'kind': 'simulated'})['holds']}" in shown
    assert "✓ holds" not in section(page, "C2")
    assert "| all | 0 | 1 | 0 |" in page
