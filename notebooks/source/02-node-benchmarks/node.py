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
# # Lab 02: How fast is one node?
#
# You measure what one node can do: asking the kernel, talking within the node, moving bytes, waiting
# for memory. Then you compare it with paper A's cluster, find the one node that is not like the
# others, and predict what all four will do together. The handout
# (`labs/02-node-benchmarks/README.md`) explains each word; read its sections 1 and 2 first.
#
# - **Time** about 115 minutes together with the handout · **Points** 32
# - **You need** a running cluster (`beowulf lab 02` booted one)
# - **How it works** Cells that *measure* save a **Record** in the folder `records/` beside this
#   notebook. `quick=True` takes fewer samples. Where you see `None`, your answer goes. *Run All* stops
#   at the first empty answer; to measure during a break, run the cells with `study(` or `measure(`
#   one by one.
# - **Answers** are numbers, with a point and no comma, or words in quotes. `17.9 / 2` is a number as
#   well, and so is `tcp_full_us / 2` where `tcp_full_us` is an answer further up; `round(8.95)` gets no
#   points, because grading runs nothing of yours.
# - **A quiet machine** These figures are fractions of a microsecond: close what else runs, and start
#   nothing in the terminal while a cell measures.

# %%
from beowulf import claims, connect, study
from beowulf.exercises.lab_02 import load_times, odd_node, own_rows
from beowulf.figures import bars
from beowulf.notebook import form
from beowulf.papers import table as printed
from beowulf.studies.lab_02.node_comparison import compared

cluster = connect("records")
cluster.heal()  # does nothing to a cluster that is whole
print(cluster.kind, *cluster.nodes)

# %% [markdown]
# ## 1 Predict
#
# Nobody grades a prediction; it is there so that you notice a surprise.

# %%
predicted_call_ns = None  # how many nanoseconds does it take to ask the kernel for a number?
predicted_fork_us = None  # how many microseconds to start a process that ends at once?
predicted_faster = None  # paper A was printed in 2012: how many times as fast as its PCs is yours?

# %% [markdown]
# ## 2 Measure
#
# Study A3 runs the four programs of this lab on every node: `processes.c`, `latencies.c`,
# `bandwidths.c` and `memory.c`, one line for each row of paper A's tables 1 to 4. The nodes of this
# cluster share one machine, so they run one after the other. With `quick=True` it takes about half a minute.
#
# **Question `a3-record`** (1 point). Nothing to write: the point is for the Record.

# %%
a3 = study("A3", cluster, quick=True)

# %% nbgrader={"grade_id": "a3-record", "grade": true, "points": 1, "locked": true}
assert a3.study == "A3", "Run the cell above: it measures the nodes."
assert a3.variant == "", "This is the Record of your own rows; run the cell above again."
assert a3.complete, "The measurement was cut short; run the cell above again."

# %%
node = a3.sweep["nodes"][0]
rows = compared(a3)
rows

# %% [markdown]
# *How to read it:* a line a row, a column a node, and the published figures beside them. Mind the
# unit: of µs and ns less is better, of MB/s more. The figures are **medians**, what you get. `times as
# fast` compares the first node with paper A's. A row that paper A does not have shows `NaN`; `ring by
# one process` is only what had to be subtracted from the context switches. All questions below ask for the
# figures of the *first* node.
#
# ## 3 Ask the kernel
#
# **Question `null-call`** (2 points). How many microseconds does a null call take? And how many null
# calls could be made in the time of one `fork proc`?

# %%
rows[rows["row"].isin(["null call", "stat", "fork proc", "exec proc", "shell proc"])]

# %% nbgrader={"grade_id": "null-call-answer", "solution": true}
null_call_us = None
null_calls_in_a_fork = None
### BEGIN SOLUTION
us = rows.set_index("row")[node]  # every node has its own
null_call_us = us["null call"]
null_calls_in_a_fork = us["fork proc"] / us["null call"]
### END SOLUTION

# %% nbgrader={"grade_id": "null-call", "grade": true, "points": 2, "locked": true}
form(null_call_us, "number")
form(null_calls_in_a_fork, "number")

# %% [markdown]
# **Question `starting`** (2 points). `exec proc` is a fork, and then another program in the child;
# `shell proc` is that, and a shell before it. So what does the other program cost by itself, and what
# the shell? (Two subtractions, in microseconds. If one is below zero, the machine was busy: measure again.)

