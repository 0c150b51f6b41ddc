"""What this machine has and lacks: exactly what the other commands use, each with a hint on how to fix it."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from beowulf import paths
from beowulf.cluster.common.config import ClusterConfig
from beowulf.cluster.common.shells import surroundings
from beowulf.errors import LabError
from beowulf.this_machine import host_state

SWITCHES = Path("/proc/sys")
LEAST_DISK_BYTES = 200 * 1024**2
LEAST_MEMORY_BYTES = 1024**3
# What lets a container of Podman or Docker make namespaces, and mount /proc in them.
CONTAINER_OPTIONS = " ".join(
    f"--security-opt {each}=unconfined" for each in ("seccomp", "systempaths", "apparmor")
)
WITHOUT = "Without them, `beowulf up --target local` makes a cluster that shows less."
BOOTSTRAP = "bootstrap"
SUITES = "suites"  # the group of tools that only some commands need


@dataclass(frozen=True)
class Check:
    """The result of one check: whether all is well, what was found, a hint, and how `--fix` fixes it."""

    name: str
    well: bool
    found: str
    hint: str = ""
    fix: str = ""  # "bootstrap" when cluster_setup/bootstrap.sh brings it
    needed: bool = True  # False: only some commands need it


@dataclass(frozen=True)
class Tool:
    """A command, or a file, that the labs use, and the Debian package that provides it."""

    name: str
    package: str
    group: str
    why: str

    @property
    def path(self) -> str | None:
        """Where it is; /usr/sbin counts too, which an ordinary user's PATH lacks on Debian."""
        if self.name.startswith("/"):
            return self.name if Path(self.name).exists() else None
        return shutil.which(self.name, path=surroundings()["PATH"])


def tools() -> list[Tool]:
    """The table cluster_setup/packages.tsv."""
    lines = (paths.root() / "cluster_setup" / "packages.tsv").read_text().splitlines()
    return [Tool(*line.split("\t")) for line in lines if line.strip() and not line.startswith("#")]


def examine() -> Iterator[Check]:
    """All checks, one after the other, as they are made."""
    yield from _tools()
    yield from _programs()
    check = namespaces()
    yield check if check.well else replace(check, hint=f"{check.hint} {WITHOUT}")
    yield _network()
    yield _capture()
    yield from _room()


def fix(checks: list[Check]) -> bool:
    """Fix what can be fixed; False when the bootstrap failed (it has printed why)."""
    if not any(check.fix == BOOTSTRAP and not check.well for check in checks):
        return True
    script = paths.root() / "cluster_setup" / "bootstrap.sh"
    # What was not available before is tried again.
    (paths.root() / "build" / f"went-without-{SUITES}").unlink(missing_ok=True)
    return subprocess.run(["bash", str(script), "lab"]).returncode == 0


def _tools() -> Iterator[Check]:
    packages: dict[str, list[Tool]] = {}
    for tool in tools():
        if tool.group in ("lab", SUITES):
            packages.setdefault(tool.package, []).append(tool)
    for package, brought in packages.items():
        missing = [tool for tool in brought if not tool.path]
        names = ", ".join(tool.name for tool in missing or brought)
        present = f"missing: {names} ({missing[0].why})" if missing else names
        hint = f"`sudo apt-get install {package}`, or `beowulf doctor --fix`."
        needed = brought[0].group == "lab"
        yield Check(package, not missing, present, hint if missing else "", BOOTSTRAP, needed)


def _programs() -> Iterator[Check]:
    hint = "`beowulf doctor --fix` or `make lab` installs it."
    for library, needed in (("classic", True), ("modern", False)):
        prefix = paths.mpi_prefix(library)
        answer = _output([str(prefix / "bin" / "mpichversion")])
        version = answer.partition("\n")[0].replace("MPICH Version:", "").strip()
        present = version or f"not in {prefix}"
        yield Check(f"MPICH, {library}", bool(version), present, hint, BOOTSTRAP, needed)
    library_file = paths.native("patient_poll.so")
    well = library_file.exists()
    yield Check(
        "patient polling",
        well,
        "built" if well else "not built",
        "`make programs`.",
        BOOTSTRAP,
    )


