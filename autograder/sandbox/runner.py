"""What runs inside the box, forked from a Python that has imported everything: a kernel, and nbclient that drives it.

Each cell's outputs go out as a line of JSON when the cell has ended, so that what was done is kept if the rest fails.
"""

from __future__ import annotations

import asyncio
import json
import math
import os
import signal
import tarfile
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from queue import Empty
from typing import IO, Any

import nbformat.v4
from jupyter_client.asynchronous.client import AsyncKernelClient
from jupyter_client.manager import AsyncKernelManager
from jupyter_client.provisioning.local_provisioner import LocalProvisioner
from nbclient import NotebookClient
from nbformat import NotebookNode

from autograder.sandbox import enter

CELLS = "cells"  # in the tar file: the sources, by their places; FILES holds what was handed in beside the notebook
FILES = "files"
CONNECTION = "/tmp/kernel"
LONGEST_START_S = 120.0
# As nbgrader's Execute writes it.
ERROR_ON_TIMEOUT = {
    "ename": "CellTimeoutError",
    "evalue": "",
    "traceback": ["CellTimeoutError: No reply from kernel before timeout"],
}
TOO_MUCH = "the notebook's outputs are larger than {:g} MB"


@dataclass(frozen=True)
class Task:
    """How a notebook is to be run: its place, its times, and how much it may print."""

    folder: str
    cell_s: float
    notebook_s: float
    output_bytes: int


def run(task: Task, packed: IO[bytes], out: IO[bytes]) -> None:
    """Run the cells in `packed` one after the other; a line for each, and one with how it ended."""

    def report(**what: Any) -> None:
        out.write(json.dumps(what).encode() + b"\n")
        out.flush()

    cells = unpack(packed, Path(task.folder))
    os.chdir(task.folder)
    connection = f"{CONNECTION}.json"
    manager: Any = _Manager(transport="ipc", ip=CONNECTION, connection_file=connection)
    manager.session.key = (
        b""  # kernel and client are in one box, and nobody else: signatures take time alone
    )
    manager.write_connection_file()
    kernel = _fork(lambda: _be_a_kernel(connection), close=[packed.fileno(), out.fileno()])
    # A learner's code could write into what we report, through /proc.
    enter.close_memory()
    manager.provisioner = _Forked(kernel, manager)
    code = [nbformat.v4.new_code_cell(text) for text in cells.values()]
    client = _Client(nbformat.v4.new_notebook(cells=code), manager, task)
    asyncio.run(client.go(list(cells), report))


def unpack(packed: IO[bytes], folder: Path) -> dict[int, str]:
    """Lay out what was handed in; the sources of the cells by their places."""
    cells: dict[int, str] = {}
    with tarfile.open(fileobj=packed, mode="r|") as tar:
        for member in tar:
            content = tar.extractfile(member)
            assert content
            if member.name == CELLS:
                cells = {int(place): text for place, text in json.loads(content.read()).items()}
                continue
            place = folder / Path(member.name).relative_to(FILES)
            place.parent.mkdir(parents=True, exist_ok=True)
            with place.open("wb") as file:
                while chunk := content.read(1 << 20):
                    file.write(chunk)
    return cells


class _Client(NotebookClient):
    """nbclient with nbgrader's answers to a cell that takes too long, and an end of all outputs."""

    def __init__(self, notebook: NotebookNode, manager: Any, task: Task) -> None:
        super().__init__(
            notebook,
            km=manager,
            allow_errors=True,
            interrupt_on_timeout=True,
            raise_on_iopub_timeout=True,
            error_on_timeout=ERROR_ON_TIMEOUT,
            on_cell_executed=_add_missing_error,
            shutdown_kernel="immediate",
        )
        self.task, self.kernel = task, manager.provisioner.kernel
        self.left_bytes = task.output_bytes
        self.too_much = ""
        self.changed: set[int] = set()

    async def go(self, places: list[int], report: Callable[..., None]) -> None:
        """Run every cell and report its outputs; at last report why the run ended, or nothing when all is well."""

        def report_cell(index: int) -> None:
            cell = self.nb.cells[index]
            report(place=places[index], count=cell.execution_count, outputs=cell.outputs)

        try:
            async with self.async_setup_kernel():
                report(ready=True)
                await self._run_all(report_cell)
                # The reader of this ends the box, and the kernel with it.
                report(end="")
        except Exception as problem:
            reason = (f"{type(problem).__name__}: {problem}".splitlines() or [""])[0]
            report(end=self.too_much or reason)

    async def _run_all(self, report_cell: Callable[[int], None]) -> None:
        ends = time.monotonic() + self.task.notebook_s
        for index, cell in enumerate(self.nb.cells):
            left_s = ends - time.monotonic()
            if left_s <= 0:
                raise TimeoutError(f"the notebook ran longer than {self.task.notebook_s:g} s")
            self.timeout = max(1, math.ceil(min(self.task.cell_s, left_s)))
            try:
                await self.async_execute_cell(cell, index)
            except Exception as problem:
                error = {"ename": type(problem).__name__, "evalue": "the run ended here"}
                cell.outputs.append(nbformat.v4.new_output("error", **error, traceback=[]))
                raise
            finally:
                report_cell(index)
                self.changed.discard(index)
        for index in self.changed:
            report_cell(index)

    def _update_display_id(self, display_id: str, msg: dict[str, Any]) -> None:
        # A later cell may replace the output of an earlier one.
        super()._update_display_id(display_id, msg)
        self.changed.update(self._display_id_map.get(display_id, {}))

    def process_message(
        self, msg: dict[str, Any], cell: NotebookNode, cell_index: int
    ) -> NotebookNode | None:
        """One message of the kernel; when there were too many bytes of them, outputs are left out."""
        if msg["msg_type"] not in ("status", "execute_input"):
            self.left_bytes -= len(json.dumps(msg["content"], default=str))
            if self.left_bytes < 0:
                self._stop(cell)
                return None
        return super().process_message(msg, cell, cell_index)

    def _stop(self, cell: NotebookNode) -> None:
        # An interruption might come when the cell has just ended, and then hit the kernel itself.
        if not self.too_much:
            self.too_much = TOO_MUCH.format(self.task.output_bytes / 1e6)
            text = f"The run ends here: {self.too_much}.\n"
            cell.outputs.append(nbformat.v4.new_output("stream", name="stderr", text=text))
            with suppress(ProcessLookupError):
                os.killpg(self.kernel, signal.SIGKILL)


