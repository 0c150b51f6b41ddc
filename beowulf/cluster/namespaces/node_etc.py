"""The /etc of a node: a folder of its own, with links to all that is in the machine's and files that are the cluster's.

A mount over a file of the machine's folder itself would go away when another file takes that file's name, as when a
package adds a user. A link shows the node what is there then.
"""

from __future__ import annotations

import os
import shlex
from pathlib import Path

NODES = "/run/beowulf/etc"
# The machine's /etc, among links to all else in /: so links in it that lead upwards find what they mean. It is mounted
# read-only, or root would delete the machine's files with the node's; some containers forbid that part of the mount.
MACHINES = "/run/beowulf/machine"
# Below /etc of a node, and below the folder with the cluster's files.
SHARED = {"passwd": "etc/passwd", "group": "etc/group", "ssh/ssh_config": "etc/ssh_config"}

# What is left of it after a learner has deleted /run/beowulf as root is taken away first.
MAKE = f"""\
(
umask 022
into=/etc from={MACHINES}/etc
if [ ! -e /etc/.beowulf ]; then
into={NODES} from=/etc
if [ -e $into ]; then
while read -r _ place _; do umount --lazy $place || true; done <TABLE
fi
mkdir -p $into/ssh {MACHINES}/etc /run/sshd
others=()
for each in /*; do [ -e "{MACHINES}$each" ] || others+=("$each"); done
ln -s "${{others[@]}}" {MACHINES}
while read -r _ place _; do [ -d $place ] || : >$place; done <TABLE
: >$into/.beowulf
fi
files=() links=()
for each in $from/* $from/.[!.]*; do
file=${{each##*/}}
if [ -e "$into/$file" ] || [ -L "$into/$file" ]; then continue; fi
if [ -L "$each" ]; then links+=("$each"); else files+=("{MACHINES}/etc/$file"); fi
done
if ((${{#links[@]}})); then cp -P "${{links[@]}}" $into; fi
if ((${{#files[@]}})); then ln -s "${{files[@]}}" $into; fi
if [ $into != /etc ]; then mount --all --fstab TABLE || [ -e /etc/.beowulf -a -s /etc/hostname ]; fi
)"""


def make(table: Path) -> list[str]:
    """Lines of shell for a node that make its /etc; if it is there, they add what the machine's got since."""
    return MAKE.replace("TABLE", shlex.quote(str(table))).splitlines()


def ours(folder: Path, node: str) -> dict[str, Path]:
    """Which files of a node's /etc are the cluster's: where they are below it, and the file in the cluster's folder."""
    own = folder / "nodes" / node
    files = {place: folder / file for place, file in SHARED.items()}
    if os.geteuid() == 0:
        files["shadow"] = folder / "etc" / "shadow"
    return files | {"hosts": own / "hosts", "hostname": own / "hostname"}
