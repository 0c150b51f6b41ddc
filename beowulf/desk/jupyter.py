"""A learner's place to work: the copies of a lab to work on, and JupyterLab on top of a running cluster."""

from __future__ import annotations

import http.client
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import webbrowser
from collections.abc import Iterable
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from beowulf import paths
from beowulf.cluster import Cluster, kind_here, module, state
from beowulf.cluster import here as cluster_here
from beowulf.cluster.common.config import ClusterConfig
from beowulf.cluster.common.processes import command_line
from beowulf.cluster.holding import lock
from beowulf.cluster.local import cluster as local
from beowulf.cluster.namespaces import cluster as namespaces
from beowulf.course import lab_file
from beowulf.desk import doctor
from beowulf.errors import LabError, UsageError
from beowulf.measure.watched import Watched
from beowulf.studies import find
from beowulf.this_machine.progress import bar

LONGEST_START_S = 60.0
COPIED = (".c", ".h", ".py", ".ipynb", ".toml")
MOST_PORT = 65535
# nbgrader's Validate runs a whole notebook inside the server: it measures everything again, breaks the cluster, and is
# cut off at a limit of its own. Nobody gets it, whether they learn or teach.
VALIDATE = "@jupyter/nbgrader:validate-assignment"
VALIDATE_SERVER = "nbgrader.server_extensions.validate_assignment"
PAGES = "beowulf.home"  # the home page and those of the labs, where Check is in its place
ADDRESS = "/beowulf/home"  # what a browser without another wish gets
FIRST = "01"  # the lab whose copies are there on the first day
PLAY = "play"  # the notebook without questions, beside every lab
# Set on a hub: labs come from nbgrader's exchange; there is one cluster for all, and none is booted for anybody.
FETCHED, SHARED = "BEOWULF_FETCHED", "BEOWULF_SHARED"
LAB_ENDS = "make lab"  # what ends a measurement that is under way, as its Record says
NOT_FOR_LEARNERS = (
    "@jupyterlab/apputils-extension:announcements",
    "@jupyter/nbgrader:create-assignment",
    "@jupyter/nbgrader:formgrader",
    "@jupyter/nbgrader:course-list",
    "@jupyter/nbgrader:assignment-list",
)


def lay_out(slug: str) -> Path:
    """Copy a lab's notebook and programs to where the learner works; what is there already stays. Its notebook."""
    folder = paths.work(slug)
    notebook = paths.notebooks().get(slug)
    if notebook is None:
        raise LabError(f"Lab {slug} has no notebook.", "Perhaps your course leaves it out.")
    try:
        _copy(notebook, folder / notebook.name)
        for source in sorted(paths.lab(slug).rglob("*")):
            _copy(source, folder / source.relative_to(paths.lab(slug)))
        lay_out_headers()
        lay_out_heat()
        lay_out_play()
    except OSError as error:  # a full disk names the original, or nothing
        raise LabError(
            f"The lab cannot be copied to {folder}: {error.strerror}.",
            "Free some space, or set BEOWULF_WORK to a folder elsewhere.",
        ) from error
    return folder / notebook.name


def lay_out_play() -> Path:
    """Copy the notebook that asks no questions, beside the labs; returns its path."""
    source = paths.root() / "notebooks" / "release" / f"{PLAY}.ipynb"
    notebook = paths.work(PLAY) / source.name
    _copy(source, notebook)
    return notebook


def lay_out_heat() -> None:
    """Copy the given part of the heat program, beside the labs; `lab.heat.start` writes the learner's file there."""
    from beowulf.exercises.heat import program

    program.lay_out(paths.work(program.ORIGINALS.name))


def lay_out_headers() -> Path:
    """Copy what all labs' programs include, beside the labs as in the checkout; returns the folder of the labs."""
    shared = paths.root() / "labs" / "include"
    folder = paths.work(shared.name).parent
    for source in shared.rglob("*.h"):
        _copy(source, folder / source.relative_to(shared.parent))
    return folder


def _copy(source: Path, copy: Path) -> None:
    if source.suffix not in COPIED or source.name == "lab.toml" or copy.exists():
        return
    copy.parent.mkdir(parents=True, exist_ok=True)
    temporary = copy.with_suffix(".part")
    shutil.copyfile(source, temporary)
    temporary.replace(copy)


