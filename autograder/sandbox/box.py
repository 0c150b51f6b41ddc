"""The box that a learner's notebook runs in: bubblewrap's namespaces, a read-only system, no network, little room.

Nothing of a course is in it. The only way in is a pipe with the notebook and what was handed in beside it; the only
way out is a pipe of which the grader reads as much as it needs. What is written in the box disappears with it.
"""

from __future__ import annotations

import json
import os
import select
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import TracebackType

from beowulf import paths
from beowulf.errors import LabError

BWRAP = "bwrap"
HOME = "/home/learner"
RECORDED = f"{HOME}/records"
PLACES_TO_WRITE = (HOME, "/tmp", "/dev/shm")
# Linux's flags for clone(2); bubblewrap makes all of these, and a process that enters the box enters them.
NEW_USER = 0x10000000
NEW_ALL = 0x00020000 | 0x02000000 | 0x04000000 | 0x08000000 | 0x20000000 | 0x40000000
# Nobody's account. Where there are so many IDs, each box has one of its own, so that one learner's processes are not
# counted among another's; accounts of people are below.
NOBODY = 65534
FIRST_OWN_UID = 1_900_000_000
LARGEST_PID, PLACES = 1 << 22, 32  # of Linux; and all of these IDs are below 1 << 31
LONGEST_START_S = 120.0
FILE_BYTES = 2048  # of the kernel's memory for each file, also an empty one
# The kernel keeps as much for a socket that nobody reads, in no process' memory; so few files may be sockets uncounted.
SOCKET_BYTES, FREE_FILES = 212_992, 1000
# What a program finds in /etc; no accounts, no keys.
ETC = (
    "alternatives",
    "fonts",
    "ld.so.cache",
    "ld.so.conf",
    "ld.so.conf.d",
    "localtime",
    "mime.types",
    "timezone",
    "wireshark",  # what its Lua scripts need, and so our dissector
)
WHY_NOT = "Learners' code is not run without it."


@dataclass(frozen=True)
class Limits:
    """What one notebook may use and whether our pictures are drawn; what it writes to its disk is held in memory."""

    cell_s: float = 30.0
    notebook_s: float = 180.0
    memory_bytes: int = 1 << 30
    disk_bytes: int = 256 << 20
    processes: int = 100
    output_bytes: int = 10_000_000
    pictures: bool = False


class Box:
    """A box that exists as long as the `with` block; `pid` is its first process, on this side of the wall."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.uid = _own_uid()
        self.namespaces = NEW_ALL if self.uid else NEW_ALL | NEW_USER

    def __enter__(self) -> Box:
        info_read, info_write = os.pipe()
        passwd = _pipe_with(f"learner:x:{self.uid or _uid_inside()}:{NOBODY}::{HOME}:/bin/sh\n")
        try:
            self._process = subprocess.Popen(
                list(self._words(info_write, passwd)),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                pass_fds=(info_write, passwd),
                start_new_session=True,
                env={"PATH": os.defpath},
            )
        except OSError as problem:
            os.close(info_read)
            raise LabError(
                f"The sandbox cannot be made: {BWRAP} is missing ({problem.strerror}). {WHY_NOT}",
                "`sudo apt-get install bubblewrap`, or `beowulf doctor --fix`.",
            ) from None
        finally:
            os.close(info_write)
            os.close(passwd)
        try:
            with open(info_read, "rb") as info:
                self._await_echo()
                self.pid = int(json.loads(info.read())["child-pid"])
            self.handle = os.pidfd_open(self.pid)
        except (OSError, ValueError, KeyError) as problem:
            raise self._refusal(problem) from None
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        with suppress(ProcessLookupError, PermissionError):
            # Its first process takes all others of its namespace along.
            signal.pidfd_send_signal(self.handle, signal.SIGKILL)
        select.select([self.handle], [], [], LONGEST_START_S)
        os.close(self.handle)
        self._end()

    def used_bytes(self) -> int:
        """The memory that the box takes now: of its processes, of its disk, and what its sockets may hold."""
        inside = Path(f"/proc/{self.pid}/root")
        written = 0
        for place in PLACES_TO_WRITE:
            with suppress(OSError):
                disk = os.statvfs(inside / place.lstrip("/"))
                written += (disk.f_blocks - disk.f_bfree) * disk.f_frsize
                written += (disk.f_files - disk.f_ffree) * FILE_BYTES
        processes = [inside / "proc" / name for name in _numbers(inside / "proc")]
        written += SOCKET_BYTES * max(0, sum(map(_open_files, processes)) - FREE_FILES)
        quickly = written + sum(map(_resident_bytes, processes))
        if quickly <= self.limits.memory_bytes:
            return quickly
        # What several processes share is counted once for each there, and only once here.
        return written + sum(map(_share_bytes, processes))

    def _words(self, info_fd: int, passwd: int) -> Iterator[str]:
        yield from (BWRAP, "--die-with-parent", "--new-session", "--as-pid-1", "--clearenv")
        yield from ("--unshare-ipc", "--unshare-net", "--unshare-pid", "--unshare-uts")
        yield from ("--unshare-cgroup", "--hostname", "grading", "--info-fd", str(info_fd))
        if not self.uid:
            yield from ("--unshare-user", "--uid", str(_uid_inside()), "--gid", str(NOBODY))
        yield from ("--cap-drop", "ALL")
        yield from _system()
        yield from ("--perms", "0644", "--ro-bind-data", str(passwd), "/etc/passwd")
        yield from ("--proc", "/proc", "--dev", "/dev")
        for place in PLACES_TO_WRITE:
            yield from ("--perms", "1777", "--size", str(self.limits.disk_bytes), "--tmpfs", place)
        # After these, because a checkout may be in /tmp.
        for folder in shown():
            yield from _open_way(folder)
            yield from ("--ro-bind", str(folder), str(folder))
        yield from ("--remount-ro", "/dev", "--remount-ro", "/", "--chdir", "/")
        # It sends back the one byte that it gets, which shows that the box is ready; and it ends when we do.
        yield from ("--", "/bin/cat")

    def _await_echo(self) -> None:
        assert self._process.stdin
        assert self._process.stdout
        os.write(self._process.stdin.fileno(), b"\n")
        ready, _, _ = select.select([self._process.stdout], [], [], LONGEST_START_S)
        if not ready or not os.read(self._process.stdout.fileno(), 1):
            raise OSError("it does not start")

    def _refusal(self, problem: Exception) -> LabError:
        self._process.kill()
        assert self._process.stderr
        complaints = self._process.stderr.read(4000).decode(errors="replace").strip()
        self._end()
        first = (complaints.splitlines() or [str(problem)])[0]
        return LabError(f"The sandbox cannot be made: {first}. {WHY_NOT}", _hint())

    def _end(self) -> None:
        self._process.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout, self._process.stderr):
            assert stream
            with suppress(OSError):
                stream.close()


def shown() -> list[Path]:
    """The folders that the box shows beside the system's: Python with its packages, this project's own, the labs."""
    folders = {
        Path(sys.prefix),
        Path(sys.base_prefix),
        Path(sys.executable).resolve().parent.parent,
    }
    folders |= {paths.root() / "beowulf", paths.root() / "labs"}
    inner = {folder for folder in folders if folder.is_relative_to("/usr")}
    return sorted(folder for folder in folders - inner if folder.is_dir())


def refuse_if_shown(course: Path) -> None:
    """LabError for a course in a folder that the box shows: learners' code could read it."""
    for folder in [Path("/usr"), *shown()]:
        if course.resolve().is_relative_to(folder.resolve()):
            raise LabError(
                f"The course is in {folder}, which learners' code can read while it is graded.",
                "Move the course to another folder.",
            )


