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
# # Lab 07: Where do the microseconds go?
#
# Paper E took the latency of its cluster from about 50 to nearly 20 microseconds by taking things
# *away*. Here you first find out what a message's time is made of. Then you follow the paper's
# procedure: ask every node, change one thing, measure, keep it or put it back. The handout
# (`labs/07-latency-tuning/README.md`) explains each word and shows the same in a terminal; read its
# sections 1 to 3 first.
#
# - **Time** about 150 minutes together with the handout · **Points** 37
# - **You need** a running cluster (`beowulf lab 07` booted one) on a machine with nothing else to do:
#   you look for differences of a few hundred nanoseconds
# - **How it works** Cells that *measure* save a **Record** in the folder `records/` beside this
#   notebook. `quick=True` takes fewer samples; leave it out when you have the time. Where you see
#   `None`, your answer goes. Nothing of what is changed here stays: each cell puts back what it found.
# - **Not root?** On a cluster of an ordinary user the kernel lets nobody turn the moderation. Where a
#   question asks for it then, answer `"not observable"`.

# %%
from beowulf import claims, connect, papers, picture, study
from beowulf.exercises.lab_07 import differing_node, null_knob, own_knob, small_writes
from beowulf.notebook import form
from beowulf.studies.lab_07 import knob_gains, l1_latency_budget
from beowulf.tuning.knobs import ALL

cluster = connect("records")
cluster.heal()  # does nothing to a cluster that is whole
print(cluster.kind, *cluster.nodes)

# %% [markdown]
# ## 1 Predict
#
# Nobody grades a prediction; it is there so that you notice a surprise.

# %%
predicted_half_round_trip_us = None  # one byte from node to node, with MPI, on this cluster
predicted_largest_step = None  # "system calls", "TCP/IP", "cable and cards", "wake-up" or "MPI"
predicted_gain_percent = None  # if one change alone gains 40 % and another 10 %: both together?

# %% [markdown]
# ## 2 A latency budget
#
# Study L1 splits the way of a message into parts. It times ways of growing length, alternating: a system call
# that does next to nothing, TCP to a process on the *same* node, TCP to the *other* node, MPI. What
# one takes longer than another is the time of what lies between them.
#
# **Question `l1-record`** (1 point). Nothing to write: the point is for the Record.

# %%
l1 = study("L1", cluster, quick=True)
picture(l1)

# %% [markdown]
# *What to look at:* three receivers, three bars. One sleeps until the kernel wakes it, one asks the
# kernel again and again, one is MPI's. Which part do only sleepers pay? The wire hardly takes part
# with one byte; the table has the message of 16 KB as well.

# %% nbgrader={"grade_id": "l1-record", "grade": true, "points": 1, "locked": true}
assert l1.study == "L1", "Run the cell above: it measures the steps on your cluster."
assert l1.variant == "", "This is the Record of your letters; run the cell above again."
assert l1.complete, "The measurement was cut short; run the cell above again."

# %%
claims(l1)

# %%
steps = l1_latency_budget.table(l1)
steps[steps["size_bytes"] == 1].drop(columns="reckoned_us")

# %% [markdown]
# `us` is the median, `low_us` to `high_us` its 95 % interval. A step is `not distinguishable from zero` when
# that interval contains 0. If a step's interval is wider than the step is long, or a step is far below
# 0, the machine had other work: end that, and measure again before you answer.
#
# **Question `largest-step`** (2 points). One byte, *a receiver that waits*: which step takes the most
# time, by the names in the table, and how many microseconds? (The wire aside: our links let a single
# byte pass at once, so that its line shows only what disturbs.)

# %% nbgrader={"grade_id": "largest-step-answer", "solution": true}
largest_step = None
largest_step_us = None
### BEGIN SOLUTION
waits = steps[(steps["size_bytes"] == 1) & (steps["receiver"] == "a receiver that waits")]
us = waits[waits["step"] != "wire"].set_index("step")["us"]
largest_step = us.idxmax()
largest_step_us = us.max()
### END SOLUTION

