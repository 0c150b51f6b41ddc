"""Does the rubric of lab 09 believe no time that it has not simulated, and hold answers against Records?"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from autograder import sandbox
from beowulf import paths
from beowulf.errors import LabError
from beowulf.labs.lab_09 import stairs
from beowulf.record import Point
from tests.autograder import attempts_c
from tests.autograder.marked import Marked
from tests.gold import lab_09
from tests.gold.lab_09 import RIGHT, WRITTEN, records, staircase

LAB = Marked(lab_09)
one, instead, scores = LAB.one, LAB.instead, LAB.scores
HANDED_OUT = (paths.lab("09") / stairs.SOURCE).read_text(encoding="utf-8")


def test_near_the_target_a_function_earns_half_and_a_wrong_one_nothing() -> None:
    took: dict[str, Any] = {**lab_09.TIMES_MS, "ring": 134.0, "tree": "wrong data: byte 0"}
    found = scores(instead(staircase(took=took)))
    assert (found["ring"].points, found["tree"].points) == (1, 0)
    assert "wrong data: byte 0" in found["tree"].found
    assert found["pipelined"].points == 3


def test_the_best_of_several_sources_counts_for_each_step() -> None:
    worse = {**lab_09.TIMES_MS, "tree": 5.0}
    later = {"started": "2024-01-05T11:00:00.000Z", "ended": "2024-01-05T11:01:00.000Z"}
    found = scores([*records(), staircase("/* another */", worse, **later)])
    assert found["tree"].points == 2


@pytest.mark.simgrid
@pytest.mark.usefixtures("simgrid")
def test_a_record_that_flatters_earns_what_its_source_does() -> None:
    kept = [staircase(HANDED_OUT)]
    submission = LAB.submission(kept, RIGHT)
    assert LAB.score(submission)["tree"].points == 2, "a learner's own check believes the Record"
    found = LAB.score(replace(submission, simulate=sandbox.Simulator()))
    assert [found[name].points for name in WRITTEN] == [0] * len(WRITTEN)
    assert "right, 8.719 ms" in found["tree"].found


@pytest.mark.parametrize(
    "points", [[], [Point({"step": "tree"}, "duration_s", [])]], ids=["empty", "no time"]
)
def test_records_that_cannot_be_read_cost_no_good_one(points: list[Point]) -> None:
    later = {"started": "2024-01-05T11:00:00.000Z", "ended": "2024-01-05T11:01:00.000Z"}
    bad = [lab_09.record("S9", list(points), variant="stairs", **later) for _ in range(3)]
    assert one("tree", [*records(), *bad]).points == 2


@pytest.mark.parametrize(
    "text", ["x" * 70_000, "int a;\0", "\ud800"], ids=["long", "NUL", "half of a pair"]
)
def test_a_text_that_is_no_source_is_not_compiled(text: str) -> None:
    found = sandbox.Simulator()(text)
    assert {each.why[:10] for each in found.values()} == {"the source"}


def first_line(text: str) -> str:
    """What is handed out, and this is done first in its first function."""
    return HANDED_OUT.replace("    if (rank", f"    {text}\n    if (rank", 1)


@pytest.mark.nightly
@pytest.mark.simgrid
@pytest.mark.usefixtures("simgrid")
def test_in_the_sandbox_a_source_takes_what_it_takes_outside() -> None:
    assert sandbox.Simulator()(lab_09.source()) == stairs.outcomes(lab_09.source())


@pytest.mark.simgrid
@pytest.mark.usefixtures("simgrid")
@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("no C", "does not compile"),
        # Each step has its time.
        pytest.param(first_line("volatile int stay = 1; while (stay) {}"), "did not end", marks=pytest.mark.nightly),
        pytest.param(
            first_line("for (int i = 0; i < 16; i++) memset(malloc(1u << 26), 1, 1u << 26);"), "",
            marks=pytest.mark.nightly,
        ),
    ],
    ids=["no C", "endless", "a gigabyte a rank"],
)  # fmt: skip
def test_what_is_hostile_gets_a_sentence(source: str, said: str) -> None:
    found = sandbox.Simulator()(source)
    assert found["naive"].why
    assert said in found["naive"].why, found


@pytest.mark.simgrid
@pytest.mark.usefixtures("simgrid")
@pytest.mark.parametrize("way", attempts_c.WAYS)
def test_functions_with_machine_code_of_their_own_earn_nothing(way: str) -> None:
    source = attempts_c.thief(way)
    flatters = [staircase(source), *(each for each in records() if each.variant != stairs.VARIANT)]
    submission = replace(LAB.submission(flatters, RIGHT), simulate=sandbox.Simulator())
    found = LAB.score(submission)
    assert [found[name].points for name in WRITTEN] == [0] * len(WRITTEN)
    said = {"asm label": "has __asm__ in line", "pointer": "calls a function through a pointer"}
    assert said.get(way, "has __attribute__ in line") in found["tree"].found


def test_without_simgrid_nothing_is_graded_and_the_reason_is_said(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sandbox.shutil, "which", lambda _: None)
    with pytest.raises(LabError, match="apt install libsimgrid-dev"):
        sandbox.Simulator()("int unique;")
