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
# # Lab 05: Can a node compute while it talks?
#
# The handout (`labs/05-overlap/README.md`) has the same sections and explains every term. Read a section there,
# then do it here.
#
# - Cells that *measure* save a **Record** in the folder `records/` next to this notebook. `quick=True` takes fewer
#   samples; leave it out if you have enough time.
# - Your answer goes where you see `None`. You may add cells of your own anywhere.
# - `check("05")` lists what is still open.

# %%
from pathlib import Path

import matplotlib.pyplot as plt

from beowulf import check, claims, connect, picture, predict, prediction, study
from beowulf.labs import lab_05 as lab

lab.course_style()
cluster = connect("records")
cluster.heal()  # does nothing to a cluster that is whole
print(cluster.kind, *cluster.nodes)

# %% [markdown]
# ## 1 Predict, and seal
#
# *Core, 4 minutes*
#
# A prediction is a number, and a range that should contain the result nine times out of ten.
#
# **Question `predict-arrival`** (0.5 points). Both ranks start together. Rank 0 begins to send a message of 40,000
# bytes with `MPI_Isend`, works for 50 ms and calls `MPI_Wait`. Rank 1 works for 25 ms and then receives. The message
# takes 3 to 4 ms to travel, and the eager limit is 16,384 bytes. How many milliseconds after the start does rank 1 have
# the message?

# %% nbgrader={"grade_id": "predict-arrival-answer", "solution": true}
arrival_guess = None
arrival_low = None
arrival_high = None
### BEGIN SOLUTION
arrival_guess, arrival_low, arrival_high = 54, 50, 60
### END SOLUTION

# %% nbgrader={"grade_id": "predict-arrival", "grade": true, "points": 0.5, "locked": true}
predict(cluster, "arrival", value=arrival_guess, low=arrival_low, high=arrival_high)

# %% [markdown]
# **Question `predict-gain`** (0.5 points). A step of the heat program starts the exchange of its ghost rows (160,000
# bytes), computes all rows that do not need them, and only then waits. The exchange alone takes about 15 ms. The
# computation alone takes between 7 and 15 ms, depending on the processor. The library keeps its default eager limit,
# 131,072 bytes. By what percentage does the time of a step change, compared with a step that first exchanges and then
# computes? A decrease is negative: -25 means that the step takes a quarter less time.

# %% nbgrader={"grade_id": "predict-gain-answer", "solution": true}
gain_guess = None
gain_low = None
gain_high = None
### BEGIN SOLUTION
gain_guess, gain_low, gain_high = 0, -10, 5
### END SOLUTION

# %% nbgrader={"grade_id": "predict-gain", "grade": true, "points": 0.5, "locked": true}
predict(cluster, "gain", value=gain_guess, low=gain_low, high=gain_high)

# %% [markdown]
# ## 2 Who moves the bytes?
#
# *Core, 14 minutes*
#
# Study D1 repeats the experiment from your first prediction (paper D, figure 1) with all settings in the handout's
# table. Rank 0 works for 50 ms (100 ms without `quick=True`). Rank 1 works half as long if the work is a sleep, and a
# quarter as long if it is a computation.
#
# **Question `d1-record`** (0.5 points). There is nothing to write: the Record earns the points.

# %%
d1 = study("D1", cluster, quick=True)
picture(d1)

# %% [markdown]
# *What to look at:* each bar is one rank's time from start to end; the work is a sleep (`delay`). Compare the two bars
# of a pair. Does rank 1 end when its own work is done, or together with rank 0? In which call does it wait?

# %% nbgrader={"grade_id": "d1-record", "grade": true, "points": 0.5, "locked": true}
assert d1.study == "D1", "Run the cell above: it measures D1 on your cluster."
assert d1.complete, "The measurement was cut short; run the cell above again."

# %% [markdown]
# **Question `d1-support`** (1 point). In your Record, does synchronisation overlap with work if the work is a sleep?
# `"supported"`: rank 1 ends soon after its own work. `"not supported"`: rank 1 ends when rank 0 does. (If your machine
# was too busy for a case to be decided, that case earns nothing. In that event, measure again.)

