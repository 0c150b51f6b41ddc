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
# The handout (`labs/07-latency-tuning/README.md`) has the same sections and explains every term. Read a section there,
# then do it here.
#
# - Cells that *measure* save a **Record** in the folder `records/` next to this notebook. `quick=True` takes fewer
#   samples. Leave it out when you have time.
# - Your answer goes where you see `None`, and your function or plot goes where you see `# YOUR ANSWER HERE`.
# - Each cell puts back the knobs that it turns. `check("07")` lists what is still open.

# %%
import matplotlib.pyplot as plt
import numpy as np

from beowulf import check, claims, connect, picture, predict, study
from beowulf.labs import lab_07 as lab

lab.course_style()
cluster = connect("records")
cluster.heal()  # does nothing to a cluster that is whole
print(cluster.kind, *cluster.nodes)

# %% [markdown]
# ## 1 Predict, and seal
#
# *Core, 3 minutes*
#
# A prediction is a number, with a range that should contain the result nine times out of ten.
#
# **Question `predict-byte`** (0.5 points). How many microseconds does one byte take from node00 to node01, with MPI and
# without the cable's limit?

# %% nbgrader={"grade_id": "predict-byte-answer", "solution": true}
byte_guess = None
byte_low = None
byte_high = None
### BEGIN SOLUTION
byte_guess, byte_low, byte_high = 12, 4, 40
### END SOLUTION

# %% nbgrader={"grade_id": "predict-byte", "grade": true, "points": 0.5, "locked": true}
predict(cluster, "byte", value=byte_guess, low=byte_low, high=byte_high)

# %% [markdown]
# ## 2 The path of a message
#
# *Core, 6 minutes*
#
# In the handout, follow a byte from one program to the other. In a terminal, `beowulf tune` lists your nodes' knobs.

# %% [markdown]
# ## 3 A latency budget
#
# *Core, 11 minutes*
#
# **Question `l1-record`** (0.5 points). There is nothing to write: you get the points for the Record of study L1.

# %%
l1 = study("L1", cluster, quick=True)

# %% nbgrader={"grade_id": "l1-record", "grade": true, "points": 0.5, "locked": true}
assert l1.study == "L1", "Run the cell above: it measures the ways on your cluster."
assert l1.variant == "", "This is the Record of your letters; run the cell above again."
assert l1.complete, "The measurement was cut short; run the cell above again."

# %%
ways = lab.l1_latency_budget.ways(l1)
ways

# %% [markdown]
# `call` is one system call. Each of the other lines is half a round trip of one byte without the cables' limit, with
# the ends of its 95 % interval.
#
# **Question `budget`** (2 points). A message needs two system calls, one that sends and one that receives. How many
# microseconds does one byte take for
#
# 1. TCP/IP within a node, in addition to the system calls,
# 2. the cable and the cards, in addition to the time within one node,
# 3. waking up a sleeping receiver on the other node,
# 4. MPI, in addition to plain TCP?
#
# Each is the difference between two lines of the table. Use the lines named *polling*, except for (3). You may write
# the formula itself, such as `8.1 - 2 * 0.25`.

# %% nbgrader={"grade_id": "budget-answer", "solution": true}
stack_us = None
cable_us = None
wake_up_us = None
mpi_us = None
### BEGIN SOLUTION
us = ways.set_index("way")["us"]
stack_us = us["loopback polling"] - 2 * us["call"]
cable_us = us["nodes polling"] - us["loopback polling"]
wake_up_us = us["nodes waiting"] - us["nodes polling"]
mpi_us = us["mpi"] - us["nodes polling"]
### END SOLUTION

# %% nbgrader={"grade_id": "budget", "grade": true, "points": 2, "locked": true}
lab.form(stack_us, "number")
lab.form(cable_us, "number")
lab.form(wake_up_us, "number")
lab.form(mpi_us, "number")

# %% [markdown]
# The next two cells compare your prediction with the result, and draw the budget. A step whose 95 % interval includes
# zero is *not distinguishable from zero*, and is not drawn.

