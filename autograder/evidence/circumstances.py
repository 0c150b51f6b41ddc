"""A Record and its circumstances: what each of our measurements records about its machine."""

from __future__ import annotations

from collections.abc import Iterator

from autograder.evidence.finding import INCONCLUSIVE, Finding
from beowulf.cluster.description import on_one_machine
from beowulf.record import Record

VERSIONS = ("beowulf-labs", "python", "kernel")
COUNTS = ("cores", "load_1min", "involuntary_switches")


def findings(record: Record) -> Iterator[Finding]:
    """Whether versions, cores and load are there, and fit one another."""
    before = record.circumstances.get("before", {})
    left_out = [name for name in VERSIONS if not record.versions.get(name)]
    left_out += [name for name in COUNTS if name not in before]
    if left_out:
        says = f"It lacks {', '.join(left_out)}, which every measurement records."
        yield Finding(INCONCLUSIVE, says)
        return
    switches = record.circumstances.get("after", {}).get("involuntary_switches")
    if switches is not None and switches < before["involuntary_switches"]:
        says = "Its count of involuntary switches is smaller afterwards than before."
        yield Finding(INCONCLUSIVE, says)
    kernel, ours = record.cluster.get("kernel"), record.versions["kernel"]
    # The nodes of such a cluster are namespaces of one kernel.
    if on_one_machine(record.cluster) and kernel and kernel != ours:
        yield Finding(INCONCLUSIVE, f"The nodes run kernel {kernel}, and the machine {ours}.")
