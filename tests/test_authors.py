"""Is another author's package found as our own labs are, and does a wrong one cost nobody anything but itself?"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator
from importlib import invalidate_caches
from pathlib import Path

import pytest
from made import QUIET
from running import app
from typer.testing import CliRunner

from autograder.course import kit, points_in_texts, release, template
from autograder.course.create import make_course
from autograder.grading import driver
from autograder.rubrics import needed_records, questions
from beowulf import papers, paths, studies
from beowulf.cluster.namespaces.cluster import NamespaceCluster
from beowulf.desk import jupyter
from beowulf.errors import LabError, UsageError
from beowulf.home import documents, lab_of
from beowulf.home import page as pages
from beowulf.record import Point, Record
from tests.gold import hand_in as hands

EXAMPLES = paths.root() / "examples"
SLUG, HANDED_IN = "10-ring", "2026-02-03 10:00:00.000000 UTC"
Install = Callable[[Path], None]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Install]:
    """Leaves what `pip install -e` leaves, in a folder that this process alone looks into."""
    site = tmp_path / "site"

    def put(project: Path) -> None:
        about = tomllib.loads((project / "pyproject.toml").read_text())["project"]
        info = site / f"{about['name'].replace('-', '_')}-{about['version']}.dist-info"
        info.mkdir(parents=True)
        needs = [f"Requires-Dist: {each}" for each in about["dependencies"]]
        heads = ["Metadata-Version: 2.1", f"Name: {about['name']}", f"Version: {about['version']}"]
        (info / "METADATA").write_text("\n".join([*heads, *needs, ""]))
        names = [f"{k} = {v}" for k, v in about["entry-points"][paths.GROUP].items()]
        (info / "entry_points.txt").write_text("\n".join([f"[{paths.GROUP}]", *names, ""]))
        for folder in (site, project):
            monkeypatch.syspath_prepend(folder)
        paths.others.cache_clear()

    yield put
    for name in [each for each in sys.modules if each.startswith("beowulf_")]:
        del sys.modules[name]
    paths.others.cache_clear()


@pytest.fixture
def ring(tmp_path: Path) -> Path:
    """A lab from the template."""
    made = template.write("ring", tmp_path, lab=True)
    assert (made.number, made.letter) == ("10", "G")
    return made.folder


def record(four_s: float = 2e-4) -> Record:
    """A Record of the template's study."""
    points = [
        Point(
            {"ranks": n, "launch": launch}, "sum_s", [seconds * (1 + i / 1000) for i in range(20)]
        )
        for n, seconds in ((2, 1e-4), (4, four_s))
        for launch in range(2)
    ]
    program = {"name": "sum.c", "arguments": [], "sha256": ""}
    return Record(
        "G1",
        points=points,
        program=program,
        cluster={"kind": "namespaces", "nodes": ["node00", "node01", "node02", "node03"]},
        circumstances={"before": QUIET, "after": QUIET},
    )


def said(*words: str | Path) -> str:
    done = CliRunner().invoke(app, [str(each) for each in words])
    assert done.exit_code == 0, done.output
    return done.output