def _add_missing_error(cell: NotebookNode, execute_reply: dict[str, Any], **_: Any) -> None:
    # As nbgrader's Execute does: a time-out is an error too, though the kernel did not send one.
    content = execute_reply["content"]
    if content["status"] != "error":
        return
    shown = [out for out in cell.outputs if out.output_type == "error"]
    if all(out.ename != content["ename"] for out in shown):
        trace = content["traceback"] or [
            "ERROR: An error occurred while showtraceback was disabled"
        ]
        error = {"ename": content["ename"], "evalue": content["evalue"], "traceback": trace}
        cell.outputs.append(nbformat.v4.new_output("error", **error))


# ---------------------------------------------------------------- the kernel


class _KernelClient(AsyncKernelClient):
    async def wait_for_ready(self, timeout: float | None = None) -> None:
        """Come back when the kernel answers and its outputs arrive, without an extra pause."""
        deadline = time.monotonic() + (timeout or LONGEST_START_S)
        while time.monotonic() < deadline:
            request_id = self.kernel_info()
            with suppress(Empty):
                self._handle_kernel_info_reply(await self.get_shell_msg(timeout=1.0))
                while True:
                    message = await self.get_iopub_msg(timeout=0.3)
                    state = message["content"].get("execution_state")
                    if message["parent_header"].get("msg_id") == request_id and state == "idle":
                        return
        raise TimeoutError("the kernel does not start")


class _Manager(AsyncKernelManager):
    def client(self, **kwargs: Any) -> Any:
        """A client that does not wait longer than it has to."""
        self.client_factory = _KernelClient
        return super().client(**kwargs)


class _Forked(LocalProvisioner):
    """A kernel that runs already: our fork."""

    def __init__(self, kernel: int, manager: Any) -> None:
        super().__init__(kernel_id="learner", kernel_spec=manager.kernel_spec, parent=manager)
        self.kernel = kernel

    async def launch_kernel(self, cmd: list[str], **_: Any) -> Any:
        """The kernel that was forked, as if it had just been started."""
        self.pid = self.pgid = self.kernel
        child: Any = _Child(self.kernel)
        self.process = child
        return self.connection_info


class _Child:
    """A forked process, with the few methods of Popen that are used."""

    stdin = stdout = stderr = None

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.returncode: int | None = None

    def poll(self) -> int | None:
        """The exit code, None while it runs."""
        return self._wait(os.WNOHANG)

    def wait(self) -> int | None:
        """The exit code, when it has ended."""
        return self._wait(0)

    def send_signal(self, number: int) -> None:
        """Send it a signal if it still runs."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        """End it."""
        self.send_signal(signal.SIGKILL)

    terminate = kill

    def _wait(self, how: int) -> int | None:
        if self.returncode is None:
            with suppress(ChildProcessError):
                pid, status = os.waitpid(self.pid, how)
                self.returncode = os.waitstatus_to_exitcode(status) if pid else None
        return self.returncode


def _fork(child: Callable[[], None], close: list[int]) -> int:
    """Run `child` in a fork with a process group of its own; its PID."""
    pid = os.fork()
    if pid:
        with suppress(OSError):
            os.setpgid(pid, pid)
        return pid
    try:
        os.setpgid(0, 0)
        for number in close:
            os.close(number)
        child()
    finally:
        os._exit(0)


def _be_a_kernel(connection_file: str) -> None:
    import numpy as np
    from ipykernel.kernelapp import IPKernelApp

    signal.signal(signal.SIGINT, signal.default_int_handler)
    np.random.seed()  # each fork would draw the same numbers
    app: Any = IPKernelApp.instance()
    quickly = ["--HistoryManager.hist_file=:memory:", "--IPythonKernel._execute_sleep=0"]
    app.initialize(["-f", connection_file, *quickly])
    app.start()
