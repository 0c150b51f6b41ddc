"""`beowulf setup`: Ansible, with the playbook of cluster_setup/, on the machines of an inventory."""

from __future__ import annotations

import hashlib
import importlib.metadata
import io
import json
import os
import platform
import secrets
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from beowulf import paths
from beowulf.cluster.common import node_environment
from beowulf.cluster.machines import checkout, connections, inventory, node_files
from beowulf.cluster.machines.inventory import Machine
from beowulf.errors import LabError, UsageError

FOLDER = paths.root() / "cluster_setup"
INSTALL = FOLDER / "roles" / "programs" / "files" / "install.sh"
PROGRAMS = "/opt/beowulf/programs"
# The packages of this virtual environment that Python programs and engines on nodes import, and what these need but for
# the debugger and the completion of names, which are large and do nothing there.
IMPORTED, LEFT_OUT = ("mpi4py", "numpy", "ipyparallel"), ("debugpy", "jedi", "parso")
MARK_BYTES = 8

# mpiexec starts this in place of ssh. A login that is no login shell knows nothing of the cluster's programs.
CONNECTION = """\
#!/bin/sh
# ssh, as mpiexec uses it to reach a node. When the connection breaks, it says so and ends the whole run.
options=
while case $1 in -*) true ;; *) false ;; esac; do
    options="$options $1"
    shift
done
node=$1
shift
# 255 is how ssh tells that it broke; what it starts there must not end with the same.
line=". /opt/beowulf/etc/environment; export BEOWULF_JOB=$BEOWULF_JOB; $* || exit 1"
# Who was given the nodes by Slurm needs no key: it starts what runs there, and ends it with the job.
if [ -n "$SLURM_JOB_ID" ]; then
    exec srun --overlap --nodes=1 --ntasks=1 --nodelist="$node" --mpi=none --export=ALL --chdir=/ -QQ \
        /bin/sh -c "$line" </dev/null
fi
# All that comes this way is what a login prints: mpiexec hears its ranks on a connection of its own.
ssh $options "$node" "$line" >/dev/null
code=$?
"""
PYTHON = f"""\
#!/bin/sh
# Python with what the labs' programs import. These packages are for Python VERSION alone.
export PYTHONPATH={PROGRAMS}/python
exec pythonVERSION "$@"
"""


@dataclass
class Done:
    """What a run changed on each machine that was reached, in words, and why it failed on others."""

    changed: dict[str, list[str]] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)


def run(
    path: Path,
    *,
    check: bool = False,
    undo: bool = False,
    take: bool = False,
    verbose: bool = False,
) -> Done:
    """Set the machines of an inventory up as a cluster, or say with `check` what that would change, or `undo` it."""
    ansible = paths.python_bin() / "ansible-playbook"
    if not ansible.exists():
        raise LabError(
            "Ansible, which sets machines up, is not installed.",
            "`cluster_setup/bootstrap.sh setup` installs it into this checkout.",
        )
    machines = inventory.read(path)
    addresses = {machine.name: machine.address for machine in machines}
    if nowhere := [name for name, address in addresses.items() if not address]:
        raise UsageError(
            f"{path} does not say which address {nowhere[0]} has on the cluster's network.",
            "Write it there: `ansible_host` or `beowulf_address`, an IPv4 address.",
        )
    with tempfile.TemporaryDirectory(prefix="beowulf-setup-") as name:
        folder = Path(name)
        # By this name Ansible knows that it is YAML, whatever the file is called.
        (folder / "inventory.yml").write_text(path.read_text())
        connections.configure(folder, machines)
        variables = _variables(machines, folder, take=take, undo=undo)
        (folder / "variables.json").write_text(json.dumps(variables))
        words = [str(ansible), str(FOLDER / ("undo.yml" if undo else "playbook.yml"))]
        words += ["-i", str(folder / "inventory.yml"), "-e", f"@{folder / 'variables.json'}"]
        words += ["--check"] if check else []
        try:
            ended = subprocess.run(
                words,
                cwd=FOLDER,
                env=_surroundings(folder, verbose),
                stdin=subprocess.DEVNULL,
                stdout=None if verbose else subprocess.PIPE,
                stderr=subprocess.STDOUT if not verbose else None,
                text=True,
                errors="replace",
            )
        finally:
            connections.close(folder, machines)
        return _done(folder, machines, ended)


def _variables(machines: list[Machine], folder: Path, *, take: bool, undo: bool) -> dict[str, Any]:
    """The playbook's variables; they take precedence over those of the inventory."""
    build = paths.root() / "build"
    archive, digest = ("", "") if undo else pack(build if os.access(build, os.W_OK) else folder)
    return {
        # Our ssh_config has the machine under this name.
        "ansible_host": "{{ inventory_hostname }}",
        "beowulf_names": [machine.name for machine in machines],
        "beowulf_addresses": {machine.name: machine.address for machine in machines},
        # The port of a node's ssh server as its neighbours see it: a port that is forwarded is not that.
        "beowulf_ports": {m.name: m.port if m.host == m.address else 22 for m in machines},
        "beowulf_arch": platform.machine(),
        "beowulf_new": secrets.token_hex(MARK_BYTES),
        "beowulf_take": take,
        "beowulf_archive": str(archive),
        "beowulf_digest": digest,
    }


