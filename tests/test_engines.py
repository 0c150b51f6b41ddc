"""IPython engines on the nodes: one MPI world, cells whose mistakes are sentences, and nothing that stays behind."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook
from running import PATIENCE_S, Beowulf, wait_until
from whole_lab import run

from beowulf.cluster.common.config import ClusterConfig
from beowulf.cluster.namespaces import cluster as namespaces
from beowulf.cluster.namespaces.cluster import NamespaceCluster
from beowulf.engines import CellError, Engines, places, px
from beowulf.engines.learner_engines import Asked
from beowulf.engines.screen import CUT, MOST_SHOWN
from beowulf.errors import LabError, UsageError
from beowulf.timeline import analysis

cluster_test = pytest.mark.cluster


@pytest.fixture(scope="module")
def trio(
    tmp_path_factory: pytest.TempPathFactory, namespaces_work: None
) -> Iterator[NamespaceCluster]:
    folder = tmp_path_factory.mktemp("engines") / "state"
    yield namespaces.up(ClusterConfig(nodes=3), folder=folder)
    namespaces.down(folder=folder)


@pytest.fixture(scope="module")
def shared(trio: NamespaceCluster) -> Iterator[Engines]:
    made = Engines(trio)
    yield made
    made.stop()


@pytest.fixture
def engines(shared: Engines) -> Engines:
    """Three engines that live; a test may end them."""
    shared.timeout_s = PATIENCE_S
    return shared.start()


Begun = Callable[..., Path]


@pytest.fixture
def begun(engines: Engines, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Begun:
    """Let what a test then submits count as begun, and its time-out with it, only when these ranks have made a file."""
    submit = engines.submit

    def begun(waiting: Sequence[int], done: Sequence[int] = ()) -> Path:
        def submitted(cell: str, ranks: Sequence[int] = ()) -> Asked:
            asked = submit(cell, ranks)
            parts = dict(zip(asked.ranks, asked.result.split(), strict=True))
            files = [tmp_path / str(rank) for rank in waiting]
            wait_until(lambda: all(map(Path.exists, files)), f"{waiting} have begun")
            wait_until(lambda: all(parts[rank].done() for rank in done), f"{done} have ended")
            return asked

        monkeypatch.setattr(engines, "submit", submitted)
        return tmp_path

    return begun


def mpi_works(engines: Engines) -> bool:
    engines.run("total = world.allreduce(rank)")
    return engines.gather("total") == [3, 3, 3]


@cluster_test
def test_engines_are_one_world_with_one_rank_a_node_and_come_back_after_a_death(
    engines: Engines,
) -> None:
    who = "who = [world.rank, ranks, node, MPI.Get_processor_name(), int(np.sum([rank]))]"
    engines.run(who)
    one_a_node = [[rank, 3, f"node{rank:02}", f"node{rank:02}", rank] for rank in range(3)]
    assert engines.gather("who") == one_a_node
    assert engines.view["rank"] == [0, 1, 2]

    engines.cluster.kill("node02")  # type: ignore[attr-defined]
    with pytest.raises(CellError, match="node02 went down"):
        engines.run("world.Barrier()")
    with pytest.raises(LabError, match="node02 is down"):
        engines.start()
    engines.restart()
    engines.run(who)
    assert engines.gather("who") == one_a_node


@cluster_test
def test_what_ranks_print_comes_at_once_line_by_line_with_the_name_of_the_node(
    engines: Engines,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    engines.run('print("I am", rank)\nprint("two", "lines", sep="\\n", end="")')
    out = capsys.readouterr().out
    for rank in range(3):
        mine = [line for line in out.splitlines() if line.startswith(f"node0{rank} │ ")]
        assert [line.partition("│ ")[2] for line in mine] == [f"I am {rank}", "two", "lines"]
    engines.run("rank + 40", ranks=[2])
    assert capsys.readouterr().out == "node02 │ 42\n"
    engines.run('import sys; print("beware", file=sys.stderr)', ranks=[1])
    assert capsys.readouterr().err == "node01 │ beware\n"
    # A cell that ends when what it has printed was seen.
    file = tmp_path / "seen"
    seen = SimpleNamespace(write=lambda text: "early" in text and file.touch(), flush=file.exists)
    monkeypatch.setattr(sys, "stdout", seen)
    cell = f"import os, time\nprint('early')\nwhile not os.path.exists({str(file)!r}):\n    time.sleep(0.05)"
    engines.run(cell, ranks=[1])


@cluster_test
def test_a_cell_that_prints_ten_megabytes_is_cut_and_the_next_one_is_not(
    engines: Engines, capsys: pytest.CaptureFixture[str]
) -> None:
    engines.run('for _ in range(100_000):\n    print("x" * 99)', ranks=[1])
    shown = capsys.readouterr()
    assert MOST_SHOWN * 0.9 < len(shown.out) < MOST_SHOWN * 1.2
    assert CUT in shown.err
    engines.run('print("short")', ranks=[1])
    assert capsys.readouterr().out == "node01 │ short\n"


@cluster_test
def test_an_exception_on_one_rank_is_shown_with_its_line_and_the_engines_live(
    engines: Engines, capsys: pytest.CaptureFixture[str]
) -> None:
    sentence = "node01 (rank 1): ZeroDivisionError: division by zero, in line 2: 1 / 0"
    with pytest.raises(CellError) as caught:
        engines.run("if rank == 1:\n    1 / 0")
    assert sentence in caught.value.message
    assert sentence in capsys.readouterr().err
    # It was shown already: what the notebook adds is one line.
    assert caught.value._render_traceback_() == ["1 of 3 ranks raised an exception."]
    assert mpi_works(engines)


MISTAKES = {
    "print(1\n": "SyntaxError: .*, in line 1: print",
    "def half(x):\n    return x / unknown\n\nhalf(1)": "NameError: .* in line 2 of half: return x / unknown",
    "%nothing": "UsageError",
    "raise ValueError": r"\(rank 0\): ValueError, in line 1: raise ValueError",
    "import sys; sys.exit(3)": "SystemExit",
}


@cluster_test
def test_every_kind_of_mistake_is_a_sentence(engines: Engines) -> None:
    for cell, said in MISTAKES.items():
        with pytest.raises(CellError, match=said):
            engines.run(cell)
    assert mpi_works(engines)


@cluster_test
def test_when_one_rank_raises_and_others_wait_it_is_said_where_and_all_engines_end(
    engines: Engines, tmp_path: Path
) -> None:
    # The one raises its exception when the others have come to the line in which they wait.
    cell = f"""
