"""Does the measuring cycle find what is there, and nothing where nothing is?

A trial is a whole cycle of its own, with its launch of the program, as `beowulf tune apply` measures it. Both kinds
alternate, in an order drawn with the seed. The change that changes nothing adds and removes as many firewall rules as
the other one, in a chain that no packet passes: the nodes have the same work between two visits. The 10 % effect is
real: so many rules in the chain that every arriving packet passes, on both nodes, as add 10 % by all that is measured.
What they added over all trials is in the facts.
"""

from __future__ import annotations

import random
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.result import Findings, Question
from benchmarks.scratch_cluster import STATE, scratch_folder
from benchmarks.turns import busy_percent
from beowulf.cluster.common import at_once
from beowulf.cluster.common.config import ClusterConfig
from beowulf.cluster.namespaces import cluster as namespaces
from beowulf.cluster.namespaces.cluster import NamespaceCluster
from beowulf.errors import LabError
from beowulf.measure.measurement import Measurement
from beowulf.measure.statistics import ratio
from beowulf.this_machine.progress import Progress
from beowulf.tuning.ab_comparison import DEFAULT, Comparison, compare, decide, pairs

TITLE = "The measuring cycle: nothing, and a tenth more"
ROUNDS = 100  # trials of each kind

NULL, EFFECT = "a change that changes nothing", "a 10 % effect"
RIGHT = {NULL: "no effect", EFFECT: "slower"}
SHARE = 0.10
CALIBRATION_RULES, CALIBRATIONS, CORRECTIONS = (50, 200), 2, 4
LISTEN_EVERY = 10  # trials: how busy the machine is with other things
BLOCKS = (4, 8, 12, 16, DEFAULT.blocks)

# A chain with a hook is passed by every packet that arrives; one without is only remembered.
TABLE = """nft -f - <<'RULES'
table ip beowulf_bench
delete table ip beowulf_bench
{table}
RULES"""
HOOK = "type filter hook input priority 0; policy accept;"
RULE = "ip saddr 203.0.113.{0} tcp dport {1} drop"


@dataclass(frozen=True)
class Trial:
    """One cycle: of which kind, what came out, from which pairs of visits, and with how many rules."""

    kind: str
    decision: str
    both: list[tuple[float, float]]
    rules: int


def measure(rounds: int, seed: int, progress: Progress) -> Findings:
    """So many trials of each kind, and what they came to."""
    trials: list[Trial] = []
    busy: list[float] = []
    order = random.Random(seed).sample([*RIGHT] * rounds, len(RIGHT) * rounds)
    with scratch_folder() as folder:
        progress(0, 1, "booting the cluster")
        cluster = namespaces.up(ClusterConfig(rate="off"), folder=folder / STATE)
        rules = calibrated(cluster, folder)
        for number, kind in enumerate(order):
            progress(number, len(order), kind)
            if number % LISTEN_EVERY == 0:
                busy.append(busy_percent())
            comparison = _cycle(cluster, folder, rules.number, passed=kind == EFFECT)
            both = pairs(comparison.before, comparison.after)
            trials.append(Trial(kind, comparison.decision, both, rules.number))
            if kind == EFFECT:
                rules.learn(rules.number, added(both))
    return findings(trials, busy)


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


def added(both: Sequence[tuple[float, float]]) -> float:
    """The share by which a change made messages slower, by its pairs of visits."""
    return ratio(both).median - 1


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

        at_once.all_of(cluster.nodes[:2], put)

    return change


def findings(trials: Sequence[Trial], busy: list[float]) -> Findings:
    """The counts of both kinds, and how many fewer blocks would have decided right."""
    kinds = {kind: [each for each in trials if each.kind == kind] for kind in RIGHT}
    pooled = {
        kind: ratio([pair for each in mine for pair in each.both]) for kind, mine in kinds.items()
    }
    used = [each.rules for each in kinds[EFFECT]]
    facts: dict[str, Any] = {"rules of the 10 % effect": f"{min(used)} to {max(used)}"}
    for kind, mine in kinds.items():
        decisions = [each.decision for each in mine]
        words = [f"{decisions.count(word)} {word}" for word in sorted(set(decisions))]
        facts[f"decisions: {kind}"] = ", ".join(words)
        over_all = pooled[kind]
        facts[f"ratio over all trials: {kind}"] = (
            f"{over_all.median:.4f} ({over_all.low:.4f} to {over_all.high:.4f})"
        )
        # The same trials, had each cycle ended there.
        facts[f"right after so many blocks: {kind}"] = {
            blocks: sum(decide(each.both[: 2 * blocks]) == RIGHT[kind] for each in mine)
            for blocks in BLOCKS
        }
    return Findings(
        [
            Question(f"{kind} comes out '{right}'", kind, unit="trials")
            for kind, right in RIGHT.items()
        ],
        {kind: [float(each.decision == RIGHT[kind]) for each in kinds[kind]] for kind in RIGHT},
        busy,
        facts,
    )
