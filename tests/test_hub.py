"""Does a class without laptops work through a hub: log in, have a cluster, fetch a lab, hand it in, have it collected?

The role `hub` sets the hub up on a machine whose /etc, /home, /opt, /srv and /var/lib are copies in memory, in
namespaces of its own; the accounts, the passwords, the exchange and the course there are real, and are gone with it.
"""

from __future__ import annotations

import csv
import io
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator
from contextlib import suppress
from http.cookiejar import CookieJar
from pathlib import Path
from typing import Any

import pytest
from jupyter import Jupyter
from other_user import _closed
from running import PATIENCE_S, wait_until

from beowulf import paths
from beowulf.cluster.common import processes

pytestmark = [
    pytest.mark.nightly,
    pytest.mark.cluster,
    pytest.mark.rootless,
    pytest.mark.skipif(os.geteuid() != 0, reason="accounts are made by root"),
    pytest.mark.skipif(
        not shutil.which("configurable-http-proxy"),
        reason="There is no configurable-http-proxy: `make test` installs it on Debian.",
    ),
]
LEARNERS, TEACHER, STRANGER = ("ab12", "cd34"), "kit", "eve"
LAB = "01-validation"

# Arguments: a folder; folders that others may not enter; those in them that are needed.
MACHINE = r"""
set -e
own=$1 closed=$2; shift 2
mount -t tmpfs tmpfs "$own"
for ((i = 0; i < closed; i++)); do hide[i]=$1; shift; done
for needed; do
    mkdir -p "$own/kept$needed"
    mount --bind "$needed" "$own/kept$needed"
done
for folder in "${hide[@]}"; do mount -t tmpfs -o mode=755 tmpfs "$folder"; done
for needed; do
    mkdir -p "$needed"
    mount --bind "$own/kept$needed" "$needed"
done
for folder in etc home opt srv var/lib; do
    mkdir -p "$own/$folder/upper" "$own/$folder/work"
    mount -t overlay -o "lowerdir=/$folder,upperdir=$own/$folder/upper,workdir=$own/$folder/work" overlay "/$folder"
done
echo ready
sleep infinity & wait
"""
PLAY = """
- hosts: localhost
  connection: local
  gather_facts: false
  tasks:
    - ansible.builtin.include_role: {name: labs, public: true}
    - ansible.builtin.include_role: {name: hub, tasks_from: "{{ part }}"}
"""