def serve(name: str, port: int, *, open_browser: bool) -> None:
    """Boot and validate the cluster, serve JupyterLab until Ctrl-C, then take everything down.

    The address is that of the lab's page; without a `name` it is the home page.
    """
    from beowulf.tuning.reapply import settle

    slug = name if name == PLAY else paths.lab(name or FIRST).name
    if not 1 <= port <= MOST_PORT:
        raise UsageError(f"A port is a number from 1 to {MOST_PORT}, not {port}.")
    notebook = lay_out_play() if slug == PLAY else lay_out(slug)
    # Two labs on one cluster would take it away from each other; one JupyterLab shows the copies of all.
    if address := open_address():
        raise LabError(
            f"A lab is already open at {address}.",
            "Go there: its home page lists all labs. Or end it with Ctrl-C in its terminal.",
        )
    machines = cluster_here() if state.kind_in(paths.state()) else None
    if measured := lock.holder(paths.state()):
        raise lock.LockedError(
            measured, "Open the lab when that is done, or end it with `beowulf down --force`."
        )
    try:
        cluster = machines or _booted(slug if name else "")
        print(
            f"{len(cluster.nodes)} {'node is' if len(cluster.nodes) == 1 else 'nodes are'} up.",
            flush=True,
        )
        for sentence in settle(cluster):
            print(sentence, flush=True)
        _validate(cluster)
        with tempfile.TemporaryDirectory(prefix="beowulf-jupyter-") as runtime:
            place = f"/beowulf/lab/{slug.partition('-')[0]}" if name else ADDRESS
            _jupyter(notebook, port, Path(runtime), open_browser, place)
    finally:
        with suppress(LabError):
            lock.end(paths.state(), LAB_ENDS)
        if machines is None:
            module(kind_here()).down()
        sentence = "The cluster is down." if machines is None else "The machines go on running."
        print(sentence, "Your work is in", notebook.parent.parent, flush=True)


def _booted(slug: str) -> Cluster:
    """The running cluster, or a new one of the kind that this lab needs."""
    if running := namespaces.running():
        return namespaces.up(running.config)
    wanted = ClusterConfig()
    if slug in paths.labs():
        wanted = replace(wanted, **lab_file.read(slug).cluster)
    return boot(wanted)


def boot(wanted: ClusterConfig, folder: Path | None = None) -> Cluster:
    """A new cluster; where namespaces are forbidden, a sentence that says so, and one of names of this machine."""
    check = doctor.namespaces()
    if check.well:
        return namespaces.up(wanted, folder=folder)
    print(
        f"Namespaces cannot be made here ({check.found}); `beowulf doctor` says how to allow them.",
        flush=True,
    )
    return local.up(folder=folder)[0]


def _validate(cluster: Cluster) -> None:
    from beowulf.labs.lab_01.a2_validation import FREE_MEMORY

    if cluster.cannot_show:
        print(f"This cluster is of the kind {cluster.kind}. {cluster.cannot_show}", flush=True)
        return
    study = find("A2")
    with bar(study.title, shown=sys.stderr.isatty()) as progress, Watched(cluster, study.id):
        verdicts = study.claims(study.measure(cluster, Path(), progress=progress))
    faults = [verdict for verdict in verdicts if verdict.outcome != "holds"]
    texts = [f"{fault.says}: {fault.outcome} ({fault.evidence})" for fault in faults]
    if any(fault.claim != FREE_MEMORY for fault in faults):
        raise LabError(
            f"The cluster is not in order. {'; '.join(texts)}",
            "`beowulf doctor` checks this machine.",
        )
    # A machine whose memory is nearly used up is slow, and its learner should know; the labs work all the same.
    for text in texts:
        print(text, flush=True)
    print(f"The cluster is whole: {len(verdicts) - len(faults)} checks passed.", flush=True)


