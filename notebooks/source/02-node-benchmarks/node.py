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
# The handout (`labs/02-node-benchmarks/README.md`) has the same sections and explains each new word. Read a section
# there, then do it here.
#
# - **Time** about 90 minutes for the sections marked *core* · **Points** 32
# - **Measure** on a quiet machine: close other programs, and start nothing while a cell is measuring. Cells that
#   measure save a **Record** in the folder `records/` next to this notebook.
# - **Answer** where you see `None`, with a number (with a decimal point, not a comma) or a word in quotes. A
#   calculation such as `17.9 / 2` counts as a number. So does `round(full_round_trip_us / 2, 1)`, if
#   `full_round_trip_us` is an earlier answer. `rows.max()` earns no points, because grading does not run your code.
#   Write functions and plots where you see `# YOUR ANSWER HERE`.
# - **Check** `check("02")`, in any cell, reports what is still empty or wrong.

# %%
import matplotlib.pyplot as plt
import numpy as np
from IPython.display import display

from beowulf import check, claims, connect, predict, start_engines, study
from beowulf.labs import lab_02 as lab

lab.course_style()
cluster = connect("records")
cluster.heal()  # does nothing to a healthy cluster
engines = start_engines(cluster)

# %% [markdown]
# ## 1 Time a call
#
# *Core, 15 minutes*
#
# **Question `timing-loop`** (4 points). A cell that begins with `%%px --targets 0` runs on node00. Write
# `time_per_call_us(function, clock)` there:
#
# - `function` takes no arguments. `clock()` returns seconds, as `time.perf_counter` does.
# - First measure the clock's **step**: read the clock until its value changes.
# - Return a list of at least 11 **raw samples**, in microseconds per call. Each is one interval, divided by its number
#   of calls. No interval is shorter than **100 steps** of the clock: double the number of calls until an interval is
#   long enough.


# %% nbgrader={"grade_id": "timing-loop-answer", "solution": true}
# %%px --targets 0
def time_per_call_us(function, clock):
    """At least 11 raw samples of the time per call in microseconds, each from 100 clock steps or more."""
    ### BEGIN SOLUTION
    began = clock()
    while (first := clock()) == began:
        pass
    while (second := clock()) == first:
        pass
    least, calls, samples = 100 * (second - first), 1, []
    while len(samples) < 11:
        began = clock()
        for _ in range(calls):
            function()
        seconds = clock() - began
        if seconds < least:
            calls, samples = 2 * calls, []
        else:
            samples.append(1e6 * seconds / calls)
    return samples
    ### END SOLUTION


# %% [markdown]
# Try your function: how long does `os.getppid()` take from Python?

# %%
# %%px --targets 0
import os
from time import perf_counter

print(time_per_call_us(os.getppid, perf_counter))

# %% [markdown]
# Two points are for timing three known calls, picked for you at random, to within 2 per cent. One point is for
# intervals that are long enough. One is for agreeing with Python's `timeit` on `os.getppid`, by the node's own clock.
# The figure shows every raw sample of both loops.

# %%
timing = lab.timing_loop.measure(engines)
display(lab.timing_loop.table(timing))
lab.timing_loop.picture(timing)

# %% nbgrader={"grade_id": "timing-loop", "grade": true, "points": 4, "locked": true}
assert timing.variant == lab.timing_loop.VARIANT, "Run the cell above: it tries your function."

# %% [markdown]
# ## 2 Run and see
#
# *Core, 5 minutes*
#
# **Question `a3-record`** (1 point). There is nothing to write: you get the point for the Record. A3 runs
# `processes.c`, `latencies.c`, `bandwidths.c` and `memory.c` on one node after another, because the nodes share one
# machine. With `quick=True`, it takes fewer samples and runs for half a minute, or two minutes with a last-level cache
# of hundreds of MiB.

# %%
a3 = study("A3", cluster, quick=True)

# %% nbgrader={"grade_id": "a3-record", "grade": true, "points": 1, "locked": true}
assert a3.study == "A3", "Run the cell above: it measures the nodes."
assert a3.variant == "", "This is the Record of your own rows; run the cell above again."
assert a3.complete, "The measurement was cut short; run the cell above again."

# %%
node = a3.sweep["nodes"][0]
rows = lab.compared(a3).drop(columns="times as fast")
rows

# %% [markdown]
# *How to read it:* each line is a row that A3 measures. The columns are the nodes, then the published figures; `NaN`
# means that paper A has no such row. Lower is better for µs and ns, and higher is better for MB/s. The figures are
# **medians**. All questions below are about the *first* node.
#
# ## 3 Ask the kernel
#
# *Core, 7 minutes*
#
# **Question `kernel-rows`** (2 points). The next cell names the row picked for you. How many microseconds does this row
# take, and how many null calls take as long?