@cache
def check() -> None:
    """Try once whether a box can be made here; LabError with what to do when it cannot."""
    with Box(Limits()):
        pass


def _open_way(folder: Path) -> Iterator[str]:
    """The folders on the way to one, which else only root could go through."""
    for above in [*reversed(folder.parents)][1:]:
        yield from ("--perms", "0755", "--dir", str(above))


def _system() -> Iterator[str]:
    yield from ("--ro-bind", "/usr", "/usr")
    for name in ("bin", "sbin", "lib", "lib32", "lib64"):
        path = Path("/", name)
        if path.is_symlink():
            yield from ("--symlink", os.readlink(path), str(path))
        elif path.is_dir():
            yield from ("--ro-bind", str(path), str(path))
    yield from ("--perms", "0755", "--dir", "/etc")
    for name in ETC:
        yield from ("--ro-bind-try", f"/etc/{name}", f"/etc/{name}")


def _own_uid() -> int:
    """The ID that root gives to what runs in a box; 0 where we are an ordinary user, or root of few IDs."""
    if os.geteuid() != 0:
        return 0
    ranges = [line.split() for line in Path("/proc/self/uid_map").read_text().splitlines()]
    # On the nodes of a local cluster, processes have numbers of each node's own.
    here = os.stat("/proc/self/ns/pid").st_ino % PLACES
    own = FIRST_OWN_UID + here * LARGEST_PID + os.getpid() % LARGEST_PID
    for uid in (own, NOBODY):
        if any(int(first) <= uid < int(first) + int(count) for first, _, count in ranges):
            return uid
    return 0


def _uid_inside() -> int:
    return os.geteuid() or NOBODY


def _pipe_with(text: str) -> int:
    read, write = os.pipe()
    os.write(write, text.encode())
    os.close(write)
    return read


def _numbers(folder: Path) -> list[str]:
    with suppress(OSError):
        return [name for name in os.listdir(folder) if name.isdecimal()]
    return []


def _resident_bytes(process: Path) -> int:
    with suppress(OSError, ValueError):
        return int((process / "statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    return 0


def _open_files(process: Path) -> int:
    with suppress(OSError):
        # Linux has their number as the folder's size since 6.2.
        return (process / "fd").stat().st_size or len(os.listdir(process / "fd"))
    return 0


def _own_bytes(process: Path) -> int:
    with suppress(OSError, ValueError):
        _, resident, shared, *_ = map(int, (process / "statm").read_text().split())
        return (resident - shared) * os.sysconf("SC_PAGE_SIZE")
    return 0


def _share_bytes(process: Path) -> int:
    with suppress(OSError, ValueError):
        for line in (process / "smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) * 1024
        return 0
    return _own_bytes(process)


def _hint() -> str:
    from beowulf import doctor

    if not shutil.which(BWRAP):
        return "`sudo apt-get install bubblewrap`, or `beowulf doctor --fix`."
    check = doctor.namespaces()
    return check.hint or "`beowulf doctor` shows what this machine forbids; or grade as root."
