"""Lab 06: some steps of the heat program under a capture of whole packets, which lies beside its Record."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from beowulf.cluster import Cluster
from beowulf.errors import LabError
from beowulf.exercises.heat.measurements import EXCHANGES, PLATE_ROWS, several
from beowulf.exercises.heat.measuring import Heat, measured
from beowulf.exercises.heat.reading import BYTES
from beowulf.record import Point, Record, reserve, stamp

STUDY = "H6"
COLUMNS, STEPS = 1000, 20
WHOLE_BYTES = 1 << 18  # more than any packet has: tshark puts a row together only from whole ones


def capture(
    cluster: Cluster,
    *,
    steps: int = STEPS,
    columns: int = COLUMNS,
    way: str = "nonblocking",
    folder: Path | None = None,
) -> Record:
    """Capture so many steps on up to four nodes: nothing but these exchange rows of so many columns meanwhile.

    LabError when a function is wrong; then nothing is kept.
    """
    ranks = several(cluster)

    def go(heat: Heat) -> None:
        heat.look_at(needed=("step_numpy", EXCHANGES[way]))
        session = heat.session
        file = reserve(session.folder / f"{STUDY}-{stamp(session.started)}.pcapng")
        words: list[str | int] = ["--rows", PLATE_ROWS, "--columns", columns]
        words += ["--steps", steps, "--passes", 1]
        try:
            with cluster.capture(file, snap_bytes=WHOLE_BYTES) as taken:
                heat.launch({way: EXCHANGES[way]}, ranks, "wire", words)
            if wrong := heat.faults:
                name, why = next(iter(wrong.items()))
                raise LabError(f"{name}: {why}.", "Fix it, save it, and run this cell again.")
            at = {"capture": "steps", "ranks": ranks, "rows": PLATE_ROWS, "columns": columns}
            facts = {"steps": steps, "way": way, **on_the_wire(file, columns)}
            session.points.append(Point(at, facts=facts))
        except BaseException:
            file.unlink(missing_ok=True)  # without its Record it says nothing
            raise
        session.captures.append(taken.facts())
        session.warnings += taken.warnings

    return measured(
        cluster,
        STUDY,
        "Your plate on the wire",
        go,
        folder=folder,
        launches=1,
        sweep={"columns": columns, "steps": steps},
    )


def on_the_wire(file: Path, columns: int) -> Mapping[str, Any]:
    """Of a capture the messages that are rows of so many numbers: how many, their packets and their bytes.

    And of all packets how many have which length.
    """
    from beowulf.packets.costs import costs
    from beowulf.packets.table import Packets

    found = costs(file)
    rows = found[(found["bytes"] == BYTES * columns) & ~found["collective"]]
    lengths: Counter[int] = Counter()
    for piece in Packets(file):
        lengths.update(piece["wire_bytes"].tolist())
    return {
        "ghost_rows": len(rows),
        "ghost_row_bytes": BYTES * columns,
        "ghost_packets": int(rows["packets"].sum()),
        "ghost_ack_packets": int(rows["ack_packets"].sum()),
        "ghost_wire_bytes": int(rows["wire_bytes"].sum()),
        "lengths": [[length, count] for length, count in sorted(lengths.items())],
    }
