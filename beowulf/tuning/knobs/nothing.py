"""A knob that does nothing, to try a measurement on."""

from __future__ import annotations

from beowulf.tuning.knobs.node_file import NodeFile

FILE = "/run/beowulf/nothing"


class Nothing(NodeFile):
    """A file that nobody reads."""

    name = "nothing"
    title = "nothing at all"
    what = "A file that no program reads, with the word `on` in it, or no such file."
    why = "A measurement that finds an effect of nothing would find one of anything: try it first."
    here = f"`on` makes {FILE} on every node."
    kinds = ("local", "VM", "PC")
    elsewhere = "On PCs and VMs: any file that nobody reads."
    values = ("off", "on")
    tuned = "off"
    shows = "on"
    file = FILE
