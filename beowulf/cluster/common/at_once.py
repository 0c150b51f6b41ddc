"""The same done for several nodes at the same time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from beowulf.errors import LabError

T = TypeVar("T")


def everywhere(
    names: Sequence[str], do: Callable[[str], T]
) -> tuple[dict[str, T], dict[str, LabError]]:
    """What `do` gives for each name, all at the same time, and why it failed for those where it did."""
    answers: dict[str, T] = {}
    failed: dict[str, LabError] = {}
    with ThreadPoolExecutor(len(names) or 1) as beside:
        jobs = {name: beside.submit(do, name) for name in names}
    for name, job in jobs.items():
        try:
            answers[name] = job.result()
        except LabError as error:
            failed[name] = error
    return answers, failed


def all_of(names: Sequence[str], do: Callable[[str], T]) -> dict[str, T]:
    """What `do` gives for each name, all at the same time; LabError when it failed for one."""
    answers, failed = everywhere(names, do)
    for why in failed.values():
        raise why
    return answers
