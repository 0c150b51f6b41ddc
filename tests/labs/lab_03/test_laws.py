"""Lab 03's exercise in Python: is a right law distinguished from a wrong one, and every mistake named?"""

from __future__ import annotations

import random
import shutil
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from solutions import LAWS

from beowulf import paths
from beowulf.errors import LabError
from beowulf.exercises import file_functions
from beowulf.labs.lab_03 import speedup_laws
from beowulf.record import Point

HANDED_OUT = paths.root() / "labs" / "03-parallel-benchmarks" / "laws.py"


def written(folder: Path, **bodies: str) -> Path:
    """The handed-out file with these bodies, in the order of the laws."""
    head, *parts = HANDED_OUT.read_text().split("    return ...\n")
    assert len(parts) == len(speedup_laws.OURS)
    text = head
    for name, rest in zip(speedup_laws.OURS, parts, strict=True):
        text += f"    return {bodies.get(name, '...')}\n{rest}"
    source = folder / "laws.py"
    source.write_text(text)
    return source


def asked(source: Path) -> list[Point]:
    return speedup_laws.asked(file_functions.functions(source), random.Random(3))


def test_what_is_handed_out_is_not_written_yet(tmp_path: Path) -> None:
    shutil.copy(HANDED_OUT, tmp_path)
    lines = speedup_laws.lines(asked(tmp_path / "laws.py"))
    assert [line.split()[0] for line in lines] == list(speedup_laws.OURS)
    assert all(line.endswith("it is not written yet") for line in lines)


def test_the_laws_of_the_handout_are_right(tmp_path: Path) -> None:
    points = asked(written(tmp_path, **LAWS))
    assert [line.split()[1] for line in speedup_laws.lines(points)] == ["right"] * 3
    assert all(len(point.facts["asked"]) == speedup_laws.TIMES for point in points)


@pytest.mark.parametrize(
    ("name", "body", "said"),
    [
        ("amdahl", "1 / (serial_share + (1 - serial_share) * ranks)", "too small: amdahl("),
        ("karp_flatt", "1 / speed_up", "too "),
        ("karp_flatt", "speed_up / 0", "ZeroDivisionError in line"),
        ("gustafson", LAWS["amdahl"], "too small: gustafson("),
        ("gustafson", "'long'", "it gives no number, but str"),
        ("gustafson", "float('nan')", "it gives nan"),
    ],
)
def test_a_wrong_law_is_reported_and_the_others_stay_right(
    tmp_path: Path, name: str, body: str, said: str
) -> None:
    lines = speedup_laws.lines(asked(written(tmp_path, **LAWS | {name: body})))
    verdicts = dict(line.split(maxsplit=1) for line in lines)
    assert verdicts.pop(name).startswith(said)
    assert set(verdicts.values()) == {"right"}


@given(st.integers(0, 10_000))
@settings(max_examples=20)
def test_the_laws_agree_with_each_other(seed: int) -> None:
    chance = random.Random(seed)
    share, ranks = speedup_laws.drawn("amdahl", chance)
    amdahl, karp_flatt, gustafson = speedup_laws.OURS.values()
    times = amdahl(share, ranks)
    assert karp_flatt(times, ranks) == pytest.approx(share)
    # The larger problem of Gustafson's, on one rank, has Amdahl's share and speed-up.
    hours = gustafson(share, ranks)
    assert amdahl(share / hours, ranks) == pytest.approx(hours)


def test_a_file_that_is_no_python_is_refused_and_one_that_is_missing(tmp_path: Path) -> None:
    (tmp_path / "laws.py").write_text("def amdahl(:")
    with pytest.raises(LabError, match="cannot be used: SyntaxError"):
        file_functions.functions(tmp_path / "laws.py")
    with pytest.raises(LabError, match="cannot be read"):
        file_functions.functions(tmp_path / "none.py")
