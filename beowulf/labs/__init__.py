"""The labs, a package each: none of them imports another one.

What a package offers to its notebook is in its `__init__.py`: `from beowulf.labs import lab_04 as lab`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any

# What every notebook uses.
USUAL = (
    "beowulf.figures:course_style",
    "beowulf.figures:prediction_band",
    "beowulf.course.answers:form",
    "beowulf.predictions:outcome",
)


def offer(lab: str, *places: str) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """`__getattr__` and `__dir__` of a lab's package: what is in these places, imported when it is asked for.

    A place is a module, `beowulf.exercises.heat`, or a name in one, `beowulf.measure.roundtrips:rates`; in the lab's
    own package, its last word is enough.
    """
    known = {}
    for place in (*USUAL, *places):
        module, _, name = place.partition(":")
        module = module if "." in module else f"{lab}.{module}"
        known[name or module.rpartition(".")[2]] = module, name

    def get(name: str) -> Any:
        if name not in known:
            raise AttributeError(f"{lab} offers no {name!r}; it has {', '.join(sorted(known))}")
        module, part = known[name]
        found = import_module(module)
        found = getattr(found, part) if part else found
        setattr(sys.modules[lab], name, found)
        return found

    return get, lambda: sorted(known)
