"""Does `beowulf doctor` look at all that commands use and say how to fix what is missing? And a container?"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from other_user import UID, ada
from running import Beowulf, Learner, nothing_runs

from beowulf import doctor, paths

# In an outer user namespace that allows no inner one; she keeps the right to say so, and loses it before the command.
FORBID = (
    "echo 0 > /proc/sys/user/max_user_namespaces && exec setpriv --ambient-caps=-all --inh-caps=-all"
    ' --bounding-set=-all "$@"'
)


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


def test_every_tool_of_the_table_is_looked_at(learner: Beowulf) -> None:
    found = checks(learner)
    for tool in doctor.tools():
        if tool.group == "lab":
            assert tool.package in found
            assert tool.name in str(found[tool.package]["found"])


def test_every_tool_that_boot_calls_is_in_the_table() -> None:
    known = {Path(tool.name).name for tool in doctor.tools()}
    called = (
        "unshare nsenter setsid ip tc ethtool mount hostname ssh ssh-keygen sshd setpriv dumpcap"
    )
    assert {*called.split(), "ping", "ps"} <= known


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
        ("kernel/something_else", 0, "inside a container, the container must allow"),
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


def test_root_is_not_told_to_use_sudo_where_namespaces_are_forbidden(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(doctor.os, "geteuid", lambda: 0)
    assert "sudo" not in doctor._why_not()
    assert doctor.CONTAINER_OPTIONS in doctor._why_not()


@pytest.fixture
def forbidden(namespaces_work: None) -> Iterator[Learner]:
    """An ordinary user on a machine that allows no user namespaces."""
    with ada() as found:
        prefix = found.prefix
        words = ("unshare", "--user", f"--map-user={found.uid}", f"--map-group={found.uid}")
        found.prefix = (*prefix, *words, "--keep-caps", "sh", "-c", FORBID, "forbid")
        yield found
        found.prefix = prefix


@pytest.mark.cluster
@pytest.mark.rootless
def test_where_user_namespaces_are_forbidden_doctor_and_up_say_so_and_how_to_allow_them(
    forbidden: Learner,
) -> None:
    found = checks(forbidden, code=1)["namespaces"]
    assert not found["well"]
    assert "sudo sysctl user.max_user_namespaces=" in str(found["hint"])
    assert "`sudo` before `make lab`" in str(found["hint"])
    said = forbidden("up", code=1)
    assert "Namespaces cannot be made here" in said
    assert "`beowulf doctor` says what forbids them and how to allow it" in said
    assert not forbidden.state.exists()
    nothing_runs(forbidden)


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


def test_a_suite_is_looked_at_and_not_missed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    suite = doctor.Tool("/nowhere/hpcc", "hpcc", "suites", "measures HPL")
    monkeypatch.setattr(doctor, "tools", lambda: [suite])
    found = next(check for check in doctor.examine() if check.name == "hpcc")
    assert not found.well
    assert not found.needed
    assert "missing: /nowhere/hpcc (measures HPL)" in found.found
    assert "`sudo apt-get install hpcc`" in found.hint
    assert found.fix == doctor.BOOTSTRAP


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


def test_the_containers_first_process_is_the_one_that_ctrl_c_ends() -> None:
    """Without a terminal the signal reaches that process alone, and make would not pass it on."""
    assert RECIPE.rpartition("\nCMD ")[2] == '[".venv/bin/beowulf", "lab"]\n'


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
