"""What is dragged in each lab: does each number change what is drawn, as a plain call does, and by its law?"""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import matplotlib as mpl
import pytest

from beowulf.errors import LabError
from beowulf.figures import Figure
from beowulf.labs import lab_02, lab_03, lab_04, lab_05, lab_06, lab_07, lab_08, lab_09
from beowulf.record import Point, Record
from tests import gold


def machine() -> Record:
    """The machine of 1995, half of each step spent computing."""
    made = gold.lab_08.machine()
    for point in [each for each in made.points if each.quantity == "step_s"]:
        for name, share in {"computing": 0.5, "communicating": 0.5, "waiting": 0.0}.items():
            made.points.append(Point(point.at, f"{name}_s", [share * point.samples[0]]))
    return made


CASES: list[tuple[Any, Any]] = [
    (lab_02.working_set, gold.lab_02.sweep),
    (lab_03.serial_part, gold.lab_03.plate),
    (lab_04.message_time, gold.lab_04.own),
    (lab_05.hidden_message, gold.lab_05.step),
    (lab_07.two_clocks, gold.lab_07.posted),
    (lab_08.speed_up_1995, machine),
    (lab_09.piece_size, gold.lab_09.staircase),
]


def drawn(figure: Figure) -> list[Any]:
    """The numbers behind the lines and bars of a figure."""
    axes = figure.drawing.axes[0]
    lines = [line.get_xydata().tolist() for line in axes.lines]
    return [*lines, *(patch.get_bbox().bounds for patch in axes.patches)]


@pytest.mark.parametrize(("call", "record"), CASES)
def test_a_slider_draws_when_it_rests_what_a_plain_call_draws_and_a_saved_page_has_the_figure(
    call: Any, record: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    mpl.get_backend()  # which asks the true shell, once
    shell = type("ZMQInteractiveShell", (), {})
    monkeypatch.setattr("IPython.core.getipython.get_ipython", shell)
    shown, plain = call(record()), {}
    for slider in shown.widget.children[:-1]:
        assert not slider.continuous_update
        begin, ends = slider.value, (slider.options[0][1], slider.options[-1][1])
        for slider.value in ends:
            plain[slider.value] = call(record(), **{slider._kwarg: slider.value})
            assert drawn(shown.widget.result) == drawn(plain[slider.value])
            assert plain[slider.value].alt.startswith(plain[slider.value].title)
        assert drawn(plain[ends[0]]) != drawn(plain[ends[1]]), slider._kwarg
        slider.value = begin
    bundle = shown._repr_mimebundle_()
    assert {"application/vnd.jupyter.widget-view+json", "text/html"} <= set(bundle)
    assert bundle["text/plain"] == shown.alt


def test_a_held_ack_and_a_hidden_message_take_what_their_laws_say() -> None:
    letter = lab_07.two_clocks(gold.lab_07.posted(), ack_delay_ms=40).table.set_index("bar")
    assert letter.loc["a letter and its answer"].iloc[-1, -1] == pytest.approx(40 + 0.06)
    assert "-50 % at best" in lab_05.hidden_message(gold.lab_05.step(), work_ms=12.8).title


def test_the_newest_record_beside_the_notebook_is_drawn_and_without_one_its_cell_is_named(
    tmp_path: Path,
) -> None:
    cluster: Any = SimpleNamespace(records=tmp_path)
    for call in (lab_06.packet_layers, *(call for call, _ in CASES)):
        with pytest.raises(LabError, match=r"Run the cell with `lab\.\w+\.\w+`"):
            call(cluster)
    gold.lab_02.sweep().save_in(tmp_path)
    assert "128 KiB in use" in lab_02.working_set(cluster, kib=64).title
