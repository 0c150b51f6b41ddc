"""Lab 07's exercise in Python: is a right knob distinguished from a wrong one, measured, and always put back?"""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest
from running import PATIENCE_S, Beowulf, first
from solutions import EARLY_DEMUX, KNOB

from beowulf import paths
from beowulf.cluster.common.shells import completed
from beowulf.cluster.namespaces.cluster import NamespaceCluster
from beowulf.errors import LabError
from beowulf.exercises import file_functions
from beowulf.labs.lab_07 import by_lot, own_knob
from beowulf.record import newest
from beowulf.tuning.ab_comparison import Length
from beowulf.tuning.change import changing
from beowulf.tuning.knobs import ALL

HANDED_OUT = paths.root() / "labs" / "07-latency-tuning" / "knob.py"
SHORT = Length(blocks=1, most_blocks=1, samples=3)


def written(folder: Path, **parts: str) -> Path:
    """The handed-out file with these parts in place of its `...`."""
    head, *bodies = HANDED_OUT.read_text().split("        return ...\n")
    values = "(..., ...)"
    assert head.count(values) == 1
    text = head.replace(values, parts.get("values", values))
    for name, rest in zip(("look", "set", "back"), bodies, strict=True):
        text += f"        return {parts.get(name, '...')}\n{rest}"
    source = folder / "knob.py"
    source.write_text(text)
    return source


@pytest.fixture
def lab_folder(tmp_path: Path, records: Path) -> Path:
    """A learner's folder."""
    return tmp_path


def settings(cluster: NamespaceCluster, file: str = EARLY_DEMUX) -> dict[str, str]:
    return {node: cluster.administer(node, f"cat {file}").stdout for node in cluster.nodes}


@pytest.mark.cluster
@pytest.mark.parametrize("setting", first(1, by_lot.SETTINGS))
def test_a_right_knob_of_any_setting_that_may_be_drawn_is_turned_measured_and_put_back(
    lab_folder: Path, cluster: NamespaceCluster, setting: str
) -> None:
    file = "/proc/sys/" + setting.replace(".", "/")
    parts = KNOB | {"look": f'"cat {file}"', "set": f'f"echo {{value}} >{file}"'}
    before = settings(cluster, file)
    record = own_knob.measure(cluster, written(lab_folder, **parts), length=SHORT)
    assert settings(cluster, file) == before
    turns = own_knob.turns(record)
    assert [(point.at["from"], point.at["turn"]) for point in turns] == [
        *(("as found", "0"), ("as found", "1"), ("0", "1"), ("1", "0"))
    ]
    assert all(own_knob.takes(point) and own_knob.exact(point) for point in turns)
    assert [line.split()[-1] for line in own_knob.lines(turns)] == ["right"] * 4
    assert (record.study, record.variant, record.complete) == ("E7", "own-knob", True)
    assert record.program["name"] == "knob.py"
    assert own_knob.setting(record) == setting
    assert own_knob.stays(record)[1] in ("0", "1")
    assert newest(lab_folder / "records", "E7", "own-knob") == record


# Turns the knob of a file, and is killed when the new value is in on one node.
KILLED = """
import os, signal, sys
from beowulf.cluster import running
from beowulf.labs.lab_07 import own_knob

def killed(cluster, scripts, method):
    if method == "set":
        one = dict(list(scripts.items())[:1])
        everywhere(cluster, one, method)
        os.kill(os.getpid(), signal.SIGKILL)
    return everywhere(cluster, scripts, method)

everywhere, own_knob._everywhere = own_knob._everywhere, killed
own_knob.measure(running(), sys.argv[1])
"""


@pytest.mark.nightly
@pytest.mark.cluster
@pytest.mark.parametrize(
    "back", first(1, [f'"echo 0 >{EARLY_DEMUX}"', KNOB["back"]]), ids=["wrong", "right"]
)
def test_what_a_killed_exercise_left_is_put_back_without_its_file(
    at_cluster: Beowulf, cluster: NamespaceCluster, back: str
) -> None:
    """Also where `back` is wrong: then `set` makes what was there."""
    source = written(at_cluster.here, **KNOB | {"back": back})
    before = settings(cluster)
    python = str(paths.python_bin() / "python")
    done = subprocess.run(
        [python, "-c", KILLED, str(source)],
        cwd=at_cluster.here,
        env=at_cluster.environment,
        timeout=PATIENCE_S,
    )
    assert done.returncode == -signal.SIGKILL
    source.unlink()
    after = settings(cluster)
    assert [node for node in cluster.nodes if after[node] != before[node]] == [cluster.nodes[0]]
    assert "Changed: my-knob." in at_cluster("tune")
    assert at_cluster("tune", "revert") == "Undone: my-knob 0 or 1.\n"
    assert settings(cluster) == before
    assert "my-knob" in at_cluster("tune", "log")
    assert at_cluster("tune", "revert") == "There was nothing to undo.\n"


