"""Does each style of a right answer get all points, each plausible mistake lose its own, and is it said in one way?

Rows of a lab, a question, and its answer cell as a learner types it; a second cell has no marks of nbgrader.
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cache
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from marked import Marked
from nbformat.v4 import new_code_cell, new_notebook

from autograder.rubrics.score import Score
from autograder.rubrics.submission import Submission
from beowulf.course import answers
from beowulf.course.answers import Reading, asked, fault, form
from beowulf.record import Record
from tests.gold.hand_in import released
from tests.gold.labs import LABS

SLUG = {lab.slug[:2]: lab.slug for lab in LABS}
OTHER_CELL = "\n# another cell\n"
IDLE = "8 * 1380 / 60.25 / 1e6"

RIGHT = [
    # Numbers
    ("01", "ordered-pairs", "ordered_pairs = 12  # pairs"),
    ("01", "ordered-pairs", "ordered_pairs = 12.0"),
    ("01", "ordered-pairs", "ordered_pairs: int = 4 ** 2 - 4"),
    ("01", "ordered-pairs", "ordered_pairs = np.int64(12)"),
    ("01", "ordered-pairs", "ordered_pairs = int('12')"),
    ("01", "ordered-pairs", "ordered_pairs = +(4 * 3)\nprint(ordered_pairs)\nordered_pairs"),
    ("01", "idle-mbit", f"idle_mbit_per_s = np.float64({IDLE})"),
    ("01", "idle-mbit", "idle_mbit_per_s = round(8 * 1_380 / 60.25 / 1_000_000, 6)"),
    ("02", "caches", "main_memory_ns, l1_ends_at_kib = round(99.96), 32768 // 1024"),
    ("04", "saturation-bytes", "saturation_bytes = 16 << 10"),
    ("04", "saturation-bytes", "saturation_bytes = math.pow(2, 14)"),
    # Names of the same cell
    ("01", "ordered-pairs", "nodes = 4\nordered_pairs = nodes * (nodes - 1)"),
    ("01", "ordered-pairs", "ordered_pairs = 4\nordered_pairs *= 3"),
    ("01", "idle-mbit", "sent, seconds = 1380, 60.25\nidle_mbit_per_s = 8 * sent / seconds / 1e6"),
    ("02", "round-trips", "full_round_trip_us = 14.1\nbeside_mpi_us = full_round_trip_us / 2"),
    # Several at once
    ("01", "ring-waits", "sender_rank, receiving_ranks = 1, 3"),
    ("01", "ring-waits", "(sender_rank, receiving_ranks) = [1, abs(-3)]"),
    ("05", "eager-limit", "limits = (10, 20)\nlast_by_itself_kb, first_that_waits_kb = limits"),
    # Lists and dicts
    ("01", "ordered-pairs", 'n = ["node00", "a", "b", "c"]\nordered_pairs = len(n) * (len(n) - 1)'),
    ("01", "ring-waits", "n = {'one': 1}\nsender_rank = n['one']\nreceiving_ranks = [7, 3][1]"),
    (
        *("02", "round-trips"),
        "t = [14.0, 14.1, 14.2]\nfull_round_trip_us = np.median(t)\nbeside_mpi_us = sum(t) / len(t) / 2",
    ),
    ("05", "eager-limit", "last_by_itself_kb = max(5, 10)\nfirst_that_waits_kb = min([20, 40])"),
    (
        *("03", "karp-flatt"),
        "s = {2: 1.6, 4: 1.8}\nserial_share_2, serial_share_4 = ((1 / s[2] - 1 / 2) / (1 - 1 / 2),"
        " (1 / s[4] - 1 / 4) / (1 - 1 / 4))",
    ),
    # Words
    ("02", "odd-node", "odd_one_out = ' Node02'\nslow_rows_share = \"IP\""),
    (
        "05",
        "d1-support",
        'limit_16_kb = "not " "supported"; limit_64_kb = limit_16_kb_test = "supported"',
    ),
    (
        "05",
        "d1-support",
        'y = f"supported"\nlimit_16_kb = "not " + y\nlimit_64_kb = limit_16_kb_test = y',
    ),
    (
        "07",
        "kept-line",
        'knob_fate = "reverted" if 3 < 5 else "kept"\nboot_line = "net.ipv4.ip_early_demux=1"',
    ),
    ("01", "hosts-first-line", "hosts_first_line = '''192.168.0.9\\tnode01'''"),
    # A number or a word
    (
        *("07", "each-knob"),
        "moderation_percent = -60\nfirewall_percent = -abs(-4.0)\ntogether_percent = float('-63')\n"
        "firewall_later_percent = -1e1",
    ),
    # Two cells
    ("01", "ring-waits", f"sender_rank = 1{OTHER_CELL}receiving_ranks = 3"),
    ("01", "idle-mbit", f"bits = 8 * 1380{OTHER_CELL}idle_mbit_per_s = bits / 60.25 / 1e6"),
    ("01", "ordered-pairs", f"ordered_pairs = None{OTHER_CELL}ordered_pairs = 12"),
]

# The points, and a part of what is said.
WRONG = [
    # No number
    ("01", "ordered-pairs", "ordered_pairs = None", 0, "no answer"),
    ("01", "ordered-pairs", "ordered_pairs = 12,5", 0, "A comma begins another value: write 1.5"),
    ("01", "idle-mbit", "idle_mbit_per_s = 0,00018", 0, "with a point, not with a comma"),
    ("01", "idle-mbit", "idle_mbit_per_s = '0,00018'", 0, "with a point, not with a comma"),
    ("01", "ordered-pairs", "ordered_pairs = '12 pairs'", 0, "Write the number alone"),
    ("01", "ordered-pairs", "ordered_pairs = 12 pairs", 0, "Write a number alone"),
    ("01", "ordered-pairs", "ordered_pairs = twelve", 0, "`twelve` has no value that can be read"),
    ("01", "ordered-pairs", "ordered_pairs = 'about twelve'", 0, "The answer is a number"),
    ("01", "broken-a", "fault_a = 'x'\nnode_a = 'y'", 0, "not 'x'. node_a: The answer is"),
    ("01", "ordered-pairs", "ordered_pairs = True", 0, "The answer is a number"),
    ("01", "ordered-pairs", "ordered_pairs = [12]", 0, "The answer is a number"),
    ("01", "ordered-pairs", "ordered_pairs = {4: 12}", 0, "The answer is a number"),
    ("01", "ordered-pairs", "ordered_pairs = 12 / 0", 0, "which fails (ZeroDivisionError"),
    # The kernel has a value, and the text has none
    ("01", "ordered-pairs", "ordered_pairs = len(cluster.nodes) * 3", 0, "without running it"),
    ("01", "idle-mbit", "idle_mbit_per_s = 8 * wire['bytes'] / 60.25 / 1e6", 0, "`wire` has no value"),
    ("01", "ordered-pairs", "if 3 < 4:\n    ordered_pairs = 12", 0, "is set by `if 3 < 4:`"),
    ("01", "ordered-pairs", "t = [4]\nt.append(8)\nordered_pairs = sum(t)", 0, "`t` has no value"),
    ("01", "ordered-pairs", "ordered_pairs = [n * 3 for n in (4,)][0]", 0, "without running it"),
    # Another number
    ("01", "ordered-pairs", "ordered_pairs = 4 * 3 / 2", 0, "ordered_pairs = 6"),
    ("01", "idle-mbit", "idle_mbit_per_s = 8 * 1380 / 60.25", 0, "In which unit"),
    ("01", "idle-mbit", "idle_mbit_per_s = 1380 / 60.25 / 1e6", 0, ""),
    ("01", "ring-waits", "sender_rank, receiving_ranks = 3, 1", 0, ""),
    ("01", "ring-waits", "sender_rank, receiving_ranks = 1, 2", 1, ""),
    ("02", "round-trips", "full_round_trip_us = beside_mpi_us = 14.1", 0.5, "not right: beside_mpi_us"),
    ("02", "caches", "main_memory_ns = 100\nl1_ends_at_kib = 32 * 1024", 1, ""),
    ("03", "cores-bound", "most_times = 2\nreached_percent = 0.9", 0.5, "In which unit"),
    ("04", "saturation-bytes", "saturation_bytes = 16", 0, ""),
    ("05", "gain-bound", "gain_percent = 30\nbound_percent = -100 * 0.075 / 0.155", 0.5, "Look at the sign"),
    (
        *("07", "each-knob"),
        "moderation_percent = -60\nfirewall_percent = -4\ntogether_percent = -63\nfirewall_later_percent = -4",
        *(1.5, "not right: firewall_later_percent"),
    ),
    # Another word
    ("01", "broken-a", 'fault_a = "node-down"\nnode_a = "node01"', 0.5, ""),
    ("02", "odd-node", 'odd_one_out = "node2"\nslow_rows_share = "ip"', 1, "the name of a node, such as"),
    ("02", "odd-node", 'odd_one_out = "node02"\nslow_rows_share = "network"', 1, "one of memory, processes"),
    ("05", "d1-support", 'limit_16_kb = limit_64_kb = limit_16_kb_test = "supported"', 2 / 3, ""),
]  # fmt: skip


def cells_of(lab: str, question: str) -> list[Any]:
    """The cell of a lab's notebook that asks for the answers to a question."""
    cells = released(SLUG[lab]).cells
    return [each for each in cells if each.metadata.get("nbgrader", {}).get("grade_id") == question]


