"""Does every study work on every kind of cluster, or say in a sentence why it cannot be seen there?

Each study declares it (`need`), docs/clusters.md shows it, and here it is tried (nightly). What a lab's notebook
measures on a kind is tried by tests/test_every_lab.py.
"""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest
from other_user import ada
from running import Beowulf
from school import opened
from test_every_lab import KINDS

from autograder.course import release
from beowulf import paths
from beowulf.cluster.local import cluster as local
from beowulf.record import Record
from beowulf.studies import by_kind, find, judge, known
from tests.simulated_pcs import hall, learner_at

pytestmark = pytest.mark.cluster
LONGEST_S = 3600.0

# --------------------------------------------------------------- what is declared


def test_the_table_of_the_documentation_is_the_declared_one() -> None:
    shown = (paths.root() / "docs" / "clusters.md").read_text()
    assert by_kind.markdown() in shown, f"docs/clusters.md shall have:\n{by_kind.markdown()}"


# No other room asks a cluster of which kind it is; annotations may name a class.
KIND_IS_ASKED = re.compile(
    r"isinstance\([^)]*Cluster\b"
    r"|\bkind(\"\]|\"\))? ?([=!]=|(not )?in) ?\(?\"(namespaces|ssh|slurm|local)\""
)


@pytest.mark.parametrize("room", ["beowulf", "autograder"])
def test_no_kind_of_cluster_is_asked_for_outside_of_its_room(room: str) -> None:
    found = [
        f"{path}:{number}: {line.strip()}"
        for path in sorted((paths.root() / room).rglob("*.py"))
        if "cluster" not in path.relative_to(paths.root()).parts
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if KIND_IS_ASKED.search(line)
    ]
    assert not found


# --------------------------------------------------------------- what is so


@dataclass
class Here:
    """A learner whose cluster of some kind is up."""

    kind: str
    learner: Beowulf

    def measure(self, study: str) -> tuple[str, list[Record]]:
        """What `beowulf study` prints, and the Records that it leaves."""
        folder = Path(tempfile.mkdtemp(prefix=f"{study}-", dir=self.learner.here))
        if uid := getattr(self.learner, "uid", 0):
            os.chown(folder, uid, uid)
        process = self.learner.start("study", study, "--quick", "--records", folder)
        said = process.communicate(timeout=LONGEST_S)[0]
        assert "Traceback" not in said, said
        return said, [Record.load(path) for path in sorted(folder.glob(f"{study}-*.json"))]


def _rootless(stack: ExitStack, here: Path) -> Beowulf:
    learner = stack.enter_context(ada())
    learner("up", "--rate", "100mbit", "--networks", "2")
    return learner


def _pcs(stack: ExitStack, here: Path) -> Beowulf:
    pcs = stack.enter_context(hall())
    learner = stack.enter_context(learner_at(pcs, here))
    inventory = pcs.inventory(here / "pcs.yml")
    learner("setup", inventory)
    learner("up", "--target", inventory)
    return learner


def _slurm(stack: ExitStack, here: Path) -> Beowulf:
    school = stack.enter_context(opened(here))
    for name in school.pcs.names:
        school.pcs.at(name, "usermod --append --groups wireshark ada")
    school.ada("up", "--target", "slurm", "--minutes", "120")
    return school.ada


def _names(stack: ExitStack, here: Path) -> Beowulf:
    learner = Beowulf(here / "state", here)
    stack.callback(local.down, learner.state)
    learner("up", "--target", "local")
    return learner


MAKE = {
    "namespaces, as a user": _rootless,
    "PCs, VMs": _pcs,
    "Slurm": _slurm,
    "local": _names,
}


# The labs whose notebooks are run on each kind.
LABS = {
    "namespaces, as a user": KINDS["namespaces"],
    "PCs, VMs": KINDS["pcs"],
    "Slurm": KINDS["slurm"],
    "local": (),
}


def in_notebooks(labs: Iterable[str]) -> set[str]:
    texts = [release.sources()[slug].read_text(encoding="utf-8") for slug in labs]
    return {study for text in texts for study in re.findall(r'\bstudy\("(\w+)"', text)}


def tried() -> Iterator[tuple[str, str]]:
    """The kinds, each with its studies that no lab's notebook measures there, or that cannot be seen there.

    Slurm's nodes are the same PCs reached in another way, so with Slurm one study of each row of the table is enough.
    """
    columns = by_kind.kinds()
    for kind in MAKE:
        measured = in_notebooks(LABS[kind])
        rows = set()
        for study in known():
            if study in measured and not find(study).unmet(columns[kind]):
                continue
            row = tuple(map(find(study).unmet, columns.values()))
            if kind != "Slurm" or row not in rows:
                yield kind, study
            rows.add(row)


@pytest.fixture(scope="module")
def here(
    request: pytest.FixtureRequest, namespaces_work: None, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Here]:
    if os.geteuid() != 0 and request.param not in ("namespaces, as a user", "local"):
        pytest.skip("only root has this kind here")
    with ExitStack() as stack:
        yield Here(request.param, MAKE[request.param](stack, tmp_path_factory.mktemp("kind")))


@pytest.mark.nightly  # a minute or more each
@pytest.mark.parametrize(("here", "study"), [*tried()], indirect=["here"])
def test_a_study_works_on_a_kind_as_the_table_says(here: Here, study: str) -> None:
    said, records = here.measure(study)
    unmet = find(study).unmet(by_kind.kinds()[here.kind])
    if unmet and not unmet.part:
        assert f"cannot be seen on this cluster, because {unmet.because}" in said
        assert not records
        return
    assert len(records) == 1, said
    [record] = records
    assert record.complete, said
    if unmet:
        assert any(unmet.part in each for each in record.warnings), record.warnings
    assert len(judge(record))
    assert find(study).picture(record).alt


@pytest.mark.nightly
@pytest.mark.parametrize("here", list(MAKE), indirect=True)
def test_the_wire_is_the_same_one_seen_at_a_switch_or_at_all_cards(here: Here) -> None:
    learner = here.learner
    if not by_kind.kinds()[here.kind].whole_wire:
        assert "no packets to capture" in learner("capture", "-o", "w.pcapng", code=1)
        return
    shutil.copytree(paths.root() / "labs", learner.here / "labs", dirs_exist_ok=True)
    ring = learner.here / "labs" / "01-validation" / "ring.c"
    if uid := getattr(learner, "uid", 0):
        for path in (learner.here / "labs").rglob("*"):
            os.chown(path, uid, uid)
    assert "(0 dropped" in learner("capture", "-o", "w.pcapng", "-n", "4", "--", ring)
    said = learner("packets", "w.pcapng", "--messages")
    assert "taken at" not in said  # nothing is in it twice
    rows = re.findall(r"^\s*\d+\.\d+", said, re.MULTILINE)
    assert len(rows) == 4, said  # the token's four hops, each once
