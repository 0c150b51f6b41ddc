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
# Eight small programs run on one node and on four. You predict what comes out, measure it, see in
# which calls the time goes, and compare with the table of paper A. The handout
# (`labs/03-parallel-benchmarks/README.md`) explains each word and runs the same programs in the
# terminal; read its sections 1 to 4 first.
#
# - **Time** about 150 minutes together with the handout · **Points** 32
# - **You need** a running cluster (`beowulf lab 03` booted one) on a machine with nothing else to do
# - **How it works** Cells that *measure* save a **Record** in the folder `records/` beside this
#   notebook. `quick=True` takes the smallest class, S; leave it out when you have eight minutes,
#   for class A. Where you see `None`, your answer goes. *Run All* stops at the first empty answer; to measure
#   during a break, run the cells with `study(` one by one.

# %%
from beowulf import claims, connect, picture, study
from beowulf.exercises.lab_03 import message_sizes, speedup_laws
from beowulf.notebook import form
from beowulf.studies.lab_03 import a4_parallel_benchmarks as a4
from beowulf.studies.lab_03 import e4_hpcc as e4

cluster = connect("records")
cluster.heal()  # does nothing to a cluster that is whole
print(cluster.kind, *cluster.nodes)

# %% [markdown]
# ## 1 Predict
#
# Nobody grades these; they are there so that you notice a surprise.

# %%
predicted_ep_times = None  # EP sends next to nothing: how many times as fast are four nodes?
predicted_ft_times = None  # FT sends nearly everything: how many times as fast?

# %% [markdown]
# ## 2 Eight benchmarks, on one node and on four
#
# Study A4 runs all eight on one rank and on four. On four ranks they run once more with a profile: how
# much of the time is spent in which MPI call. With `quick=True` that is class S.
#
# **Question `a4-record`** (1 point). Nothing to write: the point is for a whole Record in which all
# eight are verified.

# %%
measured = study("A4", cluster, quick=True)
found = a4.table(measured)
found[["benchmark", "class", "seconds_1", "mops_1", "verified"]]

# %% [markdown]
# *What to look at:* only one node yet; the four come below, when you have predicted them. Is EP the slowest
# computer of all, and MG the fastest? Or do their operations have only the name in common?

# %% nbgrader={"grade_id": "a4-record", "grade": true, "points": 1, "locked": true}
assert measured.study == "A4", "Run the cell above: it measures A4 on your cluster."
assert measured.variant == "", "This is a Record of an exercise; run the cell above again."
assert measured.complete, "The measurement was cut short; run the cell above again."

# %% [markdown]
# **Question `ep-count`** (2 points). By the published formula, how many operations has EP in the class
# of your Record? (Class S has 2 to the power of 24 pairs, which are 16,777,216; class A 16 times as many. A
# pair takes two random numbers, each of them one operation.) And how many Mop/s is that with `seconds_1`?

# %% nbgrader={"grade_id": "ep-count-answer", "solution": true}
ep_operations = None
ep_mops = None
### BEGIN SOLUTION
ep_operations = 2 * 16_777_216
seconds = found.set_index("benchmark")  # every machine has its own
one, four = seconds["seconds_1"], seconds["seconds_4"]
ep_mops = 2 * 16_777_216 / one["EP"] / 1_000_000
### END SOLUTION

# %% nbgrader={"grade_id": "ep-count", "grade": true, "points": 2, "locked": true}
form(ep_operations, "number")
form(ep_mops, "number")

# %% [markdown]
# ## 3 Predict four nodes from one
#
# The time on four ranks is what is computed, shared out among the workers; and what one rank sends, at the
# rate of its cable; and a latency for each message that somebody waits for. Workers are your machine's
# cores, or the four ranks, whichever is less:

# %%
cores = measured.circumstances["before"]["cores"]
print("cores:", cores, "  workers:", min(4, cores))

# %% [markdown]
# **Question `ft-bytes`** (1 point). FT's cube has 64 · 64 · 64 points of 16 bytes in class S (256 · 256 · 128
# in class A). Each of four ranks has a quarter of it. When the cube is turned, a rank keeps a quarter of its
# quarter and sends the rest away. How many bytes does one rank send each time?

# %% nbgrader={"grade_id": "ft-bytes-answer", "solution": true}
ft_bytes = None
### BEGIN SOLUTION
ft_bytes = 64 * 64 * 64 * 16 / 4 * 3 / 4
### END SOLUTION

# %% nbgrader={"grade_id": "ft-bytes", "grade": true, "points": 1, "locked": true}
form(ft_bytes, "number")

