"""A measuring program that stays: it takes samples on command, and changes can be made in between.

A launch takes longer than the samples of a visit, and another launch is another connection on other cores. So one
program is launched, and before and after are measured by the same processes (labs/07-latency-tuning/on_command.h).
"""

from __future__ import annotations

import os
import selectors
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any

from beowulf import mpi
from beowulf.cluster import Cluster
from beowulf.cluster.common.shells import Answer
from beowulf.errors import LabError, UsageError
from beowulf.measure.program_output import ProgramOutput
from beowulf.measure.program_stderr import ProgramStderr

LONGEST_S = 60.0  # until a program is there, and for one command
LOOK_EVERY_S = 0.5  # at the nodes, while nothing comes


class InteractiveRun:
    """`with InteractiveRun(cluster, program, …) as run: run.take(20)`; the program ends with the block."""

    def __init__(
        self,
        cluster: Cluster,
        program: Path,
        ranks: int,
        arguments: Sequence[str | int] = (),
        *,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self.cluster, self.name, self.ranks = cluster, program.name, ranks
        self._words, self._job = mpi.command(
            cluster,
            [str(program)],
            ranks,
            [str(word) for word in arguments],
            environment=environment,
            folder=program.parent,
        )
        self.lines, self._answer = ProgramOutput(), Answer()

    def __enter__(self) -> InteractiveRun:
        self._need_nodes()
        self._errors = tempfile.TemporaryFile()
        # A session of its own: Ctrl-C reaches us alone, and we end the program in good order.
        self._process = subprocess.Popen(
            self._words,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            start_new_session=True,
        )
        try:
            self._read_until("about", 1)
        except BaseException:
            self._end()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            if error is None:
                self._finish()
        finally:
            self._end()

    def take(self, samples: int, answers: int = 0) -> list[dict[str, Any]]:
        """Tell the program to take so many samples; the lines that come (`answers` of them, if not one each)."""
        assert self._process.stdin
        before = len(self._of("sample"))
        try:
            self._process.stdin.write(f"{samples}\n".encode())
            self._process.stdin.flush()
        except OSError:
            self._fail()
        self._read_until("sample", before + (answers or samples))
        return self._of("sample")[before:]

    def _of(self, kind: str) -> list[dict[str, Any]]:
        return [line for line in self.lines.rows if line["kind"] == kind]

    def _read_until(self, kind: str, count: int) -> None:
        assert self._process.stdout
        deadline = time.monotonic() + LONGEST_S
        with selectors.DefaultSelector() as waiting:
            waiting.register(self._process.stdout, selectors.EVENT_READ)
            while len(self._of(kind)) < count:
                if waiting.select(LOOK_EVERY_S):
                    if not self._read():
                        self._fail()
                    continue
                self._need_nodes()
                if time.monotonic() > deadline:
                    raise LabError(
                        f"{self.name} gave no answer within {LONGEST_S:g} s.",
                        "`beowulf validate` says whether messages get through.",
                    )

    def _read(self) -> bool:
        """Take what has come; False at the end of the program."""
        assert self._process.stdout
        chunk = os.read(self._process.stdout.fileno(), 65536)
        self.lines.write(self._answer.heard(chunk).decode(errors="replace"))
        if self.lines.trouble:
            raise LabError(f"{self.name} printed a line that is not a result: {self.lines.trouble}")
        return bool(chunk)

    def _need_nodes(self) -> None:
        used = self.cluster.nodes[: self.ranks]
        if dead := [node for node in self.cluster.dead_nodes() if node in used]:
            raise LabError(
                f"{dead[0]} is down, and {self.name} needs it.",
                "`beowulf up` starts the node again; then measure again.",
                dead[0],
            )

    def _fail(self) -> None:
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(LONGEST_S)
        self._need_nodes()
        self._errors.seek(0)
        with ProgramStderr(lambda _: None) as said:
            said.write(self._errors.read().decode(errors="replace"))
        if said.refused:
            raise UsageError(said.refused)
        printed = f" It printed: {said.message}" if said.message else ""
        raise LabError(f"{self.name} ended too early.{printed}", "Measure again.")

    def _finish(self) -> None:
        assert self._process.stdin
        with suppress(OSError):
            self._process.stdin.close()
        self._read_until("end", 1)
        self._process.wait(LONGEST_S)

    def _end(self) -> None:
        if self._process.poll() != 0:
            mpi.stop(self._process)
            mpi.clear(self.cluster, self._job)
        for stream in (self._process.stdin, self._process.stdout, self._errors):
            if stream:
                with suppress(OSError):
                    stream.close()
