"""The trusted side of a run: a notebook goes into a fresh box, its cells' outputs come out, and nothing else."""

from __future__ import annotations

import atexit
import io
import json
import os
import select
import socket
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import IO, Any

from autograder.sandbox import box as sandbox
from autograder.sandbox.box import Box, Limits
from autograder.sandbox.enter import Allowance
from autograder.sandbox.runner import CELLS, FILES, Task
from beowulf.errors import LabError
from beowulf.figures.look import PICTURES

LOOK_EVERY_S = 0.2
# Over the notebook's own time: for the kernel's start, and then for the run to end by itself.
GRACE_S, END_S = 15.0, 2.0
LONGEST_IMPORT_S = 300.0
LARGEST_FILE_BYTES = 64 << 20
# An output that is shown again comes twice, and the JSON around it comes on top.
TIMES_THE_OUTPUT = 3
# A program's threads are no use on cores that other notebooks have, and each takes memory.
ALONE = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1") | {
    "MALLOC_ARENA_MAX": "2",
    "MPLBACKEND": "module://matplotlib_inline.backend_inline",
}
INSIDE = {
    **ALONE,
    "HOME": sandbox.HOME,
    "USER": "learner",
    "LOGNAME": "learner",
    "LANG": "C.UTF-8",
    "TZ": os.environ.get("TZ", "UTC"),
    "BEOWULF_RECORDED": sandbox.RECORDED,
    "NBGRADER_EXECUTION": "autograde",
    "IPYTHONDIR": "/tmp/.ipython",
    "JUPYTER_RUNTIME_DIR": "/tmp/.jupyter",
    "MPLCONFIGDIR": "/tmp/.matplotlib",
}
# Where libraries have their caches, such as the fonts of this machine.
PASSED_ON = ("HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "MPLCONFIGDIR", "TMPDIR", "TZ")


@dataclass(frozen=True)
class Ran:
    """What came of a run: outputs and counts by the places of the cells, and why it did not come to its end."""

    outputs: dict[int, list[dict[str, Any]]] = field(default_factory=dict)
    counts: dict[int, int | None] = field(default_factory=dict)
    reason: str = ""


@dataclass
class Deadline:
    """When a run is ended from outside: the moment can still change while it is listened to."""

    at: float


class ForkServer:
    """A fork server of our own, started when it is first needed; forks of this process may use it too."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._owner = os.getpid()

    def start(self) -> None:
        """Start the fork server if none runs; LabError when it cannot import what it needs."""
        if self._process is not None:
            return
        sandbox.check()
        ours, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._complaints = tempfile.TemporaryFile()  # noqa: SIM115, it is read when the fork server fails
        words = [sys.executable, "-P", "-m", "autograder.sandbox.fork_server", str(its.fileno())]
        self._process = subprocess.Popen(
            words,
            env={
                **ALONE,
                **{name: os.environ[name] for name in PASSED_ON if name in os.environ},
                "PATH": os.defpath,
                "LANG": "C.UTF-8",
            },
            cwd="/",
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=self._complaints,
            pass_fds=(its.fileno(),),
            start_new_session=True,
        )
        its.close()
        self._owner, self._orders = os.getpid(), ours
        self._ready = False

    def stop(self) -> None:
        """End the fork server; in a fork of the process that started it, nothing."""
        if self._process is None or self._owner != os.getpid():
            return
        self._orders.close()
        self._process.kill()
        self._process.wait()
        self._complaints.close()
        self._process = None

    def await_ready(self) -> None:
        """Wait until the fork server has imported everything."""
        if self._process and self._owner == os.getpid() and self._process.poll() is not None:
            self.stop()
        self.start()
        if self._ready:
            return
        self._orders.settimeout(LONGEST_IMPORT_S)
        with suppress(OSError):
            self._ready = bool(self._orders.recv(64))
        if not self._ready:
            self._complaints.seek(0)
            complaints = self._complaints.read().decode(errors="replace").strip().splitlines()
            self.stop()
            raise LabError(f"The kernels cannot be prepared: {(complaints or ['no reason'])[-1]}.")

    def run(self, cells: Mapping[int, str], folder: Path, limits: Limits) -> Ran:
        """Run the sources of `cells` beside a copy of the files in `folder`; LabError when there is no sandbox."""
        sandbox.refuse_if_shown(folder)
        self.await_ready()
        with Box(limits) as box, pack(cells, folder) as packed:
            into, out = os.pipe()
            try:
                order = json.dumps(_order(box, limits)).encode()
                socket.send_fds(self._orders, [order], [box.handle, packed.fileno(), out])
            except OSError as problem:
                os.close(into)
                raise LabError(
                    f"The prepared kernels are gone ({problem}).", "Grade again."
                ) from None
            finally:
                os.close(out)
            with open(into, "rb", buffering=0) as lines:
                return _listen(lines, box, limits)


_shared = ForkServer()
atexit.register(_shared.stop)


def shared() -> ForkServer:
    """The fork server that this process and its forks share."""
    return _shared


def pack(cells: Mapping[int, str], folder: Path) -> IO[bytes]:
    """Sources and files, as what goes into the box; links and what is no file stay out."""
    packed = os.fdopen(os.memfd_create("handed-in"), "w+b")
    with tarfile.open(fileobj=packed, mode="w") as tar:
        _add(tar, CELLS, json.dumps({str(place): text for place, text in cells.items()}).encode())
        for path in sorted(folder.rglob("*")):
            if path.is_symlink() or not path.is_file() or path.suffix == ".ipynb":
                continue
            _add(tar, f"{FILES}/{path.relative_to(folder)}", path.read_bytes())
    packed.flush()
    packed.seek(0)
    return packed


def _add(tar: tarfile.TarFile, name: str, content: bytes) -> None:
    member = tarfile.TarInfo(name)
    member.size = len(content)
    tar.addfile(member, io.BytesIO(content))


def _order(box: Box, limits: Limits) -> dict[str, Any]:
    path = os.pathsep.join([str(Path(sys.executable).parent), "/usr/local/bin", "/usr/bin", "/bin"])
    return {
        "namespaces": box.namespaces,
        "uid": box.uid,
        "environment": {**INSIDE, "PATH": path, PICTURES: "yes" if limits.pictures else "no"},
        "task": asdict(Task(sandbox.HOME, limits.cell_s, limits.notebook_s, limits.output_bytes)),
        "allowance": asdict(
            Allowance(
                seconds=int(limits.notebook_s + GRACE_S),
                memory_bytes=limits.memory_bytes,
                file_bytes=min(LARGEST_FILE_BYTES, limits.disk_bytes),
                processes=limits.processes,
            )
        ),
    }


def _listen(lines: IO[bytes], box: Box, limits: Limits) -> Ran:
    """Read lines until the one that ends the run, or until a limit of time or memory."""
    ran = Ran()
    deadline = Deadline(time.monotonic() + limits.notebook_s + GRACE_S)
    inside = ready = False
    for line, why in _lines(lines, box, limits, deadline):
        if why:
            return Ran(ran.outputs, ran.counts, why)
        try:
            message = json.loads(line)
            if not inside and "refused" in message:
                raise LabError(f"{message['refused'][:300]}. {sandbox.WHY_NOT}", "`beowulf doctor`")
            inside = inside or "inside" in message
            if not ready and "ready" in message:
                # From now on a learner's code may stop what reports the run.
                ready, deadline.at = True, time.monotonic() + limits.notebook_s + END_S
            if "end" in message:
                return Ran(ran.outputs, ran.counts, str(message["end"])[:300])
            if "place" in message:
                place = int(message["place"])
                ran.outputs[place] = message["outputs"]
                ran.counts[place] = message["count"]
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
            return Ran(ran.outputs, ran.counts, "what came out of the sandbox cannot be read")
    if not inside:
        raise LabError(f"The sandbox could not be entered. {sandbox.WHY_NOT}", "`beowulf doctor`")
    return Ran(ran.outputs, ran.counts, "the run was ended from within, or by a limit")


def _lines(
    lines: IO[bytes], box: Box, limits: Limits, deadline: Deadline
) -> Iterator[tuple[bytes, str]]:
    """Whole lines; or an empty one with the reason why no more are taken."""
    rest: list[bytes] = []
    left_bytes = TIMES_THE_OUTPUT * limits.output_bytes + (1 << 20)
    looked = time.monotonic()
    while True:
        ready, _, _ = select.select([lines], [], [], LOOK_EVERY_S)
        now = time.monotonic()
        if now > deadline.at:
            yield b"", f"TimeoutError: the notebook ran longer than {limits.notebook_s:g} s"
            return
        if now - looked >= LOOK_EVERY_S:
            looked = now
            if box.used_bytes() > limits.memory_bytes:
                most = f"{limits.memory_bytes >> 20} MiB"
                yield b"", f"MemoryError: the notebook took more than {most} of memory"
                return
        if not ready:
            continue
        chunk = lines.read(1 << 16)
        if not chunk:
            return
        left_bytes -= len(chunk)
        if left_bytes < 0:
            yield b"", f"its outputs are larger than {limits.output_bytes / 1e6:g} MB"
            return
        first, *whole = chunk.split(b"\n")
        rest.append(first)
        for each in whole:
            yield b"".join(rest), ""
            rest = [each]