# %%
print(lab.outcome(cluster, "byte", round(float(ways.set_index("way")["us"]["mpi"]), 1)))

# %%
picture(l1)

# %% [markdown]
# *What to look at:* there is one bar for each of the three receivers. Which part, if any, appears only with a sleeping
# receiver? What would a faster cable change in these bars? (If most steps are not drawn, the machine was busy: measure
# again.)

# %%
claims(l1)

# %% [markdown]
# ## 4 Ask before you turn
#
# *Core, 7 minutes*
#
# This cell changes a randomly chosen node, asks all nodes at once, and restores the changed node.

# %%
asked = lab.differing_node.measure(cluster)
lab.differing_node.table(asked)

# %% [markdown]
# **Question `unlike`** (1 point). Which node gives a different answer, and to which question? Write the question's name
# from the column `question`.

# %% nbgrader={"grade_id": "unlike-answer", "solution": true}
unlike_node = None
unlike_question = None
### BEGIN SOLUTION
unlike_node = lab.differing_node.odd(asked)[0]  # it is chosen at random
unlike_question = lab.differing_node.odd(asked)[1]
### END SOLUTION

# %% nbgrader={"grade_id": "unlike", "grade": true, "points": 1, "locked": true}
lab.form(unlike_node, "node")
lab.form(unlike_question, "choice:moderation,firewall")

# %% [markdown]
# ## 5 Measure nothing first
#
# *Core, 13 minutes*
#
# This runs a measuring cycle in which both states are the same:

# %%
nothing = lab.null_knob.measure(cluster)
before, after = lab.own_interval.pairs(nothing)
print(
    len(before), "pairs; the first of them:", round(before[0], 2), "and", round(after[0], 2), "µs"
)

# %% [markdown]
# **Question `own-interval`** (3 points: one for correct changes, two for the ranges). Write `change_percent(before,
# after)`, in which `before[i]` and `after[i]` are a pair. It returns three numbers in per cent (a decrease is
# negative):
#
# 1. the change, which is the median of after / before over all pairs, minus 1
# 2. and 3. the low and the high end of the range in which it lies with 95 % certainty
#
# It may return a dict, and use any library except ours.


# %% nbgrader={"grade_id": "own-interval-answer", "solution": true}
def change_percent(before, after):
    """The median change of the pairs in per cent, and the ends of its 95 % interval."""
    ratios = np.array(after) / np.array(before)  # one for each pair
    ### BEGIN SOLUTION
    draws = np.random.default_rng(1).choice(ratios, (2000, len(ratios)))
    low, high = np.percentile(np.median(draws, axis=1), (2.5, 97.5))
    return 100 * (np.median(ratios) - 1), 100 * (low - 1), 100 * (high - 1)
    ### END SOLUTION


# %%
interval = lab.own_interval.measure(cluster, change_percent, nothing)

# %% nbgrader={"grade_id": "own-interval", "grade": true, "points": 3, "locked": true}
assert interval.variant == "interval", "Run the cell above: it tries your function."

# %% [markdown]
# This plots your cycle without a change, with the package's decision in the title:

# %%
lab.null_knob.picture(nothing)

# %% [markdown]
# *What to look at:* do the two lines separate, or do they drift together? If the title says `faster` or `slower`, find
# out what else is running, and measure again.

# %% [markdown]
# ## 6 One knob at a time
#
# *Core, 16 minutes*
#
# Study E6 adds moderation of 50 µs and a firewall of 100 rules. From this state it removes moderation alone, the
# firewall alone, and both together. Then it adds the firewall alone, and removes it again. (*firewall as conntrack*, in
# the results, is another firewall, which tracks connections.)
#
# **Question `predict-together`** (0.5 points). By what percentage does half a round trip change when both are removed?
# A decrease is negative. (Paper E reports nearly −54 % for all its changes together. Without root, only the firewall is
# removed.)

