"""Pictures: their common look, and the charts that several studies share."""

from beowulf.figures.charts import lines, matrix, one_below_another, over_sizes
from beowulf.figures.look import (
    COLOURS,
    DASHES,
    HATCHES,
    MARKERS,
    MOST_ROWS,
    Figure,
    number_text,
    style,
    titled,
)
from beowulf.figures.values import bars, dots

__all__ = [
    "COLOURS",
    "DASHES",
    "HATCHES",
    "MARKERS",
    "MOST_ROWS",
    "Figure",
    "bars",
    "dots",
    "lines",
    "matrix",
    "number_text",
    "one_below_another",
    "over_sizes",
    "style",
    "titled",
]