import os, time
if rank == 1:
    while not (os.path.exists("{tmp_path}/0") and os.path.exists("{tmp_path}/2")):
        time.sleep(0.05)
    raise KeyError("x")
open(f"{tmp_path}/{{rank}}", "w") and world.Barrier()
"""
    with pytest.raises(CellError) as caught:
        engines.run(cell)
    said = caught.value.message
    assert "node01 (rank 1): KeyError: 'x', in line 5" in said
    assert "node00 (rank 0) waits in line 6: open(" in said
    assert "node02 (rank 2) waits in line 6: open(" in said
    assert not engines.alive
    with pytest.raises(LabError, match=r"The engines were ended.*`engines\.restart\(\)`"):
        engines.run("1")


@pytest.mark.nightly
@cluster_test
@pytest.mark.parametrize(
    ("end", "said"),
    [
        ("import os\nrank == 1 and os._exit(3)", r"node01 \(rank 1\) ended with exit code 3"),
        ("import os\nrank == 1 and os.kill(os.getpid(), 11)", r"node01 \(rank 1\).*Segmentation fault"),
        ("rank == 2 and world.Abort(7)", r"exit code 7, as `Abort` does"),
    ],
)  # fmt: skip
def test_a_rank_that_ends_is_named_with_how_it_ended(engines: Engines, end: str, said: str) -> None:
    with pytest.raises(CellError, match=said):
        engines.run(f"{end}\nworld.Barrier()")
    with pytest.raises(LabError, match="restart"):
        engines.run("1")


@cluster_test
def test_functions_are_called_on_all_ranks_and_their_answers_come_by_rank(
    engines: Engines,
) -> None:
    engines.run("def times(x):\n    return [x * rank, np.arange(rank)]\n\ny = np.eye(2)[0]\n")
    given = engines.call("times", 2)
    assert [each[0] for each in given] == [0, 2, 4]
    assert engines.source("times").startswith("def times(x):")
    assert engines.gather("y") == [[1.0, 0.0]] * 3
    with pytest.raises(LabError, match=r"On node00 \(rank 0\) there is no function twice"):
        engines.call("twice")
    with pytest.raises(LabError, match="there is no z"):
        engines.gather("z")
    with pytest.raises(LabError, match="world is a Intracomm"):
        engines.gather("world")
    with pytest.raises(CellError, match=r"TypeError.*in line"):
        engines.run("times()")
    with pytest.raises(CellError, match="TypeError"):
        engines.call("times", "a", "b")


@cluster_test
def test_a_cell_is_recorded_up_to_an_exception_and_the_next_one_is_not(
    engines: Engines, tmp_path: Path
) -> None:
    def called(folder: Path) -> list[str]:
        rank = analysis.read(folder).trace.ranks[0]
        return [rank.calls[call] for call in rank.events["call"]]

    engines.run("world.Barrier()")
    for tag in (5, 6):
        with engines.recorded(folder := tmp_path / "cell.trace"):
            engines.run(
                f"to = rank ^ 1\nif to < 2: world.send(1, to, {tag}); world.recv(tag={tag})"
            )
        engines.run("world.Barrier()")
        found = analysis.read(folder)
        assert found.warnings == []
        sent = found.messages[["source", "tag"]].to_numpy().tolist()
        assert sorted(sent) == [[0, tag], [1, tag]]
        assert "MPI_Barrier" not in called(folder)
    with pytest.raises(CellError), engines.recorded(folder := tmp_path / "x.trace"):
        engines.run("world.Barrier(); 1 / 0")
    assert called(folder).count("MPI_Barrier") == 1
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(LabError, match="has other files in it"), engines.recorded(tmp_path):
        engines.run("world.Barrier()")
    assert (tmp_path / "mine.txt").read_text() == "mine"


@pytest.fixture
def shell() -> Iterator[Any]:
    from IPython.core.interactiveshell import InteractiveShell

    yield InteractiveShell.instance()
    InteractiveShell.clear_instance()


def test_px_without_engines_says_which_line_starts_them(shell: Any) -> None:
    px.announce()
    for call in (
        lambda: shell.run_cell_magic("px", "", "1"),
        lambda: shell.run_line_magic("px", "1"),
    ):
        with pytest.raises(LabError, match=r"No engines are running.*start_engines\(cluster\)"):
            call()


# Rank 0 waits for rank 1, which has an endless loop; rank 2 is done.
DEADLOCK = """\
if rank == 0:
    get(1)