# %% nbgrader={"grade_id": "d1-support-answer", "solution": true}
limit_16_kb = None  # the message has 39.06 KB in each of the three cases
limit_64_kb = None
limit_16_kb_test = None  # with MPI_Test in the work
### BEGIN SOLUTION
limit_16_kb = "not supported"
limit_64_kb = "supported"
limit_16_kb_test = "supported"
### END SOLUTION

# %% nbgrader={"grade_id": "d1-support", "grade": true, "points": 1, "locked": true}
lab.form(limit_16_kb, "choice:supported,not supported")
lab.form(limit_64_kb, "choice:supported,not supported")
lab.form(limit_16_kb_test, "choice:supported,not supported")

# %% [markdown]
# The next cells compare your prediction and the paper's claims with your Record. `holds` means that your Record shows
# what is claimed. If a claim is `inconclusive` because the load was too high, close other programs, and measure again.

# %%
bars = picture(d1).table
of_rank_1 = bars[bars["bar"] == "39.06 KB, limit 16 KB: rank 1"]
received_ms = of_rank_1["to time since the barrier (ms)"].max()
print(lab.outcome(cluster, "arrival", round(float(received_ms), 1)))

# %%
claims(d1)

# %% [markdown]
# ## 3 Your step, in Python
#
# *Core, 18 minutes*
#
# Write `overlapped_step(world, old, new)` in `work/heat/heat.py`. This cell creates the file, with your own functions
# from earlier labs or with ours:

# %%
lab.heat.start(5)

# %% [markdown]
# Before you write (not graded): a rank has 128 rows. How many of them can it compute without waiting?

# %% nbgrader={"grade_id": "overlap-python-answer", "solution": true}
rows_meanwhile = None
### BEGIN SOLUTION
rows_meanwhile = 126
file = Path("../heat/heat.py")
file.write_text(
    file.read_text()
    + '''

def overlapped_step(world, old, new):
    """Post, compute the rows between the border rows, wait, compute the border rows."""
    above = world.rank - 1 if world.rank > 0 else MPI.PROC_NULL
    below = world.rank + 1 if world.rank < world.size - 1 else MPI.PROC_NULL
    requests = [world.Irecv(old[0], above), world.Irecv(old[-1], below)]
    requests += [world.Isend(old[1], above), world.Isend(old[-2], below)]
    step_numpy(old[1:-1], new[1:-1])
    MPI.Request.Waitall(requests)
    step_numpy(old[:3], new[:3])
    step_numpy(old[-3:], new[-3:])
'''
)
### END SOLUTION

# %%
# Run lab.heat.check(5) here.

# %% [markdown]
# **Question `overlap-python`** (4 points). You get three points if your own step is correct and computes while its rows
# travel (a recording of one call shows this). You get the fourth if it clearly saves time with the longest rows. If
# your first version does not, section 4 leads to a second one.

# %%
plain = lab.heat.overlap(cluster, columns=lab.own_step.COLUMNS)
lab.own_step.medians(plain).round(2)

# %% [markdown]
# *What to look at:* the table shows medians of the slower rank. `exchange_ms` is the time of the exchange alone, and
# `compute_ms` is that of the rows alone. `before_ms` is the time of both in succession, and `overlapped_ms` is that of
# your step.

# %% nbgrader={"grade_id": "overlap-python", "grade": true, "points": 4, "locked": true}
assert plain.study == "H5", "Run the cell above: it measures your overlapped_step."
print(*lab.heat.lines(plain), sep="\n")

# %% [markdown]
# ## 4 Who makes progress?
#
# *Core, 10 minutes*
#
# Where does your step wait?

# %%
shown = lab.heat.traced_overlap(cluster)

# %%
lab.timelines.timeline(cluster, shown, "64,000 bytes")

# %% [markdown]
# Press `l` to go to the longest wait, and `n` to go to the next one.

# %%
lab.timelines.timeline(cluster, shown, "160,000 bytes")

