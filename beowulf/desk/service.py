"""What a service starts for a user on a master: copies to work on, a cluster, and a Jupyter server on top of it.

`python -m beowulf.desk.service [--target FILE] [--wait] KIND SERVER WORD...` runs the server until it ends or is asked
to end. A cluster that this user has booted goes with it; machines of a target go on running. With --wait no cluster is
booted: on a shared one, a cluster without a measurement would keep others waiting. Of the roles in cluster_setup/,
`jupyterlab` starts the kind `lab`, and `hub` the kinds `learner` and `instructor`.
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from beowulf import paths
from beowulf.desk import jupyter
from beowulf.errors import LabError

NEWS = "@jupyterlab/apputils-extension:announcements"
# A learner in a class fetches the labs from nbgrader's exchange and hands them in there.
FETCHES = ("@jupyter/nbgrader:assignment-list", "@jupyter/nbgrader:course-list")
OFF: Mapping[str, tuple[str, ...]] = {
    "lab": jupyter.NOT_FOR_LEARNERS,
    "learner": tuple(name for name in jupyter.NOT_FOR_LEARNERS if name not in FETCHES),
    "instructor": (NEWS,),
}
TEACHES = "instructor"  # has the course in front, and no labs to do
LONGEST_END_S = 10.0


def serve(kind: str, target: str, wait: bool, server: Sequence[str]) -> int:
    """Lay out what `kind` works on, find or boot the cluster, run the server; its exit code."""
    os.environ.setdefault("BEOWULF_WORK", str(Path.home() / "beowulf"))
    os.environ["PATH"] = f"{paths.python_bin()}:{os.environ.get('PATH', os.defpath)}"
    folder = jupyter.lay_out_headers()
    if kind == "lab":
        for slug in paths.offered():
            jupyter.lay_out(slug)
    os.environ[jupyter.FETCHED] = "1" if kind == "learner" else ""
    os.environ[jupyter.SHARED] = "1" if wait else ""
    # A cluster that is not whole is for the learner to look at: the server starts all the same.
    if not wait:
        _beowulf("up", *(["--target", target] if target else []))
    try:
        with tempfile.TemporaryDirectory(prefix="beowulf-jupyter-") as own:
            settings = jupyter.settings(Path(own), OFF[kind], pages=kind != TEACHES)
            given = os.environ.get("JUPYTER_CONFIG_PATH", "")
            path = f"{given}{os.pathsep if given else ''}{settings}"
            return _run(server, folder, {**os.environ, "JUPYTER_CONFIG_PATH": path})
    finally:
        if not target:
            _beowulf("down")


def _beowulf(*words: str) -> None:
    subprocess.run([str(paths.python_bin() / "beowulf"), *words], stdin=subprocess.DEVNULL)


def _run(server: Sequence[str], folder: Path, surroundings: Mapping[str, str]) -> int:
    """Run the server in `folder`; what ends us ends it first."""
    process = subprocess.Popen(server, cwd=folder, env=surroundings, stdin=subprocess.DEVNULL)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        # Jupyter asks back after SIGINT.
        signal.signal(number, lambda *_: process.terminate())
    try:
        return process.wait()
    finally:
        try:
            process.terminate()
            process.wait(LONGEST_END_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def main() -> int:
    """Read the words, and say in a sentence what cannot be done."""
    parser = argparse.ArgumentParser(prog="python -m beowulf.desk.service")
    parser.add_argument("--target", default="")
    parser.add_argument("--wait", action="store_true")
    # From here on all words are the server's own.
    parser.add_argument("kind", choices=sorted(OFF))
    parser.add_argument("server", nargs=argparse.REMAINDER)
    given = parser.parse_args()
    try:
        return serve(given.kind, given.target, given.wait, given.server)
    except LabError as error:
        print(f"beowulf: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
