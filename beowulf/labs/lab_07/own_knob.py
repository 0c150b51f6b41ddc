"""Lab 07's exercise in Python: a learner's own knob, turned both ways and measured, and kept beside the notebook.

A Record of E7 with the variant `own-knob`. The knob is turned on the two nodes that measure, to test whether it reads,
sets and restores; a measuring cycle shows whether it matters. The old state, and how to restore it, is first written
into the log of `beowulf tune`, so `beowulf tune revert` restores it after a killed measurement.
"""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from beowulf.cluster import Cluster
from beowulf.cluster.common import at_once
from beowulf.cluster.common.shells import SHELL
from beowulf.errors import LabError
from beowulf.exercises import file_functions
from beowulf.exercises.exercise import Exercise
from beowulf.labs.lab_07 import null_knob
from beowulf.labs.lab_07.e7_procedure import KEPT, REVERTED
from beowulf.measure.measurement import Measurement
from beowulf.measure.statistics import ratio
from beowulf.record import Point, Record
from beowulf.tuning import ab_comparison, change, change_preview, knob_places, log
from beowulf.tuning.ab_comparison import Length
from beowulf.tuning.knob import Reading

STUDY, VARIANT = "E7", "own-knob"
EXERCISE = Exercise(STUDY, VARIANT)
NODES = 2  # those that measure
AS_FOUND = "as found"
LENGTH = Length(blocks=6, most_blocks=6, samples=20)
HINT = "Fix it, save it, and try again."
LONGEST_LINES = 2000  # of a learner's shell that a Record keeps
# All settings of IP, each with its value; and one in the lines of `look`, which is all that Records of 1.0 have.
SYSCTLS = "/proc/sys/net/ipv4/"
READ_ALL = f"grep -sH -d skip . {SYSCTLS}* || true"
SETTING = re.compile(r"\bnet[./]ipv4[./][\w./-]*\w")

States = dict[str, str]  # by node


@dataclass(frozen=True)
class Mine:
    """A learner's knob, checked: every answer is a text, or an error says what is wrong."""

    file: str
    object: Any
    name: str
    values: tuple[str, str]
    relaunch: bool

    def rehearse(self) -> None:
        """Ask for all lines once, and run none; LabError when one is not written yet."""
        self.lines("look")
        for value in self.values:
            self.lines("set", value)
            self.lines("back", value)

    def lines(self, method: str, *words: str) -> str:
        """Lines of shell that `look` at the state, `set` a value, or bring a state `back`."""
        given, why = file_functions.result(getattr(self.object, method, None), *words)
        if not why and not isinstance(given, str):
            why = f"it gives no lines of shell, but {type(given).__name__}"
        if why:
            raise LabError(f"{self.file}: {method}: {why}.", HINT)
        return str(given)


def read(names: Mapping[str, Any], file: str) -> Mine:
    """The class `Mine` among the names of a learner's file; LabError when it is not whole."""
    mine, why = file_functions.result(names.get("Mine"))
    values = getattr(mine, "values", None)
    if why or not isinstance(values, tuple | list):
        raise LabError(f"{file} has no class Mine with two values{why and f': {why}'}.", HINT)
    if ... in values:
        raise LabError(f"{file}: values are not written yet.", HINT)
    if len(values) != 2 or not all(isinstance(v, str) and v.strip() for v in values):
        raise LabError(f'{file}: `values` must be two texts, such as ("0", "1").', HINT)
    first, second = (str(value).strip() for value in values)
    if first == second:
        raise LabError(f"{file}: both values are {first}; nothing would change.", HINT)
    name = str(getattr(mine, "name", "my-knob"))
    return Mine(file, mine, name, (first, second), bool(getattr(mine, "anew", False)))


def measure(
    cluster: Cluster, source: Path | str = "knob.py", *, length: Length | None = None
) -> Record:
    """Turn the knob in `source` both ways, measure it, and keep the Record.

    LabError when it is not written yet, when its lines fail, or when the old state is not restored at the end.
    """
    from beowulf.this_machine.progress import bar

    file = Path(source)
    mine = read(file_functions.functions(file), file.name)
    folder = cluster.records or Path("records")
    nodes = cluster.nodes[:NODES]
    with (
        bar("Your own knob") as progress,
        Measurement(STUDY, cluster, folder, quick=True, progress=progress) as session,
        _as_it_was(cluster, mine, nodes) as found,
    ):
        session.sweep |= {"exercise": file.name, "look": mine.lines("look")[:LONGEST_LINES]}
        session.points.extend(turned(cluster, mine, found))
        tried = next(value for value in mine.values if value != found[nodes[0]])

        def put_in(on: bool) -> None:
            if on:
                _set(cluster, mine, nodes, tried)
            else:
                _put_back(cluster, mine, found)

        at = {"knob": mine.name, "value": tried}
        ab_comparison.compare(
            session, put_in, at=at, relaunch=mine.relaunch, length=length or LENGTH
        )
    record = session.record()
    record.program = file_functions.about(file)
    return EXERCISE.keep(record, folder, of="The cycle", hint="Run this cell again.")


