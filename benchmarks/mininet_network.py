"""Mininet's side of the benchmark up_down: four hosts behind one switch, an sshd in each.

Run by the machine's own Python, for which Debian's package installs Mininet, with a folder that has the file
sshd_config. It prints a line of JSON when every sshd listens, and goes on for each line that it reads.
"""

import json
import sys
import time
from pathlib import Path
from typing import Any

# Debian's Mininet brings no types.
from mininet.link import TCLink  # type: ignore[import-not-found]
from mininet.net import Mininet  # type: ignore[import-not-found]
from mininet.nodelib import LinuxBridge  # type: ignore[import-not-found]
from mininet.topo import SingleSwitchTopo  # type: ignore[import-not-found]

HOSTS = 4
SHAPED = {"bw": 100, "use_tbf": True}
LONGEST_WAIT_S = 20
# Port 22 in state LISTEN, as /proc/net/tcp writes it; the nodes of `beowulf up` get the same check.
LISTENING = "00000000:0016 00000000:0000 0A"
BANNER = "exec 3<>/dev/tcp/{}/22 && read -r -t 5 -u 3 line && echo $line; exec 3>&-"


def started(folder: str) -> Any:
    """A running network whose hosts all have an sshd that listens."""
    topology = SingleSwitchTopo(k=HOSTS, lopts=SHAPED)
    net = Mininet(topo=topology, switch=LinuxBridge, controller=None, link=TCLink)
    net.start()
    for host in net.hosts:
        host.cmd(f"/usr/sbin/sshd -D -f {folder}/sshd_config &")
    deadline = time.monotonic() + LONGEST_WAIT_S
    for host in net.hosts:
        # Read from outside: a command in the host's shell would cost Mininet more time.
        sockets = Path(f"/proc/{host.pid}/net/tcp")
        while LISTENING not in sockets.read_text():
            if time.monotonic() > deadline:
                sys.exit(f"the sshd of {host.name} does not listen")
            time.sleep(0.001)
    return net


def shaped_ports(net: Any) -> int:
    """How many of the cables' ends have the queue that limits their rate."""
    ends = [end for link in net.links for end in (link.intf1, link.intf2)]
    return sum("qdisc tbf" in end.cmd("tc qdisc show dev", end) for end in ends)


def main() -> None:
    """Bring the network up; after a line of input prove what it is; after another, take it down."""
    net = started(sys.argv[1])
    print(json.dumps({"ready": True}), flush=True)

    sys.stdin.readline()
    banners = [net.hosts[0].cmd(BANNER.format(host.IP())).strip() for host in net.hosts]
    answering = sum("SSH-2.0" in banner for banner in banners)
    print(json.dumps({"answering": answering, "shaped_ports": shaped_ports(net)}), flush=True)

    sys.stdin.readline()
    began = time.perf_counter()
    for host in net.hosts:
        # As Mininet's own example does: sshd outlives its shell otherwise.
        host.cmd("kill $!")
    net.stop()
    print(json.dumps({"down_s": time.perf_counter() - began}), flush=True)


main()
