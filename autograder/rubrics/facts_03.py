"""What the Records of lab 03 show, for the questions of its rubric."""

from __future__ import annotations

from statistics import median
from typing import Any

from autograder.rubrics.own_plots import Curves
from autograder.rubrics.record_facts import Facts
from beowulf.errors import LabError
from beowulf.exercises import timelines
from beowulf.exercises.heat import reading
from beowulf.labs.lab_03 import a4_parallel_benchmarks as a4
from beowulf.labs.lab_03 import by_lot, mg_timeline
from beowulf.labs.lab_03.parallel_tables import RANKS, workers
from beowulf.measure import speedup
from beowulf.record import Record
from beowulf.suites import npb

PLATE = "H3"
COUNTS = (2, 3, RANKS)  # of ranks, on which the plate is faster or slower than on one
CABLE_BYTES_PER_S = 12.5e6  # 100 Mbit/s, as in the notebook
TURNS = 7  # of FT's cube in its timed part, classes S, W and A
# NPB's table of sizes: EP's pairs, and FT's points.
EP_PAIRS = {"S": 2**24, "W": 2**25, "A": 2**28, "B": 2**30}
FT_POINTS = {"S": 64**3, "W": 128 * 128 * 32, "A": 256 * 256 * 128, "B": 512 * 256 * 256}
# At 100 Mbit/s these take as long on the cable as a message without a byte takes here.
BY_THE_PIECE = 1250


def ft_bytes(points: int) -> float:
    """What one of four ranks sends when FT's cube of numbers of 16 bytes is turned."""
    return 16 * points / RANKS * (RANKS - 1) / RANKS


def on_a_timeline(record: Record) -> Facts:
    """What a Record of T3 shows: the longest wait of MG, and on what its ranks spend the most time."""
    wait, shares = timelines.longest(record, mg_timeline.RUN), mg_timeline.shares(record)
    return {
        "mg_wait_call": str(wait["call"]).lower(),
        "mg_wait_for_rank": int(wait["for_rank"]),
        "mg_wait_ms": float(wait["wait_ms"]),
        "mg_most": max(shares, key=lambda part: shares[part]),
    }


def plate(record: Record) -> Facts:
    """What a Record of H3 shows: speed-ups by rows and ranks, computed both ways, and how many workers there are."""
    facts: Facts = {"most_times": workers(record)}
    for rows, curves in _speed_ups(record).items():
        for way, curve in zip(("", ", of medians"), curves, strict=True):
            for ranks in COUNTS:
                place = f"{rows} rows on {ranks}{way}"
                facts |= {
                    place: curve[ranks],
                    f"share of {place}": speedup.karp_flatt(curve[ranks], ranks),
                }
    if missing := [rows for rows in by_lot.PLATES if f"{rows} rows on {RANKS}" not in facts]:
        raise LabError(f"the plate of {missing[0]} rows was not measured")
    return facts


def _speed_ups(record: Record) -> dict[int, tuple[dict[float, float], dict[float, float]]]:
    """By the rows of a plate its speed-up by ranks: pass by pass, and of the medians."""
    rows = reading.table(record).to_dict("records")
    medians = {(int(row["rows"]), int(row["ranks"])): float(row["median_ms"]) for row in rows}
    found: dict[int, tuple[dict[float, float], dict[float, float]]] = {}
    for row in rows:
        plate_rows, ranks = int(row["rows"]), int(row["ranks"])
        by_pass, of_medians = found.setdefault(plate_rows, ({}, {}))
        by_pass[ranks] = float(row["speed_up"])
        of_medians[ranks] = medians[plate_rows, 1] / medians[plate_rows, ranks]
    return found


def speed_up_curves(way: int, record: Record) -> Curves:
    """The lines of the plot: the speed-up of each plate, computed in one of two ways."""
    return [curves[way] for curves in _speed_ups(record).values()]


def both_ways(facts: Facts, name: str) -> tuple[float, float]:
    """What plate() shows of a place, by both ways to compute its speed-up."""
    return facts[name], facts[f"{name}, of medians"]


def eight(record: Record) -> Facts:
    """What a Record of A4 shows of EP and FT, of the shares of all, and of messages; LabError where one is missing."""
    table = a4.table(record).set_index("benchmark")
    read = table.drop(columns=["paper_mops", "grendel_mops"]).dropna().index
    if missing := [name for name in npb.BENCHMARKS if name not in read]:
        raise LabError(
            f"{', '.join(missing)} {'was' if len(missing) == 1 else 'were'} not measured"
        )
    if wrong := [str(name) for name, right in table["verified"].items() if not right]:
        raise LabError(f"{', '.join(wrong)} {'is' if len(wrong) == 1 else 'are'} not verified")
    rows: dict[str, dict[Any, Any]] = {
        str(row["benchmark"]): row for row in table.reset_index().to_dict("records")
    }
    ep, ft = rows["EP"], rows["FT"]
    at_a_time = workers(record)
    calls = a4.calls(record).set_index(["benchmark", "call"])
    turned = ft_bytes(FT_POINTS[ft["class"]])
    shares = {str(name): float(share) for name, share in table["communication_percent"].items()}
    most = max(shares, key=lambda name: shares[name])
    return {
        "ep_mops": 2.0 * EP_PAIRS[ep["class"]] / float(ep["seconds_1"]) / 1e6,
        "ep_predicted_s": float(ep["seconds_1"]) / at_a_time,
        "ft_predicted_s": float(ft["seconds_1"]) / at_a_time + TURNS * turned / CABLE_BYTES_PER_S,
        "largest_share_has": most,
        "computing_s": (1 - shares[most] / 100) * float(rows[most]["seconds_4"]),
        **{
            f"bytes a call of {at[0]}": float(calls["bytes"][at]) / float(calls["calls"][at])
            for at in by_lot.CALLS.items()
        },
    }


def challenge(record: Record) -> Facts:
    """What a Record of E4 shows of HPL and DGEMM."""
    hpl, dgemm = (_result(record, name) for name in ("hpl_gflops", "dgemm_gflops"))
    ranks = int(record.select(result="hpl_gflops")[0].at["ranks"])
    return {"hpl_percent_of_dgemm": 100 * hpl / (ranks * dgemm)}


def _result(record: Record, name: str) -> float:
    samples = [value for point in record.select(result=name) for value in point.samples]
    if not samples:
        raise LabError(f"{name} was not measured")
    return median(samples)
