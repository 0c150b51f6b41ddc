"""Does the measuring cycle find what is there, and nothing where nothing is? And how long is the whole procedure?"""

from __future__ import annotations

import hashlib
import inspect
import random
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from benchmarks.parts import Parts
from benchmarks.result import Findings
from benchmarks.rows import Bar, Question
from benchmarks.turns import Told, busy_percent
from benchmarks.workshop import STATE, workshop
from beowulf.cluster import namespaces
from beowulf.cluster.config import ClusterConfig
from beowulf.cluster.namespaces import NamespaceCluster
from beowulf.errors import LabError
from beowulf.measure.measurement import Measurement
from beowulf.measure.statistics import Ratio, ratio
from beowulf.studies.lab_07 import e7_procedure
from beowulf.tuning import ab_comparison, machines
from beowulf.tuning.ab_comparison import DEFAULT, Comparison, compare, decide, pairs

TITLE = "The measuring cycle: nothing, and a tenth more"
ROUNDS = 100  # trials of each kind
FILLS_THE_CORES = True  # the whole procedure ends with four ranks at work

NULL, EFFECT = "a change that changes nothing", "a 10 % effect"
RIGHT = {NULL: "no effect", EFFECT: "slower"}
LEAST = {NULL: 95, EFFECT: 90}
CYCLE, PROCEDURE = "one cycle", "the whole procedure"
PROCEDURES = 3
SHARE, AT_MOST = 0.10, 0.105  # what is meant, and what still counts as that
CALIBRATION_RULES, CALIBRATIONS, CORRECTIONS = (50, 200), 2, 4
LISTEN_EVERY = 10  # trials: how busy the machine is with other things
SHORTER = (4, 8, 12, 16)  # blocks

# A chain with a hook is passed by every packet that arrives; one without is only remembered.
TABLE = """nft -f - <<'RULES'
table ip beowulf_bench
delete table ip beowulf_bench
{table}
RULES"""
HOOK = "type filter hook input priority 0; policy accept;"
RULE = "ip saddr 203.0.113.{0} tcp dport {1} drop"

NOTES = [
    "A trial is a whole cycle of its own, with its launch of the program, as `beowulf tune apply` measures it. Both "
    "kinds come by turns, in an order drawn with the seed.",
    "The change that changes nothing adds and removes as many firewall rules as the other one, in a chain that no "
    "packet passes: the nodes have the same work between two visits.",
    "The 10 % effect is real: so many rules in the chain that every arriving packet passes, on both nodes, as add 10 % "
    "by all that is measured: a first number comes from the line through two cycles with 50 and two with 200 rules, "
    f"and what it really adds, in {CORRECTIONS} cycles more and then in every trial, moves it along that line. What "
    f"the rules added over all trials stands below; where it is more than {AT_MOST:.1%}, no 10 % effect was measured, "
    "and the row says so.",
    f"Found is 'slower'. A cycle has {DEFAULT.blocks} blocks of four visits with {DEFAULT.samples} samples each, and "
    f"while it is inconclusive up to {DEFAULT.most_blocks} blocks.",
    "A hundred trials may be made in several parts, of which each begins with a calibration of its own; the "
    "circumstances below are those of the last part.",
    "The whole procedure is study E7 as `beowulf study E7` measures it: the checklist on all nodes, one change after "
    "the other with a default cycle each, the checklist again, and all of it together.",
]


@dataclass(frozen=True)
class Trial:
    """One cycle: of which kind, what came out, from which pairs of visits, and how long it took."""

    kind: str
    decision: str
    both: list[list[float]]
    took_s: float
    rules: int