# %% [markdown]
# **Question `timeline`** (1 point). In the timelines of your own run, how many milliseconds does the longest wait last
# with rows of 64,000 bytes, and with rows of 160,000 bytes? What is the reason for the second wait: `"late sender"`,
# `"late receiver"`, `"rendezvous"` or `"none"`? The table *The longest waits* lists all waits. If it is empty, the
# answer is 0.

# %% nbgrader={"grade_id": "timeline-answer", "solution": true}
short_wait_ms = None
long_wait_ms = None
long_reason = None
### BEGIN SOLUTION
short_wait_ms = lab.timelines.longest(shown, "64,000 bytes")["wait_ms"]
long_wait_ms = lab.timelines.longest(shown, "160,000 bytes")["wait_ms"]
long_reason = lab.timelines.longest(shown, "160,000 bytes")["reason"]
### END SOLUTION

# %% nbgrader={"grade_id": "timeline", "grade": true, "points": 1, "locked": true}
lab.form(short_wait_ms, "number")
lab.form(long_wait_ms, "number")
lab.form(long_reason, "choice:late sender,late receiver,rendezvous,none")

# %% [markdown]
# Now call `MPI.Request.Testall(requests)` after each slice of rows. Save `heat.py`, check it, and measure again. Into
# how many slices do you divide the rows (not graded)?

# %% nbgrader={"grade_id": "who-progresses-slices", "solution": true}
slices = None
### BEGIN SOLUTION
slices = 16
file.write_text(
    file.read_text()
    + '''

def overlapped_step(world, old, new):
    """The same, with a test of the messages after each slice of eight rows."""
    above = world.rank - 1 if world.rank > 0 else MPI.PROC_NULL
    below = world.rank + 1 if world.rank < world.size - 1 else MPI.PROC_NULL
    requests = [world.Irecv(old[0], above), world.Irecv(old[-1], below)]
    requests += [world.Isend(old[1], above), world.Isend(old[-2], below)]
    end = len(old) - 2
    for first in range(2, end, 8):
        part = slice(first - 1, min(first + 8, end) + 1)
        step_numpy(old[part], new[part])
        MPI.Request.Testall(requests)
    MPI.Request.Waitall(requests)
    step_numpy(old[:3], new[:3])
    step_numpy(old[-3:], new[-3:])
'''
)
### END SOLUTION

# %%
tested = lab.heat.overlap(cluster, columns=lab.own_step.COLUMNS)

# %%
kept = lab.own_step.kept(cluster)  # your newest Record of each version
lab.own_step.medians(*kept.values()).round(2)

# %% [markdown]
# **Question `who-progresses`** (0.5 points). While your step computes, who moves the bytes of a ghost row? Answer
# `"kernel"` (the kernel alone), `"library"` (the library has to run as well) or `"nobody"`. The eager limit is the
# library's default, 131,072 bytes.

# %% nbgrader={"grade_id": "who-progresses-answer", "solution": true}
row_of_64000 = None  # bytes, without MPI_Test
row_of_160000 = None  # bytes, without MPI_Test
row_of_160000_test = None  # bytes, with MPI_Test
### BEGIN SOLUTION
row_of_64000 = "kernel"
row_of_160000 = "nobody"
row_of_160000_test = "library"
### END SOLUTION

# %% nbgrader={"grade_id": "who-progresses", "grade": true, "points": 0.5, "locked": true}
lab.form(row_of_64000, "choice:kernel,library,nobody")
lab.form(row_of_160000, "choice:kernel,library,nobody")
lab.form(row_of_160000_test, "choice:kernel,library,nobody")

# %% [markdown]
# ## 5 The gain and its bound
#
# *Core, 12 minutes*
#
# **Question `gain-bound`** (1 point). With rows of 160,000 bytes and your version with MPI_Test, what are the
# improvement by equation 1 and the bound, in per cent? Use the medians in the table above, and watch the sign. You may
# write the formula itself, such as `(21.4 - 27.2) / 27.2 * 100`.

