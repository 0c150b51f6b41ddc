"""Modules by the names that they had before: a notebook that was handed in imports them still."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from importlib.abc import Loader

LAB_OF = {
    "a2_validation": "01",
    "a4_parallel_benchmarks": "03",
    "collectives": "06",
    "d3_message_and_workload": "05",
    "d5_improvement": "05",
    "e1_latency_model": "04",
    "e4_hpcc": "03",
    "e7_procedure": "07",
    "knob_gains": "07",
    "l1_latency_budget": "07",
    "node_comparison": "02",
    "wire_picture": "06",
}
MOVED = {
    "beowulf.capture": "beowulf.packets",
    "beowulf.capture.analysis": "beowulf.packets.analysis",
    "beowulf.capture.mpi_messages": "beowulf.packets.mpi_messages",
    "beowulf.capture.packets": "beowulf.packets.table",
    "beowulf.figures.ladder": "beowulf.packets.ladder",
    "beowulf.figures.packets": "beowulf.packets.pictures",
    "beowulf.learner": "beowulf.user",
    "beowulf.measure.session": "beowulf.measure.measurement",
    "beowulf.exercises.exchange": "beowulf.exercises.lab_05.exchange",
    "beowulf.exercises.laws": "beowulf.exercises.lab_03.speedup_laws",
    "beowulf.exercises.letters": "beowulf.exercises.lab_07.small_writes",
    "beowulf.exercises.load_times": "beowulf.exercises.lab_02.load_times",
    "beowulf.exercises.null_knob": "beowulf.exercises.lab_07.null_knob",
    "beowulf.exercises.odd_node": "beowulf.exercises.lab_02.odd_node",
    "beowulf.exercises.own_knob": "beowulf.exercises.lab_07.own_knob",
    "beowulf.exercises.own_rows": "beowulf.exercises.lab_02.own_rows",
    "beowulf.exercises.postcard": "beowulf.exercises.lab_06.postcard",
    "beowulf.exercises.sizes": "beowulf.exercises.lab_03.message_sizes",
    "beowulf.exercises.tap": "beowulf.exercises.lab_06.capture_run",
    "beowulf.exercises.unlike": "beowulf.exercises.lab_07.differing_node",
    **{
        f"beowulf.studies.{name}": f"beowulf.studies.lab_{lab}.{name}"
        for name, lab in LAB_OF.items()
    },
}
# What is called otherwise inside of them.
RENAMED = {"beowulf.measure.session": {"Session": "Measurement"}}


class OldNames:
    """Finds a module by its old name, with all that its new one has in it."""

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Where an old name is to be loaded from; None for every other name."""
        return ModuleSpec(name, cast("Loader", self)) if name in MOVED else None

    def create_module(self, spec: ModuleSpec) -> None:
        """The import system makes the module."""

    def exec_module(self, module: ModuleType) -> None:
        """Fill the module with the contents of its new name."""
        name = module.__name__
        today = importlib.import_module(MOVED[name])
        own = {"__name__", "__spec__", "__loader__", "__package__"}
        module.__dict__.update({k: v for k, v in vars(today).items() if k not in own})
        for old, new in RENAMED.get(name, {}).items():
            setattr(module, old, getattr(today, new))


def install() -> None:
    """Make old names importable, ahead of those on the disk."""
    if not any(isinstance(finder, OldNames) for finder in sys.meta_path):
        sys.meta_path.insert(0, OldNames())