# %% nbgrader={"grade_id": "largest-step", "grade": true, "points": 2, "locked": true}
form(largest_step, "choice:system calls,TCP/IP,cable and cards,wake-up")
form(largest_step_us, "number")

# %% [markdown]
# **Question `wire-time`** (1 point). With a pencil: 16,384 bytes travel in 12 frames. Each frame has 52
# bytes of IP and TCP in it and 38 of Ethernet around it, its gap included. How many microseconds do all
# these bits take at 100 Mbit/s? Compare with the step `wire` in your table. (You may write the sum itself.)

# %% nbgrader={"grade_id": "wire-time-answer", "solution": true}
wire_16384_us = None
### BEGIN SOLUTION
wire_16384_us = (16384 + 12 * (52 + 38)) * 8 / 100
### END SOLUTION

# %% nbgrader={"grade_id": "wire-time", "grade": true, "points": 1, "locked": true}
form(wire_16384_us, "number")

# %%
steps[(steps["size_bytes"] == 16384) & (steps["receiver"] == "a receiver that polls")]

# %% [markdown]
# ## 3 Ask before you turn
#
# Paper E's procedure begins with questions to *every* node: one that answers otherwise makes all
# others wait, and a cluster of different nodes cannot be measured. This cell sets one node up otherwise,
# drawn by chance, asks all of them at once, and puts it back.

# %%
asked = differing_node.measure(cluster)
differing_node.table(asked)

# %% [markdown]
# **Question `unlike`** (2 points). Which node answers otherwise, and to which question (by its name
# in the first column)?

# %% nbgrader={"grade_id": "unlike-answer", "solution": true}
unlike_node = None
unlike_question = None
### BEGIN SOLUTION
unlike_node = differing_node.odd(asked)[0]  # it is drawn by chance
unlike_question = differing_node.odd(asked)[1]
### END SOLUTION

# %% nbgrader={"grade_id": "unlike", "grade": true, "points": 2, "locked": true}
form(unlike_node, "node")
form(unlike_question, "choice:moderation,firewall")

# %% [markdown]
# ## 4 Measure nothing first
#
# The measuring cycle compares before and after: some samples of the one, of the other, of the other, of
# the one, and so on, all by the same two processes. What it says of a change that changes *nothing* is
# the first thing to know about it. So here both states are the same:

# %%
nothing = null_knob.measure(cluster)
null_knob.picture(nothing)

# %% [markdown]
# *What to look at:* do the two lines part, or do they wander together? The machine may get slower or
# faster while it measures; because before and after alternate, that falls on both. The title has the
# median of all pairs of neighbours: `no effect` when its whole interval lies within 5 %. A point is the
# lowest tenth of a visit. The table has *all* samples, disturbed ones too, so its figures may differ more.

# %%
null_knob.table(nothing)

# %% [markdown]
# **Question `null`** (1 point). What does the cycle decide, in the words of the title?

# %% nbgrader={"grade_id": "null-answer", "solution": true}
null_decision = None
### BEGIN SOLUTION
null_decision = null_knob.comparison(nothing).decision
### END SOLUTION

# %% nbgrader={"grade_id": "null", "grade": true, "points": 1, "locked": true}
form(null_decision, "choice:no effect,faster,slower,inconclusive")

# %% [markdown]
# `inconclusive` is no failure: it says that this machine, now, cannot tell. `faster` or `slower` would
# be one, and everything below would be in doubt. Measure again then, and find out what else runs.
#
# **Question `budget-sum`** (2 points). Does the budget add up? Predict half a round trip of one byte
# with MPI from the steps of section 2: system calls, TCP/IP, cable and cards, and MPI, each as the table
# has it. Beside it write what this cycle, hundreds of round trips later, has as the median (`p50_us`) of
# the state `before`.

# %% nbgrader={"grade_id": "budget-sum-answer", "solution": true}
predicted_mpi_us = None
measured_mpi_us = None
### BEGIN SOLUTION
by_mpi = steps[(steps["size_bytes"] == 1) & (steps["receiver"] == "MPI")].set_index("step")["us"]
predicted_mpi_us = by_mpi[["system calls", "TCP/IP", "cable and cards", "MPI"]].sum()
measured_mpi_us = null_knob.table(nothing).set_index("state")["p50_us"]["before"]
### END SOLUTION

