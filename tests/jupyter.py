"""A user of a Jupyter server: asks its API, and types lines into a terminal of it.

As a command, for servers in another network: URL TOKEN LINE PATTERN types a line and prints what comes until the
pattern does.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import websocket

PATIENCE_S, ENDING_S = 240.0, 30.0


class Jupyter:
    """A server at `url`, without a slash at the end, and the token that lets us in."""

    def __init__(self, url: str, token: str) -> None:
        self.url, self.token = url, token

    def ask(self, path: str, method: str = "GET", /, **fields: object) -> Any:
        """What the API answers, as plain data."""
        text = self._answer(path, method, fields)
        return json.loads(text) if text else None

    def _answer(self, path: str, method: str, fields: dict[str, object]) -> bytes:
        request = urllib.request.Request(
            f"{self.url}/{path}",
            data=json.dumps(fields).encode() if method != "GET" else None,
            headers={"Authorization": f"token {self.token}", "Content-Type": "application/json"},
            method=method,
        )
        with urllib.request.urlopen(request, timeout=PATIENCE_S) as answer:
            return bytes(answer.read())

    def code(self, path: str) -> int:
        """The code of an answer, whatever it is."""
        try:
            self._answer(path, "GET", {})
        except urllib.error.HTTPError as error:
            return error.code
        return 200

    def type(self, line: str, until: str) -> str:
        """Type a line into a new terminal; all that comes until the pattern does."""
        name = self.ask("api/terminals", "POST")["name"]
        terminal = websocket.create_connection(
            f"{self.url.replace('http', 'ws', 1)}/terminals/websocket/{name}",
            header=[f"Authorization: token {self.token}"],
            timeout=PATIENCE_S,
        )
        printed, deadline = "", time.monotonic() + PATIENCE_S
        try:
            # Wide, so that no line is broken.
            terminal.send(json.dumps(["set_size", 50, 400, 0, 0]))
            terminal.send(json.dumps(["stdin", f"{line}\r"]))
            while not re.search(until, printed):
                assert time.monotonic() < deadline, f"{until} does not come:\n{printed}"
                kind, *what = json.loads(terminal.recv())
                printed += what[0] if kind == "stdout" else ""
        except websocket.WebSocketTimeoutException as error:
            raise AssertionError(f"{until} does not come:\n{printed}") from error
        finally:
            terminal.close()
            self.ask(f"api/terminals/{name}", "DELETE")
        return printed


@contextmanager
def served(
    own: Path, settings: Path, root: Path | None = None, **environment: str
) -> Iterator[Jupyter]:
    """A JupyterLab with these settings over a folder, `work` in `own` if none is named, until the end of the block."""
    runtime, root = own / "runtime", root or own / "work"
    words = ["--no-browser", f"--ServerApp.root_dir={root}", "--ServerApp.port=0"]
    words += ["--ServerApp.log_level=ERROR", *(["--allow-root"] if os.geteuid() == 0 else [])]
    surroundings = {
        **os.environ,
        "BEOWULF_WORK": str(root),
        # Neither settings nor kernels of the user who runs the tests.
        "HOME": str(own),
        "JUPYTER_PREFER_ENV_PATH": "1",
        "JUPYTER_RUNTIME_DIR": str(runtime),
        "JUPYTER_CONFIG_PATH": str(settings),
        "JUPYTERLAB_WORKSPACES_DIR": str(runtime / "workspaces"),
        **environment,
    }
    command = [sys.executable, "-m", "jupyterlab", *words]
    with (own / "log").open("w") as log:
        server = subprocess.Popen(command, cwd=root, env=surroundings, stdout=log, stderr=log)
    try:
        file, deadline = runtime / f"jpserver-{server.pid}.json", time.monotonic() + PATIENCE_S
        while True:
            assert server.poll() is None, (own / "log").read_text()
            assert time.monotonic() < deadline, (own / "log").read_text()
            # The file is there before it is whole, and before the server listens.
            with suppress(OSError, ValueError):
                about = json.loads(file.read_text())
                jupyter = Jupyter(about["url"].rstrip("/"), about["token"])
                if jupyter.code("api/status") == 200:
                    break
            time.sleep(0.05)
        yield jupyter
    finally:
        server.terminate()
        try:
            server.wait(ENDING_S)
        except subprocess.TimeoutExpired:
            # Rarely a thread of anyio's stays, for which Python waits forever. `beowulf lab` ends the server so, too.
            server.kill()
            server.wait()


if __name__ == "__main__":
    url, token, line, until = sys.argv[1:]
    print(Jupyter(url, token).type(line, until))
