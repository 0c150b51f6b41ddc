"""Is HPL's problem sized to nodes and memory, and is what does not fit refused?"""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from beowulf.errors import LabError
from beowulf.suites import problem
from beowulf.suites.problem import Problem

GIB = 1024**3


@given(st.integers(1, 1024))
def test_the_grid_is_as_square_as_it_can_be(ranks: int) -> None:
    rows, columns = problem.grid(ranks)
    assert rows * columns == ranks
    assert rows <= columns
    assert not [p for p in range(rows + 1, math.isqrt(ranks) + 1) if ranks % p == 0]


def test_a_large_problem_has_the_papers_block_and_grid() -> None:
    assert problem.of_size(37326, 240).nb == 168
    assert problem.grid(240) == (15, 16)
    small = problem.of_size(1000, 4)
    assert small.nb < 168
    assert small.n % (2 * small.nb) == 0, "PTRANS takes half of n in whole blocks"


def test_the_input_has_its_values_in_the_lines_where_hpl_reads_them() -> None:
    lines = Problem(960, 80, 2, 3, runs=3).text.splitlines()
    values = {number: line.split("  ")[0].split() for number, line in enumerate(lines, 1)}
    assert values[5] == ["3"]
    assert values[6][:3] == ["960"] * 3
    assert values[8] == ["80"]
    assert (values[11], values[12]) == (["2"], ["3"])
    assert values[13] == ["16.0"]
    assert len(lines) == 36, "31 of HPL's, a separator, and four of PTRANS'"
    assert all(line == line.strip() for line in lines)


def test_a_problem_that_does_not_fit_is_refused_with_one_that_does() -> None:
    with pytest.raises(LabError, match=r"take .* MiB of memory") as refused:
        problem.refuse_too_large(problem.of_size(20_000, 4), 2 * GIB)
    said = int(refused.value.hint.split("`--size ")[1].split("`")[0])
    problem.refuse_too_large(problem.of_size(said, 4), 2 * GIB)
    with pytest.raises(LabError, match="Close other programs"):
        problem.refuse_too_large(problem.of_size(160, 64), GIB)
