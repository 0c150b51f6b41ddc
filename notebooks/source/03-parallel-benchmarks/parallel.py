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
# The handout (`labs/03-parallel-benchmarks/README.md`) has the same sections and explains each new word. Read a section
# there, then do it here.
#
# - **Time** about 90 minutes for the sections marked *core* (24.5 points), and another 60 for those marked *more*
#   (6.5 points) · **Points** 31
# - **Run** cells with Shift+Enter, from top to bottom. Cells that *measure* save a **Record** in the folder `records/`
#   next to this notebook.
# - **Answer** where you see `None`, with a number or a calculation such as `1 / 1.8`. Add your own cells
#   anywhere.
# - **Check** `check("03")` reports which questions are still open.

# %%
from pathlib import Path

import matplotlib.pyplot as plt

from beowulf import check, claims, connect, picture, predict, prediction, study
from beowulf.labs import lab_03 as lab

lab.course_style()
cluster = connect("records")
cluster.heal()  # does nothing to a healthy cluster
print(cluster.kind, *cluster.nodes)

# %% [markdown]
# ## 1 Predict, and seal
#
# *Core, 4 minutes*
#
# **Question `predict-speed-up`** (0.5 points). Four nodes share a plate of 1200 x 1200 points. In each step, a node
# computes its 300 rows and sends a row of 9600 bytes to each neighbour, over a 100 Mbit/s cable. One node takes several
# milliseconds for the whole plate. How many times as fast are four nodes as one?

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
# **Question `predict-small`** (0.5 points). Answer the same question for a plate of 400 x 400 points, which takes a
# ninth of the work, and has rows of 3200 bytes.

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
# The next cell creates `work/heat/heat.py`, next to this lab's folder. It also reports whether it can use your
# `step_numpy` from lab 02.

# %%
lab.heat.start(3)

# %% [markdown]
# Before you write `my_rows` and `run`, answer two questions (they carry no points). A plate has 402 rows. How many of
# them does the first of three ranks own? How many rows does its part have, including the plate's edge and the ghost
# row?

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
    """If the rows do not divide evenly, the first ranks have one more."""
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
# Try lab.heat.check(3) here.

# %% [markdown]
# **Question `heat-run`** (5 points). Two points are for `my_rows` and three for `run`, if the next cell's Record shows
# that the functions are correct and your own. Save `heat.py` first.

# %%
plate = lab.heat.speed_up(cluster)

# %% nbgrader={"grade_id": "heat-run", "grade": true, "points": 5, "locked": true}
assert plate.study == "H3", "Run the cell above: it measures your plate."

# %% [markdown]
# ## 3 Speed-up, drawn
#
# *Core, 11 minutes*
#
# Each table row stands for one plate and number of ranks. It shows the median time of a step in ms, and the speed-up
# with its interval.

# %%
speeds = lab.heat.table(plate)
speeds

# %% [markdown]
# **Question `speed-up-plot`** (2 points). Draw the speed-up against the number of ranks. Draw a line with intervals for
# each plate, and the line for a program that loses nothing. Label both axes, and name each line in a legend.
# `speeds[speeds["rows"] == 1200]` selects the rows for one line. `lab.prediction_band(axes, prediction(cluster,
# "speed-up"))` adds your prediction.
#
# Units, scales, names and your numbers count; style does not.

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
# *What to look at:* where do your two lines separate, and does a third or a fourth rank still help?

# %% [markdown]
# ## 4 A share that cannot be shared
#
# *Core, 14 minutes*
#
# Write the three functions in `laws.py`, next to this notebook. Then run this cell, which tries them with new numbers
# each time:

# %%
asked = lab.speedup_laws.measure(cluster, "laws.py")
print("\n".join(lab.speedup_laws.lines(asked.points)))

# %% [markdown]
# **Question `laws`** (3 points). You get one point for each correct law.

# %% nbgrader={"grade_id": "laws", "grade": true, "points": 3, "locked": true}
assert asked.variant == "laws", "Run the cell above: it tries your functions."

# %% [markdown]
# **Question `karp-flatt`** (2 points). By Amdahl's law, what serial share would explain the speed-up of your own plate
# on two ranks, and on four? Take the plate that the next cell names (1200 rows, unless your course gave you a personal
# code). Compute the shares by hand, or with your own function.

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
# *What to look at:* no line of `run` runs on one rank alone. So what does the law call serial?
#
# *Drag:* for which of your two plates does no serial share explain the speed-up?

# %%
lab.serial_part(cluster)

# %% [markdown]
# ## 5 Four nodes on your machine
#
# *Core, 5 minutes*

# %%
print(plate.cluster["kind"], "with", plate.circumstances["before"]["cores"], "cores")

# %% [markdown]
# **Question `cores-bound`** (1 point). If nothing had to be sent, what is the largest speed-up that four ranks could
# reach on this cluster? (Leave caches aside.) What percentage of that does your plate of 1200 rows reach on four ranks?

