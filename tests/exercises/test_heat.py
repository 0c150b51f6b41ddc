"""The heat program without a cluster: is each lab's state as it should be, and every usual mistake named?"""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from nodeless_cluster import Nodeless
from running import PATIENCE_S, first

from beowulf import paths
from beowulf.errors import LabError
from beowulf.exercises import heat, timelines
from beowulf.exercises.heat import program, quick_check
from beowulf.exercises.heat.measurements import EXCHANGES
from beowulf.exercises.heat.trial import sentence
from beowulf.record import Record
from beowulf.studies import of_exercise
from tests import heat_records, heat_solutions
from tests.heat_solutions import RIGHT, WRONG, Wrong

ALL = [name for names in program.FUNCTIONS.values() for name in names]
RIGHT_IN = tuple(program.FUNCTIONS)
HANGS_AFTER_S = 3.0


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """A busy machine may be long about a check that ends."""
    monkeypatch.setattr(quick_check, "LONGEST_S", 2 * PATIENCE_S)
    monkeypatch.setattr(quick_check, "LIMIT_S", PATIENCE_S)


def test_a_lab_begins_with_what_came_before_given_and_its_own_functions_to_write() -> None:
    for lab in range(2, 10):
        text = program.composed(lab)
        for number, names in program.FUNCTIONS.items():
            for name in names:
                found = program.function(text, name)
                if number < lab:
                    assert (found.given, found.why) == (True, ""), (lab, name)
                elif number == lab:
                    assert found.why == program.UNWRITTEN, (lab, name)
                else:
                    assert found.why.startswith("there is no function"), (lab, name)


def test_the_given_functions_have_the_signatures_and_docstrings_of_the_stubs() -> None:
    stubs, given = (
        program.defined((program.ORIGINALS / name).read_text()) for name in ("heat.py", "given.py")
    )
    assert set(ALL) <= set(stubs)
    for name, stub in stubs.items():
        assert ast.dump(stub.args) == ast.dump(given[name].args)
        assert ast.get_docstring(stub) == ast.get_docstring(given[name])


@pytest.mark.parametrize(
    ("lab", "given"),
    [*((lab, False) for lab in RIGHT_IN), *first(1, ((n, True) for n in RIGHT_IN))],
)
def test_what_a_learner_writes_is_right_and_their_own_and_what_the_course_gives_is_nobodys(
    lab: int, given: bool, tmp_path: Path
) -> None:
    file = heat_solutions.write(tmp_path, lab)
    if given:
        file.write_text(program.composed(9))
    assert quick_check.faults(lab, file) == dict.fromkeys(program.FUNCTIONS[lab], "")
    for name in program.FUNCTIONS[lab]:
        source = program.function(file.read_text(), name).source
        assert program.is_own(name, source) is not given


@pytest.mark.nightly
def test_the_check_works_where_nobody_knows_this_machines_name(
    tmp_path: Path, namespaces_work: None
) -> None:
    file = heat_solutions.write(tmp_path / "heat", 4)
    script = (
        "from pathlib import Path; from beowulf.exercises.heat import quick_check;"
        f" print(quick_check.faults(4, Path({str(file)!r})))"
    )
    user = () if os.geteuid() == 0 else ("--user", "--map-root-user")
    rename = 'hostname nowhere.invalid && exec "$@"'
    words = ["unshare", *user, "--uts", "sh", "-c", rename, "sh", sys.executable, "-c", script]
    done = subprocess.run(words, capture_output=True, text=True, timeout=PATIENCE_S)
    assert done.stdout == f"{dict.fromkeys(program.FUNCTIONS[4], '')}\n", done.stderr


# One of each lab; that of lab 04, `all send`, is below.
UNLIKE = ("in place", "no exchange", "borders too early")
MISTAKES = [*UNLIKE, *(name for name in WRONG if name not in UNLIKE)]