def _jupyter(notebook: Path, port: int, runtime: Path, open_browser: bool, place: str) -> None:
    words = [
        sys.executable,
        "-m",
        "jupyterlab",
        "--no-browser",
        f"--ServerApp.root_dir={notebook.parent.parent}",
        # A login shell would forget where `beowulf` is.
        "--ServerApp.terminado_settings={'shell_command': ['bash']}",
        f"--ServerApp.port={port}",
        "--ServerApp.port_retries=50",
        "--ServerApp.open_browser=False",
        "--ServerApp.log_level=ERROR",
        *(["--allow-root"] if os.geteuid() == 0 else []),
    ]
    # Kernels find `beowulf` and `mpicc`; nothing of a learner's own Jupyter set-up is changed.
    path = f"{paths.python_bin()}:{os.environ.get('PATH', '')}"
    surroundings = {
        **os.environ,
        "JUPYTER_RUNTIME_DIR": str(runtime),
        "JUPYTER_CONFIG_PATH": str(settings(runtime)),
        # Which tabs were open is forgotten, else each lab opens those of the labs before, a kernel for each.
        "JUPYTERLAB_WORKSPACES_DIR": str(runtime / "workspaces"),
        "PATH": path,
    }

    with (runtime / "log").open("w") as output:
        server = subprocess.Popen(
            words,
            cwd=notebook.parent.parent,
            env=surroundings,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
    try:
        connection = _await(server, runtime)
        address = f"http://127.0.0.1:{connection['port']}{place}?token={connection['token']}"
        state.open_lab().write_text(json.dumps({"pid": os.getpid(), "address": address}))
        print(f"JupyterLab is at {address}\nCtrl-C here takes everything down.", flush=True)
        _install_suites()
        if open_browser:
            webbrowser.open(address)
        server.wait()
        raise LabError("JupyterLab ended unexpectedly.", f"It printed: {_tail(runtime / 'log')}")
    except KeyboardInterrupt:
        print(flush=True)
    finally:
        state.open_lab().unlink(missing_ok=True)
        with suppress(LabError):
            lock.end(paths.state(), LAB_ENDS)  # so that a cell that measures keeps what it has
        server.terminate()
        try:
            server.wait(10)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()


def _install_suites() -> None:
    """Install in the background what the first `make lab` left for later: no early lab needs it."""
    if not (paths.root() / "build" / "suites-later").exists():
        return
    print(
        "Debian packages that only later labs need are being installed in the background.",
        flush=True,
    )
    # Ctrl-C ends the lab, but not apt in the middle of a package; sudo still knows the terminal.
    subprocess.Popen(
        ["nice", "bash", paths.root() / "cluster_setup" / "bootstrap.sh", "suites"],
        stdin=subprocess.DEVNULL,
        process_group=0,
    )


def open_address() -> str:
    """Where another process of this user serves a lab; empty when none does."""
    try:
        served = json.loads(state.open_lab().read_text())
    except (FileNotFoundError, ValueError):  # ValueError: it is just being written
        return ""
    ours = "lab" in command_line(served["pid"]) and served["pid"] != os.getpid()
    return str(served["address"]) if ours else ""


def settings(runtime: Path, off: Iterable[str] = NOT_FOR_LEARNERS, *, pages: bool = True) -> Path:
    """JupyterLab's settings: our pages, no question about news, no making or validating of assignments."""
    folder = runtime / "settings"
    (folder / "labconfig").mkdir(parents=True)
    switched_off = dict.fromkeys((*off, VALIDATE), True)
    page = folder / "labconfig" / "page_config.json"
    page.write_text(json.dumps({"disabledExtensions": switched_off}))
    as_the_system = {"@jupyterlab/apputils-extension:themes": {"adaptive-theme": True}}
    (folder / "labconfig" / "default_setting_overrides.json").write_text(json.dumps(as_the_system))
    server: dict[str, Any] = {
        "ServerApp": {"jpserver_extensions": {VALIDATE_SERVER: False, PAGES: pages}}
    }
    if pages:
        # A lab's page shows the notebook in a frame, which a hub forbids, and talks to it.
        only_ours = {"Content-Security-Policy": "frame-ancestors 'self'"}
        server["ServerApp"]["tornado_settings"] = {"headers": only_ours}
        server["LabApp"] = {"expose_app_in_browser": True, "default_url": ADDRESS}
    (folder / "jupyter_server_config.json").write_text(json.dumps(server))
    return folder


def _await(server: subprocess.Popen[bytes], runtime: Path) -> dict[str, Any]:
    """What the server writes about itself once it answers."""
    file, log = runtime / f"jpserver-{server.pid}.json", runtime / "log"
    deadline = time.monotonic() + LONGEST_START_S
    while time.monotonic() < deadline:
        # It writes the file before it listens.
        with suppress(OSError, ValueError, http.client.HTTPException):
            connection = dict(json.loads(file.read_text()))
            if _answers(connection):
                return connection
        if server.poll() is not None:
            break
        time.sleep(0.05)
    raise LabError(
        "JupyterLab did not start.",
        f"It printed: {_tail(log) or 'nothing'}. `make lab` repairs its installation.",
    )


def _answers(connection: dict[str, Any]) -> bool:
    """Whether this server, and not another at its port, answers; never through a proxy of the learner's."""
    asked = http.client.HTTPConnection("127.0.0.1", connection["port"], timeout=LONGEST_START_S)
    with closing(asked):
        asked.request(
            "GET", "/api/status", headers={"Authorization": f"token {connection['token']}"}
        )
        return asked.getresponse().status == http.client.OK


def _tail(log: Path) -> str:
    return " ".join(log.read_text(errors="replace").strip().splitlines()[-3:])
