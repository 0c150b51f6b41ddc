"""A function that a learner has written in a `%%px` cell, as a Record keeps it."""

from __future__ import annotations

import hashlib
from typing import Any

from beowulf.engines import Engines
from beowulf.errors import LabError

MOST_BYTES = 20_000


def about(engines: Engines, name: str) -> dict[str, Any]:
    """The function's name, its text and the digest of that; LabError when an engine has no such function."""
    source = engines.source(name)
    text = source.encode()
    if len(text) > MOST_BYTES:
        raise LabError(
            f"The text of {name} has {len(text):,} bytes; a Record keeps {MOST_BYTES:,}.",
            "Leave out what it does not need.",
        )
    return {"name": name, "source": source, "sha256": hashlib.sha256(text).hexdigest()}
