"""Does the page of results have what was measured, claim by claim, and say what could not be measured?"""

from __future__ import annotations

from typing import Any, get_args

import pytest

from benchmarks import brief_evidence, full_studies, results_page
from benchmarks.result import kept
from beowulf.cluster.state import USUAL
from beowulf.studies import find
from beowulf.verdict import ARITHMETIC, OWN, OWN_CHECKS, Outcome

BEFORE = {"load_1min": 0.25, "cores": 2, "waiting_for_a_core_percent_10s": 0.0}


def claim(name: str, outcome: str, **more: str) -> dict[str, Any]:
    made = {"study": "?", "claim": name, "says": f"the claim {name}", "outcome": outcome}
    return {**made, "evidence": f"of {name}: 3 | 4 < 5 * 6", "advice": "", "records": ["0"], **more}


def run(
    *verdicts: dict[str, Any], took_s: float = 60.0, kernel: str = "6.0-made"
) -> dict[str, Any]:
    started, on = "2026-01-02T03:04:05.678Z", {"processor": "made", "kernel": kernel}
    about = {"started": started, "took_s": took_s, "before": BEFORE, "on": on}
    return {**about, "verdicts": verdicts}


def result(runs: dict[str, list[Any]], failed: dict[str, str] | None = None) -> dict[str, Any]:
    """What no machine measured: of invented runs."""
    earlier: dict[str, Any] = {"facts": {"runs": {}}}
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
                run(claim("one", "contradicted"), claim("two", "inconclusive"), kernel="5.9"),
                run(claim("one", "contradicted"), claim("two", "holds"), took_s=90.0),
            ],
            "D5": [
                run(
                    claim("sum", "holds", rests_on="arithmetic"),
                    claim("put in", "holds", rests_on="demonstration", place="table 8"),
                    claim("ours", "contradicted", place=OWN),
                    claim("gain", "holds", place="table 9"),
                )
            ],
        }
    )


def test_a_claim_has_its_measure_its_verdict_and_why(made: dict[str, Any]) -> None:
    shown = section(results_page.markdown(made), "B1")
    assert "✓ holds (1 of 2) |" in shown
    assert "| the claim one | 3 \\| 4 \\< 5 \\* 6 | ✗ contradicted |" in shown
    why = find("B1").reasons(get_args(Outcome), {"kind": USUAL})
    assert f"- **contradicted**: {why['contradicted']}" in shown
    assert f"- **holds**: {why['holds']}" in shown
    assert why["inconclusive"] not in shown  # it is of the run before
    assert "Runs (seconds/load): 60/0.25 on B, 90/0.25." in shown  # A is what most runs have
    assert "| machine B | made, kernel 5.9 |" in results_page.markdown(made)


def test_demonstrations_own_checks_and_arithmetic_are_not_among_the_papers_claims(
    made: dict[str, Any],
) -> None:
    page = results_page.markdown(made)
    measured, _, others = section(page, "D5").partition(f"{OWN_CHECKS}:")
    assert "the claim gain (table 9)" in measured
    own, _, others = others.partition(f"{ARITHMETIC}:")
    assert "the claim ours" in own
    assert "the claim sum" in others
    assert "Demonstrations that hold: 1." in others
    assert "the claim put in" not in page
    summary = page.partition("## Summary")[2].partition("\n## ")[0]
    lines = {line.split("]")[0][3:5]: line for line in summary.splitlines()}
    assert lines["D5"].endswith("| 1 | 0 | 0 |  | 1.0 |")
    assert lines["B1"].endswith("| 1 | 1 | 0 | 1 of 2 | 1.5 |")
    assert "| all | 2 | 1 | 0 | 1 of 2 | 2.5 |" in summary


def test_what_could_not_be_measured_says_so(made: dict[str, Any]) -> None:
    assert "## A5" not in results_page.markdown(made)
    why = "The switch is on fire."
    failed = result({"B1": [run(claim("one", "holds"))]}, {"A5": why})
    assert section(results_page.markdown(failed), "A5").strip() == f"Not measured yet: {why}"


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


def test_the_last_runs_of_a_study_are_kept_while_its_claims_are_the_same(
    made: dict[str, Any],
) -> None:
    def measured(earlier: dict[str, Any], *verdicts: dict[str, Any]) -> dict[str, Any]:
        return full_studies.findings({"D5": [run(*verdicts)]}, {}, [], {"facts": earlier}).facts

    def seen(facts: dict[str, Any]) -> list[Any]:
        last = facts["runs"]["D5"]
        return [len(last["each"]), *(each["outcomes"] for each in last["verdicts"])]

    once = measured(made["facts"], claim("gain", "holds"))
    assert once["runs"]["B1"] == made["facts"]["runs"]["B1"]
    assert seen(once) == [1, ["holds"]], "the runs of other claims are dropped"
    several = once
    for _ in range(full_studies.KEPT):
        several = measured(several, claim("gain", "contradicted"))
    assert seen(several) == [full_studies.KEPT, ["contradicted"] * full_studies.KEPT]
    page = results_page.markdown({**made, "facts": measured(several, claim("gain", "holds"))})
    assert "✓ holds (1 of 3)" in section(page, "D5")
    other = {**claim("gain", "holds"), "says": "by more than half"}
    assert seen(measured(several, other)) == [1, ["holds"]]


def test_a_cell_has_figures_without_what_the_claim_says() -> None:
    quotient = "a ring of {}: {} MB/s (1 to 3); n = 9; a ring of 2: 1 MB/s (1 to 2); n = 9; their quotient: {}"
    asked = ", and more than 1.1 is asked"
    caveat = "the state before is made up, so the size of a gain follows from what was put in, and from nothing else"
    evidence = [
        f"the time of 1 KB over the loop's: 1.02 times (0.83 to 1.2); n = 48, and less than 1.05 is asked; {caveat}",
        f"{quotient.format(3, 2, '1.4 to 1.5 times')}{asked}; {quotient.format(4, 3, '1.3 to 1.4 times')}{asked}",
        f"no figure; {caveat}",
    ]
    found, notes = brief_evidence.cells(evidence)
    assert found == [
        "1.02× [0.83, 1.2], n=48 (asked: <1.05) ¹",
        "of 3: 1.4 to 1.5×; of 4: 1.3 to 1.4× (asked: >1.1)",
        "no figure ¹",
    ]
    assert notes == [f"¹ {caveat}"]


def test_the_runs_that_are_kept_with_the_sources_make_a_page() -> None:
    assert results_page.markdown(kept("full_studies")).startswith(results_page.TITLE)
