"""Whether an acknowledgement waits for data that it could travel with."""

from __future__ import annotations

from beowulf.tuning.knob import Knob

ROUTES = "ip route show dev eth0 proto kernel"
QUICK = " quickack 1"


class DelayedAck(Knob):
    """Whether segments are acknowledged at once."""

    name = "delayed-ack"
    title = "delayed acknowledgements"
    what = "A receiver waits some 40 ms for data that the acknowledgement can travel with; `quick` sends it at once."
    why = "Fewer packets, as in a ping-pong, where each answer acknowledges; a sender that waits for it waits long."
    here = "The same as on a PC, by the route to the cluster's network (quickack). A program has TCP_QUICKACK."
    elsewhere = "On PCs and VMs: `ip route change NETWORK dev eth0 … quickack 1`."
    values = ("delayed", "quick")
    tuned = "delayed"
    shows = "quick"

    def look(self, place: str) -> str:
        return ROUTES

    def value(self, state: str) -> str:
        return "quick" if QUICK in state else "delayed"

    def set(self, value: str, place: str) -> str:
        end = QUICK if value == "quick" else ""
        return f"""{ROUTES} | sed 's/{QUICK}//' | while read -r route; do
    ip route replace $route dev eth0 proto kernel{end}
done"""

    def back(self, state: str, place: str) -> str:
        return "\n".join(
            f"ip route replace {route.strip()} dev eth0 proto kernel"
            for route in state.splitlines()
        )
