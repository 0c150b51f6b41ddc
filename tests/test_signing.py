"""Does the signing service measure and sign what a learner asks for, and nothing that the learner made?"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from beowulf import paths, signature, signing
from beowulf.cluster import namespaces
from beowulf.errors import LabError
from beowulf.record import Record
from tests.ordinary import UID, ada
from tests.running import PATIENCE_S, Learner

WORD = "ABCDEFGHIJKLMNOP"


@dataclass(frozen=True)
class Service:
    """A service that runs, and where a learner works."""

    folder: Path
    process: subprocess.Popen[str]

    @property
    def key(self) -> Path:
        return self.folder / "private" / "key"

    @property
    def address(self) -> Path:
        return self.folder / "socket"

    def keys(self) -> list[str]:
        return signature.public_keys(self.key.with_suffix(".pub").read_text())

    def send(self, text: bytes) -> dict[str, str]:
        """What the service answers to a request that `beowulf` would not send."""
        with socket.socket(socket.AF_UNIX) as talk:
            talk.settimeout(PATIENCE_S)
            talk.connect(str(self.address))
            talk.sendall(text)
            answer: dict[str, str] = json.loads(talk.makefile().read())
        return answer


@pytest.fixture(scope="module")
def service() -> Iterator[Service]:
    """The service of root's, on a cluster of two nodes of its own."""
    if os.getuid():
        pytest.skip("it takes root to be several users")
    with tempfile.TemporaryDirectory(prefix="beowulf-signing-") as made:
        folder = Path(made)
        folder.chmod(0o755)  # others may reach the socket
        (folder / "private").mkdir(mode=0o700)
        process = subprocess.Popen(
            [
                *(sys.executable, "-m", "beowulf.signing", str(folder / "private" / "key")),
                *(str(folder / "private"), "--nodes", "2"),
            ],
            cwd=paths.root(),
            env={**os.environ, signing.VARIABLE: str(folder / "socket")},
            text=True,
            stdout=subprocess.PIPE,
        )
        assert process.stdout
        try:
            assert "signs Records" in process.stdout.readline()
            yield Service(folder, process)
        finally:
            process.terminate()
            process.wait(PATIENCE_S)
            namespaces.down(folder=folder / "private" / "state")


@pytest.fixture
def learner() -> Iterator[Learner]:
    """An ordinary user of this machine."""
    with ada() as someone:
        yield someone


@pytest.mark.cluster
@pytest.mark.nightly
def test_a_study_is_measured_and_signed_for_who_asks(service: Service, learner: Learner) -> None:
    printed = learner(
        *("study", "A2", "--quick", "--signed"),
        BEOWULF_LEARNER="bob",
        BEOWULF_WORD=WORD,
        BEOWULF_SIGNING=str(service.address),
    )
    (kept,) = (learner.here / "records").glob("A2-*.json")
    assert f"The signed Record is in records/{kept.name}." in printed
    record = Record.load(kept)
    checked = signature.check(record, service.keys())
    # Whatever name the learner chose: the kernel knows who asked.
    assert (checked.state, checked.account) == (signature.SIGNED, f"user{UID}")
    assert record.learner == f"user{UID}"
    assert len(record.cluster["nodes"]) == 2
    assert kept.stat().st_uid == UID
    # Nothing of it stays behind, and the cluster is given back.
    assert sorted(each.name for each in service.key.parent.glob("study-*")) == []
    assert namespaces.running(service.key.parent / "state") is None


def test_the_key_is_for_its_owner_alone(service: Service) -> None:
    assert service.key.stat().st_mode & 0o077 == 0
    done = subprocess.run(
        ["cat", str(service.key)], user=UID, group=UID, extra_groups=[], capture_output=True
    )
    assert done.returncode
    assert not done.stdout


@pytest.mark.parametrize(
    "text",
    [
        b"\n",
        b"[]\n",
        b"{}\n",
        b"\xff\n",
        b'{"study": "../../etc/passwd"}\n',
        b'{"study": ["A2"]}\n',
        b'{"study": "A2", "word": "$(id)"}\n',
        b'{"study": "--help"}\n',
        b"[" * 4000,
    ],
)
def test_what_is_no_request_gets_a_sentence(service: Service, text: bytes) -> None:
    assert service.send(text)["error"]
    assert service.process.poll() is None


def test_who_leaves_does_not_end_it(service: Service) -> None:
    for _ in range(3):
        with socket.socket(socket.AF_UNIX) as talk:
            talk.connect(str(service.address))
    assert "no study" in service.send(b'{"study": "Z99"}\n')["error"].lower()


def test_a_label_of_the_learners_own_is_refused(service: Service, learner: Learner) -> None:
    printed = learner(
        *("study", "A2", "--variant", "tuned", "--signed"),
        code=2,
        BEOWULF_SIGNING=str(service.address),
    )
    assert "on a cluster of its own" in printed


def test_without_a_service_it_says_what_else_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(signing.VARIABLE, str(tmp_path / "nobody"))
    with pytest.raises(LabError, match="does not answer") as raised:
        signing.ask("A2", tmp_path)
    assert "own cluster" in raised.value.hint
    assert not list(tmp_path.iterdir())
