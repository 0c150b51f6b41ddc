"""Does the image bring what the labs call, and does a container that forbids namespaces get a sentence?"""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from beowulf import doctor, paths

RECIPE = (paths.root() / "Containerfile").read_text()
DEV_CONTAINER = paths.root() / ".devcontainer" / "devcontainer.json"


def test_the_image_has_the_packages_of_the_table_and_names_none_itself() -> None:
    groups = set(re.findall(r'\$3 == "(\w+)"', RECIPE))
    packages = {tool.package for tool in doctor.tools() if tool.group in groups}
    assert groups == {"lab", doctor.SUITES}
    assert {"openssh-server", "iproute2", "tshark"} <= packages
    assert not [package for package in packages if re.search(rf"\s{package}\s", RECIPE)]


def test_the_containers_first_process_is_the_one_that_ctrl_c_ends() -> None:
    """Without a terminal the signal reaches that process alone, and make would not pass it on."""
    assert RECIPE.rpartition("\nCMD ")[2] == '[".venv/bin/beowulf", "lab"]\n'


def test_no_host_is_named_from_which_packages_come() -> None:
    for text in (RECIPE, DEV_CONTAINER.read_text()):
        assert "://" not in text
        assert "index" not in text


def test_an_editors_container_is_built_of_the_recipe_and_started_as_doctor_says() -> None:
    made = json.loads(DEV_CONTAINER.read_text())
    recipe = (DEV_CONTAINER.parent / made["build"]["dockerfile"]).resolve()
    assert recipe == paths.root() / "Containerfile"
    assert f"AS {made['build']['target']}\n" in RECIPE
    assert f"useradd --create-home --shell /bin/bash {made['remoteUser']}" in RECIPE
    assert " ".join(made["runArgs"]) == doctor.CONTAINER_OPTIONS
    assert doctor.CONTAINER_OPTIONS in (paths.root() / "docs" / "learner.md").read_text()


def test_a_container_that_forbids_namespaces_is_told_how_it_is_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(doctor, "SWITCHES", tmp_path)
    assert doctor.CONTAINER_OPTIONS in doctor._why_not()
