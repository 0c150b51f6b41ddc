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
# A program can send and wait, or send and go on. Two papers measured both on four PCs and saw
# hardly a difference. In this notebook you write both yourself: a ping-pong, and the exchange of a
# real program. You measure them on your own four nodes, draw and fit what you measured, and find out
# when "hardly a difference" is true. The handout (`labs/04-blocking-nonblocking/README.md`) has the same
# sections and explains each word; read a section there, then do it here.
#
# - **Time** about 90 minutes for the sections that are marked *core*, which have 23.5 points; those marked
#   *more* take about 40 and have 1.5 · **Points** 25
# - **You need** a running cluster (`beowulf lab 04` booted one), and little else
#   running on your machine: what is measured here are microseconds
# - **How it works** Cells that *measure* save a **Record** in the folder `records/` beside this
#   notebook. Where you see `None`, your answer goes: a number, or a sum such as `8 + 1000 / 12.5`.
#   Where you see `# YOUR ANSWER HERE`, your program or your plot goes. You may add cells of your own
#   anywhere. `check("04")` says what is still open.

# %%
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from beowulf import check, claims, connect, picture, predict, prediction, start_engines, study
from beowulf.labs import lab_04 as lab

QUICK = True  # False: the whole sweep of each study, some minutes each

lab.course_style()
cluster = connect("records")
print(cluster.kind, *cluster.nodes)

# %% [markdown]
# ## 1 Predict, and seal
#
# *Core, 4 minutes*
#
# **Question `predict-saturation`** (0.5 points). Two nodes play ping-pong over cables of 100 Mbit/s. From
# which size of message on, in bytes, does the rate hardly rise any more (that is, it stays within 10 % of
# the rate of the largest message)? Write a number, and the ends of a range in which you expect it nine
# times out of ten. The points are for having sealed it before you measure, whatever it says.

# %% nbgrader={"grade_id": "predict-saturation-guess", "solution": true}
saturation_guess = None
saturation_low = None
saturation_high = None
### BEGIN SOLUTION
saturation_guess, saturation_low, saturation_high = 16_000, 4_000, 64_000
### END SOLUTION

# %% nbgrader={"grade_id": "predict-saturation", "grade": true, "points": 0.5, "locked": true}
predict(cluster, "saturation", value=saturation_guess, low=saturation_low, high=saturation_high)

# %% [markdown]
# ## 2 Two ranks head on
#
# *Core, 4 minutes*
#
# In a terminal, with the handout: two ranks send to each other *before* they receive
# (`headon.c`). With small messages both come home, with large ones the program hangs.

# %% [markdown]
# ## 3 What MPI_Send promises
#
# *Core, 10 minutes*
#
# **Question `eager-limit`** (1 point). Find the largest message, in bytes, with which
# `headon.c` still ends, by halving the interval: about ten runs in a terminal. An answer within
# 500 bytes is near enough. It is the limit of the classic MPICH, which the first line of `beowulf up`
# names.

# %% nbgrader={"grade_id": "eager-limit-answer", "solution": true}
eager_limit_bytes = None
### BEGIN SOLUTION
eager_limit_bytes = 131040
### END SOLUTION

# %% nbgrader={"grade_id": "eager-limit", "grade": true, "points": 1, "locked": true}
lab.form(eager_limit_bytes, "number")

# %% [markdown]
# **Question `other-limit`** (1 point). On another cluster, `MPIR_CVAR_CH3_EAGER_MAX_MSG_SIZE` is what the
# next cell prints. In section 6, ranks send each other rows of a plate, with 8 bytes for each column. How many
# columns may a plate have at most, so that two ranks that send their rows head on still come to their receives?

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
# *Core, 17 minutes*
#
# One line starts a Python interpreter on each node. All four are ranks of one MPI
# program, and a cell that begins with `%%px` runs on all of them.

# %%
engines = start_engines(cluster)

# %%
# %%px
print(f"rank {rank} of {ranks} on {node}")

# %% [markdown]
# **Question `own-blocking`** (2 points). Write `half_round_trip_us(buffer)`: it sends `buffer` (an array of
# bytes) from rank 0 to rank 1 and back, with `Send` and `Recv`, as often as you like, and gives back, on
# rank 0, half of the time of one round trip in microseconds by `MPI.Wtime()`. All other ranks give back
# nothing. (One round trip is enough for 1 MiB, which takes about 0.2 s there and back at 100 Mbit/s.) The
# points are for the Record that the cell below makes of it: right data, and times that fit the clock.


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


# %% [markdown]
# Try it before you measure it. (Where a rank waits for ever, the cell ends after its time-out, and says
# which rank waits in which line.)

# %%
# %%px --timeout 10
half_round_trip_us(np.ones(1000, np.uint8))

