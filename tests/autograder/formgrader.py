"""A JupyterLab that was started in a course's folder, as an instructor starts it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from autograder.course.course import Course

CHROMIUM = Path("/usr/bin/chromium")
PATIENCE_S = 240.0
# A question about news would lie over the menu.
NEWS = {"disabledExtensions": {"@jupyterlab/apputils-extension:announcements": True}}


@contextmanager
def server(course: Course, place: Path) -> Iterator[tuple[str, str]]:
    """The server's address and token; its settings and its log are in `place`."""
    runtime, settings = place / "runtime", place / "settings"
    (settings / "labconfig").mkdir(parents=True)
    (settings / "labconfig" / "page_config.json").write_text(json.dumps(NEWS))
    words = ["-m", "jupyterlab", "--no-browser", "--ServerApp.port=0", "--allow-root"]
    environment = os.environ | {
        "HOME": str(place),
        "JUPYTER_PREFER_ENV_PATH": "1",
        "JUPYTER_RUNTIME_DIR": str(runtime),
        "JUPYTER_CONFIG_PATH": str(settings),
    }
    with (place / "log").open("w") as log:
        process = subprocess.Popen(
            [sys.executable, *words],
            cwd=course.folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
        )

    def started() -> Any:
        assert process.poll() is None, (place / "log").read_text()
        for file in runtime.glob("jpserver-*.json"):
            try:
                return json.loads(file.read_text())
            except ValueError:
                continue  # it is being written
        return None

    try:
        found = until(started)
        yield found["url"], found["token"]
    finally:
        process.terminate()
        process.wait(PATIENCE_S)


def until(there: Callable[[], Any]) -> Any:
    """What is there in the end."""
    deadline = time.monotonic() + PATIENCE_S
    while not (found := there()):
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.1)
    return found
