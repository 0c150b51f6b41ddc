"""What a rank does while it waits."""

from __future__ import annotations

from beowulf.tuning.knobs.node_file import NodeFile

FILE = "/run/beowulf/patient"


class PatientPolling(NodeFile):
    """Whether a rank that waits for a message leaves its core to others."""

    name = "patient-polling"
    title = "patient polling"
    what = "`never`: a rank that waits asks the kernel again and again; `always`: it sleeps until something arrives."
    why = "Asking is the fastest way to wait with a core to oneself, and the slowest when ranks outnumber cores."
    here = "`auto` is patient only when the ranks of all nodes outnumber the cores of this machine (lab 04)."
    kinds = ("local",)
    elsewhere = "On PCs and VMs each node decides: it is patient when its own ranks outnumber its own cores."
    values = ("auto", "always", "never")
    tuned = "auto"
    shows = "always"
    relaunch = True
    file = FILE
