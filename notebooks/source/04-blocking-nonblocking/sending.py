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
# hardly a difference. In this notebook you measure it on your own four nodes: the rate for two,
# three and four nodes, what a message costs before its first byte, and why four ranks on two
# processors can be a hundred times slower than they need to be. The handout
# (`labs/04-blocking-nonblocking/README.md`) explains each word; do its sections 1 to 4 first.
#
# - **Time** about 120 minutes together with the handout · **Points** 20
# - **You need** a running cluster (`beowulf lab 04` booted one), and little else
#   running on your machine: what is measured here are microseconds
# - **How it works** Cells that *measure* save a **Record** in the folder `records/` beside this
#   notebook. Where you see `None`, your answer goes. You may write a sum, such as `8 + 1000 / 12.5`.

# %%
from pathlib import Path

from beowulf import claims, connect, picture, study
from beowulf.measure import mpptest
from beowulf.measure.measurement import Measurement
from beowulf.measure.roundtrips import rates, run
from beowulf.measure.table import summarised
from beowulf.notebook import form
from beowulf.user import learner
from beowulf.variant import asked_bytes

QUICK = True  # False: the whole sweep of each study, some minutes each

cluster = connect("records")
print(cluster.kind, *cluster.nodes)

# %% [markdown]
# ## 1 Predict
#
# Nobody grades a prediction; it is there so that you notice a surprise.

# %%
predicted_faster = None  # "blocking", "nonblocking" or "neither"?
predicted_saturation_bytes = None  # from which size on does the rate hardly rise any more?
predicted_four_nodes_times = None  # four nodes in a ring: how many times the rate of two?
predicted_impatience_times = None  # four ranks on two processors: how many times as long?

# %% [markdown]
# ## 2 What MPI_Send promises
#
# In the handout, section 3, two ranks send to each other *before* they receive (`headon.c`). With
# small messages both come home, with large ones the program hangs.
#
# **Question `eager-limit`** (2 points). Find the largest message, in bytes, with which
# `headon.c` still ends, by halving the interval: about ten runs in a terminal. An answer within
# 500 bytes is near enough. It is the limit of the classic MPICH, which the first line of `beowulf up`
# names.

# %% nbgrader={"grade_id": "eager-limit-answer", "solution": true}
eager_limit_bytes = None
### BEGIN SOLUTION
eager_limit_bytes = 131040
### END SOLUTION

# %% nbgrader={"grade_id": "eager-limit", "grade": true, "points": 2, "locked": true}
form(eager_limit_bytes, "number")

# %% [markdown]
# ## 3 More nodes, more rate?
#
# Study A7 repeats figures 13 to 15 of paper A with `roundtrip.c`, which you have read in section 4
# of the handout. It measures two patterns:
#
# - `pairs`: ping-pong. One message at a time in each pair; four ranks are two pairs
# - `ring`: every rank sends to the next at the same time, with 2, 3 or 4 ranks
#
# It also measures in the way that paper A probably used: mpptest with `-bisect` prints the rate of one
# pair times np, the number of ranks.
#
# The study takes about a minute; leave the machine alone meanwhile.
#
# **Question `a7-record`** (2 points). Nothing to write: the points are for the Record.

# %%
a7 = study("A7", cluster, quick=QUICK)

# %% nbgrader={"grade_id": "a7-record", "grade": true, "points": 2, "locked": true}
assert a7.study == "A7", "Run the cell above: it measures A7 on your cluster."
assert a7.complete, "The measurement was cut short; run the cell above again."

# %%
picture(a7)

# %% [markdown]
# *What to look at:* the upper plot has the rings, the lower one what mpptest prints; the pairs are in the
# table that follows. Do the two lines of
# one np (the number of ranks) lie side by side or on each other, and why (section 6 of the handout)? What
# happens to the rings where the messages become longer than your `eager_limit_bytes`? Does the
# lower plot look like the upper one?

# %%
claims(a7)

# %% [markdown]
# `inconclusive` is no fault of yours: the Verdict says what disturbed the measurement. The
# questions below can be answered from any whole Record. The rates by size, in numbers:

# %%
rate = rates(a7)
rate.pivot_table(
    index="size_bytes", columns=["pattern", "ranks", "protocol"], values="rate_mbit_per_s"
).round(1)

# %% [markdown]
# What mpptest prints, for the largest message: its rate in Mbit/s, by the median and by the best of all runs, and the
# median time of half a round trip in microseconds. Which of these columns depends on np? You need it in `explain`.

# %%
printed = mpptest.printed(a7)
columns = ["ranks", "calls", "rate_mbit_per_s", "best_mbit_per_s", "half_round_trip_us"]
printed.loc[printed["length_bytes"] == printed["length_bytes"].max(), columns].round(1)