def test_a_new_lab_is_found_everywhere(
    install: Install, ring: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(ring)
    assert list(paths.offered())[-1] == SLUG
    assert "Lab 10: A sum over all nodes\n  G1  A sum over all nodes" in studies.listing()
    assert "The authors of your paper" in papers.cite("G")
    assert 'data-lab="10-ring"' in pages.home("/", "")
    assert "Lab 10: A sum over all nodes" in pages.desk(SLUG, "10-ring/ring.ipynb", "/", "")
    assert documents.find(f"labs/{SLUG}/README.md")
    assert documents.find(f"labs/{SLUG}/lab.toml") is None
    assert lab_of("ring.ipynb") == SLUG
    monkeypatch.setenv("BEOWULF_WORK", str(tmp_path / "work"))
    assert jupyter.lay_out(SLUG) == tmp_path / "work" / SLUG / "ring.ipynb"
    record().save_in(tmp_path / "records")
    assert "holds" in said("claims", "g1", "--records", tmp_path / "records")
    page = tmp_path / "report.html"
    said("report", tmp_path / "records", "--output", page)
    assert "a sum over four nodes takes longer than over two" in page.read_text()


def test_a_new_lab_is_released_and_graded(
    install: Install, ring: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(ring)
    source = release.sources()[SLUG]
    monkeypatch.setattr(release, "sources", lambda: {SLUG: source})
    course = make_course(tmp_path / "spring")
    course.release("10")
    for student, times in (("right", 2.0), ("wrong", 4.0)):
        folder = course.folder / "submitted" / student / SLUG
        notebook = hands.answered(release.student_version(source), {"times_longer": times})
        hands.hand_in(folder, notebook, [record()], "ring", student)
        (folder / "timestamp.txt").write_text(HANDED_IN)
    graded = {each.student: each for each in driver.grade(course, SLUG)}
    assert not any(each.problem or each.doubted for each in graded.values())
    assert {name: each.points for name, each in graded.items()} == {"right": 1, "wrong": 0}


def test_learners_get_no_rubric_and_a_kit_has_our_labs_alone(
    install: Install, ring: Path, tmp_path: Path
) -> None:
    install(ring)
    assert questions.has_rubric(SLUG)
    assert needed_records.of_lab(SLUG) == {"growth": (("G1", ""),)}
    (ring / "beowulf_ring" / "rubrics" / "10_ring.py").unlink()
    invalidate_caches()
    del sys.modules["beowulf_ring.rubrics.10_ring"]
    assert not questions.has_rubric(SLUG)
    assert needed_records.of_lab(SLUG) == {}
    kit.write(tmp_path / "kit")
    assert [each.name for each in sorted((tmp_path / "kit").glob("labs/[0-9]*"))] == [
        *paths.ours().labs
    ]


@pytest.mark.parametrize("lab", [True, False])
def test_what_new_writes_is_installed_by_pip_and_passes_its_own_test(
    tmp_path: Path, lab: bool
) -> None:
    made = template.write("my-ring", tmp_path, lab=lab).folder
    assert (made / "beowulf_my_ring" / "labs").exists() == lab
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path / "own"], check=True)
    (ours,) = (tmp_path / "own" / "lib").glob("python3.*/site-packages")
    (ours / "ours.pth").write_text(f"{Path(pytest.__file__).parents[1]}\n{paths.root()}\n")
    python = tmp_path / "own" / "bin" / "python"
    environment = {**os.environ, "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    for words in (
        ["-m", "pip", "install", "--quiet", "--no-index", "--no-build-isolation", "-e", made],
        ["-m", "pytest", "-q", made],
        ["-c", "from beowulf.cli import main; main()", "study", "--help"],
    ):
        done = subprocess.run(
            [python, *words], cwd=tmp_path, env=environment, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stdout + done.stderr
    assert ("Lab 10: A sum over all nodes" in done.stdout) == lab
    assert "  G1  A sum over all nodes" in done.stdout


@pytest.mark.cluster
def test_the_sixth_paper_is_measured_and_judged(
    install: Install, cluster: NamespaceCluster, tmp_path: Path
) -> None:
    install(EXAMPLES / "collectives")
    kept = studies.find("G1").measure(cluster, tmp_path, quick=True)
    assert kept.complete
    verdicts = studies.judge(kept)
    assert len(verdicts) == 3
    assert all(each.evidence for each in verdicts)
    studies.draw(kept)


def test_the_parts_of_the_sixth_paper_agree(install: Install) -> None:
    install(EXAMPLES / "collectives")
    slug = "10-collectives"
    source = release.sources()[slug]
    notebook = release.instructor_version(source)
    assert questions.check(slug, [each.metadata.get("nbgrader", {}) for each in notebook.cells])
    assert release.released(slug, source).read_text() == release.as_text(
        release.student_version(source)
    )
    for file, text in points_in_texts.texts({slug: source}).items():
        assert file.read_text() == text, file


@pytest.mark.parametrize("name", ["collectives", "template"])
def test_an_example_passes_its_own_test(install: Install, name: str) -> None:
    install(EXAMPLES / name)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    words = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", EXAMPLES / name]
    done = subprocess.run(words, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def test_nobody_looks_for_other_packages_for_a_study_of_ours(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(paths, "others", None)
    assert studies.find("e1").id == "E1"
    assert paths.lab("4").name.startswith("04-")
    assert papers.figure("A-table-4", "this_cluster_ns", test="Main memory") == 118.5
    assert papers.cite("A")


# ---------------------------------------------------------------- what is wrong


def renamed(folder: Path, old: str, new: str) -> None:
    """A file or folder of a package gets another name."""
    (file,) = (folder / "beowulf_ring").glob(f"**/{old}")
    file.rename(file.with_name(new))


@pytest.mark.parametrize(
    ("old", "new", "what"),
    [
        ("labs/10-ring", "04-ring", "lab 04"),
        ("g1_sum.py", "e1_sum.py", "study E1"),
        ("ring.ipynb", "overlap.ipynb", "notebook overlap.ipynb"),
    ],
)
def test_a_package_with_the_name_of_ours_is_left_out(
    install: Install,
    ring: Path,
    capsys: pytest.CaptureFixture[str],
    old: str,
    new: str,
    what: str,
) -> None:
    renamed(ring, old, new)
    install(ring)
    assert paths.labs() == paths.ours().labs
    assert studies.find("E1").plan.__module__.startswith("beowulf.labs")
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert str(ring) in said
    assert f"beowulf-labs has {what} already, so the package beowulf-ring is left out" in said
    assert "beowulf-ring is left out" in pages.home("/", "")


def test_a_paper_of_ours_stays_ours_and_of_two_packages_the_second_is_left_out(
    install: Install, ring: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = ring / "beowulf_ring" / "papers" / "papers.toml"
    file.write_text(file.read_text().replace("[papers.G]", "[papers.A]"))
    install(ring)
    assert "A" in papers.letters()
    assert "Mohamed Said" in papers.cite("A")
    assert paths.labs() == paths.ours().labs
    assert "beowulf-labs has paper A already" in capsys.readouterr().err
    file.write_text(file.read_text().replace("[papers.A]", "[papers.G]"))
    paths._catalogue.cache_clear()
    install(EXAMPLES / "collectives")
    assert "Thakur" in papers.cite("G")
    assert "beowulf-collectives has lab 10" in capsys.readouterr().err


def test_an_import_that_fails_costs_its_own_study_alone(
    install: Install, ring: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = ring / "beowulf_ring" / "g1_sum.py"
    study.write_text(
        study.read_text().replace("from pathlib", "import no_such_module\nfrom pathlib")
    )
    install(ring)
    with pytest.raises(LabError, match=r"g1_sum.py, line 5: ModuleNotFoundError: .*beowulf-ring"):
        studies.find("G1")
    with pytest.raises(LabError, match="beowulf-ring"):
        questions.of_lab(SLUG)
    assert "A sum over all nodes" in studies.listing()
    assert studies.find("E1").id == "E1"
    assert 'data-lab="10-ring"' in pages.home("/", "")
    record().save_in(tmp_path / "records")
    page = tmp_path / "report.html"
    said("report", tmp_path / "records", "--output", page)
    assert "g1_sum.py, line 5" in page.read_text()


def test_a_package_for_newer_labs_is_left_out(
    install: Install, ring: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = ring / "pyproject.toml"
    file.write_text(re.sub(r"beowulf-labs>=[\d.]+", "beowulf-labs>=99", file.read_text()))
    install(ring)
    assert paths.labs() == paths.ours().labs
    said = capsys.readouterr().err
    assert f"{ring / 'beowulf_ring'}: the package beowulf-ring is left out" in said
    assert "it needs beowulf-labs>=99" in said
    assert "Update beowulf-labs" in said


def test_a_package_whose_folder_is_gone_is_left_out(
    install: Install, ring: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    install(ring)
    (ring / "beowulf_ring").rename(ring / "elsewhere")
    assert paths.labs() == paths.ours().labs
    assert "its module beowulf_ring is not there" in capsys.readouterr().err


def test_new_refuses_what_it_cannot_write(
    ring: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(UsageError, match="'My Ring' cannot be the name"):
        template.write("My Ring", tmp_path, lab=True)
    with pytest.raises(UsageError, match=r"There is a lab 04 already\. 10 is free"):
        template.write("04-other", tmp_path, lab=True)
    with pytest.raises(LabError, match="ring exists already"):
        template.write("30-ring", tmp_path, lab=True)
    monkeypatch.setattr(template.paths, "root", lambda: tmp_path)
    with pytest.raises(LabError, match="has no template"):
        template.write("other", tmp_path, lab=True)
