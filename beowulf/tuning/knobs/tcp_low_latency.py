"""A switch that once made TCP prefer a short way over a full pipe."""

from __future__ import annotations

from beowulf.tuning.knobs.files import Files


class TcpLowLatency(Files):
    """net.ipv4.tcp_low_latency, which nothing reads any more."""

    name = "tcp-low-latency"
    title = "tcp_low_latency"
    what = "With 1, Linux before 4.14 handed segments straight to the receive queue and made no use of its prequeue."
    why = "The prequeue left the work to the process that waits: more data a second, a little later each."
    here = (
        "Nothing: Linux 4.14 (2017) took the prequeue away and kept the switch, so that old scripts go on running."
        " It belongs to this machine; inside a node the file does not exist. Turn it, and see `no effect`."
    )
    elsewhere = "On PCs and VMs: `sysctl net.ipv4.tcp_low_latency`; it does something on kernels before 4.14."
    paper = "Paper E (on a kernel that had the prequeue) found that 1 made latency slightly worse, and leaves it out."
    values = ("0", "1")
    tuned = "0"
    shows = "1"
    on_host = True
    files = ("/proc/sys/net/ipv4/tcp_low_latency",)
    lacking = "this kernel has no tcp_low_latency any more"