# %% nbgrader={"grade_id": "budget-sum", "grade": true, "points": 2, "locked": true}
form(predicted_mpi_us, "number")
form(measured_mpi_us, "number")

# %% [markdown]
# ## 5 One knob at a time
#
# The nodes of this cluster come without what paper E took away. So study E6 puts it in first, as a
# stand-in: packets that arrive are held back for 50 microseconds (moderation), and each is held against
# 100 rules (firewall). Then it takes away the one, the other, both, and the firewall once more when the
# moderation has gone: each in turns with the whole of it. The handout says what is a stand-in here.
#
# **Question `e6-record`** (1 point). Nothing to write: the point is for the Record.

# %%
e6 = study("E6", cluster, quick=True)
picture(e6)

# %% nbgrader={"grade_id": "e6-record", "grade": true, "points": 1, "locked": true}
assert e6.study == "E6", "Run the cell above: it turns the knobs of your cluster."
assert e6.complete, "The measurement was cut short; run the cell above again."

# %% [markdown]
# This is the paper's table 3 with your numbers, in microseconds:

# %%
table_3 = knob_gains.table(knob_gains.gains(e6)).set_index("knob")
table_3[["mean_before_us", "deviation_before_us", "mean_after_us", "deviation_after_us"]]

# %% [markdown]
# **Question `e6-table`** (2 points). All together: by how many per cent does the *mean* change, and how
# many times as large is the *deviation* after as before? (Less is negative: the paper has −54 %, and about
# 0.5 times.)

# %% nbgrader={"grade_id": "e6-table-answer", "solution": true}
together_percent = None
deviation_times = None
### BEGIN SOLUTION
together_percent = deviation_times = "not observable"
if "all together" in table_3.index:  # every machine has its own
    whole = table_3.loc["all together"]
    together_percent = (whole["mean_after_us"] / whole["mean_before_us"] - 1) * 100
    deviation_times = whole["deviation_after_us"] / whole["deviation_before_us"]
### END SOLUTION

# %% nbgrader={"grade_id": "e6-table", "grade": true, "points": 2, "locked": true}
form(together_percent, "text" if isinstance(together_percent, str) else "number")
form(deviation_times, "text" if isinstance(deviation_times, str) else "number")

# %% [markdown]
# What disturbs adds to the mean and even more to the deviation. So the decision goes by neighbours that
# were measured undisturbed; `change_percent` is the median of all these pairs. The last column has
# whether the two means agree with it. Where they `say otherwise`, one state was disturbed more than the
# other, and the pairs decide:

# %%
table_3[["change_percent", "low", "high", "pairs", "decision", "means"]]

# %% [markdown]
# **Question `not-additive`** (2 points). Add up `change_percent` of the moderation alone and of the
# firewall alone. Beside it write that of all together. (Could a sum hold at all, if two knobs gained 60 %
# each?)

# %% nbgrader={"grade_id": "not-additive-answer", "solution": true}
sum_percent = None
both_percent = None
### BEGIN SOLUTION
change = table_3["change_percent"]
sum_percent = both_percent = "not observable"
if "all together" in table_3.index:
    sum_percent = change["moderation"] + change["firewall"]
    both_percent = change["all together"]
### END SOLUTION

# %% nbgrader={"grade_id": "not-additive", "grade": true, "points": 2, "locked": true}
form(sum_percent, "text" if isinstance(sum_percent, str) else "number")
form(both_percent, "text" if isinstance(both_percent, str) else "number")

# %% [markdown]
# **Question `same-microseconds`** (1 point). The same rules, twice: `change_percent` of the firewall alone,
# and of the firewall after the others, when the moderation has gone already. Which is larger, and why does
# the one who publishes a percentage have to say: of what?

# %% nbgrader={"grade_id": "same-microseconds-answer", "solution": true}
firewall_alone_percent = None
firewall_later_percent = None
### BEGIN SOLUTION
firewall_alone_percent = change["firewall"]
firewall_later_percent = change.get("firewall after the others", "not observable")
### END SOLUTION

