"""Which cores the processes of a node may run on."""

from __future__ import annotations

import os

from beowulf.tuning.knob import Knob, facts


class Pinning(Knob):
    """Whether a node's processes stay on one core."""

    name = "pinning"
    title = "pinning of processes to cores"
    what = "`one` keeps all processes of a node on one core; `all` lets the scheduler move them between all."
    why = "A process that moves leaves its cache behind; two that are kept on one core wait for each other."
    here = (
        "All nodes share the cores of this machine: `one` gives node00 the first core, node01 the next, and so on"
        " round. `mpiexec -bind-to core` would put every node's first rank on the very same core, because each node"
        " believes to have the machine to itself."
    )
    kinds = ("local",)  # elsewhere a node has processes that are nobody's to move
    elsewhere = "On PCs and VMs: `mpiexec -bind-to core`, or `taskset -c 0 PROGRAM`."
    values = ("all", "one")
    tuned = "all"
    shows = "one"

    def look(self, place: str) -> str:
        if len(os.sched_getaffinity(0)) < 2:
            return "echo 'this machine has a single core'; exit 1"
        return "echo cores=$(taskset -cp 1 | sed 's/.*: //')"

    def value(self, state: str) -> str:
        cores = facts(state)["cores"]
        return "one" if cores.isdigit() else "all"

    def set(self, value: str, place: str) -> str:
        cores = sorted(os.sched_getaffinity(0))
        if value == "one":
            cores = [cores[int(place.removeprefix("node")) % len(cores)]]
        return self._lines(",".join(str(core) for core in cores))

    def back(self, state: str, place: str) -> str:
        return self._lines(facts(state)["cores"])

    def _lines(self, cores: str) -> str:
        # Those that end meanwhile cannot be moved, and need not be.
        return f"""for process in /proc/[0-9]*; do
    taskset -acp {cores} ${{process#/proc/}} >/dev/null 2>&1 || true
done"""
