"""What a newcomer does on a fresh machine, step by step, as README and handouts say; runs with that machine's Python.

python3 walk.py WAY REPORT CHECKOUT: works in a new clone of CHECKOUT and writes a line of JSON a step into REPORT. WAY
is `container` where namespaces are forbidden, so that the cluster is four ranks on this machine.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path

HERE = Path.home() / "beowulf-labs"
LONGEST_STEP_S = 900
LONGEST_LAB_S = 1500
ADDRESS = re.compile(r"http://127\.0\.0\.1:\d+/\S*token=\w+")


class FailedError(Exception):
    """A step did not do what it should; the text says how."""


def shell(line: str, expected: str) -> str:
    """Run a line of shell in the clone; what it printed, which has to match `expected`."""
    words = ["bash", "-c", f"if [ -e .venv ]; then . .venv/bin/activate; fi\n{line}"]
    done = subprocess.run(
        words,
        cwd=HERE if HERE.exists() else Path.home(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=LONGEST_STEP_S,
    )
    if done.returncode or not re.search(expected, done.stdout):
        raise FailedError(f"{line}\nended with {done.returncode}:\n{done.stdout[-3000:]}")
    return done.stdout


def jupyterlab() -> None:
    """`make lab` until JupyterLab answers, then Ctrl-C, after which nothing runs."""
    log = Path.home() / "lab.log"
    with log.open("w") as file:
        lab = subprocess.Popen(
            ["make", "lab"],
            cwd=HERE,
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=file,
            start_new_session=True,
        )
    deadline = time.monotonic() + LONGEST_LAB_S
    while not (found := ADDRESS.search(log.read_text())):
        if lab.poll() is not None or time.monotonic() > deadline:
            raise FailedError(f"make lab opened nothing:\n{log.read_text()[-3000:]}")
        time.sleep(0.1)
    with urllib.request.urlopen(found[0], timeout=LONGEST_STEP_S) as answer:
        if answer.status != 200:
            raise FailedError(f"{found[0]} answers with {answer.status}")
    os.killpg(lab.pid, signal.SIGINT)
    lab.wait(LONGEST_STEP_S)
    left = [
        words
        for each in Path("/proc").glob("[0-9]*/cmdline")
        if (words := each.read_bytes().replace(b"\0", b" ").decode(errors="replace"))
        and re.search("beowulf-supervisor|jupyter|sshd", words)
    ]
    if left:
        raise FailedError(f"after Ctrl-C there still runs: {left}\n{log.read_text()[-1500:]}")


SIMULATION = """
export BEOWULF_STATE=$(mktemp -d)/state
beowulf up --target simulated
beowulf run -n 4 labs/01-validation/ring.c
beowulf down
"""
HAND_IN = """
set -e
mkdir -p ~/hand-ins/ab12/records ~/teach
cp notebooks/release/01-validation/validation.ipynb ~/hand-ins/ab12
cp labs/01-validation/records/A2*.json ~/hand-ins/ab12/records
cd ~/teach
printf 'id\\nab12\\n' >roster.csv
beowulf class init spring --roster roster.csv --no-codes
cd spring
beowulf class release 01
beowulf class collect 01 ~/hand-ins
beowulf class grade 01
"""

Steps = list[tuple[str, Callable[[], object]]]
RING = "beowulf run -n 4 labs/01-validation/ring.c"
HOME_AGAIN = "the token came home after 4 hops"
CAPTURE = """
cd labs/06-protocol-analysis
beowulf capture --snap 0 -o ~/card.pcapng -n 2 -- postcard.c 'Greetings from node00'
beowulf packets ~/card.pcapng --messages
beowulf packets --install-dissector
tshark -r ~/card.pcapng -Y 'mpich.tag == 1'
"""

FIRST: Steps = [
    ("clone", lambda: shell(f"git clone -q {sys.argv[3]} {HERE}", "")),
    ("make lab", jupyterlab),
    ("suites", lambda: shell("cluster_setup/bootstrap.sh suites", "")),
]
CLUSTER: Steps = [
    *FIRST,
    ("doctor", lambda: shell("beowulf doctor", "This machine can run the labs")),
    ("boot", lambda: shell("beowulf up", "4 nodes are up")),
    ("ring", lambda: shell(RING, HOME_AGAIN)),
    ("validation", lambda: shell("beowulf validate", "")),
    ("capture", lambda: shell(CAPTURE, "MPICH")),
    ("study", lambda: shell("cd labs/01-validation && beowulf study A2 --quick", "holds")),
    ("simulation", lambda: shell(SIMULATION, HOME_AGAIN)),
    ("grading", lambda: shell(HAND_IN, r"ab12 +│ +[1-9]\d* of \d+")),
    ("down", lambda: shell("beowulf down", "The cluster is down")),
]
CONTAINER: Steps = [
    *FIRST,
    ("boot", lambda: shell("beowulf up --target local", "")),
    ("ring", lambda: shell(RING, HOME_AGAIN)),
    ("study", lambda: shell("cd labs/04-blocking-nonblocking && beowulf study E1 --quick", "")),
    ("simulation", lambda: shell(SIMULATION, HOME_AGAIN)),
    ("down", lambda: shell("beowulf down", "")),
]


def main() -> int:
    """Take all steps and report each; without JupyterLab the later ones are not tried."""
    well = True
    with open(sys.argv[2], "w") as report:
        for name, step in CONTAINER if sys.argv[1] == "container" else CLUSTER:
            began, failure = time.monotonic(), ""
            try:
                step()
            except (FailedError, OSError, subprocess.TimeoutExpired) as error:
                failure = str(error)
            line = {"step": name, "seconds": time.monotonic() - began, "failure": failure}
            report.write(json.dumps(line) + "\n")
            report.flush()
            print(
                f"{'FAILED' if failure else 'ok':7}{name} {line['seconds']:.1f} s",
                failure,
                flush=True,
            )
            well = well and not failure
            if failure and name in ("clone", "make lab"):
                break
    return 0 if well else 1


if __name__ == "__main__":
    sys.exit(main())
