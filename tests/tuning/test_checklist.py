"""Paper E's checklist: does it find the node that is unlike, and what is not the newest?"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from running import Beowulf
from tune_in_process import set_, tune

from beowulf.tuning import checklist


@pytest.mark.cluster
def test_the_checklist_finds_the_node_that_differs(learner: Beowulf) -> None:
    found = {each.question.name: each for each in checklist.ask(learner.cluster)}
    assert found["driver"].by_node["node00"].startswith("veth")
    newest = found["newest"].by_node["node00"]
    assert newest == "yes" or newest.startswith(("no: ", "part of the kernel")), newest
    assert all(each.agree and each.as_wanted for each in found.values()), found
    set_(learner, "firewall", "10")
    learner.cluster.administer("node01", "nft flush ruleset")
    asked = {each.question.name: each for each in checklist.ask(learner.cluster)}
    assert asked["firewall"].by_node == {"node00": "10", "node01": "none"}
    assert not asked["firewall"].agree
    assert not asked["firewall"].as_wanted
    assert asked["kernel"].agree
    assert set(asked["rebooted since"].by_node.values()) == {"no"}
    said = tune(learner)
    assert "Changed: firewall." in said
    assert "DIFFERS: 10, but node01 none" in said
    tune(learner, "revert")


# A module's version, a kernel and what is installed of both, in the words of the tools that tell.
TOOLS = """
ethtool() { echo 'driver: e1000e'; }
modinfo() { echo "$INSTALLED"; }
uname() { echo 6.1.0-28; }
"""


@pytest.mark.parametrize(
    ("runs", "installed", "kernels", "answer"),
    [
        ("3.8.4", "3.8.4", ["6.1.0-9", "6.1.0-28"], "yes"),
        ("3.8.4", "3.8.7", ["6.1.0-28"], "no: 3.8.7 is installed, 3.8.4 runs"),
        ("", "", ["6.1.0-28", "6.1.0-31"], "no: the kernel 6.1.0-31 is installed, 6.1.0-28 runs"),
        ("", "", [], "part of the kernel, whose modules are not installed here"),
    ],
)
def test_the_checklist_knows_the_newest_driver_that_is_installed(
    tmp_path: Path, runs: str, installed: str, kernels: list[str], answer: str
) -> None:
    module = tmp_path / "module" / "e1000e"
    module.mkdir(parents=True)
    if runs:
        (module / "version").write_text(runs + "\n")
    for kernel in kernels:
        (tmp_path / "modules" / kernel).mkdir(parents=True)
    lines = checklist.NEWEST.replace("/sys/module", str(tmp_path / "module"))
    lines = lines.replace("/lib/modules", str(tmp_path / "modules"))
    done = subprocess.run(
        ["bash", "--norc", "-u"],
        input=TOOLS + lines,
        capture_output=True,
        text=True,
        env={**os.environ, "INSTALLED": installed},
    )
    assert (done.stdout.strip(), done.stderr) == (answer, "")
