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
# # Lab 09: What would it cost on another network?
#
# The handout (`labs/09-prediction/README.md`) has the same sections and explains every term. Read a section there,
# then do it here.
#
# - **Time** about 110 minutes for the sections marked *core* (20 points), and another 75 for those marked *more* (5
#   points) · **Points** 25
# - **You need** a running cluster (`make lab LAB=09` boots one), and SimGrid (`beowulf doctor` reports whether it is
#   installed)
# - **How it works** Cells that *measure* or *simulate* save a **Record** in the folder `records/` next to this
#   notebook. Your answer goes where you see `None`. You may add your own cells anywhere. `check("09")` lists what is
#   still open.

# %%
from pathlib import Path

import matplotlib.pyplot as plt

from beowulf import check, connect, predict, study
from beowulf.labs import lab_09 as lab

lab.course_style()
cluster = connect("records")
cluster.heal()  # does nothing to a cluster that is whole
print(cluster.kind, *cluster.nodes)

# %% [markdown]
# ## 1 Predict, and seal
#
# *Core, 4 minutes*
#
# **Question `predict-broadcast`** (0.5 points). Rank 0 has 1 KiB that 63 other ranks need. It can send to one rank
# after another, or every rank that has the data can help to pass them on. How many times faster is the second way?

# %% nbgrader={"grade_id": "predict-broadcast-answer", "solution": true}
broadcast_guess = None
broadcast_low = None
broadcast_high = None
### BEGIN SOLUTION
broadcast_guess, broadcast_low, broadcast_high = 10, 6, 20
### END SOLUTION

# %% nbgrader={"grade_id": "predict-broadcast", "grade": true, "points": 0.5, "locked": true}
predict(cluster, "broadcast", value=broadcast_guess, low=broadcast_low, high=broadcast_high)

# %% [markdown]
# **Question `predict-plate`** (0.5 points). A plate has 4096 rows of 4096 numbers, as in the heat program. A step takes
# 10 to 20 ms on one node. With more nodes, each node computes a part of the rows, and sends two rows of 32 KiB to its
# neighbours in each step. How many times faster is a step on 64 nodes of your network than on one node?

# %% nbgrader={"grade_id": "predict-plate-answer", "solution": true}
plate_guess = None
plate_low = None
plate_high = None
### BEGIN SOLUTION
plate_guess, plate_low, plate_high = 4, 2, 10
### END SOLUTION

# %% nbgrader={"grade_id": "predict-plate", "grade": true, "points": 0.5, "locked": true}
predict(cluster, "plate", value=plate_guess, low=plate_low, high=plate_high)

# %% [markdown]
# ## 2 Calibrate
#
# *Core, 11 minutes*
#
# Study E1 measures half round trips (half the time that a message takes to go there and back) for messages of 0 bytes
# to 1 MiB.

# %%
lab.calibration.need_quiet()
e1 = study("E1", cluster, quick=True)
made = lab.calibration.of(e1)
lab.calibration.table(made).round(1)

# %% [markdown]
# *What to look at:* at which sizes is `error_percent` largest, and what happens there?
#
# For how many µs does a short message keep its sender and its receiver busy?

# %%
print(f"send {made.send_us:.1f} µs, receive {made.receive_us:.1f} µs")

# %% [markdown]
# **Question `calibration`** (2 points). Take three numbers from the table: alpha (the time of an empty message), the
# time of the longest message, and the largest error between two sizes, ignoring its sign. (`error_percent` is empty for
# the first and the last size.)

# %% nbgrader={"grade_id": "calibration-answer", "solution": true}
alpha_us = None
longest_us = None
worst_percent = None
### BEGIN SOLUTION
times = lab.calibration.table(made)
alpha_us = times["median_us"].iloc[0]
longest_us = times["median_us"].iloc[-1]
worst_percent = times["error_percent"].abs().max()
### END SOLUTION

# %% nbgrader={"grade_id": "calibration", "grade": true, "points": 2, "locked": true}
lab.form(alpha_us, "number")
lab.form(longest_us, "number")
lab.form(worst_percent, "number")

# %% [markdown]
# ## 3 The least time
#
# *Core, 8 minutes*
#
# **Question `lower-bound`** (1 point). On the network of `network.toml` a message of n bytes takes 50 + 0.085 n µs, and
# a rank sends one message at a time. What is the least time in ms of a broadcast of 4 KiB (4096 bytes) to 100 ranks?
# How many bytes take as long as the latencies in this bound?

