"""Does `beowulf doctor` look at what the other commands use, and say for each thing that is missing how to fix it?"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from ordinary import UID, ada
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
    ill = [line for line in said.splitlines() if line.startswith("MISSING")]
    assert ill == [], "\n".join(ill)
    assert "This machine can run the labs" in said


def test_each_check_is_one_line(learner: Beowulf) -> None:
    lines = learner("doctor", code=None).splitlines()
    assert all(re.match(r"(ok|MISSING|absent) +\S", line) for line in lines[:-1])
    assert len(lines) > 20


def test_every_tool_of_the_table_is_looked_at(learner: Beowulf) -> None:
    found = checks(learner)
    for tool in doctor.tools():
        if tool.group == "lab":
            assert tool.package in found
            assert tool.name in str(found[tool.package]["found"])


def test_every_tool_that_boot_calls_is_in_the_table() -> None:
    known = {Path(tool.name).name for tool in doctor.tools()}
    for name in ("unshare", "nsenter", "setsid", "ip", "tc", "ethtool", "mount", "hostname"):
        assert name in known
    for name in ("ssh", "ssh-keygen", "sshd", "setpriv", "dumpcap", "ping", "ps"):
        assert name in known


@pytest.mark.cluster
@pytest.mark.parametrize(
    ("tool", "package"),
    [
        ("/usr/sbin/ethtool", "ethtool"),
        ("/usr/sbin/sshd", "openssh-server"),
        ("/usr/bin/dumpcap", "wireshark-common"),
    ],
)
def test_a_missing_tool_is_named_with_the_package_that_brings_it(
    learner: Beowulf, private_mounts: tuple[str, ...], tool: str, package: str
) -> None:
    without = Beowulf(learner.state, learner.here, (*private_mounts, f"hide:{tool}"))
    said = without("doctor", code=1)
    line = next(line for line in said.splitlines() if f"  {package}: missing" in line)
    assert line.startswith("MISSING")
    assert Path(tool).name in line
    assert f"`sudo apt-get install {package}`" in line
    assert "can run the labs" not in said


@pytest.mark.cluster
def test_a_missing_header_is_named(learner: Beowulf, private_mounts: tuple[str, ...]) -> None:
    gone = "tmpfs:4k:/usr/include"
    without = Beowulf(learner.state, learner.here, (*private_mounts, gone))
    assert "libc6-dev: missing: /usr/include/stdio.h" in without("doctor", code=1)


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
    assert "--privileged" in doctor._why_not()


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
