"""A learner at the command line, and what is left of a cluster."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest

from beowulf import paths
from beowulf.cli.commands import put_together
from beowulf.cluster.common.shells import SHELL, completed
from beowulf.cluster.holding.lock import LockedError
from beowulf.cluster.namespaces import cluster as namespaces
from beowulf.cluster.namespaces.cluster import NamespaceCluster
from beowulf.labs.lab_01.a2_validation import FREE_MEMORY
from beowulf.record import Record
from beowulf.this_machine import host_state

COMMAND = str(paths.python_bin() / "beowulf")
app = put_together()
# Of one command, and of one wait: so long only where something hangs, however busy the machine is.
PATIENCE_S = 240.0
# What mpiexec starts where no MPI is needed. It lives for a moment: when the input of MPICH 3.4's mpiexec ends just as
# the ranks do, mpiexec fails (exit code 255 or 141), since it passes the end on to a helper that is gone.
HOSTNAME = "sh -c 'hostname; sleep 0.5'"


def first(number: int, cases: Iterable[Any]) -> list[Any]:
    """Of cases that fail alike: so many in every run, and the others in `make nightly`."""
    cases = list(cases)
    return cases[:number] + [
        pytest.param(*(case if isinstance(case, tuple) else (case,)), marks=pytest.mark.nightly)
        for case in cases[number:]
    ]


class Beowulf:
    """The command line of a learner whose cluster's files are in `state`, and who is in the folder `here`."""

    def __init__(self, state: Path, here: Path, prefix: tuple[str, ...] = ()) -> None:
        self.state, self.here, self.prefix = state, here, prefix
        self.command = (COMMAND,)
        self.temporary = here / "tmp"
        self.temporary.mkdir(exist_ok=True)
        self.environment = {
            **os.environ,
            "BEOWULF_STATE": str(state),
            "BEOWULF_NO_BROWSER": "1",
            "TMPDIR": str(self.temporary),
            "COLUMNS": "200",
        }

    def __call__(
        self,
        *words: str | Path,
        code: int | None = 0,
        stdin: str = "",
        timeout_s: float = PATIENCE_S,
        **environment: str,
    ) -> str:
        """Run a command that is to end with `code` (None: any); what it says, never with a traceback."""
        done = self._ended(self.words(*words), stdin, timeout_s, environment)
        assert "Traceback" not in done.stdout, done.stdout
        assert code in (None, done.returncode), (
            f"exit code {done.returncode}, not {code}:\n{done.stdout}"
        )
        return done.stdout

    def start(self, *words: str | Path, **environment: str) -> subprocess.Popen[str]:
        """The same without waiting for its end; stdout and stderr come together."""
        return subprocess.Popen(
            self.words(*words),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            cwd=self.here,
            env={**self.environment, **environment},
        )

    def python(self, script: str, *, code: int = 0) -> str:
        """Run a script in the learner's own Python."""
        file = self.here / "script.py"
        file.write_text(script)
        python = str(paths.python_bin() / "python")
        done = self._ended([*self.prefix, python, str(file)])
        assert done.returncode == code, done.stdout
        return done.stdout

    def typed(self, text: str, *words: str | Path, code: int | None = 0, **environment: str) -> str:
        """What a terminal shows in which a command gets this text, and ends with `code` (None: any)."""
        inside = ["script", "-qec", shlex.join(self.words(*words)), "/dev/null"]
        done = self._ended(inside, text, environment=environment)
        assert code in (None, done.returncode), done.stdout
        return done.stdout

    def _ended(
        self,
        words: list[str],
        stdin: str = "",
        timeout_s: float = PATIENCE_S,
        environment: Mapping[str, str] = MappingProxyType({}),
    ) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            words,
            input=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            timeout=timeout_s,
            cwd=self.here,
            env={**self.environment, **environment},
        )

    def words(self, *words: str | Path) -> list[str]:
        return [*self.prefix, *self.command, *map(str, words)]

    @property
    def cluster(self) -> NamespaceCluster:
        """The cluster that runs."""
        cluster = namespaces.running(self.state)
        assert cluster, "no cluster is running"
        return cluster

    def processes(self) -> list[str]:
        """The command lines of all processes that belong to this cluster, or were started by this learner."""
        return [words for _, words in _with(str(self.state))]

    def pids(self) -> list[int]:
        """Their numbers."""
        return [pid for pid, _ in _with(str(self.state))]

    def down(self) -> None:
        namespaces.down(folder=self.state)

    def end(self) -> None:
        """Whatever happened: nothing of this learner runs any more."""
        try:
            self.down()
        except LockedError:  # a test has left a measurement
            self._kill()
            self.down()
        finally:
            self._kill()

    def _kill(self) -> None:
        for pid, _ in _with(str(self.state)):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


