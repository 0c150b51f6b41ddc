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
            **{"a3-record": 1, "null-call": 2, "starting": 2, "round-trips": 2, "bytes-copied": 2},
            **{"reread": 2, "caches": 3, "own-rows": 4, "not-faster": 2, "paper-tables": 3},
            **{"odd-node": 2, "prediction": 3},
        },
        measured={"a3-record": 1, "own-rows": 3},
        # A full round trip for half of one, bytes counted once, a guess at the cache, a sign.
        slips={
            **{"tcp_beside_mpi_us": 14.1, "hand_crossing_mb_per_s": 2 * 387.9},
            **{"l1_ends_at_kib": 512, "odd_one_out": "node01", "predicted_cable_mb_per_s": 100},
            "shell_alone_us": 99 - 2247,
        },
        lost={
            **{"round-trips": 1, "bytes-copied": 1, "caches": 1, "odd-node": 1, "prediction": 1},
            "starting": 1,
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
        worth={
            **{"eager-limit": 2, "a7-record": 2, "saturation-bytes": 2, "four-nodes": 2},
            **{"e1-record": 2, "model-time": 2, "half-rate": 1, "patience-record": 2},
            "patience-times": 1,
        },
        measured={"a7-record": 2, "e1-record": 2, "patience-record": 2},
        # Bits for bytes in beta, and a ratio upside down.
        slips={"model_time_us": 20.0 + 500_000 / 100, "impatience_times": 1 / 40},
        lost={"model-time": 2, "patience-times": 1},
    ),
    Gold(
        lab_05.SLUG,
        lab_05.RIGHT,
        lab_05.records,
        worth={
            **{"d1-record": 1, "d1-support": 3, "d2-record": 1, "eager-limit": 2, "d3-percent": 2},
            **{"d4-record": 1, "d5-record": 1, "lost-gain": 2, "table-9-minimum": 1, "misprint": 1},
            **{"exchange-record": 2, "exchange-gain": 4},
        },
        measured={
            **{"d1-record": 1, "d2-record": 1, "d4-record": 1, "d5-record": 1},
            **{"exchange-record": 2, "exchange-gain": 4},
        },
        # A sign that is the wrong way round, a size too far, one case of three.
        slips={"d3_percent": -4.0, "first_that_waits_kb": 30, "solaris_39_kb": "not supported"},
        lost={"d3-percent": 2, "eager-limit": 1, "d1-support": 1},
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