# %%
print("Your row:", lab.by_lot.kernel_row())
rows[rows["row"].isin(["null call", *lab.by_lot.KERNEL_ROWS])]

# %% nbgrader={"grade_id": "kernel-rows-answer", "solution": true}
kernel_row_us = None
null_calls_in_it = None
### BEGIN SOLUTION
us = rows.set_index("row")[node]  # every node has its own
kernel_row_us = us[lab.by_lot.kernel_row()]
null_calls_in_it = us[lab.by_lot.kernel_row()] / us["null call"]
### END SOLUTION

# %% nbgrader={"grade_id": "kernel-rows", "grade": true, "points": 2, "locked": true}
lab.form(kernel_row_us, "number")
lab.form(null_calls_in_it, "number")

# %% [markdown]
# Compare `getppid` from section 1 with the row `null call`, the same call from C. How much of your figure is due to
# Python?
#
# ## 4 There and back
#
# *Core, 5 minutes*
#
# **Question `round-trips`** (1 point). How long is the full round trip in the row that is picked for you? And which
# figure would you compare with an MPI latency, which is *half* a round trip?

# %%
print("Your row:", lab.by_lot.round_trip())
rows[rows["unit"].str.contains("round trip")]

# %% nbgrader={"grade_id": "round-trips-answer", "solution": true}
full_round_trip_us = None
beside_mpi_us = None
### BEGIN SOLUTION
full_round_trip_us = us[lab.by_lot.round_trip()]
beside_mpi_us = us[lab.by_lot.round_trip()] / 2
### END SOLUTION

# %% nbgrader={"grade_id": "round-trips", "grade": true, "points": 1, "locked": true}
lab.form(full_round_trip_us, "number")
lab.form(beside_mpi_us, "number")

# %% [markdown]
# ## 5 Move bytes
#
# *Core, 18 minutes*
#
# Write `copy_us(size_bytes)` on node00. It makes two numpy arrays of `size_bytes` bytes, without timing this step. Then
# it times copying one into the other, with your `time_per_call_us` and `perf_counter`, and returns the raw samples in
# microseconds.


# %% nbgrader={"grade_id": "copy-answer", "solution": true}
# %%px --targets 0
def copy_us(size_bytes):
    """Raw samples of the time in microseconds to copy an array of `size_bytes` bytes into another one."""
    ### BEGIN SOLUTION
    source, target = np.ones(size_bytes, np.uint8), np.zeros(size_bytes, np.uint8)

    def copy():
        target[:] = source

    return time_per_call_us(copy, perf_counter)
    ### END SOLUTION


# %% [markdown]
# `sizes` is a list of 12 to 60 sizes in bytes. The smallest (8 KiB or less) fits into every cache, and the largest (64
# MiB to 256 MiB) only into a server's. Neighbouring sizes differ by at most a factor of 4.

# %% nbgrader={"grade_id": "sizes-answer", "solution": true}
sizes = None
### BEGIN SOLUTION
sizes = [int(2 ** (power / 2)) for power in range(24, 54)]
### END SOLUTION

# %% [markdown]
# **Question `sweep`** (2 points). The next cell calls your function with all sizes. One point is for sizes and
# samples, and one for times that are plausible for a copy of each size.

# %%
sweep = lab.array_sweep.measure(engines, sizes)
copies = lab.array_sweep.table(sweep)
copies

# %% nbgrader={"grade_id": "sweep", "grade": true, "points": 2, "locked": true}
assert sweep.variant == lab.array_sweep.VARIANT, "Run the cell above: it calls your function."

# %% [markdown]
# How large are this node's caches? `ONE-SIZE` is what one core sees.

# %%
print(cluster.ask(node, "lscpu -C=NAME,ONE-SIZE,ALL-SIZE"))

# %% [markdown]
# **Question `bandwidth-plot`** (3 points). Draw the bandwidth against the size of the array, from `copies` (columns
# `size_bytes`, `median_us`, `best_us`). Use MB/s, which is bytes per microsecond; a copied byte counts once. Label both
# axes, with the unit in parentheses. Sizes that span decades need a logarithmic axis. Mark the end of each cache with a
# vertical line in its own colour, such as `color="C1"`, and name it (L2, L3) in the legend or next to the line.
#
# Units, scales, names and your numbers count; style does not.

