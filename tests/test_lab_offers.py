"""What a lab's package offers to its notebook: is it there, documented, and found by completion?"""

from __future__ import annotations

from importlib import import_module

import pytest

from beowulf import paths

LABS = [slug.partition("-")[0] for slug in paths.labs()]


@pytest.mark.parametrize("number", LABS)
def test_each_name_is_there_and_says_what_it_is(number: str) -> None:
    lab = import_module(f"beowulf.labs.lab_{number}")
    assert {"form", "outcome"} <= set(dir(lab))
    for name in dir(lab):
        assert getattr(lab, name).__doc__, name


def test_a_name_that_is_not_there_is_answered_with_those_that_are() -> None:
    with pytest.raises(AttributeError, match=r"lab_05 offers no 'rates'; it has .*exchange"):
        _ = import_module("beowulf.labs.lab_05").rates