# %% nbgrader={"grade_id": "predict-together-answer", "solution": true}
together_guess = None
together_low = None
together_high = None
### BEGIN SOLUTION
together_guess, together_low, together_high = -70, -95, -10
### END SOLUTION

# %% nbgrader={"grade_id": "predict-together", "grade": true, "points": 0.5, "locked": true}
predict(cluster, "together", value=together_guess, low=together_low, high=together_high)

# %% [markdown]
# **Question `e6-record`** (0.5 points). There is nothing to write: you get the points for the Record.

# %%
e6 = study("E6", cluster, quick=True)

# %% nbgrader={"grade_id": "e6-record", "grade": true, "points": 0.5, "locked": true}
assert e6.study == "E6", "Run the cell above: it turns the knobs of your cluster."
assert e6.complete, "The measurement was cut short; run the cell above again."

# %% [markdown]
# **Question `each-knob`** (2 points). By what percentage does half a round trip change with each of four removals? Call
# your own function, for example `change_percent(*lab.own_interval.pairs(e6, "firewall"))`. The other names are
# `"moderation"`, `"all together"` and `"firewall after the others"`, which removes the firewall when moderation is
# gone. Type your numbers. (If you cannot change moderation, three of the four are `"not observable"`.)

# %%
# Here is room for your calls.

# %% nbgrader={"grade_id": "each-knob-answer", "solution": true}
moderation_percent = None
firewall_percent = None
together_percent = None
firewall_later_percent = None
### BEGIN SOLUTION
moderation_percent = together_percent = firewall_later_percent = "not observable"
firewall_percent = change_percent(*lab.own_interval.pairs(e6, "firewall"))[0]
if "moderation" in [each.knob for each in lab.knob_gains.gains(e6)]:  # every machine has its own
    moderation_percent = change_percent(*lab.own_interval.pairs(e6, "moderation"))[0]
    together_percent = change_percent(*lab.own_interval.pairs(e6, "all together"))[0]
    firewall_later_percent = change_percent(
        *lab.own_interval.pairs(e6, "firewall after the others")
    )[0]
### END SOLUTION

# %% nbgrader={"grade_id": "each-knob", "grade": true, "points": 2, "locked": true}
lab.form(moderation_percent, "number or not observable")
lab.form(firewall_percent, "number or not observable")
lab.form(together_percent, "number or not observable")
lab.form(firewall_later_percent, "number or not observable")

# %% [markdown]
# The next cell prints your prediction, and paper E's table 3 with your numbers. `low` and `high` are the ends of our
# function's 95 % interval. It also allows for differences between runs of the program and for a busy machine, so your
# interval may differ. *Faster* needs the 99 % interval (section 5). The mean and the deviation (how far single times
# typically are from their mean) include all samples, and `p50` is the median of all. The decision follows from the
# pairs. `means_percent` is the change in the mean, which other work on the machine can distort.

# %%
table_3 = lab.knob_gains.table(lab.knob_gains.gains(e6)).set_index("knob")
whole = "all together" if "all together" in table_3.index else "firewall"
print(lab.outcome(cluster, "together", round(float(table_3.loc[whole, "change_percent"]), 1)))
columns = [
    f"{what}_{when}_us" for when in ("before", "after") for what in ("mean", "deviation", "p50")
]
table_3[[*columns, "change_percent", "low", "high", "decision", "means_percent"]].round(1).T

# %% [markdown]
# *What to look at:* do the first two changes add up to that of *all together*? When does removing the firewall gain
# more: with moderation, or without it?
#
# **Question `quantile-plot`** (3 points). Plot the distribution of the half round trips of one comparison. The x axis
# is a share in per cent, and the y axis is the time within which this share of the trips ends. Draw one line for before
# and one for after, each with points at nine or more whole percentages, such as 10, 20 … 90 and 99.
# `lab.own_interval.samples(e6, "all together")` returns all times before and all times after, in microseconds (without
# root, use `"firewall"`).
#
# The check reads units, scales, names and your numbers. The style is your choice.

