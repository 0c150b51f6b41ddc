"""How much TCP hands down in one piece, as kernels of earlier years did."""

from __future__ import annotations

from beowulf.tuning.knob import Knob, facts, number

KERNEL = "the kernel's own"
MOST_SEGMENTS = 40  # so that the bytes stay below the kernel's own 65,536
FRAME_BYTES = 1500
FIELDS = ("gso_max_size", "gso_max_segs")  # in the order in which `ip -d link` prints them
# For sed: `gso_max_size=65536`, and the other one in the next line.
PRINT = r"s/.* {0} \([0-9]*\) {1} \([0-9]*\).*/{0}=\1\n{1}=\2/p".format(*FIELDS)


class SmallSegments(Knob):
    """How many segments TCP puts together at most before they go down to the card."""

    name = "small-segments"
    title = "segments that TCP puts together (gso_max_size, gso_max_segs)"
    what = "So many segments of a frame each TCP hands down in one piece at most; kernels of today take up to 64 KB."
    why = (
        "A send buffer counts pieces with the memory that each needs. It takes a piece as long as it is not full, so"
        " that pieces of 64 KB let a small buffer take far more than its size."
    )
    here = (
        "The same as on a PC: the card of each node has its own, also where the offloads are off."
    )
    elsewhere = "On PCs and VMs: `ip -d link show eth0`, `ip link set dev eth0 gso_max_size 3000 gso_max_segs 2`."
    paper = "Paper D says nothing of it; we infer small pieces from the step in its table 5 (studies D1 and D2)."
    values = (KERNEL, "2")
    tuned = KERNEL
    shows = "2"
    relaunch = True

    def accepted(self, value: str) -> str:
        return str(number(self.name, value, 1, MOST_SEGMENTS, "segments"))

    def look(self, place: str) -> str:
        return (
            f"ip -d -o link show dev eth0 | sed -n '{PRINT}' | grep . ||"
            f' {{ echo "this ip command does not show {FIELDS[0]}"; exit 1; }}'
        )

    def value(self, state: str) -> str:
        size, segments = (int(facts(state)[name]) for name in FIELDS)
        return str(segments) if size == segments * FRAME_BYTES else KERNEL

    def set(self, value: str, place: str) -> str:
        size = int(value) * FRAME_BYTES
        return f"ip link set dev eth0 gso_max_size {size} gso_max_segs {value}"

    def back(self, state: str, place: str) -> str:
        size, segments = (facts(state)[name] for name in FIELDS)
        return f"ip link set dev eth0 gso_max_size {size} gso_max_segs {segments}"
