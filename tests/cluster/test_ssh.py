"""What happens when machines are reached by ssh, and one of them is off, slow, a stranger, or another user's?"""

from __future__ import annotations

import io
import json
import re
import tarfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from running import Beowulf, wait_until

from beowulf.cluster.common import shells
from beowulf.cluster.machines import connections, node_files
from beowulf.cluster.machines.inventory import Machine
from beowulf.errors import LabError
from tests.simulated_pcs import Hall, hall, learner_at

pytestmark = pytest.mark.cluster


@pytest.fixture
def learner(pcs: Hall, tmp_path: Path) -> Iterator[Beowulf]:
    with learner_at(pcs, tmp_path) as found:
        yield found


MACHINE = Machine("node02", "192.168.1.12", user="ada")


@pytest.mark.parametrize(
    ("said", "sentence"),
    [
        ("@ WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED! @", "shows a different host key"),
        ("No ED25519 host key is known for x and you have requested", "does not know yet"),
        ("ada@x: Permission denied (publickey).", "does not let ada in"),
        ("ssh: Could not resolve hostname pc7: Name or service", "No address is known"),
        ("ssh: connect to host x port 22: Connection refused", "no ssh server answers"),
        ("kex_exchange_identification: Connection closed by remote host", "does not answer"),
    ],
)
def test_what_ssh_says_becomes_a_sentence_with_the_nodes_name(said: str, sentence: str) -> None:
    found = connections.trouble(MACHINE, said)
    assert found
    assert sentence in found.message
    assert "node02" in found.message
    assert found.node == "node02"
    assert found.hint


def test_what_a_command_says_is_no_trouble_of_the_connection() -> None:
    assert connections.trouble(MACHINE, "make: *** No targets.") is None


@pytest.mark.parametrize("before", [b"", b"no line's end: ", b"--- beowulf asks"])
@pytest.mark.parametrize("after", [b"", b"\x00\xff\n--- beowulf asks ---\n"])
def test_an_answer_is_what_follows_its_mark_however_it_arrives(before: bytes, after: bytes) -> None:
    printed = before + f"{shells.ANSWER}\n".encode() + after
    assert shells.answer(printed) == after
    for length in (1, 7, len(printed)):
        answer = shells.Answer()
        pieces = [printed[at : at + length] for at in range(0, len(printed), length)]
        assert b"".join(map(answer.heard, pieces)) == after


def test_a_folder_whose_name_is_too_long_for_sockets_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / ("x" * 90)
    folder.mkdir()
    with pytest.raises(LabError, match="too long a name"):
        connections.configure(folder, [MACHINE])


def test_files_that_words_name_travel_and_system_programs_do_not(tmp_path: Path) -> None:
    file = tmp_path / "ring"
    file.write_text("x")
    words = ["sh", "/usr/bin/env", f"LD_PRELOAD={file}", str(file), "--size=8", str(tmp_path)]
    assert node_files.travelling(words) == {str(file): file}


def test_an_archive_writes_nowhere_but_into_the_folder(tmp_path: Path) -> None:
    inside = tmp_path / "in"
    inside.mkdir()
    kept = io.BytesIO()
    with tarfile.open(fileobj=kept, mode="w") as archive:
        for name in ("../escaped", "/tmp/beowulf-escaped", "sub/fine"):
            member = tarfile.TarInfo(name)
            member.size = 1
            archive.addfile(member, io.BytesIO(b"x"))
        link = tarfile.TarInfo("link")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        archive.addfile(link)
    written = node_files.unpacked(kept.getvalue(), inside)
    assert written == [inside / "sub" / "fine"]
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["fine", "in", "sub"]


def test_machines_that_nobody_set_up_are_named_with_what_to_do(
    pcs: Hall, learner: Beowulf, tmp_path: Path
) -> None:
    file = pcs.inventory(tmp_path / "pcs.yml")
    said = learner("up", "--target", file, code=1)
    for name in pcs.names:
        assert f"{name} has not been set up as a node. `beowulf setup {file}`" in said
    assert "0 of 4 nodes" in said
    # They can be logged in to all the same.
    assert learner("ssh", "node02", "hostname").strip() == "debian-node02"


def test_each_machine_that_cannot_be_used_is_named_with_its_own_reason(
    pcs: Hall, learner: Beowulf, tmp_path: Path
) -> None:
    known = (pcs.folder / "known_hosts").read_text().splitlines()
    # node02's line has node03's key, and node03 has none.
    other = tmp_path / "known"
    other.write_text("\n".join([*known[:2], known[2].split()[0] + " " + known[3].split(" ", 1)[1]]))
    file = pcs.inventory(
        tmp_path / "pcs.yml",
        node01=f"ansible_host: {pcs.address('node01')}, ansible_user: nobody-known",
    )
    file.write_text(file.read_text().replace(f"{pcs.folder}/known_hosts", str(other)))
    said = learner("up", "--target", file, code=1)
    assert "node00 has not been set up" in said
    assert "node01 does not let nobody-known in" in said
    assert "node02 shows a different host key" in said
    assert "node03 shows a host key that this machine does not know yet" in said
    assert "node00  " in learner("status", code=1)


