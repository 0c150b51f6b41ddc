"""For each lab a perfect, an average, an empty and a wrong hand-in, with the points that each must get."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from beowulf.record import Record
from tests.gold import lab_01, lab_02, lab_03, lab_04, lab_05, lab_06, lab_07
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
        wrong = {name: _not(value) for name, value in self.right.items()}
        return [
            of_answers(self.slug, "perfect", self.right, self.records, self.worth),
            of_answers(self.slug, "average", {**self.right, **self.slips}, self.records, average),
            of_answers(self.slug, "empty", {}, list, {}),
            of_answers(self.slug, "wrong", wrong, self.records, self.measured),
        ]


def _not(value: Any) -> Any:
    """An answer of the same form that is far from right."""
    return f"not {value}" if isinstance(value, str) else 7 * value + 1_000_003


LABS = (
    Gold(
        lab_01.SLUG,
        lab_01.RIGHT,
        lab_01.records,
        worth={
            **{"a2-record": 3, "hosts-first-line": 1, "ordered-pairs": 1, "ring-messages": 1},
            **{"a5-record": 2, "idle-mbit": 2, "broken-a": 2, "broken-b": 2, "broken-c": 2},
        },
        measured={"a2-record": 3, "a5-record": 2},
        # Bits for megabits, pairs counted once, one node of three, and one cluster not looked at.
        slips={
            **{"idle_mbit_per_s": 183.2, "ordered_pairs": 6, "node_b": "node03"},
            **{"fault_c": None, "node_c": None},
        },
        lost={"idle-mbit": 2, "ordered-pairs": 1, "broken-b": 1, "broken-c": 2},
    ),
    Gold(
        lab_02.SLUG,
        lab_02.RIGHT,
        lab_02.records,
        worth={
            **{"timing-loop": 4, "a3-record": 1, "kernel-rows": 2, "round-trips": 1, "sweep": 2},
            **{"bandwidth-plot": 3, "heat-prediction": 2, "heat-step": 4, "not-faster": 1},
            **{"caches": 2, "own-rows": 2, "paper-tables": 1, "odd-node": 2, "prediction": 1},
        },
        measured={
            **{"timing-loop": 4, "a3-record": 1, "sweep": 2, "bandwidth-plot": 3},
            **{"heat-prediction": 2, "heat-step": 4, "own-rows": 1.5},
        },
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
    Gold(
        lab_03.SLUG,
        lab_03.RIGHT,
        lab_03.records,
        worth={
            **{"a4-record": 1, "ep-count": 2, "ft-bytes": 1, "predict": 2, "speed-up": 1},
            **{"karp-flatt": 2, "shares": 2, "message-length": 1, "wrong-seed": 1, "laws": 3},
            **{"sizes": 3, "kernel-word": 1, "operations": 1, "cable-bound": 2, "e4-record": 1},
            **{"hpl-percent": 1, "hpl-size": 2, "hpl-ratio": 1},
        },
        measured={"a4-record": 1, "laws": 3, "sizes": 3, "e4-record": 1},
        # One turn of seven, four workers on two cores, a part for the whole, an exit code not looked at.
        slips={
            **{"ft_predicted_s": 0.02 + 786_432 / 12.5e6, "ep_predicted_s": 0.05},
            **{"ft_speed_up": 20.0, "hpl_percent_of_dgemm": 50.0, "wrong_seed_exit_code": None},
        },
        lost={"predict": 2, "speed-up": 0.5, "hpl-percent": 1, "wrong-seed": 1},
    ),
    Gold(
        lab_04.SLUG,
        lab_04.RIGHT,
        lab_04.records,
        worth=dict(lab_04.WORTH),
        measured={
            name: lab_04.WORTH[name]
            for name in (*lab_04.SEALED, *lab_04.WRITTEN, *lab_04.DRAWN, "a7-record")
        },
        # Bits for bytes in beta, a ratio upside down, and a fit of another kind in one number of four.
        slips={
            **{"model_time_us": 20.0 + 500_000 / 100, "impatience_times": 1 / 40},
            "weighted_alpha_us": lab_04.RIGHT["plain_alpha_us"],
        },
        lost={"model-time": 1, "patience-times": 1, "fit": 0.5},
    ),
    Gold(
        lab_05.SLUG,
        lab_05.RIGHT,
        lab_05.records,
        worth=dict(lab_05.WORTH),
        measured=dict(lab_05.MEASURED),
        # A sign that is the wrong way round, a size too far, one case of three, one row of three.
        slips={
            **{"gain_percent": 30.0, "first_that_waits_kb": 30, "limit_64_kb": "not supported"},
            "row_of_160000": "kernel",
        },
        lost={"gain-bound": 0.5, "eager-limit": 0.75, "d1-support": 1 / 3, "who-progresses": 0.5},
    ),
    Gold(
        lab_06.SLUG,
        lab_06.RIGHT,
        lab_06.records,
        worth={
            **{"postcard": 2, "headers": 2, "connection": 1, "segments": 2, "rendezvous": 2},
            **{"eager-limit": 2, "a10-record": 1, "smpp": 2, "a11-record": 1, "overlap-gain": 2},
            **{"a12-record": 1, "two-measures": 2, "a13-record": 1, "collectives": 2, "tally": 3},
            **{"swapped": 2, "turned-round": 1, "unit": 1},
        },
        measured={
            **{"a10-record": 1, "a11-record": 1, "a12-record": 1, "a13-record": 1, "tally": 3},
        },
        # No options in TCP's header, a share that moves the other way, bytes of one message for three.
        slips={
            **{"tcp_bytes": 20, "data_share_moves": "rises", "scatter_call_bytes": 1024},
            **{"short_messages_are": None, "segments_8192": 5},
        },
        lost={"headers": 0.5, "two-measures": 1, "collectives": 1, "smpp": 1, "segments": 1},
    ),
    Gold(
        lab_07.SLUG,
        lab_07.RIGHT,
        lab_07.records,
        worth={
            **{"l1-record": 1, "largest-step": 2, "wire-time": 1, "unlike": 2, "null": 1},
            **{"budget-sum": 2, "e6-record": 1, "e6-table": 2, "not-additive": 2},
            **{"same-microseconds": 1, "not-observable": 2, "e7-record": 1, "fates": 1},
            **{"own-knob": 3, "letters-record": 1, "letters-gain": 3, "forty-ms": 1},
            **{"l2-record": 1, "limit": 2, "waiting-share": 1, "sixty-percent": 1},
            "nanoseconds": 1,
        },
        measured={
            **{"l1-record": 1, "e6-record": 1, "e7-record": 1, "l2-record": 1},
            **{"own-knob": 3, "letters-record": 1, "letters-gain": 3},
        },
        # A sign the other way round, the first gain for the later one, a difference for a share, two silences.
        slips={
            **{"together_percent": 63.0, "firewall_later_percent": -4.0, "waiting_percent": 31},
            **{"kernel_without_prequeue": None, "that_waits_for": None},
        },
        lost={
            **{"e6-table": 1, "same-microseconds": 0.5, "waiting-share": 1},
            **{"not-observable": 1, "forty-ms": 1},
        },
    ),
)
