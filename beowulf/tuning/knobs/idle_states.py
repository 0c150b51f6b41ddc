"""How deeply an idle core sleeps."""

from __future__ import annotations

from beowulf.tuning.knob import facts
from beowulf.tuning.knobs.files import Files


class IdleStates(Files):
    """Whether an idle core may sleep more deeply than waiting awake."""

    name = "idle-states"
    title = "CPU idle states"
    what = "How deeply a core that has nothing to do may sleep; `off` lets it only wait awake."
    why = "From a deep sleep it takes up to hundreds of microseconds to wake: each message that is waited for pays it."
    here = "They belong to this machine, and all nodes share its cores. A virtual machine has few, or none."
    elsewhere = "On PCs: `cpupower idle-set -D 0`, or `processor.max_cstate=1` at boot."
    values = ("on", "off")
    tuned = "off"
    shows = "off"
    on_host = True
    # state0 is waiting awake.
    files = ("/sys/devices/system/cpu/cpu[0-9]*/cpuidle/state[1-9]*/disable",)
    lacking = "the kernel of this machine knows of no idle states of its cores"

    def value(self, state: str) -> str:
        held = set(facts(state).values())
        return {"0": "on", "1": "off"}[held.pop()] if len(held) == 1 else "some"

    def set(self, value: str, place: str) -> str:
        return super().set("1" if value == "off" else "0", place)
