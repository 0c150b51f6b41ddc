"""What will be changed on separate machines: shown before it is done, each change once.

The nodes of a local cluster end with it; a PC stays as it was left, and may belong to a person.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence

from beowulf.cluster import Cluster
from beowulf.tuning import knob_places
from beowulf.tuning.knob import Knob, Reading
from beowulf.tuning.log import Entry

HEAD = "On the nodes, root changes what follows; `beowulf tune revert` puts back what is there now."
BACK = "On the nodes, root puts back:"
# Of a firewall of a thousand rules the first ones are shown.
MOST_LINES = 8


def shown_first(cluster: Cluster | None) -> bool:
    """Whether the nodes are machines of their own, on which every change is shown first."""
    return cluster is not None and not cluster.can.one_machine


def show(text: str) -> None:
    """Print it on stderr: stdout may be plain data for a script."""
    print(text, file=sys.stderr, flush=True)


def first(cluster: Cluster | None, listed: Iterable[str], agree: Callable[[str], None]) -> None:
    """Call `agree`, which may raise, with those of the listed changes that were not shown yet on this cluster."""
    if cluster is None or not shown_first(cluster):
        return
    if unseen := [each for each in dict.fromkeys(listed) if each and each not in cluster.shown]:
        agree("\n".join([HEAD, *unseen]))
        cluster.shown.update(unseen)


def coming(cluster: Cluster | None, knob: Knob, value: str, before: Mapping[str, Reading]) -> str:
    """What setting a knob does, and where; empty where it is set so already."""
    if cluster is None or cluster.can.one_machine:
        return ""
    done = {
        place: (f"{knob.name} from {was.value} to {value}", knob.set(value, place))
        for place, was in before.items()
        if was.value != value
    }
    return _block(cluster, done)


def going(cluster: Cluster | None, entries: Sequence[Entry]) -> str:
    """What putting these changes back does, where that can be reached; empty on a cluster of this machine."""
    if cluster is None or cluster.can.one_machine:
        return ""
    alive = set(cluster.nodes).difference(cluster.dead_nodes())
    blocks = []
    for entry in reversed(entries):
        was = {place: entry.before[place] for place in entry.open if place in alive}
        done = {
            place: (f"{entry.knob} {each.value}", entry.turned.back(each.state, place))
            for place, each in was.items()
        }
        blocks.append(_block(cluster, done))
    return "\n".join([BACK, *filter(None, blocks)]) if any(blocks) else ""


def _block(cluster: Cluster, done: Mapping[str, tuple[str, str]]) -> str:
    """By place, what is done in words and in lines of shell: places where it is the same are listed together."""
    places_by_change: dict[tuple[str, str], list[str]] = {}
    for place, (what, lines) in done.items():
        own = knob_places.its_own(cluster, place, lines).strip()
        places_by_change.setdefault((what, own), []).append(place)
    return "\n".join(
        line
        for (what, lines), places in places_by_change.items()
        for line in (f"{', '.join(places)}: {what}", *shortened(lines))
    )


def shortened(lines: str) -> list[str]:
    """Lines of shell, indented; of many only the first ones, how many more there are, and the last one."""
    listed = lines.splitlines()
    if len(listed) > MOST_LINES + 1:
        left = len(listed) - MOST_LINES
        listed = [*listed[: MOST_LINES - 1], f"... ({left} more lines)", listed[-1]]
    return [f"    {line}" for line in listed]
