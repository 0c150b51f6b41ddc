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
# # Lab 04: Does it matter how we send?
#
# The handout (`labs/04-blocking-nonblocking/README.md`) has the same sections and explains every term. Read a section
# there, then do it here.
#
# - **Run** cells with Shift+Enter, from top to bottom. Those that *measure* save a **Record** in the folder `records/`
#   next to this notebook.
# - **Answer** where you see `None`, with a number or a calculation such as `8 + 1000 / 12.5`. Your program or your plot
#   goes where you see `# YOUR ANSWER HERE`. Add cells of your own anywhere.
# - **Check** your answers with `check("04")`, which reports what is still open.

# %%
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from beowulf import check, claims, connect, picture, predict, prediction, start_engines, study
from beowulf.labs import lab_04 as lab

QUICK = True  # False: the whole sweep of each study, several minutes each

lab.course_style()
cluster = connect("records")
print(cluster.kind, *cluster.nodes)

# %% [markdown]
# ## 1 Predict, and seal
#
# *Core, 4 minutes*
#
# **Question `predict-saturation`** (0.5 points). Two nodes play ping-pong over cables of 100 Mbit/s. Very small
# messages reach a low rate, and large ones nearly the full rate. From what size upwards, in bytes, does the rate stay
# within 10 % of the rate of the largest message?

# %% nbgrader={"grade_id": "predict-saturation-guess", "solution": true}
saturation_guess = None
saturation_low = None
saturation_high = None
### BEGIN SOLUTION
saturation_guess, saturation_low, saturation_high = 32_000, 8_000, 70_000
### END SOLUTION

# %% nbgrader={"grade_id": "predict-saturation", "grade": true, "points": 0.5, "locked": true}
predict(cluster, "saturation", value=saturation_guess, low=saturation_low, high=saturation_high)

# %% [markdown]
# ## 2 Two ranks head on
#
# *Core, 5 minutes*
#
# Do this section in a terminal, following the handout. Then look here at the run that hung: which rank is each rank
# waiting for?

# %%
lab.timelines.of_run("headon.trace")

# %% [markdown]
# ## 3 What MPI_Send promises
#
# *Core, 16 minutes*
#
# **Question `eager-limit`** (1 point). What is the largest message, in bytes, for which `headon.c` still ends? You need
# about ten runs to find it; an answer within 500 bytes is accepted. (The first line of `beowulf up` names your MPI
# library. The question is about the limit of classic MPICH.)

# %% nbgrader={"grade_id": "eager-limit-answer", "solution": true}
eager_limit_bytes = None
### BEGIN SOLUTION
eager_limit_bytes = 131040
### END SOLUTION

# %% nbgrader={"grade_id": "eager-limit", "grade": true, "points": 1, "locked": true}
lab.form(eager_limit_bytes, "number")

# %% [markdown]
# **Question `other-limit`** (1 point). On another cluster, `MPIR_CVAR_CH3_EAGER_MAX_MSG_SIZE` has the value that the
# next cell prints. As in `headon.c`, two ranks send each other a row of a plate, with 8 bytes for each column. What is
# the largest number of columns for which both still reach their receives?

# %%
print(f"{lab.asked_limit():,} bytes")

# %% nbgrader={"grade_id": "other-limit-answer", "solution": true}
most_columns = None
### BEGIN SOLUTION
most_columns = (lab.asked_limit() - 32) // 8
### END SOLUTION

# %% nbgrader={"grade_id": "other-limit", "grade": true, "points": 1, "locked": true}
lab.form(most_columns, "number")

# %% [markdown]
# ## 4 Your own ping-pong
#
# *Core, 19 minutes*

# %%
engines = start_engines(cluster)

# %%
# %%px
print(f"rank {rank} of {ranks} on {node}")

