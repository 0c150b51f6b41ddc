"""Four PCs with Slurm on them, a login machine, and two learners at it: what tests of PCs and of the queue share."""

from __future__ import annotations

import base64
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from beowulf.cluster.common.shells import surroundings
from tests.other_user import UID, ada
from tests.running import Beowulf, wait_until
from tests.simulated_pcs import Hall, hall

TOOLS = ("slurmctld", "slurmd", "sbatch", "munged")
KEY = "sha256sum </etc/munge/munge.key 2>/dev/null"


@dataclass
class School:
    """Four PCs with a queue, and a login machine with those who wait in it."""

    pcs: Hall
    root: Beowulf
    ada: Beowulf
    inventory: Path
    first: str  # what the first `beowulf setup` printed
    image_key: str  # munge's key before it

    def manage(self, *words: str) -> str:
        """What a command of Slurm prints to the cluster's administrator."""
        return self.pcs.at("node00", " ".join(words))

    def jobs(self) -> list[str]:
        """The states of all jobs that have not ended."""
        return self.manage("squeue --noheader --array --format=%T").split()

    def rested(self) -> bool:
        """Whether nobody has anything, and every node is free."""
        states = self.manage("sinfo --noheader --Node --format=%T").split()
        return not self.jobs() and set(states) == {"idle"}


def installed() -> bool:
    """Whether this machine has what Slurm needs."""
    return all(shutil.which(tool, path=surroundings()["PATH"]) for tool in TOOLS)


@contextmanager
def opened(place: Path, rate: str = "off") -> Iterator[School]:
    """A school with cables of that rate, whose first learner's files are in `place`; skips what cannot be done here."""
    if not installed():
        pytest.skip("Slurm is not installed here")
    open_to_all = Path(tempfile.mkdtemp(prefix="beowulf-login-"))
    open_to_all.chmod(0o755)
    try:
        with hall() as pcs, ada() as second:
            first = Beowulf(place / "s", place, pcs.enter)
            more = f"beowulf_slurm: true\n    beowulf_rate: {rate}"
            inventory = pcs.inventory(first.here / "pcs.yml", more=more)
            image_key = pcs.at("node00", KEY, code=None)
            printed = first("setup", inventory)
            pcs.shape(rate)
            for name in pcs.names:
                pcs.at(name, f"usermod --uid {UID} ada && groupmod --gid {UID} ada")
                pcs.at(name, "chown -R ada:ada /home/ada")
            second.prefix = (*pcs.enter, *second.prefix)
            with LoginMachine(pcs, open_to_all) as settings:
                for learner in (first, second):
                    learner.environment["SLURM_CONF"] = str(settings)
                school = School(pcs, first, second, inventory, printed, image_key)
                try:
                    yield school
                finally:
                    for learner in (first, second):
                        learner("down", code=None)
                        learner.end()
    finally:
        shutil.rmtree(open_to_all)


class LoginMachine:
    """This machine gets the cluster's key and settings, as a login machine has them; nobody else sees that."""

    def __init__(self, pcs: Hall, folder: Path) -> None:
        self.pcs, self.folder = pcs, folder

    def __enter__(self) -> Path:
        key, socket = self.folder / "key", self.folder / "socket"
        key.write_bytes(base64.b64decode(self.pcs.at("node00", "base64 /etc/munge/munge.key")))
        key.chmod(0o600)
        settings = self.folder / "slurm.conf"
        its_text = self.pcs.at("node00", "cat /etc/slurm/slurm.conf")
        settings.write_text(f"{its_text}AuthInfo=socket={socket}\n")
        words = ["munged", "--foreground", "--force", f"--key-file={key}", f"--socket={socket}"]
        words += [f"--{name}-file={self.folder / name}" for name in ("pid", "log", "seed")]
        self.process = subprocess.Popen(
            words, env=surroundings(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        wait_until(socket.exists, "munged answers")
        return settings

    def __exit__(self, *_: object) -> None:
        self.process.terminate()
        self.process.wait()
