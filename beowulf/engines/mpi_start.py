"""How a learner's engines start and end: a controller on this machine, and mpiexec, which makes one MPI world of them.

Both live in one session of this machine, which ends when our end of its stdin closes. So however a notebook's kernel
ends, nothing of it stays; and when mpiexec ends, for whatever reason, the controller ends with it.
"""

from __future__ import annotations

import re
import shlex
import shutil
import signal
import subprocess
import tempfile
import threading
from contextlib import suppress
from pathlib import Path
from typing import IO

from beowulf import mpi, paths
from beowulf.cluster import Cluster, state
from beowulf.cluster.common import hydra
from beowulf.cluster.common.shells import surroundings
from beowulf.engines import controller_address
from beowulf.engines.controller import NAME, connection, named, options, ports
from beowulf.errors import LabError
from beowulf.timeline import recording

LONGEST_END_S = 5.0
MOST_KEPT_BYTES = 64 * 1024
# An engine is let in at its second heartbeat. That one ends, mpiexec notices: nobody is taken for dead who is busy.
HEARTBEATS = ("--HeartMonitor.period=500", "--HeartMonitor.max_heartmonitor_misses=1000000")
SESSION = """\
exec 3<&0 </dev/null
{controller} 3<&- >/dev/null 2>&1 &
{launcher} <&3 3<&-
rm -rf {folder}
kill -KILL 0
"""
# On the first node: mpiexec goes on while our end of its stdin is open. It reads nothing itself (see hydra).
THERE = """\
exec 3<&0
(cat <&3; kill -KILL 0) >/dev/null 2>&1 &
exec 3<&-
"$0" "$@" </dev/null
echo "mpiexec ended with $?" >&2
"""

# On each node: MPICH's mpiexec goes on when a rank has only exited; what is killed, it notices, and ends all ranks.
ENGINE = """\
"$@"
code=$?
echo "engine $PMI_RANK ended with $code" >&2
sleep 0.3
kill -KILL $$
"""
ENDED = re.compile(r"^engine (\d+) ended with (\d+)\n", re.MULTILINE)
ALL_ENDED = re.compile(r"^mpiexec ended with (\d+)\n", re.MULTILINE)


