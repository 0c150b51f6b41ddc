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
# # Lab 03: How fast are four?
#
# The handout (`labs/03-parallel-benchmarks/README.md`) has the same sections and explains each word: read a section
# there, then do it here.
#
# - **Time** about 90 minutes for the sections marked *core*, which have 24.5 points; those marked *more* take about
#   60 and have 6.5 · **Points** 31
# - **Run** cells with Shift+Enter, from top to bottom. Those that *measure* save a **Record** in the folder
#   `records/` beside this notebook.
# - **Answer** where you see `None`, with a number or a sum such as `1 / 1.8`. Add cells of your own anywhere.
# - **Check** `check("03")` reports what is still open.

# %%
from pathlib import Path

import matplotlib.pyplot as plt

from beowulf import check, claims, connect, picture, predict, prediction, study
from beowulf.labs import lab_03 as lab

lab.course_style()
cluster = connect("records")
cluster.heal()  # does nothing to a cluster that is whole
print(cluster.kind, *cluster.nodes)

# %% [markdown]
# ## 1 Predict, and seal
#
# *Core, 4 minutes*
#
# **Question `predict-speed-up`** (0.5 points). Four nodes share a plate of 1200 x 1200 points. In each step a node
# computes its 300 rows. It also sends a row of 9600 bytes to each neighbour, over a cable of 100 Mbit/s. The whole
# plate takes one node some milliseconds. How many times as fast as one node are the four?

# %% nbgrader={"grade_id": "predict-speed-up-guess", "solution": true}
speed_up_guess = None
speed_up_low = None
speed_up_high = None
### BEGIN SOLUTION
speed_up_guess, speed_up_low, speed_up_high = 1.6, 1.0, 2.0
### END SOLUTION

# %% nbgrader={"grade_id": "predict-speed-up", "grade": true, "points": 0.5, "locked": true}
predict(cluster, "speed-up", value=speed_up_guess, low=speed_up_low, high=speed_up_high)

# %% [markdown]
# **Question `predict-small`** (0.5 points). The same for a plate of 400 x 400 points, which has a ninth of the
# work, and rows of 3200 bytes.

# %% nbgrader={"grade_id": "predict-small-guess", "solution": true}
small_guess = None
small_low = None
small_high = None
### BEGIN SOLUTION
small_guess, small_low, small_high = 0.6, 0.2, 1.2
### END SOLUTION

# %% nbgrader={"grade_id": "predict-small", "grade": true, "points": 0.5, "locked": true}
predict(cluster, "speed-up-small", value=small_guess, low=small_low, high=small_high)

# %% [markdown]
# ## 2 A plate on four nodes
#
# *Core, 19 minutes*
#
# The next cell lays out `work/heat/heat.py`, beside this lab's folder. It also says whether your `step_numpy` of
# lab 02 can be used.

# %%
lab.heat.start(3)

# %% [markdown]
# Before you write `my_rows` and `run` (nobody grades this): a plate has 402 rows. How many of them does the first
# of three ranks own? And how many rows has its part with both ghost rows?

# %% nbgrader={"grade_id": "heat-run-answer", "solution": true}
rows_of_the_first = None
rows_of_its_part = None
### BEGIN SOLUTION
rows_of_the_first, rows_of_its_part = 134, 136
file = Path("../heat/heat.py")
file.write_text(
    file.read_text()
    + '''

def my_rows(rows, ranks, rank):
    """The first ranks have one more where it does not divide."""
    each, left = divmod(rows - 2, ranks)
    count = each + 1 if rank < left else each
    return 1 + rank * each + min(rank, left), count


def run(world, rows, columns, steps):
    """Exchange, step, swap."""
    first, count = my_rows(rows, world.size, world.rank)
    old = np.zeros((count + 2, columns))
    if first == 1:
        old[0] = 1.0
    new = old.copy()
    for _ in range(steps):
        exchange(world, old)
        step_numpy(old, new)
        old, new = new, old
    return old
'''
)
### END SOLUTION

# %%
# Here is room for lab.heat.check(3).

# %% [markdown]
# **Question `heat-run`** (5 points). Two for `my_rows` and three for `run`, if the Record of the next cell says that
# they are right and your own. Save `heat.py` first.

