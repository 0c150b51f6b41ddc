"""The notebook in which nothing is asked: is it laid out beside the labs, and does it run to its end?"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import nbformat
import pytest
from running import Beowulf
from whole_lab import run

from beowulf import paths
from beowulf.desk import jupyter


@pytest.fixture
def notebook(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("BEOWULF_WORK", str(tmp_path / "work"))
    return jupyter.lay_out_play()


def test_it_is_laid_out_beside_every_lab_and_what_was_changed_stays(notebook: Path) -> None:
    notebook.write_text("mine")
    assert jupyter.lay_out("01-validation").parent.parent == notebook.parent.parent
    assert notebook.read_text() == "mine"
    assert jupyter.PLAY not in paths.labs()


def outputs(notebook: Path) -> list[list[Any]]:
    read: Any = nbformat.read(notebook, as_version=4)
    return [list(cell.outputs) for cell in read.cells if cell.cell_type == "code"]


def printed(cell: list[Any]) -> str:
    return "".join(str(each.get("text", "")) for each in cell)


@pytest.mark.nightly
@pytest.mark.cluster
def test_it_runs_to_its_end_on_four_nodes(at_cluster: Beowulf, notebook: Path) -> None:
    run(at_cluster, notebook)
    start, hello, ring, define, sweep, plot, capture, end = outputs(notebook)
    assert "node03 is rank 3" in printed(start)
    for rank in range(4):
        assert f"node0{rank} │ I am rank {rank} of 4" in printed(hello)
        assert f"node0{rank} │ rank {(rank - 1) % 4} has sent me {(rank - 1) % 4}" in printed(ring)
    assert not define
    assert printed(sweep).count(" µs") == 7
    assert any("image/png" in each.get("data", {}) for each in plot)
    # Three messages there, three back.
    assert printed(capture).count("4096") == 6
    assert not printed(end)
    assert not [line for line in at_cluster.processes() if "ipyparallel" in line]
