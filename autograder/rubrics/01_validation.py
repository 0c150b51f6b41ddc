"""Lab 01: points for a learner's own ring, round trips and plot, for the Records A2 and A5, answers and diagnoses."""

from __future__ import annotations

import re
from functools import partial
from itertools import permutations
from typing import Any

from autograder.rubrics import own_plots
from autograder.rubrics.answers import given
from autograder.rubrics.predictions import sealed
from autograder.rubrics.questions import Scorer
from autograder.rubrics.record_facts import (
    ByRecord,
    Facts,
    attempt,
    best_of_own,
    near,
    numbers_and_words,
    read_records,
)
from autograder.rubrics.score import Score
from autograder.rubrics.submission import Submission, is_number
from beowulf.errors import LabError
from beowulf.exercises.plot_reading import Wants
from beowulf.labs.lab_01 import a2_validation, a5_no_load, broken_ring, own_ring, own_trips
from beowulf.labs.lab_01.a2_validation import CHECKS, Diagnosis
from beowulf.labs.lab_01.own_ring import STUDY
from beowulf.record import Record

HOSTS_NODE = "node01"
PAIR_CHECKS = ("resolve", "ping", "ssh", "transfer")
PROGRAM_CHECKS = ("mpi-hello", "mpi-ring")
# These clusters have up to 16 nodes; thousands of names would only take the grader's time.
MOST_NODES = 64
MOST_ROUTES = 100  # of a node, of which each leads to one of the others, or to a network
# Calls that send something to all ranks at once, or collect it from all: what goes from one to another needs none.
COLLECTIVE = re.compile(
    "MPI_I?(bcast|(all)?gatherv?|scatterv?|alltoall[vw]?|(all)?reduce|(ex)?scan)", re.IGNORECASE
)
FEWEST_SAMPLES = 5  # of each ordered pair
# As the notebook asks for it.
TRIPS = Wants(x="number of the other node", y="round trip in µs", lines=4, points=3)
PASSED_ON = "A token that each node's own function passes on and that comes home."
BETWEEN_ALL = "A right round trip between each node and each other one."
RATE = "idle_mbit_per_s"
# By how much the Mbit/s in a Record may differ from those that its bytes and seconds give.
ROUNDING_PERCENT, ROUNDING_MBIT_PER_S = 1, 0.00001


def a2_record(submission: Submission) -> Score:
    """All points for a complete Record of a cluster in which every check is well, a third for any other."""
    expected = "A whole Record A2 of a cluster in which every node reaches every other."
    record, why = _validation(submission)
    if record is None:
        return Score(0, 3, why, expected)
    if why:
        hint = "`beowulf up` heals the cluster; then measure A2 again."
        return Score(1, 3, f"{record.file_name}: {why}.", f"{expected} {hint}")
    return Score(3, 3, f"{record.file_name}: all checks of {len(_nodes(record))} nodes are well.")


def hosts_first_line(submission: Submission) -> Score:
    """The first line of node01's /etc/hosts, as the learner's own Record has it."""
    record, why = _validation(submission)
    facts = _facts(record, check="configuration", node=HOSTS_NODE) if record else {}
    lines = str(facts.get("hosts", "")).splitlines() or [str(facts.get("hosts_first_line", ""))]
    if not lines[0].strip():
        return Score(0, 1, why or f"The Record has nothing about {HOSTS_NODE}'s /etc/hosts.")
    answer = submission.answers.get("hosts_first_line")
    # How many blanks or tabs are between address and name does not matter.
    right = isinstance(answer, str) and answer.split() == lines[0].split()
    return Score(int(right), 1, given(submission, "hosts_first_line"), f"“{lines[0]}”")


def count(name: str, submission: Submission) -> Score:
    """The number of ordered pairs of nodes, or of the ring's messages, in the learner's cluster."""
    record, why = _validation(submission)
    nodes = len(_nodes(record)) if record else 0
    if nodes < 2:
        return Score(0, 1, why or "The Record names no nodes.")
    wanted = nodes * (nodes - 1) if name == "ordered_pairs" else nodes
    return near(submission, {name: wanted}, f"the Record has {nodes} nodes")


def idle(record: Record) -> Facts:
    """What a Record of the idle wire gives: its Mbit/s, and whether those that it states are the same."""
    facts = a5_no_load.seen(record)
    sent, elapsed_s, stated = (facts.get(name) for name in ("bytes", "elapsed_s", "mbit_per_s"))
    if not (is_number(sent) and is_number(elapsed_s) and sent >= 0 and elapsed_s > 0):
        raise LabError("it does not hold both an elapsed time and bytes")
    rate = 8 * sent / elapsed_s / 1e6
    room = max(ROUNDING_PERCENT / 100 * rate, ROUNDING_MBIT_PER_S)
    return {RATE: rate, "agrees": is_number(stated) and abs(stated - rate) <= room}


