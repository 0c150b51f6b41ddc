"""What lab 07 asks each learner of their own, drawn from the word that a course gave them."""

from __future__ import annotations

from beowulf.course import personal_code

# Settings that every node has of its own, and that take 0 and 1.
SETTINGS = (
    "net.ipv4.ip_early_demux",
    "net.ipv4.tcp_autocorking",
    "net.ipv4.tcp_early_demux",
    "net.ipv4.tcp_slow_start_after_idle",
    "net.ipv4.tcp_timestamps",
)
USUAL_SETTING = SETTINGS[0]
# Of a plate's rows: each is one short message.
COLUMNS, USUAL_COLUMNS = (50, 75, 125, 150, 175), 100
# Of paper E's applications, as its table names them.
WORKLOADS, USUAL_WORKLOAD = ("mpiBLAST", "HPCC"), "mpiBLAST"


def setting(own: str | None = None) -> str:
    """For which setting of the kernel a knob is to be written."""
    return personal_code.choice("07 own-knob", USUAL_SETTING, SETTINGS, own)


def columns(own: str | None = None) -> int:
    """How long the rows of the plate are on which a firewall is tried."""
    return personal_code.choice("07 plate", USUAL_COLUMNS, COLUMNS, own)


def workload(own: str | None = None) -> str:
    """Of which of paper E's applications the share of waiting is asked."""
    return personal_code.choice("07 waiting-share", USUAL_WORKLOAD, WORKLOADS, own)
