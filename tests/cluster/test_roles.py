"""Does the playbook's master serve JupyterLab to anyone who has the token, and to nobody else?

On two PCs of namespaces (tests/simulated_pcs.py), which run no systemd: what it would start is started by hand.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from running import PATIENCE_S, Beowulf, wait_until

from beowulf import paths
from beowulf.cluster.machines import checkout
from tests.simulated_pcs import Hall

PCS = 2
SETUP = paths.root() / "cluster_setup"


@pytest.mark.nightly
def test_the_playbook_and_its_roles_are_as_ansible_lint_wants_them(tmp_path: Path) -> None:
    words = [paths.python_bin() / "ansible-lint", "--offline", "--nocolor", "-q", "playbook.yml"]
    done = subprocess.run(
        [*words, "undo.yml", *sorted((SETUP / "roles").iterdir())],
        cwd=SETUP,
        env={
            **os.environ,
            "PATH": f"{paths.python_bin()}:{os.environ['PATH']}",
            "ANSIBLE_HOME": str(tmp_path),
            "XDG_CACHE_HOME": str(tmp_path),
            "LC_ALL": "C.UTF-8",
        },
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert done.returncode == 0, done.stdout


def test_the_packed_checkout_holds_the_labs_and_nothing_of_anybodys_work(tmp_path: Path) -> None:
    archive, digest = checkout.pack(tmp_path)
    assert checkout.pack(tmp_path) == (archive, digest)
    with tarfile.open(archive) as packed:
        names = packed.getnames()
    assert {
        "cluster_setup/bootstrap.sh",
        "requirements/lab.lock",
        "beowulf/desk/service.py",
    } <= set(names)
    tracked = subprocess.run(["git", "ls-files"], cwd=paths.root(), capture_output=True, text=True)
    if not tracked.returncode:
        strangers = set(names) - set(tracked.stdout.splitlines())
        assert not [name for name in strangers if name.startswith((".", "work", "build", "spring"))]
    assert [path.name for path in tmp_path.iterdir()] == [archive.name]


# --------------------------------------------------------------- on PCs


@pytest.fixture(scope="module")
def pcs(pcs: Hall) -> Hall:
    # A PC has no files of ours, but its master is to have this checkout, as a VM has one.
    root, here = pcs.folder / "node00" / "root", paths.root()
    words = ["nsenter", f"--target={pcs._pid('node00')}", "--mount"]
    subprocess.run([*words, "mount", "--bind", str(here), f"{root}{here}"], check=True)
    return pcs


@pytest.fixture(scope="module")
def inventory(pcs: Hall, learner: Beowulf) -> Path:
    wish = f"beowulf_jupyterlab: true\n    beowulf_checkout: {paths.root()}"
    return pcs.inventory(learner.here / "pcs.yml", more=wish)


@pytest.fixture(scope="module")
def first(learner: Beowulf, inventory: Path) -> str:
    """What the first run says; afterwards all that was asked for stands."""
    return learner("setup", inventory)


class Served:
    """JupyterLab on node00, started by hand, and how it is asked from there."""

    def __init__(self, pcs: Hall) -> None:
        self.pcs = pcs
        said = pcs.at("node00", "/opt/beowulf/bin/jupyterlab --address").strip()
        self.url, _, self.token = said.partition("/beowulf/home?token=")
        script = (
            "cd; setsid /opt/beowulf/bin/jupyterlab </dev/null >/tmp/jupyterlab.log 2>&1 & echo $!"
        )
        self.process = pcs.at("node00", script).strip()

        def answers() -> bool:
            assert self.runs(), self.log()
            return self.code("") == "200"

        wait_until(answers, "JupyterLab answers")

    def runs(self) -> bool:
        return bool(self.pcs.at("node00", f"ls -d /proc/{self.process} 2>/dev/null", code=None))

    def log(self) -> str:
        return self.pcs.at("node00", "cat /tmp/jupyterlab.log")

    def code(self, token: str, host: str = "127.0.0.1", path: str = "api") -> str:
        ask = f"curl -s -o /dev/null -w '%{{http_code}}' -H 'Authorization: token {token}'"
        return self.pcs.at("node00", f"{ask} http://{host}:8888/{path}", code=None)

    def type(self, line: str, until: str) -> str:
        enter = ["nsenter", f"--target={self.pcs._pid('node00')}", "--net"]
        script = Path(__file__).parent.parent / "jupyter.py"
        done = subprocess.run(
            [*enter, sys.executable, str(script), self.url, self.token, line, until],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=PATIENCE_S,
        )
        assert done.returncode == 0, f"{done.stdout}\n{self.log()}"
        return done.stdout

    def end(self) -> None:
        self.pcs.at("node00", f"kill {self.process}")
        wait_until(lambda: not self.runs(), "JupyterLab ends")


@pytest.fixture(scope="module")
def served(first: str, pcs: Hall) -> Iterator[Served]:
    found = Served(pcs)
    yield found
    found.end()


@pytest.mark.nightly
@pytest.mark.cluster
def test_jupyterlab_comes_to_the_master_alone_and_once(
    first: str, learner: Beowulf, pcs: Hall, inventory: Path
) -> None:
    line = next(line for line in first.splitlines() if line.startswith("node00: "))
    assert "make a token for JupyterLab" in line
    assert pcs.at("node00", "stat -c %a ~/.config/beowulf/jupyter-token").strip() == "600"
    assert pcs.at("node01", "ls /opt/beowulf/bin 2>/dev/null", code=None) == ""
    again = learner("setup", inventory).splitlines()[:2]
    assert again == ["node00: nothing to do", "node01: nothing to do"]


@pytest.mark.cluster
@pytest.mark.nightly
def test_jupyterlab_lets_in_who_has_the_token_and_is_not_heard_outside(served: Served) -> None:
    assert len(served.token) >= 32
    assert served.code(served.token, path="api/contents") == "200"
    for token in ("", "x", served.token[:-1]):
        assert served.code(token, path="api/contents") == "403"
    assert served.code(served.token, host=served.pcs.address("node00")) == "000"


@pytest.mark.nightly
@pytest.mark.cluster
def test_in_jupyterlab_the_labs_lie_ready_and_programs_run_on_all_machines(served: Served) -> None:
    said = served.type("ls; beowulf run -n 2 01-validation/ring.c; echo ended: $?", r"ended: \d")
    assert "01-validation" in said
    assert "the token came home after 2 hops" in said, f"{said}\n{served.log()}"
    assert "on node01" in said


@pytest.mark.nightly
@pytest.mark.cluster
def test_undo_takes_jupyterlab_and_its_token_away(
    first: str, learner: Beowulf, pcs: Hall, inventory: Path
) -> None:
    """The last test of this file: it takes the cluster away."""
    assert "serve JupyterLab no more" in learner("setup", inventory, "--undo")
    assert pcs.at("node00", "ls -d /opt/beowulf ~/.config/beowulf 2>/dev/null; true") == ""