# %% nbgrader={"grade_id": "cores-bound-answer", "solution": true}
most_times = None
reached_percent = None
### BEGIN SOLUTION
cores = plate.circumstances["before"]["cores"]
most_times = min(4, cores) if plate.cluster["kind"] in ("namespaces", "local") else 4
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
# **Question `predict-ft`** (0.5 points). In class S, one node takes a few hundredths of a second for FT. How many times
# as fast are four? (1: as fast as one node; 0.5: half as fast.)

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
# **Question `a4-record`** (0.5 points). There is nothing to write: you get the points for a complete Record in which
# all eight are verified. A4 runs them on one node and on four, then once more with a profile of their MPI calls.

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
# **Question `ep-count`** (1 point). EP draws 16,777,216 pairs of random numbers in class S (16 times as many in class
# A). Each random number counts as one operation. How many Mop/s, millions of operations per second, does one node
# reach?

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
# **Question `four-from-one`** (2 points). How many seconds should EP and FT take on four ranks? For EP, use the first
# term of the formula, and for FT, the first two. In class S, FT's cube has 64 · 64 · 64 points of 16 bytes, a quarter
# on each rank. At each of seven turns, a rank keeps a quarter of its quarter and sends the rest. Your arithmetic
# counts: your answers must be within 5 % of what follows from your `seconds_1`.

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
# These are the measured times:

# %%
print(lab.outcome(cluster, "ft", round(float(found.set_index("benchmark")["speed_up"]["FT"]), 3)))
found[["benchmark", "seconds_1", "seconds_4", "speed_up"]]

# %% [markdown]
# *What to look at:* divide the measured time by the computed one, for EP and for FT. Which of the eight are
# *slower* on four nodes than on one?

# %% [markdown]
# ## 8 Where does the time go?
#
# *Core, 9 minutes*
#
# This is the share of all four ranks' time that was spent inside MPI:

# %%
found[["benchmark", "seconds_4", "communication_percent"]]

# %% [markdown]
# **Question `shares`** (1.5 points). Which of the eight (such as `"EP"`) spends the largest share of its time in MPI?
# How many of its seconds on four ranks are left for computing?

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
# Which calls take this time, and how long are their messages? The table totals all four ranks:

# %%
calls = lab.a4_parallel_benchmarks.calls(measured)
calls[(calls["bytes"] > 0) & ~calls["call"].isin(["MPI_Allreduce", "MPI_Reduce", "MPI_Bcast"])]

# %% [markdown]
# **Question `message-length`** (1 point). Take the benchmark and call that the next cell names (LU and `MPI_Send`,
# unless your course gave you a personal code). How many bytes does a call send on average? Do you pay for such a
# message by the `"piece"` (shorter than 1250 bytes) or by the `"byte"`?

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
# *What to look at:* do benchmarks with a large share have a small speed-up?

# %% [markdown]
# ## 9 Explain
#
# *Core, 10 minutes*
#
# **Question `explain`** (4 points, read by a person). In five to eight sentences of your own, with your own
# figures:
#
# 1. Why does one of your two plates gain more from four nodes than the other? Use the bytes of the ghost rows, the rate
#    of the cable, and the time that a rank takes to compute its rows. Does the serial share stay the same when ranks
#    are added, and what does that mean?
# 2. What can four nodes on your machine show, and what can they not show? Name one of your figures that would
#    differ on four real PCs, and one that would not.
# 3. Which of the eight suffers most on your four nodes? Is the cause latency or rate? Use its share, the length
#    of its messages, and your prediction.

# %% [markdown] nbgrader={"grade_id": "explain", "grade": true, "points": 4, "solution": true}
# ### BEGIN SOLUTION
# **Two plates (2 points).** A step's work grows with the area, and its messages grow with the width. For the large
# plate, one rank computes for several ms, and two rows of 9600 bytes take 0.8 ms each on the cable. For the small
# plate, one rank computes for half a millisecond, and the two rows take 0.26 ms each, plus the latency of the messages.
# Sending takes as long as the work that is shared, so four ranks are slower than one. Karp and Flatt's share changes
# with the number of ranks, and is above 1 for the small plate. So the share is communication and waiting for a core,
# not a serial part, which `run` does not have. One point is for both times with figures, and one for what the share
# does and means.
#
# **What the machine can show (1 point).** With two cores, at most two ranks compute at a time. So EP's speed-up stays
# near 2, and would be near 4 on four PCs. The large plate's speed-up may be above 2 if a rank's rows fit into a cache
# and the plate does not; four PCs would show that as well. The cable is the same: the time that FT's data or the ghost
# rows take on it would not change. The answer needs one figure of each kind.
#
# **The slowest of the eight (1 point).** According to the Record, it is usually FT or IS, with nearly all of the time
# in MPI_Alltoall or MPI_Alltoallv. Their messages are hundreds of kilobytes long, so the cause is the cable's rate.
# Bytes divided by rate gives most of FT's time, without any latency. (If the Record shows it, CG or LU is a good answer
# as well; its messages are short, so the cause is latency.)
# ### END SOLUTION

