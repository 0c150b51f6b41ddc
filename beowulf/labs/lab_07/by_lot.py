"""What lab 07 asks each learner individually, derived from their personal code."""

from __future__ import annotations

from beowulf.course import personal_code

# Settings that each node has for itself, and that may be 0 or 1.
SETTINGS = (
    "net.ipv4.ip_early_demux",
    "net.ipv4.tcp_autocorking",
    "net.ipv4.tcp_early_demux",
    "net.ipv4.tcp_slow_start_after_idle",
    "net.ipv4.tcp_timestamps",
)
USUAL_SETTING = SETTINGS[0]
# The length of a plate's rows: each is one short message.
COLUMNS, USUAL_COLUMNS = (50, 75, 125, 150, 175), 100
# Of paper E's applications, as its table names them.
WORKLOADS, USUAL_WORKLOAD = ("mpiBLAST", "HPCC"), "mpiBLAST"


def setting(own: str | None = None) -> str:
    """The kernel's setting for which a knob is written."""
    return personal_code.choice("07 own-knob", USUAL_SETTING, SETTINGS, own)


def columns(own: str | None = None) -> int:
    """The length of the plate's rows in section 8."""
    return personal_code.choice("07 plate", USUAL_COLUMNS, COLUMNS, own)


def workload(own: str | None = None) -> str:
    """The application of paper E of the question `waiting-share`."""
    return personal_code.choice("07 waiting-share", USUAL_WORKLOAD, WORKLOADS, own)
