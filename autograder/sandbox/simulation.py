"""A learner's functions in C, compiled and simulated in a sandbox: their times are the same on every machine."""

from __future__ import annotations

import json
import shutil
import tempfile
from functools import lru_cache
from pathlib import Path

from autograder.sandbox import kernel
from autograder.sandbox.box import Limits
from beowulf.cluster.simulated import SMPIRUN
from beowulf.errors import LabError
from beowulf.exercises.lab_09.stairs import BY_NAME, SOURCE, Outcome

# SimGrid keeps the memory of all ranks in one process.
LIMITS = Limits(cell_s=120.0, notebook_s=120.0, memory_bytes=2 << 30, output_bytes=100_000)
# What runs in the box: the same function that a learner's notebook calls.
CELL = f"""
import json
from pathlib import Path
from beowulf.errors import LabError
from beowulf.exercises.lab_09 import stairs
try:
    found = stairs.outcomes(Path({SOURCE!r}).read_text(encoding="utf-8"))
    print(json.dumps({{name: [each.ms if not each.why else 0.0, each.why] for name, each in found.items()}}))
except LabError as problem:
    print(json.dumps({{"": [0.0, problem.message]}}))
"""


@lru_cache(maxsize=64)
def outcomes(source: str) -> dict[str, Outcome]:
    """What each step of a learner's source takes, or why it has no time; LabError where SimGrid is missing."""
    if not shutil.which(SMPIRUN):
        raise LabError(
            "SimGrid is not installed, so nothing can be simulated.",
            "`apt install libsimgrid-dev` installs it; then grade again.",
        )
    with tempfile.TemporaryDirectory(prefix="beowulf-") as scratch:
        (Path(scratch) / SOURCE).write_text(source, encoding="utf-8")
        ran = kernel.shared().run({0: CELL}, Path(scratch), LIMITS)
    printed = "".join(str(each.get("text", "")) for each in ran.outputs.get(0, []))
    try:
        found = json.loads(printed.strip().splitlines()[-1])
        said = {str(n): Outcome(float(ms), str(why)[:500]) for n, (ms, why) in found.items()}
    except (ValueError, LookupError, TypeError, AttributeError):
        said = {"": Outcome(why=ran.reason or "the simulation ended before its result")}
    if "" in said:
        said = dict.fromkeys(BY_NAME, said[""])
    return said