# %% [markdown]
# **Question `predict`** (2 points). How many seconds should EP and FT take on four ranks? EP: the seconds
# on one rank, shared out. FT: the same, and seven turns of the cube over a cable of 12,500,000 bytes a
# second. (Judged is your arithmetic: within 5 % of what follows from your `seconds_1`. What you measure may
# well be another number; that is the point of the next cell.)

# %% nbgrader={"grade_id": "predict-answer", "solution": true}
ep_predicted_s = None
ft_predicted_s = None
### BEGIN SOLUTION
ep_predicted_s = one["EP"] / min(4, cores)
ft_predicted_s = one["FT"] / min(4, cores) + 7 * 786_432 / 12_500_000
### END SOLUTION

# %% nbgrader={"grade_id": "predict", "grade": true, "points": 2, "locked": true}
form(ep_predicted_s, "number")
form(ft_predicted_s, "number")

# %% [markdown]
# And this is what was measured:

# %%
found[["benchmark", "seconds_1", "seconds_4", "mops_1", "mops_4"]]

# %% [markdown]
# *What to look at:* how far off were you? FT leaves out what your ranks do to pack the cube up, and that all
# of them send at once, with the same cores that compute. Which of the eight are *slower* on four nodes than on one?
#
# ## 4 Speed-up, efficiency, and a share that cannot be shared
#
# **Question `speed-up`** (1 point). How many times as fast are four ranks for EP, and for FT? (From the table
# above; below 1 is slower.)

# %% nbgrader={"grade_id": "speed-up-answer", "solution": true}
ep_speed_up = None
ft_speed_up = None
### BEGIN SOLUTION
ep_speed_up = one["EP"] / four["EP"]
ft_speed_up = one["FT"] / four["FT"]
### END SOLUTION

# %% nbgrader={"grade_id": "speed-up", "grade": true, "points": 1, "locked": true}
form(ep_speed_up, "number")
form(ft_speed_up, "number")

# %% [markdown]
# **Question `karp-flatt`** (2 points). Which serial share would explain this by Amdahl's law? With speed-up S
# on p = 4 ranks it is (1/S − 1/p) / (1 − 1/p). For EP and for FT.

# %% nbgrader={"grade_id": "karp-flatt-answer", "solution": true}
ep_serial_share = None
ft_serial_share = None
### BEGIN SOLUTION
ep_serial_share = (four["EP"] / one["EP"] - 1 / 4) / (1 - 1 / 4)
ft_serial_share = (four["FT"] / one["FT"] - 1 / 4) / (1 - 1 / 4)
### END SOLUTION

# %% nbgrader={"grade_id": "karp-flatt", "grade": true, "points": 2, "locked": true}
form(ep_serial_share, "number")
form(ft_serial_share, "number")

# %% [markdown]
# EP has no serial line. On two cores its share is about a third all the same: the law sees two workers and calls
# what is missing serial. (Much less than a third says that something else used your cores while EP ran on one node.)
# FT's is above 1: not even a program that is serial from beginning to end explains it.
#
# ## 5 Where does the time go?
#
# The profile of the runs on four ranks: of the time of all ranks, the part that was spent inside MPI.

# %%
picture(measured)

# %%
found[["benchmark", "communication_percent", "speed_up", "efficiency", "karp_flatt"]]

# %% [markdown]
# *What to look at:* does a large share go with a small speed-up? Time inside MPI is waiting as well: for a rank
# that still computes, and on few cores for a core.
#
# **Question `shares`** (2 points). Which of the eight spends the largest share of its time in MPI, such as
# `"EP"`, and how many per cent?

# %% nbgrader={"grade_id": "shares-answer", "solution": true}
largest_share_has = None
largest_share_percent = None
### BEGIN SOLUTION
shares = seconds["communication_percent"]
largest_share_has = shares.idxmax()
largest_share_percent = shares.max()
### END SOLUTION

# %% nbgrader={"grade_id": "shares", "grade": true, "points": 2, "locked": true}
form(largest_share_has, "choice:EP,IS,CG,MG,FT,LU,SP,BT")
form(largest_share_percent, "number")

# %% [markdown]
# Which calls are these, and how long are their messages? Of all four ranks together:

# %%
calls = a4.calls(measured)
calls[calls["benchmark"].isin(["MG", "FT", "LU"]) & (calls["bytes"] > 0)]

# %% [markdown]
# **Question `message-length`** (1 point). How many bytes does a call send on average: `MPI_Send` in LU, and
# `MPI_Alltoall` in FT? (Divide `bytes` by `calls`.)

# %% nbgrader={"grade_id": "message-length-answer", "solution": true}
lu_send_bytes = None
ft_alltoall_bytes = None
### BEGIN SOLUTION
by_call = calls.set_index(["benchmark", "call"])
lengths = by_call["bytes"] / by_call["calls"]
lu_send_bytes = lengths["LU", "MPI_Send"]
ft_alltoall_bytes = lengths["FT", "MPI_Alltoall"]
### END SOLUTION

