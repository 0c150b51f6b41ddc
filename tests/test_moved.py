"""Does a notebook that was handed in before modules moved still find what it imports?"""

from __future__ import annotations

import importlib
import subprocess
import sys

import pytest

from beowulf.moved import MOVED, RENAMED

# As the released notebooks of the first series import.
HANDED_IN = """
from beowulf import claims, connect, papers, picture, study
from beowulf.capture.analysis import analyse
from beowulf.capture.mpi_messages import messages
from beowulf.capture.packets import read
from beowulf.exercises import exchange
from beowulf.exercises import laws, sizes
from beowulf.exercises import letters, null_knob, own_knob, unlike
from beowulf.exercises import load_times, odd_node, own_rows
from beowulf.exercises import postcard, tap
from beowulf.figures import packets as drawn
from beowulf.figures.ladder import ladder
from beowulf.learner import learner
from beowulf.measure.session import Session
from beowulf.studies import a4_parallel_benchmarks as a4
from beowulf.studies import collectives, wire_picture
from beowulf.studies import d3_message_and_workload, d5_improvement
from beowulf.studies import e1_latency_model
from beowulf.studies import e4_hpcc as e4
from beowulf.studies import e7_procedure
from beowulf.studies import knob_gains, l1_latency_budget
from beowulf.studies.a2_validation import diagnose
from beowulf.studies.node_comparison import compared
"""


def test_a_notebook_of_before_imports_all_that_it_used() -> None:
    subprocess.run([sys.executable, "-c", HANDED_IN], check=True)


@pytest.mark.parametrize("name", MOVED)
def test_an_old_name_has_what_the_new_one_has(name: str) -> None:
    old, new = importlib.import_module(name), importlib.import_module(MOVED[name])
    public = {each for each in vars(new) if not each.startswith("_")}
    assert public <= set(vars(old))
    for was, now in RENAMED.get(name, {}).items():
        assert getattr(old, was) is getattr(new, now)