# %% nbgrader={"grade_id": "starting-answer", "solution": true}
program_alone_us = None
shell_alone_us = None
### BEGIN SOLUTION
program_alone_us = us["exec proc"] - us["fork proc"]
shell_alone_us = us["shell proc"] - us["exec proc"]
### END SOLUTION

# %% nbgrader={"grade_id": "starting", "grade": true, "points": 2, "locked": true}
form(program_alone_us, "number")
form(shell_alone_us, "number")

# %% [markdown]
# ## 4 There and back
#
# **Question `round-trips`** (2 points). What is the full round trip by `TCP` within your node? And
# which of your figures may be compared with an MPI latency, which is *half* a round trip?

# %%
rows[rows["unit"].str.contains("round trip")]

# %% nbgrader={"grade_id": "round-trips-answer", "solution": true}
tcp_full_us = None
tcp_beside_mpi_us = None
### BEGIN SOLUTION
tcp_full_us = us["TCP"]
tcp_beside_mpi_us = us["TCP"] / 2
### END SOLUTION

# %% nbgrader={"grade_id": "round-trips", "grade": true, "points": 2, "locked": true}
form(tcp_full_us, "number")
form(tcp_beside_mpi_us, "number")

# %% [markdown]
# ## 5 Move bytes
#
# **Question `bytes-copied`** (2 points). How many MB/s does `Bcopy (hand)` copy on your node? And how
# many MB/s cross between memory and processor for it, if every byte is read, its place at the target
# is read as well before it is written, and then it is written?

# %%
rows[rows["unit"] == "MB/s"]

# %% nbgrader={"grade_id": "bytes-copied-answer", "solution": true}
hand_copied_mb_per_s = None
hand_crossing_mb_per_s = None
### BEGIN SOLUTION
hand_copied_mb_per_s = us["Bcopy (hand)"]
hand_crossing_mb_per_s = 3 * us["Bcopy (hand)"]
### END SOLUTION

# %% nbgrader={"grade_id": "bytes-copied", "grade": true, "points": 2, "locked": true}
form(hand_copied_mb_per_s, "number")
form(hand_crossing_mb_per_s, "number")

# %% [markdown]
# **Question `reread`** (2 points). Both `file reread` and `Mmap reread` sum up a file that the kernel
# already has in memory. Which is faster on your node, `"file"` or `"mmap"`? And what does `file reread`
# do that the other does not: `"disk"` (it reads the disk), `"copy"` (it copies every byte first) or
# `"check"` (it checks who may read, byte by byte)?

# %% nbgrader={"grade_id": "reread-answer", "solution": true}
faster_reread = None
file_reread_also_does = None
### BEGIN SOLUTION
faster_reread = "mmap" if us["Mmap reread"] > us["file reread"] else "file"
file_reread_also_does = "copy"
### END SOLUTION

# %% nbgrader={"grade_id": "reread", "grade": true, "points": 2, "locked": true}
form(faster_reread, "choice:file,mmap")
form(file_reread_also_does, "choice:disk,copy,check")

# %% [markdown]
# ## 6 Wait for memory
#
# `memory.c` takes words from areas of 4 KiB to many MiB, in an order that nobody can guess, each word
# telling where the next one is. As long as an area fits into a cache, the curve is flat.

# %%
load_times.picture(a3, node)

# %%
load_times.table(a3, node)

# %% [markdown]
# And this is what the kernel says about the caches, of one core (`ONE-SIZE`) and of all:

# %%
print(cluster.ask(node, "lscpu -C=NAME,ONE-SIZE,ALL-SIZE"))

# %% [markdown]
# **Question `caches`** (3 points). How many nanoseconds does a load take on the first plateau, the L1
# cache, and how many in main memory, in the largest area? At how many KiB does the first plateau end? (The
# last size that is still as fast. A figure may be the median or the best.)

# %% nbgrader={"grade_id": "caches-answer", "solution": true}
l1_ns = None
main_memory_ns = None
l1_ends_at_kib = None
### BEGIN SOLUTION
l1_ns = us["L1 cache"]
main_memory_ns = us["Main memory"]
areas = load_times.table(a3, node)
l1_ends_at_kib = int(areas[areas["plateau"] == "L1 cache"]["size_kib"].max())
### END SOLUTION

