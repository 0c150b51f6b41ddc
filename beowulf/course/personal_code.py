"""What is a learner's own in a course: sizes, seeds and broken clusters, drawn from the word that the course gave.

A course has a key, which it keeps. From the key and a student's name it makes that student's word, and
from the word everything that is to be theirs. Nobody can work out the word of another from their own,
nor the key. A learner without a course has no word, and gets what everybody without a word gets.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import os
import random
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import TypeVar

from beowulf import paths
from beowulf.course.lab_file import COURSE_FILE
from beowulf.errors import UsageError

T = TypeVar("T")
FILE = "course-word.txt"
VARIABLE = "BEOWULF_WORD"
LETTERS = 16
# Of lab 04's question about a message that was not measured.
ASKED_BYTES = (200_000, 300_000, 400_000, 600_000, 700_000, 800_000, 900_000)
USUAL_ASKED_BYTES = 500_000
# Of its question about the eager limit of another cluster.
ASKED_LIMITS = (16_384, 24_576, 32_768, 40_960, 49_152, 98_304, 114_688)
USUAL_ASKED_LIMIT = 65_536
MARK_DIGITS = 16
MOST_SEEDS = 900_000  # a thousand launches each, below what all programs take as a seed


def word() -> str:
    """The learner's word: of BEOWULF_WORD, or of the file course-word.txt here or in work/; "" if there is none."""
    if text := os.environ.get(VARIABLE, ""):
        return checked(text)
    files = [folder / FILE for folder in (Path(), paths.work(""))]
    return next((checked(file.read_text(encoding="utf-8")) for file in files if file.is_file()), "")


def missing() -> str:
    """What to do where the course says that its learners have codes and there is none here; "" otherwise."""
    files = [folder / COURSE_FILE for folder in (Path(), paths.work(""), paths.root())]
    file = next((file for file in files if file.is_file()), None)
    if word() or file is None:
        return ""
    try:
        has_codes = tomllib.loads(file.read_text(encoding="utf-8")).get("codes", False)
    except ValueError:  # `beowulf check` says what is wrong with it
        return ""
    if has_codes is not True:
        return ""
    return (
        f"Put your personal code into {paths.work('') / FILE} before you measure:"
        " what is measured without it earns no points."
    )


def checked(text: str) -> str:
    """A word as its owner may have typed it, in its one spelling; UsageError for what cannot be one."""
    letters = "".join(text.split()).replace("-", "").upper()
    if letters and (
        len(letters) != LETTERS or not set(letters) <= set("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567")
    ):
        raise UsageError(
            f"{text.strip()[:40]!r} is not a personal code: a code has {LETTERS} letters and digits.",
            f"Copy yours into {FILE} again, or remove that file.",
        )
    return letters


def of(key: str, student: str) -> str:
    """The word of a student in the course with this key."""
    made = hmac.new(key.encode(), f"student {student}".encode(), hashlib.sha256).digest()
    return base64.b32encode(made).decode()[:LETTERS]


def mark(own: str) -> str:
    """What a Record carries to tell under which word it was made, and does not give the word away; "" without one."""
    return _digest(own, "mark").hex()[:MARK_DIGITS] if own else ""


def choice(question: str, usual: T, others: Sequence[T], own: str | None = None) -> T:
    """One of `others` by the word (the learner's, or the one given), `usual` without one."""
    own = word() if own is None else own
    if not own:
        return usual
    return others[int.from_bytes(_digest(own, question)[:8]) % len(others)]


def chance(question: str) -> random.Random:
    """Chance that falls the same way each time for a word, and differently each time without one."""
    own = word()
    return random.Random(_digest(own, question)) if own else random.Random()


def seed(launch: int = 0, own: str | None = None) -> int:
    """From what the order of a launch is drawn: its number, and that of the word; each launch has another."""
    own = word() if own is None else own
    first = 1000 * (1 + int.from_bytes(_digest(own, "seed")[:4]) % MOST_SEEDS) if own else 0
    return first + launch + 1


def asked_bytes(own: str | None = None) -> int:
    """For how long a message lab 04 asks the model."""
    return choice("04 model-time", USUAL_ASKED_BYTES, ASKED_BYTES, own)


def asked_limit(own: str | None = None) -> int:
    """For which eager limit, in bytes, lab 04 asks how wide a plate may be."""
    return choice("04 other-limit", USUAL_ASKED_LIMIT, ASKED_LIMITS, own)


def _digest(own: str, question: str) -> bytes:
    return hmac.new(own.encode(), question.encode(), hashlib.sha256).digest()
