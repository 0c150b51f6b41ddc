"""Run a program with the recorder between it and MPI, and bring home what each rank has written."""

from __future__ import annotations

import base64
import hashlib
import io
import json
import os
import shlex
import shutil
import tarfile
import time
import uuid
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from beowulf import mpi, paths
from beowulf.cluster import Cluster
from beowulf.cluster.common.hydra import EAGER_LIMIT
from beowulf.errors import LabError, plain
from beowulf.timeline.trace import FILE

SOURCE = Path(__file__).with_name("recorder.c")
DETAILS, CAPTURE = "trace.json", "wire.pcapng"
SHIPPED_EAGER_BYTES = 131072
# Of what is in DETAILS.
KINDS = {"program": str, "cluster": dict, "capture": dict, "eager_bytes": int, "stopped_ns": int}
LONGEST_FETCH_S = 300.0
# Behind what the cluster's mpiexec preloads already, and for the program alone, not for this shell.
PRELOAD = 'library=$1; shift; LD_PRELOAD="${LD_PRELOAD:+$LD_PRELOAD:}$library" exec "$@"'
LOAD = (
    "library=$1 BEOWULF_TRACE=$2 BEOWULF_TRACE_CLOCKS=$3; shift 3;"
    " export BEOWULF_TRACE BEOWULF_TRACE_CLOCKS;"
    ' (umask 077; mkdir -p "$BEOWULF_TRACE");'
    ' LD_PRELOAD="${LD_PRELOAD:+$LD_PRELOAD:}$library" exec "$@"'
)


def recorder(library: str = "classic") -> Path:
    """The recorder for an MPI library, compiled once: into the checkout, or beside the cluster's folder."""
    text = b"".join(path.read_bytes() for path in (SOURCE, SOURCE.with_name("trace_file.h")))
    digest = hashlib.sha256(text).hexdigest()[:12]
    name = f"recorder-{library}-{digest}.so"
    built = paths.native(name)
    if not built.exists() and not os.access(built.parent, os.W_OK):
        built = paths.state().with_name(f"beowulf-{name}")
    if not built.exists():
        built.parent.mkdir(parents=True, exist_ok=True)
        for old in built.parent.glob(f"*recorder-{library}-*.so"):
            old.unlink(missing_ok=True)
        aside = built.with_suffix(f".{os.getpid()}")
        flags = ("-shared", "-fPIC", "-pthread", f"-I{SOURCE.parent}")
        mpi.build(SOURCE, library=library, output=aside, flags=flags).replace(built)
    return built


def loaded(library: str = "classic") -> list[str]:
    """The words before a program's own that load the recorder, which waits until it is asked to record."""
    return ["sh", "-c", PRELOAD, "recorder", str(recorder(library))]


class Recording:
    """The traces of one launch: `prefix` starts a program with the recorder, `collect` brings its files to `folder`.

    They are written below /tmp on each node, so that no network carries them while the program runs.
    """

    def __init__(self, cluster: Cluster, folder: Path) -> None:
        self.cluster, self.folder = cluster, folder
        self.there = f"/tmp/beowulf-trace-{uuid.uuid4().hex}"
        # Nodes that are machines of their own have clocks of their own.
        self._clocks = "0" if cluster.can.one_machine else "1"

    def __enter__(self) -> Recording:
        _empty(self.folder)
        library = str(recorder(self.cluster.mpi))
        self.prefix = ["sh", "-c", LOAD, "trace", library, self.there, self._clocks]
        return self

    def __exit__(self, *_: object) -> None:
        self.collect()

    def note(self, about: Mapping[str, Any]) -> None:
        """Write down what is known of the run, beside the traces."""
        known = {"cluster": dict(self.cluster.describe()), **about}
        (self.folder / DETAILS).write_text(json.dumps(known, indent=1))

    def collect(self) -> None:
        """Bring the ranks' files here, and leave none on the nodes."""
        if self.cluster.can.shared_files:
            here = Path(self.there)
            if here.is_dir():
                for file in here.iterdir():
                    shutil.move(file, self.folder / file.name)
                shutil.rmtree(here, ignore_errors=True)
            return
        dead = self.cluster.dead_nodes()
        for node in self.cluster.nodes:
            if node not in dead:
                self._fetch(node)

    def _fetch(self, node: str) -> None:
        there = shlex.quote(self.there)
        line = f"[ ! -d {there} ] || {{ tar -C {there} -cz . | base64; rm -rf {there}; }}"
        done = self.cluster.run(node, line, timeout_s=LONGEST_FETCH_S)
        if done.returncode:
            raise LabError(
                f"The trace could not be fetched from {node}: {done.stderr.strip()}", "", node
            )
        if not done.stdout.strip():
            return
        with tarfile.open(
            fileobj=io.BytesIO(base64.b64decode(done.stdout)), mode="r:gz"
        ) as archive:
            for member in archive:
                name = Path(member.name).name
                source = archive.extractfile(member) if member.isfile() else None
                if source and FILE.fullmatch(name):
                    (self.folder / name).write_bytes(source.read())


def _empty(folder: Path) -> None:
    """A folder for a new trace: an old one of ours is replaced, anything else is left alone."""
    if folder.exists() and any(folder.iterdir()) and not (folder / DETAILS).exists():
        raise LabError(
            f"{folder} has other files in it.", "Name an empty folder, or one that does not exist."
        )
    folder.mkdir(parents=True, exist_ok=True)
    for file in folder.iterdir():
        if FILE.fullmatch(file.name) or file.name in (DETAILS, CAPTURE):
            file.unlink()


def launch(
    cluster: Cluster,
    words: Sequence[str],
    ranks: int,
    arguments: Sequence[str],
    *,
    into: Path,
    capture: bool = False,
    environment: Mapping[str, str] | None = None,
    **options: Any,
) -> mpi.Launch:
    """As mpi.launch, with what every rank did in `into`, and with `capture` the packets of the wire, too."""
    about: dict[str, Any] = {
        "program": Path(words[-1]).name,
        "arguments": list(arguments),
        "eager_bytes": int((environment or {}).get(EAGER_LIMIT, SHIPPED_EAGER_BYTES)),
    }
    with Recording(cluster, into) as recording:
        recording.note(about)
        line = [*recording.prefix, *words]
        try:
            if not capture:
                return mpi.launch(
                    cluster, line, ranks, arguments, environment=environment, **options
                )
            with cluster.capture(into / CAPTURE) as wire:
                done = mpi.launch(
                    cluster, line, ranks, arguments, environment=environment, **options
                )
            about["capture"] = {
                "file": CAPTURE,
                "packets": wire.packets,
                "dropped": wire.dropped,
                "warnings": list(wire.warnings),
                "shifted_s": dict(wire.shifted_s),
            }
            return done
        finally:
            # When a run that does not end well was over, is known by a clock that all ranks share.
            if cluster.can.one_machine:
                about["stopped_ns"] = time.monotonic_ns()
            recording.note(about)


def details(folder: Path) -> dict[str, Any]:
    """What is known of the run beside what its ranks wrote; empty where that is missing, LabError where damaged."""
    file = folder / DETAILS
    if not file.is_file():
        return {}
    try:
        known = json.loads(file.read_bytes())
        wrong = [
            name for name, kind in KINDS.items() if not isinstance(known.get(name, kind()), kind)
        ]
    except (ValueError, AttributeError, RecursionError):
        wrong = ["no JSON object"]
    if wrong:
        raise LabError(f"{file} is damaged, or has been edited ({wrong[0]}).", "Record again.")
    return {**known, "program": plain(known.get("program", ""))}
