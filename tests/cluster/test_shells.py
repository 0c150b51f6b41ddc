"""Is a shell on a node what a learner expects of a shell on a cluster?"""

from __future__ import annotations

import os
import pty
import select
import shlex
import shutil
import signal
import subprocess
from collections.abc import Iterator

import pytest
from other_user import ada, give
from running import HOSTNAME, PATIENCE_S, Beowulf, Learner, first, next_line, wait_until

from beowulf import paths

pytestmark = pytest.mark.cluster

HELLO = paths.root() / "labs" / "01-validation" / "hello.c"


@pytest.fixture
def shell(at_cluster: Beowulf) -> Beowulf:
    shutil.copy(HELLO, at_cluster.here)
    return at_cluster


def test_mpicc_and_mpiexec_work_on_any_node_and_ranks_go_round_the_nodes(shell: Beowulf) -> None:
    said = shell("ssh", "node03", "mpicc hello.c && mpiexec -n 6 ./a.out")
    assert sorted(said.splitlines()) == [f"rank {i} of 6 on node0{i % 4}" for i in range(6)]


def test_one_word_is_a_line_of_shell_and_several_are_kept_separate(shell: Beowulf) -> None:
    assert shell("ssh", "node01", "echo a  b; echo $((1+1)); pwd") == f"a b\n2\n{shell.here}\n"
    assert shell("ssh", "node01", "printf", "%s|", "a  b", "it's", '"$HOME"', "*") == (
        'a  b|it\'s|"$HOME"|*|'
    )
    assert shell("ssh", "node01", "echo", "--help", "-n") == "--help -n\n"


@pytest.mark.parametrize("code", first(1, [7, 255]))
def test_the_exit_code_is_the_commands_own(shell: Beowulf, code: int) -> None:
    shell("ssh", "node01", f"exit {code}", code=code)


def test_what_is_piped_in_arrives_and_what_is_printed_comes_back(shell: Beowulf) -> None:
    many = "a line of text\n" * 20000
    assert shell("ssh", "node01", "cat", stdin=many) == many
    assert shell("ssh", "node01", stdin="hostname\nexit 4\n", code=4) == "node01\n"


def test_a_closed_stdin_is_no_stdin(shell: Beowulf) -> None:
    for closing in ("<&-", "<&- >&2"):
        line = f"{shlex.join(shell.words('ssh', 'node01', 'hostname'))} {closing}"
        done = subprocess.run(
            ["bash", "-c", line],
            env=shell.environment,
            cwd=shell.here,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr
        assert "node01" in done.stdout + done.stderr


@pytest.mark.nightly
def test_beowulf_on_a_node_says_that_it_works_outside(shell: Beowulf) -> None:
    for command in ("up", "down", "status"):
        said = shell("ssh", "node01", f"beowulf {command}", code=1)
        assert "This is node01, a node of the cluster." in said
    shell("status")


class Terminal:
    """A terminal with a command in it, as a person would sit at one."""

    def __init__(self, learner: Beowulf, *words: str) -> None:
        self.pid, self.screen = pty.fork()
        if self.pid == 0:
            os.chdir(learner.here)
            command = learner.words(*words)
            os.execvpe(command[0], command, learner.environment)
        self.shown = ""

    def type(self, text: str) -> None:
        os.write(self.screen, text.encode())

    def shows(self, text: str) -> bool:
        while select.select([self.screen], [], [], 0.01)[0]:
            try:
                self.shown += os.read(self.screen, 65536).decode(errors="replace")
            except OSError:
                break  # the command has ended
        return text in self.shown

    def wait_for(self, text: str) -> None:
        wait_until(lambda: self.shows(text), f"{text!r} on the screen: {self.shown}")

    def code(self) -> int:
        self.shows("")
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])


def test_a_terminal_session_works_and_ends_with_its_own_code(shell: Beowulf) -> None:
    screen = Terminal(shell, "ssh", "node02")
    screen.type("tty; echo $((20+3)) at $(hostname); pwd; echo in $((40+2))\n")
    screen.wait_for("in 42")
    assert "23 at node02" in screen.shown
    assert "/dev/pts/" in screen.shown
    assert str(shell.here) in screen.shown
    screen.type("exit 5\n")
    assert screen.code() == 5


