"""Our side of the benchmark up_down without the start of the interpreter and the imports.

Boots the local cluster in the state folder that is named, prints how long it took as a line of JSON, waits for a
line, takes the cluster down and prints another.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

from beowulf.cluster import namespaces
from beowulf.cluster.config import ClusterConfig


def main() -> None:
    """Bring the cluster up and print it; after a line of input, take it down and print it."""
    folder = Path(sys.argv[1])
    began = time.perf_counter()
    namespaces.up(ClusterConfig(), folder=folder)
    print(json.dumps({"up_s": time.perf_counter() - began}), flush=True)

    sys.stdin.readline()
    began = time.perf_counter()
    namespaces.down(folder=folder)
    print(json.dumps({"down_s": time.perf_counter() - began}), flush=True)


main()