# %% [markdown]
# The next cell compares what table 5 shows, and our own checks, with your Record. `inconclusive` means that this Record
# does not settle the claim, because the machine was busy, or because the claim needs another class.

# %%
claims(measured)

# %% [markdown]
# ## 10 A result that is wrong
#
# *More, 6 minutes*
#
# Follow the handout in a terminal. This section has no points.

# %% [markdown]
# ## 11 A wrapper of your own
#
# *More, 25 minutes*
#
# Write `MPI_Send` in `sizes.c`, next to this notebook, and try it in a terminal. This cell picks a class and a number
# of ranks at random, runs your program, and counts the same messages itself:

# %%
counted = lab.message_sizes.measure(cluster, "sizes.c")
print("class", counted.points[0].at["class"], "on", counted.points[0].at["ranks"], "ranks")
print("\n".join(lab.message_sizes.lines(counted.points)))

# %% [markdown]
# **Question `sizes`** (3 points). You get one point for each correct count.

# %% nbgrader={"grade_id": "sizes", "grade": true, "points": 3, "locked": true}
assert counted.variant == "sizes", "Run the cell above: it runs your wrapper."

# %% [markdown]
# How long does MG wait for these messages, and for which rank? The next cell runs MG again and records every MPI call.
# The table shows how each rank's time divides into computing, network and waiting, in milliseconds.

# %%
mg = lab.mg_timeline.traced(cluster)
lab.mg_timeline.parts(mg).round(2)

# %% [markdown]
# Click on the picture. Then `l` jumps to the longest wait, and `n` to the next one in time.

# %%
lab.timelines.timeline(cluster, mg, "MG")

# %% [markdown]
# **Question `timeline`** (1 point). In your own run, which call has the longest wait (such as `"MPI_Wait"`)? For which
# rank does it wait, and for how many milliseconds? On what do all ranks together spend the most time: `"computing"`,
# `"network"` or `"waiting"`?

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
# **Question `e4-record`** (0.5 points). There is nothing to write: you get the points for the Record. Study E4 runs the
# HPC Challenge on all nodes, in about half a minute. `quick=True` shortens b_eff's long messages, so the table leaves
# out their rate.

# %%
challenge = study("E4", cluster, quick=True)
lab.e4_hpcc.table(challenge)

# %% nbgrader={"grade_id": "e4-record", "grade": true, "points": 0.5, "locked": true}
assert challenge.study == "E4", "Run the cell above: it runs the HPC Challenge."
assert challenge.complete, "The measurement was cut short; run the cell above again."

# %% [markdown]
# **Question `hpl-percent`** (1 point). DGEMM gives the rate of one rank when each rank computes alone; four ranks
# together reach four times that rate. HPL also has to send. What percentage of the four ranks' rate does it reach?

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
# **Question `paper-hpl`** (0.5 points). Paper E ran HPL with Ns 37326. How many GB (10^9 bytes) does its matrix take,
# with 8 bytes per number? After tuning, HPL took 56 % less time. By what factor did performance rise?

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
# Paper E's claims compare a cluster before and after tuning. Yours was measured in only one state, so they are
# inconclusive. `beowulf tune compare hpl hpcc` measures both states (lab 07).

# %% [markdown]
# ## 13 Compare with paper A
#
# *More, 12 minutes*
#
# Paper A's column is for class A, Grendel's is for class B, and yours is for a different class again:

# %%
found[["benchmark", "class", "mops_4", "paper_mops", "grendel_mops"]].dropna(subset=["paper_mops"])

# %% [markdown]
# **Question `cable-bound`** (0.5 points). FT takes 7,136 million operations in class A, and paper A prints 5.45 Mop/s.
# How many seconds did FT take? Its cube has 256 · 256 · 128 points. With four ranks and seven turns, how many seconds
# does a cable take to carry what *one* rank sends, at 12,500,000 bytes per second?

# %% nbgrader={"grade_id": "cable-bound-answer", "solution": true}
ft_paper_s = None
ft_cable_s = None
### BEGIN SOLUTION
ft_paper_s = 7136 / 5.45
ft_cable_s = 7 * 256 * 256 * 128 * 16 / 4 * 3 / 4 / 12_500_000
### END SOLUTION

# %% nbgrader={"grade_id": "cable-bound", "grade": true, "points": 0.5, "locked": true}
lab.form(ft_paper_s, "number")
lab.form(ft_cable_s, "number")

# %% [markdown]
# ## 14 The questions
#
# Save the notebook first. `check` reports what is still empty or wrong. It measures nothing.

# %%
check("03")

# %% [markdown]
# Hand in this folder: the notebook, `records/`, `laws.py` and `sizes.c`. Your plate in `../heat` is saved in the
# Records. You need not run everything again, because an answer counts if it fits one of your Records.