# %% nbgrader={"grade_id": "same-microseconds", "grade": true, "points": 1, "locked": true}
form(firewall_alone_percent, "number")
form(firewall_later_percent, "text" if isinstance(firewall_later_percent, str) else "number")

# %% [markdown]
# What the paper says, and what your Record makes of it:

# %%
claims(e6)

# %%
papers.table("E-knobs")

# %% [markdown]
# ## 6 What cannot be seen here
#
# Two of the paper's four knobs got no number. They are not left out in silence: the claims say why, and
# where they can be seen. Here is what is known of them.

# %%
for name in ("irqbalance", "tcp-low-latency"):
    knob = ALL[name]
    print(f"{knob.title}. {knob.what}\n  Here: {knob.here}\n  {knob.paper}\n")

# %% [markdown]
# **Question `not-observable`** (2 points). Which of the two (its name, as in the line
# `for name in (…)`) needs interrupts, which a cable between namespaces does not raise? And since which
# version of Linux does the other one do nothing at all? (Write version 2.6 as the number 2.6.)

# %% nbgrader={"grade_id": "not-observable-answer", "solution": true}
knob_without_interrupts = None
kernel_without_prequeue = None
### BEGIN SOLUTION
knob_without_interrupts = "irqbalance"
kernel_without_prequeue = 4.14
### END SOLUTION

# %% nbgrader={"grade_id": "not-observable", "grade": true, "points": 2, "locked": true}
form(knob_without_interrupts, "choice:irqbalance,tcp-low-latency")
form(kernel_without_prequeue, "number")

# %% [markdown]
# ## 7 The whole procedure
#
# Study E7 is the paper's figure 6, on all four nodes: ask, change one thing, measure a whole cycle, keep it
# if it is faster or put it back, and go on from there; ask again; measure all that was kept. It does not
# know what was put in; it only asks.
#
# **Question `e7-record`** (1 point). Nothing to write: the point is for the Record.

# %%
e7 = study("E7", cluster, quick=True)
picture(e7)

# %% nbgrader={"grade_id": "e7-record", "grade": true, "points": 1, "locked": true}
assert e7.study == "E7", "Run the cell above: it follows the procedure on your cluster."
assert e7.variant == "", "This is the Record of an exercise; run the cell above again."
assert e7.complete, "The measurement was cut short; run the cell above again."

# %%
claims(e7)

# %% [markdown]
# **Question `fates`** (1 point). What became of each change, `"kept"` or `"reverted"`?

# %% nbgrader={"grade_id": "fates-answer", "solution": true}
moderation_fate = None
firewall_fate = None
### BEGIN SOLUTION
from beowulf.studies.lab_07 import e7_procedure

fates = e7_procedure.fates(e7)
moderation_fate = fates.get("moderation", "not observable")
firewall_fate = fates.get("firewall", "not observable")
### END SOLUTION

# %% nbgrader={"grade_id": "fates", "grade": true, "points": 1, "locked": true}
form(moderation_fate, "choice:kept,reverted,not observable")
form(firewall_fate, "choice:kept,reverted,not observable")

# %% [markdown]
# ## 8 A knob of your own
#
# Write the class in `knob.py`, which lies beside this notebook (section 9 of the handout says how, and which
# knobs are worth a try). Try it in a terminal, `python knob.py`, until every turn is right. This cell turns
# it both ways, looks whether the exact state comes back, and measures a cycle. What was there is written
# down before: if the cell is killed, `beowulf tune revert` in a terminal puts it back.

# %%
mine = own_knob.measure(cluster, "knob.py")
print("\n".join(own_knob.lines(own_knob.turns(mine))))
null_knob.picture(mine)

# %% [markdown]
# **Question `own-knob`** (3 points). One when both values take; one when the exact state of before comes
# back, whichever it was; one for a whole cycle, whatever it decides. `no effect` is a finding.

# %% nbgrader={"grade_id": "own-knob", "grade": true, "points": 3, "locked": true}
assert mine.variant == "own-knob", "Run the cell above: it turns and measures your knob."