def test_ctrl_c_in_a_terminal_ends_an_mpi_program_and_not_the_session(shell: Beowulf) -> None:
    def ranks() -> int:
        return sum(words.startswith("sleep 1000") for words in shell.processes())

    screen = Terminal(shell, "ssh", "node00")
    screen.type("mpiexec -n 4 sleep 1000\n")
    wait_until(lambda: ranks() == 4, "four ranks")
    screen.type("\x03")
    wait_until(lambda: ranks() == 0, "the ranks are gone")
    screen.wait_for("Ctrl-C")  # what mpiexec says; what is typed while it runs would be its input
    wait_until(lambda: not any("mpiexec" in words for words in shell.processes()), "mpiexec ended")
    screen.type("echo still $((40+2)) here; exit\n")
    screen.wait_for("still 42 here")
    screen.code()


def test_a_session_that_is_asked_to_end_leaves_no_ssh_behind(shell: Beowulf) -> None:
    session = shell.start("ssh", "node01", "echo started; sleep 1002")
    assert next_line(session) == "started"
    session.send_signal(signal.SIGTERM)
    assert session.wait(PATIENCE_S) == 1
    wait_until(
        lambda: not any(words.startswith("ssh -T node01") for words in shell.processes()), "no ssh"
    )


@pytest.fixture
def hostile() -> Iterator[Learner]:
    """A learner whose start-up files put another MPI first, and who shares ssh connections among all machines."""
    if os.geteuid() != 0:
        pytest.skip("needs root: the start-up files of the user who runs the tests are left alone")
    with ada() as learner:
        home = learner.here
        (home / "fake").mkdir()
        for name in ("mpicc", "mpiexec", "python"):
            (home / "fake" / name).write_text("#!/bin/sh\necho this is another MPI\nexit 1\n")
            (home / "fake" / name).chmod(0o755)
        lines = (
            "echo noise\n[[ $- == *i* ]] || { sleep 4; exit 9; }\n"
            f"export PATH={home}/fake:$PATH HYDRA_IFACE=wlan0\nalias mpiexec=false\n"
        )
        for name in (".bashrc", ".bash_profile", ".profile"):
            (home / name).write_text(lines)
        (home / ".ssh").mkdir(mode=0o700)
        (home / ".ssh" / "config").write_text(
            f"Host *\n  ControlMaster auto\n  ControlPath {home}/.ssh/shared\n  User root\n"
        )
        give(learner)
        # As if she had come by ssh: then bash reads .bashrc also where nobody types.
        learner.environment |= {"SSH_CLIENT": "192.0.2.1 1 22", "SHLVL": "0"}
        learner("up", "--nodes", "2")
        yield learner


@pytest.mark.nightly
@pytest.mark.rootless
def test_start_up_files_of_a_learner_do_not_hide_the_clusters_mpi(hostile: Learner) -> None:
    assert sorted(hostile("ssh", "node00", f"mpiexec -n 2 {HOSTNAME}").split()) == [
        "node00",
        "node01",
    ]
    assert hostile("ssh", "node00", "command -v mpicc python").split() == [
        str(paths.mpi_prefix("classic") / "bin" / "mpicc"),
        str(hostile.state / "bin" / "python"),
    ]
    # `script` starts a shell of its own.
    typed = "command -v mpiexec; hostname; exit\n"
    shown = hostile.typed(typed, "ssh", "node01", code=None, SHLVL="1")
    said = hostile("ssh", "node00", "mpiexec -n 2 sh -c 'exit 5'", code=5)
    assert "does not answer" not in said
    assert "noise" in shown, "the learner's own .bashrc is not read"
    assert str(hostile.state / "bin" / "mpiexec") in shown
    assert not (hostile.here / ".ssh" / "shared").exists()
    for node, other in (("node00", "node01"), ("node01", "node00")):
        assert hostile("ssh", node, f"ssh {other} hostname").strip() == other
