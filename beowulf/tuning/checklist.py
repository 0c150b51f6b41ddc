"""Paper E's checklist: what to ask every node before anything is changed (its section 5.1), all nodes at once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from beowulf.cluster import Cluster
from beowulf.cluster.common import at_once
from beowulf.tuning import knob_places, log
from beowulf.tuning.knobs import ALL

SILENT = "does not answer"
# What a service does at boot; a node of a local cluster has no service manager, and starts none.
AT_BOOT = """if [ -d /run/systemd/system ]; then systemctl is-enabled {0} 2>/dev/null || echo off
else echo off; fi"""


# No machine knows what was published today; it knows what is installed, and what of it runs.
NEWEST = r"""driver=$(ethtool -i eth0 | sed -n 's/^driver: //p')
loaded=$(cat "/sys/module/$driver/version" 2>/dev/null || true)
installed=$(modinfo -F version "$driver" 2>/dev/null || true)
running=$(uname -r)
newest=$(ls /lib/modules 2>/dev/null | sort -V | tail -n 1)
if [ "$loaded" ] && [ "$installed" ] && [ "$loaded" != "$installed" ]; then
    echo "no: $installed is installed, $loaded runs"
elif [ ! -e "/lib/modules/$running" ]; then
    echo 'part of the kernel, whose modules are not installed here'
elif [ "$newest" != "$running" ]; then
    echo "no: the kernel $newest is installed, $running runs"
else
    echo yes
fi"""


@dataclass(frozen=True)
class Question:
    """What is asked of every node: in words, the answer that paper E wants (empty: all are to agree), the lines."""

    name: str
    asks: str
    wanted: str
    lines: str


@dataclass(frozen=True)
class Answers:
    """What the nodes answered to a question."""

    question: Question
    by_node: dict[str, str]

    @property
    def agree(self) -> bool:
        """Whether all nodes gave the same answer."""
        return len(set(self.by_node.values())) <= 1

    @property
    def as_wanted(self) -> bool:
        """Whether all agree, and on the answer that paper E wants."""
        wanted = self.question.wanted
        return self.agree and all(answer == wanted for answer in self.by_node.values() if wanted)


SINCE = "rebooted since"
QUESTIONS = (
    Question(
        "driver",
        "Which driver has eth0, and is it the same everywhere?",
        "",
        "ethtool -i eth0 | sed -n 's/^driver: //p; s/^version: //p' | paste -sd ' '",
    ),
    Question("newest", "Is this driver the newest one installed?", "", NEWEST),
    Question("kernel", "Which kernel, and is it the same everywhere?", "", "uname -r"),
    Question("moderation", "Are interrupts moderated, for how many microseconds?", "0", ""),
    Question("firewall", "Is there a firewall now?", "none", ""),
    Question(
        "firewall at boot", "Does a firewall start at boot?", "off", AT_BOOT.format("nftables")
    ),
    Question(
        "irqbalance",
        "Does irqbalance run now?",
        "off",
        "pgrep -x irqbalance >/dev/null && echo on || echo off",
    ),
    Question(
        "irqbalance at boot", "Does irqbalance start at boot?", "off", AT_BOOT.format("irqbalance")
    ),
    Question(
        SINCE,
        "Has it been rebooted since the last change that is kept?",
        "",
        "echo $(($(date +%s) - $(ps -o etimes= -p 1)))",
    ),
)


def ask(cluster: Cluster) -> list[Answers]:
    """Every question put to every node, all nodes at the same time."""
    dead = cluster.dead_nodes()
    living = [node for node in cluster.nodes if node not in dead]
    questions = [question for question in QUESTIONS if question.lines]
    script = "".join(
        f"(\n{question.lines}\n) || echo\necho '{knob_places.MARK}'\n" for question in questions
    )
    knobs = [ALL[question.name] for question in QUESTIONS if not question.lines]

    def put(node: str) -> dict[str, str]:
        said = knob_places.work(cluster, node, f"set +e\n{script}").stdout
        texts = said.split(f"{knob_places.MARK}\n")
        return {each.name: text.strip() for each, text in zip(questions, texts, strict=False)}

    answers = at_once.all_of(living, put)
    read = knob_places.read(cluster, knobs, living) if living else {}
    for name, readings in read.items():
        for node, reading in readings.items():
            answers[node][name] = reading.said
    _compare_times(cluster, answers)
    silent = {question.name: SILENT for question in QUESTIONS}
    return [
        Answers(each, {node: answers.get(node, silent)[each.name] for node in cluster.nodes})
        for each in QUESTIONS
    ]


def _compare_times(cluster: Cluster, by_node: Mapping[str, dict[str, str]]) -> None:
    """Make yes or no of the second at which each node was started."""
    times = [entry.at for entry in log.of_cluster(cluster).open() if entry.kept]
    changed = datetime.fromisoformat(max(times)).timestamp() if times else None
    for answers in by_node.values():
        started = answers[SINCE]
        if changed is None or not started:
            answers[SINCE] = "nothing is changed"
        else:
            answers[SINCE] = "yes" if int(started) > changed + 1 else "no"
