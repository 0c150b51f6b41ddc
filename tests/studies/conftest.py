"""Claims are judged thousands of times here, on Records far from any limit: fewer draws are enough for those."""

from __future__ import annotations

import pytest

from beowulf.measure import statistics

DRAWS = 200


@pytest.fixture(autouse=True)
def few_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    """A fifth of the draws of which an interval is made."""
    monkeypatch.setattr(statistics, "RESAMPLES", DRAWS)