# %% nbgrader={"grade_id": "message-length", "grade": true, "points": 1, "locked": true}
form(lu_send_bytes, "number")
form(ft_alltoall_bytes, "number")

# %% [markdown]
# One of the two is paid by the piece, the other by the byte. Which of them would gain from a network with half
# the latency, and which from one with ten times the rate?
#
# **Question `wrong-seed`** (1 point). In a terminal (section 8 of the handout), let EP start from other random
# numbers: `beowulf run -n 4 npb/ep.c S --seed 1; echo $?`. How many of its checks pass, and what is the exit code?

# %% nbgrader={"grade_id": "wrong-seed-answer", "solution": true}
checks_that_pass = None
wrong_seed_exit_code = None
### BEGIN SOLUTION
checks_that_pass = 0
wrong_seed_exit_code = 1
### END SOLUTION

# %% nbgrader={"grade_id": "wrong-seed", "grade": true, "points": 1, "locked": true}
form(checks_that_pass, "number")
form(wrong_seed_exit_code, "number")

# %% [markdown]
# ## 6 Compare with paper A
#
# Paper A's column is class A, Grendel's is class B, and yours is of another class still:

# %%
found[["benchmark", "class", "mops_4", "paper_mops", "grendel_mops"]].dropna(subset=["paper_mops"])

# %%
claims(measured)

# %% [markdown]
# `inconclusive` means that this Record cannot decide: the machine was busy, or another class is needed.
#
# **Question `operations`** (1 point). By the formula for LU in section 9 of the handout: how many times as many
# operations has class B (n = 102) as class A (n = 64)? Python is a good calculator; write the number that it gives you.

# %% nbgrader={"grade_id": "operations-answer", "solution": true}
lu_b_over_a = None
### BEGIN SOLUTION
lu_b_over_a = 4.18
### END SOLUTION

# %% nbgrader={"grade_id": "operations", "grade": true, "points": 1, "locked": true}
form(lu_b_over_a, "number")

# %% [markdown]
# **Question `kernel-word`** (1 point). Paper A says that kernel benchmarks put pressure on the *kernel of Linux*.
# What does the word mean in NPB: `"operating system"`, `"core of a computation"` or `"smallest class"`?

# %% nbgrader={"grade_id": "kernel-word-answer", "solution": true}
kernel_means = None
### BEGIN SOLUTION
kernel_means = "core of a computation"
### END SOLUTION

# %% nbgrader={"grade_id": "kernel-word", "grade": true, "points": 1, "locked": true}
form(kernel_means, "choice:operating system,core of a computation,smallest class")

# %% [markdown]
# **Question `cable-bound`** (2 points). FT has 7,137 million operations in class A, and paper A prints 5.45
# Mop/s: how many seconds did it run? And its cube has 256 · 256 · 128 points: with four ranks and seven turns,
# how many seconds does a cable of 12,500,000 bytes a second need for what *one* rank sends?

# %% nbgrader={"grade_id": "cable-bound-answer", "solution": true}
ft_paper_s = None
ft_cable_s = None
### BEGIN SOLUTION
ft_paper_s = 7137 / 5.45
ft_cable_s = 7 * 256 * 256 * 128 * 16 / 4 * 3 / 4 / 12_500_000
### END SOLUTION

# %% nbgrader={"grade_id": "cable-bound", "grade": true, "points": 2, "locked": true}
form(ft_paper_s, "number")
form(ft_cable_s, "number")

# %% [markdown]
# ## 7 Three laws
#
# Write the three functions in `laws.py`, which lies beside this notebook (section 10 of the handout). Try them in
# a terminal, `python laws.py`, until you are content. This cell asks them with other numbers each time:

# %%
asked = speedup_laws.measure(cluster, "laws.py")
print("\n".join(speedup_laws.lines(asked.points)))

# %% [markdown]
# **Question `laws`** (3 points). One for each law that is right.

# %% nbgrader={"grade_id": "laws", "grade": true, "points": 3, "locked": true}
assert asked.variant == "laws", "Run the cell above: it asks your functions."

# %% [markdown]
# ## 8 A wrapper of your own
#
# Write `MPI_Send` in `sizes.c` (section 11 of the handout): count MG's messages that fit into one packet, those
# that do not, and the bytes of all. Try it, `beowulf run -n 4 sizes.c S`. This cell runs your program in a class
# and with a number of ranks that it draws, and counts the same itself:

# %%
counted = message_sizes.measure(cluster, "sizes.c")
print("class", counted.points[0].at["class"], "on", counted.points[0].at["ranks"], "ranks")
print("\n".join(message_sizes.lines(counted.points)))

# %% [markdown]
# **Question `sizes`** (3 points). One for each count that is right.

# %% nbgrader={"grade_id": "sizes", "grade": true, "points": 3, "locked": true}
assert counted.variant == "sizes", "Run the cell above: it runs your wrapper."

# %% [markdown]
# ## 9 Seven numbers instead of one
#
# Study E4 runs the HPC Challenge on all nodes. It takes about half a minute with `quick=True`, which
# cuts the long messages of b_eff short. Their rate is left out of the table.
#
# **Question `e4-record`** (1 point). Nothing to write: the point is for the Record.

# %%
challenge = study("E4", cluster, quick=True)
e4.table(challenge)

# %% nbgrader={"grade_id": "e4-record", "grade": true, "points": 1, "locked": true}
assert challenge.study == "E4", "Run the cell above: it runs the HPC Challenge."
assert challenge.complete, "The measurement was cut short; run the cell above again."

# %%
picture(challenge)

# %% [markdown]
# **Question `hpl-percent`** (1 point). DGEMM is what one rank reaches when all compute for themselves; four ranks
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
form(hpl_percent_of_dgemm, "number")

# %% [markdown]
# **Question `hpl-size`** (2 points). Paper E ran HPL with Ns 37326, NBs 168, Ps 15 and Qs 16. How many processes
# was that, and how many GB (10 to the power of 9 bytes) has its matrix, of 8 bytes a number?

# %% nbgrader={"grade_id": "hpl-size-answer", "solution": true}
hpl_processes = None
hpl_matrix_gb = None
### BEGIN SOLUTION
hpl_processes = 15 * 16
hpl_matrix_gb = 37326 * 37326 * 8 / 1_000_000_000
### END SOLUTION

# %% nbgrader={"grade_id": "hpl-size", "grade": true, "points": 2, "locked": true}
form(hpl_processes, "number")
form(hpl_matrix_gb, "number")

# %% [markdown]
# **Question `hpl-ratio`** (1 point). It took 56 % less time after tuning, and "almost 2.5 times" the performance, says
# the paper. The same work in 44 % of the time is how many times the performance?

# %% nbgrader={"grade_id": "hpl-ratio-answer", "solution": true}
hpl_times_the_performance = None
### BEGIN SOLUTION
hpl_times_the_performance = 1 / (1 - 0.56)
### END SOLUTION

# %% nbgrader={"grade_id": "hpl-ratio", "grade": true, "points": 1, "locked": true}
form(hpl_times_the_performance, "number")

# %%
claims(challenge)

# %% [markdown]
# Paper E's claims are about a cluster before and after tuning. Your cluster was measured as it is, so these are
# inconclusive here; lab 07 tunes.
#
# ## 10 Explain
#
# **Question `explain`** (4 points, read by a person). In five to ten sentences of your own:
#
# 1. Which of the eight suffers most on your four nodes, and is it the latency or the rate? Use its share, the
#    length of its messages, and your prediction. What would a real cluster of four PCs do better than yours, and
#    what not?
# 2. What of table 5 can be compared with what? And MG and FT were slow there: what speaks for the network as
#    the reason, and what against it?

# %% [markdown] nbgrader={"grade_id": "explain", "grade": true, "points": 4, "solution": true}
# ### BEGIN SOLUTION
# **One's own cluster (2 points).** By the Record: usually FT or IS, with most of the time in MPI_Alltoall or
# MPI_Alltoallv, whose messages have hundreds of kilobytes: the rate of the cable. MG and LU send many short
# messages: latency. The prediction by bytes over rate gives most of FT's time, without any latency. (CG, with
# sums that all wait for, is a good answer where the Record says so.) Four real PCs have four processors, so EP is
# four times as fast; the cable is the same, and so FT hardly gains. One point for rate or latency with figures of
# their own, one for what does not come from the network: two cores.
#
# **Table 5 (2 points).** The columns are classes A and B: other sizes, four times the operations and more, and
# another ratio of computing to sending. So rows cannot be compared across, and benchmarks cannot be compared
# down, for their operations are counted by different formulas. For the network speaks that MG and FT have large
# shares of communication while LU was fast; against it that FT's bytes need 14 s on the cable, and it ran 1310 s.
# Nothing says that the results were verified. One point for the classes, one for the bound.
# ### END SOLUTION

# %% [markdown]
# ## 11 Hand in
#
# Save the notebook. What you hand in is this folder: the notebook, `records/`, `laws.py` and `sizes.c`. You need
# not run everything again: an answer counts when it fits one of your Records.
