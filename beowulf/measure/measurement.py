"""One measurement under way: launches of a program become the Points of a Record."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any

from beowulf import mpi
from beowulf.cluster import Cluster
from beowulf.cluster.holding.lock import Ended
from beowulf.errors import LabError, UsageError
from beowulf.measure.machine_queue import joined
from beowulf.measure.program_output import ProgramOutput
from beowulf.measure.program_stderr import REFUSED, ProgramStderr
from beowulf.measure.watched import Watched
from beowulf.record import Point, Record, moment
from beowulf.this_machine import host_state
from beowulf.this_machine.progress import InCell, Progress, aside, no_progress
from beowulf.timeline import recording


class Measurement:
    """Measures one study: `with Session(…) as session: session.launch(…)`, then `session.record()`.

    When it is cut short (Ctrl-C, a node that dies), what was measured stays and the Record says so.
    """

    def __init__(
        self,
        study: str,
        cluster: Cluster,
        folder: Path,
        *,
        quick: bool = False,
        progress: Progress = no_progress,
        launches: int = 1,
        sweep: Mapping[str, Any] | None = None,
        timed: bool = True,
        when: str = "now",
        traces: Path | None = None,
        capture: bool = False,
    ) -> None:
        """`launches` is how many are planned, to tell how much is left; `sweep` goes into the Record.

        Where nothing is `timed`, the Record does not warn of a busy machine, and does not wait in the machine's line.
        `when`: as in machine_queue.joined. `traces`: the folder in which each launch leaves what its ranks did, with
        the packets of the wire where it is to `capture` them.
        """
        self.study, self.cluster, self.folder, self.quick = study, cluster, folder, quick
        self.progress, self.timed, self.traces = progress, timed, traces
        self._when, self._capture = when, capture
        self.planned, self.done = launches, 0
        # The largest number of ranks of launches that are compared: all wait as it does (native/patient_poll.c).
        self.compared_ranks = 0
        self.sweep: dict[str, Any] = {"quick": quick, **(sweep or {})}
        if traces:
            self.sweep["traced"] = True
        self.points: list[Point] = []
        self.captures: list[dict[str, Any]] = []  # for anyone who captures while a launch runs
        self.warnings: list[str] = []
        self.complete = True
        self.programs: dict[str, str] = {}  # name and digest
        self.arguments: list[str] = []
        self._traced = 0
        self.last_trace: Path | None = None
        self._places: dict[str, Point] = {}
        self._built: dict[Path, Path] = {}
        self._scratch: Path | None = None
        self._ends = contextlib.ExitStack()

    def __enter__(self) -> Measurement:
        with contextlib.ExitStack() as ends:
            self._watched = ends.enter_context(Watched(self.cluster, self.study))
            if self.timed:
                turn = joined(self.cluster, self._waiting, self._when)
                self.warnings += ends.enter_context(turn)
            self.started, self.before = moment(), host_state.now()
            self.description = dict(self.cluster.describe())
            # Below /tmp, which the nodes of a local cluster share with this machine.
            self._scratch = Path(tempfile.mkdtemp(prefix="beowulf-"))
            ends.callback(shutil.rmtree, self._scratch, ignore_errors=True)
            self._ends = ends.pop_all()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> bool:
        raised = error
        if isinstance(error, Exception):
            error = self._watched.gone() or error
        if error is None:
            changed = self._watched.look()
            self.complete = self.complete and not changed
            self.warnings += changed
            if self.complete and isinstance(self.progress, InCell):
                self.progress.clear()
        measured = any(point.samples for point in self.points)
        if not measured or not isinstance(error, KeyboardInterrupt | LabError):
            return bool(self._ends.__exit__(kind, raised, trace))
        self._ends.close()
        self.complete = False
        why = str(error)
        if isinstance(error, KeyboardInterrupt):
            why = f"{error}." if isinstance(error, Ended) else "it was stopped"
        self.warnings.append(f"The measurement was cut short: {why}")
        return True

    def prepare_all(self, programs: Sequence[Path]) -> None:
        """Compile several programs, as many at a time as there are cores."""
        for program in programs:  # in their own order, whichever is done first
            self._note(program)
        with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
            list(pool.map(self.prepare, programs))

    def launch(
        self,
        program: Path,
        ranks: int,
        arguments: Sequence[str | int] = (),
        *,
        environment: Mapping[str, str] | None = None,
        launch: int = 0,
        at: Mapping[str, Any] | None = None,
        hosts: Sequence[str] = (),
        timeout_s: float = mpi.DEFAULT_TIMEOUT_S,
        prefix: Sequence[str] = (),
        heard: list[dict[str, Any]] | None = None,
    ) -> list[dict[str, Any]]:
        """Run a C or Python program once; its sample lines become Points, all of its lines are given back.

        Each Point has the coordinates of its line, and ranks, launch and `at`. `prefix` are the words
        of a command that starts the program. LabError when the program refuses, fails, or its lines
        break off; `heard` gets its lines then, too.
        """
        if not hosts:  # who names them has thought of what shares a node
            need_a_node_each(self.cluster, ranks)
        words = [str(word) for word in arguments]
        if self.compared_ranks:
            environment = {
                "BEOWULF_COMPARED_RANKS": str(self.compared_ranks),
                **(environment or {}),
            }
        coordinates = {**(at or {}), "ranks": ranks, "launch": launch}
        lines, complaints = ProgramOutput(self._report), ProgramStderr(mpi.errors_to_screen)
        try:
            # Lines are read as they come, so that none is lost when the run is stopped.
            with complaints:
                start = mpi.launch
                if self.traces:
                    start = partial(recording.launch, into=self._trace(), capture=self._capture)
                done = start(
                    self.cluster,
                    [*prefix, *mpi.prepare(self.prepare(program))],
                    ranks,
                    words,
                    environment=environment,
                    hosts=hosts,
                    timeout_s=timeout_s,
                    output=lines.write,
                    errors=complaints.write,
                    folder=self._scratch,
                )
        except LabError:
            if complaints.refused:
                raise UsageError(complaints.refused) from None
            if complaints.message:  # a failed program is no lost node, but ends in the same way
                raise LabError(f"{program.name} failed. It printed: {complaints.message}") from None
            raise
        finally:
            self._keep(lines, coordinates, environment)
            if heard is not None:
                heard += lines.rows
        self.arguments = words
        if complaints.refused:
            raise UsageError(complaints.refused)
        if done.returncode:
            failed = mpi.failure(done, program.name)
            raise LabError(
                f"{failed} It printed: {complaints.message}" if complaints.message else failed
            )
        self._refuse_broken(lines, program.name)
        self.launched()
        return lines.rows

    def launched(self, launches: int = 1) -> None:
        """So many launches are over. Nothing is timed until the next one: a cell draws what there is so far."""
        self.done += launches
        if isinstance(self.progress, InCell):
            self.progress.show(lambda: replace(self.record(), complete=False))

    def _trace(self) -> Path:
        """The folder for the trace of the next launch."""
        assert self.traces
        self._traced += 1
        self.last_trace = self.traces / f"launch-{self._traced:02}.trace"
        return self.last_trace

    def _refuse_broken(self, lines: ProgramOutput, name: str) -> None:
        if lines.trouble:
            raise LabError(f"{name} printed a line that is not a result: {lines.trouble}")
        if not lines.ended:
            raise LabError(f"The results of {name} are incomplete.", "Measure again.")

    def launch_separately(
        self,
        program: Path,
        hosts: Sequence[str],
        arguments: Sequence[str | int] = (),
        *,
        environment: Mapping[str, str] | None = None,
        launch: int = 0,
        at: Mapping[str, Any] | None = None,
    ) -> dict[str, list[dict[str, Any]]]:
        """Run a program that needs no other once on each of several hosts, at the same time; the lines of each host.

        Their Points are as those of launch(), and have the host as `node`.
        """
        words = [str(word) for word in arguments]
        built = self.prepare(program)
        assert self._scratch, "a session is entered with `with`"
        # What several ranks print arrives mixed, so each writes into a file of its own.
        separate_files = 'exec "$0" "$@" > "$(uname -n).lines" 2> "$(uname -n).errors"'
        for host in hosts:
            for end in ("lines", "errors"):
                (self._scratch / f"{host}.{end}").unlink(missing_ok=True)
        errors: dict[str, str] = {}
        outputs: dict[str, ProgramOutput] = {}
        try:
            done = mpi.launch(
                self.cluster,
                ["sh", "-c", separate_files, str(built)],
                len(hosts),
                words,
                environment=environment,
                hosts=hosts,
                folder=self._scratch,
            )
        finally:
            for host in hosts:
                outputs[host], errors[host] = self._read(host)
                coordinates = {**(at or {}), "node": host, "ranks": 1, "launch": launch}
                self._keep(outputs[host], coordinates, environment)
        self.arguments = words
        for host in hosts:
            first = errors[host].strip().partition("\n")[0]
            if first.startswith(REFUSED):
                raise UsageError(f"{first.removeprefix(REFUSED)} {host} reports this.")
            if done.returncode and first:
                raise LabError(f"{program.name} failed on {host}. It printed: {first}", node=host)
        if done.returncode:
            raise LabError(mpi.failure(done, program.name))
        for host in hosts:
            self._refuse_broken(outputs[host], f"{program.name} on {host}")
        self.launched(len(hosts))
        return {host: lines.rows for host, lines in outputs.items()}

    def _read(self, host: str) -> tuple[ProgramOutput, str]:
        """What a host has written in launch_separately()."""
        assert self._scratch
        lines, texts = ProgramOutput(), {}
        for end in ("lines", "errors"):
            file = self._scratch / f"{host}.{end}"
            texts[end] = file.read_text(errors="replace") if file.exists() else ""
        lines.write(texts["lines"])
        return lines, texts["errors"]

    def add(
        self, at: Mapping[str, Any], quantity: str, samples: Sequence[float], **facts: Any
    ) -> Point:
        """Put samples at a place: into its Point if there is one, else into a new one."""
        key = json.dumps([dict(at), quantity], sort_keys=True)
        if key not in self._places:
            self._places[key] = Point(dict(at), quantity)
            self.points.append(self._places[key])
        point = self._places[key]
        point.samples.extend(samples)
        for name, value in facts.items():
            point.facts.setdefault(name, []).append(value)
        return point

    def record(self) -> Record:
        """What was measured, with the circumstances before and after."""
        return Record(
            study=self.study,
            program={
                "name": ", ".join(self.programs),
                "arguments": list(self.arguments),
                "sha256": self._digest(),
            },
            sweep=self.sweep,
            points=self.points,
            cluster=self.description,
            circumstances={"before": self.before, "after": host_state.now()},
            versions=host_state.versions(),
            started=self.started,
            ended=moment(),
            captures=self.captures,
            warnings=[*self._busy(), *self.warnings],
            complete=self.complete,
        )

    def _busy(self) -> list[str]:
        # A load on this machine makes simulated time no longer.
        timed = self.timed and not self.cluster.can.simulated
        reasons = host_state.busy(self.before) if timed else []
        return [f"{why[0].upper()}{why[1:]}." for why in reasons]

    def _note(self, program: Path) -> None:
        if not program.is_file():
            raise UsageError(f"There is no program {program}.", "Give a C or Python source.")
        self.programs[program.name] = hashlib.sha256(program.read_bytes()).hexdigest()

    def prepare(self, program: Path) -> Path:
        """Compile a program, once; where it is then."""
        if program not in self._built:
            self._note(program)
            built = program
            if program.suffix == ".c":
                assert self._scratch, "a session is entered with `with`"
                library = str(self.description.get("mpi", "classic"))
                built = mpi.build(program, library=library, output=self._scratch / program.stem)
            self._built[program] = built
        return self._built[program]

    def _digest(self) -> str:
        digests = list(self.programs.values())
        if len(digests) == 1:
            return digests[0]
        return hashlib.sha256("".join(digests).encode()).hexdigest() if digests else ""

    def _report(self, lines: ProgramOutput) -> None:
        share = lines.samples / lines.planned if lines.planned else 0.0
        self.progress(self.done + min(share, 1.0), self.planned, f"{self.study}: {lines.doing}")

    def _waiting(self, sentence: str) -> None:
        if self.progress is no_progress:
            print(sentence, file=aside(), flush=True)
        else:
            self.progress(0, self.planned, sentence)

    def _keep(
        self,
        lines: ProgramOutput,
        coordinates: Mapping[str, Any],
        environment: Mapping[str, str] | None,
    ) -> None:
        for line in list(lines.rows):
            kind = line.get("kind")
            if kind == "sample":
                at, quantity, value = _sample(line)
                self.add(
                    {**at, **coordinates},
                    quantity,
                    [value],
                    **{name: line[name] for name in ("pass", "repetitions") if name in line},
                )
            elif kind == "first":
                at = {name: line[name] for name in line if name not in ("kind", "seconds")}
                self.add({**at, **coordinates}, "first_message_s", [line["seconds"]])
            elif kind == "about":
                about = {name: line[name] for name in line if name not in ("kind", "samples")}
                about["environment"] = dict(environment or {})
                self.points.append(Point({"about": True, **coordinates}, facts=about))


def need_a_node_each(cluster: Cluster, ranks: int) -> None:
    """UsageError when there are more ranks than nodes."""
    if ranks > len(cluster.nodes):
        raise UsageError(
            f"{ranks} ranks need {ranks} nodes, but this cluster has {len(cluster.nodes)}:"
            " two ranks on one node would not talk over the network.",
            f"`beowulf up --nodes {ranks}` boots that many.",
        )


# How many of a unit make a second.
PER_SECOND = {"_s": 1.0, "_ms": 1e3, "_us": 1e6, "_ns": 1e9}


def _sample(line: Mapping[str, Any]) -> tuple[dict[str, Any], str, float]:
    """The coordinates, the quantity and the value of a sample line: one repetition, in its unit."""
    quantity = str(line["quantity"])
    per_second = next(number for unit, number in PER_SECOND.items() if quantity.endswith(unit))
    value = line["seconds"] / line["repetitions"] * per_second
    if quantity.startswith("half_round_trip"):
        value /= 2  # what is timed is the way there and back
    # A rate that is printed for a reader follows from the rest.
    not_coordinates = ("kind", "quantity", "pass", "repetitions", "seconds", "bytes_per_s")
    return {name: line[name] for name in line if name not in not_coordinates}, quantity, value
