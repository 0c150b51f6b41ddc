"""Does every lab run to its end on four VMs, and get all points that they allow? `make vm-test LABS=all` asks it.

It takes hours where the processor is emulated, so that only the labs in BEOWULF_VM_LABS are run: `all`, or numbers
such as `01 04`. The points and minutes are printed, with their circumstances.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
from virtual import MEMORY_MB, Vms, say, vms
from whole_lab import worked_through

from beowulf import paths

pytestmark = [pytest.mark.vm, pytest.mark.timeout(6 * 3600)]
CHOSEN = os.environ.get("BEOWULF_VM_LABS", "").split()
# What four VMs cannot show, with the reason, by lab: {question: why}.
NOT_TO_BE_HAD: dict[str, dict[str, str]] = {}


@pytest.fixture(scope="module")
def four() -> Iterator[Vms]:
    """Four VMs, with a cluster on them that a learner on the host has found."""
    with vms() as found:
        found.vagrant("up")
        found.learner("up", "--target", "vagrant")
        yield found
        found.learner("down", code=None)


def chosen() -> list[str]:
    """The labs that were asked for."""
    return [slug for slug in paths.labs() if "all" in CHOSEN or slug[:2] in CHOSEN]


@pytest.mark.parametrize("slug", chosen())
def test_a_lab_gets_all_points_that_vms_allow(slug: str, four: Vms) -> None:
    say(f"{slug} on four VMs ({four.driver}, {MEMORY_MB} MB, 1 core)")
    allowed = NOT_TO_BE_HAD.get(slug, {})
    graded = worked_through(four.learner, slug, four.room.folder / "work", allowed)
    say(f"{slug}: {graded}")
    assert not graded.lost
