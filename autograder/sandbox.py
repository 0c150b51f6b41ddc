"""A learner's functions in C (lab 09), compiled and simulated in a box: their times are the same on every machine.

The box is one call of bubblewrap: a read-only system, no network, no privileges, little room. Nothing of a course is in
it. The source goes in by stdin; what comes out may be anything, and is read once.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from beowulf import paths
from beowulf.cluster.simulated.cluster import SMPIRUN
from beowulf.desk import doctor
from beowulf.errors import LabError
from beowulf.labs.lab_09.stairs import BY_NAME, LONGEST_SOURCE, STEPS, Outcome

BWRAP = "bwrap"
LONGEST_S = 65.0
# SimGrid keeps what it sends in one process, and reserves a stack for each rank; rank.c limits each rank's own.
MEMORY_BYTES, DISK_BYTES, ANSWER_BYTES = 3 << 30, 256 << 20, 1_000_000
PROCESSES = 40 + max(step.ranks for step in STEPS)
NOBODY = 65534
# Root gives each box an account of its own, so that one learner's processes are not counted among another's. Accounts
# of people are below.
FIRST_OWN_UID = 1_900_000_000
WHY_NOT = "Learners' programs are not run without it."
# What runs in the box: the same function that a learner's notebook calls.
INSIDE = f"""
import json, os, resource, sys
if uid := int(sys.argv[1]):
    os.setgroups([])
    os.setresgid(uid, uid, uid)
    os.setresuid(uid, uid, uid)
for name, most in {{
    "CORE": 0,
    "CPU": {LONGEST_S:.0f},
    "AS": {MEMORY_BYTES},
    "FSIZE": {DISK_BYTES},
    "NPROC": {PROCESSES},
}}.items():
    resource.setrlimit(getattr(resource, f"RLIMIT_{{name}}"), (most, most))
from beowulf.errors import LabError
from beowulf.labs.lab_09 import stairs
try:
    found = stairs.outcomes(sys.stdin.read(), quiet=True)
    print(json.dumps({{name: [each.ms if not each.why else 0.0, each.why[:500]] for name, each in found.items()}}))
except LabError as problem:
    print(json.dumps({{"": [0.0, problem.message[:500]]}}))