def a5_record(submission: Submission) -> Score:
    """All points for a whole Record of the idle wire, half for one whose numbers do not agree."""
    expected = "A whole Record A5 of the idle wire."
    readings, why = read_records(idle, "A5", "", submission)
    if not readings:
        return Score(0, 2, why, f"{expected} Measure it again.")
    # One that was measured again and cut short does not take away the whole one before it.
    for facts, name in readings:
        if facts["agrees"]:
            return Score(2, 2, f"{name}: {facts[RATE]:.6g} Mbit/s.")
    facts, name = readings[0]
    why = f"its bytes and seconds give {facts[RATE]:.6g} Mbit/s, and it states another rate"
    return Score(1, 2, f"{name}: {why}.", expected)


def idle_mbit(
    submission: Submission, facts: Facts, by: str, *, tolerance_percent: float, tolerance: float
) -> Score:
    """The idle wire's Mbit/s, from the bytes and the seconds of a Record."""
    wanted, how = {RATE: facts[RATE]}, f"8 * bytes / seconds / 1,000,000 by {by}"
    return near(submission, wanted, how, tolerance=tolerance, tolerance_percent=tolerance_percent)


def broken(name: str, submission: Submission) -> Score:
    """Half of the points for the fault, half for the node, as the Record of that broken cluster shows them."""
    variant = f"broken-{name}"
    measure = f"`beowulf break {name}`, then measure A2 with the variant {variant}."
    records = submission.measured("A2", variant)
    if not records:
        return Score(0, 2, submission.missing("A2", variant), measure)
    diagnoses = [(record, _diagnose(record)) for record in records]
    conclusive = [each for each in diagnoses if each[1].fault not in ("none", "unknown")]
    record, truth = (conclusive or diagnoses)[0]
    if truth.fault == "none":
        why = f"{record.file_name} shows a cluster in which nothing is broken."
        return Score(0, 2, why, measure)
    if truth.fault == "unknown":
        why = f"{record.file_name} does not show what is broken: {truth.because}."
        return Score(0, 2, why, f"`beowulf up` heals the cluster. {measure}")
    fault, node = (_word(submission, f"{what}_{name}") for what in ("fault", "node"))
    points = (fault == truth.fault) + (node == truth.node)
    answered = given(submission, f"fault_{name}", f"node_{name}")
    expected = f"{truth.fault} on {truth.node}, because {truth.because}"
    return Score(points, 2, answered, expected)


def ring(record: Record, expected: str) -> Score:
    """All points for a token that came home from every node, three times; half where it reached a second node."""
    facts = [point.facts for point in record.points if "call" in point.at][: own_ring.CALLS]
    reasons, reached = [], False
    for each in facts:
        token, returned = list(each["given"]), each["returned"]
        nodes = [str(node) for node in each["nodes"]]
        # Where the ranks gave nothing, the call went wrong, and the Record has the reason.
        lost = str(each.get("why") or "No rank returned anything.")
        reasons.append(own_ring.wrong(token, nodes, returned) if returned else lost)
        reached = reached or any(
            isinstance(rank, list) and rank[: len(token)] == token for rank in returned[1:]
        )
    faults = [*[why for why in reasons if why][:1], *_faults(record)]
    if len(facts) < own_ring.CALLS:
        faults.append(f"It has {len(facts)} of {own_ring.CALLS} calls.")
    points = 0 if not reached else 1 if faults else 2
    said = " ".join(faults) or "the token came home from every node."
    return Score(points, 2, f"{record.file_name}: {said}", expected)


def trips(record: Record, expected: str) -> Score:
    """All points for right round trips between all ordered pairs of nodes; half where some are."""
    of_pair = {
        (point.at["rank"], point.at["other"]): len(point.samples)
        for point in record.points
        if point.quantity == own_trips.TRIP and point.samples
    }
    faults = [*map(str, own_trips.own(record).get("faults", []))]
    if not of_pair:
        why = " ".join(faults) or "It has no times."
        return Score(0, 2, f"{record.file_name}: {why}", expected)
    pairs = list(permutations(range(len(_nodes(record))), 2))
    faults += _faults(record)
    for one, other in [pair for pair in pairs if of_pair.get(pair, 0) < FEWEST_SAMPLES][:1]:
        has = f"{of_pair.get((one, other), 0)} of the {FEWEST_SAMPLES} samples that are needed."
        faults.append(f"From rank {one} to rank {other} it has {has}")
    said = " ".join(faults) or f"right between {len(pairs)} ordered pairs of nodes."
    return Score(1 if faults else 2, 2, f"{record.file_name}: {said}", expected)