def measure(rounds: int, seed: int, told: Told) -> Findings:
    """At most `rounds` more trials of each kind, until there are a hundred of each in all."""
    parts = Parts("tuning", _of())
    found = kept(parts)
    busy: list[float] = []
    procedures: list[float] = []
    wanted = _order(found, rounds, seed)
    with workshop() as folder:
        told(0, 1, "booting the cluster")
        cluster = namespaces.up(ClusterConfig(rate="off"), folder=folder / STATE)
        rules = calibrated(cluster, folder)
        for number, kind in enumerate(wanted):
            told(number, len(wanted) + PROCEDURES, kind)
            if number % LISTEN_EVERY == 0:
                busy.append(busy_percent())
            found.append(trial(cluster, folder, kind, rules.number))
            if kind == EFFECT:
                rules.learn(found[-1].rules, added(found[-1].both))
            parts.add(asdict(found[-1]))
        for number in range(PROCEDURES):
            told(len(wanted) + number, len(wanted) + PROCEDURES, PROCEDURE)
            began = time.monotonic()
            e7_procedure.STUDY.measure(cluster, folder)
            procedures.append(time.monotonic() - began)
    return findings(found, procedures, busy, wanted)


def _order(found: Sequence[Trial], rounds: int, seed: int) -> list[str]:
    left = []
    for kind in RIGHT:
        done = sum(each.kind == kind for each in found)
        left += [kind] * max(0, min(rounds, ROUNDS - done))
    return random.Random(seed).sample(left, len(left))


def kept(parts: Parts) -> list[Trial]:
    """The trials of earlier parts; none, when they were a whole benchmark."""
    found = [Trial(**each) for each in parts.read()]
    if all(sum(each.kind == kind for each in found) >= ROUNDS for kind in RIGHT):
        parts.forget()
        return []
    return found


def _of() -> str:
    """What made them: the cycle's two halves, in Python and in C, and how the effect is made."""
    made = Path(ab_comparison.__file__).read_bytes() + ab_comparison.PROGRAM.read_bytes()
    for each in (calibrated, Rules, with_rules):
        made += inspect.getsource(each).encode()
    return hashlib.sha256(made).hexdigest()


def trial(cluster: NamespaceCluster, folder: Path, kind: str, rules: int) -> Trial:
    """One whole cycle round a change of that kind."""
    began = time.monotonic()
    found = _cycle(cluster, folder, rules, passed=kind == EFFECT)
    both = [[after, before] for after, before in pairs(found.before, found.after)]
    return Trial(kind, found.decision, both, time.monotonic() - began, rules)


class Rules:
    """How many rules make a message SHARE slower, by the line through two measured numbers of them.

    What they add bends, and one cycle is no sure measure of it: each cycle with the number found moves it on.
    """

    def __init__(self, few: tuple[int, float], many: tuple[int, float]) -> None:
        more = many[1] - few[1]
        if more <= 0.0 or many[1] <= 0.0:
            raise LabError(
                "More firewall rules do not make messages slower here.", "Measure when it is quiet."
            )
        self.of_one = more / (many[0] - few[0])
        self._guesses = [self._guess(*few)]

    @property
    def number(self) -> int:
        """The rules for the next cycle."""
        return max(1, round(statistics.fmean(self._guesses)))

    def learn(self, rules: int, share: float) -> None:
        """So many rules made messages slower by that share."""
        self._guesses.append(self._guess(rules, share))

    def _guess(self, rules: int, share: float) -> float:
        return rules + (SHARE - share) / self.of_one


def calibrated(cluster: NamespaceCluster, folder: Path) -> Rules:
    """The rules of the 10 % effect, as far as some cycles can tell."""

    def more(rules: int, cycles: int = CALIBRATIONS) -> float:
        made = [_cycle(cluster, folder, rules, passed=True) for _ in range(cycles)]
        return added([pair for each in made for pair in pairs(each.before, each.after)])

    few, many = ((rules, more(rules)) for rules in CALIBRATION_RULES)
    rules = Rules(few, many)
    for _ in range(CORRECTIONS):
        rules.learn(rules.number, more(rules.number, cycles=1))
    return rules


def added(both: Sequence[Sequence[float]]) -> float:
    """The share by which a change made messages slower, by its pairs of visits."""
    return ratio([(after, before) for after, before in both]).median - 1


def _cycle(cluster: NamespaceCluster, folder: Path, rules: int, *, passed: bool) -> Comparison:
    with Measurement("E7", cluster, folder) as session:
        return compare(session, with_rules(cluster, rules, passed=passed))
    raise LabError("A trial was cut short.", "Measure again.")