"""


@dataclass
class Simulator:
    """Simulates the sources of one hand-in, all within `left_s`."""

    left_s: float = LONGEST_S
    _found: dict[str, dict[str, Outcome]] = field(default_factory=dict)

    def __call__(self, source: str) -> dict[str, Outcome]:
        """What each step of a source takes, or why it has no time; LabError where nothing can be simulated."""
        if source not in self._found:
            self._found[source] = self._outcomes(source)
        return self._found[source]

    def _outcomes(self, source: str) -> dict[str, Outcome]:
        if not shutil.which(SMPIRUN):
            raise LabError(
                "SimGrid is not installed, so nothing can be simulated.",
                "`apt install libsimgrid-dev` installs it; then grade again.",
            )
        if len(source) > LONGEST_SOURCE:
            return _all(f"the source has more than {LONGEST_SOURCE:,} characters")
        if not all(each.isprintable() or each in "\t\n\r\f\v" for each in set(source)):
            return _all("the source has characters that do not belong in a text file")
        began = time.monotonic()
        try:
            answer = _run(source, self.left_s)
        except subprocess.TimeoutExpired:
            return _all("compiling and simulating took too long")
        finally:
            self.left_s = max(0.0, self.left_s - (time.monotonic() - began))
        try:
            said = {
                str(n): Outcome(float(ms), str(why)[:500])
                for n, (ms, why) in json.loads(answer).items()
            }
        except (ValueError, TypeError, AttributeError, RecursionError):
            return _all("the simulation ended before its result")
        return _all(said[""].why) if "" in said else said


def _all(why: str) -> dict[str, Outcome]:
    return dict.fromkeys(BY_NAME, Outcome(why=why))


def _run(source: str, longest_s: float) -> bytes:
    """What the box prints; LabError where it cannot be made, TimeoutExpired where it takes too long."""
    uid = _own_uid()
    words = [*_words(uid), sys.executable, "-P", "-c", INSIDE, str(uid)]
    with tempfile.TemporaryFile() as answer:
        try:
            done = subprocess.run(
                words,
                input=source.encode("utf-8", "replace"),
                stdout=answer,
                stderr=subprocess.PIPE,
                timeout=longest_s,
                env={"PATH": os.defpath},
                start_new_session=True,
            )
        except OSError as problem:
            raise LabError(
                f"The sandbox cannot be made: {BWRAP} is missing ({problem.strerror}). {WHY_NOT}",
                "`sudo apt-get install bubblewrap` installs it, or `beowulf doctor --fix`.",
            ) from None
        if done.stderr.startswith(b"bwrap:"):
            first = done.stderr.decode(errors="replace").splitlines()[0]
            hint = (
                doctor.namespaces().hint
                or "`beowulf doctor` shows what this machine forbids; or grade as root."
            )
            raise LabError(f"The sandbox cannot be made: {first}. {WHY_NOT}", hint)
        answer.seek(0)
        return answer.read(ANSWER_BYTES)


def _own_uid() -> int:
    """The account that root gives to what runs in a box; 0 where we are an ordinary user, or root of few IDs."""
    if os.geteuid() != 0:
        return 0
    ranges = [line.split() for line in Path("/proc/self/uid_map").read_text().splitlines()]
    for uid in (FIRST_OWN_UID + os.getpid(), NOBODY):
        if any(int(first) <= uid < int(first) + int(count) for first, _, count in ranges):
            return uid
    return 0


def _words(uid: int) -> Iterator[str]:
    yield from (BWRAP, "--die-with-parent", "--new-session", "--clearenv", "--cap-drop", "ALL")
    yield from (f"--unshare-{each}" for each in ("ipc", "net", "pid", "uts", "cgroup"))
    if uid:
        yield from ("--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID")
    else:
        yield from ("--unshare-user", "--uid", str(NOBODY), "--gid", str(NOBODY))
    yield from ("--ro-bind", "/usr", "/usr")
    for path in (Path("/", name) for name in ("bin", "sbin", "lib", "lib32", "lib64")):
        if path.is_symlink():
            yield from ("--symlink", os.readlink(path), str(path))
        elif path.is_dir():
            yield from ("--ro-bind", str(path), str(path))
    yield from ("--perms", "0755", "--dir", "/etc")
    for name in ("alternatives", "ld.so.cache", "ld.so.conf", "ld.so.conf.d"):
        yield from ("--ro-bind-try", f"/etc/{name}", f"/etc/{name}")
    yield from ("--proc", "/proc", "--dev", "/dev")
    for place in ("/tmp", "/dev/shm"):
        yield from ("--perms", "1777", "--size", str(DISK_BYTES), "--tmpfs", place)
    # After /tmp, because a checkout may be there.
    for folder in _shown():
        for above in [*reversed(folder.parents)][1:]:  # which else only root could go through
            yield from ("--perms", "0755", "--dir", str(above))
        yield from ("--ro-bind", str(folder), str(folder))
    programs = [str(Path(sys.executable).parent), "/usr/local/bin", "/usr/bin", "/bin"]
    yield from ("--setenv", "PATH", os.pathsep.join(programs))
    yield from ("--setenv", "PYTHONPATH", str(paths.root()))
    yield from ("--setenv", "HOME", "/tmp", "--setenv", "LANG", "C.UTF-8")
    yield from ("--remount-ro", "/dev", "--remount-ro", "/", "--chdir", "/tmp", "--")


def _shown() -> list[Path]:
    """What the box shows beside the system's folders: Python with its packages, this project's own, the labs."""
    python = Path(sys.executable).resolve().parent.parent
    folders = {Path(sys.prefix), Path(sys.base_prefix), python}
    folders |= {paths.root() / "beowulf", paths.root() / "labs"}
    return sorted(each for each in folders if each.is_dir() and not each.is_relative_to("/usr"))
