"""The box that VMs are made from: built when there is none for this checkout, and kept for the next time."""

from __future__ import annotations

import os
import shutil
import subprocess
import tarfile
from pathlib import Path

from beowulf import paths

BUILD = paths.root() / "cluster_setup" / "box" / "build.sh"
NAME = "beowulf-labs"
LONGEST_PROBE_S = 10.0
PANIC = "Kernel panic"


def cache() -> Path:
    """Where boxes are kept, and where VMs have their disks while a test runs."""
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(home) / "beowulf-labs" / "box"


def find() -> Path:
    """The box for this checkout; building it takes some minutes, once."""
    said = subprocess.run([BUILD, "--digest"], capture_output=True, text=True, check=True)
    file = cache() / f"{said.stdout.strip()}.box"
    if not file.exists():
        for old in cache().glob("*.box"):
            old.unlink()
        subprocess.run([BUILD, file], stdin=subprocess.DEVNULL, check=True)
    return file


def driver(file: Path, folder: Path) -> str:
    """`kvm` where it runs the box's kernel, else `qemu`; BEOWULF_VM_DRIVER decides where it is set."""
    chosen = os.environ.get("BEOWULF_VM_DRIVER", "auto")
    if chosen != "auto":
        return chosen
    if not os.access("/dev/kvm", os.W_OK):
        return "qemu"
    with tarfile.open(file) as box, (folder / "vmlinuz").open("wb") as kernel:
        packed = box.extractfile("./vmlinuz")
        assert packed
        shutil.copyfileobj(packed, kernel)
    # Without a disk it gets as far as to miss it.
    words = ["qemu-system-x86_64", "-accel", "kvm", "-m", "256", "-no-reboot", "-display", "none"]
    words += ["-monitor", "none", "-serial", "stdio", "-nic", "none", "-kernel", f"{kernel.name}"]
    words += ["-append", "console=ttyS0 panic=-1"]
    try:
        done = subprocess.run(
            words, stdin=subprocess.DEVNULL, capture_output=True, timeout=LONGEST_PROBE_S
        )
    except subprocess.TimeoutExpired:
        return "qemu"
    return "kvm" if PANIC.encode() in done.stdout else "qemu"