def turned(cluster: Cluster, mine: Mine, found: States) -> list[Point]:
    """A Point for each turn: the state before, the value, what was read then, and what after `back`.

    `settings` are the kernel's settings that follow the value on every node.
    """
    first, second = mine.values
    # From what was found to each value; and once from the one to the other, whatever was found.
    turns = [("", first), ("", second), (first, second), (second, first)]
    both = [_turn(cluster, mine, found, start, value) for start, value in turns]
    points, read = [point for point, _ in both], [kernel for _, kernel in both]
    follow = [
        name
        for name in sorted(set.intersection(*map(set, read)))
        if len({kernel[name] for kernel in read}) == 2
        and len({(point.at["turn"], kernel[name]) for point, kernel in both}) == 2
    ]
    for point in points:
        point.facts["settings"] = follow
    return points


def _turn(
    cluster: Cluster, mine: Mine, found: States, start: str, value: str
) -> tuple[Point, dict[str, str]]:
    """One turn, and the settings of the kernel that were the same on all nodes after it."""
    nodes, before = list(found), found
    if start:
        _set(cluster, mine, nodes, start)
        before = _look(cluster, mine, nodes)
    _set(cluster, mine, nodes, value)
    now, kernel = _look(cluster, mine, nodes), _kernel(cluster, nodes)
    _put_back(cluster, mine, before)
    facts = {"before": before, "now": now, "again": _look(cluster, mine, nodes)}
    return Point({"turn": value, "from": start or AS_FOUND}, facts=facts), kernel


def _kernel(cluster: Cluster, nodes: Sequence[str]) -> dict[str, str]:
    """The settings of IP that are the same on all these nodes, with their values."""
    printed = _everywhere(cluster, dict.fromkeys(nodes, READ_ALL), "look")
    read = [set(lines.splitlines()) for lines in printed.values()]
    pairs = (line.removeprefix(SYSCTLS).partition(":") for line in set.intersection(*read))
    return {f"net.ipv4.{name}": value for name, _, value in pairs}


def takes(point: Point) -> bool:
    """Whether a node had the value after it was set."""
    return set(point.facts["now"].values()) == {point.at["turn"]}


def exact(point: Point) -> bool:
    """Whether exactly the state of before was restored."""
    return bool(point.facts["before"]) and point.facts["before"] == point.facts["again"]


def turns(record: Record) -> list[Point]:
    """The turns in a Record."""
    return [point for point in record.points if "turn" in point.at]


def setting(record: Record, asked: str = "") -> str:
    """The setting of the kernel that the knob in a Record turned, such as net.ipv4.tcp_sack, or nothing.

    Of several it is the one that was `asked` for.
    """
    known = [point.facts["settings"] for point in turns(record) if "settings" in point.facts]
    if known:
        return asked if asked in known[0] else next(iter(known[0]), "")
    found = SETTING.search(str(record.sweep.get("look", "")))
    return found[0].replace("/", ".") if found else ""


def stays(record: Record) -> tuple[str, str]:
    """Whether the knob is KEPT or REVERTED by its cycle, and its final value; LabError without a cycle.

    A change that is not faster is put back, which we add to paper E's procedure.
    """
    cycle = null_knob.comparison(record)
    found = [point for point in turns(record) if point.at["from"] == AS_FOUND]
    before = {str(state) for point in found for state in point.facts["before"].values()}
    if len(before) != 1:
        raise LabError("The nodes had different values before the cycle.", "`beowulf tune revert`.")
    if cycle.decision == "faster":
        return KEPT, str(cycle.after.at["value"])
    return REVERTED, before.pop()


def could_stay(record: Record) -> str:
    """The value of a knob that is faster by the 95 % interval, as a learner has it, and by ours of 99 % is not yet."""
    cycle = null_knob.comparison(record)
    usual = ratio(ab_comparison.pairs(cycle.before, cycle.after))
    faster = usual.high < 1 and usual.median < 1 / (1 + ab_comparison.MARGIN)
    return str(cycle.after.at["value"]) if faster and cycle.decision == "inconclusive" else ""


def lines(points: Sequence[Point]) -> list[str]:
    """The result of each turn."""
    said = []
    for point in points:
        before, now, again = (_alike(point.facts[name]) for name in ("before", "now", "again"))
        verdict = "right"
        if not takes(point):
            verdict = f"set({point.at['turn']!r}): afterwards look prints {now}"
        elif not exact(point):
            verdict = f"back({before}): afterwards look prints {again}"
        said.append(f"{point.at['from']:>10} -> {point.at['turn']:<10} {verdict}")
    return said


