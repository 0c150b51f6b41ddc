"""Four VMs as a person has them: a folder with the Vagrantfile, `vagrant`, and the command line of a learner there."""

from __future__ import annotations

import os
import queue
import shlex
import shutil
import subprocess
import tarfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from box import NAME, cache, driver, find
from room import Room, room
from running import Beowulf

from beowulf import paths

NODES = tuple(f"node{number:02}" for number in range(4))
ADDRESSES = {name: f"192.168.56.{10 + number}" for number, name in enumerate(NODES)}
MEMORY_MB = 1024
FREE_MB = 6000  # the box unpacked, as libvirt's, and what the VMs write
PATIENCE_S = 1800.0  # of one `vagrant`
BROWSER_S = 300.0  # of one step in a browser
SILENCE_S = 20.0
_began = time.monotonic()


def say(what: str) -> None:
    """A line of progress, with the minutes since the beginning."""
    passed = int(time.monotonic() - _began)
    print(f"vm-test {passed // 60:02}:{passed % 60:02}  {what}", flush=True)


class Vms:
    """The VMs of one checkout."""

    def __init__(self, room: Room, checkout: Path, driver: str) -> None:
        self.room, self.checkout, self.driver = room, checkout, driver
        self.environment = {"BEOWULF_VM_BOX": NAME, "BEOWULF_VM_DRIVER": driver}
        self.learner = Beowulf(room.folder / "s", checkout, room.enter(checkout))
        self.learner.environment = room.surroundings(
            {**self.learner.environment, **room.environment, **self.environment}
        )

    def vagrant(self, *words: str) -> str:
        """Run a `vagrant` to its good end, showing what it says; all of it."""
        say(f"vagrant {' '.join(words)}")
        lines: list[str] = []
        with subprocess.Popen(
            [*self.room.enter(self.checkout), "vagrant", *words],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            env=self.room.surroundings(self.environment),
        ) as process:
            for line in _lines(process, PATIENCE_S):
                lines.append(line)
                if line.strip() and "Progress:" not in line:
                    say(f"  {line.rstrip()}")
        assert process.returncode == 0, "".join(lines[-20:])
        return "".join(lines)

    def at(self, node: str, script: str) -> str:
        """What lines of shell print that root runs on a VM."""
        return self.learner("ssh", node, f"sudo bash --norc -ec {shlex.quote(script)}")

    @contextmanager
    def browser(self) -> Iterator[Any]:
        """Chromium on the host, with JupyterLab's port there as the guide says: by an open `vagrant ssh node00`."""
        from playwright.sync_api import expect, sync_playwright

        enter = self.room.enter(self.checkout)
        started = self.room.folder / "chromium"
        started.write_text(f'#!/bin/sh\nexec {shlex.join(enter)} chromium "$@"\n')
        started.chmod(0o755)
        ssh = subprocess.Popen(
            [*enter, "vagrant", "ssh", "node00", "-c", "cat"],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            env=self.room.surroundings(self.environment),
        )
        assert ssh.stdin
        try:
            with sync_playwright() as playwright:
                expect.set_options(timeout=BROWSER_S * 1000)
                browser = playwright.chromium.launch(
                    executable_path=started, args=["--no-sandbox"], timeout=BROWSER_S * 1000
                )
                context = browser.new_context(viewport={"width": 1400, "height": 1000})
                context.set_default_timeout(BROWSER_S * 1000)
                yield context
                browser.close()
        finally:
            ssh.stdin.close()
            ssh.wait()

    def domains(self) -> list[str]:
        """What libvirt has: machines, networks and disks other than the box's own."""
        found = []
        for listed in ("list --all --name", "net-list --all --name", "vol-list default"):
            words = ("virsh", "-q", "-c", "qemu:///system", *listed.split())
            found += [line.split()[0] for line in self.room.run(*words).splitlines() if line]
        return [name for name in found if not name.startswith(NAME)]


def _lines(process: subprocess.Popen[str], patience_s: float) -> Iterator[str]:
    """What it prints as it comes; in between, now and then, a sign that it is still at work."""
    said: queue.Queue[str] = queue.Queue()

    def listen() -> None:
        assert process.stdout
        for line in process.stdout:
            said.put(line)
        said.put("")

    threading.Thread(target=listen, daemon=True).start()
    deadline = time.monotonic() + patience_s
    while time.monotonic() < deadline:
        try:
            line = said.get(timeout=SILENCE_S)
        except queue.Empty:
            say("  ...")
            continue
        if not line:
            process.wait()
            return
        yield line
    process.kill()
    pytest.fail(f"no end within {patience_s:g} s")


@contextmanager
def vms() -> Iterator[Vms]:
    """A room with a box, a copy of this checkout and no VM yet; afterwards there is nothing of it."""
    _refuse_unable()
    file = find()
    with room(cache()) as opened:
        chosen = driver(file, opened.folder)
        say(f"{NAME} from {file.name}, VMs run by {chosen}")
        checkout = opened.folder / "checkout"
        _copy(checkout)
        found = Vms(opened, checkout, chosen)
        found.vagrant("box", "add", "--provider", "libvirt", "--name", NAME, str(file))
        yield found
        say("taking everything away")


def _refuse_unable() -> None:
    """End the run with a sentence where four VMs cannot be."""
    if os.geteuid() != 0:
        pytest.exit("VMs in networks of their own need root: `sudo make vm-test`.", 1)
    cache().mkdir(parents=True, exist_ok=True)
    for old in cache().glob("vm-*"):
        if not _in_use(old):
            shutil.rmtree(old)
    facts = dict(line.split(":") for line in Path("/proc/meminfo").read_text().splitlines())
    memory_mb = int(facts["MemAvailable"].split()[0]) // 1024
    wanted_mb = len(NODES) * (MEMORY_MB + 200)
    if memory_mb < wanted_mb:
        pytest.exit(f"Four VMs take {wanted_mb} MB of memory, and {memory_mb} MB are free.", 1)
    disk_mb = shutil.disk_usage(cache()).free // 10**6
    if disk_mb < FREE_MB:
        pytest.exit(f"Four VMs take {FREE_MB} MB of disk, and {cache()} has {disk_mb} MB.", 1)


def _in_use(folder: Path) -> bool:
    """Whether the keeper of a room's folder still runs."""
    for entry in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if str(folder).encode() in entry.read_bytes().split(b"\0"):
                return True
        except OSError:
            continue
    return False


def _copy(checkout: Path) -> None:
    """What is in git of this checkout, as it stands; a checkout without git as it is, but what was built."""
    root = paths.root()
    words = ["git", "-C", str(root), "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(words, capture_output=True)
    checkout.mkdir()
    if listed.returncode == 0:
        names = [name.decode() for name in listed.stdout.split(b"\0") if name]
    else:
        built = {".venv", ".mpi", "build", ".vagrant"}
        names = [path.name for path in root.iterdir() if path.name not in built]
    packed = checkout.with_suffix(".tar")
    with tarfile.open(packed, "w") as into:
        for name in names:
            if (root / name).exists():
                into.add(root / name, name)
    with tarfile.open(packed) as out:
        out.extractall(checkout, filter="data")
    packed.unlink()
