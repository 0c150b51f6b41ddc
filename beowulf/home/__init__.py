"""What our JupyterLab serves beside itself: a home page with all labs, a page for each lab, and the texts.

A lab's page has the handout and JupyterLab's view of the notebook side by side, the cluster, and Check. What changes or
counts is done by the commands that a learner could type, each in a process of its own.
"""

from __future__ import annotations

import asyncio
import json
import mimetypes
import os
from asyncio.subprocess import DEVNULL, PIPE
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote

from jupyter_server.base.handlers import APIHandler, JupyterHandler
from jupyter_server.utils import url_path_join
from tornado.iostream import StreamClosedError
from tornado.web import HTTPError, RedirectHandler, authenticated

from beowulf import paths
from beowulf.cluster import targeted
from beowulf.cluster.holding import lock
from beowulf.course import lab_file
from beowulf.desk import jupyter
from beowulf.errors import LabError
from beowulf.home import documents, live, page

LONGEST_S = 300.0  # of `beowulf up` on machines that are far away
LONGEST_CHECK_S = 60.0
SHARED = "One cluster is shared by all here: `beowulf up --target slurm` in a terminal asks for it, and waits for it."
NOT_FETCHED = (
    "Lab {} is not in your folder yet: in JupyterLab, Nbgrader > Assignment List fetches it."
)
FORCE = (
    "Wait until it is done. In a terminal, `beowulf {} --force` ends it, and it keeps what it has."
)
# Lines of our commands that say nothing to a person in a browser.
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
        "home/report": MakeReport,
        r"lab/([\w-]+)": Desk,
        "check": Check,
        "hint": Hint,
        "report": Report,
        "text/(.+)": Text,
    }
    handlers: list[Any] = [(f"{base}/{place}", each) for place, each in places.items()]
    app.web_app.add_handlers(".*$", [(base, RedirectHandler, {"url": f"{base}/home"}), *handlers])


class Home(JupyterHandler):
    """The page of all labs."""

    @authenticated
    async def get(self) -> None:
        """Everything but the cluster's state and the learner's progress, which the page asks for."""
        await self.finish(page.home(self.base_url, self.xsrf_token.decode()))


class Desk(JupyterHandler):
    """The page of one lab."""

    @authenticated
    async def get(self, lab: str) -> None:
        """Make the copies of the lab that are missing, and show them.

        Where labs come from nbgrader's exchange, the folder of a lab is made by fetching it, and by nothing else.
        """
        try:
            slug = lab if lab == jupyter.PLAY else paths.lab(lab).name
            if (
                slug != jupyter.PLAY
                and os.environ.get(jupyter.FETCHED)
                and not paths.work(slug).exists()
            ):
                raise LabError(NOT_FETCHED.format(slug[:2]))
            laid_out = jupyter.lay_out_play() if slug == jupyter.PLAY else jupyter.lay_out(slug)
            notebook = _below_root(self.settings, laid_out)
            if slug == jupyter.PLAY:
                self.redirect(f"{self.base_url}doc/tree/{quote(notebook)}")
                return
            shown = page.desk(slug, notebook, self.base_url, self.xsrf_token.decode())
        except (LabError, OSError) as error:
            raise HTTPError(
                409, _one_line(error)
            ) from None  # Jupyter's page for 404 has no message
        await self.finish(shown)


class Cluster(APIHandler):
    """The cluster as it is now, and the commands that boot, heal and stop it."""

    @authenticated
    async def get(self) -> None:
        """Read it from files; in a thread, because a change of the cluster is waited for."""
        seen = await asyncio.to_thread(live.look)
        await self.finish(json.dumps(seen | {"under_way": _under_way}))

    @authenticated
    async def post(self) -> None:
        """Run the `command` of the request: up, down, rate with a `rate`, or what a `lab` asks for."""
        global _under_way
        body = self.get_json_body() or {}
        words = _words(str(body.get("command", "")), body)
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


def _words(command: str, body: Mapping[str, Any]) -> list[str]:
    """The words of a command that a page may ask for."""
    if command in ("up", "down"):
        return [command]
    if command == "rate":
        return ["up", f"--rate={body.get('rate', '')}"]
    if command == "lab" and (asked := str(body.get("lab", ""))) in {s[:2] for s in paths.labs()}:
        return ["up", *lab_file.read(paths.lab(asked).name).boots]
    raise HTTPError(400, "The command is one of up, down, rate and lab.")


class Progress(APIHandler):
    """How far the learner is in each lab."""

    @authenticated
    async def get(self) -> None:
        """What `beowulf progress` prints as JSON; nothing is counted while a measurement runs beside it."""
        if held := await asyncio.to_thread(lock.holder, paths.state()):
            await self.finish(problem(f"{held} Progress is counted when that is done."))
            return
        code, out, err = await run("progress", "--json", longest_s=LONGEST_S)
        with suppress(StreamClosedError):  # the reader has gone to another page in the meantime
            await self.finish(problem(err) if code else out)


class Check(APIHandler):
    """Answers with what `beowulf check` prints as JSON, or with a sentence in `problem`."""

    @authenticated
    async def post(self) -> None:
        """Look at the notebook whose `path`, from the server's root on, is in the request."""
        body = self.get_json_body() or {}
        root = _root(self.settings)
        notebook = (root / str(body.get("path", "")).lstrip("/")).resolve()
        if not notebook.is_relative_to(root):
            await self.finish(problem("This notebook is not below the server's folder."))
        elif not (slug := lab_of(notebook.name)):
            await self.finish(problem(f"{notebook.name} is no lab's notebook."))
        else:
            words = ["check", slug, "--folder", str(notebook.parent), "--json", *self.asked(body)]
            code, out, err = await run(*words, longest_s=LONGEST_CHECK_S)
            await self.finish(problem(err) if code else out)

    def asked(self, body: Mapping[str, Any]) -> list[str]:
        """More words of the command."""
        return []


class Hint(Check):
    """Opens one more hint to the `question` of the request; the answer `says` it."""

    def asked(self, body: Mapping[str, Any]) -> list[str]:
        """More words of the command."""
        return [f"--hint={body.get('question', '')}"]


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


class Report(JupyterHandler):
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


class Text(JupyterHandler):
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


def lab_of(name: str) -> str:
    """The lab whose notebook is called so; "" when none is."""
    return next((slug for slug, path in paths.notebooks().items() if path.name == name), "")


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


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())


def _root(settings: Mapping[str, Any]) -> Path:
    """The folder for work, which is all that JupyterLab shows."""
    return Path(settings["server_root_dir"]).expanduser().resolve()


def _below_root(settings: Mapping[str, Any], notebook: Path) -> str:
    """Where the server finds a notebook; LabError where it does not."""
    root = _root(settings)
    if not notebook.resolve().is_relative_to(root):
        raise LabError(f"The notebook is in {notebook.parent}, which is not below {root}.")
    return str(notebook.resolve().relative_to(root))


def _report(settings: Mapping[str, Any]) -> Path:
    return _root(settings) / "report.html"
