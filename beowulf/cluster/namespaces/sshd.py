"""The ssh servers of a local cluster: keys made for it alone, and the files that let every node trust every other."""

from __future__ import annotations

import grp
import os
import pwd
import shlex
from collections.abc import Iterable
from pathlib import Path

from beowulf.cluster.common.config import ClusterConfig
from beowulf.cluster.common.node_environment import JOB
from beowulf.cluster.common.shells import LONGEST_SCRIPT_S, completed
from beowulf.errors import LabError

USER_KEY = "etc/user_key"
PID = "/run/sshd.pid"
# From OpenSSH 10 on, a percent sign in the name of the log is not itself; older ones have no other way to write it.
LOG = "/run/beowulf/sshd.log"
# And the name of this file is a pattern, in which other letters are not themselves.
AUTHORIZED_KEYS = "/run/beowulf/authorized_keys"
# Keys are made outside of the supervisor: when `up` is killed, nothing of it is to write on beside the next one.
WITH_ITS_PARENT = ("setpriv", "--pdeathsig", "KILL")
# Port 22 in state LISTEN, as /proc/net/tcp writes it.
LISTENING = "00000000:0016 00000000:0000 0A"


def make_keys(plan: ClusterConfig, folder: Path) -> None:
    """Make one key pair for the user and one for each node, unless they are there already."""
    wanted = [folder / USER_KEY, *(host_key(folder, node) for node in plan.names)]
    # Half of a pair, and an empty file, are what an interruption or a full disk leaves.
    lacking = [key for key in wanted if not (_holds(key) and _holds(key.with_suffix(".pub")))]
    if not lacking:
        return
    lines = []
    for key in lacking:
        key.parent.mkdir(parents=True, exist_ok=True)
        key.unlink(missing_ok=True)
        make = f"ssh-keygen -q -t ed25519 -N '' -C beowulf -f {shlex.quote(str(key))}"
        lines.append(shlex.join(WITH_ITS_PARENT) + " " + make)
    # ssh-keygen wants its user to have a name; as root of a namespace, everybody has one.
    become = [] if _named() else ["unshare", "--user", "--map-root-user"]
    words = [*become, *WITH_ITS_PARENT, "sh", "-ec", "\n".join(lines)]
    done = completed(words, "", LONGEST_SCRIPT_S, "")
    if done.returncode:
        raise LabError(
            f"ssh-keygen could not make the cluster's keys: {done.stderr.strip()}.",
            "Check whether the disk is full and whether `beowulf doctor` finds openssh.",
        )


def host_key(folder: Path, node: str) -> Path:
    """The private key with which a node proves to be that node."""
    return folder / "nodes" / node / "host_key"


def authorized_keys(folder: Path) -> str:
    """What a node's authorized_keys holds when all is well: the cluster's one user key."""
    return (folder / USER_KEY).with_suffix(".pub").read_text()


def shared_files(plan: ClusterConfig, folder: Path) -> dict[str, tuple[str, int]]:
    """Files that all nodes share, once the keys are made: path below the state folder, text, mode."""
    known_hosts = ""
    for node in plan.names:
        names = [
            node,
            *(plan.address(node, network) for network in range(plan.networks)),
        ]
        names += [f"{node}-eth{network}" for network in range(1, plan.networks)]
        key = host_key(folder, node).with_suffix(".pub").read_text()
        known_hosts += f"{','.join(names)} {key}"
    return {
        "etc/known_hosts": (known_hosts, 0o644),
        "etc/ssh_config": (_client(folder), 0o644),
        "etc/passwd": (_passwd(folder / "bin" / "shell"), 0o644),
        "etc/group": (_group(), 0o644),
        "etc/shadow": (f"{_me().pw_name}:*:19000:0:99999:7:::\n", 0o600),
    }


def server(
    plan: ClusterConfig, folder: Path, node: str, settings: Iterable[tuple[str, str]]
) -> str:
    """The text of a node's sshd_config; `settings` are the environment of every shell that it opens."""
    values = " ".join(_word(f"{name}={value}") for name, value in settings)
    return "\n".join(
        [
            "Port 22",
            "AddressFamily inet",
            f"HostKey {_word(host_key(folder, node))}",
            f"AuthorizedKeysFile {AUTHORIZED_KEYS}",
            f"PidFile {PID}",
            "PermitRootLogin prohibit-password",
            "PasswordAuthentication no",
            "KbdInteractiveAuthentication no",
            "UsePAM no",
            "UseDNS no",
            "StrictModes no",  # the keys' folder may belong to root seen through another user namespace
            "PrintMotd no",
            "PrintLastLog no",
            "X11Forwarding no",
            "MaxStartups 100",
            "MaxSessions 100",
            "Subsystem sftp internal-sftp",
            f"AcceptEnv {JOB}",
            f"SetEnv {values}",
            "",
        ]
    )