# %% nbgrader={"grade_id": "quantile-plot-answer", "solution": true}
quantile_figure = None  # quantile_figure, axes = plt.subplots()
### BEGIN SOLUTION
quantile_figure, axes = plt.subplots()
shares = range(1, 100)
for name, times in zip(("before", "after"), lab.own_interval.samples(e6, whole), strict=True):
    axes.plot(shares, np.percentile(times, shares), marker="", label=f"{name}: {whole}")
axes.set(xlabel="share of the messages (%)", ylabel="half round trip, at most (µs)", yscale="log")
axes.set_title("How long do the messages take?")
axes.legend()
### END SOLUTION

# %% nbgrader={"grade_id": "quantile-plot", "grade": true, "points": 3, "locked": true}
lab.own_plot.keep(
    cluster,
    quantile_figure,
    "quantiles",
    lab.own_plot.Wants(x="share in %", y="time in µs", lines=2, points=9),
)

# %% [markdown]
# *What to look at:* which of your two lines is steeper at its right end? Is there a place where they are closer
# together than at their medians?
#
# Compare what the paper says with what your Record shows:

# %%
claims(e6)

# %%
lab.papers.table("E-knobs").astype(object).fillna("")

# %% [markdown]
# ## 7 A knob of your own
#
# *Core, 12 minutes*
#
# Write the class in `knob.py`, in the notebook's folder, for this setting of the kernel:

# %%
print(lab.by_lot.setting())

# %%
mine = lab.own_knob.measure(cluster, "knob.py")
turns = lab.own_knob.turns(mine)
print(*lab.own_knob.lines(turns), f"found: {turns[0].facts['before']}", sep="\n")

# %% [markdown]
# **Question `own-knob`** (4 points). You get one point when both values take effect, and one when exactly the original
# state comes back, whatever it was. You get one for a complete cycle, whatever its decision is, and one for the setting
# printed above (without a personal code, any setting in the handout). In the cycle, *before* is the value found on the
# node, and *after* is your other value.

# %% nbgrader={"grade_id": "own-knob", "grade": true, "points": 4, "locked": true}
assert mine.variant == "own-knob", "Run the cell above: it turns and measures your knob."

# %% [markdown]
# **Question `kept-line`** (2 points). `lab.own_interval.pairs(mine)` returns the pairs of your knob's cycle. Compute
# their `change_percent`, and decide according to the table in section 5 of the handout (here the 95 % interval is
# enough): *faster* is `"kept"`, and anything else is `"reverted"`. Write the line of a file in `/etc/sysctl.d/` that
# sets the final value at boot (after a revert, the value that was found).

# %%
# Here is room for your call.

# %% nbgrader={"grade_id": "kept-line-answer", "solution": true}
knob_fate = None
boot_line = None  # such as "net.core.somaxconn = 4096"
### BEGIN SOLUTION
knob_fate, value = lab.own_knob.stays(mine)
boot_line = f"{lab.own_knob.setting(mine)} = {value}"
### END SOLUTION

# %% nbgrader={"grade_id": "kept-line", "grade": true, "points": 2, "locked": true}
lab.form(knob_fate, "choice:kept,reverted")
lab.form(boot_line, "text")

# %%
lab.null_knob.picture(mine)

# %% [markdown]
# ## 8 What a knob is worth to your plate
#
# *Core, 12 minutes*
#
# How much longer does a step of the heat program take on four ranks with 1000 firewall rules? The next cell prints the
# number of columns in a row:

# %%
print(lab.by_lot.columns(), "columns")
lab.heat.start(7)

# %% [markdown]
# **Question `predict-plate`** (0.5 points). By what percentage does the time of a step change? An increase is positive.
# Before you seal your prediction, compute it from the three parts given in the handout. Here is the first number:

