"""Questions to Slurm (which queue there is, the state of a job, who is before it), and commands to it."""

from __future__ import annotations

import math
import os
import re
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass

from beowulf.cluster.common.shells import surroundings
from beowulf.errors import LabError

LONGEST_ANSWER_S = 60.0
NAME = "beowulf"  # of our jobs, as `squeue` shows it
# What a job does that only holds its nodes.
HOLD = "exec sleep infinity"
SQUEUE = ("squeue", "--noheader", "--array")
PASSED_ON = ("SLURM_CONF", "SLURM_CLUSTERS")
HERE = "Work on a machine of the cluster, usually its master; docs/clusters.md says how to install Slurm there."
ASK = "Ask the administrator of the cluster."

# What Slurm's commands say when they fail: a mark in their words, what happened, what to try.
TROUBLES = (
    (
        "Unable to contact slurm controller|Unable to establish control|Connection refused",
        "Slurm's controller does not answer.",
        ASK,
    ),
    ("configuration source", "Slurm is not configured on this machine.", HERE),
    (
        "authentication|Credential",
        "Slurm cannot authenticate you from this machine (its service munge).",
        ASK,
    ),
    (
        "inactive or drain|partition configuration not available",
        "The Slurm queue is closed: it takes no new jobs.",
        ASK,
    ),
    ("Requested time limit", "The Slurm queue allows no job that long.", "Ask for less time."),
    (
        "Node count specification|node configuration is not available",
        "The Slurm queue does not have, or does not give out, that many nodes.",
        "`sinfo` shows its nodes; ask for fewer with `--nodes`.",
    ),
    (
        "invalid partition",
        "There is no such queue.",
        "Check SBATCH_PARTITION; `sinfo` lists the queues.",
    ),
)


@dataclass(frozen=True)
class Job:
    """A job as Slurm reports it; times are seconds since 1970, 0 while they are unknown."""

    number: str
    state: str  # such as PENDING or RUNNING
    reason: str  # why it waits, or ended
    queue: str
    nodes: str  # as Slurm abbreviates their names
    starts: float
    ends: float

    @property
    def waits(self) -> bool:
        """Whether it has no nodes yet."""
        return self.state in ("PENDING", "REQUEUED", "REQUEUE_HOLD", "SPECIAL_EXIT")

    @property
    def runs(self) -> bool:
        """Whether its nodes are its own."""
        return self.state in ("RUNNING", "CONFIGURING", "SUSPENDED")

    @property
    def lasts(self) -> bool:
        """Whether it has not ended."""
        return self.waits or self.runs


@dataclass(frozen=True)
class Queue:
    """A partition, as Slurm calls it: its name, whether it is up, and the longest time that it gives."""

    name: str
    state: str
    longest: str

    @property
    def minutes(self) -> float:
        """The longest time in minutes."""
        # As sinfo prints it: 30:00, 2:00:00, 1-00:00:00, or infinite.
        days, _, rest = self.longest.rpartition("-")
        parts = [int(part) for part in rest.split(":") if part.isdigit()]
        if len(parts) < 2:
            return math.inf
        hours, minutes, _ = [0, *parts][-3:]
        return int(days or 0) * 24 * 60 + hours * 60 + minutes


def ask(*words: str) -> str:
    """What a command of Slurm prints; LabError when it fails, or is not there."""
    environment = {
        name: value
        for name, value in surroundings().items()
        if not name.startswith("SLURM_") or name in PASSED_ON
    }
    try:
        done = subprocess.run(
            words,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=LONGEST_ANSWER_S,
            env={**environment, "SLURM_TIME_FORMAT": "%s"},
        )
    except FileNotFoundError:
        raise LabError(f"Slurm is not installed here: there is no {words[0]}.", HERE) from None
    except subprocess.TimeoutExpired:
        raise LabError(
            f"Slurm did not answer `{words[0]}` within {LONGEST_ANSWER_S:g} s.", ASK
        ) from None
    if done.returncode:
        raise trouble(words[0], done.stderr or done.stdout)
    return done.stdout


def trouble(command: str, output: str) -> LabError:
    """The error for what a command of Slurm printed when it failed."""
    for mark, what, hint in TROUBLES:
        if re.search(mark, output, re.IGNORECASE):
            return LabError(what, hint)
    lines = [line.partition("error: ")[2] or line for line in output.strip().splitlines()]
    return LabError(f"`{command}` failed: {' '.join(lines) or 'it printed no reason'}.", ASK)


