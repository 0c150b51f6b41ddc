"""Does `beowulf up` boot what is asked for, and change nothing that is not?"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from contextlib import suppress
from pathlib import Path

import pytest
from running import COMMAND, HOSTNAME, PATIENCE_S, Beowulf, at_switch, first, nothing_runs

from beowulf import paths
from beowulf.cluster.common.shells import surroundings
from beowulf.cluster.namespaces.boot import NODE_BYTES

pytestmark = pytest.mark.cluster


def state_of(beowulf: Beowulf) -> dict[str, str]:
    return {row["node"]: row["state"] for row in json.loads(beowulf("status", "--json"))["nodes"]}


def test_a_second_up_changes_only_what_is_asked_for(beowulf: Beowulf) -> None:
    beowulf("up", "--nodes", "5", "--rate", "10mbit")
    beowulf("ssh", "node00", "echo here > /dev/shm/mark")
    before = beowulf.cluster.supervisor.nodes()
    assert len(before) == 5
    assert "5 nodes are up" in beowulf("up")
    assert "(1gbit, 1 network" in beowulf("up", "--rate", "1gbit")
    assert beowulf.cluster.supervisor.nodes() == before, "a new rate restarted the nodes"
    assert beowulf("ssh", "node00", "cat /dev/shm/mark").strip() == "here"
    assert "2 nodes are up" in beowulf("up", "--nodes", "2")
    assert state_of(beowulf) == {"node00": "up", "node01": "up"}
    assert "node02" not in beowulf("ssh", "node00", "cat /etc/hosts")


def test_each_rate_stands_on_both_ends_and_is_known_to_who_has_the_cluster_in_hand(
    beowulf: Beowulf,
) -> None:
    beowulf("up", "--nodes", "2", "--rate", "off")
    cluster = beowulf.cluster
    for rate, shaped in (("off", ""), ("10mbit", "rate 10Mbit"), ("1gbit", "rate 1Gbit")):
        beowulf("up", "--rate", rate)
        for end in (
            cluster.administer("node01", "tc qdisc show dev eth0").stdout,
            at_switch(cluster, "tc qdisc show dev node01"),
        ):
            assert ("tbf" in end) == bool(shaped)
            assert shaped in end
        assert cluster.describe()["rate"] == rate
    # `cluster` was made at another rate; healing does not bring that one back.
    cluster.heal()
    assert "1Gbit" in cluster.as_found()["queue of eth0 on node00"]


def test_two_networks_are_two_switches(beowulf: Beowulf) -> None:
    beowulf("up", "--nodes", "2", "--networks", "2")
    assert beowulf("ssh", "node00", "ssh node01-eth1 hostname").strip() == "node01"
    # With the second cable pulled, the first one still carries.
    beowulf.cluster.administer("node01", "ip link set eth1 down")
    assert "1 received" in beowulf("ssh", "node00", "ping -n -c 1 -W 20 192.168.0.9")
    assert "0 received" in beowulf("ssh", "node00", "ping -n -c 1 -W 1 192.168.1.9; true")


def test_explain_prints_the_commands_that_a_learner_could_type(beowulf: Beowulf) -> None:
    said = beowulf("up", "--explain", "--nodes", "2")
    for command in ("unshare ", "link add br0 type bridge", "qdisc replace", "sshd -f"):
        assert command in said
    commands = said[: said.rindex("\n\n")]
    subprocess.run(["bash", "-n"], input=commands, text=True, check=True)
    assert "bash --norc -c 'sleep infinity & wait'" in commands.splitlines()[1]


def test_a_warning_on_stderr_is_no_reason_not_to_boot(beowulf: Beowulf) -> None:
    """As after a login by ssh that brought a locale, and with a start-up file that prints something."""
    start_up_file = beowulf.here / "start up"
    start_up_file.write_text("echo 'loading modules' >&2\n")
    surroundings = {"LC_ALL": "xx_XX.UTF-8", "BASH_ENV": str(start_up_file)}
    assert "2 nodes are up" in beowulf("up", "--nodes", "2", **surroundings)
    assert "loading modules" in (beowulf.state / "supervisor.log").read_text()
    said = beowulf("ssh", "node00", "bash --norc -c hostname", LC_ALL="xx_XX.UTF-8")
    assert said == "node00\n"


def test_nodes_keep_their_files_when_the_machines_own_ones_are_replaced(
    beowulf: Beowulf, private_mounts: tuple[str, ...]
) -> None:
    """As a package does that adds a user: it writes a new /etc/passwd beside the old one and renames it."""
    etc = beowulf.here / "etc"
    subprocess.run(["cp", "-a", "/etc", etc], stderr=subprocess.DEVNULL)  # but for what is root's
    (etc / "folder").mkdir()
    (etc / "folder" / "up").symlink_to("../../usr/bin")
    beowulf.prefix = (*private_mounts, f"move:{etc}:/etc")
    beowulf("up", "--nodes", "2")
    ask = "echo $SHELL $PATH; cat /etc/hosts /etc/hostname /etc/ssh/ssh_config; getent passwd $(id -u)"
    before = beowulf("ssh", "node01", ask)
    assert str(beowulf.state / "bin" / "shell") in before
    for name in ("passwd", "group", "hosts", "hostname", "nsswitch.conf", "ssh/ssh_config"):
        new = etc / f"{name}.new"
        new.write_text((etc / name).read_text() + "# new\n" if (etc / name).exists() else "# new\n")
        new.rename(etc / name)
    (etc / "of-a-new-package").write_text("new\n")
    assert beowulf("ssh", "node01", ask) == before
    assert beowulf("ssh", "node01", "ssh node00 hostname; tail -n 1 /etc/nsswitch.conf") == (
        "node00\n# new\n"
    )
    assert "env" in beowulf("ssh", "node01", "ls /etc/folder/up/").split()
    # What is not the cluster's own is a link to a read-only folder, so `rm` on a node deletes nothing of the machine's.
    assert "Read-only" in beowulf(
        "ssh", "node01", "touch /run/beowulf/machine/etc/of-a-node", code=None
    )
    beowulf("up")
    assert beowulf("ssh", "node01", "cat /etc/of-a-new-package") == "new\n"


@pytest.mark.nightly
@pytest.mark.skipif(os.getuid() != 0, reason="only root hides a folder of the machine")
def test_a_container_without_dev_net_boots(tmp_path: Path) -> None:
    learner = Beowulf(tmp_path / "state", tmp_path)
    hidden = "mount -t tmpfs tmpfs /dev/net && beowulf up --nodes 2 && beowulf validate"
    environment = {**learner.environment, "PATH": f"{paths.python_bin()}:{os.environ['PATH']}"}
    try:
        done = subprocess.run(
            ["unshare", "--mount", "sh", "-c", f"mkdir -p /dev/net; {hidden}"],
            env=environment,
            cwd=tmp_path,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr
        assert "2 nodes are up" in done.stdout
    finally:
        learner.end()


def test_two_clusters_at_once_do_not_see_each_other(beowulf: Beowulf, tmp_path: Path) -> None:
    other = Beowulf(tmp_path / "another", tmp_path)
    try:
        beowulf("up", "--nodes", "2")
        other("up", "--nodes", "3")
        beowulf("ssh", "node00", "echo first > /dev/shm/whose")
        assert other("ssh", "node00", "cat /dev/shm/whose 2>/dev/null || echo nobody") == "nobody\n"
        assert "0 received" in beowulf("ssh", "node00", "ping -n -c 1 -W 1 192.168.0.10; true")
        beowulf("down")
        assert len(state_of(other)) == 3
    finally:
        other.end()


def test_two_ups_at_once_make_one_cluster(beowulf: Beowulf) -> None:
    both = [beowulf.start("up"), beowulf.start("up")]
    said = [each.communicate(timeout=PATIENCE_S)[0] for each in both]
    assert [each.returncode for each in both] == [0, 0], said
    supervisors = [words for words in beowulf.processes() if "beowulf-supervisor" in words]
    assert len([words for words in supervisors if words.startswith("bash")]) == 1


def test_nodes_outlive_the_terminal_that_booted_them(beowulf: Beowulf) -> None:
    # As `ssh -t machine beowulf up` has it: the terminal closes with the command.
    words = f"exec {COMMAND} up --nodes 2"
    subprocess.run(
        ["script", "-qec", words, "/dev/null"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        env=beowulf.environment,
        timeout=PATIENCE_S,
        check=True,
    )
    assert state_of(beowulf) == {"node00": "up", "node01": "up"}


@pytest.mark.nightly
def test_a_state_folder_with_blanks_quotes_and_marks_in_its_name_works(tmp_path: Path) -> None:
    odd = Beowulf(tmp_path / 'it\'s a "Böx" 100%d $HOME [x] \\ #1', tmp_path)
    try:
        odd("up", "--nodes", "2")
        assert odd("ssh", "node00", "ssh node01 hostname").strip() == "node01"
        said = odd("ssh", "node01", f"mpiexec -n 2 {HOSTNAME}").split()
        assert sorted(said) == ["node00", "node01"]
    finally:
        odd.end()
    assert not odd.state.exists()


def moved(learner: Beowulf, mounts: tuple[str, ...], name: str) -> Beowulf:
    """The same learner, whose checkout is in a folder of that name."""
    checkout = learner.here / name
    checkout.mkdir()
    found = Beowulf(learner.state, learner.here, (*mounts, f"move:{paths.root()}:{checkout}"))
    begin = "import sys; sys.argv[0] = 'beowulf'; from beowulf.cli import main; main()"
    found.command = (str(checkout / ".venv" / "bin" / "python"), "-c", begin)
    found.environment["PYTHONPATH"] = str(checkout)
    return found


@pytest.mark.nightly
def test_a_checkout_may_have_most_marks_in_its_name(
    beowulf: Beowulf, private_mounts: tuple[str, ...]
) -> None:
    learner = moved(beowulf, private_mounts, "it's-[ä]*?&;#%d(1)\\x")
    learner("up", "--nodes", "2")
    (learner.here / "say.c").write_text('#include <stdio.h>\nint main(void) { puts("heard"); }')
    assert learner("run", "-n", "2", "say.c").split() == ["heard", "heard"]
    said = learner("ssh", "node01", "mpicc say.c -o say && mpiexec -n 2 ./say")
    assert said.split() == ["heard", "heard"]


@pytest.mark.parametrize("name", first(1, ["My Labs", "my$labs", "my`labs"]))
def test_a_checkout_whose_name_mpich_does_not_quote_is_refused(
    beowulf: Beowulf, private_mounts: tuple[str, ...], name: str
) -> None:
    learner = moved(beowulf, private_mounts, name)
    for command in ("up", "doctor"):
        said = learner(command, code=1)
        assert "MPICH cannot work in" in said
        assert "Move the checkout to a folder without it" in said
    assert not learner.state.exists()


@pytest.mark.parametrize(
    "name", first(2, ["/proc/nowhere/state", "with:colon", "with${brace}", "with\nline"])
)
def test_a_state_folder_that_cannot_be_written_or_named_to_ssh_is_refused(
    beowulf: Beowulf, tmp_path: Path, name: str
) -> None:
    said = beowulf("up", code=1, BEOWULF_STATE=str(tmp_path / name))
    assert "BEOWULF_STATE" in said
    assert name.partition("\n")[0] in said


def test_a_folder_that_holds_something_else_is_neither_used_nor_removed(
    beowulf: Beowulf, tmp_path: Path
) -> None:
    home = tmp_path / "home"
    (home / "bin").mkdir(parents=True)
    for mine in ("thesis.txt", "bin/script"):
        (home / mine).write_text("years of work")
    said = beowulf("up", code=1, BEOWULF_STATE=str(home))
    assert "used for something else: thesis.txt" in said
    assert "No cluster was running" in beowulf("down", BEOWULF_STATE=str(home))
    assert sorted(path.name for path in home.rglob("*")) == ["bin", "script", "thesis.txt"]


def test_what_somebody_puts_beside_a_clusters_files_outlives_the_cluster(beowulf: Beowulf) -> None:
    beowulf("up", "--nodes", "2")
    (beowulf.state / "notes.txt").write_text("do not lose")
    beowulf("up")
    beowulf("down")
    assert [path.name for path in beowulf.state.iterdir()] == ["notes.txt"]
    nothing_runs(beowulf)


@pytest.mark.parametrize("size", first(1, ["40k", "4k"]))
def test_a_full_disk_ends_up_with_a_sentence_and_nothing_left(
    beowulf: Beowulf, tmp_path: Path, private_mounts: tuple[str, ...], size: str
) -> None:
    beowulf.state.mkdir()
    full = Beowulf(beowulf.state, tmp_path, (*private_mounts, f"tmpfs:{size}:{beowulf.state}"))
    said = full("up", code=1)
    assert "space" in said
    nothing_runs(beowulf)


@pytest.mark.nightly
def test_sixteen_nodes_fit_into_a_machine_of_1_gb_and_not_into_one_with_20_mb_left(
    beowulf: Beowulf, private_mounts: tuple[str, ...]
) -> None:
    meminfo = beowulf.here / "meminfo"
    beowulf.prefix = (*private_mounts, f"move:{meminfo}:/proc/meminfo")
    meminfo.write_text("MemTotal: 1000000 kB\nMemAvailable: 20000 kB\n")
    said = beowulf("up", "--nodes", "16", "--networks", "2", code=1)
    assert "16 nodes need 80 MB of memory, but only 20 MB are free. " in said
    assert not beowulf.state.exists()
    meminfo.write_text("MemTotal: 1000000 kB\nMemAvailable: 900000 kB\n")
    assert "16 nodes are up" in beowulf("up", "--nodes", "16", "--networks", "2")
    assert state_of(beowulf) == {f"node{number:02}": "up" for number in range(16)}
    assert beowulf("ssh", "node00", "ssh node15-eth1 hostname").strip() == "node15"
    kb = 0
    for pid in beowulf.pids():
        with suppress(OSError):  # it ended
            found = re.search(
                r"^Pss: +(\d+) kB", Path(f"/proc/{pid}/smaps_rollup").read_text(), re.M
            )
            kb += int(found[1]) if found else 0
    assert 0 < 1024 * kb < 16 * NODE_BYTES


@pytest.mark.parametrize(
    "tool",
    first(1, "tc sshd ethtool ssh-keygen ssh setsid unshare nsenter setpriv".split()),
)
def test_a_missing_tool_is_reported_before_anything_is_made(
    beowulf: Beowulf, private_mounts: tuple[str, ...], tool: str
) -> None:
    path = shutil.which(tool, path=surroundings()["PATH"])
    assert path
    without = Beowulf(beowulf.state, beowulf.here, (*private_mounts, f"hide:{path}"))
    said = without("up", code=1)
    assert said.startswith(f"beowulf: {tool} cannot be found on this machine.")
    assert "`beowulf doctor --fix` installs it." in said
    assert not beowulf.state.exists()


def test_a_missing_compiler_is_reported(beowulf: Beowulf, private_mounts: tuple[str, ...]) -> None:
    beowulf("up", "--nodes", "2")
    (beowulf.here / "say.c").write_text("int main(void) { return 0; }")
    compiler = Path(shutil.which("cc") or "").resolve()
    without = Beowulf(beowulf.state, beowulf.here, (*private_mounts, f"hide:{compiler}"))
    said = without("run", "say.c", code=1)
    assert "There is no C compiler to run" in said
    assert "`beowulf doctor --fix` installs it." in said