@pytest.mark.nightly
def test_machines_of_which_none_answers_leave_nothing_behind(
    pcs: Hall, learner: Beowulf, tmp_path: Path
) -> None:
    file = pcs.inventory(tmp_path / "pcs.yml")
    file.write_text(re.sub(r"\.1(\d)}", r".20\1}", file.read_text()))
    said = learner("up", "--target", file, code=1)
    assert "No machine of" in said
    assert all(f"{name} does not answer at 192.168.77.20" in said for name in pcs.names)
    assert not learner.state.exists()
    assert "No cluster is running" in learner("status", code=1)


@pytest.mark.nightly
def test_a_cluster_on_this_machine_and_one_of_machines_do_not_mix(
    pcs: Hall, learner: Beowulf, tmp_path: Path
) -> None:
    file = pcs.inventory(tmp_path / "pcs.yml")
    learner("up", "--target", file, code=1)
    assert "cannot be chosen here" in learner("up", "--nodes", "2", code=2)
    assert "A cluster of the kind ssh has no nodes that are broken" in learner("break", "a", code=1)
    assert "go on running" in learner("down")
    assert not learner.state.exists()
    learner("up", "--nodes", "2")
    assert "A cluster of the kind namespaces is running" in learner("up", "--target", file, code=1)
    assert "No such file" in learner("up", "--target", tmp_path / "none", code=1)
    learner("down")


def test_the_shared_connections_end_with_the_cluster(
    pcs: Hall, learner: Beowulf, tmp_path: Path
) -> None:
    learner("up", "--target", pcs.inventory(tmp_path / "pcs.yml"), code=1)
    assert len(learner.processes()) == len(pcs.names)
    learner("down")
    wait_until(lambda: not learner.processes(), "the connections are closed")


# A shell that waits for children, one of them in a session of its own; then what is left of it.
UNFINISHED = """
import beowulf
from beowulf.errors import LabError
cluster = beowulf.connect()
try:
    cluster.run("node02", "setsid sleep 7654321 & while true; do sleep 0.1; done", timeout_s=2)
except LabError as error:
    print(error)
# What was killed still needs a core to end.
runs = "pgrep -f '765432[1]' >/dev/null"
cluster.run("node02", f"for i in {{1..2000}}; do {runs} || break; sleep 0.1; done", timeout_s=300)
print("left:", cluster.run("node02", f"{runs}; echo $?").stdout)
"""


def test_a_command_that_takes_too_long_is_named_and_nothing_of_it_is_left(
    pcs: Hall, learner: Beowulf, tmp_path: Path
) -> None:
    learner("up", "--target", pcs.inventory(tmp_path / "pcs.yml"), code=1)
    said = learner.python(UNFINISHED)
    assert "node02 did not finish `setsid sleep 7654321 & while true" in said
    assert "within 2 s" in said
    assert "left: 1" in said  # pgrep finds nothing


def test_a_machine_without_sudo_is_named(pcs: Hall, learner: Beowulf, tmp_path: Path) -> None:
    """Whether sudo is missing there or refuses, what is said is the same."""
    user = f"ansible_host: {pcs.address('node01')}, ansible_user: ada"
    learner("up", "--target", pcs.inventory(tmp_path / "pcs.yml", node01=user), code=1)
    said = learner("tune", "show", "firewall", code=1)
    assert "ada may not become root on node01 without a password" in said
    assert "/etc/sudoers.d" in said


@pytest.mark.nightly  # it waits until ssh gives the lost connection up
def test_one_machine_that_is_switched_off_is_down_and_the_others_answer(
    tmp_path: Path, namespaces_work: None
) -> None:
    with hall(2) as pair, learner_at(pair, tmp_path) as learner:
        learner("up", "--target", pair.inventory(tmp_path / "pcs.yml"), code=1)
        pair.switch_off("node01")
        wait_until(
            lambda: not connections.open_to(learner.state, "node01"),
            "the connection to the lost machine is given up",
            patience_s=60,
        )
        rows = json.loads(learner("status", "--json", code=1))["nodes"]
        assert [row["state"] for row in rows] == ["up", "down"]
        assert "node01 does not answer" in learner("up", code=1)
        assert "node01" in learner("ssh", "node01", "true", code=1)