# %% [markdown]
# ## 9 Forty milliseconds
#
# Not every wait is a knob of the node; some are in the program. `letters.c`, beside this notebook, writes a
# letter of some hundred bytes in two pieces, head and body, and waits for the answer. On a cable of ten
# microseconds that takes 40 *milli*seconds. Find out why (section 10 of the handout), and write `mine` so that
# it does not. Try it in a terminal, `beowulf run -n 2 letters.c`. This cell compiles it and runs it twice,
# the second time with the knob `delayed-ack` turned to `quick`:

# %%
posted = small_writes.measure(cluster, "letters.c")
small_writes.picture(posted)

# %% [markdown]
# *What to look at:* `apart` is the given program. Below it the same program, unchanged, where the receiver
# acknowledges every segment at once. What does that say about the wait of the first one?
#
# **Question `letters-record`** (1 point). For a Record of your letters, all of them whole.

# %% nbgrader={"grade_id": "letters-record", "grade": true, "points": 1, "locked": true}
assert posted.variant == "letters", "Run the cell above: it measures your letters.c."
assert posted.complete, "The measurement was cut short; run the cell above again."

# %% [markdown]
# **Question `letters-gain`** (3 points). All of them when your letters take at most a tenth of the time of the
# given ones.

# %% nbgrader={"grade_id": "letters-gain", "grade": true, "points": 3, "locked": true}
print(f"{small_writes.times(posted).median:.3g} times as long as the given ones")

# %% [markdown]
# **Question `forty-ms`** (1 point). Two waits block each other in the given program. For what does the
# *body* wait at the sender, and for what does that one wait at the receiver? `"ack"` (an acknowledgement),
# `"data"` (something to send, with which it can travel), or `"cable"`.

# %% nbgrader={"grade_id": "forty-ms-answer", "solution": true}
body_waits_for = None
that_waits_for = None
### BEGIN SOLUTION
body_waits_for = "ack"
that_waits_for = "data"
### END SOLUTION

# %% nbgrader={"grade_id": "forty-ms", "grade": true, "points": 1, "locked": true}
form(body_waits_for, "choice:ack,data,cable")
form(that_waits_for, "choice:ack,data,cable")

# %% [markdown]
# MPICH sets `TCP_NODELAY` on all of its connections: that is why you never met the forty milliseconds before.
#
# ## 10 What an application gets
#
# The ping-pong does nothing but wait for messages. Study L2 runs it beside four kernels of NPB that compute as
# well (lab 03), before and after, in turns, with the state of section 5 on all four nodes.
#
# **Question `l2-record`** (1 point). Nothing to write: the point is for the Record.

# %%
l2 = study("L2", cluster, quick=True)
gained = picture(l2)
gained

# %% nbgrader={"grade_id": "l2-record", "grade": true, "points": 1, "locked": true}
assert l2.study == "L2", "Run the cell above: it measures kernels before and after."
assert l2.complete, "The measurement was cut short; run the cell above again."

# %%
gained.table  # the time after as a share of the time before: 0.8 is a change of -20 %

# %% [markdown]
# **Question `limit`** (2 points). By how many per cent does the time of the ping-pong change? Which kernel
# gains most, and by how many per cent does its time change?

# %% nbgrader={"grade_id": "limit-answer", "solution": true}
pingpong_percent = None
best_kernel = None
best_kernel_percent = None
### BEGIN SOLUTION
change = (gained.table.set_index("what")["median"] - 1) * 100
kernels = change.drop("ping-pong")
pingpong_percent = change["ping-pong"]
best_kernel = kernels.idxmin()
best_kernel_percent = kernels.min()
### END SOLUTION

# %% nbgrader={"grade_id": "limit", "grade": true, "points": 2, "locked": true}
form(pingpong_percent, "number")
form(best_kernel, "choice:IS,CG,MG,FT")
form(best_kernel_percent, "number")

# %%
claims(l2)