# %%
plate = lab.heat.speed_up(cluster)

# %% nbgrader={"grade_id": "heat-run", "grade": true, "points": 5, "locked": true}
assert plate.study == "H3", "Run the cell above: it measures your plate."

# %% [markdown]
# ## 3 Speed-up, drawn
#
# *Core, 11 minutes*
#
# A row is a plate and a number of ranks: the median time of a step in ms, and the speed-up with its interval.

# %%
speeds = lab.heat.table(plate)
speeds

# %% [markdown]
# **Question `speed-up-plot`** (2 points). Draw the speed-up over the number of ranks: a line for each plate
# with its intervals, and the line of a program that loses nothing. Name both axes, and each line in a legend.
# `speeds[speeds["rows"] == 1200]` are the rows of one line.
# `lab.prediction_band(axes, prediction(cluster, "speed-up"))` draws your prediction beside them.
#
# *Looked at* are units, scales, names and your numbers, in any style.

# %% nbgrader={"grade_id": "speed-up-plot-answer", "solution": true}
speed_up_figure = None  # speed_up_figure, axes = plt.subplots()
### BEGIN SOLUTION
speed_up_figure, axes = plt.subplots()
for rows in (400, 1200):
    line = speeds[speeds["rows"] == rows].sort_values("ranks")
    times = line["speed_up"]
    ends = [times - line["speed_up_low"], line["speed_up_high"] - times]
    axes.errorbar(line["ranks"], times, yerr=ends, capsize=3, label=f"{rows} x {rows}")
axes.plot([1, 2, 3, 4], [1, 2, 3, 4], label="nothing lost")
lab.prediction_band(axes, prediction(cluster, "speed-up"))
axes.set(xlabel="number of ranks", ylabel="times as fast as one rank")
axes.set(xticks=[1, 2, 3, 4], title="My plate on several nodes")
axes.legend()
### END SOLUTION

# %% nbgrader={"grade_id": "speed-up-plot", "grade": true, "points": 2, "locked": true}
lab.own_plot.keep(
    cluster,
    speed_up_figure,
    "speed-up",
    lab.own_plot.Wants(
        x="number of ranks", y="times as fast as one rank", lines=3, points=4, intervals=2
    ),
)

# %% [markdown]
# Were your predictions right?

# %%
on_four = lab.heat.table(plate).query("ranks == 4").set_index("rows")["speed_up"]
print(lab.outcome(cluster, "speed-up", round(float(on_four[1200]), 2)))
print(lab.outcome(cluster, "speed-up-small", round(float(on_four[400]), 2)))

# %% [markdown]
# *What to look at:* where do your two lines part, and does a third or a fourth rank still help?

# %% [markdown]
# ## 4 A share that cannot be shared
#
# *Core, 14 minutes*
#
# Write the three functions in `laws.py`, beside this notebook. Then run this cell. It tries them with other numbers
# each time:

# %%
asked = lab.speedup_laws.measure(cluster, "laws.py")
print("\n".join(lab.speedup_laws.lines(asked.points)))

# %% [markdown]
# **Question `laws`** (3 points). One for each law that is right.

# %% nbgrader={"grade_id": "laws", "grade": true, "points": 3, "locked": true}
assert asked.variant == "laws", "Run the cell above: it asks your functions."

# %% [markdown]
# **Question `karp-flatt`** (2 points). Which serial share would explain, by Amdahl's law, the speed-up of your own
# plate on two ranks, and on four? Take the plate that the next cell names (1200 rows, unless your course gave you
# a personal code). Compute by hand, or with your own function.

# %%
print(f"the plate of {lab.by_lot.plate_rows()} rows")

# %% nbgrader={"grade_id": "karp-flatt-answer", "solution": true}
serial_share_2 = None
serial_share_4 = None
### BEGIN SOLUTION
mine = speeds[speeds["rows"] == lab.by_lot.plate_rows()].set_index("ranks")["speed_up"]
serial_share_2 = (1 / mine[2] - 1 / 2) / (1 - 1 / 2)
serial_share_4 = (1 / mine[4] - 1 / 4) / (1 - 1 / 4)
### END SOLUTION