@pytest.mark.parametrize("wrong", first(3, map(WRONG.__getitem__, MISTAKES)), ids=MISTAKES)
def test_a_usual_mistake_is_named_and_other_functions_stay_right(
    wrong: Wrong, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if wrong.hangs:
        monkeypatch.setattr(quick_check, "LIMIT_S", HANGS_AFTER_S)
    file = heat_solutions.write(tmp_path, wrong.lab, **{wrong.name: wrong.function})
    faults = quick_check.faults(wrong.lab, file)
    assert wrong.said in faults.pop(wrong.name)
    if wrong.name == "my_rows":
        assert faults.pop("run") == "it was not tried, because my_rows is wrong"
    assert not any(faults.values()), faults


def test_a_deadlock_says_which_rank_is_in_which_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(quick_check, "LIMIT_S", HANGS_AFTER_S)
    wrong = WRONG["all send"]
    file = heat_solutions.write(tmp_path, 4, **{wrong.name: wrong.function})
    said = quick_check.faults(4, file)[wrong.name]
    for rank in range(quick_check.RANKS):
        _, _, rest = said.partition(f"(rank {rank}) is in line ")
        number, _, text = rest.partition(": ")
        assert file.read_text().splitlines()[int(number) - 1].strip() in text
        assert text.startswith("world.Send(")


def test_where_there_is_no_file_it_is_written_and_where_there_is_one_it_stays(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    heat.start(3, folder=tmp_path)
    assert (tmp_path / "heat.py").read_text() == program.composed(3)
    assert all((tmp_path / name).exists() for name in program.LAID_OUT)
    (tmp_path / "heat.py").write_text(heat_solutions.heat(2))
    (tmp_path / "heat_step.c").write_text("mine")
    capsys.readouterr()
    heat.start("03", folder=tmp_path)
    text = (tmp_path / "heat.py").read_text()
    assert text.startswith(heat_solutions.heat(2).rstrip())
    assert {name: program.function(text, name).why for name in ("my_rows", "run")} == {
        "my_rows": program.UNWRITTEN,
        "run": program.UNWRITTEN,
    }
    assert (tmp_path / "heat_step.c").read_text() == "mine"
    assert "given=True" not in capsys.readouterr().out  # lab 02's functions are right
    heat.start(3, folder=tmp_path)
    assert (tmp_path / "heat.py").read_text() == text


def test_who_comes_back_to_a_lab_writes_what_was_given_to_a_later_one(tmp_path: Path) -> None:
    heat.start(7, folder=tmp_path)
    heat.start(5, folder=tmp_path)
    assert (tmp_path / "heat.py").read_text() == program.composed(5)
    own = heat_solutions.heat(5)
    (tmp_path / "heat.py").write_text(own)
    heat.start(5, folder=tmp_path)
    assert (tmp_path / "heat.py").read_text() == own


def test_what_an_earlier_lab_asks_for_and_is_wrong_is_named_and_the_given_state_offered(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    wrong = WRONG["not divided"]
    mine = heat_solutions.heat(2, step_numpy=wrong.function)
    (tmp_path / "heat.py").write_text(mine)
    heat.start(3, folder=tmp_path)
    said = capsys.readouterr().out
    assert wrong.said in said
    assert "heat.start(3, given=True)" in said
    for kept in ("heat-before.py", "heat-before-2.py"):
        before = (tmp_path / "heat.py").read_text()
        heat.start(3, given=True, folder=tmp_path)
        assert (tmp_path / kept).read_text() == before
        assert kept in capsys.readouterr().out
        assert (tmp_path / "heat.py").read_text() == program.composed(3)


def test_the_heat_program_lies_beside_the_labs_and_its_originals_stay(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "04-blocking-nonblocking").mkdir()
    monkeypatch.chdir(tmp_path / "04-blocking-nonblocking")
    assert program.folder() == tmp_path / "heat"
    heat.start(4)
    monkeypatch.chdir(tmp_path / "heat")
    assert program.folder() == tmp_path / "heat"
    before = (program.ORIGINALS / "heat.py").read_text()
    monkeypatch.chdir(next(iter(paths.labs().values())))
    with pytest.raises(LabError, match="originals"):
        heat.start(3, given=True)
    assert (program.ORIGINALS / "heat.py").read_text() == before


@pytest.mark.parametrize("lab", [1, 10, "x"])
def test_another_lab_is_refused(lab: int | str, tmp_path: Path) -> None:
    with pytest.raises(LabError, match="labs 02 to 09"):
        heat.start(lab, folder=tmp_path)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("def step_loops(old, new:\n", "line 1"),
        (None, "There is no heat.py"),
        ("\0", "heat.py"),
        (heat_solutions.heat(2) + "\nmissing()\n", r"heat.py: NameError in line \d+"),
    ],
    ids=["no Python", "none", "a zero", "fails"],
)
def test_a_file_that_is_no_python_or_fails_is_refused_with_its_line(
    text: str | None, said: str, tmp_path: Path
) -> None:
    if text is not None:
        (tmp_path / "heat.py").write_text(text)
    with pytest.raises(LabError, match=said):
        quick_check.faults(2, tmp_path / "heat.py")


@pytest.mark.parametrize(
    ("line", "said"),
    [("print('x' * 100_000, flush=True)", ""), ("raise SystemExit(0)", "SystemExit in line")],
    ids=["prints much", "ends the program"],
)
def test_a_function_that_prints_is_right_and_one_that_ends_the_program_is_named(
    line: str, said: str, tmp_path: Path
) -> None:
    file = heat_solutions.write(tmp_path, 2, step_numpy=f"{RIGHT['step_numpy']}    {line}\n")
    found = quick_check.faults(2, file)["step_numpy"]
    assert said in found
    assert bool(said) == bool(found)


def test_comments_docstrings_types_and_other_names_make_no_given_function_ones_own() -> None:
    text = program.composed(9).replace("    inside *= 0.25", "    inside *= 0.25  # mine")
    text = text.replace('"""The same without loops', '"""Mine, without loops')
    text = re.sub(r"\binside\b", "mine", re.sub(r"\bold\b", "before", text))
    text = text.replace(
        "step_numpy(before, new)", "step_numpy(before: np.ndarray, new: np.ndarray)"
    )
    assert program.function(text, "step_numpy").given
    assert not program.is_own("step_numpy", program.function(text, "step_numpy").source)
    assert program.function(text.replace("mine *= 0.25", "mine /= 4"), "step_numpy").given is False
    # A variable in another one's place makes other code.
    text = program.composed(9).replace("min(left, rank)", "min(each, rank)")
    assert program.function(text, "my_rows").given is False


def test_c_that_is_given_is_distinguished_from_ones_own() -> None:
    original = (program.ORIGINALS / program.OVERLAP_C).read_text()
    assert not program.is_own("overlapped", original + "\n/* mine */ // mine\n")
    assert not program.is_own("overlapped", original.replace("plate", "part"))
    swapped = original.replace("measure_overlap(argc, argv, one_after_the_other, overlapped)", "0")
    assert program.is_own("overlapped", swapped)
    assert program.is_own("overlapped", heat_solutions.OVERLAP)
    assert program.is_own("heat_step", heat_solutions.heat_step())
    assert not program.is_own("heat_step", "int main(void) { return 0; }")
    # A comment without an end is one to the end.
    assert program.bare_c("int a; /* one */ b; /* two /* three") == "inta;b;"


def test_of_several_ranks_the_first_one_speaks_and_all_that_wait_are_named() -> None:
    def row(rank: int, **more: object) -> dict[str, object]:
        return {"function": "run", "rank": rank, "node": f"node0{rank}", **more}

    assert sentence([row(2, why="late"), row(1, why="wrong")]) == "node01 (rank 1): wrong"
    waiting = [
        row(1, hangs=True, line=7, text="world.Recv(a)"),
        row(0, hangs=True, line=0, text=""),
    ]
    said = sentence(waiting)
    assert (
        "node00 (rank 0) waits for the others; node01 (rank 1) is in line 7: world.Recv(a)" in said
    )
    gone = row(
        2, why="Exception in line 9: See the MPI_ERROR field in MPI_Status for the error code"
    )
    assert sentence([*waiting, gone]) == sentence(waiting)


RECORDS = [
    heat_records.steps(),
    heat_records.speed_up(),
    heat_records.exchanges(),
    heat_records.overlap(),
    heat_records.overlap("C"),
    heat_records.worth(),
]


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: f"{record.study}{record.variant}")
def test_a_record_is_drawn_tabled_and_said(record: Record) -> None:
    table = heat.table(record)
    assert (table["low_ms"] <= table["median_ms"]).all()
    assert (table["median_ms"] <= table["high_ms"]).all()
    assert heat.picture(record).alt
    assert all(line.split()[1] == "right" for line in heat.lines(record)[:1])


