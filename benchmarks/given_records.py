"""Packs Records of full runs, to be given with the labs: `python -m benchmarks.given_records [FOLDER]`.

They are for learners whose cluster cannot show a study.
FOLDER has a folder for each study, as `python -m benchmarks full_studies` leaves them in build/full-studies. Taken are
the studies that the kind `local` cannot show, or only in part; of each the newest Record without a variant that is
complete, not quick, and of a machine that was not busy.
"""

from __future__ import annotations

import sys
from pathlib import Path

from benchmarks.full_studies import RECORDS
from beowulf import paths
from beowulf.cluster.local.cluster import LocalCluster
from beowulf.record import Record, newest
from beowulf.studies import find, given


def pack_all(folder: Path) -> list[str]:
    """A line for each study that is wanted: where it was packed, or why it was not."""
    lines = []
    for study in paths.ours().studies:
        if find(study).unmet(LocalCluster.can) is None:
            continue
        record = newest(folder / study, study, "")
        why = _unfit(record) if record else f"there is no Record in {folder / study}"
        if record and not why:
            lines.append(f"{study}: {given.pack(record)}")
        else:
            lines.append(f"{study}: not packed, {why}")
    return lines


def _unfit(record: Record) -> str:
    if not record.complete or record.sweep.get("quick"):
        return "its newest Record is not one of a full run"
    return record.load_before[0] if record.busy and find(record.study).timed else ""


if __name__ == "__main__":
    print("\n".join(pack_all(Path(sys.argv[1]) if sys.argv[1:] else RECORDS)))
