"""Lab 08's gas: a learner's exchange of ghost zones, tried, run on one rank and on several, and kept with its source.

It is a Record of S8 with the variant `gas`: whether exchange_ghosts is right, or why not; where a step's time goes on
four nodes; and whether the gas has the same bits on one rank and on four.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from beowulf import mpi, paths
from beowulf.cluster import Cluster
from beowulf.errors import LabError, UsageError
from beowulf.exercises.exercise import Exercise
from beowulf.measure.measurement import Measurement
from beowulf.record import Point, Record

if TYPE_CHECKING:
    import pandas as pd

    from beowulf.figures import Figure

STUDY, VARIANT, SOURCE, FUNCTION = "S8", "gas", "gas.c", "exchange_ghosts"
EXERCISE = Exercise(STUDY, VARIANT, "Your gas")
RANKS, TILES = 4, "4,4"
STEPS, PASSES = 20, 6
PARTS = ("computing", "communicating", "waiting")
LONGEST_SOURCE = 20_000
PICTURE_STEPS = 60
FILM_STEPS, FILM_EVERY, FILM_WIDTH = 120, 4, 360


def measure(cluster: Cluster, source: Path | str = SOURCE) -> Record:
    """Try exchange_ghosts, and measure the gas where it is right.

    LabError when the file does not compile. What is wrong is in the Record, which is kept all the same.
    """
    sweep = {"exercise": Path(source).name, "tiles": TILES, "steps": STEPS}
    with beside_headers(Path(source)) as program:

        def steps(session: Measurement) -> None:
            if not (why := fault(session, program)):
                _run(session, program)
            session.points.append(own_function(FUNCTION, program, right=not why, why=why))

        record = EXERCISE.measure(cluster, steps, half=True, launches=3, sweep=sweep)
    print(says(record))
    return record


def _run(session: Measurement, program: Path) -> None:
    """The gas on one rank and on several: its bits, and where a step's time goes."""
    words: list[str | int] = ["--problem", "blast", "--tiles", TILES, "--steps", STEPS, "--lines"]
    for ranks in (1, RANKS):
        rows = session.launch(program, ranks, [*words, "--passes", PASSES])
        found = next(row for row in rows if row.get("kind") == "result")
        facts = {name: found[name] for name in ("bits", "mflops", "mass_drift")}
        session.points.append(Point({"result": "blast", "ranks": ranks}, facts=facts))


def own_function(name: str, program: Path, **facts: Any) -> Point:
    """A learner's function with its source, and what was found of it."""
    text = program.read_text(encoding="utf-8", errors="replace")[:LONGEST_SOURCE]
    return Point({"function": name}, facts={"text": text, **facts})


def function_of(record: Record, name: str) -> dict[str, Any]:
    """Source, and whether it is right, of a Record; LabError without."""
    for point in record.select(function=name):
        return point.facts
    raise LabError(f"{record.file_name} holds no {name}.", "Measure again.")


@contextmanager
def beside_headers(source: Path, lab: str = "08") -> Iterator[Path]:
    """A copy of the learner's file beside the package's own headers of a lab, whatever the learner's copies hold."""
    if not source.is_file():
        raise UsageError(
            f"There is no file {source}.", "Work in the folder with your copies of the lab."
        )
    with tempfile.TemporaryDirectory(prefix="beowulf-") as scratch:
        for header in paths.lab(lab).glob("*.h"):
            shutil.copy(header, scratch)
        try:
            yield Path(shutil.copy(source, scratch))
        except LabError as problem:
            message = problem.message.replace(f"{scratch}/", "")
            raise LabError(message, problem.hint, problem.node) from None


def fault(session: Measurement, program: Path) -> str:
    """What the program itself finds wrong with exchange_ghosts; empty where it is right."""
    heard: list[dict[str, Any]] = []
    try:
        session.launch(program, RANKS, ["--check", "--lines"], timeout_s=60, heard=heard)
    except LabError as problem:
        if not any(row.get("kind") == "check" for row in heard):
            if "does not compile" in problem.message:
                raise
            return problem.message
    checks = [row for row in heard if row.get("kind") == "check"]
    return str(checks[0].get("why", "")) if checks else "it was not tried to its end"


def function(record: Record) -> dict[str, Any]:
    """Source of the exchange, and whether it is right; LabError without."""
    return function_of(record, FUNCTION)


def bits(record: Record) -> dict[int, str]:
    """By ranks, a number that changes with every bit of the gas."""
    return {
        int(point.at["ranks"]): str(point.facts["bits"])
        for point in record.points
        if "result" in point.at
    }


def says(record: Record) -> str:
    """Whether the exchange is right, in a sentence."""
    facts = function(record)
    if not facts["right"]:
        return f"{FUNCTION}: {facts['why']}"
    same = len(set(bits(record).values())) == 1
    which = "the same bits" if same else "different bits"
    return f"{FUNCTION} is right, and the gas has {which} on {RANKS} ranks and on one."