def test_speed_up_and_bound_follow_from_the_samples() -> None:
    table = heat.table(heat_records.speed_up((1.0, 1.8, 2.0, 1.9)))
    assert table["speed_up"].tolist() == pytest.approx([1.0, 1.8, 2.0, 1.9])
    record = heat_records.overlap(hidden=0.8)
    assert heat.gain(record, 8000).percent == pytest.approx(-100 * 4 / 11)
    # The lesser of exchange and step.
    assert heat.bound_percent(record, 8000) == pytest.approx(-100 * 5 / 11)


@pytest.mark.parametrize(
    ("times", "decision"), [(0.8, "faster"), (1.3, "slower"), (1.0, "no effect")]
)
def test_what_a_knob_is_worth_is_decided_by_neighbouring_launches(
    times: float, decision: str
) -> None:
    found, decided = heat.worth(heat_records.worth(times))
    assert found.median == pytest.approx(times, rel=0.02)
    assert decided == decision


def test_what_is_wrong_is_said_and_what_was_found_of_the_deadlock() -> None:
    record = heat_records.exchanges(faults={"exchange_in_turns": "it waits"})
    said = heat.lines(record)
    assert said[1].split(maxsplit=1) == ["exchange_in_turns", "it waits"]
    assert "16,380 columns (131,040 bytes), and not with 16,381" in said[-1]
    assert "even with rows of 131,072" in heat.lines(heat_records.exchanges(131_072, 0))[-1]


def test_a_record_without_samples_is_a_sentence_and_one_of_a_capture_has_no_picture() -> None:
    record = heat_records.exchanges(faults=dict.fromkeys(EXCHANGES.values(), "wrong"))
    for look in (heat.table, heat.picture):
        with pytest.raises(LabError, match="no samples"):
            look(record)
    assert len(heat.table(heat_records.wire())) == 1
    with pytest.raises(LabError, match="beowulf packets"):
        heat.picture(heat_records.wire())


def test_without_its_trace_a_timeline_is_the_table_of_its_waits(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cluster, record = Nodeless(tmp_path), heat_records.exchanges_timeline()
    shown = timelines.timeline(cluster, record, "in turns")
    assert [*shown["wait_ms"]] == [6.5, 6.4]
    assert "not beside the Records" in capsys.readouterr().out
    assert heat.stuck(record) == {0: 1, 1: 0, 2: 1, 3: 2}
    with pytest.raises(LabError, match="`beowulf timeline FOLDER` draws"):
        heat.picture(record)
    assert of_exercise("T4") == "runs on a timeline"
    with pytest.raises(LabError, match="no run 'backwards'"):
        timelines.timeline(cluster, record, "backwards")
