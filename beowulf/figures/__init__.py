"""Pictures: their common look, and the charts that several studies share."""

from beowulf.figures.charts import lines, matrix, one_below_another, over_sizes, plot, spans_decades
from beowulf.figures.look import (
    COLOURS,
    DASHES,
    HATCHES,
    MARKERS,
    MOST_ROWS,
    Figure,
    course_style,
    number_text,
    style,
    titled,
)
from beowulf.figures.predicted import prediction_band
from beowulf.figures.sliders import draggable
from beowulf.figures.values import bars, dots

__all__ = [
    "COLOURS",
    "DASHES",
    "HATCHES",
    "MARKERS",
    "MOST_ROWS",
    "Figure",
    "bars",
    "course_style",
    "dots",
    "draggable",
    "lines",
    "matrix",
    "number_text",
    "one_below_another",
    "over_sizes",
    "plot",
    "prediction_band",
    "spans_decades",
    "style",
    "titled",
]