def namespaces() -> Check:
    """Whether nodes can be made here at all; `make lab` asks the same before it installs anything."""
    done = _try(["bash", str(paths.root() / "cluster_setup" / "namespaces.sh")])
    who = "as root" if os.geteuid() == 0 else "as an ordinary user"
    if done and done.returncode == 0:
        return Check("namespaces", True, f"can be made {who}")
    complaint = done.stderr.strip() if done else "unshare does not answer"
    return Check("namespaces", False, complaint, _why_not())


def _why_not() -> str:
    """What forbids namespaces here, and how to allow them. Root has no use for `sudo`."""
    if os.geteuid() == 0:
        return (
            "Even root may not make them here, as in a container. Start the container with"
            f" `{CONTAINER_OPTIONS}` and work in it as an ordinary user, or start it with `--privileged`."
        )
    until = "until the next boot."
    switches = {
        "kernel/apparmor_restrict_unprivileged_userns": (
            "1",
            "AppArmor forbids user namespaces, as it does on Ubuntu by default:"
            f" `sudo sysctl kernel.apparmor_restrict_unprivileged_userns=0` allows them {until}",
        ),
        "kernel/unprivileged_userns_clone": (
            "0",
            "This kernel forbids user namespaces:"
            f" `sudo sysctl kernel.unprivileged_userns_clone=1` allows them {until}",
        ),
        "user/max_user_namespaces": (
            "0",
            "No user namespaces are allowed here:"
            f" `sudo sysctl user.max_user_namespaces=10000` allows them {until}",
        ),
    }
    for name, (forbids, hint) in switches.items():
        switch = SWITCHES / name
        if switch.exists() and switch.read_text().strip() == forbids:
            return hint
    return (
        "Put `sudo` before `make lab`. To allow namespaces, a container must be started with"
        f" `{CONTAINER_OPTIONS}`."
    )


def _network() -> Check:
    """Boot two nodes exactly as `up` does, in a folder of their own, and take them down at once."""
    from beowulf.cluster.namespaces import cluster

    with tempfile.TemporaryDirectory(prefix="beowulf-doctor-") as folder:
        try:
            try:
                cluster.up(ClusterConfig(nodes=2), folder=Path(folder) / "state")
            finally:
                cluster.down(folder=Path(folder) / "state")
        except LabError as error:
            hint = (
                "Fix the problems above first. If this one stays, the kernel may lack a module:"
                " `sudo modprobe -a bridge veth sch_tbf`."
            )
            return Check("network", False, error.message, hint)
    return Check("network", True, "two nodes came up: bridge, cables, rates and sshd work")


def _capture() -> Check:
    dumpcap = next((tool.path for tool in tools() if tool.name == "dumpcap"), None)
    well = bool(dumpcap) and os.access(str(dumpcap), os.X_OK)
    present = "you can run dumpcap" if well else "you cannot run dumpcap"
    hint = f"`sudo adduser {os.environ.get('USER', 'YOU')} wireshark`, then log in again."
    return Check("capture", well, present, "" if well else hint)


def _room() -> Iterator[Check]:
    folder = paths.state()
    there = next(path for path in (folder, *folder.parents) if path.exists())
    try:
        tempfile.TemporaryFile(dir=there).close()
        writable, present = True, f"{folder} can be written"
    except OSError as error:
        writable, present = False, f"{there} cannot be written: {error.strerror}"
    yield Check(
        "cluster's files", writable, present, "Set BEOWULF_STATE to a folder that you may write to."
    )
    for name, place in (
        ("disk for the cluster", there),
        ("disk for the labs", paths.root()),
    ):
        free = shutil.disk_usage(place).free
        present = f"{free / 1024**3:.1f} GiB free in {place}"
        yield Check(name, free > LEAST_DISK_BYTES, present, "Free at least 200 MiB there.")
    available = host_state.memory_available_bytes()
    present = f"{available / 1024**3:.1f} GiB available"
    yield Check("memory", available > LEAST_MEMORY_BYTES, present, "Close other programs.")


def _output(words: list[str]) -> str:
    done = _try(words)
    return done.stdout if done and done.returncode == 0 else ""


def _try(words: list[str]) -> subprocess.CompletedProcess[str] | None:
    try:
        return subprocess.run(
            words,
            capture_output=True,
            text=True,
            timeout=30,
            stdin=subprocess.DEVNULL,
            env=surroundings(),
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