def _faults(record: Record) -> list[str]:
    """What is wrong with a Record of a learner's function in which one rank is to send to another."""
    faults = [] if record.complete else ["It was cut short."]
    called = next((p.facts.get("mpi_calls", ()) for p in record.points if "own" in p.at), ())
    if together := [name for name in map(str, called) if COLLECTIVE.fullmatch(name)]:
        faults.append(f"A recording of it shows {', '.join(together)}, with all ranks at once.")
    return faults


def _of_cluster_d(*names: str) -> ByRecord:
    return ByRecord(broken_ring.waiting, STUDY, numbers_and_words(*names), broken_ring.VARIANT)


SCORERS: dict[str, Scorer] = {
    "predict-trip": sealed("trip"),
    "predict-idle": sealed("idle"),
    "a2-record": a2_record,
    "hosts-first-line": hosts_first_line,
    "ordered-pairs": partial(count, "ordered_pairs"),
    "ring-messages": partial(count, "ring_messages"),
    "own-ring": partial(best_of_own, STUDY, own_ring.VARIANT, PASSED_ON, ring),
    "own-trips": partial(best_of_own, STUDY, own_trips.VARIANT, BETWEEN_ALL, trips),
    "trips-plot": own_plots.Plot(
        "trips", TRIPS, own_plots.of_records(STUDY, own_trips.curves, variant=own_trips.VARIANT)
    ),
    "a5-record": a5_record,
    "idle-mbit": ByRecord(idle, "A5", idle_mbit),
    **{f"broken-{name}": partial(broken, name) for name in "abc"},
    "ring-waits": _of_cluster_d("sender_rank", "receiving_ranks"),
    "broken-d": _of_cluster_d("node_d"),
}


def _validation(submission: Submission) -> tuple[Record | None, str]:
    """The Record A2 that counts, the newest well one if there is one, and what is wrong with it."""
    faults = submission.once("A2", lambda: [(r, _fault(r)) for r in submission.measured("A2")])
    if not faults:
        return None, submission.missing("A2")
    return next((each for each in faults if not each[1]), faults[0])


def _fault(record: Record) -> str:
    """Why this is not the Record of a validated cluster; "" when it is."""
    if not record.complete:
        return "it was cut short"
    nodes = _nodes(record)
    if not 2 <= len(nodes) <= MOST_NODES:
        return f"it does not name 2 to {MOST_NODES} nodes"
    for check in PAIR_CHECKS:
        checked = {(p.at.get("node"), p.at.get("peer")) for p in record.select(check=check)}
        if left := [pair for pair in permutations(nodes, 2) if pair not in checked]:
            return f"the check {check} from {left[0][0]} to {left[0][1]} is missing"
    for check in PROGRAM_CHECKS:
        if not record.select(check=check):
            return f"the check {check} is missing"
    if left_out := [node for node in nodes if not record.select(check="configuration", node=node)]:
        return f"the configuration of {left_out[0]} is missing"
    diagnosis = _diagnose(record)
    if diagnosis.fault == "none":
        return ""
    where = f" on {diagnosis.node}" if diagnosis.node else ""
    return f"the cluster was broken ({diagnosis.fault}{where}: {diagnosis.because})"


def _diagnose(record: Record) -> Diagnosis:
    diagnosis, why = attempt(_diagnosis, record)
    return diagnosis or Diagnosis("unknown", "", why)


def _diagnosis(record: Record) -> Diagnosis:
    if len(record.cluster.get("nodes", ())) > MOST_NODES:
        raise LabError("it names more nodes than such a cluster has")
    # Each of them is held against others: thousands of one kind would only take the grader's time.
    if any(len(record.select(check=each.check)) > each.of(record) for each in CHECKS):
        raise LabError("it has more checks than its nodes call for")
    if any(len(point.facts["routes"]) > MOST_ROUTES for point in record.select(check="routes")):
        raise LabError("it lists more routes for a node than such a cluster has")
    return a2_validation.diagnose(record)


def _nodes(record: Record) -> list[str]:
    # One more than are looked at: there may be a hundred thousand.
    return list(record.cluster.get("nodes", []))[: MOST_NODES + 1]


def _facts(record: Record, **at: object) -> dict[str, Any]:
    points = record.select(**at)
    return points[0].facts if points else {}


def _word(submission: Submission, name: str) -> str:
    answer = submission.answers.get(name)
    return re.sub(r"[\s_]+", "-", answer.strip().lower()) if isinstance(answer, str) else ""