def main(words: Sequence[str], names: Mapping[str, Any]) -> None:
    """Turn the knob of the started file on the running cluster, and print what is right."""
    from beowulf.cluster import running

    try:
        mine, cluster = read(names, Path(words[0]).name), running()
        with _as_it_was(cluster, mine, cluster.nodes[:NODES]) as found:
            print("\n".join(lines(turned(cluster, mine, found))))
    except LabError as problem:
        sys.exit(str(problem))


@contextmanager
def _as_it_was(cluster: Cluster, mine: Mine, nodes: Sequence[str]) -> Iterator[States]:
    """What `look` prints on each node; LabError where it prints something else at the end."""
    mine.rehearse()
    its_log = log.of_cluster(cluster)
    with cluster.holding(f"`{mine.file}`"), ExitStack() as logs:
        change.clear(cluster)
        logs.enter_context(its_log.held())
        found = _look(cluster, mine, nodes)
        for node, state in found.items():
            if not state:
                raise LabError(f"{mine.file}: `look` prints nothing on {node}.", HINT, node)
        kept = _settings(cluster, mine, nodes)
        again = {node: _again(mine, state, kept[node]) for node, state in found.items()}
        change_preview.first(cluster, [_listed(mine, found)], change_preview.show)
        before = {node: Reading(state, state) for node, state in found.items()}
        entry = its_log.change(
            mine.name, " or ".join(mine.values), before, mine.lines("look"), again
        )
        try:
            yield found
        finally:
            change.put_back(cluster, its_log, entry)


def _listed(mine: Mine, found: States) -> str:
    """What will be changed and where, for the owner of the machines."""
    lines = (line for value in mine.values for line in mine.lines("set", value).splitlines())
    what = f"{mine.name} alternating between {' and '.join(mine.values)}, then restored, by {mine.file}"
    return "\n".join([f"{', '.join(found)}: {what}", *(f"    {line}" for line in lines)])


def _settings(cluster: Cluster, mine: Mine, nodes: Sequence[str]) -> dict[str, dict[str, str]]:
    """The settings of the kernel that the lines name, as files with their values, by node."""
    text = "\n".join([mine.lines("look"), *(mine.lines("set", value) for value in mine.values)])
    files = sorted({"/proc/sys/" + name.replace(".", "/") for name in SETTING.findall(text)})
    if not files:
        return {node: {} for node in nodes}
    read = f"grep -sH . {shlex.join(files)} || true"
    printed = _everywhere(cluster, dict.fromkeys(nodes, read), "look")
    return {
        node: dict(line.split(":", 1) for line in lines.splitlines())
        for node, lines in printed.items()
    }


def _again(mine: Mine, state: str, settings: Mapping[str, str]) -> str:
    """Lines that restore a state without the learner's file.

    Those of `back` do so, and where that fails, those of `set`. In any case, these settings get their values.
    """
    set_ = "false"
    with suppress(LabError):
        set_ = mine.lines("set", state)
    back, look, instead = (
        shlex.join([*SHELL, "-c", lines]) + " </dev/null"
        for lines in (mine.lines("back", state), mine.lines("look"), set_)
    )
    lines = f'{back} || true\n[ "$({look})" = {shlex.quote(state)} ] || {instead}'
    if not settings:
        return lines
    own = (f"echo {shlex.quote(value)} >{shlex.quote(file)}" for file, value in settings.items())
    return "\n".join([f"{lines} || true", *own])


def _look(cluster: Cluster, mine: Mine, nodes: Sequence[str]) -> States:
    return _everywhere(cluster, dict.fromkeys(nodes, mine.lines("look")), "look")


def _set(cluster: Cluster, mine: Mine, nodes: Sequence[str], value: str) -> None:
    _everywhere(cluster, dict.fromkeys(nodes, mine.lines("set", value)), "set")


def _put_back(cluster: Cluster, mine: Mine, states: States) -> None:
    _everywhere(
        cluster, {node: mine.lines("back", state) for node, state in states.items()}, "back"
    )


def _everywhere(cluster: Cluster, scripts: Mapping[str, str], method: str) -> States:
    """Run lines of shell on all nodes at once; what they print. LabError with the message of one that fails."""

    def work(node: str) -> str:
        done = knob_places.work(cluster, node, scripts[node])
        if done.returncode:
            said = (done.stderr.strip() or "it said nothing").rpartition("\n")[2].rstrip(".")
            raise LabError(f"On {node}, the lines of `{method}` fail: {said}.", HINT, node)
        return done.stdout.strip()

    return at_once.all_of([*scripts], work)


def _alike(states: States) -> str:
    said = sorted(set(states.values()))
    return " or ".join(repr(each) for each in said)