class Machine:
    """The machine that is to serve the class."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        needed = [str(path) for path in (paths.root(), Path(sys.base_prefix).resolve())]
        closed = sorted({found for path in needed if (found := _closed(Path(path)))})
        beyond = [
            path for path in needed if any(Path(path).is_relative_to(each) for each in closed)
        ]
        words = "setpriv --pdeathsig KILL unshare --mount --pid --fork --kill-child --mount-proc bash --norc -c"
        disk = folder / "disk"
        disk.mkdir()
        self.process = subprocess.Popen(
            [*words.split(), MACHINE, "machine", str(disk), str(len(closed)), *closed, *beyond],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        assert self.process.stdout
        assert self.process.stdout.readline() == "ready\n"
        (self.first,) = processes.children(self.process.pid)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            # The two after it are for the hub's own talk.
            self.port = min(free.getsockname()[1], 65000)
        self.url = f"http://127.0.0.1:{self.port}"

    def words(self, *words: str) -> list[str]:
        return ["nsenter", f"--target={self.first}", "--mount", "--pid", *words]

    def at(self, script: str, *, code: int | None = 0, stdin: str = "") -> str:
        """What lines of shell print that root runs there."""
        done = subprocess.run(
            self.words("bash", "--norc", "-c", script),
            input=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=PATIENCE_S,
            env={**os.environ, "PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root"},
        )
        assert code in (None, done.returncode), done.stdout
        return done.stdout

    def play(self, part: str = "main") -> list[str]:
        """Let Ansible run the role there; what it changed."""
        play, result = self.folder / "play.yml", self.folder / "result.json"
        play.write_text(PLAY)
        variables = {
            "beowulf_checkout": str(paths.root()),
            "beowulf_hub": True,
            "beowulf_hub_instructor": TEACHER,
            "beowulf_hub_course": "spring",
            "beowulf_hub_roster": str(self.folder / "roster.csv"),
            "beowulf_hub_port": self.port,
            "here": {"systemd": False},  # what the role `look` finds
            "part": part,
        }
        done = subprocess.run(
            self.words(
                *(str(paths.python_bin() / "ansible-playbook"), str(play)),
                *("-i", "localhost,", "-e", json.dumps(variables)),
            ),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            cwd=self.folder,
            env={
                **os.environ,
                "ANSIBLE_CONFIG": str(paths.root() / "cluster_setup" / "ansible.cfg"),
                "ANSIBLE_HOME": str(self.folder / "ansible"),
                "BEOWULF_SETUP_RESULT": str(result),
                "BEOWULF_SETUP_VERBOSE": "1",
                "LC_ALL": "C.UTF-8",
            },
        )
        found = json.loads(result.read_text())
        assert not found["failed"], f"{found['failed']}\n{done.stdout}"
        assert done.returncode == 0, done.stdout
        return list(found["changed"]["localhost"])

    def end(self) -> None:
        self.process.kill()
        self.process.wait()
        assert self.process.stdout
        self.process.stdout.close()


class Person:
    """A user in a browser: cookies, forms, and in the end a server of their own."""

    def __init__(self, machine: Machine, name: str) -> None:
        self.machine, self.name, self.jar = machine, name, CookieJar()
        self.browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(self.jar))

    def log_in(self, password: str) -> int:
        """Fill the form in; the code of the page that comes then."""
        self._ask("hub/login")
        form = {"username": self.name, "password": password, "_xsrf": self._xsrf()}
        try:
            self._ask("hub/login?next=%2Fhub%2Ftoken", urllib.parse.urlencode(form).encode())
        except urllib.error.HTTPError as error:
            return error.code
        return 200

    def jupyter(self) -> Jupyter:
        """Start the server that belongs to who has logged in, and sit down there."""
        made = self._ask(
            f"hub/api/users/{self.name}/tokens",
            b"{}",
            {"X-XSRFToken": self._xsrf(), "Content-Type": "application/json"},
        )
        hub = Jupyter(self.machine.url, json.loads(made)["token"])
        hub.ask(f"hub/api/users/{self.name}/server", "POST")
        user = f"hub/api/users/{self.name}"
        wait_until(lambda: _runs(hub.ask(user)), f"the server of {self.name} answers")
        self.hub = hub
        return Jupyter(f"{self.machine.url}/user/{self.name}", hub.token)

    def stop(self) -> None:
        """End the server."""
        self.hub.ask(f"hub/api/users/{self.name}/server", "DELETE")

    def _ask(
        self, path: str, data: bytes | None = None, more: dict[str, str] | None = None
    ) -> bytes:
        request = urllib.request.Request(f"{self.machine.url}/{path}", data, more or {})
        with self.browser.open(request, timeout=PATIENCE_S) as answer:
            return bytes(answer.read())

    def _xsrf(self) -> str:
        found = [cookie for cookie in self.jar if cookie.name == "_xsrf"]
        return str(max(found, key=lambda cookie: len(cookie.path)).value)


def _runs(user: dict[str, Any]) -> bool:
    time.sleep(0.5)  # who asks without a pause takes the time that the server needs to start
    server = user["servers"].get("", {})
    assert server.get("pending") or server.get("ready") or user["pending"] or not server, user
    return bool(server.get("ready"))


@pytest.fixture(scope="module")
def machine(namespaces_work: None) -> Iterator[Machine]:
    """A machine with someone who teaches, and someone who is not of the class."""
    folder = Path(tempfile.mkdtemp(prefix="beowulf-hub-"))
    try:
        folder.chmod(0o755)
        found = Machine(folder)
        try:
            for name in (TEACHER, STRANGER):
                found.at(f"useradd --create-home --shell /bin/bash {name}; chmod 700 /home/{name}")
                found.at("chpasswd", stdin=f"{name}:{name} comes in\n")
            lines = ["id,first_name,last_name", *(f"{name},," for name in LEARNERS)]
            (folder / "roster.csv").write_text("\n".join(lines) + "\n")
            yield found
        finally:
            found.end()
    finally:
        shutil.rmtree(folder)


@pytest.fixture(scope="module")
def made(machine: Machine) -> list[str]:
    """What the first run of the role changed."""
    return machine.play()


@pytest.fixture(scope="module")
def hub(machine: Machine, made: list[str]) -> Iterator[Machine]:
    """The hub, started by hand."""
    log = machine.folder / "hub.log"
    with log.open("w") as file:
        process = subprocess.Popen(
            machine.words("/opt/beowulf/bin/hub"),
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=file,
        )
    try:

        def answers() -> bool:
            assert process.poll() is None, log.read_text()
            try:
                return Jupyter(machine.url, "").ask("hub/api")["version"] != ""
            except OSError:
                return False

        wait_until(answers, "the hub answers")
        yield machine
    finally:
        # nsenter waits for the hub, and passes no signal on.
        for pid in processes.children(process.pid):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGTERM)
        process.wait(PATIENCE_S)


def _passwords(machine: Machine) -> dict[str, str]:
    text = machine.at("cat /var/lib/beowulf-hub/passwords.csv")
    return {row["id"]: row["password"] for row in csv.DictReader(io.StringIO(text))}


def test_a_second_run_changes_nothing(machine: Machine, made: list[str]) -> None:
    assert "make the course, or add who is new" in made
    assert machine.play() == []


def test_who_is_on_the_roster_has_an_account_and_a_password_that_only_root_reads(
    machine: Machine, made: list[str]
) -> None:
    assert set(_passwords(machine)) == set(LEARNERS)
    owned = machine.at("stat -c '%a %U' /var/lib/beowulf-hub /var/lib/beowulf-hub/*.csv")
    assert owned.split() == ["700", "root", "600", "root"]
    for name in LEARNERS:
        assert "beowulf-class" in machine.at(f"id -nG {name}").split()
        assert machine.at(f"stat -c %a /home/{name}").strip() == "700"


def test_a_roster_makes_nobody_of_the_machines_own_a_learner(
    machine: Machine, made: list[str]
) -> None:
    (machine.folder / "wrong.csv").write_text("id\ndaemon\nfine1\n")
    accounts = paths.root() / "cluster_setup" / "roles" / "hub" / "files" / "accounts.py"
    words = f"{paths.python_bin()}/python {accounts} {machine.folder}/wrong.csv"
    said = machine.at(f"{words} beowulf-class /dev/null", code=1)
    assert "daemon cannot have an account" in said
    assert "beowulf-class" not in machine.at("id -nG daemon").split()
    machine.at("id fine1", code=1)


def test_who_has_an_account_already_keeps_it_and_joins_the_class(
    machine: Machine, made: list[str]
) -> None:
    machine.at("useradd --no-create-home old1")
    (machine.folder / "old.csv").write_text("id\nold1\n")
    accounts = paths.root() / "cluster_setup" / "roles" / "hub" / "files" / "accounts.py"
    words = f"{paths.python_bin()}/python {accounts} {machine.folder}/old.csv"
    assert machine.at(f"{words} beowulf-class /dev/null").strip() == "old1 joins beowulf-class"
    assert "beowulf-class" in machine.at("id -nG old1").split()


def test_the_exchange_is_open_for_hand_ins_and_closed_for_looks(
    machine: Machine, made: list[str]
) -> None:
    found = machine.at("stat -c '%a %U' /srv/beowulf/exchange /srv/beowulf/exchange/spring").split()
    assert found == ["1777", "root", "755", TEACHER]
    assert machine.at(f"runuser -u {LEARNERS[0]} -- ls /home/{TEACHER}/spring", code=2)


def test_only_who_is_of_the_class_and_knows_the_password_comes_in(hub: Machine) -> None:
    passwords = _passwords(hub)
    assert Person(hub, "ab12").log_in("a guess") == 403
    assert Person(hub, STRANGER).log_in(f"{STRANGER} comes in") == 403
    assert Person(hub, "ab12").log_in(passwords["ab12"]) == 200


def test_a_class_has_clusters_fetches_a_lab_hands_it_in_and_it_is_collected(hub: Machine) -> None:
    words = {**_passwords(hub), TEACHER: f"{TEACHER} comes in"}
    people = {name: Person(hub, name) for name in words}
    assert [person.log_in(words[name]) for name, person in people.items()] == [200, 200, 200]
    servers = {name: person.jupyter() for name, person in people.items()}
    lines = "cd ~/spring && beowulf class release 01; echo ended: $?"
    assert "ended: 0" in servers[TEACHER].type(lines, r"ended: \d")
    lab = f"course_id=spring&assignment_id={LAB}"
    for name in LEARNERS:
        # The cluster under the server is up, and is the learner's own.
        said = servers[name].type(
            "beowulf ssh node00 'echo $(id -un) at $(hostname)'", r"at node00"
        )
        assert f"{name} at node00" in said
        assert servers[name].code(f"api/contents/{LAB}") == 404
        assert servers[name].code("beowulf/lab/01") == 409
        assert servers[name].ask(f"assignments/fetch?{lab}", "POST")["success"]
        assert servers[name].code("beowulf/lab/01") == 200
        notebook = servers[name].ask(f"api/contents/{LAB}/validation.ipynb")
        assert notebook["content"]["cells"]
        assert servers[name].ask(f"assignments/submit?{lab}", "POST")["success"]
        assert servers[name].code("assignments/validate") == 404, "nbgrader's Validate is not there"
    # Nobody sees who handed in what, nor comes to another's server.
    look = f"runuser -u {LEARNERS[0]} -- ls /srv/beowulf/exchange/spring/inbound"
    assert "Permission denied" in hub.at(look, code=2)
    other = Jupyter(f"{hub.url}/user/{LEARNERS[1]}", servers[LEARNERS[0]].token)
    assert other.code("api/contents") in (403, 404)
    lines = "cd ~/spring && beowulf class collect 01; echo ended: $?"
    said = servers[TEACHER].type(lines, r"ended: \d")
    for name in LEARNERS:
        assert re.search(rf"{name}\W+new", said), said
    # When a server is left for good, its cluster goes too.
    people[LEARNERS[0]].stop()
    wait_until(lambda: not hub.at(f"pgrep -u {LEARNERS[0]}", code=None), "nothing of hers runs")
    assert hub.at(f"pgrep -u {LEARNERS[1]}")


def test_undo_ends_the_hub_and_leaves_peoples_work(hub: Machine) -> None:
    """The last test of this file: it takes the hub away."""
    machine = hub
    assert machine.play("undo") == ["serve the hub no more"]
    assert machine.at("pgrep -f bin/jupyterhub", code=1) == ""
    left = "ls -d /opt/beowulf/hub /opt/beowulf/bin/hub /etc/pam.d/beowulf-hub 2>/dev/null; true"
    assert machine.at(left) == ""
    kept = machine.at(f"ls /home/{TEACHER}/spring/gradebook.db; id -un ab12")
    assert kept.splitlines()[-1] == "ab12"
