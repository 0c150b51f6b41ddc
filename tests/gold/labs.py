"""For each lab a perfect, an average, an empty and a wrong hand-in, with the points that each must get."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from beowulf.record import Record
from tests.gold import lab_01, lab_02, lab_03, lab_04, lab_05, lab_06, lab_07, lab_08, lab_09
from tests.gold.case import Case, of_answers


@dataclass(frozen=True)
class Gold:
    """A lab's right answers, whole Records and full points, and two learners who know less."""

    slug: str
    right: Mapping[str, Any]
    records: Callable[[], list[Record]]
    worth: Mapping[str, float]  # of every question that a rubric scores
    measured: Mapping[str, float]  # what Records earn without an answer
    slips: Mapping[str, Any]  # the answers in which an average learner is wrong, or silent
    lost: Mapping[str, float]  # and what these cost, by question

    def cases(self) -> list[Case]:
        """The four hand-ins."""
        average = {name: self.worth[name] - self.lost.get(name, 0.0) for name in self.worth}
        slips = {name: wrong(value) for name, value in self.right.items()}
        return [
            of_answers(self.slug, "perfect", self.right, self.records, self.worth),
            of_answers(self.slug, "average", {**self.right, **self.slips}, self.records, average),
            of_answers(self.slug, "empty", {}, list, {}),
            of_answers(self.slug, "wrong", slips, self.records, self.measured),
        ]


def wrong(value: Any) -> Any:
    """An answer of the same form that is far from right."""
    return f"not {value}" if isinstance(value, str) else 7 * value + 1_000_003


def _gold(lab: Any, slips: Mapping[str, Any], lost: Mapping[str, float]) -> Gold:
    return Gold(lab.SLUG, lab.RIGHT, lab.records, lab.WORTH, lab.MEASURED, slips, lost)


LABS = (
    _gold(
        lab_01,
        # Bits for megabits, pairs counted once, one node of three, one cluster not looked at, who complains.
        slips={
            **{"idle_mbit_per_s": 183.2, "ordered_pairs": 6, "node_b": "node03"},
            **{"fault_c": None, "node_c": None, "node_d": "node01"},
        },
        lost={"idle-mbit": 2, "ordered-pairs": 1, "broken-b": 0.5, "broken-c": 1, "broken-d": 1},
    ),
    _gold(
        lab_02,
        # A full round trip for half of one, nanoseconds, a guess at the cache, bits for bytes.
        slips={
            **{"beside_mpi_us": 14.1, "kernel_row_us": 99_000},
            **{"l1_ends_at_kib": 512, "odd_one_out": "node01", "predicted_cable_mb_per_s": 100},
        },
        lost={
            **{"round-trips": 0.5, "kernel-rows": 1, "caches": 1, "odd-node": 1},
            "prediction": 0.5,
        },
    ),
    _gold(
        lab_03,
        # One turn of seven, four workers on two cores, a part for the whole, the share of four for that of two.
        slips={
            **{"ft_predicted_s": 0.02 + 786_432 / 12.5e6, "ep_predicted_s": 0.05},
            **{"serial_share_2": lab_03.RIGHT["serial_share_4"], "most_times": 4},
            **{"hpl_percent_of_dgemm": 50.0, "paid_by": None},
        },
        lost={
            **{"four-from-one": 2, "karp-flatt": 1, "cores-bound": 0.5, "hpl-percent": 1},
            "message-length": 0.5,
        },
    ),
    _gold(
        lab_04,
        # Another bandwidth, a ratio upside down, and a fit of another kind in one number of four.
        slips={
            **{"model_time_us": 20.0 + 500_000 / 100, "impatience_times": 1 / 40},
            "weighted_alpha_us": lab_04.RIGHT["plain_alpha_us"],
        },
        lost={"model-time": 1, "patience-times": 1, "fit": 0.5},
    ),
    _gold(
        lab_05,
        # A sign that is the wrong way round, a size too far, one case of three, one row of three.
        slips={
            **{"gain_percent": 30.0, "first_that_waits_kb": 30, "limit_64_kb": "not supported"},
            "row_of_160000": "kernel",
        },
        lost={
            "gain-bound": 0.5,
            "eager-limit": 0.75,
            "d1-support": 1 / 3,
            "who-progresses": 0.5 / 3,
        },
    ),
    _gold(
        lab_06,
        # No options in TCP's header, a row without its ACKs, bytes of one message for three, a ratio upside down.
        slips={
            **{"tcp_bytes": 80, "wire_bytes_a_row": 8300, "scatter_call_bytes": 1024},
            **{"short_messages_are": None, "rate_times": 1.11},
        },
        lost={
            **{"headers": 0.25, "row-cost": 2 / 3, "collectives": 0.25, "smpp": 0.5},
            "overlap-gain": 2 / 3,
        },
    ),
    _gold(
        lab_07,
        # A system call counted once, the first gain for the later one, a value that does not stay, a difference for a
        # share.
        slips={
            **{"stack_us": 4.8, "firewall_later_percent": -4.0, "waiting_percent": 31},
            **{"boot_line": "net.ipv4.ip_early_demux = 0", "step_percent": None},
        },
        lost={
            **{"budget": 0.5, "each-knob": 0.5, "kept-line": 1, "plate": 1, "waiting-share": 0.5}
        },
    ),
    _gold(
        lab_08,
        # KB for bytes, milliseconds for microseconds, one network for two, the paper's own slip.
        slips={
            **{"saturated_two_bytes": 4, "other_barrier_us": 0.24, "cable_percent": None},
            "below_percent": 16,
        },
        lost={"saturation": 1, "barrier": 0.75, "speed-up": 1, "slips": 1},
    ),
    _gold(
        lab_09,
        # Nanoseconds, a latency for seven of them, and one network for the other.
        slips={"longest_us": 89e6, "least_ms": 0.398, "speed_up_64": None},
        lost={"calibration": 2 / 3, "lower-bound": 0.5, "scaling": 1},
    ),
)
