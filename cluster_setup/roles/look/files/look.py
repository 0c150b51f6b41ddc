"""What a machine is, as JSON: asked before anything is changed on it. Arguments: its address, the list of tools."""

from __future__ import annotations

import json
import os
import platform
import pwd
import shutil
import subprocess
import sys

PREFIX = "/opt/beowulf"
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
# Of packages.tsv: what a node cannot do without, and what lab 03's suites run on all nodes.
GROUPS = ("lab", "suites")


def text(path: str) -> str:
    """What is in a file; nothing when it is not there."""
    try:
        with open(path, errors="replace") as file:
            return file.read()
    except OSError:
        return ""


def settings(path: str) -> dict[str, str]:
    """The lines name=value of a file."""
    pairs = (line.split("=", 1) for line in text(path).splitlines() if "=" in line)
    return {name: value.strip('"') for name, value in pairs}


def output(*words: str) -> str:
    """What a command prints."""
    try:
        return subprocess.run(words, stdout=subprocess.PIPE, text=True).stdout
    except OSError:
        return ""


def missing(tools: str) -> list[str]:
    """The packages that bring what is not there; a tool is a command, or a file when it begins with /."""
    packages = []
    for line in tools.splitlines():
        fields = line.split("\t")
        if line.startswith("#") or len(fields) < 3 or fields[2] not in GROUPS:
            continue
        there = (
            os.path.exists(fields[0]) if fields[0][0] == "/" else shutil.which(fields[0], path=PATH)
        )
        if not there and fields[1] not in packages:
            packages.append(fields[1])
    return packages


def keys() -> dict[str, dict[str, str]]:
    """The nodes' keys as this machine remembers them."""
    stored: dict[str, dict[str, str]] = json.loads(text(PREFIX + "/etc/keys.json") or "{}")
    return stored


def capture(user: str) -> bool:
    """Whether dumpcap may be run without root by its group, and by this user."""
    dumpcap = shutil.which("dumpcap", path=PATH)
    if not dumpcap:
        return False
    allowed = bool(output("/usr/sbin/getcap", dumpcap).strip()) or bool(
        os.stat(dumpcap).st_mode & 0o4000
    )
    return allowed and (user == "root" or "wireshark" in output("id", "-nG", user).split())


def main() -> None:
    """Print all of it."""
    address, tools = sys.argv[1:3]
    user = os.environ.get("SUDO_USER") or pwd.getpwuid(os.getuid()).pw_name
    them = pwd.getpwnam(user)
    words = output("ip", "-o", "-4", "address", "show", "to", address + "/32").split()
    place = PREFIX if os.path.exists(PREFIX) else "/opt" if os.path.exists("/opt") else "/"
    disk = os.statvfs(place)
    print(
        json.dumps(
            {
                "os": settings("/etc/os-release").get("ID", "unknown"),
                "like": settings("/etc/os-release").get("ID_LIKE", ""),
                "arch": platform.machine(),
                "python": f"{sys.version_info[0]}.{sys.version_info[1]}",
                "user": user,
                "home": them.pw_dir,
                "group": them.pw_gid,
                "root": os.geteuid() == 0,
                "boot": text("/proc/sys/kernel/random/boot_id").strip(),
                "cores": len(os.sched_getaffinity(0)),
                "systemd": os.path.isdir("/run/systemd/system"),
                "missing": missing(tools),
                "interface": words[1] if len(words) > 1 else "",
                "free_mb": disk.f_bavail * disk.f_frsize // 10**6,
                "hostname": platform.node(),
                "old_hostname": text(PREFIX + "/etc/old_hostname").strip(),
                "hosts": text("/etc/hosts"),
                "host_key": text("/etc/ssh/ssh_host_ed25519_key.pub").strip(),
                "user_key": text(them.pw_dir + "/.ssh/beowulf.pub").strip(),
                "card": settings(PREFIX + "/etc/node"),
                "keys": keys(),
                "digest": text(PREFIX + "/programs/digest").strip(),
                "capture": capture(user),
                "capture_is_ours": os.path.exists(PREFIX + "/etc/capture"),
            }
        )
    )


main()