# %% nbgrader={"grade_id": "lower-bound-answer", "solution": true}
least_ms = None
equal_bytes = None
### BEGIN SOLUTION
latencies_us = 7 * 50
least_ms = (latencies_us + 0.085 * 4096) / 1000
equal_bytes = latencies_us / 0.085
### END SOLUTION

# %% nbgrader={"grade_id": "lower-bound", "grade": true, "points": 1, "locked": true}
lab.form(least_ms, "number")
lab.form(equal_bytes, "number")

# %% [markdown]
# ## 4 The staircase
#
# *Core, 66 minutes*
#
# The five functions in `stairs.c`, next to this notebook, are correct but slow. Change one, save the file, and run the
# cell below. It compiles your file, simulates each function on the network of section 3, and compares every byte. It
# does not use your cluster.
#
# - **Question `tree`** (2 points): 1 KiB to 64 ranks in at most 1 ms
# - **Question `ring`** (2 points): 256 KiB to 64 ranks in at most 100 ms
# - **Question `pipelined`** (3 points): 256 KiB to 256 ranks in at most 110 ms
# - **Question `reduce`** (2 points): the sums of 32,768 numbers on 64 ranks in at most 65 ms
# - **Question `halo`** (2 points): rows of 64 KiB on 16 ranks, with 10 ms of work, in at most 14 ms
#
# What is the size in bytes of the pieces into which you cut 256 KiB (not graded)?

# %% nbgrader={"grade_id": "stairs-answer", "solution": true}
piece_bytes = None
### BEGIN SOLUTION
piece_bytes = 4096
file = Path("stairs.c")
file.write_text(
    file.read_text().split("/* TODO: each rank gets")[0]
    + r"""
enum { PIECE = 4096 };

static int piece(int bytes, int at) { return bytes - at < PIECE ? bytes - at : PIECE; }

void broadcast_ring(unsigned char *data, int bytes, int rank, int ranks) {
    for (int at = 0; at < bytes; at += PIECE) {
        if (rank > 0)
            MPI_Recv(data + at, piece(bytes, at), MPI_BYTE, rank - 1, TAG, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        if (rank < ranks - 1)
            MPI_Send(data + at, piece(bytes, at), MPI_BYTE, rank + 1, TAG, MPI_COMM_WORLD);
    }
}
void broadcast_tree(unsigned char *data, int bytes, int rank, int ranks) {
    int bit = 1;
    while (bit < ranks && !(rank & bit))
        bit <<= 1;
    if (rank)
        MPI_Recv(data, bytes, MPI_BYTE, rank - bit, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (bit >>= 1; bit; bit >>= 1)
        if (rank + bit < ranks)
            MPI_Send(data, bytes, MPI_BYTE, rank + bit, TAG, MPI_COMM_WORLD);
}
void broadcast_pipelined(unsigned char *data, int bytes, int rank, int ranks) {
    for (int at = 0; at < bytes; at += PIECE) {
        if (rank > 0)
            MPI_Recv(data + at, piece(bytes, at), MPI_BYTE, (rank - 1) / 2, TAG, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        for (int to = 2 * rank + 1; to <= 2 * rank + 2 && to < ranks; to++)
            MPI_Send(data + at, piece(bytes, at), MPI_BYTE, to, TAG, MPI_COMM_WORLD);
    }
}
void all_reduce(double *numbers, double *room, int count, int rank, int ranks) {
    int to = (rank + 1) % ranks, from = (rank + ranks - 1) % ranks;
    for (int round = 0; round < 2 * (ranks - 1); round++) {
        int out = (rank - round + 2 * ranks) % ranks, in = (out + ranks - 1) % ranks;
        int a = (int)((long)count * out / ranks), b = (int)((long)count * (out + 1) / ranks);
        int c = (int)((long)count * in / ranks), d = (int)((long)count * (in + 1) / ranks);
        MPI_Sendrecv(numbers + a, b - a, MPI_DOUBLE, to, TAG, room, d - c, MPI_DOUBLE, from, TAG,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (round < ranks - 1)
            for (int i = c; i < d; i++)
                numbers[i] += room[i - c];
        else
            memcpy(numbers + c, room, (size_t)(d - c) * sizeof(double));
    }
}
void halo_step(struct halo *halo, int rank, int ranks) {
    int before = (rank + ranks - 1) % ranks, after = (rank + 1) % ranks;
    MPI_Request r[4];
    MPI_Irecv(halo->before, halo->bytes, MPI_BYTE, before, TAG, MPI_COMM_WORLD, &r[0]);
    MPI_Irecv(halo->after, halo->bytes, MPI_BYTE, after, TAG, MPI_COMM_WORLD, &r[1]);
    MPI_Isend(halo->first, halo->bytes, MPI_BYTE, before, TAG, MPI_COMM_WORLD, &r[2]);
    MPI_Isend(halo->last, halo->bytes, MPI_BYTE, after, TAG, MPI_COMM_WORLD, &r[3]);
    compute_inner_rows();
    MPI_Waitall(4, r, MPI_STATUSES_IGNORE);
    compute_border_rows();
}
"""
)
### END SOLUTION