# %% nbgrader={"grade_id": "gain-bound-answer", "solution": true}
gain_percent = None
bound_percent = None
### BEGIN SOLUTION
times = lab.own_step.medians(kept[lab.own_step.WITH]).set_index("row_bytes").loc[160_000]
gain_percent = (times["overlapped_ms"] - times["before_ms"]) / times["before_ms"] * 100
bound_percent = -min(times["exchange_ms"], times["compute_ms"]) / times["before_ms"] * 100
### END SOLUTION

# %% nbgrader={"grade_id": "gain-bound", "grade": true, "points": 1, "locked": true}
lab.form(gain_percent, "number")
lab.form(bound_percent, "number")

# %% [markdown]
# Your prediction was about the version without MPI_Test:

# %%
if lab.own_step.WITHOUT in kept:
    measured = lab.heat.gain(kept[lab.own_step.WITHOUT], max(lab.own_step.COLUMNS)).percent
    print(lab.outcome(cluster, "gain", round(measured, 1)))

# %% [markdown]
# **Question `gain-plot`** (2 points). Plot the improvement against the length of a ghost row in bytes: both versions
# with their intervals, and the bound. `kept` contains the Records of both versions, and a row has 8 bytes per column.
#
# - `lab.own_step.COLUMNS` lists the lengths of the rows, in columns.
# - `lab.heat.gain(record, columns)` computes equation 1 over all passes: `.percent`, `.low` and `.high` (95 %).
# - `lab.heat.bound_percent(record, columns)` computes the bound.
# - `lab.prediction_band(axes, prediction(cluster, "gain"))` draws your sealed prediction.
#
# The check looks at units, scales, names and your numbers; the style is up to you.

# %% nbgrader={"grade_id": "gain-plot-answer", "solution": true}
gain_figure = None  # gain_figure, axes = plt.subplots()
### BEGIN SOLUTION
gain_figure, axes = plt.subplots()
row_bytes = [8 * columns for columns in lab.own_step.COLUMNS]
for name, record in kept.items():
    seen = [lab.heat.gain(record, columns) for columns in lab.own_step.COLUMNS]
    ends = [[each.percent - each.low for each in seen], [each.high - each.percent for each in seen]]
    axes.errorbar(row_bytes, [each.percent for each in seen], yerr=ends, capsize=3, label=name)
bound = [
    lab.heat.bound_percent(kept[lab.own_step.WITH], columns) for columns in lab.own_step.COLUMNS
]
axes.plot(row_bytes, bound, label="bound")
lab.prediction_band(axes, prediction(cluster, "gain"))
axes.set(xlabel="ghost row (bytes)", ylabel="improvement by equation 1 (%)")
axes.set_title("What my overlapped step gains")
axes.legend()
### END SOLUTION

# %% nbgrader={"grade_id": "gain-plot", "grade": true, "points": 2, "locked": true}
lab.own_plot.keep(
    cluster,
    gain_figure,
    "gain",
    lab.own_plot.Wants(x="row in bytes", y="change in %", lines=3, points=4),
)

# %% [markdown]
# *What to look at:* between which two sizes do your two lines separate? Which number from section 2 lies between them?
#
# *Drag:* at what amount of work is the gain largest, and why is it smaller with more work?

# %%
lab.hidden_message(cluster)

# %% [markdown]
# ## 6 Your step, in C
#
# *Core, 12 minutes*
#
# Write `overlapped` in `work/heat/heat_overlap.c`, and correct it until it runs in a terminal without an error. How
# many rows do you compute between two calls to `MPI_Testall` (not graded)?