# %% nbgrader={"grade_id": "bandwidth-plot-answer", "solution": true}
bandwidth_figure = None  # bandwidth_figure, axes = plt.subplots()
### BEGIN SOLUTION
bandwidth_figure, axes = plt.subplots()
mb_per_s = copies["size_bytes"] / copies["median_us"]
axes.plot(copies["size_bytes"], mb_per_s, marker="o", label="copy, median")
for colour, end_kib, cache in (("C1", 32, "L1"), ("C2", 1024, "L2"), ("C3", 32768, "L3")):
    axes.axvline(1024 * end_kib, linestyle="--", color=colour, label=f"{cache}, {end_kib} KiB")
axes.set(xscale="log", title=f"What {node} copies, by the size of the array")
axes.set(xlabel="size of the array (bytes)", ylabel="copied (MB/s)")
axes.legend()
### END SOLUTION

# %%
lab.array_sweep.keep_plot(cluster, bandwidth_figure)

# %% nbgrader={"grade_id": "bandwidth-plot", "grade": true, "points": 3, "locked": true}
assert bandwidth_figure is not None, "This answer is still empty."

# %% [markdown]
# *What to look at:* which caches can you see in your curve? What takes time at the left end? Is any size far slower
# than its neighbours?
#
# *Drag:* up to what size do you copy at more than half your best rate? Which cache is as large as both arrays together?

# %%
lab.working_set(cluster)

# %% [markdown]
# ## 6 A step of heat
#
# *Core, 22 minutes*
#
# Write the Python functions in `work/heat/heat.py`, and the C function in `heat_step.c` next to it.

# %%
lab.heat.start(2)

# %% [markdown]
# **Question `heat-prediction`** (2 points). How many milliseconds does one step of a plate of 2000 x 2000 points take
# **in C**? Count the bytes that are moved to and from memory for each point, and take the bandwidth from your plot.
# (The plot counts a copied byte once, though the byte is read and written.) Seal the number with its range before you
# measure. You get the points for sealing it.

# %% nbgrader={"grade_id": "heat-prediction-answer", "solution": true}
heat_step_ms = None
heat_step_low_ms = None
heat_step_high_ms = None
### BEGIN SOLUTION
# For each number, a copy moves 8 bytes each way. So does a step: the neighbours are in a cache.
copied_mb_per_s = float((copies["size_bytes"] / copies["median_us"]).iloc[-1])
heat_step_ms = 8 * 2000 * 2000 / copied_mb_per_s / 1000
heat_step_low_ms = heat_step_ms / 2
heat_step_high_ms = heat_step_ms * 3
### END SOLUTION

# %% nbgrader={"grade_id": "heat-prediction", "grade": true, "points": 2, "locked": true}
predict(
    cluster, "heat-step", value=heat_step_ms, low=heat_step_low_ms, high=heat_step_high_ms, lab="02"
)

# %% [markdown]
# **Question `heat-step`** (4 points). Write the step three times: `step_loops` and `step_numpy` in `heat.py`, and
# `heat_step` in `heat_step.c`. You get one point each for the first two, and two for C. Each is checked on a known
# plate, edges included, and `step_numpy` must be three times as fast as the loops. The next cell measures what you have
# written. Run it as often as you like.

# %%
steps = None  # stays None until you have written a function
steps = lab.heat.steps(cluster)

# %%
if steps:
    of_steps = lab.heat.table(steps)
    display(of_steps)

# %% nbgrader={"grade_id": "heat-step", "grade": true, "points": 4, "locked": true}
assert steps, "Run the cell with lab.heat.steps: it measures your steps."

# %% [markdown]
# By what factors are numpy and C faster than Python loops? What did you predict?

# %%
if steps:
    display(lab.heat.picture(steps))
    in_c = of_steps[(of_steps["way"] == "C") & (of_steps["rows"] == 2000)]
    for milliseconds in in_c["median_ms"]:
        print(lab.outcome(cluster, "heat-step", milliseconds, lab="02"))

# %% [markdown]
# ## 7 Compare with paper A
#
# *Core, 6 minutes*
#
# **Question `not-faster`** (1 point). Among paper A's rows, which one is faster on your first node by the largest
# factor, and which by the smallest? `rows` shows your figures and paper A's side by side; a factor is the quotient of
# the two. Remember: more is better for a rate, less for a time. Write the names as in the table. (Rows within a tenth
# of the largest or the smallest factor count as well.)

# %% nbgrader={"grade_id": "not-faster-answer", "solution": true}
most_faster_row = None
least_faster_row = None
### BEGIN SOLUTION
by_row = rows.dropna(subset=["paper A"]).set_index("row")
times = by_row[node] / by_row["paper A"]
times = times.where(by_row["unit"] == "MB/s", 1 / times)
most_faster_row = times.idxmax()
least_faster_row = times.idxmin()
### END SOLUTION

