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
from beowulf.exercises.lab_09.stairs import BY_NAME, LONGEST_SOURCE, SOURCE, Outcome

# SimGrid keeps the memory of all ranks in one process.
LIMITS = Limits(
    cell_s=65.0, notebook_s=65.0, memory_bytes=2 << 30, processes=40, output_bytes=1_000_000
)
# What runs in the box: the same function that a learner's notebook calls.
CELL = f"""
import json
from pathlib import Path
from beowulf.errors import LabError
from beowulf.exercises.lab_09 import stairs
try:
    found = stairs.outcomes(Path({SOURCE!r}).read_text(encoding="utf-8"), quiet=True)
    print(json.dumps({{name: [each.ms if not each.why else 0.0, each.why[:500]] for name, each in found.items()}}))
except LabError as problem:
    print(json.dumps({{"": [0.0, problem.message[:500]]}}))
"""


def outcomes(source: str) -> dict[str, Outcome]:
    """What each step of a learner's source takes, or why it has no time; LabError where SimGrid is missing."""
    if not shutil.which(SMPIRUN):
        raise LabError(
            "SimGrid is not installed, so nothing can be simulated.",
            "`apt install libsimgrid-dev` installs it; then grade again.",
        )
    why = ""
    if len(source) > LONGEST_SOURCE:
        why = f"the source has more than {LONGEST_SOURCE:,} characters"
    elif set(source) - _printable(source):
        why = "the source has characters that no text has"
    return dict.fromkeys(BY_NAME, Outcome(why=why)) if why else _outcomes(source)


def _printable(source: str) -> set[str]:
    return {each for each in set(source) if each.isprintable() or each in "\t\n\r\f\v"}


@lru_cache(maxsize=16)
def _outcomes(source: str) -> dict[str, Outcome]:
    with tempfile.TemporaryDirectory(prefix="beowulf-") as scratch:
        (Path(scratch) / SOURCE).write_text(source, encoding="utf-8")
        ran = kernel.shared().run({0: CELL}, Path(scratch), LIMITS)
    printed = "".join(str(each.get("text", "")) for each in ran.outputs.get(0, []))
    try:
        found = json.loads(printed.strip().splitlines()[-1])
        said = {str(n): Outcome(float(ms), str(why)[:500]) for n, (ms, why) in found.items()}
    except Exception:  # what comes out of a box may be anything, and is read once
        said = {"": Outcome(why=ran.reason[:300] or "the simulation ended before its result")}
    if "" in said:
        said = dict.fromkeys(BY_NAME, said[""])
    return said