# %% nbgrader={"grade_id": "overlap-c-answer", "solution": true}
rows_between_tests = None
### BEGIN SOLUTION
rows_between_tests = 8
c_file = Path("../heat/heat_overlap.c")
c_file.write_text(
    c_file.read_text().replace(
        "    one_after_the_other(plate); /* in place of this line */\n",
        """    int columns = plate->columns, rows = plate->rows, done;
    MPI_Request requests[4];
    check(MPI_Irecv(row_of(plate, 0), columns, MPI_DOUBLE, plate->above, TAG, MPI_COMM_WORLD,
                    &requests[0]));
    check(MPI_Irecv(row_of(plate, rows + 1), columns, MPI_DOUBLE, plate->below, TAG, MPI_COMM_WORLD,
                    &requests[1]));
    check(MPI_Isend(row_of(plate, 1), columns, MPI_DOUBLE, plate->above, TAG, MPI_COMM_WORLD,
                    &requests[2]));
    check(MPI_Isend(row_of(plate, rows), columns, MPI_DOUBLE, plate->below, TAG, MPI_COMM_WORLD,
                    &requests[3]));
    for (int row = 2; row < rows; row += 8) {
        step_rows(plate, row, row + 7 < rows ? row + 7 : rows - 1);
        check(MPI_Testall(4, requests, &done, MPI_STATUSES_IGNORE));
    }
    check(MPI_Waitall(4, requests, MPI_STATUSES_IGNORE));
    step_rows(plate, 1, 1);
    step_rows(plate, rows, rows);
""",
    )
)
### END SOLUTION

# %% [markdown]
# **Question `overlap-c`** (3 points). You get two points if your own step is correct and computes while its rows
# travel, and the third if it clearly saves time with rows of 160,000 bytes.

# %%
in_c = lab.heat.overlap(cluster, "C")
lab.own_step.medians(in_c).round(2)

# %% nbgrader={"grade_id": "overlap-c", "grade": true, "points": 3, "locked": true}
assert in_c.variant == "c", "Run the cell above: it measures your heat_overlap.c."
print(*lab.heat.lines(in_c), sep="\n")

# %% [markdown]
# `lab.heat.picture(in_c)` draws the four times and the bound. `lab.heat.picture(tested)` does the same for your step
# in Python.

# %%
# Draw those of the C program here.

# %%
# Draw those of your Python step here.

# %% [markdown]
# ## 7 Find the limit
#
# *Core, 8 minutes*
#
# **Question `d2-record`** (0.5 points). There is nothing to write: the Record of study D2, the paper's message-size
# sweep, earns the points.

# %%
d2 = study("D2", cluster, quick=True)
picture(d2)

# %% [markdown]
# *What to look at:* all lines but four stay near zero. The value 1 means that rank 1 waits as long as rank 0 works.
# Where does each of the four jump, and which setting does it have? The stars show the paper's table 5.

# %% nbgrader={"grade_id": "d2-record", "grade": true, "points": 0.5, "locked": true}
assert d2.study == "D2", "Run the cell above: it sweeps the sizes on your cluster."
assert d2.complete, "The measurement was cut short; run the cell above again."

# %% [markdown]
# **Question `eager-limit`** (1.5 points). The next cell prints a limit (16 KB, unless your course gave you a personal
# code). With that limit, what is the largest size in KB at which the message still leaves during the work, and the
# smallest at which it waits? (If your line does not jump exactly once, the machine was too busy: measure again.)

# %%
print(f"limit {lab.by_lot.limit_kb()} KB")

# %% nbgrader={"grade_id": "eager-limit-answer", "solution": true}
last_by_itself_kb = None
first_that_waits_kb = None
### BEGIN SOLUTION
last_by_itself_kb = 10 if lab.by_lot.limit_kb() == 16 else 60
first_that_waits_kb = last_by_itself_kb + 10
### END SOLUTION

# %% nbgrader={"grade_id": "eager-limit", "grade": true, "points": 1.5, "locked": true}
lab.form(last_by_itself_kb, "number")
lab.form(first_that_waits_kb, "number")

# %%
claims(d2)

# %% [markdown]
# ## 8 Explain
#
# *Core, 12 minutes*
#
# **Question `explain`** (4 points, read by a person). Write five to ten sentences of your own, with your own figures:
#
# 1. Your first `overlapped_step` posted everything before it computed, and with rows of 160,000 bytes it gained
#    little or nothing. Who should have moved the bytes meanwhile, and why did they not? Why was that different with
#    64,000 bytes? What did MPI_Test change? What keeps your gain below the bound, or lifts it above the bound?
# 2. Paper D explains its jumps by the size of the socket buffer. Which of your measurements show that another cause has
#    the same effect on rank 1? Which one distinguishes the two causes?