@cache
def right(lab: str) -> tuple[Marked, list[Record]]:
    """A lab's rubric, and all of its Records."""
    gold = Marked(import_module(f"tests.gold.lab_{lab}"))
    return gold, gold.gold.records()


def scored(lab: str, question: str, typed: str, folder: Path) -> Score:
    """What a hand-in of right Records and this answer gets for the question."""
    marks = {"nbgrader": {"grade_id": f"{question}-answer", "solution": True}}
    first, *others = map(new_code_cell, typed.split(OTHER_CELL))
    first.metadata = marks
    gold, records = right(lab)
    notebook = new_notebook(cells=[first, *others, *cells_of(lab, question)])
    handed_in = replace(Submission.read(folder, notebook), records=records)
    return gold.score(handed_in, question)[question]


@pytest.mark.parametrize(("lab", "question", "typed"), RIGHT)
def test_a_right_answer_gets_all_points_in_every_style(
    lab: str, question: str, typed: str, tmp_path: Path
) -> None:
    score = scored(lab, question, typed, tmp_path)
    assert score.points == score.of, score.found
    kernel: dict[str, Any] = {"np": np, "math": math}
    exec(typed, kernel)
    reading = Reading([typed])
    for name, kind in asked(cells_of(lab, question)[0].source).items():
        assert fault(kernel[name], kind) == ""
        assert reading.values[name] == kernel[name]


