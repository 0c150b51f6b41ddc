"""The home page as HTML: what does not change while it is open. home.js fills in the rest."""

from __future__ import annotations

import re
from html import escape
from pathlib import Path
from string import Template

from beowulf import papers, paths
from beowulf.cluster.common.config import RATES, ClusterConfig
from beowulf.course import lab_file
from beowulf.errors import LabError
from beowulf.home.live import RATE_NAMES

HERE = Path(__file__).parent
MORE = re.compile(r"^\*More, (\d+) minutes", re.MULTILINE)


def html(base_url: str, xsrf: str) -> str:
    """The whole page, for a server whose addresses begin with `base_url`."""
    parts = {name: (HERE / f"home.{name}").read_text(encoding="utf-8") for name in ("css", "js")}
    return Template((HERE / "home.html").read_text(encoding="utf-8")).substitute(
        parts,
        base=escape(base_url),
        xsrf=escape(xsrf),
        labs="\n".join(_lab(slug, base_url) for slug in paths.labs()),
        rates="\n".join(_rate(rate) for rate in RATES),
        papers="\n".join(_paper(letter) for letter in papers.letters()),
    )


def _lab(slug: str, base_url: str) -> str:
    number = slug.partition("-")[0]
    try:
        lab = lab_file.read(slug)
    except LabError as problem:
        return f'<tr><th scope="row">{escape(slug)}</th><td colspan="2">{escape(str(problem))}</td></tr>'
    more = sum(map(int, MORE.findall((paths.labs()[slug] / "README.md").read_text("utf-8"))))
    of_lab = f'<span class="hidden"> of lab {number}</span>'
    notebook, handout = _notebook(slug, base_url), f"{base_url}beowulf/text/labs/{slug}/README.md"
    return f"""<tr data-lab="{slug}"><th scope="row">
<span class="name">Lab {number}, {escape(lab.title)}</span>
<span class="question">{escape(lab.question)}</span>
<span class="links"><a href="{notebook}" data-open="{number}">Notebook{of_lab}</a>
<a href="{handout}" data-show="Handout {number}">Handout{of_lab}</a></span></th>
<td>{lab.minutes:g} + {more}</td><td class="done">…</td></tr>"""


def _notebook(slug: str, base_url: str) -> str:
    released = sorted((paths.root() / "notebooks" / "release" / slug).glob("*.ipynb"))
    return f"{base_url}lab/tree/{slug}/{released[0].name}" if released else f"{base_url}lab"


def _rate(rate: str) -> str:
    selected = " selected" if rate == ClusterConfig().rate else ""
    return f'<option value="{rate}"{selected}>{RATE_NAMES[rate]}</option>'


def _paper(letter: str) -> str:
    place = papers.place(letter)
    where = (
        f'<a href="{escape(place)}" target="_blank" rel="noopener">{escape(place.partition("://")[2])}</a>'
        if place.startswith("http")
        else escape(place)
    )
    return f"<li><b>{letter}</b> {escape(papers.cite(letter))} {where}</li>"
