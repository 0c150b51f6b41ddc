"""The home page in JupyterLab: the nine labs, the cluster as it is now, handouts, papers.

The tab that shows it is in labextension/, as JupyterLab loads it: no build makes it. Here is the part in the server.
What changes or counts is done by the commands that a learner could type, each in a process of its own.
"""

from __future__ import annotations

import asyncio
import json
import mimetypes
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from jupyter_server.base.handlers import APIHandler, JupyterHandler
from jupyter_server.utils import url_path_join
from tornado.web import HTTPError, authenticated

from beowulf import paths
from beowulf.check_button import problem, run
from beowulf.cluster import targeted
from beowulf.cluster.holding import lock
from beowulf.desk import jupyter
from beowulf.errors import LabError
from beowulf.home import documents, live, page

LONGEST_S = 300.0  # of `beowulf up` on machines that are far away
SHARED = "One cluster is shared by all here: `beowulf up --target slurm` in a terminal asks for it, and waits for it."
NOT_FETCHED = "Lab {} is not in your folder yet: Nbgrader > Assignment List in the menu fetches it."
FORCE = (
    "Wait until it is done. In a terminal, `beowulf {} --force` ends it, and it keeps what it has."
)
# Lines of our commands that say nothing to a person in JupyterLab.
FOR_A_TERMINAL = ("Next: ", "The lab at ")

# The command that changes the cluster now, such as `beowulf up`; one at a time, for all pages of this server.
_under_way = ""


def _jupyter_server_extension_points() -> list[dict[str, Any]]:
    return [{"module": __name__}]


def _load_jupyter_server_extension(app: Any) -> None:
    base = url_path_join(app.web_app.settings["base_url"], "beowulf")
    places = {
        "home": Home,
        "home/cluster": Cluster,
        "home/progress": Progress,
        "home/open": Open,
        "home/report": MakeReport,
        "report": Report,
        "text/(.+)": Text,
    }
    app.web_app.add_handlers(".*$", [(f"{base}/{place}", each) for place, each in places.items()])


class Page(JupyterHandler):
    """A page for a tab of JupyterLab, which is a frame: a hub forbids these, unless a page says otherwise."""

    @property
    def content_security_policy(self) -> str:
        """Who may show it in a frame: only JupyterLab itself."""
        return "frame-ancestors 'self'"


class Home(Page):
    """The page itself."""

    @authenticated
    async def get(self) -> None:
        """Everything but the cluster's state and the learner's progress, which the page asks for."""
        await self.finish(page.html(self.base_url, self.xsrf_token.decode()))


class Cluster(APIHandler):
    """The cluster as it is now, and the commands that boot, heal and stop it."""

    @authenticated
    async def get(self) -> None:
        """Read it from files; in a thread, because a change of the cluster is waited for."""
        seen = await asyncio.to_thread(live.look)
        await self.finish(json.dumps(seen | {"under_way": _under_way}))

    @authenticated
    async def post(self) -> None:
        """Run the `command` of the request: up, down, or rate with a `rate`."""
        global _under_way
        body = self.get_json_body() or {}
        commands = {
            "up": ["up"],
            "down": ["down"],
            "rate": ["up", f"--rate={body.get('rate', '')}"],
        }
        if not (words := commands.get(str(body.get("command", "")))):
            raise HTTPError(400, "The command is one of up, down and rate.")
        if os.environ.get(jupyter.SHARED) and words[0] == "up" and targeted() is None:
            await self.finish(problem(SHARED))
        elif _under_way:
            await self.finish(problem(f"{_under_way} is under way: wait until it is done."))
        else:
            _under_way = f"`beowulf {' '.join(words)}`"
            try:
                code, out, err = await run(*words, longest_s=LONGEST_S)
            finally:
                _under_way = ""
            lines = [line for line in out.splitlines() if not line.startswith(FOR_A_TERMINAL)]
            err = err.replace(lock.FORCE, FORCE.format(" ".join(words)))
            await self.finish(problem(err) if code else json.dumps({"done": " ".join(lines)}))


class Progress(APIHandler):
    """How far the learner is in each lab."""

    @authenticated
    async def get(self) -> None:
        """What `beowulf progress` prints as JSON; nothing is counted while a measurement runs beside it."""
        if held := await asyncio.to_thread(lock.holder, paths.state()):
            await self.finish(problem(f"{held} Progress is counted when that is done."))
            return
        code, out, err = await run("progress", "--json", longest_s=LONGEST_S)
        await self.finish(problem(err) if code else out)


class MakeReport(APIHandler):
    """Writes the report on the learner's Records into the folder for work."""

    @authenticated
    async def post(self) -> None:
        """What `beowulf report` says; nothing is written while a measurement runs beside it."""
        if held := await asyncio.to_thread(lock.holder, paths.state()):
            await self.finish(problem(f"{held} The report is written when that is done."))
            return
        words = ("report", "--output", str(_report(self.settings)))
        code, out, err = await run(*words, longest_s=LONGEST_S)
        await self.finish(problem(err) if code else json.dumps({"done": out.strip()}))


class Report(Page):
    """The report that was written last."""

    @authenticated
    async def get(self) -> None:
        """The page, which forbids scripts and requests itself."""
        try:
            await self.finish(_report(self.settings).read_bytes())
        except FileNotFoundError:
            raise HTTPError(
                404, "There is no report yet: the link on the home page writes it."
            ) from None


class Open(APIHandler):
    """Makes the copies of a lab that are missing, and answers where its notebook is.

    Where labs come from nbgrader's exchange, the folder of a lab is made by fetching it, and by nothing else.
    """

    @authenticated
    async def post(self) -> None:
        """Lay out the `lab` of the request, a number, a name or play; its `path` from the server's root on."""
        lab = str((self.get_json_body() or {}).get("lab", ""))
        root = _root(self.settings)
        try:
            if lab == jupyter.PLAY:
                notebook = jupyter.lay_out_play().resolve()
            else:
                slug = paths.lab(lab).name
                if os.environ.get(jupyter.FETCHED) and not paths.work(slug).exists():
                    await self.finish(problem(NOT_FETCHED.format(slug[:2])))
                    return
                notebook = jupyter.lay_out(slug).resolve()
        except LabError as error:
            await self.finish(problem(str(error)))
            return
        except OSError as error:
            await self.finish(problem(f"{error.filename}: {error.strerror}."))
            return
        if notebook.is_relative_to(root):
            await self.finish(json.dumps({"path": str(notebook.relative_to(root))}))
        else:
            await self.finish(
                problem(f"The notebook is in {notebook.parent}, which is not below {root}.")
            )


class Text(Page):
    """A text of the labs or the documentation, or a picture or program that belongs to it."""

    @authenticated
    async def get(self, name: str) -> None:
        """Markdown becomes a page; pictures and programs are sent as they are."""
        file = documents.find(name)
        if file is None:
            raise HTTPError(404, f"There is no text {name}.")
        if file.suffix == ".md":
            await self.finish(documents.html(file))
            return
        kind = mimetypes.guess_type(file.name)[0] or ""
        self.set_header(
            "Content-Type", kind if kind.startswith("image/") else "text/plain; charset=UTF-8"
        )
        await self.finish(file.read_bytes())


def _root(settings: Mapping[str, Any]) -> Path:
    """The folder for work, which is all that JupyterLab shows."""
    return Path(settings["server_root_dir"]).expanduser().resolve()


def _report(settings: Mapping[str, Any]) -> Path:
    return _root(settings) / "report.html"