@pytest.mark.parametrize(("lab", "question", "typed", "points", "said"), WRONG)
def test_a_plausible_mistake_loses_its_own_points_and_is_named(
    lab: str, question: str, typed: str, points: float, said: str, tmp_path: Path
) -> None:
    score = scored(lab, question, typed, tmp_path)
    assert score.points == pytest.approx(points)
    assert said in score.found


@pytest.mark.parametrize(
    ("value", "kind", "sentence"),
    [
        (None, "text", "still empty"),
        (..., "number", "still empty"),
        (3, "text", "a text in quotes"),
        ("3", "number", "a number, such as"),
        (math.nan, "number", "a number, such as"),
        ("node", "node", "the name of a node"),
        ("d", "choice:a,b,c", "one of a, b, c"),
        ("nothing", "number or not observable", 'or "not observable", not'),
    ],
)
def test_an_answer_out_of_form_is_reported_to_be(value: object, kind: str, sentence: str) -> None:
    given = {"text": "so", "node": "Node02 ", "number": np.int64(3), "choice:a,b,c": " B"}
    form(given.get(kind, "Not  observable"), kind)  # this is in form
    with pytest.raises(AssertionError, match=sentence):
        form(value, kind)


@pytest.mark.parametrize(
    ("typed", "value", "printed"),
    [
        ("x = 16.07", 16.07, ""),
        ("x = np.float32(16.07)", np.float32(16.07), ""),
        ("x = result.median()", np.float64(16.07), "x = result.median(), which cannot be read"),
        ("x = rate", 16.07, "x = rate, in which `rate` has no value"),
        ("%run answers.py", 16.07, "x is read as nothing"),
        ("x = 3", 16.07, "x is read as 3"),
    ],
)
def test_a_notebook_says_what_grading_cannot_read_and_what_to_write(
    typed: str,
    value: Any,
    printed: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    names = {"In": ["", typed, 'lab.form(x, "number")'], "x": value}
    monkeypatch.setattr(answers, "_shell", lambda: SimpleNamespace(user_ns=names))
    form(value, "number")
    said = capsys.readouterr().out
    assert printed in said
    assert bool(said) == bool(printed)
    assert not said or said.endswith(". Here: x = 16.07\n")
