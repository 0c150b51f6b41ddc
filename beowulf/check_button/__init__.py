"""The button *Check* above a notebook in JupyterLab, in the place of nbgrader's Validate.

Its page is in labextension/, as JupyterLab loads it: no build makes it. Here is the part in the server, which runs
`beowulf check` for the notebook that is open.
"""

from __future__ import annotations

import asyncio
import json
from asyncio.subprocess import DEVNULL, PIPE
from contextlib import suppress
from pathlib import Path
from typing import Any

from jupyter_server.base.handlers import APIHandler
from jupyter_server.utils import url_path_join
from tornado.web import authenticated

from beowulf import paths

LONGEST_S = 60.0


def _jupyter_server_extension_points() -> list[dict[str, Any]]:
    return [{"module": __name__}]


def _load_jupyter_server_extension(app: Any) -> None:
    place = url_path_join(app.web_app.settings["base_url"], "beowulf", "check")
    app.web_app.add_handlers(".*$", [(place, Check)])


class Check(APIHandler):
    """Answers with what `beowulf check` prints as JSON, or with a sentence in `problem`."""

    @authenticated
    async def post(self) -> None:
        """Look at the notebook whose `path`, from the server's root on, is in the request."""
        body = self.get_json_body() or {}
        root = Path(self.settings["server_root_dir"]).expanduser().resolve()
        notebook = (root / str(body.get("path", "")).lstrip("/")).resolve()
        if not notebook.is_relative_to(root):
            await self.finish(problem("This notebook is not below the server's folder."))
        elif not (slug := lab_of(notebook.name)):
            await self.finish(problem(f"{notebook.name} is no lab's notebook."))
        else:
            words = ("check", slug, "--folder", str(notebook.parent), "--json")
            code, out, err = await run(*words, longest_s=LONGEST_S)
            await self.finish(problem(err) if code else out)


def lab_of(name: str) -> str:
    """The lab whose notebook is called so; "" when none is."""
    released = sorted((paths.root() / "notebooks" / "release").glob("*/*.ipynb"))
    return next((path.parent.name for path in released if path.name == name), "")


async def run(*words: str, longest_s: float) -> tuple[int, str, str]:
    """The exit code of a command of ours, what it printed, and what it said of an error."""
    process = await asyncio.create_subprocess_exec(
        paths.python_bin() / "beowulf", *words, stdin=DEVNULL, stdout=PIPE, stderr=PIPE
    )
    try:
        out, err = await asyncio.wait_for(process.communicate(), longest_s)
    except TimeoutError:
        with suppress(ProcessLookupError):
            process.terminate()
        return 1, "", f"`beowulf {' '.join(words)}` took more than {longest_s:g} s and was ended."
    said = err.decode(errors="replace").strip().removeprefix("beowulf: ")
    return process.returncode or 0, out.decode(errors="replace"), said


def problem(sentence: str) -> str:
    """What a page shows where a command failed with this sentence."""
    return json.dumps({"problem": sentence or "The command failed and said nothing."})