# %% nbgrader={"grade_id": "karp-flatt", "grade": true, "points": 2, "locked": true}
lab.form(serial_share_2, "number")
lab.form(serial_share_4, "number")

# %% [markdown]
# *What to look at:* no line of `run` is done by one rank alone. So what does the law call serial?
#
# *Drag:* which of your two plates can no serial part explain?

# %%
lab.serial_part(cluster)

# %% [markdown]
# ## 5 Four nodes on your machine
#
# *Core, 5 minutes*

# %%
print(plate.cluster["kind"], "with", plate.circumstances["before"]["cores"], "cores")

# %% [markdown]
# **Question `cores-bound`** (1 point). If nothing had to be sent, how many times as fast as one rank could four
# be on this cluster, at most? And how many per cent of that does your plate of 1200 rows reach on four ranks?

# %% nbgrader={"grade_id": "cores-bound-answer", "solution": true}
most_times = None
reached_percent = None
### BEGIN SOLUTION
cores = plate.circumstances["before"]["cores"]
most_times = min(4, cores) if plate.cluster["kind"] == "namespaces" else 4
large = speeds[(speeds["rows"] == 1200) & (speeds["ranks"] == 4)]
reached_percent = 100 * float(large["speed_up"].iloc[0]) / most_times
### END SOLUTION

# %% nbgrader={"grade_id": "cores-bound", "grade": true, "points": 1, "locked": true}
lab.form(most_times, "number")
lab.form(reached_percent, "number")

# %% [markdown]
# ## 6 Eight kernels
#
# *Core, 10 minutes*
#
# **Question `predict-ft`** (0.5 points). In class S one node takes some hundredths of a second for FT. How many
# times as fast are four? (As fast as one is 1, half as fast 0.5.)

# %% nbgrader={"grade_id": "predict-ft-guess", "solution": true}
ft_guess = None
ft_low = None
ft_high = None
### BEGIN SOLUTION
ft_guess, ft_low, ft_high = 0.1, 0.02, 0.5
### END SOLUTION

# %% nbgrader={"grade_id": "predict-ft", "grade": true, "points": 0.5, "locked": true}
predict(cluster, "ft", value=ft_guess, low=ft_low, high=ft_high)

# %% [markdown]
# **Question `a4-record`** (0.5 points). Nothing to write: the points are for a whole Record in which all eight
# are verified. A4 runs them on one node and on four, then once more with a profile of their MPI calls.

# %%
measured = study("A4", cluster, quick=True)
found = lab.a4_parallel_benchmarks.table(measured)

# %% nbgrader={"grade_id": "a4-record", "grade": true, "points": 0.5, "locked": true}
assert measured.study == "A4", "Run the cell above: it measures A4 on your cluster."
assert measured.variant == "", "This is a Record of an exercise; run the cell above again."
assert measured.complete, "The measurement was cut short; run the cell above again."

# %%
found[["benchmark", "class", "seconds_1", "verified"]]

# %% [markdown]
# **Question `ep-count`** (1 point). EP draws 16,777,216 pairs of random numbers in class S (class A has 16 times
# as many), and each random number counts as one operation. How many Mop/s, millions of operations in a second,
# does one node do?

# %% nbgrader={"grade_id": "ep-count-answer", "solution": true}
ep_mops = None
### BEGIN SOLUTION
seconds = found.set_index("benchmark")  # every machine has its own
one, four = seconds["seconds_1"], seconds["seconds_4"]
ep_mops = 2 * 16_777_216 / one["EP"] / 1_000_000
### END SOLUTION

# %% nbgrader={"grade_id": "ep-count", "grade": true, "points": 1, "locked": true}
lab.form(ep_mops, "number")

# %% [markdown]
# ## 7 Four from one
#
# *Core, 8 minutes*
#
# **Question `four-from-one`** (2 points). How many seconds should EP and FT take on four ranks? For EP only the
# first part of the formula counts, for FT the first two. In class S the cube of FT has 64 · 64 · 64 points of 16
# bytes, a quarter on each rank. At each of its seven turns a rank keeps a quarter of its quarter, and sends the rest.
# What counts is your arithmetic, within 5 % of what follows from your `seconds_1`.