@pytest.mark.cluster
def test_nobody_else_turns_a_knob_meanwhile(lab_folder: Path, cluster: NamespaceCluster) -> None:
    source = written(lab_folder, **KNOB)
    with (
        changing(cluster, [(ALL["firewall"], "10")]),
        pytest.raises(LabError, match="turning knobs"),
    ):
        own_knob.measure(cluster, source, length=SHORT)


@pytest.mark.cluster
@pytest.mark.parametrize(
    ("part", "body", "said"),
    first(1, [
        ("back", f'"echo 0 >{EARLY_DEMUX}"', "back('1'): afterwards look prints '0'"),
        ("set", f'f"echo 1 >{EARLY_DEMUX}"', "set('0'): afterwards look prints '1'"),
    ]),
    ids=["another value back", "a value that does not take"],
)  # fmt: skip
def test_a_wrong_knob_is_named_and_what_was_there_is_there_again(
    lab_folder: Path, cluster: NamespaceCluster, part: str, body: str, said: str
) -> None:
    before = settings(cluster)
    record = own_knob.measure(cluster, written(lab_folder, **KNOB | {part: body}), length=SHORT)
    assert settings(cluster) == before
    assert said in "\n".join(own_knob.lines(own_knob.turns(record)))


@pytest.mark.cluster
def test_a_look_that_prints_more_than_the_value_leaves_nothing_that_cannot_be_put_back(
    lab_folder: Path, cluster: NamespaceCluster
) -> None:
    before = settings(cluster)
    source = written(lab_folder, **KNOB | {"look": '"sysctl net.ipv4.ip_early_demux"'})
    with pytest.raises(LabError, match="the lines of `back` fail"):
        own_knob.measure(cluster, source, length=SHORT)
    assert settings(cluster) == before
    own_knob.measure(cluster, written(lab_folder, **KNOB), length=SHORT)


@pytest.mark.cluster
@pytest.mark.parametrize(
    ("part", "body", "said"),
    [
        ("look", '"cat /no/such/file"', r"On node0., the lines of `look` fail: .*No such file"),
        ("look", '"true"', "`look` prints nothing on node0"),
        ("set", "7", "set: it gives no lines of shell, but int"),
        ("set", "value + 1", "set: TypeError"),
        ("back", "...", "back: it is not written yet"),
    ],
)
def test_a_knob_that_cannot_be_used_is_refused_and_nothing_is_kept(
    lab_folder: Path, cluster: NamespaceCluster, part: str, body: str, said: str
) -> None:
    before = settings(cluster)
    with pytest.raises(LabError, match=said):
        own_knob.measure(cluster, written(lab_folder, **KNOB | {part: body}), length=SHORT)
    assert not list((lab_folder / "records").glob("*.json"))
    assert settings(cluster) == before


@pytest.mark.cluster
def test_the_file_says_in_a_terminal_what_is_right(at_cluster: Beowulf) -> None:
    source = written(at_cluster.here, **KNOB)
    words = ["env", f"BEOWULF_STATE={at_cluster.state}", sys.executable, str(source)]
    done = completed(words, "", PATIENCE_S, "")
    assert (done.returncode, done.stderr, done.stdout.count("right")) == (0, "", 4)
    assert "as found -> 0" in done.stdout


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (HANDED_OUT.read_text(), "values are not written yet"),
        ("class Mine:\n    values = ('1',)", "`values` must be two texts"),
        ("class Mine:\n    values = ('1', ' 1')", "both values are 1"),
        ("Mine = 3", "no class Mine with two values"),
        ("class Mine:\n    def __init__(self, x): pass", "no class Mine .*: TypeError"),
    ],
)
def test_a_class_that_is_not_whole_is_refused(tmp_path: Path, text: str, said: str) -> None:
    source = tmp_path / "knob.py"
    source.write_text(text)
    with pytest.raises(LabError, match=said):
        own_knob.read(file_functions.functions(source), source.name)
