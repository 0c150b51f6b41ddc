"""What is measured of the heat program in labs 02 to 05."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

from beowulf.cluster import Cluster
from beowulf.errors import LabError, UsageError
from beowulf.exercises.heat import program
from beowulf.exercises.heat.measuring import Heat, measured
from beowulf.exercises.heat.trial import Row, sentence
from beowulf.record import Point, Record

MOST_RANKS = 4
EXCHANGES = {
    "send_first": "exchange_send_first",
    "in_turns": "exchange_in_turns",
    "nonblocking": "exchange_nonblocking",
}
PLATE_ROWS = 402  # of the plates whose rows four ranks share in labs 04, 06 and 07
# Lab 02: the loops take a microsecond or so a point.
STEP_ROWS, MOST_LOOPED_ROWS, STEP_PASSES, STEP_LAUNCHES = (100, 500, 2000), 100, 10, 3
# Lab 03: at 100 Mbit/s a ghost row of the small plate takes longer than the rows of a rank, of the large one not.
RUN_ROWS, RUN_STEPS, RUN_PASSES, RUN_LAUNCHES = (400, 1200), 10, 8, 2
# Lab 04: with the longest rows the bytes decide, with the shortest the latency. All are sent at once.
ROW_COLUMNS, EXCHANGE_PASSES, EXCHANGE_LAUNCHES = (100, 1000, 10_000), 15, 2
# Where a size is looked for at which exchange_send_first no longer ends: doubled, then in so many steps between.
FIRST_COLUMNS, LAST_COLUMNS, STEPS_BETWEEN, HANGS_AFTER_S = 1024, 131_072, 128, 2.0
# Lab 05: 64 KB are sent at once, 160 KB only when the other side has asked for them. Rows so many that at 100 Mbit/s
# an exchange takes about as long as a step: numpy needs several times as long a point as C does.
OVERLAP_COLUMNS, OVERLAP_ROWS = (8000, 20_000), {"Python": 258, "C": 802}
OVERLAP_PASSES, OVERLAP_LAUNCHES, OVERLAP_RANKS = 15, 2, 2

Language = Literal["Python", "C"]


def steps(
    cluster: Cluster, *, rows: tuple[int, ...] = STEP_ROWS, folder: Path | None = None
) -> Record:
    """Lab 02: the times of a step by loops, by numpy and in C, on one node."""
    looped = min(MOST_LOOPED_ROWS, max(rows))

    def go(heat: Heat) -> None:
        ways = {"loops": "step_loops", "numpy": "step_numpy"}
        heat.look_at(*ways.values())
        heat.compile("heat_step")
        sizes: list[str | int] = ["--rows", ",".join(map(str, rows)), "--passes", STEP_PASSES]
        for number in range(STEP_LAUNCHES):
            heat.launch(ways, 1, "steps", [*sizes, "--most", looped], launch=number)
            heat.launch_in_c("C", "heat_step", 1, sizes, number)

    return measured(
        cluster,
        "H2",
        "One step of your plate",
        go,
        folder=folder,
        launches=2 * STEP_LAUNCHES,
        sweep={"rows": list(rows)},
    )


def speed_up(
    cluster: Cluster, *, rows: tuple[int, ...] = RUN_ROWS, folder: Path | None = None
) -> Record:
    """Lab 03: the time of a step of `run` on 1 to 4 ranks, a node each."""
    most = min(MOST_RANKS, len(cluster.nodes))

    def go(heat: Heat) -> None:
        heat.look_at("my_rows", "run", needed=("step_numpy",))
        words: list[str | int] = ["--rows", ",".join(map(str, rows))]
        words += ["--steps", RUN_STEPS, "--passes", RUN_PASSES]
        for number in range(RUN_LAUNCHES):
            counts = range(1, most + 1)
            for ranks in counts if number % 2 == 0 else reversed(counts):
                heat.launch({"run": "run"}, ranks, "run", words, launch=number)

    return measured(
        cluster,
        "H3",
        "Your plate on 1 to 4 ranks",
        go,
        folder=folder,
        launches=most * RUN_LAUNCHES,
        sweep={"rows": list(rows), "steps": RUN_STEPS},
    )


def exchanges(
    cluster: Cluster, *, columns: tuple[int, ...] = ROW_COLUMNS, folder: Path | None = None
) -> Record:
    """Lab 04: the times of the three exchanges, alone and with a step, and where exchange_send_first ends no more."""
    ranks = several(cluster)

    def go(heat: Heat) -> None:
        heat.look_at(*EXCHANGES.values(), needed=("step_numpy",))
        if heat.faults.keys() >= set(program.FUNCTIONS[4]):
            return  # of what is given alone nothing is kept, so that the prediction can still be sealed
        most = _deadlock(heat)
        for way, name in EXCHANGES.items():
            with heat.recorded(name):
                heat.launch({way: name}, ranks, "exchange", ["--columns", min(columns)])
        words: list[str | int] = ["--rows", PLATE_ROWS, "--columns", ",".join(map(str, columns))]
        words += ["--passes", EXCHANGE_PASSES, "--most", most]
        for number in range(EXCHANGE_LAUNCHES):
            heat.launch(EXCHANGES, ranks, "exchange", words, launch=number)

    return measured(
        cluster,
        "H4",
        "Your three exchanges",
        go,
        folder=folder,
        launches=EXCHANGE_LAUNCHES + len(EXCHANGES) + 3,
        sweep={"columns": list(columns), "rows": PLATE_ROWS},
    )


def overlap(
    cluster: Cluster,
    language: Language = "Python",
    *,
    columns: tuple[int, ...] = OVERLAP_COLUMNS,
    rows: int = 0,
    ranks: int = OVERLAP_RANKS,
    folder: Path | None = None,
) -> Record:
    """Lab 05: an exchange alone, a step alone, one after the other, and your overlapped step, in turns."""
    if language not in OVERLAP_ROWS:
        raise UsageError(f"The language is Python or C, not {language!r}.")
    variant = language.lower()
    several(cluster)
    plate = rows or OVERLAP_ROWS[language]
    words: list[str | int] = ["--rows", plate, "--columns", ",".join(map(str, columns))]
    words += ["--passes", OVERLAP_PASSES]

    def go(heat: Heat) -> None:
        if language == "C":
            heat.compile("overlapped")
        else:
            heat.look_at("overlapped_step", needed=("step_numpy", "exchange_nonblocking"))
        few: list[str | int] = ["--rows", plate, "--columns", max(columns), "--passes", 0]
        if language == "C":
            with heat.recorded("overlapped"):
                heat.launch_in_c("overlapped", "overlapped", ranks, few, 0)
        else:
            with heat.recorded("overlapped_step"):
                heat.launch({"overlapped": "overlapped_step"}, ranks, "overlap", few)
        for number in range(OVERLAP_LAUNCHES):
            if language == "C":
                heat.launch_in_c("overlapped", "overlapped", ranks, words, number)
            else:
                way = {"overlapped": "overlapped_step"}
                heat.launch(way, ranks, "overlap", words, launch=number)

    return measured(
        cluster,
        "H5",
        f"Your overlapped step in {language}",
        go,
        folder=folder,
        launches=1 + OVERLAP_LAUNCHES,
        variant=variant,
        sweep={"columns": list(columns), "rows": plate},
    )


def several(cluster: Cluster) -> int:
    """How many ranks exchange rows; LabError where there is one node only."""
    ranks = min(MOST_RANKS, len(cluster.nodes))
    if ranks < 2:
        raise LabError("An exchange needs two nodes.", "`beowulf up --nodes 4` boots four.")
    return ranks


def _deadlock(heat: Heat) -> int:
    """The longest row with which exchange_send_first still ends on two ranks, 0 where it is wrong; it is kept.

    Each launch tries longer and longer rows between the longest that ended and the shortest that did not.
    """
    name, way = EXCHANGES["send_first"], "send_first"
    if name in heat.faults:
        return 0
    ends, hangs = 0, 0
    waits: list[Row] = []
    columns = [
        8,
        *(FIRST_COLUMNS << n for n in range((LAST_COLUMNS // FIRST_COLUMNS).bit_length())),
    ]
    while columns:
        words = ["--columns", ",".join(map(str, columns)), "--limit", str(HANGS_AFTER_S)]
        heard = heat.once("deadlock", way, 2, words)
        ended = [int(row["columns"]) for row in heard if row.get("ended")]
        ends = max([ends, *ended])
        bad = [row for row in heard if row.get("kind") == "check"]
        if bad and not all(row.get("hangs") for row in bad):
            heat.faults[name] = sentence([row for row in bad if not row.get("hangs")])
            return 0
        if bad:
            hangs, waits = int(bad[0]["columns"]), bad
        columns = between(ends, hangs) if hangs and ends else []
    if not ends:
        heat.faults[name] = sentence(waits)
    facts: dict[str, Any] = {"ends_columns": ends, "hangs_columns": hangs}
    facts["waits"] = sentence(waits) if waits else ""
    heat.session.points.append(Point({"search": "deadlock", "way": way, "ranks": 2}, facts=facts))
    return ends


def between(ends: int, hangs: int) -> list[int]:
    """Columns between those that ended and those that did not, evenly; none where they are neighbours."""
    step = max(1, (hangs - ends) // STEPS_BETWEEN)
    return list(range(ends + step, hangs, step))