# %% [markdown]
# **Question `saturation-bytes`** (2 points). For `pairs`, 2 ranks, `blocking`: which is the
# smallest size, in bytes, from which on every rate stays within 10 % of the rate of the largest
# message? (Some small sizes may be *faster* than the cable. Section 4 of the handout says why;
# they are not within 10 %, and the plateau begins after them.)

# %% nbgrader={"grade_id": "saturation-bytes-answer", "solution": true}
saturation_bytes = None
### BEGIN SOLUTION
pairs = rate[(rate["pattern"] == "pairs") & (rate["ranks"] == 2) & (rate["protocol"] == "blocking")]
by_size = pairs.set_index("size_bytes")["rate_mbit_per_s"].sort_index()
away = by_size[(by_size / by_size.iloc[-1] - 1).abs() > 0.1]
saturation_bytes = int(by_size[by_size.index > max(away.index, default=0)].index[0])
### END SOLUTION

# %% nbgrader={"grade_id": "saturation-bytes", "grade": true, "points": 2, "locked": true}
form(saturation_bytes, "number")

# %% [markdown]
# **Question `four-nodes`** (2 points). At the largest message, in the `ring`: how many times the rate
# of 2 ranks do 4 ranks have? Write the quotient of two numbers of your table; the calls `blocking`
# or `nonblocking`, but the same in both.

# %% nbgrader={"grade_id": "four-nodes-answer", "solution": true}
four_nodes_times = None
### BEGIN SOLUTION
ring = rate[(rate["pattern"] == "ring") & (rate["protocol"] == "blocking")]
largest = ring[ring["size_bytes"] == ring["size_bytes"].max()].set_index("ranks")
four_nodes_times = largest["rate_mbit_per_s"][4] / largest["rate_mbit_per_s"][2]
### END SOLUTION

# %% nbgrader={"grade_id": "four-nodes", "grade": true, "points": 2, "locked": true}
form(four_nodes_times, "number")

# %% [markdown]
# ## 4 Blocking against non-blocking
#
# Papers A and B plot the *difference*. Study B2 measures both calls in turns, so that a disturbance
# hits both equally, and takes the difference of each pair. B3 says it as a rate. In a ring blocking
# ranks take turns, or all would wait as in `headon.c`; non-blocking ones do not.

# %%
b2 = study("B2", cluster, quick=QUICK)
picture(b2)

# %%
claims(b2)

# %% [markdown]
# *What to look at:* where the band round a line contains 0, no difference shows. Paper B's jump at
# 100,000 bytes: is there one in your figure, and where?

# %% [markdown]
# ## 5 Latency and rate
#
# Paper E writes the time of a message as T(n) = alpha + n / beta. **alpha** is what a message costs
# before its first byte; **beta** is how many bytes a second follow. Study E1 fits both to the half
# round trips of your two nodes.
#
# **Question `e1-record`** (2 points). Nothing to write: the points are for the Record.

# %%
e1 = study("E1", cluster, quick=QUICK)

# %% nbgrader={"grade_id": "e1-record", "grade": true, "points": 2, "locked": true}
assert e1.study == "E1", "Run the cell above: it measures E1 on your cluster."
assert e1.complete, "The measurement was cut short; run the cell above again."

# %%
picture(e1)

# %% [markdown]
# *What to look at:* the title has your alpha and beta; your answers below are held against them. The
# line in the plot is what the model does *not* explain: 0 % is exactly on the model. Short messages
# lie down to 50 % below it: the token bucket has saved credit for them (section 7 of the handout). An
# axis that reaches thousands of per cent comes from a few intervals that a busy machine has made wide.
# If alpha is more than some 100 µs, measure again when nothing else runs.

# %%
claims(e1)

# %% [markdown]
# **Question `model-time`** (2 points). With your alpha and beta: how many microseconds does the
# model give a message of 500,000 bytes, for half a round trip? (If your course gave you a personal code, the
# next cell prints a size of your own; take that one.) 1 Mbit/s is 0.125 bytes a microsecond.

# %%
print(f"{asked_bytes():,} bytes")

# %% nbgrader={"grade_id": "model-time-answer", "solution": true}
model_time_us = None
### BEGIN SOLUTION
from beowulf.measure.fit import alpha_beta
from beowulf.studies.lab_04 import e1_latency_model

line = alpha_beta(e1_latency_model.times(e1, sweep="wide"))  # as in the title of the figure
alpha_us, beta_bytes_per_us = line.alpha_us.value, line.beta_bytes_per_s.value / 1e6
model_time_us = alpha_us + asked_bytes() / beta_bytes_per_us
### END SOLUTION

# %% nbgrader={"grade_id": "model-time", "grade": true, "points": 2, "locked": true}
form(model_time_us, "number")

# %% [markdown]
# **Question `half-rate`** (1 point). For which size, in bytes, does alpha take just as long as
# n / beta? By the model, such a message travels at half of beta; below it, sending fewer messages helps
# more than sending fewer bytes.