# %% nbgrader={"grade_id": "caches", "grade": true, "points": 3, "locked": true}
form(l1_ns, "number")
form(main_memory_ns, "number")
form(l1_ends_at_kib, "number")

# %% [markdown]
# ## 7 Exercise: three rows of your own
#
# Write the three functions in `own_rows.c`, which lies beside this notebook (section 7 of the handout
# says how). Try them in a terminal, `beowulf run -n 1 own_rows.c | grep result`, until you are content.
# This cell measures them:

# %%
own = own_rows.measure(cluster, "own_rows.c")
own_rows.table(own)

# %% [markdown]
# **Question `own-rows`** (4 points). One for each row that can be what it says, and one for this: when
# a program reads the clock by the library, does it ask the kernel, `"yes"` or `"no"`? (Compare both
# rows of the clock.)

# %% nbgrader={"grade_id": "own-rows-answer", "solution": true}
library_clock_asks_the_kernel = None
### BEGIN SOLUTION
clocks = own_rows.best_us(own)
asks = clocks[own_rows.LIBRARY] > 0.8 * clocks[own_rows.SYSTEM_CALL]
library_clock_asks_the_kernel = "yes" if asks else "no"
### END SOLUTION

# %% nbgrader={"grade_id": "own-rows", "grade": true, "points": 4, "locked": true}
assert own.variant == "own", "Run the cell above: it measures your rows."
form(library_clock_asks_the_kernel, "choice:yes,no")

# %% [markdown]
# ## 8 Beside paper A
#
# How many times as fast as paper A's is your first node? The axis is logarithmic, and each bar begins at 1,
# which is as fast as then.

# %%
known = rows.dropna(subset=["times as fast"])
bars(
    dict(zip(known["row"], known["times as fast"], strict=True)),
    title=f"{node} beside paper A's",
    value_title="times as fast as in paper A",
    factors=True,
)

# %% [markdown]
# *What to look at:* which rows lie far to the right, and which near 1 or below it? What have the ones
# in common, and what the others?
#
# **Question `not-faster`** (2 points). Of the rows that paper A has: which became faster by the
# largest factor, and which by the smallest, on your first node? Write the names as the table does.
# (Rows within a tenth of the largest or the smallest count as well.)

# %% nbgrader={"grade_id": "not-faster-answer", "solution": true}
most_faster_row = None
least_faster_row = None
### BEGIN SOLUTION
times = known.set_index("row")["times as fast"]
most_faster_row = times.idxmax()
least_faster_row = times.idxmin()
### END SOLUTION

# %% nbgrader={"grade_id": "not-faster", "grade": true, "points": 2, "locked": true}
form(most_faster_row, "text")
form(least_faster_row, "text")

# %%
claims(a3)

# %% [markdown]
# The paper calls its cluster "significantly better" than Grendel in the tests of table 1. Here are the
# tables 1 and 2 as printed, in microseconds (`g_cluster` is Grendel):

# %%
printed("A-table-1")

# %%
printed("A-table-2")

# %% [markdown]
# **Question `paper-tables`** (3 points). In how many rows of table 1 is *Grendel* the faster one, and
# in how many of table 2? And table 3 says that a stream by AF UNIX moves 2033 MB/s, which takes two
# copies, while memory is copied at 370 MB/s: what explains it best? `"misprint"`, `"cache"` (its
# blocks of 64 KiB stay in a cache) or `"disk"`.

# %% nbgrader={"grade_id": "paper-tables-answer", "solution": true}
grendel_faster_in_table_1 = None
grendel_faster_in_table_2 = None
af_unix_is_fast_because_of = None
### BEGIN SOLUTION
grendel_faster_in_table_1 = 4  # null call, null I/O, signal install, signal handle/catch
grendel_faster_in_table_2 = 3  # pipe, AF UNIX, UDP
af_unix_is_fast_because_of = "cache"
### END SOLUTION

# %% nbgrader={"grade_id": "paper-tables", "grade": true, "points": 3, "locked": true}
form(grendel_faster_in_table_1, "number")
form(grendel_faster_in_table_2, "number")
form(af_unix_is_fast_because_of, "choice:misprint,cache,disk")