elif rank == 1:
    open("{file}", "w")
    while True:
        pass
"""


@cluster_test
def test_px_knows_targets_and_where_ranks_are_that_do_not_end(
    engines: Engines, begun: Begun, shell: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    px.register(engines)

    def cell(options: str, text: str) -> str:
        shell.run_cell_magic("px", options, text)
        return capsys.readouterr().out

    printed = cell("--targets 0,2", "print(rank)").splitlines()  # as they come
    assert sorted(printed) == ["node00 │ 0", "node02 │ 2"]
    assert cell("-t 1:", "print(rank)").count("│") == 2
    # The line of the notebook's cell, in which `%%px` is the first.
    with pytest.raises(CellError, match=r"ZeroDivisionError: .*in line 2: 1 / 0"):
        cell("-t 1", "1 / 0")
    capsys.readouterr()
    shell.run_line_magic("px", 'print(f"{node}")')
    assert "node02 │ node02" in capsys.readouterr().out
    with pytest.raises(UsageError, match=r"unrecognized arguments: --colour"):
        cell("--colour", "1")
    assert "Wall time" in cell("-t 0", "%%time\nx = 1")
    here = begun(waiting=(), done=(0, 1, 2))
    cell("", f'def get(source):\n    return open("{here}/0", "w") and world.recv(source=source)\n')
    begun(waiting=(0, 1), done=(2,))
    with pytest.raises(CellError) as caught:
        cell("--timeout 1", DEADLOCK.format(file=here / "1"))
    said = caught.value.message
    assert "did not end within 1 s" in said
    assert f'node00 (rank 0) waits in line 3 of get: return open("{here}'[:70] in said
    assert "node01 (rank 1) is in line" in said
    assert "node02" not in said
    assert "`engines.restart()`" in caught.value.hint


@pytest.mark.parametrize(
    ("text", "chosen"), [("all", ()), ("0,2", (0, 2)), ("::2", (0, 2)), ("-1", (3,))]
)
def test_targets_are_ranks_as_in_ipyparallel(text: str, chosen: tuple[int, ...]) -> None:
    assert px.ranks(text, 4) == chosen


@pytest.mark.parametrize("text", ["4", "a", "4:", ","])
def test_targets_that_are_no_ranks_are_refused(text: str) -> None:
    with pytest.raises(UsageError, match="names no ranks; the ranks are 0 to 3"):
        px.ranks(text, 4)


DUMP = """\
Thread 0x00007f0000000002 (most recent call first):
  File "/usr/lib/python3.11/threading.py", line 324 in wait

