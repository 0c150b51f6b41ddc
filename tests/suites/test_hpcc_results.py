"""Is hpcc's output read whole, and does a check that failed, or an output that breaks off, say so?"""

from __future__ import annotations

import pytest
from hpcc_text import output

from beowulf.cli.suites import figure_lines
from beowulf.errors import LabError
from beowulf.suites import hpcc_results
from beowulf.suites.hpcc_results import RESULTS

NOT = "not measured"


def test_all_seven_benchmarks_have_figures() -> None:
    found = hpcc_results.read(output(rates=[0.4, 0.5]))
    assert {result.test for result in RESULTS if result.key in found.figures} == {
        *("HPL", "DGEMM", "STREAM", "PTRANS", "RandomAccess", "FFT", "b_eff")
    }
    assert found.figures["dgemm_gflops"] == 1.75
    assert found.figures["latency_us"] == 14.8
    assert found.figures["bandwidth_gb_per_s"] == 0.0118
    assert found.figures["hpl_gflops"] == 0.5, "the best of the solutions"
    assert found.spread["dgemm"] == (1.5, 2.0)
    assert found.failures == []


def test_every_solution_and_section_is_kept_with_its_time() -> None:
    found = hpcc_results.read(output(rates=[0.25, 0.5], n=1200))
    assert [solution.gflops for solution in found.solutions] == [0.25, 0.5]
    slow, fast = (solution.seconds for solution in found.solutions)
    assert slow == pytest.approx(2 * fast)
    assert fast == pytest.approx((2 / 3 * 1200**3 + 1.5 * 1200**2) / 0.5e9)
    # By hpcc's own clock.
    expected = {"MPIRandomAccess": 7, "PTRANS": 2, "StarDGEMM": 1, "LatencyBandwidth": 130}
    assert found.sections == {**expected, "HPL": 10}


def test_a_figure_that_is_not_there_says_why() -> None:
    brief = hpcc_results.read(output(), brief=True)
    assert "latency_us" in brief.figures
    assert not {result.key for result in RESULTS if result.rings} & set(brief.figures)
    missing = [line for line in figure_lines(brief) if NOT in line]
    assert len(missing) == sum(result.rings for result in RESULTS)
    assert all("`--quick`" in line for line in missing)
    silent = dict.fromkeys(("AvgPingPongLatency_usec", "MinPingPongLatency_usec"), "-1")
    alone = hpcc_results.read(output(CommWorldProcs="1", **silent))
    assert "hpl_gflops" in alone.figures
    missing = [line for line in figure_lines(alone) if NOT in line]
    assert len(missing) == sum(result.test == "b_eff" for result in RESULTS)
    assert all("one rank" in line for line in missing)
    assert not [line for line in figure_lines(hpcc_results.read(output())) if NOT in line]


def test_a_solution_that_fails_its_check_is_named_with_its_figures_and_another_failure_too() -> (
    None
):
    text = output(rates=[0.5, 0.6], words=["PASSED", "FAILED"], residual="123.4", Success="0")
    (said,) = hpcc_results.read(text).failures
    assert "solution 2 of 2" in said
    assert "123.4" in said
    assert "0.6 Gflop/s" in said
    (said,) = hpcc_results.read(output(Success="0")).failures
    assert "hpcc calls the run a failure" in said


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "It printed nothing"),
        ("mpirun was unable to launch\n", "Its last line: mpirun was unable to launch"),
        (output().partition("Begin of StarDGEMM")[0], "breaks off after PTRANS"),
        (output().partition("End of Summary")[0], "breaks off after HPL"),
        (output(StarSTREAM_Triad="-1"), "did not measure StarSTREAM_Triad"),
    ],
)
def test_an_output_that_is_not_whole_is_a_sentence(text: str, sentence: str) -> None:
    with pytest.raises(LabError, match=sentence):
        hpcc_results.read(text)