# %%
mine = None  # if this file does not compile, the cells below show no older one
mine = lab.stairs.measure(cluster, "stairs.c")
lab.stairs.table(mine)

# %% [markdown]
# *What to look at:* compare `simulated_ms` with `target_ms`. How many times as long as the lower bound do the tree and
# the ring take? `fault` names what is wrong, and the cells below print a whole sentence about it. This is the timeline
# of a simulated run on 16 ranks:

# %%
lab.stairs.timeline("ring", "stairs.c")

# %% [markdown]
# Try another step. Which ranks wait? (A pink part at the end of a timeline is `climb.c`, which collects the times.)
#
# *Drag:* which piece size brings a ring nearest to the bound, and why are smaller and larger pieces worse?

# %%
lab.piece_size(cluster)

# %% nbgrader={"grade_id": "tree", "grade": true, "points": 2, "locked": true}
print(lab.stairs.says(mine, "tree"))

# %% nbgrader={"grade_id": "ring", "grade": true, "points": 2, "locked": true}
print(lab.stairs.says(mine, "ring"))

# %% nbgrader={"grade_id": "pipelined", "grade": true, "points": 3, "locked": true}
print(lab.stairs.says(mine, "pipelined"))

# %% nbgrader={"grade_id": "reduce", "grade": true, "points": 2, "locked": true}
print(lab.stairs.says(mine, "reduce"))

# %% nbgrader={"grade_id": "halo", "grade": true, "points": 2, "locked": true}
print(lab.stairs.says(mine, "halo"))

# %% [markdown]
# How good was your first prediction?

# %%
taken = lab.stairs.found(mine)
if not taken["tree"].why:
    times = round(taken["naive"].ms / taken["tree"].ms, 1)
    print(lab.outcome(cluster, "broadcast", times, way="simulated"))

# %% [markdown]
# ## 5 More nodes
#
# *Core, 12 minutes*
#
# The next cell measures the time of a real row on one of your nodes, and of a step on two and four nodes. Then it
# simulates the step on a network like yours, and on a network with links of 1 Gbit/s.

# %%
plate = lab.scaling.measure(cluster, e1)
lab.scaling.table(plate).round(2)

# %%
print(f"a row takes {lab.scaling.row_us(plate):.2f} µs")
lab.scaling.errors_percent(plate)  # by nodes: how far the simulation is from what you measured

# %% [markdown]
# *What to look at:* first compare the measured times with the simulated ones. How far do you trust the figures for 64
# nodes? Then look at `speed_up`. Beyond how many nodes do you gain nothing? A step cannot be shorter than its two
# messages.
#
# **Question `scaling`** (2 points). What is the simulated speed-up of a step on 64 nodes, on your network and on one
# with 1 Gbit/s?

# %% nbgrader={"grade_id": "scaling-answer", "solution": true}
speed_up_64 = None
speed_up_64_gigabit = None
### BEGIN SOLUTION
found = lab.scaling.table(plate).set_index(["network", "nodes"])["speed_up"]
speed_up_64 = found[lab.scaling.OWN, 64]
speed_up_64_gigabit = found[lab.scaling.GIGABIT, 64]
### END SOLUTION

# %% nbgrader={"grade_id": "scaling", "grade": true, "points": 2, "locked": true}
lab.form(speed_up_64, "number")
lab.form(speed_up_64_gigabit, "number")

# %%
on_64 = lab.scaling.table(plate).query("nodes == 64").set_index("network")["speed_up"]
print(lab.outcome(cluster, "plate", round(float(on_64[lab.scaling.OWN]), 1), way="simulated"))