def with_rules(cluster: NamespaceCluster, rules: int, *, passed: bool) -> Callable[[bool], None]:
    """A change that gives both nodes so many rules, which every packet passes or none."""
    lines = "\n".join(RULE.format(1 + number % 254, 1 + number) for number in range(rules))
    chain = f"table ip beowulf_bench {{\nchain one {{\n{HOOK if passed else ''}\n{lines}\n}}\n}}"

    def change(on: bool) -> None:
        script = TABLE.format(table=chain if on else "")

        def put(node: str) -> None:
            done = cluster.administer(node, script)
            if done.returncode:
                raise LabError(f"{node} took no rules: {done.stderr.strip()}", node=node)

        machines.everywhere(cluster.nodes[:2], put)

    return change


def findings(
    found: Sequence[Trial], procedures: list[float], busy: list[float], order: list[str]
) -> Findings:
    """The counts of both kinds against their bars, the times, and what shorter cycles would have said."""
    samples = {
        kind: [float(each.decision == right) for each in found if each.kind == kind]
        for kind, right in RIGHT.items()
    }
    samples[CYCLE] = [each.took_s for each in found]
    samples[PROCEDURE] = procedures
    questions = [
        Question(
            f"{kind} comes out '{RIGHT[kind]}'",
            kind,
            bar=Bar(ROUNDS, "count", least=LEAST[kind]),
            missing=_missed(found) if kind == EFFECT else "",
            unit="trials",
        )
        for kind in RIGHT
    ]
    questions += [
        Question("a default cycle, with its launch", CYCLE),
        Question("the whole default procedure (E7)", PROCEDURE, bar=Bar(600.0)),
    ]
    notes = [*NOTES, shorter(found)]
    facts = {f"decisions: {kind}": _decisions(found, kind) for kind in RIGHT}
    facts |= {f"ratio over all trials: {kind}": _words(_pooled(found, kind)) for kind in RIGHT}
    used = [each.rules for each in found if each.kind == EFFECT]
    facts["rules of the 10 % effect"] = f"{min(used)} to {max(used)}" if used else "none"
    facts["longest cycle"] = f"{max((len(each.both) // 2 for each in found), default=0)} blocks"
    return Findings(questions, samples, busy, order, facts=facts, notes=notes)


def _decisions(found: Sequence[Trial], kind: str) -> str:
    said = [each.decision for each in found if each.kind == kind]
    return ", ".join(f"{said.count(word)} {word}" for word in sorted(set(said))) or "none"


def _pooled(found: Sequence[Trial], kind: str) -> Ratio | None:
    both = [(after, before) for each in found if each.kind == kind for after, before in each.both]
    return ratio(both) if both else None


def _words(seen: Ratio | None) -> str:
    return f"{seen.median:.4f} ({seen.low:.4f} to {seen.high:.4f})" if seen else "not measured"


def _missed(found: Sequence[Trial]) -> str:
    """Why what was found was no 10 % effect; empty where it was one, or a smaller one."""
    seen = _pooled(found, EFFECT)
    if seen is None or seen.median <= 1 + AT_MOST:
        return ""
    return f"the effect was really {seen.median - 1:.1%}"


def shorter(found: Sequence[Trial]) -> str:
    """How many of the same trials would have come out right after fewer blocks, without going on."""
    lines = ["| blocks | " + " | ".join(RIGHT) + " |", "| --- | --- | --- |"]
    for blocks in (*SHORTER, DEFAULT.blocks):
        cells = []
        for kind, right in RIGHT.items():
            mine = [each for each in found if each.kind == kind]
            fine = sum(
                decide([(a, b) for a, b in each.both[: 2 * blocks]]) == right for each in mine
            )
            cells.append(f"{fine} of {len(mine)}")
        lines.append(f"| {blocks} | {' | '.join(cells)} |")
    table = "\n".join(f"  {line}" for line in lines)
    return f"Right after so many blocks, had each of these cycles ended there:\n\n{table}\n"