def parts(record: Record) -> pd.DataFrame:
    """In ms a step, and in per cent of it, by ranks: computing, communicating, waiting; medians of the passes."""
    import pandas as pd

    rows = []
    for ranks in (1, RANKS):
        ms: dict[str, float] = {}
        for name in ("step", *PARTS):
            samples = [
                each
                for point in record.points
                if point.quantity == f"{name}_s" and point.at.get("ranks") == ranks
                for each in point.samples
            ]
            if not samples:
                raise LabError(f"{record.file_name} has no times for a step.", "Measure again.")
            ms[name] = 1e3 * float(np.median(samples))
        shares = {f"{name}_percent": 100 * ms[name] / ms["step"] for name in PARTS}
        rows.append({"ranks": ranks, "step_ms": ms["step"], **shares})
    return pd.DataFrame(rows).set_index("ranks")


def picture(cluster: Cluster, source: Path | str = SOURCE, *, steps: int = PICTURE_STEPS) -> Figure:
    """The density of the gas after so many steps, on one rank and on four, and where they differ."""
    with beside_headers(Path(source)) as program:
        built = mpi.build(program, library=cluster.mpi)
        one, several = (images(cluster, built, ranks, steps, steps)[-1] for ranks in (1, RANKS))
    return drawn(one, several, steps)


def film(cluster: Cluster, source: Path | str = SOURCE, *, steps: int = FILM_STEPS) -> Any:
    """The density of the gas as it moves, on four ranks: a picture for a notebook, and gas.gif beside the Records."""
    with beside_headers(Path(source)) as program:
        frames = images(cluster, mpi.build(program, library=cluster.mpi), RANKS, steps, FILM_EVERY)
    alt = f"A film of {len(frames)} pictures: a blast spreads through a gas in {steps} steps, on {RANKS} ranks."
    return shown_film(cluster, frames, "gas.gif", alt)


def shown_film(cluster: Cluster, frames: Any, name: str, alt: str) -> Any:
    """A film kept beside the Records, as a notebook shows it."""
    from IPython import display

    folder = cluster.records or Path("records")
    folder.mkdir(parents=True, exist_ok=True)
    write_film(frames, folder / name)
    shown: Any = display.Image  # it has no types
    return shown(data=(folder / name).read_bytes(), format="gif", width=FILM_WIDTH, alt=alt)


def write_film(frames: Any, file: Path) -> None:
    """A GIF of arrays, all in the colours from the least to the largest of their values."""
    from matplotlib import colormaps
    from PIL import Image

    low, high = float(frames.min()), float(frames.max())
    table = (255 * colormaps["viridis"](np.linspace(0, 1, 256))[:, :3]).astype(np.uint8)
    pictures = []
    for frame in frames[:, ::-1]:  # the first row is at the bottom
        levels = (255 * (frame - low) / ((high - low) or 1.0)).astype(np.uint8)
        picture = Image.fromarray(levels, mode="P")
        picture.putpalette(table.tobytes())
        pictures.append(picture)
    pictures[0].save(file, save_all=True, append_images=pictures[1:], duration=80, loop=0)


def images(cluster: Cluster, program: Path, ranks: int, steps: int, every: int) -> Any:
    """The density after so many steps each time, as an array of arrays."""
    image = program.with_name(f"image-{ranks}.npy")
    words = ["--problem", "blast", "--tiles", TILES, "--steps", str(steps), "--image", image.name]
    words += ["--every", str(every)]
    done = mpi.launch(cluster, [str(program)], ranks, words, folder=program.parent, timeout_s=120)
    if done.returncode or not image.is_file():
        why = done.stderr.strip() or "no image came back from the first node"
        raise LabError(f"The gas could not be drawn on {ranks} ranks: {why}.")
    return np.load(image)


def drawn(one: Any, several: Any, steps: int) -> Figure:
    """Three pictures side by side: one rank, four with their borders dashed, and where they differ: white is 0."""
    import matplotlib.pyplot as plt
    import pandas as pd

    from beowulf.figures.look import Figure, style

    apart = np.abs(several - one)
    most = float(apart.max())
    # One scale for both gases. The one of a difference begins at 0, also where there is none.
    gas: dict[str, Any] = {"cmap": "viridis", "vmin": one.min(), "vmax": one.max()}
    difference: dict[str, Any] = {"cmap": "Reds", "vmin": 0, "vmax": most or 1}
    pictures = (
        ("one rank", one, gas, "density"),
        (f"{RANKS} ranks", several, gas, "density"),
        ("difference", apart, difference, "difference of density"),
    )
    with style():
        drawing, places = plt.subplots(1, 3, figsize=(10.5, 3.4), layout="constrained")
        for axes, (name, values, look, what) in zip(places, pictures, strict=True):
            shown = axes.imshow(values, origin="lower", **look)
            axes.set(title=name, xticks=[], yticks=[])
            axes.grid(visible=False)
            drawing.colorbar(shown, ax=axes, shrink=0.8, label=what)
            if values is not one:  # a rank has whole rows of tiles
                borders = [len(values) * rank / RANKS - 0.5 for rank in range(1, RANKS)]
                colour = "white" if look is gas else "#404040"
                axes.hlines(borders, *axes.get_xlim(), color=colour, linestyle="--", linewidth=1)
    alt = f"The density of a blast after {steps} steps on one rank and on {RANKS}: " + (
        "there is no difference in any zone." if most == 0 else f"they differ by up to {most:.3g}."
    )
    plt.close(drawing)
    table = pd.DataFrame(
        {"largest_difference": [most], "zones_that_differ": [int((apart > 0).sum())]}
    )
    return Figure(drawing, "A blast on one rank and on four", alt, table)