Current thread 0x00007f0000000001 (most recent call first):
  File "/usr/lib/python3.11/site-packages/mpi4py/more.py", line 9 in deep
  File "/tmp/ipykernel_35/123.py", line 2 in get
  File "/tmp/ipykernel_35/456.py", line 1 in <module>
  File "/usr/lib/python3.11/site-packages/IPython/core/interactiveshell.py", line 3 in run_code
"""


def test_the_innermost_line_of_a_cell_is_found_in_what_python_prints() -> None:
    cells = {"123.py": "def get():\n    world.recv()", "456.py": "get()"}
    place = places.read(DUMP, 0x7F0000000001, cells)
    assert place.sentence == "waits in line 2 of get: world.recv()"
    assert places.read(DUMP, 0x7F0000000001, {}).sentence == "is in line 2 of get"
    assert places.read(DUMP, 0x7F0000000002, cells).sentence == "is in no line of yours"
    assert places.read("", 1, cells).sentence == "has not ended"


def test_a_call_that_waits_is_distinguished_from_one_that_computes() -> None:
    for text in ("request.wait()", "MPI.Request.Waitall([a, b])", "x = world.allreduce(1)"):
        assert places.Place(1, "", text).sentence.startswith("waits")
    assert places.Place(1, "", "np.sum(received)").sentence.startswith("is in")


SCRIPT = """
import sys, time
from beowulf.cluster import running
from beowulf.engines import start_engines
engines = start_engines(running())
print("started", flush=True)
{rest}
"""
STOPPED_AND_TAKEN_DOWN = """
def tried(cell):
    try:
        engines.run(cell)
    except Exception as problem:
        print(problem, flush=True)

print("now", flush=True)
tried("if rank == 1:\\n    world.recv()")
engines.restart()
tried("print(world.allreduce(1))")
print("again", flush=True)
while not __import__("os").path.exists("down"):
    time.sleep(0.1)
