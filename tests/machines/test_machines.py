"""Does what README says work on a fresh machine of each system, as root, as an ordinary user, and in a container?

`make machines` runs this and nothing else does, but for the two newest systems in `.ci/run`. It needs root, and some
minutes for each system.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.machines import table, userland
from tests.machines.userland import SUITES, Suite

pytestmark = pytest.mark.machines

HERE = Path(__file__).resolve().parent
WAYS = ("root", "learner", "container")
EVERY = [(suite, way) for suite in SUITES for way in WAYS]
# In each run of CI: both of the newest systems, every way once.
QUICK = [(SUITES[1], "root"), (SUITES[3], "learner"), (SUITES[3], "container")]
CHOSEN = QUICK if os.environ.get("QUICK") else EVERY
# What depends on a system's own tools: the cluster, ssh, MPICH, tshark, SimGrid, the programs that are installed.
TESTS = (
    "tests/cluster tests/capture tests/suites tests/test_doctor.py tests/test_engines.py tests/test_foundation.py"
    " tests/test_lab_command.py tests/test_mpi.py tests/test_node_benchmarks.py tests/timeline"
)
LONGEST_TESTS_S = 3600


@pytest.fixture(scope="session")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with what is committed here, to be cloned, and the walk."""
    folder = tmp_path_factory.mktemp("checkout")
    words = ["git", "clone", "--quiet", "--bare", str(userland.ROOT), str(folder / "labs.git")]
    subprocess.run(words, check=True)
    shutil.copy(HERE / "walk.py", folder)
    shutil.copy(userland.ROOT / "tests" / "forbidden.py", folder)
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


def entered(suite: Suite, way: str, checkout: Path, command: str) -> int:
    """Run a line of shell on a fresh machine; its exit code. Skips where no userland can be made."""
    confined = "python3 /srv/forbidden.py " if way == "container" else ""
    line = f"git config --global --add safe.directory '*'; {confined}{command}"
    try:
        user = "learner" if way == "learner" else "root"
        return userland.run(suite, checkout, ["bash", "-c", line], user=user)
    except userland.UnavailableError as why:
        pytest.skip(f"No {suite.title} here: {why}.")


@pytest.mark.timeout(3600)
@pytest.mark.parametrize(
    ("suite", "way"), CHOSEN, ids=[f"{suite.name}-{way}" for suite, way in CHOSEN]
)
def test_a_newcomer_comes_to_a_graded_lab(suite: Suite, way: str, checkout: Path) -> None:
    report = checkout / "report.jsonl"
    report.write_text("")
    report.chmod(0o666)
    code = entered(
        suite, way, checkout, f"python3 /srv/walk.py {way} /srv/report.jsonl /srv/labs.git"
    )
    steps = [json.loads(line) for line in report.read_text().splitlines()]
    table.keep(suite, way, steps, datetime.now(UTC))
    failures = [f"{step['step']}: {step['failure']}" for step in steps if step["failure"]]
    assert not failures, "\n".join(failures)
    assert code == 0


@pytest.mark.skipif(bool(os.environ.get("QUICK")), reason="takes half an hour each")
@pytest.mark.timeout(LONGEST_TESTS_S)
@pytest.mark.parametrize("suite", SUITES, ids=[suite.name for suite in SUITES])
def test_what_depends_on_a_systems_tools(suite: Suite, checkout: Path) -> None:
    command = (
        "bash -c 'git clone -q /srv/labs.git ~/labs && cd ~/labs && bash cluster_setup/bootstrap.sh test"
        f" && .venv/bin/python -m pytest -q -n 2 --dist loadfile {TESTS}'"
    )
    assert entered(suite, "root", checkout, command) == 0
