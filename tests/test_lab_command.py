"""Does `beowulf lab` give a learner a place to work with a cluster under it, and remove all but the learner's work?"""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from running import PATIENCE_S, Beowulf, first, nothing_runs, traces, wait_until

from beowulf import paths
from beowulf.desk import jupyter

SLUG = "01-validation"
COMPILE = re.compile(r"^ \*     ((?:mpicc|gcc) [^&\n]*)", re.MULTILINE)
ADDRESS = re.compile(r"JupyterLab is at (\S+)")
# The script drops a PYTHONPATH, by which a test puts something in the place of JupyterLab.
NOT_BY_ITS_SCRIPT = (sys.executable, "-c", "from beowulf.cli import main; main()")


@pytest.fixture
def learner(beowulf: Beowulf) -> Beowulf:
    """A learner whose copies are kept in the test's own folder."""
    work = beowulf.here / "my work"
    beowulf.environment |= {
        "BEOWULF_WORK": str(work),
        # Neither settings nor kernels of the user who runs the tests.
        "HOME": str(beowulf.here),
        "JUPYTER_PREFER_ENV_PATH": "1",
    }
    return beowulf


class Lab:
    """A lab that is open: the command, where it says that it answers, and how to ask it."""

    def __init__(self, learner: Beowulf, *words: str, name: str = "01") -> None:
        self.command = learner.start("lab", *([name] if name else []), *words)
        self.said = ""
        assert self.command.stdout
        for line in self.command.stdout:
            self.said += line
            if "Ctrl-C here" in line:
                break
        found = ADDRESS.search(self.said)
        assert found, self.said
        self.address = found[1]
        self.url = urlsplit(self.address)
        self.token = parse_qs(self.url.query)["token"][0]

    def ask(self, path: str, *, token: str | None = None, post: bool = False) -> bytes:
        request = urllib.request.Request(
            f"http://{self.url.netloc}/{path}",
            headers={"Authorization": f"token {self.token if token is None else token}"},
            method="POST" if post else "GET",
        )
        with urllib.request.urlopen(request, timeout=PATIENCE_S) as answer:
            return bytes(answer.read())

    def interrupt(self) -> str:
        """Press Ctrl-C and wait for the end; what it says."""
        self.command.send_signal(signal.SIGINT)
        said, _ = self.command.communicate(timeout=PATIENCE_S)
        assert "Traceback" not in said
        return said


@pytest.mark.cluster
def test_a_lab_is_served_until_ctrl_c_and_then_only_the_learners_work_is_left(
    learner: Beowulf,
) -> None:
    """It says its address once it answers, also when another program has the port that it was to have."""
    before = traces(learner)
    left_for_later = paths.root() / "build" / "suites-later"
    left_for_later.touch()
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        lab = Lab(learner, "--port", str(port))
        wait_until(lambda: not left_for_later.exists(), "what the first make lab left for later")
        assert "4 nodes are up." in lab.said
        assert "The cluster is whole" in lab.said
        assert lab.url.port != port
        assert lab.url.path == "/beowulf/lab/01"
        assert b"JupyterLab" in lab.ask(f"lab/tree/{SLUG}/validation.ipynb")
        with pytest.raises(urllib.error.HTTPError, match="403"):
            lab.ask("api/contents", token="wrong")
        listed = json.loads(lab.ask(f"api/contents/{SLUG}"))["content"]
        assert {"validation.ipynb", "hello.c"} <= {each["name"] for each in listed}
        with pytest.raises(urllib.error.HTTPError, match="404"):
            lab.ask("assignments/validate", post=True)
        kernel = json.loads(lab.ask("api/kernels", post=True))
        assert kernel["name"] == "python3"
        other = "04-blocking-nonblocking"
        said = learner("lab", "04", code=1)
        assert f"A lab is already open at {lab.address}" in said
        assert "its home page lists all labs" in said
        copies = json.loads(lab.ask(f"api/contents/{other}"))["content"]
        assert "roundtrip.c" in {each["name"] for each in copies}
        said = learner("down")
        assert f"The lab at {lab.address} is still open, without a cluster" in said
        mine = learner.here / "my work" / SLUG / "validation.ipynb"
        mine.write_text(mine.read_text().replace("# Lab 01", "# My lab 01"))
        said = lab.interrupt()
        assert lab.command.returncode == 0, said
    assert "The cluster is down. Your work is in" in said
    nothing_runs(learner)
    assert not learner.state.exists()
    assert traces(learner) == before
    assert "# My lab 01" in mine.read_text()


