"""Has a simulated run the same timeline as a real one?"""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from beowulf import mpi, paths
from beowulf.errors import LabError
from beowulf.timeline import matching, simgrid
from beowulf.timeline.analysis import Analysis

HERE = Path(__file__).parent
RING = HERE / "ring.paje"  # lab 01's ring on four nodes, by SimGrid 3.32
PLATFORM = """<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <cluster id="c" prefix="node" suffix="" radical="0-3" speed="1Gf" bw="100Mbps" lat="50us"/>
</platform>
"""


def test_a_ring_is_four_messages_and_three_late_senders() -> None:
    found = Analysis(simgrid.read(RING), {})
    assert [(int(m.source), int(m.to)) for m in found.messages.itertuples()] == [
        (0, 1),
        (1, 2),
        (2, 3),
        (3, 0),
    ]
    assert [(int(w.rank), w.kind, int(w.cause)) for w in found.waits.itertuples()] == [
        (0, "late sender", 3),
        (3, "late sender", 2),
        (2, "late sender", 1),
    ]
    # The token's way round is the whole run.
    assert found.critical_path.length_ns == found.length_ns == 842_000
    assert (found.parts["computing"] + found.parts["in_mpi"] == found.parts["run"]).all()


@pytest.mark.nightly
def test_what_smpirun_writes_now_is_read(tmp_path: Path) -> None:
    if not shutil.which("smpirun"):
        pytest.skip("SimGrid is not installed here")
    (tmp_path / "p.xml").write_text(PLATFORM)
    (tmp_path / "hosts").write_text("".join(f"node{number}\n" for number in range(4)))
    lab = paths.lab("03")
    words = ["smpicc", "-O2", "-include", str(mpi.SIMGRID_LACKS)]
    words += [f"-I{lab.parent / 'include'}", "-o", "mg", str(lab / "npb" / "mg.c"), "-lm"]
    subprocess.run(words, cwd=tmp_path, check=True, capture_output=True)
    line = "smpirun -np 4 -platform p.xml -hostfile hosts -trace --cfg=tracing/precision:9"
    line += " --cfg=tracing/filename:mg.paje --cfg=smpi/host-speed:1Gf ./mg S"
    subprocess.run(line.split(), cwd=tmp_path, check=True, capture_output=True)
    found = Analysis(simgrid.read(tmp_path / "mg.paje"), {})
    sends, receives = matching.unmatched(found.events, found.messages)
    assert len(found.messages) > 1000
    assert sends.empty
    assert receives.empty
    began, ended = (found.events[name].to_numpy() for name in ("began_ns", "ended_ns"))
    assert (ended[found.messages["received"]] >= began[found.messages["send"]]).all()


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "is no trace of SimGrid's"),
        ("hello\n", "is no trace of SimGrid's"),
        (RING.read_text().replace("rank-", "host-"), "has no rank in it"),
    ],
)
def test_what_is_no_trace_gets_a_sentence(text: str, sentence: str, tmp_path: Path) -> None:
    (tmp_path / "x.paje").write_text(text)
    with pytest.raises(LabError, match=sentence):
        simgrid.read(tmp_path / "x.paje")
