"""The home page and the desk of a lab as HTML: what does not change while they are open. Scripts fill in the rest."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from beowulf import papers, paths
from beowulf.cluster.common.config import RATES, ClusterConfig
from beowulf.course import lab_file
from beowulf.errors import LabError
from beowulf.home.live import RATE_NAMES

PAGES = Environment(
    loader=FileSystemLoader(Path(__file__).parent), autoescape=True, undefined=StrictUndefined
)
MORE = re.compile(r"^\*More, (\d+) minutes", re.MULTILINE)


def home(base: str, xsrf: str) -> str:
    """The page of all labs, for a server whose addresses begin with `base`."""
    return PAGES.get_template("home.html").render(
        base=base,
        xsrf=xsrf,
        labs=[
            *map(_lab_or_problem, paths.offered()),
            *({"slug": name, "problem": why} for name, why in paths.others()[1].items()),
        ],
        rates=[(rate, RATE_NAMES[rate], rate == ClusterConfig().rate) for rate in RATES],
        papers=[(each, papers.cite(each), papers.place(each)) for each in papers.letters()],
    )


def desk(slug: str, notebook: str, base: str, xsrf: str) -> str:
    """The page of one lab, whose `notebook` is where the server's root has it; LabError where its lab.toml is wrong."""
    return PAGES.get_template("desk.html").render(
        base=base, xsrf=xsrf, lab=_lab(slug), notebook=notebook
    )


def _lab_or_problem(slug: str) -> dict[str, Any]:
    try:
        return _lab(slug)
    except LabError as problem:
        return {"slug": slug, "problem": str(problem)}


def _lab(slug: str) -> dict[str, Any]:
    lab = lab_file.read(slug)
    wanted = lab.cluster
    networks = f"{wanted['networks']} network{'s' * (wanted['networks'] > 1)}"
    return {
        "slug": slug,
        "number": slug.partition("-")[0],
        "title": lab.title,
        "question": lab.question,
        "minutes": lab.minutes,
        "more": sum(map(int, MORE.findall((paths.labs()[slug] / "README.md").read_text("utf-8")))),
        "picture": lab.picture,
        "cluster": wanted,
        "wants": f"{networks}, {RATE_NAMES[wanted['rate']]}",
        "problem": "",
    }