# %% [markdown]
# **Question `own-blocking`** (2 points). Write `half_round_trip_us(buffer)`. `buffer` is an array of bytes (numpy,
# `uint8`), of the same length on all ranks, filled on rank 0. The function
#
# - sends it from rank 0 to rank 1 and back, with `Send` and `Recv`; you choose how many times (many for short messages,
#   once for 1 MiB, which takes about 0.2 s)
# - returns, on rank 0, half the time of one round trip, in microseconds, measured with `MPI.Wtime()`
# - returns nothing (`None`) on all other ranks; ranks 2 and 3 do not take part
#
# The Record of the cell below earns the points. It must show correct data, blocking calls, and times that agree with
# the clock and with C. A time may be at most 50 times C's, and at 1 MiB the two must be nearly equal.


# %% nbgrader={"grade_id": "own-blocking-answer", "solution": true}
# %%px
def half_round_trip_us(buffer):
    """Half of one round trip of `buffer` between ranks 0 and 1, in microseconds; None on the others."""
    ### BEGIN SOLUTION
    trips = max(1, 20_000 // (100 + buffer.size))
    began = MPI.Wtime()
    for _ in range(trips):
        if rank == 0:
            world.Send(buffer, dest=1)
            world.Recv(buffer, source=1)
        elif rank == 1:
            world.Recv(buffer, source=0)
            world.Send(buffer, dest=0)
    return (MPI.Wtime() - began) / trips / 2 * 1e6 if rank == 0 else None
    ### END SOLUTION


# %%
# %%px --timeout 10
half_round_trip_us(np.ones(1000, np.uint8))

# %%
own = lab.own_roundtrip.measure(engines, "half_round_trip_us", quick=QUICK)

# %% nbgrader={"grade_id": "own-blocking", "grade": true, "points": 2, "locked": true}
assert own.variant == "own", "Run the cell above: it measures your function."

# %% [markdown]
# The next cell shows your half round trips and rates next to those of the C program, and how good your prediction was:

# %%
times = lab.own_roundtrip.table(own)
rates = times.set_index("size_bytes")["own_mbit_per_s"]
print(lab.outcome(cluster, "saturation", lab.saturation_bytes(rates)))
times

# %%
lab.own_roundtrip.picture(own)

# %% [markdown]
# *What to look at:* how many microseconds does Python add at 8 bytes, and what percentage at 1 MiB?

# %% [markdown]
# ## 5 Latency and rate
#
# *Core, 21 minutes*
#
# **Question `fit`** (2 points). Fit the line to the medians of your function (`times["own_us"]` above) with
# `np.polyfit(x, y, 1)`, once without weights, and once with `w=1 / y`. Type these results as numbers, not as names of
# variables:
#
# - the two latencies, in microseconds
# - the bandwidth, 1 / beta, of the fit with weights, in bytes per microsecond (it may exceed your cable's)
# - the size, in bytes, for which alpha equals beta · n in that fit

# %%
# Your fit goes here.

# %% nbgrader={"grade_id": "fit-answer", "solution": true}
plain_alpha_us = None
weighted_alpha_us = None
weighted_bandwidth_bytes_per_us = None
half_rate_bytes = None
### BEGIN SOLUTION
size, time_us = times["size_bytes"].to_numpy(), times["own_us"].to_numpy()
plain_slope, plain_alpha_us = np.polyfit(size, time_us, 1)
slope, weighted_alpha_us = np.polyfit(size, time_us, 1, w=1 / time_us)
weighted_bandwidth_bytes_per_us = 1 / slope
half_rate_bytes = weighted_alpha_us * weighted_bandwidth_bytes_per_us
### END SOLUTION

# %% nbgrader={"grade_id": "fit", "grade": true, "points": 2, "locked": true}
lab.form(plain_alpha_us, "number")
lab.form(weighted_alpha_us, "number")
lab.form(weighted_bandwidth_bytes_per_us, "number")
lab.form(half_rate_bytes, "number")

# %% [markdown]
# **Question `model-time`** (1 point). How many microseconds does your fit with weights predict for half a round trip of
# the size that the next cell prints? (It is 500,000 bytes, unless your course gave you a personal code.) You have not
# measured that size. Try your function with it afterwards.

# %%
print(f"{lab.asked_bytes():,} bytes")

# %% nbgrader={"grade_id": "model-time-answer", "solution": true}
model_time_us = None
### BEGIN SOLUTION
model_time_us = weighted_alpha_us + lab.asked_bytes() * slope
### END SOLUTION

# %% nbgrader={"grade_id": "model-time", "grade": true, "points": 1, "locked": true}
lab.form(model_time_us, "number")

# %% [markdown]
# **Question `times-plot`** (1.5 points). Draw the half round trip against the size of the message: your function, the
# program in C, and both fitted lines. Choose axes on which every size is visible. Label them with their units, and name
# each line in a legend.
#
# The check looks at units, scales, names and your numbers; the style is up to you.

# %% nbgrader={"grade_id": "times-plot-answer", "solution": true}
times_figure = None  # times_figure, axes = plt.subplots()
### BEGIN SOLUTION
times_figure, axes = plt.subplots()
axes.plot(size, time_us, label="my function in Python")
axes.plot(size, times["c_us"], label="roundtrip.c")
axes.plot(size, plain_alpha_us + plain_slope * size, marker="", label="fit without weights")
axes.plot(size, weighted_alpha_us + slope * size, marker="", label="fit with weights")
axes.set(xscale="log", yscale="log", title="Half a round trip between two nodes")
axes.set(xlabel="size of the message (bytes)", ylabel="half round trip (µs)")
axes.legend()
### END SOLUTION

# %% nbgrader={"grade_id": "times-plot", "grade": true, "points": 1.5, "locked": true}
lab.own_plot.keep(
    cluster,
    times_figure,
    "times",
    lab.own_plot.Wants(
        x="size in bytes", y="time in µs", log_x=True, log_y=True, lines=4, points=7
    ),
)

# %% [markdown]
# *Drag* the line onto your points. At which sizes does only alpha move it?

# %%
lab.message_time(cluster)

# %% [markdown]
# ## 6 The plate's ghost rows, three ways
#
# *Core, 20 minutes*
#
# This cell creates `work/heat/heat.py`:

# %%
lab.heat.start(4)

# %% [markdown]
# **Question `predict-deadlock`** (0.5 points). What is the smallest number of columns at which `exchange_send_first`
# hangs? Each column takes 8 bytes of a row.

# %% nbgrader={"grade_id": "predict-deadlock-guess", "solution": true}
deadlock_guess = None
deadlock_low = None
deadlock_high = None
### BEGIN SOLUTION
deadlock_guess, deadlock_low, deadlock_high = 16_381, 16_000, 16_500
### END SOLUTION

# %% nbgrader={"grade_id": "predict-deadlock", "grade": true, "points": 0.5, "locked": true}
predict(cluster, "deadlock", value=deadlock_guess, low=deadlock_low, high=deadlock_high)

# %% [markdown]
# **Question `exchange`** (3 points). Both functions must be your own and correct (`exchange_send_first` for rows short
# enough that it does not hang). Save `heat.py`, then run:

# %%
ways = lab.heat.exchanges(cluster)

# %% nbgrader={"grade_id": "exchange", "grade": true, "points": 3, "locked": true}
assert ways.study == "H4", "Run the cell above: it measures your exchanges."

# %% [markdown]
# Was your prediction right?

# %%
for point in ways.select(search="deadlock"):
    if point.facts["hangs_columns"]:
        print(lab.outcome(cluster, "deadlock", point.facts["hangs_columns"]))

# %% [markdown]
# How long does each way take? You need these times in `explain`.

# %%
lab.heat.table(ways)

# %% [markdown]
# The next cell records `exchange_send_first` with rows of 160,000 bytes until it is stopped, then five steps of each of
# the other two with rows of 80,000 bytes.

# %%
shown = lab.heat.traced_exchanges(cluster)

# %%
lab.timelines.timeline(cluster, shown, "deadlock")

# %% [markdown]
# Press `l` to go to the longest wait, and `n` to go to the next one.

# %%
lab.timelines.timeline(cluster, shown, "in turns")

# %%
lab.timelines.timeline(cluster, shown, "non-blocking")

# %% [markdown]
# **Question `timeline`** (1 point). On the timelines of your own run:
#
# - in the deadlock, for which rank is rank 1 waiting? Which is the lower of the two ranks that are waiting for each
#   other?
# - in `exchange_in_turns`, what is the reason for the longest wait (`"late sender"`, `"late receiver"`, `"rendezvous"`,
#   or `"none"` if no rank waits)? How many milliseconds does this wait last?

# %% nbgrader={"grade_id": "timeline-answer", "solution": true}
rank_1_waits_for = None
circle_lowest_rank = None
turns_reason = None
turns_wait_ms = None
### BEGIN SOLUTION
rank_1_waits_for, circle_lowest_rank = lab.heat.stuck(shown)[1], lab.heat.circle(shown)[0]
turns_reason = lab.timelines.longest(shown, "in turns")["reason"]
turns_wait_ms = lab.timelines.longest(shown, "in turns")["wait_ms"]
### END SOLUTION

# %% nbgrader={"grade_id": "timeline", "grade": true, "points": 1, "locked": true}
lab.form(rank_1_waits_for, "number")
lab.form(circle_lowest_rank, "number")
lab.form(turns_reason, "choice:late sender,late receiver,rendezvous,none")
lab.form(turns_wait_ms, "number")

# %% [markdown]
# *What to look at:* which of the waits in the exchange in turns vanish in the non-blocking exchange? How much time
# would taking turns cost with 64 ranks?

# %% [markdown]
# ## 7 Explain
#
# *Core, 10 minutes*
#
# **Question `explain`** (3 points, read by a person). Write five to eight sentences of your own, with your own figures:
#
# 1. Above a certain size your `exchange_send_first` hangs, and the other two never do. What does `Send` promise when it
#    returns? What does the library do with a small and with a large message?
# 2. Why can the latency of a fit without weights be far from the time of the shortest message, even below zero? (If
#    your latency is near that time, fit again without the largest size.) Use the token bucket from section 5, and the
#    errors that matter most to a fit without weights. Which of the two ways of fitting do you believe, and for which
#    messages?
# 3. Which of the two exchanges that never hang is faster with the longest rows, and by what factor? Use your timelines
#    to explain why.

# %% [markdown] nbgrader={"grade_id": "explain", "grade": true, "points": 3, "solution": true}
# ### BEGIN SOLUTION
# **What Send promises (1 point).** When it returns, the buffer may be used again; nothing is known about the receiver.
# A small message is sent eagerly: it leaves at once, and the other side keeps it until it is asked for, so Send returns
# before the receive. A large one is announced first and leaves only when the receive has been posted (rendezvous). If
# all ranks send first, each waits for a neighbour's receive, and none reaches its own. In turns, one of two neighbours
# receives while the other sends. Isend only begins the send, so the rank goes on to its receive.
#
# **An impossible latency (1 point).** While a direction of the cable is idle, its bucket saves up to 3,200 bytes of
# credit. So each long message takes up to about 250 µs less than beta n. The line through the long messages therefore
# meets the axis below zero. A fit without weights minimises the sum of squared distances, so the longest messages, with
# the largest distances, determine both parameters; 8 bytes hardly count. With weights of 1 / y, relative errors count,
# and the latency is that of short messages. Believe the first fit for long messages, and the second for short ones. In
# between neither is right.
#
# **What turns cost (1 point).** The learner's own figures show that with long rows, taking turns takes up to twice as
# long as the non-blocking exchange. A rank that has sent waits for a neighbour that is still receiving (late sender),
# and a cable carries data in one direction at a time. In the non-blocking exchange, a rank's four messages travel at
# the same time, in both directions.
# ### END SOLUTION

# %% [markdown]
# ## 8 More nodes, more rate?
#
# *More, 16 minutes*
#
# **Question `a7-record`** (1 point). There is nothing to write: the Record earns the point. Leave the machine alone
# while A7 is measuring.

# %%
a7 = study("A7", cluster, quick=QUICK)

# %% nbgrader={"grade_id": "a7-record", "grade": true, "points": 1, "locked": true}
assert a7.study == "A7", "Run the cell above: it measures A7 on your cluster."
assert a7.complete, "The measurement was cut short; run the cell above again."

# %%
rate = lab.rates(a7)
rate.pivot_table(
    index="size_bytes", columns=["pattern", "ranks", "protocol"], values="rate_mbit_per_s"
).round(1)

# %% [markdown]
# **Question `rates-plot`** (1.5 points). Draw the rate in the `ring` against the size of the message, with one line
# each for 2, 3 and 4 ranks. Choose blocking or non-blocking calls, and say which in the plot. `rate` is the table, with
# the ends of the intervals in `low` and `high`; `rate.query("pattern == 'ring' and ranks == 2")` returns some of its
# rows. Add a line for `pairs` with two ranks. `lab.prediction_band(axes, prediction(cluster, "saturation"), along="x")`
# adds your prediction.

# %% nbgrader={"grade_id": "rates-plot-answer", "solution": true}
rates_figure = None  # rates_figure, axes = plt.subplots()
### BEGIN SOLUTION
rates_figure, axes = plt.subplots()
for ranks in (2, 3, 4):
    line = rate[(rate["pattern"] == "ring") & (rate["ranks"] == ranks)]
    line = line[line["protocol"] == "nonblocking"].sort_values("size_bytes")
    axes.plot(line["size_bytes"], line["rate_mbit_per_s"], label=f"np {ranks}")
    axes.fill_between(line["size_bytes"], line["low"], line["high"], alpha=0.2)
line = rate[(rate["pattern"] == "pairs") & (rate["ranks"] == 2) & (rate["protocol"] == "blocking")]
axes.plot(line["size_bytes"], line["rate_mbit_per_s"], label="a pair")
lab.prediction_band(axes, prediction(cluster, "saturation"), along="x")
axes.set(xscale="log", title="Rate in a ring, non-blocking, summed over all ranks")
axes.set(xlabel="size of the message (bytes)", ylabel="rate (Mbit/s)")
axes.legend()
### END SOLUTION

# %% nbgrader={"grade_id": "rates-plot", "grade": true, "points": 1.5, "locked": true}
lab.own_plot.keep(
    cluster,
    rates_figure,
    "rates",
    lab.own_plot.Wants(x="size in bytes", y="rate in Mbit/s", log_x=True, lines=3, points=7),
)

# %% [markdown]
# **Question `saturation-bytes`** (0.5 points). For `pairs` with 2 ranks and `blocking` calls, at what size, in bytes,
# does the plateau begin? At this size and at all larger sizes the rate stays within 10 % of the rate of the largest
# message. (Small messages may be *faster* than the cable, as section 5 explains. Their rates are outside this range;
# the plateau begins after them.)

# %% nbgrader={"grade_id": "saturation-bytes-answer", "solution": true}
saturation_bytes = None
### BEGIN SOLUTION
pairs = rate[(rate["pattern"] == "pairs") & (rate["ranks"] == 2) & (rate["protocol"] == "blocking")]
by_size = pairs.set_index("size_bytes")["rate_mbit_per_s"].sort_index()
away = by_size[(by_size / by_size.iloc[-1] - 1).abs() > 0.1]
saturation_bytes = int(by_size[by_size.index > max(away.index, default=0)].index[0])
### END SOLUTION

# %% nbgrader={"grade_id": "saturation-bytes", "grade": true, "points": 0.5, "locked": true}
lab.form(saturation_bytes, "number")
print(lab.outcome(cluster, "saturation", saturation_bytes))

# %% [markdown]
# **Question `four-nodes`** (0.5 points). In the `ring`, with the largest message, what is the rate of 4 ranks divided
# by that of 2? Take `blocking` or `nonblocking`, but the same for both.

# %% nbgrader={"grade_id": "four-nodes-answer", "solution": true}
four_nodes_times = None
### BEGIN SOLUTION
ring = rate[(rate["pattern"] == "ring") & (rate["protocol"] == "blocking")]
largest = ring[ring["size_bytes"] == ring["size_bytes"].max()].set_index("ranks")
four_nodes_times = largest["rate_mbit_per_s"][4] / largest["rate_mbit_per_s"][2]
### END SOLUTION

# %% nbgrader={"grade_id": "four-nodes", "grade": true, "points": 0.5, "locked": true}
lab.form(four_nodes_times, "number")

# %% [markdown]
# The next cell shows what mpptest prints for the largest message. Which of these columns depends on np? You need the
# answer in `explain-papers`.

# %%
printed = lab.mpptest.printed(a7)
columns = ["ranks", "calls", "rate_mbit_per_s", "best_mbit_per_s", "half_round_trip_us"]
printed.loc[printed["length_bytes"] == printed["length_bytes"].max(), columns].round(1)

# %% [markdown]
# A Verdict of `inconclusive` is not your fault: it names what disturbed the measurement.

# %%
claims(a7)

# %%
picture(a7)

# %% [markdown]
# ## 9 Patience
#
# *More, 6 minutes*
#
# **Question `predict-impatience`** (0.5 points). Four ranks exchange messages of 8 bytes in a ring. How many times as
# long does an exchange take without patience as with it?

# %% nbgrader={"grade_id": "predict-impatience-guess", "solution": true}
impatience_guess = None
impatience_low = None
impatience_high = None
### BEGIN SOLUTION
impatience_guess, impatience_low, impatience_high = 50, 5, 500
### END SOLUTION

# %% nbgrader={"grade_id": "predict-impatience", "grade": true, "points": 0.5, "locked": true}
predict(cluster, "impatience", value=impatience_guess, low=impatience_low, high=impatience_high)

# %% [markdown]
# The next cell is a complete measurement, written out. It alternates between the usual patience (`auto`) and none
# (`never`).


# %%
def measure_patience():
    with lab.Measurement("A7", cluster, Path("records"), quick=True, launches=4) as session:
        for launch in range(2):
            for wish in ("auto", "never"):
                lab.run(
                    session,
                    4,
                    [8],
                    pattern="ring",
                    launch=launch,
                    environment={"BEOWULF_PATIENT": wish},
                    at={"patience": wish},
                )
    record = session.record()
    record.variant, record.learner = "patience", lab.learner()
    record.save_in(Path("records"))
    return record


patience = measure_patience()

# %%
waiting = lab.summarised(patience, "exchange_us", ["patience", "ranks"])
print("processors:", patience.cluster.get("cores"))
waiting

# %% [markdown]
# Each row is one way of waiting, with times in microseconds. `n` is the number of timed exchanges, `median` their
# median, and `low` and `high` the ends of its 95 % interval.
#
# **Question `patience-times`** (1 point). How many times as long does the median exchange take with `never` as with
# `auto`? (With four processors or more it may be 1: no rank has to wait for a processor. That is also a finding.)

# %% nbgrader={"grade_id": "patience-times-answer", "solution": true}
impatience_times = None
### BEGIN SOLUTION
median_us = waiting.set_index("patience")["median"]
impatience_times = median_us["never"] / median_us["auto"]
### END SOLUTION

# %% nbgrader={"grade_id": "patience-times", "grade": true, "points": 1, "locked": true}
lab.form(impatience_times, "number")
print(lab.outcome(cluster, "impatience", impatience_times))

# %% [markdown]
# ## 10 Blocking against non-blocking
#
# *More, 17 minutes*
#
# **Question `own-nonblocking`** (1.5 points). Write `half_round_trip_nonblocking_us(buffer)`: your ping-pong from
# section 4, with `Isend`, `Irecv` and `Wait`.


# %% nbgrader={"grade_id": "own-nonblocking-answer", "solution": true}
# %%px
def half_round_trip_nonblocking_us(buffer):
    """The same as half_round_trip_us(), with Isend, Irecv and Wait."""
    ### BEGIN SOLUTION
    trips = max(1, 20_000 // (100 + buffer.size))
    other = 1 - rank
    began = MPI.Wtime()
    for trip in range(2 * trips if rank < 2 else 0):
        sends = trip % 2 == rank  # rank 0 sends first, then rank 1 sends back
        request = world.Isend(buffer, dest=other) if sends else world.Irecv(buffer, source=other)
        request.Wait()
    return (MPI.Wtime() - began) / trips / 2 * 1e6 if rank == 0 else None
    ### END SOLUTION


# %%
nonblocking = lab.own_roundtrip.measure(
    engines, "half_round_trip_nonblocking_us", protocol="nonblocking", quick=QUICK
)

# %% nbgrader={"grade_id": "own-nonblocking", "grade": true, "points": 1.5, "locked": true}
assert nonblocking.variant == "own-nonblocking", "Run the cell above: it measures your function."

# %%
lab.own_roundtrip.table(nonblocking)

# %% [markdown]
# Study B2 alternates between the two kinds of calls, so that a disturbance affects both equally, and takes the
# difference within each pair of measurements.

# %%
b2 = study("B2", cluster, quick=QUICK)
picture(b2)

# %% [markdown]
# *What to look at:* where the band around a line contains 0, the figure shows no difference. Paper B finds a jump at
# 100,000 bytes. Where, if anywhere, is there a jump in the upper figure (rings), and in the lower one (mpptest's
# pairs)?

# %%
claims(b2)

# %% [markdown]
# ## 11 The model on trial
#
# *More, 10 minutes*

# %%
e1 = study("E1", cluster, quick=QUICK)
picture(e1)

# %% [markdown]
# *What to look at:* compare alpha and beta in the title with those of your two fits. A point at 0 % is exactly on the
# line. If the axis reaches thousands of per cent, a busy machine has widened a few intervals.

# %%
claims(e1)

# %% [markdown]
# ## 12 What waiting costs
#
# *More, 8 minutes*

# %%
b4 = study("B4", cluster, quick=QUICK)
picture(b4)

# %% [markdown]
# *What to look at:* the two `spinning` lines show how much of a processor a rank gets, and the `patient` lines show how
# much it needs. Which of these lines could the authors have seen? With mpptest's method the axis is the length of the
# work. Do the lines then look like what the paper describes?

# %%
claims(b4)

# %% [markdown]
# ## 13 Compare with the papers
#
# *More, 12 minutes*
#
# The handout has the table. Compare its last column with your own figures.
#
# **Question `explain-papers`** (2 points, read by a person). Write four to six sentences of your own, with your own
# figures:
#
# 1. For figures 13 to 15, paper A allows either kind of call, because the rates are nearly equal. What do your Records
#    show for the ping-pong and for the exchange of ghost rows? When *these* figures were measured, what could the
#    program not do between sending and waiting?
# 2. In paper A's figures the rate of three nodes lies between that of two and that of four. Suppose that the paper
#    measured with mpptest's `-bisect`. What did the third node do, and how much did it add to the printed rate? What in
#    your Record of A7 shows this, and why does it remain an inference?

# %% [markdown] nbgrader={"grade_id": "explain-papers", "grade": true, "points": 2, "solution": true}
# ### BEGIN SOLUTION
# **What the comparison leaves out (1 point).** The learner's own figures show ratios near 1 in the ping-pong, and the
# time lost by exchanging ghost rows in turns. In a program that waits immediately after sending, non-blocking calls
# gain nothing. They pay off when there is work between Isend and Wait (lab 05), or when several messages travel at the
# same time, as between neighbours.
#
# **Three nodes (1 point).** `-bisect` multiplies the rate of one pair by np / 2. For 2 and 4 ranks that is the number
# of pairs. With np = 3 the third rank has no partner and is idle, but still counts as half a pair. So the printed rate
# is 1.5 times that of the one pair that sends, half-way between one and two pairs. In A7 the time of half a round trip
# is the same for 2, 3 and 4 ranks. The printed rates are in the ratio 2 : 3 : 4, about 96, 144 and 192 Mbit/s at 256
# KiB. This remains an inference, because the paper does not print its command lines. (In a ring, three nodes do reach a
# higher rate than two. That is another experiment.)
# ### END SOLUTION

# %% [markdown]
# ## 14 The questions
#
# `check` lists what is still empty or does not fit. It measures nothing. Save the notebook first.

# %%
check("04")

# %% [markdown]
# Hand in this folder: the notebook **and** `records/`. You need not run everything again: an answer counts if it fits
# one of these Records.