# %%
alone = "firewall after the others" if whole == "all together" else "firewall"
with_100, without = lab.own_interval.pairs(e6, alone)
rules_us = np.median(with_100) - np.median(without)
print(f"100 rules cost a message {rules_us:.2f} µs, and 1000 about ten times that")
# Here is room for the rest of your sum.

# %% nbgrader={"grade_id": "predict-plate-answer", "solution": true}
plate_guess = None
plate_low = None
plate_high = None
### BEGIN SOLUTION
plate_guess, plate_low, plate_high = 30, 5, 150
### END SOLUTION

# %% nbgrader={"grade_id": "predict-plate", "grade": true, "points": 0.5, "locked": true}
predict(cluster, "plate", value=plate_guess, low=plate_low, high=plate_high)

# %%
plate = lab.heat.tuned(cluster, "firewall", "1000", columns=lab.by_lot.columns())

# %% [markdown]
# **Question `plate`** (2 points). By what percentage do the time of a step and the time of its exchange of border
# rows change with 1000 rules? Use your `change_percent` with `lab.own_interval.pairs(plate, "step")` and
# `lab.own_interval.pairs(plate, "exchange")`.

# %%
# Here is room for your calls.

# %% nbgrader={"grade_id": "plate-answer", "solution": true}
step_percent = None
exchange_percent = None
### BEGIN SOLUTION
step_percent = change_percent(*lab.own_interval.pairs(plate, "step"))[0]
exchange_percent = change_percent(*lab.own_interval.pairs(plate, "exchange"))[0]
### END SOLUTION

# %% nbgrader={"grade_id": "plate", "grade": true, "points": 2, "locked": true}
lab.form(step_percent, "number")
lab.form(exchange_percent, "number")

# %%
share, decision = lab.heat.worth(plate)
print(decision, lab.outcome(cluster, "plate", round(100 * (share.median - 1), 1)), sep="\n")

# %%
lab.heat.picture(plate)

# %% [markdown]
# *What to look at:* which of the two changes more, and what share of a step is its exchange?

# %% [markdown]
# ## 9 Explain
#
# *Core, 10 minutes*
#
# **Question `explain`** (4 points, read by a person). Answer in five to eight sentences, with your own figures:
#
# 1. Do the gains of the knobs add up in per cent? And in microseconds? Why, or why not? Use your figures from
#    section 6. (Without root: what would you expect with moderation of 50 µs, and why?)
# 2. What did 1000 rules do to a message, to an exchange and to a step of your plate? Why do the three percentages
#    differ?
# 3. Paper E concludes that the ping-pong's gain is the limit of what an application can get. But in the paper the
#    program HPL gains 56 %, and the ping-pong 54 %. What would you have to measure, and how, to believe this
#    conclusion?

# %% [markdown] nbgrader={"grade_id": "explain", "grade": true, "points": 4, "solution": true}
# ### BEGIN SOLUTION
# **Do gains add up? (2 points)** A percentage is a share of the time before the change. The gain of a knob alone is a
# share of all of that time, including moderation. Without moderation, the same microseconds of the firewall are a much
# larger share of the remaining time. In microseconds the gains add up unless one wait hides another. While packets are
# held back anyway, the time that the rules take may stay hidden until moderation is gone. If so, both together gain
# more than the sum of the two gains. Percentages cannot be added: two knobs that gain 60 % each do not gain 120 %. Give
# one point for stating which time a percentage refers to, and one for the sum in microseconds or for waits that hide
# each other.
#
# **What a knob is worth (2 points).** Only the time of messages changes; the rows are computed as before. So a step
# changes by less than its exchange: by the exchange's change times the exchange's share of the step. An exchange
# differs from a ping-pong: its messages travel at the same time, and ranks that share cores also lose time while the
# rules are applied to other ranks' packets. A gain of 56 %, above 54 %, contradicts the conclusion unless something
# else was also changed, such as a service that no longer takes time from the ranks. The figures may also vary from run
# to run: the paper does not say how many times HPL was run. The conclusion needs several alternating runs before and
# after the tuning, with an interval, and the ping-pong measured in the same states. Give one point for the share, and
# one for the measurement.
# ### END SOLUTION