# As a script starts what it puts into the background, which inherits that for all that it starts.
DEAF = ("sh", "-c", "trap '' INT; exec \"$@\"", "deaf")


@pytest.mark.cluster
@pytest.mark.parametrize("prefix", first(1, [DEAF, ((),)]), ids=["in the background", ""])
def test_ctrl_c_before_the_lab_is_open_takes_everything_down_too(
    learner: Beowulf, prefix: tuple[str, ...]
) -> None:
    learner.prefix = prefix
    command = learner.start("lab", "01")
    assert command.stdout
    assert "4 nodes are up." in command.stdout.readline()
    command.send_signal(signal.SIGINT)
    said, _ = command.communicate(timeout=PATIENCE_S)
    assert command.returncode == 1
    assert "beowulf: stopped." in said
    assert "The cluster is down." in said
    nothing_runs(learner)
    assert not learner.state.exists()


@pytest.mark.nightly
@pytest.mark.cluster
def test_a_jupyterlab_that_cannot_start_is_reported_and_leaves_no_cluster(
    learner: Beowulf, tmp_path: Path
) -> None:
    (tmp_path / "jupyterlab.py").write_text("raise SystemExit('this is not JupyterLab')")
    learner.command = NOT_BY_ITS_SCRIPT
    said = learner("lab", "01", code=1, PYTHONPATH=str(tmp_path))
    assert "JupyterLab did not start. It printed: this is not JupyterLab" in said
    assert "`make lab` repairs" in said
    nothing_runs(learner)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("lab", "77"), "There is no lab '77'. The labs are: 01-validation"),
        (("lab", "01", "--port", "0"), "A port is a number from 1 to 65535, not 0."),
    ],
)
def test_a_lab_or_a_port_that_does_not_exist_is_refused(
    tmp_path: Path, words: tuple[str, ...], sentence: str
) -> None:
    assert sentence in Beowulf(tmp_path / "state", tmp_path)(*words, code=2)


def test_what_a_learner_changed_is_never_overwritten_and_what_was_deleted_comes_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BEOWULF_WORK", str(tmp_path / "work"))
    notebook = jupyter.lay_out(SLUG)
    assert notebook == tmp_path / "work" / SLUG / "validation.ipynb"
    names = {"validation.ipynb", "hello.c", "master.c", "ring.c", "worker.c"}
    assert {path.name for path in notebook.parent.iterdir()} == names
    assert all(path.stat().st_mode & 0o600 == 0o600 for path in notebook.parent.iterdir())
    notebook.write_text("mine")
    (notebook.parent / "ring.c").unlink()
    jupyter.lay_out(SLUG)
    assert notebook.read_text() == "mine"
    original = paths.lab(SLUG) / "ring.c"
    assert (notebook.parent / "ring.c").read_bytes() == original.read_bytes()


PROGRAMS = sorted(path for folder in paths.labs().values() for path in folder.glob("*.c"))
ONE_EACH = list({path.parent: path for path in PROGRAMS}.values())
OTHERS = [path for path in PROGRAMS if path not in ONE_EACH]


@pytest.mark.parametrize(
    "program",
    first(3, ONE_EACH + OTHERS),
    ids=lambda path: f"{path.parent.name}-{path.stem}",
)
def test_the_compile_line_at_the_head_of_a_program_works_where_its_copy_lies(
    program: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BEOWULF_WORK", str(tmp_path / "work"))
    monkeypatch.setenv("PATH", str(paths.mpi_prefix("classic") / "bin"), prepend=os.pathsep)
    folder = jupyter.lay_out(program.parent.name).parent
    lines = COMPILE.findall((folder / program.name).read_text(encoding="utf-8"))
    assert lines, "its head says how to compile it"
    for line in lines:
        done = subprocess.run(shlex.split(line), cwd=folder, capture_output=True, text=True)
        assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.cluster
def test_a_full_disk_for_copies_is_reported_and_leaves_no_cluster(
    learner: Beowulf, private_mounts: tuple[str, ...]
) -> None:
    work = learner.here / "my work"
    work.mkdir()
    learner.prefix = (*private_mounts, f"tmpfs:8k:{work}")
    said = learner("lab", "01", code=1)
    assert "The lab cannot be copied to" in said
    assert "No space left on device" in said
    assert "BEOWULF_WORK" in said
    nothing_runs(learner)
