"""What holds for every study of lab 04, whatever it claims: refusals, empty Records, bad circumstances, pictures."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from lab_04_records import a6, a7, b1, b4, b5, e1, e2, rings

from beowulf.labs.lab_04 import (
    a6_measuring_program,
    a7_rate_by_nodes,
    b1_round_trip,
    b2_time_difference,
    b3_bandwidth_difference,
    b4_cpu_use,
    b5_unlike_nodes,
    e1_latency_model,
    e2_pingpong,
)
from beowulf.record import Record

STUDIES = (
    a6_measuring_program.STUDY,
    a7_rate_by_nodes.STUDY,
    b1_round_trip.STUDY,
    b2_time_difference.STUDY,
    b3_bandwidth_difference.STUDY,
    b4_cpu_use.STUDY,
    b5_unlike_nodes.STUDY,
    e1_latency_model.STUDY,
    e2_pingpong.STUDY,
)

WHOLE: dict[str, Callable[..., Record]] = {
    "A7": a7,
    "B1": lambda **how: b1(lambda at: 500.0, **how),
    "B2": lambda **how: rings("B2", lambda at: 1.0, **how),
    "B3": lambda **how: rings("B3", lambda at: 1.0, **how),
    "B4": lambda **how: b4(lambda at: 50.0, **how),
    "B5": b5,
    "E1": e1,
    "E2": lambda **how: e2(lambda at: 50.0, **how),
}


@pytest.mark.parametrize("study", [s for s in STUDIES if s.id in WHOLE], ids=lambda study: study.id)
def test_few_samples_make_every_claim_inconclusive(study: Any) -> None:
    for found in study.claims(WHOLE[study.id](n=4)):
        assert found.outcome == "inconclusive"
        assert "a point has 4 samples" in found.evidence
        assert found.advice


@pytest.mark.parametrize("study", STUDIES, ids=lambda study: study.id)
def test_every_picture_has_a_sentence_and_a_table(study: Any) -> None:
    figure = study.picture(a6() if study.id == "A6" else WHOLE[study.id]())
    assert len(figure.alt) > 40
    assert len(figure.table) > 1
    assert "low" in figure.table.to_csv()