# %%
own = lab.own_roundtrip.measure(engines, "half_round_trip_us", quick=QUICK)

# %% nbgrader={"grade_id": "own-blocking", "grade": true, "points": 2, "locked": true}
assert own.variant == "own", "Run the cell above: it measures your function."

# %% [markdown]
# **Question `own-nonblocking`** (1.5 points). The same result with `Isend`, `Irecv` and `Wait`.


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

# %% [markdown]
# `lab.own_roundtrip.table(own)` shows all sizes, in microseconds, with the program in C beside yours, and
# `lab.own_roundtrip.picture(own)` draws them. Call them here, for both Records.

# %%
# Here is room for it.

# %% [markdown]
# *What to look at:* what does Python add at 8 bytes, in microseconds, and what is left of it at 1 MiB, in
# per cent? Does it matter here whether you send and wait, or begin and wait?

# %% [markdown]
# ## 5 Latency and rate
#
# *Core, 15 minutes*
#
# Paper E writes the time of a message as T(n) = alpha + beta n. **alpha** is what a message
# costs before its first byte; **beta** is what each byte adds, and 1 / beta is the bandwidth.
#
# **Question `fit`** (2 points). Fit the line to the medians of your blocking function (`own_us` in its
# table) with `np.polyfit(x, y, 1)`, which gives the slope and the intercept: once as it is, and once with
# `w=1 / y`. Type your numbers, not the names of variables.
#
# - the two latencies, in microseconds
# - the bandwidth, 1 / beta, of the fit with weights, in bytes a microsecond
# - the size, in bytes, for which alpha and beta n of that fit take equally long

# %%
# Here is room for your fit.

# %% nbgrader={"grade_id": "fit-answer", "solution": true}
plain_alpha_us = None
weighted_alpha_us = None
weighted_bandwidth_bytes_per_us = None
half_rate_bytes = None
### BEGIN SOLUTION
times = lab.own_roundtrip.table(own)
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
# **Question `model-time`** (1 point). How many microseconds does the line of your fit with weights give a
# message of 500,000 bytes, for half a round trip? (If your course gave you a personal code, the next cell
# prints a size of your own; take that one.) You have not measured that one; try your function on it.

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
# **Question `times-plot`** (1.5 points). Draw the half round trip over the size of the message: your
# function, the program in C, and both fitted lines. Choose axes on which 8 bytes and a million can be seen,
# name them with their units, and name each line in a legend.

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
# *What to look at:* does a line leave the paper towards small messages? Which, and why? (Noise can hide it: fit
# once more without the largest size.) Section 5 of the handout has what you need to know of your cables; question
# `explain` asks for the answer.
#
# *Drag* the line onto your points: at which sizes does only alpha move it, and at which eager limit can you see a step?

# %%
lab.message_time(cluster)

# %% [markdown]
# ## 6 The plate's ghost rows, three ways
#
# *Core, 16 minutes*
#
# A plate that is heated at one edge is shared out over four ranks. Each step needs the neighbours' border
# rows. Write three functions in `work/heat/heat.py` (beside this lab's folder): they exchange these **ghost
# rows** with `Send` first on all ranks, with `Send` and `Recv` in turns, and with `Isend` and `Irecv`. The
# handout says what each has to leave in `plate`. `lab.heat.check(4)` tries them within seconds.

# %%
lab.heat.start(4)

# %% [markdown]
# **Question `predict-deadlock`** (0.5 points). From how many columns on does `exchange_send_first` hang? A
# column is 8 bytes of a row.

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
# **Question `exchange`** (4 points). All three give what one process gives; the first as far as it ends.
# Save `heat.py`, then:

# %%
ways = lab.heat.exchanges(cluster)

# %% nbgrader={"grade_id": "exchange", "grade": true, "points": 4, "locked": true}
assert ways.study == "H4", "Run the cell above: it measures your three exchanges."

# %% [markdown]
# Was your prediction right?

# %%
for point in ways.select(search="deadlock"):
    if point.facts["hangs_columns"]:
        print(lab.outcome(cluster, "deadlock", point.facts["hangs_columns"]))

# %% [markdown]
# `lab.heat.table(ways)` has the times. Why does one way never end, and where does another lose its time? This
# records every MPI call of every rank: `exchange_send_first` with rows of 160,000 bytes until it is stopped,
# and five steps of the other two with rows of 80,000 bytes.

# %%
shown = lab.heat.traced_exchanges(cluster)

# %%
lab.timelines.timeline(cluster, shown, "deadlock")

# %% [markdown]
# A row is a rank: grey is computing, other colours are calls of MPI, and the upper part of a call has the
# colour of the reason for which its rank waits. The key `l` goes to the longest wait, `n` to the next.

# %%
lab.timelines.timeline(cluster, shown, "in turns")

# %%
lab.timelines.timeline(cluster, shown, "non-blocking")

