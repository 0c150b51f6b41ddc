"""A Python that has imported what the labs' notebooks import, and forks a process into a box for each notebook.

It holds nothing of a course, runs nothing of a learner's itself, and is in no box, so that no box can reach it. The
imports, which take most of a notebook's time, are made once: `python -P -m autograder.sandbox.fork_server SOCKET`.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import pkgutil
import socket
import sys
from contextlib import suppress
from typing import Any

from autograder.sandbox import enter
from autograder.sandbox.enter import Allowance

READY = b"ready"
LARGEST_MESSAGE = 65_536
HANDLES = 3  # of a process in the box, what goes in, what comes out
IMPORTED = (
    "numpy",
    "pandas",
    "matplotlib.pyplot",
    "matplotlib.backends.backend_agg",
    "IPython.core.completer",
    "IPython.core.completerlib",
    "IPython.core.ultratb",
    "IPython.extensions.storemagic",
    "ipykernel.debugger",
    "ipykernel.kernelapp",
    "ipykernel.ipkernel",
    "ipykernel.zmqshell",
    "nest_asyncio2",
    "pandas.core.methods.to_dict",
    "pandas.core.reshape.reshape",
    "pygments.formatters.terminal256",
    "stack_data",
    "tornado.platform.asyncio",
    "autograder.sandbox.runner",
    "beowulf.notebook",
    "beowulf.checklist",
    "beowulf.cluster.recorded",
    "beowulf.engines.px",
    "beowulf.engines.replay",
    "beowulf.predictions",
    "beowulf.timeline.page",
)
# Of these, each module within: a lab imports its own.
WHOLE = ("beowulf.exercises", "beowulf.figures", "beowulf.studies")


def main(handle: int) -> None:
    """Import everything, report that, and serve until the other end of the socket is closed."""
    enter.end_with_parent()
    orders = socket.socket(fileno=handle)
    for name in IMPORTED:
        importlib.import_module(name)
    for name in WHOLE:
        package = importlib.import_module(name)
        for module in pkgutil.walk_packages(package.__path__, f"{name}."):
            importlib.import_module(module.name)
    _draw_once()
    _check_once()
    # What is there now is never looked at again, so that forks go on sharing it.
    gc.collect()
    gc.freeze()
    orders.send(READY)
    while True:
        message, handles, _, _ = socket.recv_fds(orders, LARGEST_MESSAGE, HANDLES)
        _reap()
        if not message:
            return
        if os.fork() == 0:
            orders.close()
            _serve(json.loads(message), *handles)
        for each in handles:
            os.close(each)


def _serve(order: dict[str, Any], box: int, packed: int, out: int) -> None:
    """In a fork: enter the box, and in a fork of that, which is inside, run the notebook. Never comes back."""
    try:
        enter.join(box, order["namespaces"])
        os.close(box)
        inside = os.fork()
        if inside == 0:
            _run(order, packed, out)
        os.close(packed)
        os.close(out)
        os.waitpid(inside, 0)
    except BaseException as problem:
        _complain(out, f"The sandbox could not be entered: {problem}")
    finally:
        os._exit(0)


def _run(order: dict[str, Any], packed: int, out: int) -> None:
    try:
        nothing = os.open("/dev/null", os.O_RDWR)
        for number in (0, 1, 2):
            os.dup2(nothing, number)
        os.setsid()
        os.umask(0o077)
        enter.drop_privileges(order["uid"], Allowance(**order["allowance"]))
        os.environ.clear()
        os.environ.update(order["environment"])
        # Before any line of a learner's: after this, no line can claim that there is no sandbox.
        os.write(out, b'{"inside": true}\n')
    except BaseException as problem:
        _complain(out, f"The sandbox could not be closed behind us: {problem}")
        os._exit(1)
    from autograder.sandbox import runner

    try:
        with open(packed, "rb") as files, open(out, "wb", closefd=False) as lines:
            runner.run(runner.Task(**order["task"]), files, lines)
    except BaseException as problem:
        with suppress(OSError):
            _complain(out, "", f"{type(problem).__name__}: {problem}")
    finally:
        os._exit(0)


def _complain(out: int, refused: str, end: str = "") -> None:
    line = {"refused": refused} if refused else {"end": end[:300]}
    with suppress(OSError):
        os.write(out, json.dumps(line).encode() + b"\n")


def _reap() -> None:
    with suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def _draw_once() -> None:
    """Fill the caches of matplotlib and pandas: fonts, styles, formatters; not pyplot, whose state a kernel sets."""
    from io import BytesIO

    import pandas as pd
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure()
    axes = figure.add_subplot()
    axes.plot([1, 2], [1, 10], label="a line")
    axes.set_yscale("log")
    axes.set_title("a title")
    axes.legend()
    canvas: Any = FigureCanvasAgg(figure)  # it has no types
    canvas.print_png(BytesIO())
    pd.DataFrame({"a": [1.0]}).to_html()


def _check_once() -> None:
    """Let nbformat read the schema that it checks each output by, and find the kernel's specification."""
    import nbformat.v4 as v4
    from jupyter_client.manager import AsyncKernelManager

    v4.new_notebook(cells=[v4.new_code_cell("1")])
    v4.new_output("stream", text="1")
    _ = AsyncKernelManager().kernel_spec


if __name__ == "__main__":
    main(int(sys.argv[1]))
