"""Do honest programs and plots get all points whatever their style, and do plausible mistakes lose the right ones?"""

from __future__ import annotations

import json
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import matplotlib as mpl
import pytest

from beowulf.exercises import calls
from beowulf.exercises.heat import program, quick_check
from beowulf.exercises.heat.trial import tried
from beowulf.labs.lab_04 import own_roundtrip
from beowulf.labs.lab_09 import stairs
from beowulf.measure.roundtrips import HALF
from beowulf.record import Record
from beowulf.timeline import recording
from tests import heat_solutions
from tests.autograder.marked import Marked
from tests.gold import lab_04, lab_05, lab_06, lab_07, lab_09, plots, programs
from tests.gold.programs import Called, Text

LABS = [Marked(lab) for lab in (lab_04, lab_05, lab_06, lab_07, lab_09)]
RANKS = {"exchange": 3, "overlap-python": 2}
ROUND_TRIPS = (8, 8192, own_roundtrip.SIZES[-1])
# Calls a learner's function and a usual one on two ranks of this machine; records a call of the learner's.
RUN = """
import ctypes, json, sys
import numpy as np
from mpi4py import MPI
from beowulf.labs.lab_04.own_roundtrip import NAME, calls_of, one_call
mine, usual, sizes, folder = json.loads(sys.argv[1])
world = MPI.COMM_WORLD
found = []
for text in (mine, usual):
    names = {"MPI": MPI, "np": np, "world": world, "rank": world.rank, "ranks": world.size}
    exec(text, names)
    found.append([calls_of(names, NAME, sizes, seed, "lo") for seed in range(9)])
    if text == mine:
        library = ctypes.CDLL(None)
        library.beowulf_trace_start(folder.encode())
        one_call(names, NAME, 8)
        library.beowulf_trace_stop()
both = world.gather(found)
if world.rank == 0:
    print(json.dumps(both))
"""


def judged(case: Any, made: Record) -> None:
    """The question's points are those of the case, and so is what is said."""
    lab = next(each for each in LABS if case.question in each.worth)
    found = lab.one(case.question, lab.instead(made))
    assert found.points == pytest.approx(case.share * lab.worth[case.question]), found.found
    assert case.says in found.found


@pytest.mark.parametrize("name", [*plots.RIGHT, *plots.WRONG])
def test_a_plot_is_judged_by_what_it_shows(name: str) -> None:
    case = (plots.RIGHT | plots.WRONG)[name]
    with mpl.rc_context({"backend": "agg"}):
        judged(case, case.record())


@pytest.mark.parametrize("name", programs.INTERVALS)
def test_an_interval_is_judged_by_what_it_gives(name: str) -> None:
    random.seed(1)
    case: Called = programs.INTERVALS[name]
    judged(case, lab_07.interval(case.function))


def environment(folder: str = "") -> dict[str, str]:
    """That of ranks on this machine, with the recorder."""
    ours = quick_check._environment()
    library = str(recording.recorder("classic"))
    ours["LD_PRELOAD"] = f"{ours['LD_PRELOAD']}:{library}"
    return ours | ({"BEOWULF_TRACE": folder, "BEOWULF_TRACE_CLOCKS": "0"} if folder else {})


def round_trip(text: str, folder: Path) -> Record:
    """What lab 04 would keep of a function, with the usual one in place of the program in C."""
    asked = json.dumps([text, programs.PING_PONG, ROUND_TRIPS, str(folder)])
    folder.mkdir()
    words = [str(quick_check._mpiexec()), "-n", "2", sys.executable, "-c", RUN, asked]
    done = subprocess.run(words, env=environment(), capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    zero, one = json.loads(done.stdout)
    faults, samples = [], {own_roundtrip.OWN: {}, own_roundtrip.C: {}}
    for language, first, second in zip(samples, zero, one, strict=True):
        for of_zero, of_one in zip(first, second, strict=True):
            for size, *both in zip(ROUND_TRIPS, of_zero, of_one, strict=True):
                fault = own_roundtrip.fault(size, *both)
                if fault:
                    assert language == own_roundtrip.OWN, fault
                    faults.append(fault[1])
                else:
                    samples[language].setdefault(size, []).append(both[0]["value"])
    made = lab_04.own(source=text, faults=faults[:1], calls=calls.names(folder))
    made.cluster = {name: value for name, value in made.cluster.items() if name != "rate"}
    made.points = [
        p for p in made.points if p.quantity != HALF or p.at["size_bytes"] in ROUND_TRIPS
    ]
    for point in made.points:
        if point.quantity == HALF:
            found = samples[point.at["language"]].get(point.at["size_bytes"], [])
            point.samples[:] = 5 * found
    return made


def of_heat(case: Text, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Record:
    """What labs 04 and 05 would keep of a function of heat.py, checked and recorded on ranks of this machine."""
    names = [name for name in heat_solutions.RIGHT if f"def {name}(" in case.text]
    (name,) = names
    file = heat_solutions.write(folder / "heat", 5, **{name: case.text})
    (folder / "seen").mkdir()
    seen = environment(str(folder / "seen"))
    monkeypatch.setattr(quick_check, "_environment", lambda: seen)
    lab = 5 if name == "overlapped_step" else 4
    task, _ = quick_check.TASKS[lab]
    way = next(way for way, of in quick_check.WAYS[lab].items() if of == name)

    def start(left: Any) -> Any:
        words = [task, "--ways", way, *quick_check.SMALL]
        return quick_check._start(file, RANKS[case.question], words)

    found = program.function(file.read_text(), name)
    why = found.why or tried({way: name}, start).get(name, "")
    called = calls.names(folder / "seen")
    if lab == 4:
        assert not why, why
        return lab_04.exchanges(sources={way: found.source}, calls={way: called})
    share = calls.computed_meanwhile(folder / "seen")
    assert share is not None
    tests = bool(calls.TESTS.intersection(called))
    return lab_05.step(tests, text=found.source, why=why, meanwhile=share, hidden=lab_05.HIDDEN)


def in_c(case: Text) -> Record:
    """What lab 09 would keep of a function, simulated."""
    text = lab_09.source()
    name = stairs.BY_NAME[case.question].function
    head, _, rest = text.partition(f"void {name}(")
    text = head + case.text + rest.partition("\n}\n")[2]
    outcome = stairs.outcomes(text, [case.question])[case.question]
    return lab_09.staircase(text, {case.question: outcome.why or outcome.ms})


@pytest.mark.nightly
@pytest.mark.parametrize("name", [*programs.RIGHT, *programs.WRONG])
def test_a_program_is_judged_by_what_it_does(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    case = (programs.RIGHT | programs.WRONG)[name]
    if case.question == "own-blocking":
        made = round_trip(case.text, tmp_path / "seen")
    elif case.question in RANKS:
        made = of_heat(case, tmp_path, monkeypatch)
    else:
        made = in_c(case)
    judged(case, made)