tried("1")
tried("1")
"""
FOLDER = re.compile(r"/tmp/beowulf-engines-\w+")


def left(learner: Beowulf) -> list[str]:
    return [words for words in learner.processes() if "ipyparallel" in words]


def script(learner: Beowulf, rest: str) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [sys.executable, "-c", SCRIPT.format(rest=rest)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        cwd=learner.here,
        env=learner.environment,
        start_new_session=True,
    )
    assert process.stdout
    said = ""
    for line in process.stdout:
        said += line
        if line == "started\n":
            return process
    raise AssertionError(said)


@cluster_test
def test_nothing_stays_when_the_process_that_has_started_engines_is_killed(
    at_cluster: Beowulf,
) -> None:
    process = script(at_cluster, "time.sleep(1000)")
    folders = {Path(name) for words in left(at_cluster) for name in FOLDER.findall(words)}
    assert folders
    process.kill()
    process.wait(PATIENCE_S)
    wait_until(lambda: not left(at_cluster), "controller and engines end")
    wait_until(lambda: not any(map(Path.exists, folders)), "their files are gone")


@pytest.mark.nightly
@cluster_test
def test_ctrl_c_says_where_ranks_are_and_engines_come_back_until_the_cluster_is_taken_down(
    beowulf: Beowulf,
) -> None:
    beowulf("up", "--nodes", "2")
    process = script(beowulf, STOPPED_AND_TAKEN_DOWN)
    assert process.stdout
    assert process.stdout.readline() == "now\n"
    time.sleep(1.0)  # it may be anywhere in the cell, and after a second it waits there
    os.kill(process.pid, signal.SIGINT)
    said = ""
    for line in process.stdout:
        said += line
        if line == "again\n":
            break
    assert "It was stopped." in said
    assert "node01 (rank 1) waits in line 2: world.recv()" in said
    assert "node00 │ 2" in said
    beowulf("down")
    wait_until(lambda: not left(beowulf), "controller and engines end")
    (beowulf.here / "down").touch()
    said, _ = process.communicate(timeout=PATIENCE_S)
    assert said.count("The cluster was taken down, and the engines with it.") == 2
    assert said.count("`engines.restart()`") == 2
    assert "Traceback" not in said


@pytest.mark.nightly
@cluster_test
def test_a_notebook_shows_drawings_by_node_and_mistakes_as_sentences(
    at_cluster: Beowulf, tmp_path: Path
) -> None:
    cells = [
        "from beowulf import connect, start_engines\ncluster = connect()",
        "%%px\n1",
        "engines = start_engines(cluster)\nassert start_engines(cluster, timeout_s=7) is engines",
        "%%px --targets 2\nimport matplotlib.pyplot as plt\nplt.plot([rank, 1])\nplt.show()",
        "%%px\nif rank == 3:\n    1 / 0",
        "%%px --timeout 1\nif rank == 0:\n    world.recv()",
        "%%px\n1",
    ]
    notebook = tmp_path / "cells.ipynb"
    nbformat.write(new_notebook(cells=[new_code_cell(cell) for cell in cells]), notebook)
    run(at_cluster, notebook, "--allow-errors")
    read: Any = nbformat.read(notebook, as_version=4)
    _, none, start, drawn, one, stuck, ended = [list(cell.outputs) for cell in read.cells]

    def said(outputs: list[Any]) -> str:
        texts = [out.get("text", "") or "\n".join(out.get("traceback", [])) for out in outputs]
        return "\n".join(map(str, texts))

    assert "No engines are running" in said(none)
    assert "node03 is rank 3" in said(start)
    assert any("image/png" in out.get("data", {}) for out in drawn)
    assert "node02 │" in said(drawn)
    sentence = "node03 (rank 3): ZeroDivisionError: division by zero, in line 3: 1 / 0"
    assert said(one).count(sentence) == 1
    assert "1 of 4 ranks raised an exception." in said(one)
    assert "node00 (rank 0) waits in line 3: world.recv()" in said(stuck)
    assert "The engines were ended: it did not end within 1 s" in said(ended)
    assert not any("beowulf/engines" in said(out) for out in (none, one, stuck, ended))