class MpiStart:
    """Controller and engines that were started on a cluster, one engine a node; `folder` has the controller's files."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        self.networked = cluster.can.queue
        # Whatever TMPDIR is: the name of a socket has at most 108 characters.
        self.folder = Path(tempfile.mkdtemp(prefix="beowulf-engines-", dir="/tmp"))
        # The same on each node, and no other user's.
        self.there = self.folder
        if not cluster.can.shared_files:
            self.there = self.folder.with_name(f"{self.folder.name}-there")
        self._carriers: list[subprocess.Popen[bytes]] = []
        self._reached = False
        self._heard = {"stdout": bytearray(), "stderr": bytearray()}
        try:
            self.process = self._begun()
        except BaseException:
            shutil.rmtree(self.folder, ignore_errors=True)
            raise
        for name in self._heard:
            stream = getattr(self.process, name)
            threading.Thread(target=self._hear, args=(name, stream), daemon=True).start()

    def _begun(self) -> subprocess.Popen[bytes]:
        controller_address.prepare(self.cluster, self.there)
        launcher, self.job = self._launcher()
        python = str(paths.python_bin() / "python")
        controller = [python, "-P", "-m", "ipyparallel.controller", f"--cluster-id={NAME}"]
        controller += [f"--profile-dir={self.folder / 'profile'}", "--log-level=50", *HEARTBEATS]
        controller += options(self.folder, networked=self.networked)
        script = SESSION.format(
            controller=shlex.join(controller),
            launcher=shlex.join(launcher),
            folder=shlex.quote(str(self.folder)),
        )
        return subprocess.Popen(
            ["bash", "--norc", "-c", script],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
            env=surroundings(),
        )

    def _launcher(self) -> tuple[list[str], str]:
        # An engine that has lost its parent, whatever it is doing, ends as well.
        dies_too = ["setpriv", "--pdeathsig", "KILL"]
        engine = [*dies_too, "bash", "--norc", "-c", ENGINE, "engine", *dies_too]
        engine += ["python", "-P", "-m", "ipyparallel.engine"]
        file = self.there / controller_address.CONNECTION
        engine += ["--mpi", f"--file={file}", "--log-level=50"]
        engine += [f"--profile-dir={self.there / 'profile'}", "--IPEngine.enable_nanny=False"]
        # It is started at once, and loads its programs while the controller does.
        engine += ["--IPEngine.wait_for_url_file=120", "--timeout=120"]
        # It records when it is asked to (%%px --trace).
        engine = [*recording.loaded(self.cluster.mpi), *engine]
        nodes = self.cluster.nodes
        ours = ["bash", "--norc", "-c", THERE, "mpiexec"]
        ours += ["-n", str(len(nodes)), "-hosts", ",".join(nodes)]
        return mpi.command(self.cluster, engine, len(nodes), launcher=ours)

    def _hear(self, name: str, stream: IO[bytes]) -> None:
        kept = self._heard[name]
        with suppress(OSError, ValueError):
            while piece := stream.read1(65536):  # type: ignore[attr-defined]
                kept += piece
                del kept[:-MOST_KEPT_BYTES]

    def _said(self, name: str) -> str:
        return bytes(self._heard[name]).decode(errors="replace")

    @property
    def runs(self) -> bool:
        """Whether neither mpiexec nor an engine has ended: mpiexec notices that an engine has a moment later."""
        return self.process.poll() is None and not ENDED.search(self._said("stderr"))

    def ready(self) -> bool:
        """Whether the controller listens; the first time that it does, engines learn where."""
        if not self._reached and self._listens():
            self._carriers = controller_address.lead(
                self.cluster, self.folder, self.there, self.networked
            )
            self._reached = True
        return self._reached

    def _listens(self) -> bool:
        if self.networked:
            return bool(ports(connection(self.folder, "engine")))
        return named(self.folder)

    @property
    def client_file(self) -> Path:
        """How a notebook reaches the controller."""
        return connection(self.folder, "client")

    def end(self) -> None:
        """End all of it on every node, and remove its files."""
        for process in (self.process, *self._carriers):
            assert process.stdin
            with suppress(OSError):
                process.stdin.close()
        for process in (self.process, *self._carriers):
            try:
                process.wait(LONGEST_END_S)
            except subprocess.TimeoutExpired:
                mpi.stop(process)
        with suppress(LabError, state.GoneError):
            mpi.clear(self.cluster, self.job)
        shutil.rmtree(self.folder, ignore_errors=True)

    def why(self) -> tuple[str, str]:
        """Why mpiexec ended, in a sentence, and what to try."""
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(LONGEST_END_S)
        errors = self._said("stderr")
        again = "`engines.restart()` starts them again."
        try:
            dead = self.cluster.dead_nodes()
        except state.GoneError as gone:
            return "The cluster was taken down, and the engines with it.", f"{gone.hint} {again}"
        except LabError as problem:
            return f"The engines ended. {problem.message}", problem.hint
        lost = [*dead, *mpi.LOST.findall(errors)]
        if lost:
            return f"{lost[0]} went down, and all engines with it.", again
        nodes = self.cluster.nodes
        ended = [(nodes[int(rank)], code) for rank, code in ENDED.findall(errors)]
        if not ended and (banner := hydra.BANNER.search(self._said("stdout"))):
            ended = [(banner["node"], banner["code"])]
        if ended and ended[0][0] in nodes:
            node, code = ended[0]
            who = f"{node} (rank {nodes.index(node)})"
            return f"{who} {_how(int(code))}, and that ends all engines.", again
        lines = ALL_ENDED.sub("", ENDED.sub("", errors)).strip().splitlines()
        if not lines and (code := ALL_ENDED.search(errors)):
            return f"A rank has ended all engines with exit code {code[1]}, as `Abort` does.", again
        said = f": {lines[-1][:300]}" if lines else ""
        if "No module named" in said:
            again = "`beowulf setup` once more brings what the nodes lack."
        return f"The engines ended{said}.", again


def _how(code: int) -> str:
    """How a rank ended, by its exit code as a shell has it."""
    number = code - 128 if code > 128 else code
    with suppress(ValueError):
        if code > 128 or number in mpi.USUAL_CRASHES:
            return f"was ended by signal {number} ({signal.strsignal(signal.Signals(number))})"
    return f"ended with exit code {code}"
