"""Does every study of a paper say why a modern result agrees with it, differs or cannot decide, and is it shown?"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import get_args

from made import CLUSTER
from running import app
from typer.testing import CliRunner

from beowulf.record import Point, Record
from beowulf.studies import find, known
from beowulf.verdict import OWN, Outcome

LONGEST = 300


def test_a_study_has_one_sentence_of_its_own_for_each_outcome() -> None:
    seen: set[str] = set()
    for name in known():
        study = find(name)
        differs = study.differs
        own = not callable(study.judged) and all(each.place == OWN for each in study.judged)
        if own and not differs:
            continue  # there is no paper to agree with
        assert list(differs) == list(get_args(Outcome)), name
        by_kind = [{"": each} if isinstance(each, str) else each for each in differs.values()]
        assert all("" in each for each in by_kind), name
        for sentence in (sentence for each in by_kind for sentence in each.values()):
            assert sentence.endswith(".")
            assert len(sentence) <= LONGEST, sentence
            assert not re.search(r"[.?!] [A-Z`]", sentence), f"two sentences: {sentence}"
            assert sentence not in seen, f"used twice: {sentence}"
            seen.add(sentence)


def test_the_command_says_why_where_it_is_asked(tmp_path: Path) -> None:
    facts = {"elapsed_s": 60.0, "mbit_per_s": 50.0, "packets": 9, "bytes": 375_000_000}
    busy = Record(study="A5", points=[Point({"where": "switch"}, facts=facts)], cluster=CLUSTER)
    busy.save_in(tmp_path)
    words = ["claims", "A5", "--records", str(tmp_path)]
    differs = find("A5").differs
    plain = CliRunner().invoke(app, words).output
    assert "contradicted" in plain
    assert differs["contradicted"] not in plain
    asked = CliRunner().invoke(app, [*words, "--why"]).output
    assert asked == f"{plain}Why contradicted: {differs['contradicted']}\n"
    verdicts = json.loads(CliRunner().invoke(app, [*words, "--why", "--json"]).output)
    assert [each["outcome"] for each in verdicts] == ["contradicted"]