def start(folder: Path, node: str) -> list[str]:
    """Lines for the node's namespace that start its sshd, if none runs, and wait until it answers."""
    own = shlex.quote(str(folder / "nodes" / node))
    connection = shlex.quote(str(folder / "bin" / "connection"))
    become = ""
    if os.geteuid() != 0:
        # sshd of a mapped root fails when it drops groups; in a nested namespace it is the ordinary user.
        become = f"unshare -U --map-user={os.getuid()} --map-group={os.getgid()} "
    return [
        "[ -d /run/sshd ] || mkdir -p /run/sshd",
        # Each keeps its name there.
        f"ln -sf {connection} {own}/sshd.log {own}/authorized_keys /run/beowulf",
        # sshd writes this file once it listens; the kernel would take milliseconds to list its connections.
        f"listening() {{ [ -s {PID} ] && read -r pid <{PID} && [ -e /proc/$pid ] && read -r name </proc/$pid/comm"
        " && [ $name = sshd ]; }",
        # One that was started with another key, or other settings, goes first; logins that are open stay.
        f"if [ -e {PID} ] && [ {own}/host_key -nt {PID} -o {own}/sshd_config -nt {PID} ]; then",
        f"kill $(<{PID}) || true",
        "for ((try = 0; try < 1000; try++)); do listening || break; sleep 0.005; done",
        "fi",
        # It refuses where another `up` has just started one: then that one will answer.
        "failed=0",
        f"listening || {become}/usr/sbin/sshd -f {own}/sshd_config -E {LOG} || failed=1",
        "for ((try = 0; try < (failed ? 100 : 6000); try++)); do listening && exit 0; sleep 0.005; done",
        f"tail -n 3 {own}/sshd.log >&2; echo 'sshd does not answer' >&2; exit 1",
    ]


def home() -> Path:
    """The learner's home folder, which all nodes see."""
    return Path(_me().pw_dir)


def forget(nodes: Iterable[str]) -> list[str]:
    """Lines for a node that drop its shared connections to `nodes`, which have been restarted."""
    sockets = " ".join(f"/run/beowulf/ssh-{node}*" for node in nodes)
    return [f"rm -f {sockets}"] if sockets else []


def hang_up(node: str) -> list[str]:
    """Lines for a node that end its shared connection to another one."""
    return [f"ssh -q -O exit {node} 2>/dev/null || true", *forget([node])]


def _client(folder: Path) -> str:
    return "\n".join(
        [
            "Host *",
            f"  User {_me().pw_name}",
            f"  IdentityFile {_pattern(folder / USER_KEY)}",
            f"  UserKnownHostsFile {_pattern(folder / 'etc' / 'known_hosts')}",
            "  StrictHostKeyChecking yes",
            "  AddressFamily inet",
            "  BatchMode yes",
            "  ConnectTimeout 3",
            "  LogLevel ERROR",
            "  # A node that vanishes is noticed after about four seconds.",
            "  ServerAliveInterval 2",
            "  ServerAliveCountMax 2",
            "  # One connection a pair of nodes is opened and then shared.",
            "  ControlMaster auto",
            "  ControlPath /run/beowulf/ssh-%n",
            "  ControlPersist 30",
            f"  SendEnv {JOB}",
            "",
        ]
    )


def _word(text: object) -> str:
    """One word of a configuration file of ssh, whatever blanks and quotes are in it."""
    return '"' + str(text).replace("\\", "\\\\").replace('"', '\\"') + '"'


def _pattern(path: Path) -> str:
    """The same, for a setting in which ssh would replace %u and its like."""
    return _word(str(path).replace("%", "%%"))


def _holds(file: Path) -> bool:
    return file.exists() and file.stat().st_size > 0


def _named() -> bool:
    """Whether this machine has a name for our user; some containers have none."""
    try:
        return bool(pwd.getpwuid(os.getuid()))
    except KeyError:
        return False


def _me() -> pwd.struct_passwd:
    uid = os.getuid()
    if _named():
        return pwd.getpwuid(uid)
    home = os.environ.get("HOME", "/")
    return pwd.struct_passwd((f"user{uid}", "x", uid, os.getgid(), "", home, "/bin/bash"))


def _passwd(shell: Path) -> str:
    me = _me()
    mine = f"{me.pw_name}:x:{me.pw_uid}:{me.pw_gid}:{me.pw_gecos}:{me.pw_dir}:{shell}\n"
    others = [line for line in _lines("/etc/passwd") if not line.startswith(f"{me.pw_name}:")]
    return mine + "".join(others)


def _group() -> str:
    # sshd gives a terminal to the group tty, which does not exist inside an ordinary user's namespace.
    drop = () if os.geteuid() == 0 else ("tty:",)
    lines = [line for line in _lines("/etc/group") if not line.startswith(drop or "\0")]
    try:
        mine = grp.getgrgid(os.getgid()).gr_name
    except KeyError:
        mine = f"group{os.getgid()}"
    if not any(line.startswith(f"{mine}:") for line in lines):
        lines.append(f"{mine}:x:{os.getgid()}:\n")
    return "".join(lines)


def _lines(path: str) -> list[str]:
    return Path(path).read_text(errors="replace").splitlines(keepends=True)
