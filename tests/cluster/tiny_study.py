"""A study of a second or so, whose every sample says what its node was like: run as a script, it measures and saves.

Each launch asks every node for the rate of its own cable. So a Record can be held against what was there, and not only
against what the cluster says of itself. `python tiny_study.py NAME LAUNCHES [wait]` keeps the Record as variant NAME.
"""

from __future__ import annotations

import sys
import types
from pathlib import Path
from typing import Any

from beowulf.cluster import Cluster, running
from beowulf.errors import LabError
from beowulf.measure.session import Session
from beowulf.notebook import measure_and_save
from beowulf.record import Record
from beowulf.studies import STUDIES

ID, TITLE = "T1", "A study that takes a second"
PROGRAM = r"""#!/bin/bash
rate=$(tc qdisc show dev eth0 root | sed -n 's/.* rate \([^ ]*\) .*/\1/p')
port=$(ip -o -4 address show dev eth0 | awk '{print $4}')
printf '{"kind": "sample", "quantity": "asked_s", "seconds": 1, "repetitions": 1}\n'
printf '{"kind": "counts", "rate": "%s", "address": "%s"}\n' "$rate" "$port"
printf '{"kind": "end"}\n'
"""


def measure(cluster: Cluster, folder: Path, **how: Any) -> Record:
    program = folder.absolute() / "program"
    with Session(ID, cluster, folder, launches=how["launches"]) as session:
        for launch in range(how["launches"]):
            found = session.launch_apart(program, cluster.nodes, launch=launch)
            for node, lines in found.items():
                [said] = [line for line in lines if line["kind"] == "counts"]
                session.add({"node": node, "launch": launch}, "rate_s", [1.0], rate=said["rate"])
    return session.record()


def main(variant: str, launches: str, *rest: str) -> None:
    module = types.ModuleType("beowulf.studies.tiny")
    module.__dict__.update(ID=ID, TITLE=TITLE, measure=measure)
    sys.modules["beowulf.studies.tiny"] = module
    STUDIES[ID] = "tiny"
    folder = Path("records")
    folder.mkdir(exist_ok=True)
    program = folder / "program"
    if not program.exists():
        temporary = folder / f"program-{variant}"
        temporary.write_text(PROGRAM)
        temporary.chmod(0o755)
        temporary.replace(program)
    try:
        record, path = measure_and_save(
            ID,
            running(),
            folder,
            variant=variant,
            more={"launches": int(launches)},
            wait="wait" in rest,
            say=print,
        )
    except LabError as error:
        sys.exit(f"refused: {error}")
    print(path, record.complete, record.warnings)


if __name__ == "__main__":
    main(*sys.argv[1:])
