"""A knob that does nothing, to try a measurement on."""

from __future__ import annotations

from beowulf.tuning.knob import Knob

FILE = "/run/beowulf/nothing"


class Nothing(Knob):
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

    def look(self, place: str) -> str:
        return f"[ ! -e {FILE} ] || cat {FILE}"

    def value(self, state: str) -> str:
        return state.strip() or "off"

    def set(self, value: str, place: str) -> str:
        return f"rm -f {FILE}" if value == "off" else f"mkdir -p /run/beowulf\necho {value} >{FILE}"

    def back(self, state: str, place: str) -> str:
        return self.set(self.value(state), place)
