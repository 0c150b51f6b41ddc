"""The pages of a class at work: one for a projector, one with codes for the instructor, one of what all measured.

Each is a file that the browser loads again by itself, without a script and without the network.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from autograder.files import write_text
from autograder.grading.safe_page import POLICY_TAG
from autograder.intake import log
from autograder.results import dots
from autograder.results.live import Learner, Room
from autograder.text import counted
from beowulf import paths
from beowulf.course.checklist import BAD, DONE
from beowulf.figures import number_text

if TYPE_CHECKING:
    from autograder.rubrics.pooled import Pool, Value

REFRESH_S = 10
# The page with codes leads to the others, which are on the projector, and none of them to it.
ROOM, DATA, CODES = "The room", "What we measured", "Codes"
FILES = {ROOM: "live.html", DATA: "live-data.html", CODES: "live-codes.html"}
ELSEWHERE, NOT_KNOWN = "In another lab", "Not known"
HEADINGS = ("Code", "May need help", "Section", "Minutes ago", "Done", "Records", "Sealed")
# Title, sentence, drawing, and what its marks are.
Picture = tuple[str, str, str, str]
PAGES = Environment(
    loader=FileSystemLoader([Path(__file__).parent, paths.root() / "beowulf" / "home"]),
    autoescape=True,
    undefined=StrictUndefined,
)


def write(room: Room, now: float) -> dict[str, Path]:
    """Look at the class, and write the three pages of its lab; each by what it is."""
    learners = room.look()
    contents: dict[str, dict[str, Any]] = {
        ROOM: _room(room, learners, now),
        DATA: {"page": "data", "pictures": [_pool(each, learners) for each in room.pools]},
        CODES: _codes(room, learners, now),
    }
    folder = log.folder(room.course.folder, room.slug)
    for title, content in contents.items():
        text = PAGES.get_template("live.html").render(
            policy=POLICY_TAG,
            refresh_s=REFRESH_S,
            heading=f"Lab {room.slug[:2]}, {room.lab.title}: {title.lower()}",
            at=datetime.fromtimestamp(now).strftime("%H:%M"),
            links={each: name for each, name in FILES.items() if title == CODES or each != CODES},
            **content,
        )
        write_text(folder / FILES[title], text)
    return {title: folder / name for title, name in FILES.items()}


def _place(learner: Learner) -> str:
    return ELSEWHERE if learner.elsewhere else learner.section or NOT_KNOWN


def _room(room: Room, learners: Sequence[Learner], now: float) -> dict[str, Any]:
    who = counted(len(room.roster or learners), "learner")
    here = sum(each.at > 0 for each in learners)
    places = Counter(map(_place, learners))
    stuck = Counter(_place(each) for each in learners if each.stuck(now))
    same = sum(each.stuck(now).startswith("the same") for each in learners)
    reasons = {"the same error again": same, "no Record for a while": stuck.total() - same}
    said = ", ".join(f"{reason}: {number}" for reason, number in reasons.items() if number)
    numbered = {name: f"{n} {name}" for n, name in enumerate(room.sections, 1)}
    checked = [each for each in learners if each.symbols]
    questions = []
    for question in room.lab.questions:
        symbols = Counter(each.symbols.get(question) for each in checked)
        done, bad = symbols[DONE], symbols[BAD]
        if done or bad:
            questions.append((question, done, bad, done / len(checked), bad / len(checked)))
    return {
        "page": "room",
        "who": f"Of {who}, {here} share their work and {len(learners) - here} have only handed in.",
        "help": f"{stuck.total()} may need help ({said})." if stuck else "",
        "sections": [
            (
                numbered.get(name, name),
                places[name] / max(places.values()),
                places[name],
                stuck[name],
            )
            for name in (*room.sections, ELSEWHERE, NOT_KNOWN)
            if places[name]
        ],
        "checked": f"Of {counted(len(checked), 'learner')} with a check: {DONE} done, {BAD} not yet right.",
        "questions": questions,
        "pictures": [_poll(room, name, learners) for name in room.lab.predictions],
    }


def _codes(room: Room, learners: Sequence[Learner], now: float) -> dict[str, Any]:
    rows = [
        (
            *(each.code, each.stuck(now), _place(each)),
            f"{(now - each.at) / 60:.0f}" if each.at else "handed in",
            f"{each.done} of {len(room.lab.questions)}" if each.symbols else "no check",
            str(each.records),
            f"{len(each.sealed)} of {len(room.lab.predictions)}",
        )
        for each in sorted(learners, key=lambda each: (not each.stuck(now), each.code))
    ]
    missing = sorted(room.roster - {each.code for each in learners})
    notes = [f"Nothing from {', '.join(missing)}."] if missing else []
    notes += [f"Passed over: {'; '.join(room.passed_over)}."] if room.passed_over else []
    return {"page": "codes", "codes": [HEADINGS, *rows], "notes": notes, "pictures": []}


def _poll(room: Room, name: str, learners: Sequence[Learner]) -> Picture:
    """What was sealed under a name, and what was then measured."""
    table = room.lab.predictions[name]
    title = f"{table.asks[0].upper()}{table.asks[1:]} ({table.unit})"
    sealed = {each.code: each.sealed[name] for each in learners if name in each.sealed}
    if not sealed:
        return title, "Nobody has sealed it yet.", "", ""
    values = {each.code: each.measured[name] for each in learners if name in each.measured}
    results = [value for code, value in values.items() if code in sealed]
    inside = sum(sealed[code].holds(value) for code, value in values.items() if code in sealed)
    said = f"{len(sealed)} sealed it, {_middle([each.value for each in sealed.values()])}."
    if results:
        said += f" {len(results)} measured it, {_middle(results)}: {inside} within their range."
    drawn = dots.ranges([(e.value, e.low, e.high) for e in sealed.values()], results, said)
    return title, said, drawn, "Dot: sealed, with its range. Diamond: measured."


def _pool(pool: Pool, learners: Sequence[Learner]) -> Picture:
    """A figure of everybody's Records."""
    found: list[Value] = [e.pooled[pool.title] for e in learners if pool.title in e.pooled]
    numbers = [each for each in found if isinstance(each, float)]
    lines = [each for each in found if not isinstance(each, float) and each]
    title = f"{pool.title} ({pool.unit})"
    if lines:
        said = f"{len(lines)} measured it, one line each."
        return title, said, dots.curves(lines, pool.x, f"{title} against {pool.x}: {said}"), ""
    if not numbers:
        return title, "Nobody has measured it yet.", "", ""
    low, high = number_text(min(numbers)), number_text(max(numbers))
    said = f"{len(numbers)} measured it, from {low} to {high}, {_middle(numbers)}."
    if low == high:
        said = f"{len(numbers)} measured it: {low}."
    key = (
        "" if pool.paper is None else f"Dashed: {number_text(pool.paper)} {pool.unit}, {pool.says}."
    )
    return title, said, dots.heap(numbers, pool.paper, f"{title}: {said} {key}"), key


def _middle(values: Sequence[float]) -> str:
    return f"median {number_text(median(values))}"