def next_line(process: subprocess.Popen[str]) -> str:
    """The next line that a process prints, without its end."""
    assert process.stdout
    return process.stdout.readline().rstrip("\n")


class Learner(Beowulf):
    """A learner who is not the user that runs the tests: all that is done is done by commands."""

    def __init__(self, state: Path, here: Path, prefix: tuple[str, ...] = (), *, uid: int) -> None:
        super().__init__(state, here, prefix)
        self.uid = uid

    def down(self) -> None:
        self("down")


def _with(text: str) -> list[tuple[int, str]]:
    """Processes with `text` among their words or in their environment."""
    running = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit() or int(entry.name) == os.getpid():
            continue
        try:
            words = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            environment = (entry / "environ").read_bytes().decode(errors="replace")
        except OSError:
            continue  # it ended, or is another user's
        if text in words or text in environment:
            running.append((int(entry.name), words))
    return running


def at_switch(cluster: NamespaceCluster, command: str) -> str:
    """What a line of shell prints in the switch's network."""
    done = completed([*cluster.enter_switch(), *SHELL], command, PATIENCE_S, "")
    assert done.returncode == 0, done.stderr
    return done.stdout


def wait_until(ready: Callable[[], object], what: str, patience_s: float = PATIENCE_S) -> None:
    """Look again and again, until `ready` says so; fail with `what` was waited for."""
    deadline = time.monotonic() + patience_s
    while not ready():
        assert time.monotonic() < deadline, f"{what}: not within {patience_s:g} s"
        time.sleep(0.01)


def nothing_runs(learner: Beowulf) -> None:
    """Wait until nothing of a learner's runs any more: what was killed still needs a core to end."""
    wait_until(lambda: not learner.processes(), "nothing of the learner's runs any more")


def warned(record: Record) -> list[str]:
    """A Record's warnings but for those of the load: tests run on a busy machine, too."""
    return record.warnings[len(host_state.busy(record.circumstances["before"])) :]


def unfulfilled(validation: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Verdicts of a validation that do not hold, but for that on the memory that other programs leave free."""
    assert FREE_MEMORY in {each["claim"] for each in validation}
    every = [each for each in validation if each["claim"] != FREE_MEMORY]
    return [each for each in every if each["outcome"] != "holds"]


def traces(learner: Beowulf) -> dict[str, set[str]]:
    """What a cluster could leave on this machine, except processes."""
    interfaces = subprocess.run(["ip", "-brief", "link"], capture_output=True, text=True)
    mounts = Path("/proc/self/mounts").read_text().splitlines()
    paths = ("/run", "/run/lock", "/dev/shm", "/tmp", learner.temporary)
    return {
        "interfaces": {line.split()[0] for line in interfaces.stdout.splitlines()},
        "mounts": {line for line in mounts if str(learner.here) in line or "beowulf" in line},
        # Others use /tmp too; what our commands make there has our name, or goes to `temporary`.
        "files": {
            str(path)
            for place in paths
            for path in Path(place).iterdir()
            if place == learner.temporary or "ssh-node" in path.name
        },
    }
