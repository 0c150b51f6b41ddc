"""Is nothing decided, and everything said in a sentence, whatever of a Record is missing or measured under load?"""

from __future__ import annotations

import random
import re
import warnings
from contextlib import suppress
from dataclasses import replace

import pytest
from made import QUIET, decided, left_open
from running import first

from beowulf.errors import LabError
from beowulf.measure import statistics, table
from beowulf.record import Record
from beowulf.studies import draw, judge, known
from tests.gold.labs import LABS
from tests.labs.lab_03 import lab_03_records as lab_03
from tests.labs.lab_04 import lab_04_records as lab_04
from tests.labs.lab_05 import test_a8, test_a9, test_d2, test_d3, test_d4, test_d6
from tests.labs.lab_06 import test_a10, test_a11, test_a12, test_a13
from tests.labs.lab_07 import test_e7
from tests.labs.lab_08 import lab_08_records as lab_08

TRIES = 6
LONG = {"A9": 2}  # tries of a study whose claims look at all samples over and over
# Words of the libraries and of Python, which no person is to read.
LEAKS = re.compile(
    r"positional indexer|out[- ]of[- ]bounds|out of range|iterable|index|dtype|DataFrame|axis|shape|None"
    r"|\bnan\b|object has no|empty sequence|zero-size|argument|unpack|division by zero|Error\b"
)


def records() -> dict[str, Record]:
    """A good Record of each study of which one is made up."""
    kept = [each for lab in LABS for each in lab.records() if not each.variant]
    found = {each.study: each for each in kept if each.study in known()}
    made = [
        *(lab_04.a6(), lab_04.b5()),
        lab_04.b1(lambda _: 100.0),
        lab_04.b4(lambda _: 10.0),
        lab_04.e2(lambda _: 100.0),
        *(lab_04.rings(study, lambda _: 1.0) for study in ("B2", "B3")),
        *(each.measured() for each in (test_a8, test_a10, test_a11)),
        test_a12.measured(test_a12.PAPER),
        test_a9.measured(lambda *_: 100.0),
        test_d3.measured(0.0, 0.0),
        test_d4.measured(test_d4.d4.PAPER_PERCENT),
        test_d6.measured(),
        *(lab_03.hpl_tuned(0.5), lab_03.suite_tuned()),
        *(lab_08.striped(), lab_08.gas(), lab_08.galaxy(), lab_08.machine()),
    ]
    return found | {each.study: each for each in made}


GOOD = records()
# One study of each lab first.
ONE_EACH = list({known()[name].parent: name for name in sorted(GOOD)}.values())
EVERY = first(len(ONE_EACH), ONE_EACH + [name for name in sorted(GOOD) if name not in ONE_EACH])


def cut(record: Record, chance: random.Random) -> Record:
    """What is left where the measurement broke off: fewer points, and fewer samples and facts in those."""
    kept = record.points[: chance.randrange(len(record.points) + 1)]
    points = []
    for point in kept:
        few = point.samples[: chance.randrange(len(point.samples) + 1)]
        facts = dict(list(point.facts.items())[: chance.randrange(len(point.facts) + 1)])
        some = chance.random() < 0.3
        points.append(replace(point, samples=few, facts=facts) if some else point)
    sweep = dict(record.sweep) if chance.random() < 0.8 else {"quick": True}
    return replace(record, points=points, complete=False, sweep=sweep)


@pytest.mark.parametrize("study", EVERY)
def test_each_claim_of_a_cut_record_is_inconclusive_with_a_sentence(study: str) -> None:
    chance = random.Random(study)
    for _ in range(LONG.get(study, TRIES)):
        record = cut(GOOD[study], chance)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            verdicts = judge(record)
        assert verdicts
        for each in verdicts:
            assert each.outcome == "inconclusive"
            assert "cut short" in each.evidence
            assert each.advice
            assert not LEAKS.search(each.evidence + each.advice), each.evidence


@pytest.mark.parametrize("study", EVERY)
def test_a_record_that_says_it_is_complete_and_is_not_leaks_nothing(study: str) -> None:
    chance = random.Random(study)
    for _ in range(LONG.get(study, TRIES)):
        said = []
        try:
            said = [
                each.evidence for each in judge(replace(cut(GOOD[study], chance), complete=True))
            ]
        except LabError as error:
            said = [str(error)]
        except Exception as error:  # only one that was edited can be so
            said = error.__notes__
        assert said
        assert not [each for each in said if LEAKS.search(each)]


FAR_APART = (0.02, 0.3, 1, 1, 3, 40)
LOADED = {"before": QUIET | {"load_1min": 9.0}, "after": QUIET}


@pytest.mark.parametrize("study", EVERY)
def test_a_busy_machine_turns_no_claim_round_and_nothing_is_decided_without_an_interval(
    study: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    quiet = replace(GOOD[study], circumstances={"before": QUIET, "after": QUIET})
    busy = replace(GOOD[study], circumstances=LOADED)
    left_open(decided(quiet), decided(busy))
    for module in (statistics, table):
        monkeypatch.setattr(module, "WIDER", 1e6)
    monkeypatch.setattr(statistics, "LEAST_WIDE", 1e6)
    for verdict in judge(busy):
        assert verdict.outcome == "inconclusive" or "the load" not in verdict.evidence


@pytest.mark.parametrize("study", sorted(GOOD))
def test_samples_far_apart_on_a_busy_machine_are_judged_and_drawn(study: str) -> None:
    chance = random.Random(study)
    points = [
        replace(point, samples=[each * chance.choice(FAR_APART) for each in point.samples])
        for point in GOOD[study].points
    ]
    record = replace(GOOD[study], points=points, circumstances=LOADED)
    assert judge(record)
    with suppress(LabError):  # such as that there is nothing to draw
        assert draw(record).drawing.axes


COUNTED = {
    "A10": (GOOD["A10"], {"every-message-seen", "data-share-alike"}),
    "A11": (GOOD["A11"], {"overlap-lowers-overhead"}),
    "A13": (test_a13.usual(), {"broadcast-no-more-bytes", "small-buffers-more-segments"}),
    "D2": (test_d2.swept(test_d2.PAPER), {f"{way.mpich}-on-the-wire" for way in test_d2.CAUSES}),
    "D5": (GOOD["D5"], {"printed-percentages"}),
    "E3": (GOOD["E3"], {"residual"}),
    "E7": (test_e7.usual(), {"nodes-alike"}),
}


@pytest.mark.parametrize("study", COUNTED)
def test_what_is_counted_or_read_is_decided_on_a_busy_machine_too(study: str) -> None:
    record, claims = COUNTED[study]
    found = decided(replace(record, circumstances=LOADED))
    assert "inconclusive" not in {found[claim] for claim in claims}


def test_a_record_whose_cluster_changed_is_judged_with_that_reason() -> None:
    said = (
        "The cluster was changed while A7 was being measured: the rate was 100mbit and is 10mbit."
    )
    for each in judge(replace(GOOD["A7"], complete=False, warnings=[said])):
        assert each.outcome == "inconclusive"
        assert "the rate was 100mbit and is 10mbit" in each.evidence