# %% [markdown]
# ## 9 The odd one out
#
# A parallel program waits for its slowest node, so the first thing to know of a cluster is whether
# its nodes are equal. This cell sets one of them up differently, chosen by chance, measures some
# rows on all four, and puts everything back:

# %%
odd = odd_node.measure(cluster)

# %%
odd_node.table(odd)

# %% [markdown]
# These figures are the **best** of each node, what it *can* do: a neighbour that takes the processor
# for a moment spoils a median, and hardly ever every sample.
#
# **Question `odd-node`** (2 points). Which node is the odd one out? And what do its slow rows have in
# common: `"memory"` (they move many bytes), `"processes"` (a second process takes part), `"ip"` (they
# go through the network protocol IP, though no cable) or `"calls"` (they ask the kernel)?

# %% nbgrader={"grade_id": "odd-node-answer", "solution": true}
odd_one_out = None
slow_rows_share = None
### BEGIN SOLUTION
odd_one_out = odd_node.odd(odd)  # it is drawn by chance
slow_rows_share = "ip"
### END SOLUTION

# %% nbgrader={"grade_id": "odd-node", "grade": true, "points": 2, "locked": true}
form(odd_one_out, "node")
form(slow_rows_share, "choice:memory,processes,ip,calls")

# %% [markdown]
# ## 10 Predict the cluster
#
# Keep these three figures: lab 03 measures what four nodes do together.
#
# **Question `prediction`** (3 points). From the figures of your *first* node in section 2:
#
# - a message of a few bytes to another node cannot be faster than half a TCP round trip within one
#   node. How many microseconds is that?
# - how many bytes does the node read from memory (`mem read`) in that time? (MB/s times µs are bytes.)
#   Work on less than this is not worth a message.
# - how many MB/s can a cable carry at most, at the rate that `beowulf up` names? (8 bits are a byte.)

# %%
print(cluster.describe()["rate"])

# %% nbgrader={"grade_id": "prediction-answer", "solution": true}
predicted_half_round_trip_us = None
predicted_read_meanwhile_bytes = None
predicted_cable_mb_per_s = None
### BEGIN SOLUTION
predicted_half_round_trip_us = us["TCP"] / 2
predicted_read_meanwhile_bytes = us["mem read"] * us["TCP"] / 2
mbit = {"10mbit": 10, "100mbit": 100, "1gbit": 1000}
predicted_cable_mb_per_s = mbit.get(cluster.describe()["rate"], 10_000) / 8
### END SOLUTION

# %% nbgrader={"grade_id": "prediction", "grade": true, "points": 3, "locked": true}
form(predicted_half_round_trip_us, "number")
form(predicted_read_meanwhile_bytes, "number")
form(predicted_cable_mb_per_s, "number")

# %% [markdown]
# ## 11 Explain
#
# **Question `explain`** (4 points, read by a person). In five to ten sentences of your own:
#
# 1. Between paper A's PCs and your node, some rows became faster by a large factor and some hardly.
#    What distinguishes the two kinds, and why is it so?
# 2. Somebody wants to add up an array of 100 KB, and asks whether four nodes do it faster than one.
#    Answer by your own figures, and name those that decide.

# %% [markdown] nbgrader={"grade_id": "explain", "grade": true, "points": 4, "solution": true}
# ### BEGIN SOLUTION
# **What became faster (2 points).** Rates grew by an order of magnitude: wider paths, more loads under
# way at once, prefetching. Times for one thing after another hardly moved: a load in main memory, a
# system call, a round trip, the start of a process. Such a time is a chain in which each step waits for
# the one before; more transistors do not shorten it. Kernels also do more per call than they did (the
# protection against reading other programs' memory is part of each entry), and programs load more when
# they start. One point for the two kinds with figures, one for a reason.
#
# **Four nodes or one (2 points).** 100 KB are read in 100,000 / (mem read in MB/s) microseconds, some
# 5 µs, or less out of a cache. To bring 75 KB to the others takes 75,000 / 12.5 = 6000 µs on the cable,
# a thousand times as long, and even if the data were there already, one message each way costs more
# than the sum. One point for both times from own figures, one for the conclusion.
# ### END SOLUTION

# %% [markdown]
# ## 12 Hand in
#
# Save the notebook. What you hand in is this folder: the notebook, `records/` and `own_rows.c`. You
# need not run everything again: an answer counts when it fits one of your Records.
