"""Is the box in which a learner's C is simulated one that nothing of a course is in, and that nothing gets out of?"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from other_user import ada, give

from autograder import sandbox
from beowulf.errors import LabError
from beowulf.labs.lab_09.stairs import BY_NAME

LOOK = """
import json, os, resource, socket
def opens(path, mode):
    try:
        open(path, mode).close()
        return True
    except OSError:
        return False
def forks():
    for number in range(1000):
        try:
            if not os.fork():
                import time
                time.sleep(60)
        except OSError:
            return number
print(json.dumps({
    "uid": os.getuid(),
    "reads": [path for path in ("/etc/shadow", "/var", COURSE) if os.path.exists(path)],
    "writes": [path for path in ("/x", "/usr/x", "/etc/x", "/dev/x", HERE + "/x", "/tmp/x") if opens(path, "w")],
    "cards": [name for _, name in socket.if_nameindex()],
    "processes": len([name for name in os.listdir("/proc") if name.isdecimal()]),
    "forks": forks(),
    "environment": sorted(os.environ),
}))
"""
SETUP = sandbox.INSIDE[: sandbox.INSIDE.index("from beowulf.errors")]


def look(course: Path) -> dict[str, Any]:
    """What a program finds in the box."""
    uid = sandbox._own_uid()
    places = f"COURSE, HERE = {str(course)!r}, {str(Path(sandbox.__file__).parent)!r}\n"
    words = [*sandbox._words(uid), sys.executable, "-P", "-c", SETUP + places + LOOK, str(uid)]
    done = subprocess.run(words, capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@pytest.fixture
def boxed(namespaces_work: None) -> None:
    if not sandbox.shutil.which(sandbox.BWRAP):
        pytest.skip("bubblewrap is not installed")


def test_a_box_shows_a_system_and_nothing_of_a_course(boxed: None, tmp_path: Path) -> None:
    found = look(tmp_path)
    assert found["uid"] != 0
    assert found["reads"] == []
    assert found["writes"] == ["/tmp/x"]
    assert found["cards"] == ["lo"]
    assert found["processes"] <= 3
    assert 0 < found["forks"] <= sandbox.PROCESSES
    assert not [name for name in found["environment"] if name.startswith("BEOWULF")]


AS_ADA = """
from autograder import sandbox
import subprocess, sys
words = [*sandbox._words(0), sys.executable, '-P', '-c', {code!r}, '0']
print(subprocess.run(words, capture_output=True, text=True).stdout)
"""


@pytest.fixture
def ordinary() -> Iterator[Any]:
    with ada() as learner:
        give(learner)
        yield learner


@pytest.mark.rootless
def test_an_instructor_who_is_an_ordinary_user_has_the_same_box(boxed: None, ordinary: Any) -> None:
    code = SETUP + "COURSE = HERE = '/nowhere'\n" + LOOK
    printed = ordinary.python(AS_ADA.format(code=code))
    found = json.loads(next(line for line in printed.splitlines() if line.startswith("{")))
    assert found["writes"] == ["/tmp/x"]
    assert found["cards"] == ["lo"]
    assert 0 < found["forks"] <= sandbox.PROCESSES


@pytest.mark.parametrize("answer", ["", '{"naive": 3}', "[" * 100_000, '{"naive": ["x", ""]}'])
def test_what_comes_out_of_the_box_may_be_anything(
    answer: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sandbox, "SMPIRUN", "true")
    monkeypatch.setattr(sandbox, "_run", lambda *_: answer.encode())
    found = sandbox.Simulator()("int unique;")
    assert {name: each.why for name, each in found.items()} == dict.fromkeys(
        BY_NAME, "the simulation ended before its result"
    )


def test_sources_share_the_time_and_what_takes_longer_is_ended(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    stays = tmp_path / "bwrap"
    stays.write_text("#!/bin/sh\nexec sleep 1000\n")
    stays.chmod(0o755)
    monkeypatch.setattr(sandbox, "SMPIRUN", "true")
    monkeypatch.setattr(sandbox, "BWRAP", str(stays))
    simulator = sandbox.Simulator(0.2)
    assert simulator("int a;")["naive"].why == "compiling and simulating took too long"
    assert simulator.left_s == 0
    assert simulator("int b;") == simulator("int a;")


@pytest.mark.parametrize(
    ("program", "said"),
    [
        ("", r"is missing .*not run without it.*apt-get install bubblewrap"),
        ("echo 'bwrap: No permissions to create new namespace' >&2; exit 1", "No permissions"),
    ],
    ids=["not installed", "forbidden"],
)
def test_where_no_box_can_be_made_nothing_is_run_and_the_reason_is_said(
    program: str, said: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    bwrap = tmp_path / "bwrap"
    if program:
        bwrap.write_text(f"#!/bin/sh\n{program}\n")
        bwrap.chmod(0o755)
    monkeypatch.setattr(sandbox, "SMPIRUN", "true")
    monkeypatch.setattr(sandbox, "BWRAP", str(bwrap))
    with pytest.raises(LabError, match=said):
        sandbox.Simulator()("int unique;")
