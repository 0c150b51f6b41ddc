"""Pictures: their common look, and the charts that several studies share."""

from beowulf.figures.charts import bars, lines, matrix
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

__all__ = [
    "COLOURS",
    "DASHES",
    "HATCHES",
    "MARKERS",
    "MOST_ROWS",
    "Figure",
    "bars",
    "lines",
    "matrix",
    "number_text",
    "style",
    "titled",
]