# %% nbgrader={"grade_id": "four-from-one-answer", "solution": true}
ep_predicted_s = None
ft_predicted_s = None
### BEGIN SOLUTION
workers = most_times
sent_bytes = 64 * 64 * 64 * 16 / 4 * 3 / 4
ep_predicted_s = one["EP"] / workers
ft_predicted_s = one["FT"] / workers + 7 * sent_bytes / 12_500_000
### END SOLUTION

# %% nbgrader={"grade_id": "four-from-one", "grade": true, "points": 2, "locked": true}
lab.form(ep_predicted_s, "number")
lab.form(ft_predicted_s, "number")

# %% [markdown]
# And this is what was measured:

# %%
print(lab.outcome(cluster, "ft", round(float(found.set_index("benchmark")["speed_up"]["FT"]), 3)))
found[["benchmark", "seconds_1", "seconds_4", "speed_up"]]

# %% [markdown]
# *What to look at:* divide what you measured by what you computed, for EP and for FT. Which of the eight are
# *slower* on four nodes than on one?

# %% [markdown]
# ## 8 Where does the time go?
#
# *Core, 9 minutes*
#
# Of the time of all four ranks, the part that was spent inside MPI:

# %%
found[["benchmark", "seconds_4", "communication_percent"]]

# %% [markdown]
# **Question `shares`** (1.5 points). Which of the eight spends the largest share of its time in MPI, such as
# `"EP"`? And how many of its seconds on four ranks are left for computing?

# %% nbgrader={"grade_id": "shares-answer", "solution": true}
largest_share_has = None
computing_s = None
### BEGIN SOLUTION
share = seconds["communication_percent"]
largest_share_has = share.idxmax()
computing_s = (1 - share.max() / 100) * four[largest_share_has]
### END SOLUTION

# %% nbgrader={"grade_id": "shares", "grade": true, "points": 1.5, "locked": true}
lab.form(largest_share_has, "choice:EP,IS,CG,MG,FT,LU,SP,BT")
lab.form(computing_s, "number")

# %% [markdown]
# Which calls are these, and how long are their messages? Of all four ranks together:

# %%
calls = lab.a4_parallel_benchmarks.calls(measured)
calls[(calls["bytes"] > 0) & ~calls["call"].isin(["MPI_Allreduce", "MPI_Reduce", "MPI_Bcast"])]

# %% [markdown]
# **Question `message-length`** (1 point). Take the benchmark and call that the next cell names (LU and `MPI_Send`,
# unless your course gave you a personal code). How many bytes does a call send on average? And is such a message
# paid by the `"piece"` (shorter than 1250 bytes) or by the `"byte"`?

# %%
print(lab.by_lot.sender(), lab.by_lot.CALLS[lab.by_lot.sender()])

# %% nbgrader={"grade_id": "message-length-answer", "solution": true}
bytes_a_call = None
paid_by = None
### BEGIN SOLUTION
by_call = calls.set_index(["benchmark", "call"])
lengths = by_call["bytes"] / by_call["calls"]
bytes_a_call = lengths[lab.by_lot.sender(), lab.by_lot.CALLS[lab.by_lot.sender()]]
paid_by = "piece" if bytes_a_call < 1250 else "byte"
### END SOLUTION

# %% nbgrader={"grade_id": "message-length", "grade": true, "points": 1, "locked": true}
lab.form(bytes_a_call, "number")
lab.form(paid_by, "choice:piece,byte")

# %%
picture(measured)

# %% [markdown]
# *What to look at:* do those with a large share have a small speed-up?

# %% [markdown]
# ## 9 Explain
#
# *Core, 10 minutes*
#
# **Question `explain`** (4 points, read by a person). In five to eight sentences of your own, with your own figures:
#
# 1. Why does one of your two plates gain more from four nodes than the other? Use the bytes of its ghost rows, the
#    rate of the cable, and the time of a rank's rows. Does the serial share stay as ranks are added, and what
#    does that say?
# 2. What can four nodes on your machine show, and what not? Name one of your figures that four real PCs would change,
#    and one that they would not.
# 3. Which of the eight suffers most on your four nodes, and is it the latency or the rate? Use its share, the
#    length of its messages, and what you computed beforehand.