# %% [markdown]
# ## 10 Forty milliseconds
#
# *More, 15 minutes*
#
# `letters.c`, in the notebook's folder, sends a letter of about a hundred bytes in two pieces, a head and a body, and
# waits for the answer. Find out why that takes 40 *milli*seconds, and write `mine` so that a letter takes at most a
# tenth of that. Try it in a terminal, with `beowulf run -n 2 letters.c`, until it is correct. This cell compiles it and
# runs it twice, the second time with the knob `delayed-ack` set to `quick`:

# %%
posted = lab.small_writes.measure(cluster, "letters.c")
lab.small_writes.picture(posted)

# %% [markdown]
# *What to look at:* `apart` is the given function. Below it is the same function, with a receiver that acknowledges
# every segment at once. What does that tell you about the wait in the given function?
#
# **Question `letters`** (3 points). You get the points when your letters arrive whole, and take at most a tenth of the
# given version's time.

# %% nbgrader={"grade_id": "letters", "grade": true, "points": 3, "locked": true}
print(f"{1 / lab.small_writes.times(posted).median:,.1f} times as fast as the given ones")

# %% [markdown]
# MPICH sets `TCP_NODELAY` on all of its connections. That is why you have never seen the forty milliseconds before.
#
# *Drag:* at what delay is the computed time of a letter as long as that of `apart`? Which of the two waits is missing
# from `mine`?

# %%
lab.two_clocks(cluster)

# %% [markdown]
# ## 11 The whole procedure
#
# *More, 13 minutes*
#
# Study E7 follows the paper's figure 6 on all four nodes, and at the end measures all kept changes together. It does
# not know what was changed before: it asks the nodes.
#
# **Question `e7-record`** (0.5 points). There is nothing to write: you get the points for the Record.

# %%
e7 = study("E7", cluster, quick=True)

# %% nbgrader={"grade_id": "e7-record", "grade": true, "points": 0.5, "locked": true}
assert e7.study == "E7", "Run the cell above: it follows the procedure on your cluster."
assert e7.variant == "", "This is the Record of an exercise; run the cell above again."
assert e7.complete, "The measurement was cut short; run the cell above again."

# %% [markdown]
# **Question `fates`** (0.5 points). Was each change `"kept"` or `"reverted"`?
# `lab.own_interval.pairs(e7, "moderation")` and `lab.own_interval.pairs(e7, "firewall")` return the pairs.

# %%
# Here is room for your calls.

# %% nbgrader={"grade_id": "fates-answer", "solution": true}
moderation_fate = None
firewall_fate = None
### BEGIN SOLUTION
fates = lab.e7_procedure.fates(e7)
moderation_fate = fates.get("moderation", "not observable")
firewall_fate = fates.get("firewall", "not observable")
### END SOLUTION

# %% nbgrader={"grade_id": "fates", "grade": true, "points": 0.5, "locked": true}
lab.form(moderation_fate, "choice:kept,reverted,not observable")
lab.form(firewall_fate, "choice:kept,reverted,not observable")

# %%
picture(e7)

# %%
claims(e7)

# %% [markdown]
# Where on a message's path do rules take time?

# %%
rules = lab.rules_way.traced(cluster)
lab.timelines.timeline(cluster, rules, "1000 rules")

# %% [markdown]
# Zoom in until you see one message and its answer. For each, look for the call that sends it, its packet on the wire
# (captured at the switch), and the end of its receive. In the table, `before_us` is the time from the call to the wire,
# and `after_us` is the time from the wire to the end of the receive. Both are medians over all messages.

# %%
lab.rules_way.ways(rules).round(2)

# %% [markdown]
# **Question `timeline`** (1 point). Do the rules add time `"before"` or `"after"` the wire? Do they delay the messages
# to rank 0 or to rank 1? How many microseconds do they add?

