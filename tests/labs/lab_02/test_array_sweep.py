"""Lab 02's sweep: are sizes that show no cache refused, right copies right, and wrong ones named?"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from beowulf.labs.lab_02 import array_sweep, on_node
from tests.gold.lab_02 import SIZES, drawn, sweep
from tests.timing_loops import right

SMALL = [4096, 65536, 2**20]


@pytest.mark.parametrize(
    ("sizes", "said"),
    [
        (SIZES, ""),
        (None, "not written yet"),
        ("many", "not str"),
        ([0, *SIZES], "at least 1 byte"),
        ([float("nan")] * 20, "whole numbers"),
        (SIZES[:9], "too few"),
        (range(4096, 2**26, 2**16), "take too long"),
        (SIZES[2:], "the smallest size is 16,384 bytes"),
        (SIZES[:-1] * 2, "the largest size is 33,554,432 bytes"),
        ([*SIZES, 2**27, 2**28, 2**29], "256"),
        ([*SIZES[:6], *SIZES[9:], 5000, 6000], "a factor of 4"),
    ],
)
def test_sizes_that_show_no_cache_are_refused(sizes: Any, said: str) -> None:
    fault = array_sweep.size_fault(sizes)
    assert said in fault.replace("268,435,456", "256")
    assert bool(fault) == bool(said)


def copy_us(size_bytes: int) -> list[float]:
    """A learner's copies."""
    from time import perf_counter

    source, target = np.ones(size_bytes, np.uint8), np.zeros(size_bytes, np.uint8)

    def copy() -> None:
        target[:] = source

    return right(copy, perf_counter)


def test_copies_go_round_all_sizes_in_another_order_each_pass_beside_ours() -> None:
    found = on_node.compared({"copy_us": copy_us}, "copy_us", SMALL, 3)
    assert not found["why"]
    orders = [each["size_bytes"] for each in found["passes"]]
    passes = [orders[place : place + len(SMALL)] for place in range(0, len(orders), len(SMALL))]
    assert len(passes) == on_node.PASSES
    assert all(sorted(each) == SMALL for each in passes)
    assert all(min(each["own"]) > 0 < min(each["numpy"]) for each in found["passes"])


@pytest.mark.parametrize(
    ("function", "said"),
    [
        (None, "it is not written yet"),
        (lambda size_bytes: [], "it returns an empty list"),
        (lambda: [1.0], "TypeError"),
    ],
)
def test_what_gives_no_samples_ends_the_sweep_with_a_sentence(function: Any, said: str) -> None:
    found = on_node.compared({"copy_us": function}, "copy_us", SMALL, 3)
    assert said in found["why"]
    assert found["passes"] == []


def test_a_right_sweep_is_right_though_a_few_sizes_are_disturbed_and_its_table_is_sorted() -> None:
    kept = sweep(reversed(SIZES))
    assert array_sweep.copy_fault(kept) == ""
    assert list(array_sweep.table(kept)["size_bytes"]) == SIZES
    for point in array_sweep.copies(kept)[::5]:
        point.samples[:] = [9 * sample for sample in point.samples]
    assert array_sweep.copy_fault(kept) == ""


def test_the_caches_are_those_that_the_legend_names() -> None:
    assert array_sweep.caches_named(drawn().points) == {"L1", "L2", "L3"}
    assert array_sweep.caches_named(drawn(legend=["copy", "Level 2"]).points) == set()