# %% [markdown] nbgrader={"grade_id": "explain", "grade": true, "points": 4, "solution": true}
# ### BEGIN SOLUTION
# **Two plates (2 points).** A step has work that grows as the area and messages that grow as the width. The large
# plate: some ms of rows on one rank against two rows of 9600 bytes, 0.8 ms each on the cable. The small one: half a
# millisecond of rows against 0.26 ms each, with the starts of the messages on top: what is sent takes as long as
# what is shared, so four ranks are slower than one. Karp and Flatt's share grows with the ranks (or is above 1 for
# the small plate): it is communication, and waiting for a core, and not a serial part, of which run has none. One
# point for both times with figures, one for what the share does and says.
#
# **What the machine can show (1 point).** Two cores: at most two ranks compute at a time, so the speed-up of EP ends
# near 2, where four PCs would come near 4; that of the large plate may lie above 2 where a rank's rows fit into a
# cache and the plate does not, which four PCs would show as well. The cable is the same: what FT or the ghost rows
# take on it would stay. One figure of each kind.
#
# **The slowest of the eight (1 point).** By the Record: usually FT or IS, with nearly all of the time in
# MPI_Alltoall or MPI_Alltoallv, whose messages have hundreds of kilobytes: the rate of the cable. Bytes over rate
# gives most of FT's time, without any latency. (CG or LU, whose short messages are waited for, is a good answer where
# the Record says so: latency.)
# ### END SOLUTION

# %% [markdown]
# What paper A claims, compared with your Record. `inconclusive`: this Record cannot decide, because the machine was
# busy, or because the claim needs another class.

# %%
claims(measured)

# %% [markdown]
# ## 10 A result that is wrong
#
# *More, 6 minutes*
#
# In a terminal, with the handout. No points here.

# %% [markdown]
# ## 11 A wrapper of your own
#
# *More, 25 minutes*
#
# Write `MPI_Send` in `sizes.c`, beside this notebook, and try it in a terminal. This cell runs your program in a
# class and with a number of ranks that it draws, and counts the same itself:

# %%
counted = lab.message_sizes.measure(cluster, "sizes.c")
print("class", counted.points[0].at["class"], "on", counted.points[0].at["ranks"], "ranks")
print("\n".join(lab.message_sizes.lines(counted.points)))

# %% [markdown]
# **Question `sizes`** (3 points). One for each count that is right.

# %% nbgrader={"grade_id": "sizes", "grade": true, "points": 3, "locked": true}
assert counted.variant == "sizes", "Run the cell above: it runs your wrapper."

# %% [markdown]
# How long does MG wait for these messages, and for whom? This runs it once more and records every MPI call. The
# table has the milliseconds of each rank.

# %%
mg = lab.mg_timeline.traced(cluster)
lab.mg_timeline.parts(mg).round(2)

# %% [markdown]
# The key `l` goes to the longest wait, `n` to the next.

# %%
lab.timelines.timeline(cluster, mg, "MG")

# %% [markdown]
# **Question `timeline`** (1 point). Of your own run: in which call is the longest wait (such as
# `"MPI_Wait"`), for which rank, and how many milliseconds does it take? On what do all ranks together spend
# the most time: `"computing"`, `"network"` or `"waiting"`?

# %% nbgrader={"grade_id": "timeline-answer", "solution": true}
mg_wait_call = None
mg_wait_for_rank = None
mg_wait_ms = None
mg_most = None
### BEGIN SOLUTION
longest = lab.timelines.longest(mg, "MG")
mg_wait_call, mg_wait_for_rank = longest["call"], longest["for_rank"]
mg_wait_ms = longest["wait_ms"]
shares = lab.mg_timeline.shares(mg)
mg_most = max(shares, key=shares.get)
### END SOLUTION

# %% nbgrader={"grade_id": "timeline", "grade": true, "points": 1, "locked": true}
lab.form(mg_wait_call, "text")
lab.form(mg_wait_for_rank, "number")
lab.form(mg_wait_ms, "number")
lab.form(mg_most, "choice:computing,network,waiting")

