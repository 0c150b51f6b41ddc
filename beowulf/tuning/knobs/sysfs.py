"""Lines of shell that knobs below /sys/class/net share."""

from __future__ import annotations

# A container may forbid a node to mount a /sys of its own; then eth0 there would be the machine's card.
OWN_SYS = """its_address=$(ip -o link show eth0 | sed 's/.*ether \\([^ ]*\\).*/\\1/')
[ "$(cat /sys/class/net/eth0/address)" = "$its_address" ] ||
    { echo 'the node sees the /sys of this machine and not its own'; exit 1; }"""


def writable(name: str) -> str:
    """Lines that fail, with a sentence, unless this file of eth0 may be written: they write what is there."""
    file = f"/sys/class/net/eth0/{name}"
    return f"""[ -e {file} ] || {{ echo 'this kernel has no {name}'; exit 1; }}
now=$(<{file}); {{ echo "$now" >{file}; }} 2>/dev/null ||
    {{ echo 'the kernel lets only the administrator of the whole machine write {name}'; exit 1; }}"""