def _surroundings(folder: Path, verbose: bool) -> dict[str, str]:
    return {
        **{name: text for name, text in os.environ.items() if not name.startswith("ANSIBLE_")},
        "ANSIBLE_CONFIG": str(FOLDER / "ansible.cfg"),
        "ANSIBLE_HOME": str(folder / "ansible"),
        "ANSIBLE_SSH_ARGS": f"-F {folder / connections.CONFIG}",
        "ANSIBLE_NOCOLOR": "1",
        "ANSIBLE_PYTHON_INTERPRETER": "/usr/bin/python3",
        "BEOWULF_SETUP_RESULT": str(folder / "result.json"),
        **({"BEOWULF_SETUP_VERBOSE": "1"} if verbose else {}),
        # Ansible insists on UTF-8.
        "LC_ALL": "C.UTF-8",
        "PYTHONWARNINGS": "ignore",
    }


def _done(folder: Path, machines: list[Machine], ended: subprocess.CompletedProcess[str]) -> Done:
    if not (folder / "result.json").exists():
        last = (ended.stdout or "it printed nothing").strip().rpartition("\n")[2]
        raise LabError(
            f"Ansible could not start: {last.rstrip('.')}.",
            "`beowulf setup --verbose` shows its whole output.",
        )
    result = json.loads((folder / "result.json").read_text())
    by_name = {machine.name: machine for machine in machines}
    failed = {name: _sentence(by_name[name], message) for name, message in result["failed"].items()}
    return Done(result["changed"], {name: failed[name] for name in by_name if name in failed})


def _sentence(machine: Machine, output: str) -> str:
    """Why a machine could not be set up, from what Ansible printed about it."""
    if trouble := connections.trouble(machine, output):
        return str(trouble).replace(f"{machine.name} ", "it ", 1)
    if "sudo" in output and ("password" in output or "not found" in output or "sudoers" in output):
        user = machine.user or "your user"
        return (
            f"{user} may not become root on it without a password."
            " Its administrator can allow that in /etc/sudoers.d."
        )
    if any(mark in output for mark in node_files.FULL):
        return "its disk is full. Free some space there; what it had before is still there."
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    return lines[0] if lines else "Ansible failed on it and did not say why."


def pack(folder: Path) -> tuple[Path, str]:
    """The programs of a node, packed into a script of `folder` unless they are; its path, a digest of what it holds.

    They are the MPICH of this virtual environment, the packages that Python programs import, and our own small ones.
    """
    contents = dict(_contents())
    hashed = hashlib.sha256(INSTALL.read_bytes())
    for name in sorted(contents):
        hashed.update(f"{name}\0{hashlib.sha256(contents[name][0]).hexdigest()}\0".encode())
    digest = hashed.hexdigest()
    contents["digest"] = (f"{digest}\n".encode(), 0o644, 0)

    def write(script: Path) -> None:
        with script.open("wb") as file:
            file.write(INSTALL.read_bytes())
            with tarfile.open(fileobj=file, mode="w:gz", compresslevel=1) as files:
                for name, (data, mode, moment) in sorted(contents.items()):
                    member = tarfile.TarInfo(name)
                    member.size, member.mode, member.mtime = len(data), mode, moment
                    files.addfile(member, io.BytesIO(data))

    return checkout.made(folder / f"programs-{digest[:16]}.sh", write), digest


def _contents() -> Iterator[tuple[str, tuple[bytes, int, int]]]:
    """Each file of the programs: its name there, what is in it, its mode, its time."""
    for _, path in _files("mpich"):
        inside = path.relative_to(Path(sys.prefix).resolve())
        if inside.parts[0] in ("bin", "include") or path.name.startswith("libmpi"):
            yield f"mpich/{inside.parts[0]}/{path.name}", _whole(path)
    for package in _imported():
        for name, path in _files(package):
            if not name.startswith("..") and "/tests/" not in name:
                yield f"python/{name}", _whole(path)
    launcher = node_environment.LAUNCHER.replace(
        "MPIEXEC", f"{PROGRAMS}/mpich/bin/mpiexec -genv LD_PRELOAD {PROGRAMS}/lib/patient_poll.so"
    )
    version = f"{sys.version_info[0]}.{sys.version_info[1]}"
    scripts = {
        "mpiexec": launcher,
        "mpirun": launcher,
        "connection": CONNECTION + node_environment.CONNECTION_ENDED,
        "python": PYTHON.replace("VERSION", version),
    }
    for name, text in scripts.items():
        yield f"bin/{name}", (text.encode(), 0o755, 0)
    source = paths.root() / "beowulf" / "native" / "patient_poll.c"
    yield f"lib/{source.name}", (source.read_bytes(), 0o644, 0)


def _imported() -> list[str]:
    """The packages that go to the nodes, with all that they need."""
    from packaging.requirements import Requirement
    from packaging.utils import canonicalize_name

    known: dict[str, None] = {}
    wanted = list(IMPORTED)
    while wanted:
        name = str(canonicalize_name(wanted.pop()))
        if name in known or name in LEFT_OUT:
            continue
        known[name] = None
        needs = [Requirement(line) for line in importlib.metadata.requires(name) or []]
        wanted += [n.name for n in needs if not n.marker or n.marker.evaluate({"extra": ""})]
    return list(known)


def _files(package: str) -> Iterator[tuple[str, Path]]:
    for each in importlib.metadata.files(package) or []:
        path = Path(str(each.locate())).resolve()
        if path.is_file():
            yield str(each), path


def _whole(path: Path) -> tuple[bytes, int, int]:
    status = path.stat()
    # The time counts: Python's own compiled files name that of their source.
    return path.read_bytes(), 0o755 if status.st_mode & 0o100 else 0o644, int(status.st_mtime)
