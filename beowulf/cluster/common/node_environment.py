"""What every shell on a node finds set, so that `mpicc` and `mpiexec -n 4` work there with no option to remember."""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping
from pathlib import Path

from beowulf import paths
from beowulf.cluster.common.config import ClusterConfig

# A learner's own start-up file may have given these names another meaning, and Python other packages.
NOT_THEIRS = "unalias mpicc mpiexec mpirun 2>/dev/null\nunset PYTHONPATH PYTHONHOME"
# Names a run of an MPI program in all its processes on all nodes, so that none of them is forgotten.
JOB = "BEOWULF_JOB"
# What mpiexec starts in place of ssh; it hands this name through shells of other nodes without quoting it.
CONNECTION_THERE = "/run/beowulf/connection"
SYSTEM_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


def variables(plan: ClusterConfig, folder: Path) -> dict[str, str]:
    """The environment of a shell on a node of the cluster whose files are in `folder`."""
    prefix = paths.mpi_prefix(plan.mpi)
    path = [
        str(folder / "bin"),
        str(prefix / "bin"),
        str(paths.python_bin()),
        SYSTEM_PATH,
    ]
    return {
        "PATH": ":".join(path),
        "BEOWULF_STATE": str(folder),
        "HYDRA_LAUNCHER": "ssh",
        "HYDRA_LAUNCHER_EXEC": CONNECTION_THERE,
        "HYDRA_HOST_FILE": str(folder / "etc" / "mpi_hosts"),
        "HYDRA_IFACE": "eth0",
        "MPIR_CVAR_NEMESIS_TCP_NETWORK_IFACE": "eth0",
        # The modern library would otherwise pick whatever device of the host it finds first.
        "FI_PROVIDER": "tcp",
        "FI_TCP_IFACE": "eth0",
        "UCX_TLS": "tcp,self",
        "UCX_NET_DEVICES": "eth0",
        "MPI4PY_LIBMPI": str(prefix / "lib" / "libmpi.so.12"),
        "BEOWULF_PATIENT": "auto",
        # All nodes have these together (beowulf/native/patient_poll.c).
        "BEOWULF_SHARED_CORES": str(len(os.sched_getaffinity(0))),
    }


def files(
    plan: ClusterConfig, folder: Path, settings: Mapping[str, str] | None = None
) -> dict[str, tuple[str, int]]:
    """Files of the cluster that shells on all nodes share: path below the state folder, text, mode.

    `settings` are what these shells find set, where it is not what `variables` says.
    """
    launcher = _launcher(paths.mpi_prefix(plan.mpi) / "bin" / "mpiexec")
    settings = settings or variables(plan, folder)
    exports = "".join(f"export {name}={shlex.quote(value)}\n" for name, value in settings.items())
    python = shlex.quote(str(paths.python_bin() / "python"))
    return {
        # The modern library lives beside another Python, which would come first in PATH.
        "bin/python": (f'#!/bin/sh\nexec {python} "$@"\n', 0o755),
        "bin/connection": (CONNECTION + CONNECTION_ENDED, 0o755),
        "bin/shell": (_shell(folder), 0o755),
        "bin/mpiexec": (launcher, 0o755),
        "bin/mpirun": (launcher, 0o755),
        "etc/bashrc": (f"[ -r ~/.bashrc ] && . ~/.bashrc\n{NOT_THEIRS}\n{exports}", 0o644),
        "etc/mpi_hosts": ("".join(f"{name}\n" for name in plan.names), 0o644),
    }


def _shell(folder: Path) -> str:
    # A learner's own start-up files may put another MPI first; on a node the cluster's comes first.
    return (
        "#!/bin/bash\n"
        "# The login shell on a node: bash, with this cluster's tools first in PATH.\n"
        f"[ $# -eq 0 ] && exec bash --rcfile {shlex.quote(str(folder / 'etc' / 'bashrc'))} -i\n"
        'exec bash --norc "$@"\n'
    )


def _launcher(mpiexec: Path) -> str:
    words = [str(mpiexec), "-genv", "LD_PRELOAD", str(paths.native("patient_poll.so"))]
    return LAUNCHER.replace("MPIEXEC", shlex.join(words))


LAUNCHER = """\
#!/bin/sh
# MPICH's own mpiexec, which adds patient polling to the ranks: a rank that waits lets another one compute when there
# are more ranks than cores (BEOWULF_PATIENT=never turns it off). When a run fails, it says which node is gone.
trap : INT
MPIEXEC "$@"
code=$?
trap - INT
# 137: ended by `connection`, which has printed why.
if [ $code -ne 0 ] && [ $code -ne 137 ]; then
    while read -r node; do
        ask=": </dev/tcp/$node/22"
        # A node that is just dying may still answer once.
        { timeout 3 bash --norc -c "$ask" && sleep 1 && timeout 3 bash --norc -c "$ask"; } 2>/dev/null ||
            echo "mpiexec: $node does not answer. \\`beowulf up\\` on your machine heals it." >&2 &
    done <"$HYDRA_HOST_FILE"
    wait
fi
exit $code
"""

# hydra goes on waiting for a node whose ssh has ended; so ssh is given this one more thing to do.
CONNECTION = """\
#!/bin/sh
# ssh, as mpiexec uses it to reach a node. When the connection breaks, it says so and ends the whole run.
# 255 is how ssh tells that it broke; what it starts there must not end with the same.
ssh "$@" "|| exit 1"
code=$?
for node; do case $node in -*) ;; *) break ;; esac; done
"""
# After a connection to $node that ended with $code: a lost one ends mpiexec.
CONNECTION_ENDED = """\
if [ $code -eq 255 ] && grep -q '^mpiexec' /proc/$PPID/comm 2>/dev/null; then
    message="mpiexec: the connection to $node broke; the run is ended. \\`beowulf up\\` on your machine heals it."
    # To where mpiexec itself writes; else through mpiexec, which needs a moment to pass it on.
    { echo "$message" >>/proc/$PPID/fd/2; } 2>/dev/null || { echo "$message" >&2; sleep 1; }
    # A polite signal it would answer by asking the lost node to clean up, and wait for that too.
    kill -KILL $PPID
fi
exit $code
"""
