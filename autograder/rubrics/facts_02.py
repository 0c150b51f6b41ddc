"""What the Records of lab 02 show: the numbers and words that its questions ask for."""

from __future__ import annotations

from autograder.rubrics.record_facts import Facts
from beowulf.errors import LabError
from beowulf.labs.lab_02 import by_lot, odd_node, own_rows
from beowulf.labs.lab_02.node_rows import RESULT, Row, printed_rows, rows, times_faster
from beowulf.record import Record

# A clock that is read without a system call takes a fraction of one that is read by it; one that the
# library cannot read by itself takes as long. Between the two, either answer is right.
SURELY_NOT, SURELY = 0.7, 0.9
# A row is longer than what it is made of: a null call, two of them; and nothing takes less than this.
A_CALL, TWO_CALLS, LEAST_US = 0.8, 1.5, 0.002


def _of_first_node(record: Record) -> dict[str, Row]:
    return rows(record, str(record.sweep["nodes"][0]))


def whole(record: Record) -> Facts:
    """Every row of paper A; a cache may lack where a machine does not show it."""
    rows, printed = _of_first_node(record), printed_rows()
    if gone := [name for name in printed if name not in rows and name != "L2 cache"]:
        raise LabError(f"there is no row {gone[0]}")
    return {"rows": float(len(printed))}


def calls(record: Record) -> Facts:
    """Table 1: the median of a null call, and of each row that may be held against it."""
    us = _of_first_node(record)
    return {name: us[name].median for name in ("null call", *by_lot.KERNEL_ROWS)}


def messages(record: Record) -> Facts:
    """Table 2: the median of each way there and back."""
    us = _of_first_node(record)
    return {name: us[name].median for name in by_lot.ROUND_TRIPS}


def memory(record: Record) -> Facts:
    """Table 4: the last plateau, and where the first one ends by each launch."""
    ends = [
        point.facts["to_bytes"] / 1024
        for point in record.select(**{RESULT: "L1 cache", "node": record.sweep["nodes"][0]})
    ]
    main = _of_first_node(record)["Main memory"]
    return {
        **{"main_memory_ns": main.median, "main_memory_best_ns": main.best},
        **{"ends_from_kib": min(ends), "ends_to_kib": max(ends)},
    }


def prediction(record: Record) -> Facts:
    """What memory reads in half a round trip by TCP, and the rate of the cables."""
    rows = _of_first_node(record)
    return {
        "predicted_read_meanwhile_bytes": rows["mem read"].median * rows["TCP"].median / 2,
        "rate": str(record.cluster.get("rate", "")),
    }


def odd(record: Record) -> Facts:
    """The odd node; that its slow rows go through IP is how it was made odd."""
    return {"odd_one_out": odd_node.odd(record), "slow_rows_share": "ip"}


def times_faster_by_row(record: Record) -> Facts:
    """By what factor each row of paper A became faster."""
    rows = _of_first_node(record)
    printed = {name: figure for name, (figure, _) in printed_rows().items() if name in rows}
    return {name: times_faster(rows[name], figure) for name, figure in printed.items()}


def own(record: Record) -> Facts:
    """For each row of the learner's own whether its time can be that of its name, and the clock's answer."""
    us = own_rows.best_us(record)
    call = us[own_rows.EXAMPLE]
    library, by_call = us.get(own_rows.LIBRARY), us.get(own_rows.SYSTEM_CALL)
    pipe = us.get(own_rows.PIPE)
    asks = ""
    if library and by_call:
        share = library / by_call
        asks = "no" if share < SURELY_NOT else "yes" if share > SURELY else "yes or no"
    return {
        own_rows.LIBRARY: _judged(library, LEAST_US, "nothing takes so little"),
        own_rows.SYSTEM_CALL: _judged(
            by_call, A_CALL * call, "no system call takes less than the null call"
        ),
        own_rows.PIPE: _judged(pipe, TWO_CALLS * call, "two system calls take longer"),
        "library_clock_asks_the_kernel": asks,
    }


def _judged(us: float | None, least_us: float, why: str) -> str:
    if us is None:
        return "not written yet"
    return "right" if us >= least_us else f"{us:.3g} µs: {why} ({least_us:.3g} µs)"