# %% [markdown]
# **Question `timeline`** (1 point). Look at the timelines of your own run.
#
# - in the deadlock: for which rank does rank 1 wait, and which is the lower one of the two ranks that wait
#   for each other?
# - in turns: what is the reason of the longest wait (`"late sender"`, `"late receiver"`, `"rendezvous"`, or
#   `"none"` if nobody waits), and how many milliseconds does it take?

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
# *What to look at:* which of the waits of your turns vanish in the non-blocking exchange, and what do turns
# lose with 64 ranks?

# %% [markdown]
# ## 7 More nodes, more rate?
#
# *Core, 14 minutes*
#
# Study A7 repeats figures 13 to 15 of paper A with `roundtrip.c`, in two patterns:
#
# - `pairs`: ping-pong. One message at a time in each pair; four ranks are two pairs
# - `ring`: every rank sends to the next at the same time, with 2, 3 or 4 ranks
#
# It also measures in the way that paper A probably used, as mpptest with `-bisect`. Section 7 of the handout
# lets you find out what that prints.
#
# The study takes about a minute; leave the machine alone meanwhile.
#
# **Question `a7-record`** (1 point). Nothing to write: the point is for the Record.

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
# **Question `rates-plot`** (1.5 points). Draw the rate in the `ring` over the size of the message, a line
# for each of 2, 3 and 4 ranks: blocking or non-blocking, as you like, but say which. `rate` is the table,
# with the ends of the 95 % intervals in `low` and `high`; `rate.query("pattern == 'ring' and ranks == 2")` are some of
# its rows. Add the pair of two ranks, and
# `lab.prediction_band(axes, prediction(cluster, "saturation"), along="x")` draws what you have sealed beside it.

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
# **Question `saturation-bytes`** (0.5 points). For `pairs`, 2 ranks, `blocking`: which is the
# smallest size, in bytes, from which on every rate stays within 10 % of the rate of the largest
# message? (Some small sizes may be *faster* than the cable. Section 5 of the handout says why;
# they are not within 10 %, and the plateau begins after them.)

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
# **Question `four-nodes`** (0.5 points). At the largest message, in the `ring`: how many times the rate
# of 2 ranks do 4 ranks have? Write the quotient of two numbers of your table; the calls `blocking`
# or `nonblocking`, but the same in both.

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
# What mpptest prints, for the largest message: its rate in Mbit/s, by the median and by the best of all
# runs, and the median time of half a round trip in microseconds. Which of these columns depends on np? You
# need it in `explain`.

# %%
printed = lab.mpptest.printed(a7)
columns = ["ranks", "calls", "rate_mbit_per_s", "best_mbit_per_s", "half_round_trip_us"]
printed.loc[printed["length_bytes"] == printed["length_bytes"].max(), columns].round(1)

# %% [markdown]
# What paper A claims, held against your Record. `inconclusive` is no fault of yours: the Verdict says what
# disturbed the measurement. Your answers above count with any whole Record.

# %%
claims(a7)

# %%
picture(a7)

# %% [markdown]
# ## 8 Patience
#
# *More, 6 minutes*
#
# Your cluster's `mpiexec` makes ranks wait politely when they outnumber the processors of your
# machine (section 8 of the handout). What happens without that?
#
# **Question `predict-impatience`** (0.5 points). Four ranks in a ring, messages of 8 bytes: how many times
# as long does an exchange take without patience as with it?

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
# The next cell is a whole measurement, written out: with patience as usual (`auto`) and without (`never`),
# alternating.


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
# One row for each kind of waiting, in microseconds: `n` exchanges were timed, `median` is the middle
# one, and `low` and `high` are the ends of the median's 95 % interval.
#
# **Question `patience-times`** (1 point). How many times as long as the median exchange with `auto`
# does the one with `never` take? (With four processors or more it may be once: then nobody has to
# wait for a processor, and that is a finding, too.)

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
# ## 9 Explain
#
# *Core, 10 minutes*
#
# **Question `explain`** (4 points, read by a person). In six to ten sentences of your own, with your
# own figures:
#
# 1. From some size on your `exchange_send_first` hangs, and the other two never do. What does `Send`
#    promise when it returns, what does the library do with a small and with a large message, and why does
#    paper A's description, that a send waits until the receiver accepts the message, not fit both?
# 2. Why can the latency of a fit without weights be far from the time of the shortest message, even below zero?
#    (Is yours near it? Use the fit without the largest size.) Use the token bucket of the handout's section 5,
#    and what a fit without weights cares about. Which of your two fits do you believe, for which messages?
# 3. Paper A concludes that either call may be used, because the rates are nearly equal. What do your
#    Records show, of the ping-pong and of the exchange of ghost rows, and what did the paper's measurement
#    *not* let the program do between sending and waiting?
# 4. In paper A's figures the rate of three nodes lies between that of two and that of four. Why did
#    three nodes give such a rate? Describe what the third node did, if the paper measured with mpptest's
#    `-bisect`, for how much it counts, what of your A7 shows it, and why this stays an inference.

