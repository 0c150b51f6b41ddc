"""A user of a Jupyter server: asks its API, and types lines into a terminal of it.

As a command, for servers in another network: URL TOKEN LINE PATTERN types a line and prints what comes until the
pattern does.
"""

from __future__ import annotations

import json
import re
import sys
import time
import urllib.error
import urllib.request
from typing import Any

import websocket

PATIENCE_S = 240.0


class Jupyter:
    """A server at `url`, without a slash at the end, and the token that lets us in."""

    def __init__(self, url: str, token: str) -> None:
        self.url, self.token = url, token

    def ask(self, path: str, method: str = "GET", **fields: object) -> Any:
        """What the API answers, as plain data."""
        request = urllib.request.Request(
            f"{self.url}/{path}",
            data=json.dumps(fields).encode() if method != "GET" else None,
            headers={"Authorization": f"token {self.token}", "Content-Type": "application/json"},
            method=method,
        )
        with urllib.request.urlopen(request, timeout=PATIENCE_S) as answer:
            text = answer.read()
        return json.loads(text) if text else None

    def code(self, path: str) -> int:
        """The code of an answer, whatever it is."""
        try:
            self.ask(path)
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


if __name__ == "__main__":
    url, token, line, until = sys.argv[1:]
    print(Jupyter(url, token).type(line, until))