# %% nbgrader={"grade_id": "timeline-answer", "solution": true}
rules_part = None
rules_to_rank = None
rules_us = None
### BEGIN SOLUTION
added = lab.rules_way.added(rules)
source, part = max(added, key=added.get)
rules_part, rules_to_rank = part.removesuffix("_us"), 1 - source
rules_us = added[source, part]
### END SOLUTION

# %% nbgrader={"grade_id": "timeline", "grade": true, "points": 1, "locked": true}
lab.form(rules_part, "choice:before,after")
lab.form(rules_to_rank, "number")
lab.form(rules_us, "number")

# %% [markdown]
# ## 12 What an application gets
#
# *More, 10 minutes*
#
# Study L2 runs the ping-pong and four kernels of NPB on all four nodes. It alternates between the state of section 6
# and the tuned state.
#
# **Question `l2-record`** (0.5 points). There is nothing to write: you get the points for the Record.

# %%
l2 = study("L2", cluster, quick=True)
gained = picture(l2)
gained

# %% nbgrader={"grade_id": "l2-record", "grade": true, "points": 0.5, "locked": true}
assert l2.study == "L2", "Run the cell above: it measures kernels before and after."
assert l2.complete, "The measurement was cut short; run the cell above again."

# %%
gained.table  # the time after as a share of the time before: 0.8 is a change of -20 %

# %% [markdown]
# **Question `limit`** (0.5 points). By what percentage does the time of the ping-pong change? Which kernel gains most,
# and by what percentage does its time change? (A decrease is negative.)

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

# %% nbgrader={"grade_id": "limit", "grade": true, "points": 0.5, "locked": true}
lab.form(pingpong_percent, "number")
lab.form(best_kernel, "choice:IS,CG,MG,FT")
lab.form(best_kernel_percent, "number")

# %%
claims(l2)

# %% [markdown]
# ## 13 What cannot be seen here
#
# *More, 5 minutes*
#
# You have no number for two of the paper's four knobs. The claims in section 6 say why, and where both can be measured.
# Which of the two needs interrupts, which a cable between namespaces does not raise? Since which version of Linux has
# the other one had no effect at all?

# %%
for name in ("irqbalance", "tcp-low-latency"):
    knob = lab.knobs.ALL[name]
    print(f"{knob.title}. {knob.what}\n  Here: {knob.here}\n  {knob.paper}\n")

# %% [markdown]
# ## 14 Compare with paper E
#
# *More, 7 minutes*
#
# The next cell shows how much less time the paper's applications took after its tuning. HPL, HPCC and the search
# (mpiBLAST) are in lab 03. In a terminal, `beowulf tune compare search` measures the search on your cluster.

# %%
lab.papers.table("E-applications")

# %% [markdown]
# **Question `waiting-share`** (0.5 points). In the paper's section 4.4, the ping-pong took 42 % less time. Suppose that
# only the messages became faster, and that each took 42 % less time. The next cell names an application (`mpiBLAST`,
# the search, unless your course gave you a personal code). For what share of its time, in per cent, did it wait for
# messages before the tuning?

# %%
print(lab.by_lot.workload())

# %% nbgrader={"grade_id": "waiting-share-answer", "solution": true}
waiting_percent = None
### BEGIN SOLUTION
waiting_percent = {"mpiBLAST": 11, "HPCC": 29}[lab.by_lot.workload()] / 42 * 100
### END SOLUTION

# %% nbgrader={"grade_id": "waiting-share", "grade": true, "points": 0.5, "locked": true}
lab.form(waiting_percent, "number")

# %% [markdown]
# ## 15 The questions
#
# `check` reads this notebook and your Records, and reports what is still empty or does not fit. It measures
# nothing. Save the notebook first.

# %%
check("07")

# %% [markdown]
# Hand in this folder: the notebook, `records/`, `knob.py` and `letters.c`. You need not run everything again: an answer
# counts when it fits one of your Records. `beowulf tune` shows whether a knob is still turned.