# %% nbgrader={"grade_id": "not-faster", "grade": true, "points": 1, "locked": true}
lab.form(most_faster_row, "text")
lab.form(least_faster_row, "text")

# %% [markdown]
# This figure shows all factors. The axis is logarithmic. Each bar begins at 1, which means as fast as in paper A.

# %%
known = lab.compared(a3).dropna(subset=["times as fast"])
lab.bars(
    dict(zip(known["row"], known["times as fast"], strict=True)),
    title=f"{node} compared with paper A's nodes",
    value_title="times as fast as in paper A",
    factors=True,
)

# %% [markdown]
# *What to look at:* which rows are far to the right, and which near 1 or below it?

# %%
claims(a3)

# %% [markdown]
# ## 8 Explain
#
# *Core, 12 minutes*
#
# **Question `explain`** (4 points, read by a person). In five to ten sentences of your own:
#
# 1. Some rows are much faster on your node than on paper A's PCs, and some are hardly faster at all. What distinguishes
#    the two kinds of rows, and why?
# 2. You want to add up an array of 100 KB. Are four nodes faster than one? Use your own figures, and name the ones on
#    which the answer depends.

# %% [markdown] nbgrader={"grade_id": "explain", "grade": true, "points": 4, "solution": true}
# ### BEGIN SOLUTION
# **What became faster (2 points).** Rates grew by an order of magnitude, through wider paths, more
# loads at once, and prefetching. The time of a chain of dependent steps changed far less: a load from main memory, a
# system call, a round trip, the start of a process. In such a chain each step waits for the one before; more
# transistors do not shorten it. Kernels also do more per call than in 2012 (each entry protects other programs'
# memory), and programs load more when they start. One point is for the two kinds with figures, and one for a reason.
#
# **Four nodes or one (2 points).** One node reads 100 KB in 100,000 / (mem read in MB/s) microseconds, about 5 µs, or
# less from a cache. Sending 75 KB to the others takes 75,000 / 12.5 = 6000 µs on the cable, a thousand times as long.
# Even if the data are already there, one message each way takes longer than the addition. One point is for both times
# from the learner's own figures, and one for the conclusion.
# ### END SOLUTION

# %% [markdown]
# ## 9 Wait for memory
#
# *More, 10 minutes*
#
# A3 has run `memory.c`. It loads words from areas of 4 KiB to many MiB. Each word holds the address of the next one, in
# an order that the processor cannot guess. As long as an area fits into a cache, the curve is flat.

# %%
lab.load_times.picture(a3, node)

# %% [markdown]
# **Question `caches`** (2 points). How many nanoseconds does a load from main memory take, in the largest area? At how
# many KiB does the first plateau end, that is, what is the largest size at which a load is not yet slower? (You may use
# the median or the best.)

# %%
lab.load_times.table(a3, node).drop(columns="plateau")

# %% nbgrader={"grade_id": "caches-answer", "solution": true}
main_memory_ns = None
l1_ends_at_kib = None
### BEGIN SOLUTION
main_memory_ns = us["Main memory"]
areas = lab.load_times.table(a3, node)
l1_ends_at_kib = int(areas[areas["plateau"] == "L1 cache"]["size_kib"].max())
### END SOLUTION

# %% nbgrader={"grade_id": "caches", "grade": true, "points": 2, "locked": true}
lab.form(main_memory_ns, "number")
lab.form(l1_ends_at_kib, "number")

# %% [markdown]
# ## 10 Three rows of your own
#
# *More, 20 minutes*
#
# Write the three functions in `own_rows.c`, next to this notebook (section 10 of the handout lists what is checked).
# Try them in a terminal with `beowulf run -n 1 own_rows.c | grep result`, until all three are right. Then this cell
# measures them:

# %%
own = lab.own_rows.measure(cluster, "own_rows.c")
lab.own_rows.table(own)

# %% [markdown]
# **Question `own-rows`** (2 points). You get half a point for each row that measures what its name says, and half a
# point for this answer. Does a program ask the kernel when it reads the clock with the library, `"yes"` or `"no"`?
# (Compare the two clock rows.)

# %% nbgrader={"grade_id": "own-rows-answer", "solution": true}
library_clock_asks_the_kernel = None
### BEGIN SOLUTION
clocks = lab.own_rows.best_us(own)
asks = clocks[lab.own_rows.LIBRARY] > 0.8 * clocks[lab.own_rows.SYSTEM_CALL]
library_clock_asks_the_kernel = "yes" if asks else "no"
### END SOLUTION

