"""The first screen of a report as a picture of 1200 x 630 pixels, the size that pages show of a link."""

from __future__ import annotations

import base64
import io
from functools import partial
from textwrap import fill
from typing import Any

from matplotlib.figure import Figure as Drawing
from matplotlib.image import imread
from matplotlib.patches import Rectangle

from beowulf.figures import COLOURS, number_text
from beowulf.verdict import SYMBOLS


def drawn(content: dict[str, Any], pictures: dict[str, str]) -> Drawing:
    """What a report's data say, with the picture of the last program that has one, or else of the last study."""
    drawing = Drawing(figsize=(12, 6.3), dpi=100, facecolor="white")
    drawing.add_artist(Rectangle((0, 0.82), 1, 0.18, facecolor="#003A5C"))
    write = partial(drawing.text, va="top", parse_math=False)
    write(0.03, 0.965, "What I built and found", size=28, weight="bold", color="white")
    by = " · ".join(["Beowulf Labs", *content["learners"]])
    write(0.03, 0.875, by[:90], size=13, color="white")
    programs = content["programs"][-8:]
    for place, each in enumerate(programs):
        x, y = 0.03 + 0.25 * (place % 2), 0.78 - 0.17 * (place // 2)
        write(x, y, each["number"], size=23, weight="bold", color=COLOURS[0])
        write(x, y - 0.065, fill(f"{each['title']}: {each['what']}", 36), size=10)
    names = [each["name"] for each in programs or content["studies"]]
    judged = [p for p in content["predictions"] if p["inside"] is not None and not p["late"]]
    if shown := [pictures[name] for name in names if name in pictures]:
        bottom = 0.3 if judged else 0.14
        area = (0.54, 0.3, 0.43, 0.48) if programs else (0.03, bottom, 0.94, 0.8 - bottom)
        axes = drawing.add_axes(area)
        axes.imshow(imread(io.BytesIO(base64.b64decode(shown[-1])), format="png"))
        axes.set_axis_off()
    for place, each in enumerate(judged[-4:]):
        low, high, measured = (number_text(each[name]) for name in ("low", "high", "measured"))
        said = f"{each['name']}: predicted {low} to {high} {each['unit']}, measured {measured}"
        write(0.54, 0.28 - 0.04 * place, f"{'✓' if each['inside'] else '✗'} {said[:75]}", size=11)
    counts = {word: sum(s["outcomes"][word] for s in content["studies"]) for word in SYMBOLS}
    claims = ", ".join(f"{word} {number}" for word, number in counts.items())
    write(0.03, 0.1, f"Claims of the papers: {claims}.\n{content['calibration']['says']}", size=12)
    return drawing
