"""Does a benchmark's table say what was measured?"""

from __future__ import annotations

from benchmarks.result import Question, answer, cells


def test_a_row_has_medians_and_the_ratio_of_pairs_or_says_what_is_missing() -> None:
    other = [1.0 + number / 100 for number in range(9)]
    samples = {"ours": [2.0 * each for each in other], "other": other}
    row = answer(Question("it", "ours", "other"), samples, seed=1)
    assert cells(row) == ["it", "2.08 s", "1.04 s (other)", "2 (2 to 2)", "9"]
    trials = answer(Question("it", "ours", unit="trials"), {"ours": [1.0, 0.0, 1.0]}, seed=1)
    assert cells(trials)[1] == "2"
    assert cells(answer(Question("it", "ours", missing="it failed"), {}, seed=1))[1] == "it failed"
