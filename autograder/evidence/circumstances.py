"""A Record and its circumstances: what each of our measurements records about its machine."""

from __future__ import annotations

from autograder.evidence.finding import INCONCLUSIVE, Finding
from beowulf.cluster.description import on_one_machine
from beowulf.record import Record

VERSIONS = ("beowulf-labs", "python", "kernel")
COUNTS = ("cores", "load_1min", "involuntary_switches")


def findings(record: Record) -> list[Finding]:
    """Whether versions, cores and load are there, and fit one another."""
    before = record.circumstances.get("before", {})
    left_out = [name for name in VERSIONS if not record.versions.get(name)]
    left_out += [name for name in COUNTS if name not in before]
    if left_out:
        message = f"It lacks {', '.join(left_out)}, which every measurement records."
        return [Finding(INCONCLUSIVE, message)]
    problems = []
    switches = record.circumstances.get("after", {}).get("involuntary_switches")
    if switches is not None and switches < before["involuntary_switches"]:
        message = "Its count of involuntary switches is smaller afterwards than before."
        problems.append(Finding(INCONCLUSIVE, message))
    kernel = record.cluster.get("kernel")
    if on_one_machine(record.cluster) and kernel:
        # The nodes of such a cluster are namespaces of one kernel.
        if kernel != record.versions["kernel"]:
            message = f"The nodes run kernel {kernel}, and the machine {record.versions['kernel']}."
            problems.append(Finding(INCONCLUSIVE, message))
    return problems