# %% [markdown] nbgrader={"grade_id": "explain", "grade": true, "points": 4, "solution": true}
# ### BEGIN SOLUTION
# **What Send promises (1 point).** When it returns, the buffer may be used again; nothing is known about
# the receiver. A small message is sent eagerly: it leaves at once and the other side keeps it until
# someone asks, so that Send returns before the receive. A large one is announced first and leaves only
# when the receive has been posted (rendezvous): if all ranks send first, each waits for a neighbour's
# receive, and none comes to it. Paper A's description fits only the large one (and MPI_Ssend). In turns,
# someone receives; Isend only begins the send, so the rank goes on to its receive.
#
# **A latency that cannot be (1 point).** While a direction of the cable is idle, its bucket saves up to
# 3,200 bytes of credit, so that each long message begins that much sooner: its time is less than beta n,
# by up to some 250 µs, and the line through the long messages meets the axis below zero. A fit without
# weights cares for squared microseconds, so the longest messages, with the largest distances, decide both
# parameters; 8 bytes count for nothing. With weights 1 / y each size counts by its share, and the latency
# is that of short messages. The first is to be believed for long messages, the second for short ones;
# between them neither is right.
#
# **What the comparison leaves out (1 point).** The learner's own figures: ratios near 1 in the ping-pong,
# and where turns cost time in the exchange of ghost rows. A program that sends and waits at once gives
# non-blocking calls nothing to gain; they pay when there is work between Isend and Wait (lab 05), or when
# several messages travel at the same time, as between neighbours.
#
# **Three nodes (1 point).** `-bisect` multiplies the rate of one pair by np / 2. For 2 and 4 ranks that is the
# number of pairs. With np = 3 the third rank has no partner and looks on, and still counts for half a pair: 1.5 times
# the rate of the one pair that talks, half-way between one and two. In A7 the time of half a round trip is the same
# for 2, 3 and 4, and the printed rates are as 2 : 3 : 4, about 96, 144 and 192 Mbit/s at 256 KiB. It is an
# inference, because the paper does not print the options that it gave to mpptest. (In a ring three nodes do have
# more than two: that is another experiment.)
# ### END SOLUTION

# %% [markdown]
# ## 10 Blocking against non-blocking
#
# *More, 10 minutes*
#
# Papers A and B plot the *difference*. Study B2 measures both calls alternating, so that a disturbance
# hits both equally, and takes the difference of each pair. B3 gives it as a rate. In a ring blocking
# ranks take turns, or all would wait as in `headon.c`; non-blocking ones do not.

# %%
b2 = study("B2", cluster, quick=QUICK)
picture(b2)

# %% [markdown]
# *What to look at:* where the band round a line contains 0, no difference shows. Paper B's jump at
# 100,000 bytes: is there one in your figure, and where? And below, in the pairs of mpptest?

# %%
claims(b2)

# %% [markdown]
# ## 11 The model on trial
#
# *More, 10 minutes*
#
# Study E1 fits alpha and beta to the half round trips in C, each from its own end of the
# sweep, and asks how far every size is from the line.

# %%
e1 = study("E1", cluster, quick=QUICK)
picture(e1)

# %% [markdown]
# *What to look at:* compare alpha and beta in the title with those of your two fits. 0 % is exactly on the
# model. An axis that reaches thousands of per cent comes from a few intervals that a busy machine has made
# wide.

# %%
claims(e1)

# %% [markdown]
# ## 12 What waiting costs
#
# *More, 8 minutes*
#
# Study B4 reads each rank's CPU use from its node while two ranks play
# ping-pong: figure 6 of paper B, which was read off `top` by hand.

# %%
b4 = study("B4", cluster, quick=QUICK)
picture(b4)

# %% [markdown]
# *What to look at:* the two lines that are called `spinning` show how much of a processor a rank
# gets; the two called `patient` show how much it needs. Which of them could the paper have seen? In mpptest's way the
# axis is the length of the work: does that look like the paper's sentence?

# %%
claims(b4)

# %% [markdown]
# ## 13 Compare with the papers
#
# *More, 5 minutes*
#
# The handout has the table. Put your own figures into its last column.

# %% [markdown]
# ## 14 The questions
#
# `check` reads this notebook and your Records, and reports what is still empty or does not fit. It measures
# nothing. Save the notebook first.

# %%
check("04")

# %% [markdown]
# What you hand in is this folder: the notebook **and** `records/`. You need not
# run everything again. When you have measured a study more than once, an answer counts when it fits
# one of these Records, as long as that Record is in the folder.
