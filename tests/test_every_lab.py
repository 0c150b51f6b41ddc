"""Does every lab run to its end on every kind of cluster, and get all points that the kind allows?

Each notebook is run with the reference answers, as an author would, on a cluster of namespaces, and where it asks more
of its nodes than to measure, on four simulated PCs and on an allocation of Slurm's; then it is graded by the lab's
rubric.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from running import Beowulf
from school import School, opened
from whole_lab import with_codes, worked_through

from benchmarks import full_studies
from beowulf import paths
from beowulf.measure import machine_queue

# The labs tried on each kind: on PCs and under Slurm, those that break or change nodes or need two networks. Lab 07
# changes settings, which under Slurm are not a learner's to change.
CHANGES_NODES = ("01-validation", "02-node-benchmarks", "08-first-beowulf")
KINDS = {
    "namespaces": [*paths.labs()],
    "pcs": [*CHANGES_NODES, "07-latency-tuning"],
    "slurm": CHANGES_NODES,
}
ALONE = "pcs"  # without a course
# What a kind cannot show, with the reason, by lab and question: (lab, kind) -> {question: why}.
ONE_NETWORK = dict.fromkeys(
    ("c1-record", "saturation", "second-network"), "these machines have one network"
)
NOT_TO_BE_HAD: dict[tuple[str, str], dict[str, str]] = {
    ("02-node-benchmarks", "slurm"): {"odd-node": "its nodes are not ours to change"},
    ("08-first-beowulf", "pcs"): ONE_NETWORK,
    ("08-first-beowulf", "slurm"): ONE_NETWORK,
}
# What a lab asks its learner to boot, where that is not the usual cluster.
BOOTED = {"08-first-beowulf": ["--networks", "2", "--rate", "10mbit"]}


@pytest.fixture(scope="module")
def school(namespaces_work: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[School]:
    # As fast as the labs assume; without a rate the processors would move the bytes, with nothing to overlap.
    with opened(tmp_path_factory.mktemp("l"), "100mbit") as found:
        yield found


@contextmanager
def up(slug: str, kind: str, request: pytest.FixtureRequest, here: Path) -> Iterator[Beowulf]:
    """A learner with a cluster of that kind, as the lab asks for it, and time for the machine to rest first."""
    if kind == "namespaces":
        learner, words = Beowulf(here / "state", here), BOOTED.get(slug, [])
    else:
        school: School = request.getfixturevalue("school")
        learner = school.root
        words = ["--target", "slurm" if kind == "slurm" else str(school.inventory)]
        words += ["--minutes", "60"] if kind == "slurm" else []
    learner("up", *words)
    # No measurement is judged by the load of its set-up.
    machine_queue.rest(lambda _: None, full_studies.REST_S)
    try:
        yield learner
    finally:
        learner("down", code=None)


@pytest.mark.cluster
@pytest.mark.nightly
@pytest.mark.timeout(3600)
@pytest.mark.parametrize(
    ("slug", "kind"), [(slug, kind) for kind, labs in KINDS.items() for slug in labs]
)
def test_a_lab_gets_all_points_that_the_kind_allows(
    slug: str,
    kind: str,
    namespaces_work: None,
    request: pytest.FixtureRequest,
    tmp_path: Path,
) -> None:
    with up(slug, kind, request, tmp_path) as learner:
        allowed = NOT_TO_BE_HAD.get((slug, kind), {})
        course = None if kind == ALONE else with_codes(tmp_path / "course")
        graded = worked_through(learner, slug, tmp_path / "work", allowed, course)
    print(slug, kind, graded)
    assert not graded.lost
