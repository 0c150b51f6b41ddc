"""E1: are alpha, beta and the eager limits found in times that have them, and not in others?"""

from __future__ import annotations

import made
import numpy as np
import pytest
from lab_04_records import e1, message_us

from beowulf.errors import LabError
from beowulf.labs.lab_04 import e1_latency_model


def test_e1_holds_on_an_ideal_network() -> None:
    found = e1_latency_model.STUDY.claims(e1())
    assert made.outcomes(found) == {
        "line": "holds",
        "alpha": "holds",
        "beta": "holds",
        "eager-step": "holds",
    }
    assert found[0].numbers["alpha_us"] == pytest.approx(20, rel=0.02)
    assert found[3].numbers["limit_65536"] == [65_536, 73_728]


def test_e1_times_that_bend_are_no_line() -> None:
    bent = e1(
        lambda at: message_us(at["size_bytes"]) * (0.5 if 100 < at["size_bytes"] < 9000 else 1)
    )
    found = made.outcomes(e1_latency_model.STUDY.claims(bent))
    assert found["line"] == "contradicted"


def test_e1_an_empty_message_that_is_special_is_not_alpha() -> None:
    special = e1(lambda at: message_us(at["size_bytes"]) * (0.3 if at["size_bytes"] == 0 else 1))
    assert made.outcomes(e1_latency_model.STUDY.claims(special))["alpha"] == "contradicted"


def test_e1_without_an_empty_message_alpha_is_not_judged() -> None:
    record = e1()
    record.points = [p for p in record.points if p.at["size_bytes"] > 0]
    assert made.outcomes(e1_latency_model.STUDY.claims(record))["alpha"] == "inconclusive"


def test_e1_a_slow_link_has_another_beta() -> None:
    slow = e1(lambda at: 2 * message_us(at["size_bytes"]))
    assert made.outcomes(e1_latency_model.STUDY.claims(slow))["beta"] == "contradicted"
    unknown = e1(cluster=made.CLUSTER | {"rate": "off"})
    assert made.outcomes(e1_latency_model.STUDY.claims(unknown))["beta"] == "inconclusive"


def test_e1_without_a_rise_there_is_no_line_and_nothing_is_judged() -> None:
    record = e1()
    for point in record.points:
        if point.samples and point.at.get("sweep") == "wide":
            falling = 6000.0 - point.at["size_bytes"] / 1000
            point.samples[:] = [falling] * len(point.samples)
    found = e1_latency_model.STUDY.claims(record)
    assert {verdict.outcome for verdict in found} == {"inconclusive"}
    assert "do not rise" in found[0].evidence
    with pytest.raises(LabError, match="do not rise"):
        e1_latency_model.STUDY.picture(record)


def test_e1_a_step_at_another_place_contradicts_and_none_is_inconclusive() -> None:
    elsewhere = e1_latency_model.STUDY.claims(e1(moved=48_000))
    assert made.outcomes(elsewhere)["eager-step"] == "contradicted"
    none = e1_latency_model.STUDY.claims(e1(step_us=0.0))
    assert made.outcomes(none)["eager-step"] == "inconclusive"


def test_e1_draws_the_line_that_was_fitted_and_below_it_what_the_line_leaves_over() -> None:
    figure = e1_latency_model.STUDY.picture(e1())
    times, rest = figure.drawing.axes
    assert times.get_title(loc="left").startswith("T(n) = alpha + beta n: alpha 20.")
    assert times.get_yscale() == "log"
    names = [text.get_text() for text in times.get_legend().get_texts()]
    assert names == ["measured", "fitted"]
    measured, fitted = (np.asarray(line.get_ydata()) for line in times.lines)
    assert fitted == pytest.approx(measured, rel=0.1)
    assert [line.get_marker() for line in times.lines] == ["o", ""]
    assert rest.get_ylabel() == "half round trip minus the line\n(% of the line)"
    assert figure.table["size_bytes"].min() == 0
    assert [axes.get_xticks()[0] for axes in (times, rest)] == [0, 0]
