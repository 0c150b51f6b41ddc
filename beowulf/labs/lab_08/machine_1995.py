"""The machine of 1995, simulated: its Ethernets, its processors, and the steps of gas and galaxy on 1 to 16 of them.

The cable, and the software's time for a message, are in labs/09-prediction/networks/ethernet-1995.toml. With a second
network, what a message has beyond a frame takes 1/1.7 of its time, and the shared cable carries 1.7 times as much: the
paper's gain at saturation. A program waits in place of its operations, at the rate that paper C prints for one
processor; nothing else takes time.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from beowulf import papers, paths
from beowulf.cluster.common.config import SIMULATED
from beowulf.cluster.simulated import cluster as simulated
from beowulf.cluster.simulated.platform import Platform, read
from beowulf.measure.measurement import Measurement

NODES = (1, 2, 4, 8, 16)
MOST_NODES = max(NODES)
FRAME_BYTES = 1448
TABLE, TOKENS = "C-codes", "C-tokens"
GAS_MFLOPS = papers.figure(TABLE, "mflops", code="gas, fixed size", processors=1)
GALAXY_MFLOPS = papers.figure(TABLE, "mflops", code="galaxy", processors=1)
ZONE_FLOPS = 849  # of labs/08-first-beowulf/gas.c, which counts them
STEPS = 3
ACROSS = 4  # tiles along x and y of the gas of fixed size, and of each rank's at scaled size


def ethernet() -> Platform:
    """The first Beowulf with one of its networks."""
    return read(paths.lab("09") / "networks" / "ethernet-1995.toml")


def several(one: Platform, networks: int) -> Platform:
    """The same machine with so many networks, each further one worth as much as the paper's second."""
    if networks == 1:
        return one
    (_, alpha), *_, (most, last) = one.times_us
    byte_us = (last - alpha) / most
    frame = alpha + FRAME_BYTES * byte_us
    saturated = [
        papers.figure(TOKENS, "rate_mb_per_s", networks=n, demand=8, size_bytes=8192)
        for n in (1, 2)
    ]
    times_as_much = 1 + (networks - 1) * (saturated[1] / saturated[0] - 1)
    long = frame + (most - FRAME_BYTES) * byte_us / times_as_much
    return replace(
        one,
        rate_mbit=networks * one.rate_mbit,
        backplane_mbit=times_as_much * one.backplane_mbit,
        times_us=((0, alpha), (FRAME_BYTES, frame), (most, long)),
    )


def networks() -> dict[int, Platform]:
    """One network and two, by their number."""
    one = ethernet()
    return {n: several(one, n) for n in (1, 2)}


@contextmanager
def launching_on(measurement: Measurement, platform: Platform) -> Iterator[None]:
    """For a while, launches go to a simulated machine; the Record describes the first one."""
    own = measurement.cluster
    with tempfile.TemporaryDirectory(prefix="beowulf-") as scratch:
        measurement.cluster = simulated.beside(platform, Path(scratch))
        if measurement.description.get("kind") != SIMULATED:
            measurement.description = dict(measurement.cluster.describe())
        try:
            yield
        finally:
            measurement.cluster = own


def gas_steps(
    measurement: Measurement,
    program: Path,
    cables: int,
    nodes: Sequence[int] = NODES,
    *,
    scaled: bool = False,
    zone_flops: int = ZONE_FLOPS,
) -> None:
    """Steps of the gas, on a grid of one size or on one that grows with the nodes, with so many operations a zone."""
    for count in nodes:
        words: list[str | int] = ["--tiles", f"{ACROSS},{ACROSS * (count if scaled else 1)}"]
        words += ["--steps", STEPS, "--zone-us", f"{zone_flops / GAS_MFLOPS:.3f}", "--lines"]
        at: dict[str, Any] = {"cables": cables, **({"scaled": True} if scaled else {})}
        at |= {"zone_flops": zone_flops}
        measurement.launch(program, count, words, at=at, timeout_s=300)
