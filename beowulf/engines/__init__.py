"""IPython engines on the nodes, driven from a notebook: a learner's own, in one MPI world.

The controller runs beside the notebook and talks to the engines through sockets in a folder that every node sees:
nothing of it is on the cables that a learner measures.
"""

from __future__ import annotations

from beowulf.cluster import Cluster
from beowulf.engines.cell_error import CellError
from beowulf.engines.learner_engines import Engines
from beowulf.engines.world import LONGEST_S

__all__ = ["CellError", "Engines", "start_engines"]

# Those of this process: there are seldom cores for more.
_running: list[Engines] = []


def start_engines(cluster: Cluster, timeout_s: float = LONGEST_S) -> Engines:
    """One engine a node, and `%%px` in the notebook, which runs a cell on all of them; the same again while they live.

    What does not end within `timeout_s` seconds is ended.
    """
    from beowulf.engines import px

    if _running and _running[0].alive and _running[0].cluster.folder == cluster.folder:
        engines = _running[0]
        engines.timeout_s = timeout_s
    else:
        while _running:
            _running.pop().stop()
        engines = Engines(cluster, timeout_s).start()
        _running.append(engines)
    px.register(engines)
    print(engines.about)
    return engines
