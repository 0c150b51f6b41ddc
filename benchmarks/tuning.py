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
from benchmarks.scratch_cluster import STATE, scratch_folder
from benchmarks.turns import busy_percent
from beowulf.cluster import namespaces
from beowulf.cluster.config import ClusterConfig
from beowulf.cluster.namespaces import NamespaceCluster
from beowulf.errors import LabError
from beowulf.measure.measurement import Measurement
from beowulf.measure.statistics import Ratio, ratio
from beowulf.progress import Progress
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
    "kinds come in turns, in an order drawn with the seed.",
    "The change that changes nothing adds and removes as many firewall rules as the other one, in a chain that no "
    "packet passes: the nodes have the same work between two visits.",
    "The 10 % effect is real: so many rules in the chain that every arriving packet passes, on both nodes, as add 10 % "
    "by all that is measured: a first number comes from the line through two cycles with 50 and two with 200 rules, "
    f"and what it really adds, in {CORRECTIONS} cycles more and then in every trial, moves it along that line. What "
    f"the rules added over all trials is below; where it is more than {AT_MOST:.1%}, no 10 % effect was measured, "
    "and the row reports that.",
    "An effect counts as detected when the decision is 'slower'."
    f" A cycle has {DEFAULT.blocks} blocks of four visits with {DEFAULT.samples} samples each, and "
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


def measure(rounds: int, seed: int, progress: Progress) -> Findings:
    """At most `rounds` more trials of each kind, until there are a hundred of each in all."""
    parts = Parts("tuning", _of())
    trials = earlier_trials(parts)
    busy: list[float] = []
    procedures: list[float] = []
    wanted = _order(trials, rounds, seed)
    with scratch_folder() as folder:
        progress(0, 1, "booting the cluster")
        cluster = namespaces.up(ClusterConfig(rate="off"), folder=folder / STATE)
        rules = calibrated(cluster, folder)
        for number, kind in enumerate(wanted):
            progress(number, len(wanted) + PROCEDURES, kind)
            if number % LISTEN_EVERY == 0:
                busy.append(busy_percent())
            trials.append(trial(cluster, folder, kind, rules.number))
            if kind == EFFECT:
                rules.learn(trials[-1].rules, added(trials[-1].both))
            parts.add(asdict(trials[-1]))
        for number in range(PROCEDURES):
            progress(len(wanted) + number, len(wanted) + PROCEDURES, PROCEDURE)
            began = time.monotonic()
            e7_procedure.STUDY.measure(cluster, folder)
            procedures.append(time.monotonic() - began)
    return findings(trials, procedures, busy, wanted)


def _order(trials: Sequence[Trial], rounds: int, seed: int) -> list[str]:
    left = []
    for kind in RIGHT:
        done = sum(each.kind == kind for each in trials)
        left += [kind] * max(0, min(rounds, ROUNDS - done))
    return random.Random(seed).sample(left, len(left))


def earlier_trials(parts: Parts) -> list[Trial]:
    """The trials of earlier parts; none, when they were a whole benchmark."""
    trials = [Trial(**each) for each in parts.read()]
    if all(sum(each.kind == kind for each in trials) >= ROUNDS for kind in RIGHT):
        parts.forget()
        return []
    return trials


def _of() -> str:
    """What made them: the cycle's two halves, in Python and in C, and how the effect is made."""
    made = Path(ab_comparison.__file__).read_bytes() + ab_comparison.PROGRAM.read_bytes()
    for each in (calibrated, Rules, with_rules):
        made += inspect.getsource(each).encode()
    return hashlib.sha256(made).hexdigest()


def trial(cluster: NamespaceCluster, folder: Path, kind: str, rules: int) -> Trial:
    """One whole cycle round a change of that kind."""
    began = time.monotonic()
    comparison = _cycle(cluster, folder, rules, passed=kind == EFFECT)
    both = [[after, before] for after, before in pairs(comparison.before, comparison.after)]
    return Trial(kind, comparison.decision, both, time.monotonic() - began, rules)


class Rules:
    """How many rules make a message SHARE slower, by the line through two measured numbers of them.

    What they add is not linear, and one cycle is no sure measure of it: each cycle corrects the number.
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
    """The rules of the 10 % effect, as far as some cycles show."""

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
    trials: Sequence[Trial], procedures: list[float], busy: list[float], order: list[str]
) -> Findings:
    """The counts of both kinds against their bars, the times, and what shorter cycles would have decided."""
    samples = {
        kind: [float(each.decision == right) for each in trials if each.kind == kind]
        for kind, right in RIGHT.items()
    }
    samples[CYCLE] = [each.took_s for each in trials]
    samples[PROCEDURE] = procedures
    questions = [
        Question(
            f"{kind} comes out '{RIGHT[kind]}'",
            kind,
            bar=Bar(ROUNDS, "count", least=LEAST[kind]),
            missing=_missed(trials) if kind == EFFECT else "",
            unit="trials",
        )
        for kind in RIGHT
    ]
    questions += [
        Question("a default cycle, with its launch", CYCLE),
        Question("the whole default procedure (E7)", PROCEDURE, bar=Bar(600.0)),
    ]
    notes = [*NOTES, shorter(trials)]
    facts = {f"decisions: {kind}": _decisions(trials, kind) for kind in RIGHT}
    facts |= {f"ratio over all trials: {kind}": _words(_pooled(trials, kind)) for kind in RIGHT}
    used = [each.rules for each in trials if each.kind == EFFECT]
    facts["rules of the 10 % effect"] = f"{min(used)} to {max(used)}" if used else "none"
    facts["longest cycle"] = f"{max((len(each.both) // 2 for each in trials), default=0)} blocks"
    return Findings(questions, samples, busy, order, facts=facts, notes=notes)


def _decisions(trials: Sequence[Trial], kind: str) -> str:
    decisions = [each.decision for each in trials if each.kind == kind]
    return ", ".join(f"{decisions.count(word)} {word}" for word in sorted(set(decisions))) or "none"


def _pooled(trials: Sequence[Trial], kind: str) -> Ratio | None:
    both = [(after, before) for each in trials if each.kind == kind for after, before in each.both]
    return ratio(both) if both else None


def _words(ratio: Ratio | None) -> str:
    return f"{ratio.median:.4f} ({ratio.low:.4f} to {ratio.high:.4f})" if ratio else "not measured"


def _missed(trials: Sequence[Trial]) -> str:
    """Why the measured effect was not 10 %; empty where it was, or where it was smaller."""
    effect = _pooled(trials, EFFECT)
    if effect is None or effect.median <= 1 + AT_MOST:
        return ""
    return f"the effect was really {effect.median - 1:.1%}"


def shorter(trials: Sequence[Trial]) -> str:
    """How many of the same trials would have come out right after fewer blocks, without going on."""
    lines = ["| blocks | " + " | ".join(RIGHT) + " |", "| --- | --- | --- |"]
    for blocks in (*SHORTER, DEFAULT.blocks):
        cells = []
        for kind, right in RIGHT.items():
            mine = [each for each in trials if each.kind == kind]
            fine = sum(
                decide([(a, b) for a, b in each.both[: 2 * blocks]]) == right for each in mine
            )
            cells.append(f"{fine} of {len(mine)}")
        lines.append(f"| {blocks} | {' | '.join(cells)} |")
    table = "\n".join(f"  {line}" for line in lines)
    return f"Right after so many blocks, had each of these cycles ended there:\n\n{table}\n"
