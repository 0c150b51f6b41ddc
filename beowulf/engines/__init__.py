"""IPython engines on the nodes: one a node, all in one MPI world, driven from a notebook.

The controller runs beside the notebook and talks to the engines through sockets in a folder that every node sees:
nothing of it is on the cables that a learner measures.
"""

from __future__ import annotations

import json
import shutil
import socket
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

from beowulf import paths
from beowulf.cluster import Cluster
from beowulf.errors import LabError

LONGEST_START_S = 120.0
NAME = "beowulf"
ENDS = ("engine", "client")


class Engines:
    """One engine a node. `view` runs code on all of them; `restart()` starts them again when a rank died or hangs."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        self._set: Any = None
        self._client: Any = None
        self._folder: Path | None = None

    def start(self) -> Engines:
        """Start controller and engines and wait until every engine answers."""
        from ipyparallel.cluster.launcher import MPIEngineSetLauncher
        from traitlets.config import Config

        if dead := self.cluster.dead_nodes():
            raise LabError(f"{', '.join(dead)} is down.", "`beowulf up` starts it again.", dead[0])
        # Short, because the name of a socket has at most 108 characters.
        self._folder = Path(tempfile.mkdtemp(prefix="beowulf-engines-"))
        profile = self._folder / "profile"
        settings = Config()
        launcher = [str(paths.python_bin() / "beowulf"), "run", "--timeout", "0"]
        settings.MPIEngineSetLauncher.mpi_cmd = launcher
        # ssh passes no variables on, so the engines get the controller's place as words.
        settings.EngineLauncher.engine_args = [f"--profile-dir={profile}", f"--cluster-id={NAME}"]
        self._set = controller(
            self._folder,
            n=len(self.cluster.nodes),
            engines=MPIEngineSetLauncher,
            config=settings,
            send_engines_connection_env=False,
            engine_timeout=int(LONGEST_START_S),
        )
        try:
            listen(self._set, self._folder)
            self._set.start_engines_sync()
            self._client = self._set.connect_client_sync()
            self._await()
        except BaseException:
            self.stop()
            raise
        return self

    @property
    def view(self) -> Any:
        """All engines; the engine's number is not its rank, so `view` is sorted by rank."""
        assert self._client is not None
        ranks = self._client[:].apply_sync(_rank)
        order = [engine for _, engine in sorted(zip(ranks, self._client.ids, strict=True))]
        return self._client[order]

    def restart(self) -> None:
        """End everything, whatever a rank is doing, heal the cluster, and start again in one MPI world."""
        self.stop()  # the controller too: it would take engines that just died for alive
        self.cluster.heal()
        self.start()

    def stop(self) -> None:
        """End engines and controller and remove their files."""
        if self._client is not None:
            self._client.close()
        if self._set is not None:
            self._set.stop_cluster_sync()
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)
        self._client = self._set = self._folder = None

    def _await(self) -> None:
        import ipyparallel

        try:
            self._client.wait_for_engines(
                len(self.cluster.nodes), timeout=LONGEST_START_S, interactive=False
            )
        except (TimeoutError, ipyparallel.error.TimeoutError, ipyparallel.error.EngineError) as why:
            raise LabError(
                f"Not all engines started within {LONGEST_START_S:g} s: {why}.",
                "`beowulf status` shows which nodes answer; restart() tries again.",
            ) from why

    def __enter__(self) -> Engines:
        return self.start()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()


def controller(
    folder: Path, *, networked: bool = False, words: Sequence[str] = (), **more: Any
) -> Any:
    """ipyparallel's Cluster with a controller whose files are in `folder`, not started yet; `words` are its options.

    It listens at sockets in that folder; for `networked` engines, which see no socket there, at this machine's
    addresses, and everything is encrypted by CURVE.
    """
    import ipyparallel

    if networked:
        where = ["--ip=*", f"--location={socket.gethostname()}", "--IPController.enable_curve=True"]
    else:
        sockets = [f"--IPController.{end}_ip={folder / end}" for end in (*ENDS, "monitor")]
        where = ["--IPController.transport=ipc", *sockets]
    return ipyparallel.Cluster(
        controller_args=[*where, *words],
        cluster_id=NAME,
        profile_dir=str(folder / "profile"),
        log_level=40,
        **more,
    )


def listen(its_set: Any, folder: Path, *, networked: bool = False) -> None:
    """Start the controller and wait until its sockets are there."""
    its_set.start_controller_sync()
    if not networked:
        _name_sockets(folder)


def _name_sockets(folder: Path) -> None:
    """Give each socket of the controller its second name, as the controller writes them down.

    ipyparallel (9.2) listens at `engine-1234` and connects to `engine:1234`.
    """
    deadline = time.monotonic() + LONGEST_START_S
    waiting = {
        end: folder / "profile" / "security" / f"ipcontroller-{NAME}-{end}.json" for end in ENDS
    }
    while waiting:
        for end, file in list(waiting.items()):
            used = ports(file)
            if used and all((folder / f"{end}-{port}").exists() for port in used):
                for port in used:
                    (folder / f"{end}:{port}").symlink_to(f"{end}-{port}")
                del waiting[end]
        if time.monotonic() > deadline:
            raise LabError("The engines' controller does not start.", "Try once more.")
        time.sleep(0.01)


def ports(file: Path) -> list[int]:
    """The ports that the controller has written down for one of its ends; nothing when it has not yet."""
    try:
        connection = json.loads(file.read_text())
    except (OSError, ValueError):
        return []  # not written yet, or only half
    values = [
        v for value in connection.values() for v in (value if isinstance(value, list) else [value])
    ]
    return sorted({value for value in values if isinstance(value, int)})


def _rank() -> int:
    from mpi4py import MPI

    return int(MPI.COMM_WORLD.Get_rank())