# %% nbgrader={"grade_id": "own-rows", "grade": true, "points": 2, "locked": true}
assert own.variant == "own", "Run the cell above: it measures your rows."
lab.form(library_clock_asks_the_kernel, "choice:yes,no")

# %% [markdown]
# ## 11 The paper with a pencil
#
# *More, 6 minutes*
#
# The paper calls its cluster "significantly better" than Grendel in the tests of table 1. Here is the table that is
# picked for you, in microseconds (`g_cluster` is Grendel):

# %%
lab.papers.table(f"A-table-{lab.by_lot.table()}")

# %% [markdown]
# **Question `paper-tables`** (1 point). In how many rows of your table is *Grendel* faster? In table 3, AF UNIX moves
# 2033 MB/s with two copies of each byte, although memory is copied at 370 MB/s. What explains that best: a
# `"misprint"`, a `"cache"` or a `"disk"`?

# %% nbgrader={"grade_id": "paper-tables-answer", "solution": true}
grendel_faster_in = None
af_unix_is_fast_because_of = None
### BEGIN SOLUTION
# Table 1: null call, null I/O, signal install, signal handle/catch. Table 2: pipe, AF UNIX, UDP.
grendel_faster_in = {1: 4, 2: 3}[lab.by_lot.table()]
af_unix_is_fast_because_of = "cache"
### END SOLUTION

# %% nbgrader={"grade_id": "paper-tables", "grade": true, "points": 1, "locked": true}
lab.form(grendel_faster_in, "number")
lab.form(af_unix_is_fast_because_of, "choice:misprint,cache,disk")

# %% [markdown]
# ## 12 The odd one out
#
# *More, 8 minutes*
#
# A parallel program waits for its slowest node. So first find out whether the nodes of a cluster are equally fast. This
# cell picks a node at random, sets it up differently, measures several rows on all four, and restores the node:

# %%
odd = lab.odd_node.measure(cluster)

# %%
lab.odd_node.table(odd)

# %% [markdown]
# These figures are each node's **best**: what it *can* do. If another node takes the processor for a moment, that
# spoils a median, but rarely every sample.
#
# **Question `odd-node`** (2 points). Which node is the odd one out? And what do its slow rows have in common?
# Choose `"memory"` (many bytes), `"processes"` (a second process), `"ip"` (the network protocol IP, but no cable)
# or `"calls"` (they ask the kernel).

# %% nbgrader={"grade_id": "odd-node-answer", "solution": true}
odd_one_out = None
slow_rows_share = None
### BEGIN SOLUTION
odd_one_out = lab.odd_node.odd(odd)  # it is picked at random
slow_rows_share = "ip"
### END SOLUTION

# %% nbgrader={"grade_id": "odd-node", "grade": true, "points": 2, "locked": true}
lab.form(odd_one_out, "node")
lab.form(slow_rows_share, "choice:memory,processes,ip,calls")

# %% [markdown]
# ## 13 Predict the cluster
#
# *More, 5 minutes*
#
# **Question `prediction`** (1 point). Use the figures of your *first* node in section 2:
#
# - A short message to another node cannot be faster than half a TCP round trip within one node. How many bytes does the
#   node read from memory (`mem read`) in that time? (MB/s times µs gives bytes.) Work on fewer bytes is not worth a
#   message.
# - How many MB/s can a cable carry at most, at the rate that the next cell prints? (A byte is 8 bits.)

# %%
print(cluster.describe()["rate"])

# %% nbgrader={"grade_id": "prediction-answer", "solution": true}
predicted_read_meanwhile_bytes = None
predicted_cable_mb_per_s = None
### BEGIN SOLUTION
predicted_read_meanwhile_bytes = us["mem read"] * us["TCP"] / 2
mbit = {"10mbit": 10, "100mbit": 100, "1gbit": 1000}
predicted_cable_mb_per_s = mbit.get(cluster.describe()["rate"], 10_000) / 8
### END SOLUTION

# %% nbgrader={"grade_id": "prediction", "grade": true, "points": 1, "locked": true}
lab.form(predicted_read_meanwhile_bytes, "number")
lab.form(predicted_cable_mb_per_s, "number")

# %% [markdown]
# ## 14 The questions
#
# Save the notebook, and see what is missing:

# %%
check("02")

# %% [markdown]
# Hand in this folder: the notebook, `records/` and `own_rows.c`. Your plate in `../heat` is saved in the Records. You
# need not run everything again, because an answer counts if it fits one of your Records.
