# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Play: your own MPI, your own capture, your own plot
#
# Nothing here is graded. Four nodes run what you write in a cell: change anything, and run it again. `beowulf lab play`
# opens this page, which is `play/play.ipynb` beside the labs' folders.

# %%
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from beowulf import connect, start_engines
from beowulf.packets.mpi_messages import messages

cluster = connect("records")
engines = start_engines(cluster)

# %% [markdown]
# ## 1 A program on all nodes
#
# A cell that begins with `%%px` runs on every node at once. Each node has the names `world` (all ranks),
# `rank`, `ranks`, `node`, `MPI` and `np`. What a node prints begins with its name.

# %%
# %%px
print("I am rank", rank, "of", ranks)

# %% [markdown]
# Messages go from rank to rank. Here each sends its number to the next, and the last one to rank 0.

# %%
# %%px
before, after = (rank - 1) % ranks, (rank + 1) % ranks
heard = world.sendrecv(rank, dest=after, source=before)
print(f"rank {before} has sent me {heard}")

# %% [markdown]
# Errors name the node and the line. Try it: let rank 1 compute `1 / 0`, or skip `world.sendrecv`, and read who is
# waiting where. A deadlock ends after `engines.timeout_s` seconds, and `engines.restart()` starts the engines again.
#
# ## 2 A message there and back
#
# `Send` and `Recv` with a capital letter take the bytes of an array as they are. The time is taken on rank 0, over
# several round trips; half of one is the time that a message takes.


# %%
# %%px
def half_round_trip_us(size, times=5):
    buffer = np.zeros(size, dtype=np.uint8)
    world.Barrier()
    began = MPI.Wtime()
    for _ in range(times):
        if rank == 0:
            world.Send(buffer, 1)
            world.Recv(buffer, 1)
        elif rank == 1:
            world.Recv(buffer, 0)
            world.Send(buffer, 0)
    return (MPI.Wtime() - began) / times / 2 * 1e6


# %% [markdown]
# `engines.call` calls the function on all ranks and returns their results by rank.

# %%
sizes = [8, 64, 512, 4096, 16384, 65536, 262144]
times_us = [min(engines.call("half_round_trip_us", size)[0] for _ in range(5)) for size in sizes]
for size, time_us in zip(sizes, times_us, strict=True):
    print(f"{size:>8,} bytes {time_us:>10,.1f} µs")

# %% [markdown]
# ## 3 The plot

# %%
figure, axes = plt.subplots()
axes.loglog(sizes, times_us, "o-", base=10)
axes.set_xlabel("message size (bytes)")
axes.set_ylabel("half round trip, best of 5 (µs)")
axes.set_title("node00 and node01")
plt.show()

# %% [markdown]
# ## 4 The packets
#
# The next cell captures the same function's packets in `play.pcapng`, which also opens in Wireshark.

# %%
Path("play.pcapng").unlink(missing_ok=True)
with cluster.capture(Path("play.pcapng"), snap_bytes=256):
    engines.call("half_round_trip_us", 4096, 3)
print(messages("play.pcapng")[["from_rank", "to_rank", "bytes", "kind"]])

# %% [markdown]
# Three times there and three times back. (Connections that were open before the capture began are recognised by what
# they carry.) What else is sent? `world.Barrier()` is made of messages, too.

# %%
engines.stop()