# %% nbgrader={"grade_id": "half-rate-answer", "solution": true}
half_rate_bytes = None
### BEGIN SOLUTION
half_rate_bytes = alpha_us * beta_bytes_per_us
### END SOLUTION

# %% nbgrader={"grade_id": "half-rate", "grade": true, "points": 1, "locked": true}
form(half_rate_bytes, "number")

# %% [markdown]
# ## 6 Patience
#
# Your cluster's `mpiexec` makes ranks wait politely when they outnumber the processors of your
# machine (section 9 of the handout). What happens without that? The next cell is a whole
# measurement, written out: four ranks in a ring, messages of 8 bytes, with patience as usual
# (`auto`) and without (`never`), in turns.


# %%
def measure_patience():
    with Measurement("A7", cluster, Path("records"), quick=True, launches=4) as session:
        for launch in range(2):
            for wish in ("auto", "never"):
                run(
                    session,
                    4,
                    [8],
                    pattern="ring",
                    launch=launch,
                    environment={"BEOWULF_PATIENT": wish},
                    at={"patience": wish},
                )
    record = session.record()
    record.variant, record.learner = "patience", learner()
    record.save_in(Path("records"))
    return record


if cluster.kind == "recorded":  # it gives back what was measured before
    patience = cluster.record("A7", "patience")
else:
    patience = measure_patience()

# %% [markdown]
# **Question `patience-record`** (2 points). Nothing to write: the points are for the Record.

# %% nbgrader={"grade_id": "patience-record", "grade": true, "points": 2, "locked": true}
assert patience.variant == "patience", "Run the cell above: it measures with and without patience."
assert patience.complete, "The measurement was cut short; run the cell above again."

# %%
waiting = summarised(patience, "exchange_us", ["patience", "ranks"])
print("processors:", patience.cluster.get("cores"), "· you predicted:", predicted_impatience_times)
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
form(impatience_times, "number")

# %% [markdown]
# What does waiting cost? Study B4 reads each rank's CPU use from its node while two ranks play
# ping-pong: figure 6 of paper B, which was read off `top` by hand.

# %%
b4 = study("B4", cluster, quick=QUICK)
picture(b4)

# %%
claims(b4)

# %% [markdown]
# *What to look at:* the two lines that are called `spinning` tell how much of a processor a rank
# gets; the two called `patient` tell how much it needs. Which of them could the paper have seen?

# %% [markdown]
# ## 7 Explain
#
# **Question `explain`** (4 points, read by a person). In eight to twelve sentences of your own:
#
# 1. Your `headon.c` hangs with large messages, and its `--nonblocking` never does. What does
#    `MPI_Send` promise when it returns, what does the library do with a small and with a large
#    message, and why does paper A's description, that a send waits until the receiver accepts the
#    message, not fit both?
# 2. Paper A concludes that either call may be used, because the rates are nearly equal. What does
#    your Record say, and what did the paper's measurement *not* let the program do between
#    sending and waiting?
# 3. In paper A's figures the rate of three nodes lies between that of two and that of four. Why did
#    three nodes give such a rate? Say what the third node did, if the paper measured with mpptest's
#    `-bisect`, what of your A7 shows it, and why this stays an inference.

# %% [markdown] nbgrader={"grade_id": "explain", "grade": true, "points": 4, "solution": true}
# ### BEGIN SOLUTION
# **What MPI_Send promises (2 points).** When it returns, the buffer may be used again; nothing is
# known about the receiver. A small message is sent eagerly: it leaves at once and the other side
# keeps it until somebody asks, so that MPI_Send returns before the receive. A large one is
# announced first and leaves only when the receive has been posted (rendezvous): if both ranks
# send first, each waits for the other's receive, and neither comes to it. MPI_Isend only begins the
# send, so the rank goes on to its receive. One point for the promise, one for eager and rendezvous.
#
# **What the comparison leaves out (1 point).** The learner's own figures, ratios near 1 with their
# intervals or where they are not, and the reason: a program that sends and waits at once gives
# non-blocking calls nothing to gain; they pay when there is work between MPI_Isend and MPI_Wait
# (lab 05), or when several messages travel at the same time, as in a ring.
#
# **Three nodes (1 point).** `-bisect` multiplies the rate of one pair by np. With np = 3 the third rank
# has no partner and looks on, and its pair's rate is multiplied by 3: between twice and four times. In A7
# the time of half a round trip is the same for 2, 3 and 4, and the printed rates are as 2 : 3 : 4. It is an
# inference, because the paper does not print the options that it gave to mpptest. (In a ring three nodes
# do have more than two: that is another experiment.)
# ### END SOLUTION

# %% [markdown]
# ## 8 Hand in
#
# Save the notebook. What you hand in is this folder: the notebook **and** `records/`. You need not
# run everything again. When you have measured a study more than once, an answer counts when it fits
# one of these Records, as long as that Record is in the folder.