# %% [markdown]
# The paper's applications, before and after its tuning. HPL, HPCC and the search are lab 03's; in a terminal,
# `beowulf tune compare search` measures the search on your cluster (section 11 of the handout has the others).

# %%
papers.table("E-applications")

# %% [markdown]
# ## 11 With a pencil through the paper
#
# **Question `waiting-share`** (1 point). The search (mpiBLAST) took 11 % less time, and the ping-pong beside it
# 42 % less. If nothing but the time of messages became shorter, and all of it by 42 %: which share of the
# search's time, in per cent, were messages before the tuning?

# %% nbgrader={"grade_id": "waiting-share-answer", "solution": true}
waiting_percent = None
### BEGIN SOLUTION
waiting_percent = 11 / 42 * 100
### END SOLUTION

# %% nbgrader={"grade_id": "waiting-share", "grade": true, "points": 1, "locked": true}
form(waiting_percent, "number")

# %% [markdown]
# **Question `sixty-percent`** (1 point). The abstract says: from about 50 into nearly 20 microseconds. Section
# 4.1 says: nearly 54 %. By how many per cent do 20 lie below 50?

# %% nbgrader={"grade_id": "sixty-percent-answer", "solution": true}
abstract_percent = None
### BEGIN SOLUTION
abstract_percent = (50 - 20) / 50 * 100
### END SOLUTION

# %% nbgrader={"grade_id": "sixty-percent", "grade": true, "points": 1, "locked": true}
form(abstract_percent, "number")

# %% [markdown]
# **Question `nanoseconds`** (1 point). The Spanish abstract says 50 and 20 *nano*seconds. The shortest frame takes
# 84 bytes of a cable's time. How many nanoseconds is that on Gigabit Ethernet?

# %% nbgrader={"grade_id": "nanoseconds-answer", "solution": true}
shortest_frame_ns = None
### BEGIN SOLUTION
shortest_frame_ns = 84 * 8 / 1  # one bit a nanosecond
### END SOLUTION

# %% nbgrader={"grade_id": "nanoseconds", "grade": true, "points": 1, "locked": true}
form(shortest_frame_ns, "number")

# %% [markdown]
# ## 12 Explain
#
# **Question `explain`** (4 points, read by a person). In five to ten sentences of your own:
#
# 1. Why do the gains of the knobs not add up, although each of them takes its own microseconds away? Use your
#    figures of section 5, once in per cent and once in microseconds.
# 2. The paper concludes that the ping-pong's gain is the limit of what an application can get, and has HPL gain
#    56 % where the ping-pong gained 54 %. What do your kernels say? What would have to be measured, and how, to
#    believe the 56 %?

# %% [markdown] nbgrader={"grade_id": "explain", "grade": true, "points": 4, "solution": true}
# ### BEGIN SOLUTION
# **Not additive (2 points).** A percentage is a share of the time that was there before. Alone, each knob is held
# against the whole of it, moderation included; once the moderation has gone, the same microseconds of the firewall
# are a much larger share of what is left. In microseconds the gains add up as far as the waits do not hide each
# other: what a packet costs while others are held back anyway is not felt, and comes to light when the moderation
# has gone; then all together gain more than the sum. In per cent no sum can hold: two knobs of 60 % are not 120 %.
# One point for the share of what, one for microseconds or waits that hide each other.
#
# **The limit (2 points).** Only the time of short messages becomes shorter; computing and the bytes of long messages
# stay. So a program's gain is the ping-pong's times the share of waiting, and less than it: so it is with the own
# kernels. 56 % above 54 % contradicts that, unless something else was changed too (a firewall and a service that no
# longer take time from the ranks that compute), or the figures scatter: the paper does not say how often it ran HPL.
# To be believed it takes several runs in turns, before and after, with an interval, and the ping-pong beside it in
# the same state. One point for the share, one for how to measure it.
# ### END SOLUTION

# %% [markdown]
# ## 13 Hand in
#
# Save the notebook. What you hand in is this folder: the notebook, `records/`, `knob.py` and `letters.c`. You need
# not run everything again: an answer counts when it fits one of your Records. `beowulf tune` shows that nothing
# of what you turned is left.