# %% [markdown]
# ## 12 Seven numbers instead of one
#
# *More, 17 minutes*
#
# **Question `e4-record`** (0.5 points). Nothing to write: the points are for the Record. Study E4 runs the HPC
# Challenge on all nodes, in about half a minute. `quick=True` cuts the long messages of b_eff short, so the table
# leaves their rate out.

# %%
challenge = study("E4", cluster, quick=True)
lab.e4_hpcc.table(challenge)

# %% nbgrader={"grade_id": "e4-record", "grade": true, "points": 0.5, "locked": true}
assert challenge.study == "E4", "Run the cell above: it runs the HPC Challenge."
assert challenge.complete, "The measurement was cut short; run the cell above again."

# %% [markdown]
# **Question `hpl-percent`** (1 point). DGEMM is the rate of one rank when all compute for themselves; four ranks
# together have four times that. How many per cent of it does HPL keep, which has to send?

# %% nbgrader={"grade_id": "hpl-percent-answer", "solution": true}
hpl_percent_of_dgemm = None
### BEGIN SOLUTION
from statistics import median

gflops = {
    name: median(point.samples[0] for point in challenge.select(result=name))
    for name in ("hpl_gflops", "dgemm_gflops")
}
hpl_percent_of_dgemm = 100 * gflops["hpl_gflops"] / (4 * gflops["dgemm_gflops"])
### END SOLUTION

# %% nbgrader={"grade_id": "hpl-percent", "grade": true, "points": 1, "locked": true}
lab.form(hpl_percent_of_dgemm, "number")

# %% [markdown]
# **Question `paper-hpl`** (0.5 points). Paper E ran HPL with Ns 37326: how many GB (10 to the power of 9 bytes) has its
# matrix, of 8 bytes a number? It took 56 % less time after tuning: how many times the performance is that?

# %% nbgrader={"grade_id": "paper-hpl-answer", "solution": true}
hpl_matrix_gb = None
hpl_times_the_performance = None
### BEGIN SOLUTION
hpl_matrix_gb = 37326 * 37326 * 8 / 1_000_000_000
hpl_times_the_performance = 1 / (1 - 0.56)
### END SOLUTION

# %% nbgrader={"grade_id": "paper-hpl", "grade": true, "points": 0.5, "locked": true}
lab.form(hpl_matrix_gb, "number")
lab.form(hpl_times_the_performance, "number")

# %%
picture(challenge)

# %%
claims(challenge)

# %% [markdown]
# Paper E's claims compare a cluster before and after tuning. Yours was measured in one state, so they are
# inconclusive here. `beowulf tune compare hpl hpcc` measures both states (lab 07).

# %% [markdown]
# ## 13 Compare with paper A
#
# *More, 12 minutes*
#
# Paper A's column is class A, Grendel's is class B, and yours is of another class still:

# %%
found[["benchmark", "class", "mops_4", "paper_mops", "grendel_mops"]].dropna(subset=["paper_mops"])

# %% [markdown]
# **Question `cable-bound`** (0.5 points). FT has 7,137 million operations in class A, and paper A prints 5.45
# Mop/s: how many seconds did it run? And its cube has 256 · 256 · 128 points: with four ranks and seven turns,
# how many seconds does a cable of 12,500,000 bytes a second need for what *one* rank sends?

# %% nbgrader={"grade_id": "cable-bound-answer", "solution": true}
ft_paper_s = None
ft_cable_s = None
### BEGIN SOLUTION
ft_paper_s = 7137 / 5.45
ft_cable_s = 7 * 256 * 256 * 128 * 16 / 4 * 3 / 4 / 12_500_000
### END SOLUTION

# %% nbgrader={"grade_id": "cable-bound", "grade": true, "points": 0.5, "locked": true}
lab.form(ft_paper_s, "number")
lab.form(ft_cable_s, "number")

# %% [markdown]
# ## 14 The questions
#
# `check` reports what is still empty or does not fit. It measures nothing. Save the notebook first.

# %%
check("03")

# %% [markdown]
# Hand in this folder: the notebook, `records/`, `laws.py` and `sizes.c`. Your plate in `../heat` is kept in the
# Records. You need not run everything again: an answer counts when it fits one of your Records.
