"""What all measurements of the heat program share: the functions are looked at, launched, and kept in a Record."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from beowulf.cluster import Cluster
from beowulf.course import personal_code
from beowulf.errors import LabError
from beowulf.exercises import calls
from beowulf.exercises.heat import program
from beowulf.exercises.heat.program import Function
from beowulf.exercises.heat.reading import lines
from beowulf.exercises.heat.trial import Row, tried
from beowulf.measure.measurement import Measurement
from beowulf.record import Point, Record
from beowulf.this_machine.user import learner

LONGEST_S = 120.0  # of one launch; each of its samples has a limit of its own
WAY = "way"


class Heat:
    """The functions of one measurement, and its launches."""

    run = program.ORIGINALS / program.RUN

    def __init__(self, session: Measurement, folder: Path) -> None:
        self.session, self.folder = session, folder
        self.file = folder / program.FILE
        self.functions: dict[str, Function] = {}
        self.ways: dict[str, str] = {}  # that were launched, by their functions
        self.faults: dict[str, str] = {}
        self.seen: dict[str, dict[str, Any]] = {}  # of a function that was recorded

    def look_at(self, *names: str, needed: Sequence[str] = ()) -> None:
        """Note what is to be said of functions before they run; LabError where a `needed` one cannot."""
        text = program.read(self.file)
        for name in (*needed, *names):
            self.note(program.function(text, name))
        if missing := [name for name in needed if name in self.faults]:
            name = missing[0]
            raise LabError(
                f"{self.file.name}: {name}: {self.faults[name]}, and this measurement needs it.",
                "`lab.heat.start(LAB, given=True)` writes the earlier labs' functions, and keeps a copy of your file.",
            )

    def note(self, function: Function) -> None:
        """Keep a function, and why it cannot run, if it cannot."""
        self.functions[function.name] = function
        if function.why:
            self.faults[function.name] = function.why

    def left(self, ways: Mapping[str, str]) -> dict[str, str]:
        """The ways whose functions have shown no fault yet."""
        return {way: name for way, name in ways.items() if name not in self.faults}

    def launch(
        self,
        ways: Mapping[str, str],
        ranks: int,
        task: str,
        words: Sequence[str | int] = (),
        *,
        launch: int = 0,
        at: Mapping[str, Any] | None = None,
    ) -> None:
        """Run a task of run_heat.py with the ways that are left."""

        def start(left: Sequence[str]) -> list[Row]:
            place = {"language": "Python", **(at or {})}
            return self._started(task, left, ranks, words, launch, place)

        self.ways |= {name: way for way, name in ways.items()}
        self.faults |= tried(self.left(ways), start)

    @contextmanager
    def recorded(self, name: str) -> Iterator[None]:
        """Within this context a launch is recorded: which calls the function makes, and what it computes meanwhile."""
        session = self.session
        with tempfile.TemporaryDirectory(prefix="beowulf-") as scratch:
            session.traces, session.last_trace = Path(scratch), None
            try:
                yield
            finally:
                session.traces = None
            if session.last_trace and name not in self.faults:
                seen = {"mpi_calls": calls.names(session.last_trace)}
                shortest_ns = calls.C_NS if name in program.IN_C else calls.PYTHON_NS
                share = calls.computed_meanwhile(session.last_trace, shortest_ns)
                self.seen[name] = seen if share is None else {**seen, "meanwhile_share": share}

    def once(self, task: str, way: str, ranks: int, words: Sequence[str | int]) -> list[Row]:
        """Run a task of run_heat.py with one way and give its lines, those of a function that is wrong among them."""
        return self._started(task, [way], ranks, words, 0, {})

    def _started(
        self,
        task: str,
        ways: Sequence[str],
        ranks: int,
        words: Sequence[str | int],
        launch: int,
        at: Mapping[str, Any],
    ) -> list[Row]:
        # The course holds the seed that run_heat.py prints against the personal code.
        asked = [task, "--seed", personal_code.seed(launch), *words, *self._named(ways)]
        return self.start(self.run, ranks, asked, launch, at)

    def _named(self, ways: Sequence[str]) -> list[str]:
        """The words that name the ways, the learner's file, and what has to be brought to the nodes as well."""
        parts = [
            word for name in program.PARTS for word in ("--with", f"{program.ORIGINALS / name}")
        ]
        return ["--ways", ",".join(ways), "--heat", str(self.file.absolute()), *parts]

    def launch_in_c(
        self, way: str, name: str, ranks: int, words: Sequence[str | int], launch: int
    ) -> None:
        """Run the program of a function in C, if it has shown no fault yet."""
        source = self.folder / program.IN_C[name]

        def start(left: Sequence[str]) -> list[Row]:
            heard = self.start(source, ranks, words, launch, {"language": "C"})
            return [{**row, "way": way} for row in heard]

        self.ways[name] = way
        self.faults |= tried(self.left({way: name}), start)

    def start(
        self,
        source: Path,
        ranks: int,
        words: Sequence[str | int],
        launch: int,
        at: Mapping[str, Any],
    ) -> list[Row]:
        """One launch, and its lines; a function that is wrong ends it, and is in the lines."""
        heard: list[dict[str, Any]] = []
        try:
            self.session.launch(
                source, ranks, words, launch=launch, at=at, timeout_s=LONGEST_S, heard=heard
            )
        except LabError:
            if not any(row.get("kind") == "check" for row in heard):
                raise
        return list(heard)

    def compile(self, name: str) -> None:
        """Compile the program of a function in C; what the compiler says of it is its fault."""
        self.note(program.function_in_c(self.folder / program.IN_C[name], name))
        if name not in self.faults:
            try:
                self.session.prepare(self.folder / program.IN_C[name])
            except LabError as problem:
                self.faults[name] = _compiler_says(problem)

    def points(self) -> list[Point]:
        """A Point for each function: its source, whether it is the course's, whether it is right, and why not."""
        found = []
        for name, each in self.functions.items():
            why = self.faults.get(name, "")
            facts = {**each.facts(), **self.seen.get(name, {}), "right": not why, "why": why}
            found.append(Point({"function": name}, facts=facts))
        return found