# %% [markdown] nbgrader={"grade_id": "explain", "grade": true, "points": 4, "solution": true}
# ### BEGIN SOLUTION
# **Who moves the bytes (2 points).** 160,000 bytes are above the eager limit. So posting only announces the message.
# The data leave when the sender's library has read the other rank's answer. The library runs only inside MPI calls, and
# the computation makes none. The answer stays unread in the socket, and the kernel cannot interpret it. Both messages
# travel during the wait, after the work. With 64,000 bytes, which are sent eagerly, the data are in the socket when
# Isend returns, and the kernel sends them while the rank computes. Give one point for the rendezvous, and one for
# progress only inside MPI calls.
#
# **What MPI_Test changes, and the bound (1 point).** Between slices the library reads the answer early and keeps the
# socket filled. Where the gain exceeds the bound, slices stay in a cache and are computed faster than the whole part.
# Several causes can keep the gain below the bound. The border rows come after the wait, the library and the kernel use
# the same cores as the work, each call takes time, and a message moves on only when a slice ends. Any two of these earn
# the point, with the learner's own figures.
#
# **Two causes (1 point).** On rank 1, D1 and D2 show the same jump with an eager limit and with a send buffer of a
# similar size. The capture of D2 distinguishes the causes. Before rank 0's next call, only an announcement leaves with
# the eager limit, but the first part of the data leaves with the send buffer.
# ### END SOLUTION

# %% [markdown]
# ## 9 One side, both sides
#
# *More, 12 minutes*
#
# Study D3 measures a message alone, the work alone, and both at once, as in tables 7 and 8, with messages of 10 KB and
# 65 KB. It alternates between the C program and the same program in Python, `overlap.py` in the notebook's folder.

# %%
d3 = study("D3", cluster, quick=True)
picture(d3)

# %% [markdown]
# *What to look at:* each pair of bars shows one message. The upper bar shows it separate from the work, and the lower
# bar together with it. Overlap saves time where the lower bar is shorter. The stars show the paper's averages. Which of
# your bars for 65 KB do they match: those with buffers that grow, or those with a small send buffer?

# %%
claims(d3)

# %% [markdown]
# In study D4 both ranks send and receive messages of 7 KB and of 70 KB (tables 9 to 12). Either all of the work comes
# before the exchange, or three quarters of it comes during the exchange.

# %%
d4 = study("D4", cluster, quick=True)
picture(d4)

# %% [markdown]
# *What to look at:* a mark to the left of the zero line is a gain, unless its interval touches the line. The stars show
# the paper's −26 % and −32 % at 7 KB, and −4 % and −8 % at 70 KB.

# %%
claims(d4)

# %% [markdown]
# ## 10 The gain at other sizes
#
# *More, 10 minutes*
#
# Study D5 repeats the exchange from D4 with more work (6 ms) and six sizes. These are on both sides of two limits: a
# send buffer of 24 KB, and an eager limit of 16 KB.

# %%
d5 = study("D5", cluster, quick=True)
times_d5 = lab.d5_improvement.medians(d5)
columns = ["library", "t_comm_s", "t_comp_s", "t_nonoverlap_s", "t_both_s"]
times_d5[times_d5["size_kb"] == 70][columns]

# %% [markdown]
# The table shows the medians of the slower rank at 70 KB, in seconds: the messages alone, the work alone, both in
# succession, and both at once.
#
# **Question `lost-gain`** (1 point). What is the improvement by equation 1 at 70 KB for `limit 16 KB`, and for
# `limit 16 KB, MPI_Test`? T_overlap is `t_both_s`.

# %% nbgrader={"grade_id": "lost-gain-answer", "solution": true}
plain_percent = None
tested_percent = None
### BEGIN SOLUTION
both = times_d5[times_d5["size_kb"] == 70].set_index("library")
gains = (both["t_both_s"] - both["t_nonoverlap_s"]) / both["t_nonoverlap_s"] * 100
plain_percent = gains["limit 16 KB"]
tested_percent = gains["limit 16 KB, MPI_Test"]
### END SOLUTION

