"""Made-up DNA for a search: a database without meaning, and queries that are worn copies of pieces of it.

Evolution changes a letter here, drops or inserts one there. A program like BLAST finds the relatives all the same,
which is what makes the search worth doing, and worth dividing.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from pathlib import Path

LETTERS = bytes(b"ACGT"[value % 4] for value in range(256))
SHORTEST, LONGEST = 400, 4000  # sequences of the database
QUERY_BASES = 600
CHANGED, DROPPED, INSERTED = 0.08, 0.01, 0.01  # of a query's letters
REPEATED = 0.25  # so many of the pieces are in the database a second time, a little worn
STRANGERS = 5  # one query of so many has no relative
LINE = 70


@dataclass(frozen=True)
class Collection:
    """A database of about `bases` letters and a number of `queries`; the same `seed` makes the same."""

    bases: int = 8_000_000
    queries: int = 40
    seed: int = 1

    def write(self, database: Path, looked_for: Path) -> None:
        """Write both as FASTA."""
        chance = random.Random(self.seed)
        sequences = _database(self.bases, chance)
        queries = []
        for number in range(self.queries):
            if number % STRANGERS == STRANGERS - 1:
                queries.append(_letters(QUERY_BASES, chance))
                continue
            piece = _piece(chance.choice(sequences), chance)
            if chance.random() < REPEATED:
                sequences.append(_worn(piece, chance))
            queries.append(_worn(piece, chance))
        database.write_text(_fasta("s", sequences))
        looked_for.write_text(_fasta("q", queries))


def _database(bases: int, chance: random.Random) -> list[str]:
    sequences, left = [], bases
    while left > 0:
        length = min(left, chance.randint(SHORTEST, LONGEST))
        sequences.append(_letters(length, chance))
        left -= length
    return sequences


def _letters(count: int, chance: random.Random) -> str:
    return chance.randbytes(count).translate(LETTERS).decode()


def _piece(sequence: str, chance: random.Random) -> str:
    start = chance.randrange(max(1, len(sequence) - QUERY_BASES))
    return sequence[start : start + QUERY_BASES]


def _worn(piece: str, chance: random.Random) -> str:
    found = []
    for letter in piece:
        luck = chance.random()
        if luck < DROPPED:
            continue
        if luck < DROPPED + INSERTED:
            found.append(_letters(1, chance))
        found.append(_letters(1, chance) if luck > 1 - CHANGED else letter)
    return "".join(found)


def _fasta(letter: str, sequences: list[str]) -> str:
    lines = []
    for number, sequence in enumerate(sequences, 1):
        lines.append(f">{letter}{number:06}")
        lines += [sequence[place : place + LINE] for place in range(0, len(sequence), LINE)]
    return "\n".join(lines) + "\n"
