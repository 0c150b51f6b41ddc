"""Does `beowulf doctor` look at all that commands use and say how to fix what is missing? And a container?"""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from other_user import UID
from running import Beowulf

from beowulf import paths
from beowulf.desk import doctor


@pytest.fixture
def learner(tmp_path: Path) -> Beowulf:
    return Beowulf(tmp_path / "state", tmp_path)


def checks(learner: Beowulf, code: int | None = None) -> dict[str, dict[str, object]]:
    return {check["name"]: check for check in json.loads(learner("doctor", "--json", code=code))}


@pytest.mark.cluster
def test_this_machine_can_run_the_labs(learner: Beowulf) -> None:
    said = learner("doctor", code=None)
    lines = said.splitlines()
    assert all(re.match(r"(ok|MISSING|absent) +\S", line) for line in lines[:-1])
    assert len(lines) > 20
    ill = [line for line in lines if line.startswith("MISSING")]
    assert ill == [], "\n".join(ill)
    assert "This machine can run the labs" in said
    for tool in doctor.tools():
        if tool.group == "lab":
            (line,) = [line for line in lines if f"  {tool.package}: " in line]
            assert tool.name in line


@pytest.mark.cluster
def test_a_missing_tool_or_header_is_named_with_the_package_that_brings_it(
    learner: Beowulf, private_mounts: tuple[str, ...]
) -> None:
    gone = ("hide:/usr/sbin/sshd", "tmpfs:4k:/usr/include")
    said = Beowulf(learner.state, learner.here, (*private_mounts, *gone))("doctor", code=1)
    line = next(line for line in said.splitlines() if "  openssh-server: missing" in line)
    assert line.startswith("MISSING")
    assert "sshd" in line
    assert "`sudo apt-get install openssh-server`" in line
    assert "libc6-dev: missing: /usr/include/stdio.h" in said
    assert "can run the labs" not in said


@pytest.mark.parametrize(
    ("switch", "value", "sentence"),
    [
        ("kernel/apparmor_restrict_unprivileged_userns", 1, "sysctl kernel.apparmor_restrict"),
        ("kernel/unprivileged_userns_clone", 0, "sysctl kernel.unprivileged_userns_clone=1"),
        ("user/max_user_namespaces", 0, "sysctl user.max_user_namespaces="),
        ("kernel/something_else", 0, "a container must be started with"),
    ],
)
def test_what_forbids_user_namespaces_is_named_with_what_allows_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, switch: str, value: int, sentence: str
) -> None:
    # Made up, because AppArmor's switch is one that this machine may not have, and root may do it all the same.
    monkeypatch.setattr(doctor.os, "geteuid", lambda: UID)
    monkeypatch.setattr(doctor, "SWITCHES", tmp_path)
    (tmp_path / switch).parent.mkdir()
    (tmp_path / switch).write_text(f"{value}\n")
    hint = doctor._why_not()
    assert sentence in hint
    assert "sudo" in hint


def test_a_folder_that_may_not_be_written_is_named(learner: Beowulf) -> None:
    learner.environment["BEOWULF_STATE"] = "/proc/nowhere/state"
    found = checks(learner, code=1)["cluster's files"]
    assert not found["well"]
    assert "Set BEOWULF_STATE" in str(found["hint"])


@pytest.mark.cluster
def test_a_disk_that_is_nearly_full_is_named(
    learner: Beowulf, private_mounts: tuple[str, ...]
) -> None:
    learner.state.mkdir()
    small = Beowulf(learner.state, learner.here, (*private_mounts, f"tmpfs:1m:{learner.state}"))
    found = checks(small, code=1)["disk for the cluster"]
    assert not found["well"]
    assert "Free at least 200 MiB" in str(found["hint"])


def test_a_library_that_only_some_commands_need_is_not_missed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(
        paths, "mpi_prefix", lambda library: tmp_path if library == "modern" else Path("/none")
    )
    found = {check.name: check for check in doctor.examine()}
    assert not found["MPICH, modern"].well
    assert not found["MPICH, modern"].needed
    assert not found["MPICH, classic"].well
    assert found["MPICH, classic"].needed
    assert "beowulf doctor --fix" in found["MPICH, classic"].hint


def test_fix_runs_the_bootstrap_only_for_what_it_can_fix(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    called: list[list[str]] = []

    class Done:
        returncode = 7

    def run(words: list[str]) -> Done:
        called.append(words)
        return Done()

    # The bootstrap itself would install packages here; tests/test_foundation.py asks what it does.
    monkeypatch.setattr(doctor.subprocess, "run", run)
    well = doctor.Check("a", True, "", "", doctor.BOOTSTRAP)
    ill = doctor.Check("b", False, "")
    assert doctor.fix([well, ill])
    assert called == []
    assert not doctor.fix([well, doctor.Check("c", False, "", "", doctor.BOOTSTRAP)])
    assert called[0][1].endswith("cluster_setup/bootstrap.sh")


RECIPE = (paths.root() / "Containerfile").read_text()
DEV_CONTAINER = paths.root() / ".devcontainer" / "devcontainer.json"


def test_the_image_has_the_packages_of_the_table_and_names_none_itself() -> None:
    groups = set(re.findall(r'\$3 == "(\w+)"', RECIPE))
    packages = {tool.package for tool in doctor.tools() if tool.group in groups}
    assert groups == {"lab", doctor.SUITES}
    assert {"openssh-server", "iproute2", "tshark"} <= packages
    assert not [package for package in packages if re.search(rf"\s{package}\s", RECIPE)]


def test_an_editors_container_is_built_of_the_recipe_and_started_as_doctor_says() -> None:
    made = json.loads(DEV_CONTAINER.read_text())
    recipe = (DEV_CONTAINER.parent / made["build"]["dockerfile"]).resolve()
    assert recipe == paths.root() / "Containerfile"
    assert f"AS {made['build']['target']}\n" in RECIPE
    assert f"useradd --create-home --shell /bin/bash {made['remoteUser']}" in RECIPE
    assert " ".join(made["runArgs"]) == doctor.CONTAINER_OPTIONS
    assert doctor.CONTAINER_OPTIONS in (paths.root() / "docs" / "learner.md").read_text()
    for text in (RECIPE, DEV_CONTAINER.read_text()):
        assert not re.search("://|index", text)