# %% nbgrader={"grade_id": "lost-gain", "grade": true, "points": 1, "locked": true}
lab.form(plain_percent, "number")
lab.form(tested_percent, "number")

# %%
picture(d5)

# %% [markdown]
# *What to look at:* two lines change where a message becomes larger than a limit. Which of them loses all of its gain
# at once, and why does the other keep some? Which lines do not change?

# %%
claims(d5)

# %% [markdown]
# ## 11 Overlap in paper A
#
# *More, 8 minutes*
#
# A8 repeats paper A's figures 16 and 17, and A9 repeats figure 18, in the ways that the handout explains. This section
# has no points. Can you explain what the paper observed?

# %%
a8 = study("A8", cluster, quick=True)
picture(a8)

# %% [markdown]
# *What to look at:* in the upper plot you can hardly distinguish the two lines. Which of the two kinds of calls sends
# eagerly? In the lower plot the work grows from 0 to 128 numbers. How many nanoseconds does that work take, and how
# many does a message take?

# %%
a9 = study("A9", cluster, quick=True)
picture(a9)

# %% [markdown]
# *What to look at:*
#
# - In the upper plot, at which message size do the lines separate?
# - In the middle plot the work grows. How many lines can you distinguish, and how far above the paper's 10 MB per
#   second (80 Mbit/s, the mark in the lower plot) do they end?
# - In the lower plot, at which size do the lines separate? mpptest multiplies the rate of one pair by np / 2, half the
#   number of ranks. Which lines would coincide without that factor?

# %% [markdown]
# ## 12 An exchange of your own
#
# *More, 20 minutes*
#
# Write `overlapped` in `exchange.c`, in the notebook's folder. It must do the same as `one_after_the_other`, in at
# least 15 % less time. Try it in a terminal with `beowulf run -n 2 exchange.c`, until it is correct and fast. This cell
# compiles it and measures it in two launches:

# %%
mine = lab.exchange.measure(cluster, "exchange.c")
(1000 * lab.exchange.passes(mine)).median().round(2)  # ms, of the slower rank

# %% [markdown]
# **Question `exchange`** (3 points). You get all three points if the whole interval of the improvement is at or below
# -15 %, and half of them if your exchange certainly takes less time. (At 100 Mbit/s, 20 ms of work can hide 17 ms of
# messages, and 17 of 37 ms is 46 %. On other links the ratio is the same.)

# %% nbgrader={"grade_id": "exchange", "grade": true, "points": 3, "locked": true}
assert mine.variant == "exchange", "Run the cell above: it measures your exchange.c."
print(lab.exchange.gain(mine).says)

# %% [markdown]
# ## 13 Compare with paper D
#
# *More, 10 minutes*
#
# The handout lists what the paper found, and where its own figures contradict each other.
#
# **Question `table-minima`** (1 point). Tables 9 to 12 apply equation 1 to the averages. The next cell prints the
# number of a table (9, unless your course gave you a personal code). What is the result of equation 1, in per cent, for
# the **minima** of that table? They are in section 13 of the handout.

# %%
print(f"table {lab.by_lot.table_number()}")

# %% nbgrader={"grade_id": "table-minima-answer", "solution": true}
table_minima_percent = None
### BEGIN SOLUTION
minima = {9: (5.28, 5.23), 10: (12.4, 9.6), 11: (12.5, 12.3), 12: (7.07, 6.79)}
without, overlapped = minima[lab.by_lot.table_number()]
table_minima_percent = (overlapped - without) / without * 100
### END SOLUTION

# %% nbgrader={"grade_id": "table-minima", "grade": true, "points": 1, "locked": true}
lab.form(table_minima_percent, "number")

# %% [markdown]
# ## 14 The questions
#
# `check` reads this notebook and your Records, and lists what is still empty or does not fit. It measures nothing. Save
# the notebook first.

# %%
check("05")

# %% [markdown]
# Hand in this folder: the notebook, `records/` (with your functions for the heat program) and `exchange.c`. You need
# not run everything again: an answer counts if it fits one of your Records.