def job(number: str) -> Job | None:
    """A job; None when Slurm has forgotten it."""
    form = "%A|%T|%r|%P|%N|%S|%e"
    try:
        output = ask(*SQUEUE, "--states=all", f"--jobs={number}", f"--format={form}")
    except LabError as error:
        if "Invalid job id" in error.message:
            return None
        raise
    for line in output.splitlines():
        if line.count("|") == form.count("|"):
            number, state, reason, into, nodes, starts, ends = line.split("|")
            return Job(number, state, reason, into, nodes, _moment(starts), _moment(ends))
    return None


def _moment(text: str) -> float:
    return float(text) if text.isdigit() else 0.0


def place(of: Job) -> tuple[int, int]:
    """The place of a waiting job in the queue, and how many wait there; 0 when it no longer waits."""
    words = ("--states=PENDING", f"--partition={of.queue}", "--sort=-p,i", "--format=%A")
    waiting = ask(*SQUEUE, *words).split()
    return (waiting.index(of.number) + 1 if of.number in waiting else 0), len(waiting)


def queue() -> Queue:
    """The queue that a new job would go into."""
    wanted = os.environ.get("SBATCH_PARTITION", "")
    rows = [line.split("|") for line in ask("sinfo", "--noheader", "--format=%P|%a|%l").split()]
    for name, state, longest in (row for row in rows if len(row) == 3):
        if name.removesuffix("*") == wanted or (not wanted and (name[-1] == "*" or len(rows) == 1)):
            return Queue(name.removesuffix("*"), state, longest)
    raise LabError(
        f"Slurm has no queue {wanted!r}." if wanted else "Slurm has no default queue.",
        "Name one in SBATCH_PARTITION; `sinfo` lists them.",
    )


def states(words: Iterable[str]) -> dict[str, str]:
    """The nodes that `words` of sinfo choose, by name: nothing for one that can be used, else why not."""
    output = ask("sinfo", "--noheader", "--Node", *words, "--format=%N|%T|%E")
    rows = (line.split("|", 2) for line in output.splitlines() if line.count("|") >= 2)
    return {name: unusable(state, reason) for name, state, reason in rows}


def unusable(state: str, reason: str) -> str:
    """Why a node gets no job, from the state and the reason that sinfo prints; empty when it gets some."""
    why = "" if reason in ("none", "") else f" ({reason})"
    if state.endswith("*"):
        return f"does not answer{why}"
    if state.startswith(("down", "fail", "unknown", "power")):
        return f"is down{why}"
    return f"is {state}{why}" if state.startswith("drain") else ""


def refuse_closed(into: Queue, nodes: int, minutes: int) -> None:
    """LabError when the queue is closed, does not give that much time, or has too few usable nodes."""
    if into.state != "up":
        raise LabError(f"The Slurm queue {into.name} is closed ({into.state}).", ASK)
    if minutes > into.minutes:
        raise LabError(
            f"The Slurm queue {into.name} gives at most {into.minutes:g} minute{'s' * (into.minutes != 1)}.",
            "Ask for less time with `--minutes`.",
        )
    node_states = states([f"--partition={into.name}"])
    well = [name for name, why in node_states.items() if not why]
    if len(well) < nodes:
        bad = "; ".join(f"{name} {why}" for name, why in node_states.items() if why)
        have = f"{len(well)} node{'s' * (len(well) != 1)}"
        raise LabError(
            f"The Slurm queue {into.name} has {have} that can be used, but you asked for {nodes}"
            + (f": {bad}." if bad else "."),
            "Ask for fewer with `--nodes`.",
        )


def submit(nodes: int, minutes: int) -> str:
    """Ask for exclusive nodes; the number of the job."""
    words = ["sbatch", "--parsable", f"--job-name={NAME}", f"--nodes={nodes}", "--exclusive"]
    words += [f"--time={minutes}", "--no-requeue", "--chdir=/", "--output=/dev/null"]
    return ask(*words, "--wrap", HOLD).partition(";")[0].strip()


def cancel(number: str) -> None:
    """Give a job's nodes back, or its place in the queue; one that has ended is left alone."""
    ask("scancel", "--quiet", number)


def names(nodes: str) -> list[str]:
    """The nodes' names, from Slurm's abbreviation such as node[00-03]."""
    return ask("scontrol", "show", "hostnames", nodes).split()


def through(number: str, node: str) -> tuple[str, ...]:
    """The words that start a command on a node of a job."""
    return (
        "srun",
        f"--jobid={number}",
        "--overlap",
        "--nodes=1",
        "--ntasks=1",
        f"--nodelist={node}",
        "--mpi=none",
        "--chdir=/",
        "--export=LANG,TERM,USER,LOGNAME",
        # Once hides what is no error, twice also how a command ended, which its exit code says.
        "--quiet",
        "--quiet",
    )
