"""Is every command explained, its exit code 0, 1 or 2, and each mistake answered by a sentence?"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
from running import PATIENCE_S, Beowulf, app, first
from typer.testing import CliRunner

from beowulf import paths
from beowulf.cli import studies
from beowulf.cli.commands import command as built
from beowulf.record import Point, Record
from beowulf.studies import find, known, titles


def commands(group: Any = None, *path: str) -> Iterator[tuple[str, ...]]:
    """Every command, as the words that call it."""
    group = group or typer.main.get_command(app)
    for name, command in sorted(group.commands.items()):
        if hasattr(command, "commands"):
            yield from commands(command, *path, name)
        else:
            yield (*path, name)


COMMANDS = list(commands())


@pytest.fixture
def learner(tmp_path: Path) -> Beowulf:
    """A learner without a cluster."""
    return Beowulf(tmp_path / "state", tmp_path)


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_a_command_explains_itself_with_an_example_that_is_one(words: tuple[str, ...]) -> None:
    said = CliRunner().invoke(app, [*words, "--help"], env={"COLUMNS": "200"})
    assert said.exit_code == 0
    example = re.search(r"Example: (.+)", said.output)
    assert example, said.output
    called = example[1].split()
    assert tuple(called[: len(words) + 1]) == ("beowulf", *words)


def test_only_what_is_called_is_built_and_all_where_nothing_is_named() -> None:
    assert names(["class", "grade", "--help"]) == {("class", "grade")}
    assert names(["status"]) == {("status",)}
    for words in ([], ["nonsense"], ["--help", "up"]):
        assert names(words) == set(COMMANDS)


def names(words: list[str]) -> set[tuple[str, ...]]:
    """The commands that are built for these words."""
    return set(commands(built(words)))


def test_the_version_is_that_of_the_package(learner: Beowulf) -> None:
    (version,) = re.findall(
        r'^version = "(.+)"$', (paths.root() / "pyproject.toml").read_text(), re.M
    )
    assert version in learner("--version")


@pytest.mark.parametrize("words", [("study",), ("study", "-h")])
def test_the_studies_are_listed_by_lab_with_their_titles(
    learner: Beowulf, words: tuple[str, ...]
) -> None:
    said = learner(*words, code=None)
    lines = [line for line in said.splitlines() if re.match(r"Lab \d\d: |  [A-Z]\d", line)]
    assert lines[:4] == [
        "Lab 01: Validation",
        "  A1  Building: what is this cluster made of?",
        "  A2  Validation: is this a cluster?",
        "  A5  The idle wire: what it carries when nothing runs",
    ]
    assert {line.split()[0] for line in lines} == {"Lab", *known()}
    assert titles() == {each: find(each).title for each in known()}
    labs = [line for line in lines if line.startswith("Lab")]
    assert labs == sorted(labs)


@pytest.mark.parametrize(
    ("loading", "heavy"),
    [
        (
            "from beowulf.cli.commands import put_together; put_together()",
            "numpy pandas matplotlib nbgrader nbformat jupyter_server IPython jsonschema mpi4py",
        ),
        (
            "from beowulf.cli.commands import command; command(['up'])",
            "autograder beowulf.cli.studies beowulf.cli.suites beowulf.course",
        ),
        ("import beowulf.cluster.namespaces.cluster", "yaml importlib.metadata beowulf.course"),
    ],
)
def test_no_command_loads_what_only_others_need(loading: str, heavy: str) -> None:
    code = f"import sys; {loading}; print([m for m in {heavy.split()} if m in sys.modules])"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert said.stdout == "[]\n"


@pytest.mark.parametrize(
    ("words", "sentence"),
    first(7, [
        ("nonsense", "nonsense"),
        ("up --speed 9", "--speed"),
        ("up --nodes many", "--nodes"),
        ("up --nodes 17", "A local cluster has 2 to 16 nodes, not 17."),
        ("down everything", "everything"),
        ("claims Z9", "There is no study 'Z9'."),
        ("run", "PROGRAM"),
        ("suite search --class A", "`--class` is for NPB."),
        ("suite EP --size 960", "`--size` is for hpl and hpcc."),
    ]),
)  # fmt: skip
def test_a_wrong_argument_is_answered_with_exit_code_2(
    learner: Beowulf, words: str, sentence: str
) -> None:
    said = learner(*words.split(), code=2)
    assert sentence.lower() in said.lower()
    assert "env var" not in said, "no option is read from the environment"
    assert not learner.state.exists(), "something was booted"


@pytest.mark.parametrize(
    "words", first(2, ["run /bin/true", "status", "validate", "ssh node00 true", "study A2"])
)
def test_without_a_cluster_a_command_says_what_boots_one(learner: Beowulf, words: str) -> None:
    said = learner(*words.split(), code=1)
    assert said == "beowulf: No cluster is running. `beowulf up` boots one.\n"
    assert list(learner.here.iterdir()) == [learner.temporary]


def test_without_a_cluster_there_is_nothing_to_take_down_or_to_list(learner: Beowulf) -> None:
    assert learner("down") == "No cluster was running.\n"
    assert json.loads(learner("status", "--json", code=1)) == {"running": False, "nodes": []}


def test_claims_and_show_without_a_record_say_what_measures_one(learner: Beowulf) -> None:
    for command in ("claims", "show"):
        said = learner(command, "A2", code=1)
        assert "There is no Record of study A2 in records." in said
        assert "`beowulf study A2` measures one" in said


def test_a_spoiled_record_is_refused_by_its_name(learner: Beowulf) -> None:
    folder = learner.here / "records"
    folder.mkdir()
    (folder / "A2-20260101T000000Z.json").write_text('{"kind": "record", "schema": 1, "poi')
    for command in ("claims", "show"):
        assert "A2-20260101T000000Z.json" in learner(command, "A2", code=1)


def test_neither_show_nor_claims_prints_the_rate_that_lab_01_lets_the_learner_compute(
    tmp_path: Path,
) -> None:
    wire = {"elapsed_s": 60.0, "packets": 7, "bytes": 4321, "mbit_per_s": 0.000576133}
    rate = {"rate": "100mbit"}
    Record("A5", points=[Point({"where": "switch"}, facts=wire)], cluster=rate).save_in(tmp_path)

    def said(*words: str) -> str:
        return CliRunner().invoke(app, [*words, "A5", "--records", str(tmp_path)]).output

    for command, sent in (("show", "bytes: 4321"), ("claims", "4,321 bytes in 60 s")):
        assert sent in said(command)
        assert "0.00057" not in said(command)
    assert "mbit_per_s" in said("show", "--json")


@pytest.mark.cluster
def test_plain_data_are_plain_data(at_cluster: Beowulf) -> None:
    status = json.loads(at_cluster("status", "--json"))
    assert status["running"]
    assert [node["state"] for node in status["nodes"]] == ["up"] * 4
    assert (status["rate"], status["networks"], status["mpi"]) == ("100mbit", 1, "classic")
    assert {check["name"] for check in json.loads(at_cluster("doctor", "--json", code=None))}


@pytest.mark.cluster
def test_output_that_a_full_disk_refuses_is_a_sentence(at_cluster: Beowulf) -> None:
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            at_cluster.words("status"),
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            env=at_cluster.environment,
            timeout=PATIENCE_S,
        )
    assert done.returncode == 1
    assert done.stderr == "beowulf: What is to be printed: No space left on device.\n"


@pytest.mark.cluster
def test_a_reader_that_has_seen_enough_or_is_not_there_hears_no_complaint(
    at_cluster: Beowulf,
) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    for words, output in (
        (at_cluster.words("status"), writing),
        (at_cluster.words("--help"), writing),
        (["bash", "-c", 'exec "$@" >&-', "x", *at_cluster.words("status")], None),
    ):
        done = subprocess.run(
            words, stdout=output, stderr=subprocess.PIPE, text=True, env=at_cluster.environment
        )
        assert done.stderr == ""
        assert done.returncode in (0, 1)
    os.close(writing)
    assert done.returncode == 0


def test_a_measurement_that_was_cut_short_says_why_and_ends_with_1(
    capsys: pytest.CaptureFixture[str],
) -> None:
    studies.report_incomplete(Record("A4"))
    why = "The measurement was cut short: node02 went down."
    with pytest.raises(typer.Exit) as end:
        studies.report_incomplete(Record("A4", warnings=[why], complete=False))
    assert end.value.exit_code == 1
    assert capsys.readouterr().err == f"beowulf: {why}\n"


def test_a_user_without_home_and_name_hears_no_traceback(learner: Beowulf) -> None:
    bare = {"PATH": os.environ["PATH"]}
    done = subprocess.run(
        learner.words("status"), env=bare, cwd=learner.here, capture_output=True, text=True
    )
    assert done.returncode in (0, 1)
    assert "Traceback" not in done.stderr


@pytest.mark.cluster
def test_what_module_systems_set_for_another_python_is_not_for_ours(
    beowulf: Beowulf, tmp_path: Path
) -> None:
    foreign = tmp_path / "foreign"
    foreign.mkdir()
    for name in ("typer", "numpy", "json"):
        (foreign / f"{name}.py").write_text("raise SystemExit('another package of that name')")
    set_by_others = {"PYTHONPATH": str(foreign), "PYTHONHOME": str(foreign)}
    beowulf("up", "--nodes", "2", **set_by_others)
    (tmp_path / ".bashrc").write_text(
        "".join(f"export {name}={value}\n" for name, value in set_by_others.items())
    )
    # A learner's terminal on a node reads the start-up file.
    ask = f"HOME={tmp_path} bash --rcfile {beowulf.state}/etc/bashrc -i -c 'python -c \"import numpy; print(numpy.e)\"'"
    assert beowulf("ssh", "node00", ask, **set_by_others).endswith("2.718281828459045\n")


def test_the_state_folder_is_where_other_programs_keep_theirs(beowulf: Beowulf) -> None:
    del beowulf.environment["BEOWULF_STATE"]
    beowulf.environment["XDG_STATE_HOME"] = str(beowulf.state)
    beowulf.state = beowulf.state / "beowulf"
    beowulf("up", "--nodes", "2")
    assert str(beowulf.state) in beowulf("status")
    assert (beowulf.state / "cluster.json").exists()
    assert beowulf.state.stat().st_mode & 0o077 == 0, "others may look at the cluster's keys"