# %% [markdown]
# ## 6 Explain
#
# *Core, 9 minutes*
#
# **Question `explain`** (3 points, read by a person). Answer in five to ten sentences, with your own figures:
#
# 1. Which of your broadcasts would you use for 1 KiB, and which for 256 KiB? Give the reason in terms of alpha, beta,
#    the number of ranks and the number of pieces.
# 2. How far is your simulation from your measurement in section 5? Name two features of a real cluster that the
#    simulation leaves out.

# %% [markdown] nbgrader={"grade_id": "explain", "grade": true, "points": 3, "solution": true}
# ### BEGIN SOLUTION
# **Which broadcast (2 points).** The tree is best for 1 KiB. A message takes 50 µs for its latency and 87 µs for its
# bytes. The tree needs six messages one after the other (0.8 ms), and cutting 1 KiB into pieces would only add
# latencies. For 256 KiB, pieces are best. With the data in one piece, the tree takes six times 22 ms. With k pieces
# along a ring, each rank receives a piece and then sends it. The last rank has everything after the time of (ranks - 1)
# + 2 (k - 1) messages of n / k bytes. For a long message that is nearly 2 beta n, until the ring is so long that its
# latencies count. Then a pipelined tree is best, because its depth grows with the logarithm of the number of ranks.
# Give one point for each size, with the reason in terms of alpha and beta.
#
# **What is left out (1 point).** The answer contains the learner's figure from `lab.scaling.errors_percent`. It also
# names two features, such as cores that ranks share, noise, lost packets and their retransmission, or a switch whose
# buffers fill. Others are the CPU time of a call, progress only inside MPI calls, and memory. Give half a point for
# only one feature.
# ### END SOLUTION

# %% [markdown]
# ## 7 Draw the scaling
#
# *More, 10 minutes*
#
# **Question `scaling-plot`** (2 points). Plot the speed-up against the number of nodes on logarithmic axes, with a line
# for each of the two networks.
#
# The check reads units, scales, names and your numbers. The style is your choice.

# %% nbgrader={"grade_id": "scaling-plot-answer", "solution": true}
scaling_figure = None  # scaling_figure, axes = plt.subplots()
### BEGIN SOLUTION
scaling_figure, axes = plt.subplots()
for name, rows in lab.scaling.table(plate).groupby("network"):
    axes.loglog(rows["nodes"], rows["speed_up"], marker="o", label=name)
axes.set(xlabel="nodes", ylabel="speed-up")
axes.set_title("A step of the plate on more nodes")
axes.legend()
### END SOLUTION

# %% nbgrader={"grade_id": "scaling-plot", "grade": true, "points": 2, "locked": true}
lab.own_plot.keep(
    cluster,
    scaling_figure,
    "scaling",
    lab.own_plot.Wants(x="nodes", y="speed-up", log_x=True, log_y=True, lines=2, points=5),
)

# %% [markdown]
# ## 8 Check a prediction
#
# *More, 15 minutes*
#
# A prediction that nobody checks is a guess. Predict the times of messages at another rate of your links, with the
# range in which each time is expected:

# %%
predicted = made.at_rate("10mbit")
lab.calibration.table(predicted).round(1)

# %% [markdown]
# Now measure these times. Type `beowulf up --rate 10mbit` in a terminal, run the next cell without the `#` on each
# line, then type `beowulf up --rate 100mbit`. (On PCs and on a shared cluster you cannot change the rate: compare with
# another learner's network instead.) This section has no points.

# %%
# lab.calibration.need_quiet()
# slow = lab.calibration.of(study("E1", cluster, quick=True))
# lab.calibration.compared(predicted, slow).round(1)

# %% [markdown]
# *What to look at:* which of the measured times are outside the range? Short messages have a wide range when you
# predict from a slow link, and a narrow one when you predict from a fast link. Why?

# %% [markdown]
# ## 9 Other networks
#
# *More, 15 minutes*
#
# What would paper E's tuning be worth to a step of your plate on 64 nodes? The folder `networks/` of the lab describes
# faster networks and one shared cable of the first Beowulf. It also describes the paper's Gigabit Ethernet before and
# after the tuning (about 50 and nearly 20 µs of latency). The next cell simulates a step on three of these networks:

# %%
own_row_us = lab.scaling.row_us(plate)
for network in ("paper-e-before", "paper-e-after", "ten-gigabit"):
    print(f"{network}: {lab.scaling.on_network(network, own_row_us):.3f} ms")

# %% [markdown]
# *What to look at:* in paper E's two files the tuning takes 30 µs off each message, 60 % of the time of an empty one
# (the paper says nearly 54 %). What share of a step is that?
#
# Now ask the same question for programs that also compute. Each program runs once on your own nodes, and its calls are
# recorded. The calls are replayed on your calibrated network and on paper E's networks, with the times between them
# unchanged.

# %%
lab.replays.table(lab.replays.measure(cluster, made)).round(2)

# %% [markdown]
# *What to look at:* `off_percent` shows how far a replay on your own network is from the recorded run. How far can you
# trust the rest? Which program gains most from the tuning, and why? (Your gas from lab 08 is in the table if its folder
# is next to this one and the exchange is right.)
#
# You do not have 64 nodes. So the programs are simulated on 64 nodes of your network, and the ranks compute one after
# the other on a core of this machine. That run is replayed on each network. To run the cell, remove the `#`. It takes a
# few minutes.

# %%
# lab.replays.table(lab.replays.on_64_nodes(cluster, made)).round(2)

# %% [markdown]
# *What to look at:* which program would gain most on 64 nodes? Compare its gain with that on four nodes.
#
# With the sliders, a formula gives the time of the plate's step for any rate, latency and row length. How far is the
# formula from the simulation of section 5?

# %%
lab.scaling.sliders(own_row_us)

# %% [markdown]
# The next cell simulates a broadcast and an all-reduce in several ways, none of them yours, on 4, 16 and 64 nodes of a
# network like yours. Times are in ms. Above which size does it pay to use more rounds that each send less? Does that
# size depend on the number of nodes?

# %%
ways = lab.collectives.measure(cluster, made)
lab.collectives.table(ways).round(2)

# %%
lab.collectives.table(ways, "allreduce").round(2)

# %% [markdown]
# ## 10 A purchase memo
#
# *More, 35 minutes*
#
# **Question `memo-numbers`** (1 point). Your memo needs four numbers from section 5: the µs that a row takes, and three
# simulated times of a step in ms: for one node, for 16 nodes of your network, and for 16 nodes with 1 Gbit/s.

# %% nbgrader={"grade_id": "memo-numbers-answer", "solution": true}
memo_row_us = None
memo_one_ms = None
memo_own_ms = None
memo_gigabit_ms = None
### BEGIN SOLUTION
steps = lab.scaling.table(plate).set_index(["network", "nodes"])["simulated_ms"]
memo_row_us = lab.scaling.row_us(plate)
memo_one_ms = steps[lab.scaling.OWN, 1]
memo_own_ms = steps[lab.scaling.OWN, 16]
memo_gigabit_ms = steps[lab.scaling.GIGABIT, 16]
### END SOLUTION

# %% nbgrader={"grade_id": "memo-numbers", "grade": true, "points": 1, "locked": true}
lab.form(memo_row_us, "number")
lab.form(memo_one_ms, "number")
lab.form(memo_own_ms, "number")
lab.form(memo_gigabit_ms, "number")

# %% [markdown]
# **Question `memo`** (2 points, read by a person). Your institute has 20,000 euros for a cluster that runs the heat
# program and an all-reduce of 256 KiB after each step. The handout lists three offers. Write a page: which offer do you
# choose? Use your own row time, calibration and simulations, with at least four numbers from your Records, and state
# how sure you are of each number.

# %% [markdown] nbgrader={"grade_id": "memo", "grade": true, "points": 2, "solution": true}
# ### BEGIN SOLUTION
# **Argument (1 point).** The page gives the time of a step for each offer, as computing plus messages. It names the
# offer with the most steps per second, and what limits it. With rows of 32 KiB, messages limit the step at 100 Mbit/s
# on four nodes or more. So more nodes on the slow network gain nothing, and fewer nodes with the faster network win.
#
# **Doubt (1 point).** The page states how wrong each number may be (the errors between sizes, and in section 5), and
# whether such errors would change the decision.
# ### END SOLUTION

# %% [markdown]
# ## 11 The questions
#
# `check` reads this notebook and your Records, and reports what is still empty or does not fit. It measures
# nothing. Save the notebook first.

# %%
check("09")

# %% [markdown]
# Hand in this folder: the notebook, `records/` and `stairs.c`.
