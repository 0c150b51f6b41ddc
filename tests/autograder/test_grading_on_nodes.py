"""Does a cluster grade a class as this machine does, also when a node dies, or lacks something, or shares no file?"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from running import Beowulf, nothing_runs
from small_class import SLUG, expected, grade, hand_in, reached

from autograder.course.course import Course
from autograder.course.create import make_course
from autograder.grading import driver, remote_jobs
from autograder.grading.one_submission import Assignment
from autograder.grading.remote_nodes import Nodes
from beowulf import paths
from beowulf.cluster import namespaces
from beowulf.cluster.config import ClusterConfig
from beowulf.cluster.namespaces import NamespaceCluster
from beowulf.engines import starters
from beowulf.engines.pool import EnginePool
from beowulf.engines.starters import ByLogin, ByMpi
from beowulf.errors import LabError, UsageError
from tests import gold
from tests.simulated_pcs import Hall, hall

pytestmark = pytest.mark.cluster
LONGEST_S = 600.0
CASES = gold.hand_ins(SLUG)
NAMES = ("perfect", "average", "empty", "ends its process", "a wire of no machine", "truncated")
GUESTS = {f"gold-{name.replace(' ', '-')}": CASES[name] for name in NAMES}


@pytest.fixture
def duo(tmp_path: Path, sandboxed: None) -> Iterator[NamespaceCluster]:
    """Two nodes, which a test may spoil."""
    folder = tmp_path / "state"
    yield namespaces.up(ClusterConfig(nodes=2), folder=folder)
    namespaces.down(folder=folder)


def files(course: Course, student: str) -> dict[str, int]:
    place = course.folder / "autograded" / student / SLUG
    return {str(path.relative_to(place)): path.stat().st_mode for path in sorted(place.rglob("*"))}


@pytest.mark.nightly
@pytest.mark.parametrize("kind", [ByLogin, ByMpi])
def test_the_nodes_give_the_gold_class_the_points_and_files_that_this_machine_gives(
    class_of_guests: Course, duo: NamespaceCluster, kind: Callable[..., EnginePool]
) -> None:
    course = class_of_guests
    hand_in(course, GUESTS)
    pool = kind(duo)
    on_nodes = grade(course, *GUESTS, pool=pool)
    assert pool.messages == []
    laid = {student: files(course, student) for student in GUESTS}
    for student, case in GUESTS.items():
        assert case.problem in on_nodes[student].problem
        assert bool(case.problem) == bool(on_nodes[student].problem)
        assert reached(on_nodes[student]) == expected(case)
    assert grade(course, *GUESTS, again=True) == on_nodes
    assert {student: files(course, student) for student in GUESTS} == laid
    assert not pool.folder.exists()


@pytest.mark.nightly
@pytest.mark.parametrize("kind", [ByLogin, ByMpi])
def test_a_node_that_dies_at_work_is_named_and_others_do_what_it_was_at(
    class_of_guests: Course, duo: NamespaceCluster, kind: Callable[..., EnginePool]
) -> None:
    hand_in(class_of_guests, GUESTS)
    assignment = Assignment.of(class_of_guests, SLUG)
    pool = kind(duo)
    nodes = Nodes(assignment, pool, LONGEST_S)
    call, killed = pool.call, list[str]()

    def work_and_die(engine: int, function: Callable[..., Any], *arguments: object) -> Any:
        asked = call(engine, function, *arguments)
        worker = nodes.workers.get(engine)
        # The master carries mpiexec.
        if function is remote_jobs.work and worker and worker.node != "node00" and not killed:
            duo.kill(worker.node)
            killed.append(worker.node)
        return asked

    pool.call = work_and_die  # type: ignore[method-assign]
    with nodes:
        found = {outcome.student: outcome for outcome in nodes.run(list(GUESTS))}
    assert set(found) == set(GUESTS)
    for student, case in GUESTS.items():
        assert bool(found[student].problem) == bool(case.problem), found[student].problem
    (node,) = killed
    assert any(f"{node} is down" in message for message in pool.messages), pool.messages


@pytest.mark.nightly
def test_a_node_without_bubblewrap_is_named_and_when_all_are_nothing_is_graded(
    class_of_guests: Course, duo: NamespaceCluster
) -> None:
    course, student = class_of_guests, "gold-perfect"
    hand_in(course, {student: GUESTS[student]})
    hide = f"mount --bind /dev/null {shutil.which('bwrap')}"
    assert duo.administer("node01", hide).returncode == 0
    nodes = Nodes(Assignment.of(course, SLUG), ByLogin(duo), LONGEST_S)
    with nodes:
        # As many as there are engines, so that each of them was asked.
        while len([worker for worker in nodes.workers.values() if worker.node]) < len(duo.nodes):
            outcomes = list(nodes.run([student]))
    assert [outcome.problem for outcome in outcomes] == [""]
    (said,) = nodes.pool.messages
    assert "node01 cannot grade" in said
    assert "apt-get install bubblewrap" in said
    assert duo.administer("node00", hide).returncode == 0
    with pytest.raises(LabError, match="No node can grade") as refused:
        grade(course, student, pool=ByLogin(duo))
    assert all(f"{node} cannot grade" in refused.value.message for node in duo.nodes)
    assert not (course.folder / "autograded" / student).exists()


@pytest.mark.nightly
def test_a_node_with_other_programs_does_not_grade_by_them(
    class_of_guests: Course, duo: NamespaceCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    hand_in(class_of_guests, {"gold-perfect": GUESTS["gold-perfect"]})
    monkeypatch.setattr(remote_jobs, "programs", lambda: "others")
    with pytest.raises(LabError, match=r"node00 cannot grade\. The programs in .* are not those"):
        grade(class_of_guests, "gold-perfect", pool=ByLogin(duo))


@pytest.mark.nightly  # eight engines come up on a machine of any size
def test_a_run_on_nodes_that_was_broken_off_is_gone_on_with_here(
    class_of_guests: Course, duo: NamespaceCluster
) -> None:
    hand_in(class_of_guests, GUESTS)
    pool = ByLogin(duo, each=4)
    broken_off = driver.grade(class_of_guests, SLUG, list(GUESTS), pool=pool)
    first = next(each for each in broken_off if not each.problem)
    broken_off.close()
    assert not pool.folder.exists()
    rest = grade(class_of_guests, *GUESTS)
    assert rest[first.student].skipped
    assert {name: reached(each) for name, each in rest.items()} == {
        name: expected(case) for name, case in GUESTS.items()
    }


def test_what_cannot_be_a_pool_of_engines_is_reported(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, duo: NamespaceCluster
) -> None:
    with pytest.raises(UsageError, match="ssh, mpi, slurm"):
        starters.engine_pool("telnet")
    monkeypatch.setenv("BEOWULF_STATE", str(tmp_path / "none"))
    with pytest.raises(LabError, match="No cluster runs"):
        starters.engine_pool("ssh")
    monkeypatch.setenv("BEOWULF_STATE", str(duo.folder))
    with pytest.raises(UsageError, match=r"of the kind namespaces.*beowulf up --target slurm"):
        starters.engine_pool("slurm")


# ---------------------------------------------------------------- machines with disks of their own


@pytest.fixture
def pair(tmp_path: Path, sandboxed: None) -> Iterator[Hall]:
    """Two PCs, on which this checkout lies in the same place, but no course."""
    with hall(2) as pcs:
        for name in pcs.names:
            there = f"{pcs.folder}/{name}/root{paths.root()}"
            words = ["nsenter", f"--target={pcs._pid(name)}", "--mount"]
            subprocess.run([*words, "mount", "--rbind", str(paths.root()), there], check=True)
        yield pcs


@pytest.mark.skipif(os.geteuid() != 0, reason="a PC with a root of its own needs root")
@pytest.mark.nightly
def test_hand_ins_travel_to_machines_that_share_no_file_with_this_one(
    pair: Hall, tmp_path: Path
) -> None:
    course = make_course(tmp_path / "course")
    course.release("01")
    hand_in(course, GUESTS)
    here = Beowulf(tmp_path / "s", course.folder, pair.enter)
    try:
        # They have not been set up as nodes, which grading does not need.
        here("up", "--target", pair.inventory(tmp_path / "pcs.yml"), code=1)
        said = here("class", "grade", "01", "--cluster", "ssh", "--json", code=1)
        found = json.loads(said[said.index("{") : said.rindex("}") + 1])[SLUG]
        for each in found:
            case = GUESTS[each["student"]]
            assert case.problem in each["problem"]
            points = {name: points for name, points in each["questions"].items() if points}
            assert points == expected(case)
        for name in pair.names:
            assert "beowulf-engines" not in pair.at(name, "ls /tmp")
            assert "ipyparallel" not in pair.at(name, "cat /proc/[0-9]*/cmdline | tr '\\0' ' '")
    finally:
        here("down", code=None)
        here.end()
    nothing_runs(here)
