"""Who chooses the frequency of the cores."""

from __future__ import annotations

from beowulf.tuning.knobs.files import Files


class Governor(Files):
    """The kernel's rule for the frequency of each core."""

    name = "governor"
    title = "CPU frequency governor"
    what = "The rule by which the kernel chooses each core's frequency: `performance` is always the highest."
    why = "A core that waits for messages looks idle, is slowed down, and answers late."
    here = "It belongs to this machine, and all nodes share its cores. A virtual machine has none: its host has."
    elsewhere = "On PCs: `cpupower frequency-set -g performance`."
    values = ("schedutil", "performance", "powersave", "ondemand", "conservative")
    tuned = "performance"
    shows = "performance"
    on_host = True
    files = ("/sys/devices/system/cpu/cpu[0-9]*/cpufreq/scaling_governor",)
    lacking = "the kernel of this machine does not choose the frequency of its cores"