def measured(
    cluster: Cluster,
    study: str,
    title: str,
    steps: Callable[[Heat], None],
    *,
    folder: Path | None,
    launches: int,
    variant: str = "",
    sweep: Mapping[str, Any] | None = None,
) -> Record:
    """Measure by `steps`, keep the Record beside the notebook and print what is right and what is not.

    A function that is wrong is a fact in the Record; LabError where nothing could be measured to its end.
    """
    from beowulf.exercises.heat.pictures import picture
    from beowulf.this_machine.progress import bar

    records = cluster.records or Path("records")
    with (
        bar(title, draw=picture) as progress,
        Measurement(
            study, cluster, records, progress=progress, launches=launches, sweep=sweep
        ) as session,
    ):
        heat = Heat(session, folder or program.folder())
        steps(heat)
        if len(heat.faults) == len(heat.functions) and not session.programs:
            said = "; ".join(f"{name}: {why}" for name, why in heat.faults.items())
            raise LabError(f"Nothing can be measured yet. {said}.", f"Write it in {heat.folder}.")
    made = session.record()
    if not made.complete:
        for each in made.captures:  # without its Record it says nothing
            (records / each["file"]).unlink(missing_ok=True)
        raise LabError(
            f"{title} was not measured to the end. {' '.join(made.warnings)}",
            "Run this cell again.",
        )
    # What a function that turned out wrong had given before is no measurement.
    made.points = [each for each in made.points if not _of_a_fault(each, heat)] + heat.points()
    made.program["arguments"] = []  # they name folders of this machine
    made.learner, made.variant = learner(), variant
    # Where no function was run there is nothing to keep, and a prediction can still be sealed.
    if session.programs:
        made.save_in(records)
    print("\n".join(lines(made)))
    return made


def _of_a_fault(point: Point, heat: Heat) -> bool:
    wrong = {way for name, way in heat.ways.items() if name in heat.faults}
    return point.at.get(WAY) in wrong


def _compiler_says(problem: LabError) -> str:
    """The first error that a compiler names, without the folders before it."""
    errors = [line for line in problem.message.splitlines() if "error:" in line]
    return f"it does not compile: {Path(errors[0]).name}" if errors else problem.message
