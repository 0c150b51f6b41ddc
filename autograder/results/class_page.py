"""The report of a class as one page that needs no other file, no network and no script."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from html import escape
from typing import Any

import pandas as pd
from pandas.api.types import is_bool_dtype, is_numeric_dtype

from autograder.grading.safe_page import POLICY_TAG
from autograder.results.sections import Section
from autograder.text import as_html
from beowulf.figures import Figure, number_text

MOST_OPEN = 12  # rows of a table that is shown open
MOST_ROWS = 500  # of a table in the page; its CSV file has them all
STYLE = """
:root { color-scheme: light; }
body { font: 16px/1.5 system-ui, sans-serif; color: #1a1a1a; background: #fff; margin: 0 auto;
  max-width: 84rem; padding: 1.5rem; } p, ul { max-width: 64rem; }
h1 { font-size: 1.7rem; margin: 0 0 .2rem; } h2 { font-size: 1.25rem; margin: 2.2rem 0 .3rem;
  border-top: 2px solid #d9d9d9; padding-top: 1rem; }
nav a { margin-right: 1rem; white-space: nowrap; } a { color: #00598c; }
.first { background: #fff6e6; border-left: 4px solid #b36b00; padding: .6rem 1rem; margin: 1rem 0; }
.first ul { margin: .2rem 0; padding-left: 1.2rem; }
figure { margin: 1rem 0; } img { max-width: 100%; height: auto; }
.wide { overflow-x: auto; background: linear-gradient(to right, #fff 30%, #fff0) 0 0 / 3rem 100% local no-repeat,
  linear-gradient(to left, #fff 30%, #fff0) 100% 0 / 3rem 100% local no-repeat,
  linear-gradient(to right, #0005, #0000) 0 0 / 1rem 100% scroll no-repeat,
  linear-gradient(to left, #0005, #0000) 100% 0 / 1rem 100% scroll no-repeat; }
table { border-collapse: collapse; font-size: .875rem; margin: .6rem 0; }
th, td { border-bottom: 1px solid #e0e0e0; padding: .25rem .7rem .25rem 0; text-align: left; vertical-align: top;
  max-width: 26rem; overflow-wrap: break-word; }
thead th { border-bottom: 2px solid #999; vertical-align: bottom; }
th.number { text-align: right; } td:first-child { min-width: 7.5rem; }
td.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
th:first-child, td:first-child { position: sticky; left: 0; background: #fff; }
:focus-visible { outline: 3px solid #a84300; outline-offset: 2px; }
@media print { .wide { overflow: visible; background: none; } table { font-size: 8pt; }
  th, td { padding-right: .3rem; } }
summary { cursor: pointer; color: #00598c; } .csv { font-size: .875rem; }
"""


def page(title: str, about: str, sections: Sequence[Section]) -> str:
    """The page: what to look at first, then every section with picture, table and the name of its CSV file."""
    links = "".join(f'<a href="#{each.name}">{escape(each.title)}</a> ' for each in sections)
    first = "".join(
        f'<li><a href="#{each.name}">{escape(each.urgent)}</a></li>'
        for each in sections
        if each.urgent
    )
    urgent = (
        f'<div class="first"><strong>Look at these first</strong><ul>{first}</ul></div>'
        if first
        else ""
    )
    body = "".join(_section(each) for each in sections)
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        f"{POLICY_TAG}"
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>{STYLE}</style></head><body>"
        f"<header><h1>{escape(title)}</h1><p>{escape(about)}</p><nav>{links}</nav>{urgent}</header>"
        f"<main>{body}</main></body></html>\n"
    )


def _section(section: Section) -> str:
    picture = _picture(section.figure) if section.figure else ""
    rows = len(section.table)
    label = escape(f"Table: {section.title}", quote=True)
    region = f'<div class="wide" role="region" aria-label="{label}" tabindex="0">'
    table = f"{region}{_table(section.table.head(MOST_ROWS))}</div>" if rows else ""
    if rows > MOST_OPEN:
        shown = f", the first {MOST_ROWS} here" if rows > MOST_ROWS else ""
        table = f"<details><summary>Table of {rows} rows{shown}</summary>{table}</details>"
    csv = f'<p class="csv"><a href="{section.name}.csv">{section.name}.csv</a></p>' if rows else ""
    return (
        f'<section id="{section.name}"><h2>{escape(section.title)}</h2><p>{as_html(section.text)}</p>'
        f"{picture}{table}{csv}</section>"
    )


def _picture(figure: Figure) -> str:
    image: bytes = figure._repr_mimebundle_()["image/png"]
    source = "data:image/png;base64," + base64.b64encode(image).decode("ascii")
    return f'<figure><img src="{source}" alt="{escape(figure.alt, quote=True)}"></figure>'


def _table(table: pd.DataFrame) -> str:
    head = "".join(_heading(str(name), table[name]) for name in table.columns)
    body = "".join(
        "<tr>" + "".join(_cell(value) for value in row) + "</tr>"
        for row in table.itertuples(index=False, name=None)
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _heading(name: str, values: pd.Series[Any]) -> str:
    numbers = is_numeric_dtype(values) and not is_bool_dtype(values)
    side = ' class="number"' if numbers else ""
    return f'<th scope="col"{side}>{escape(name)}</th>'


def _cell(value: Any) -> str:
    if isinstance(value, bool):
        return f"<td>{'yes' if value else ''}</td>"
    if isinstance(value, int | float):
        # pandas makes NaN of what is missing.
        text = "–" if value != value else number_text(value)
        return f'<td class="number">{text}</td>'
    return f"<td>{'–' if value is None else as_html(str(value))}</td>"
