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
# Paper D asked three clusters whether they compute while a message of 39 KB travels: two do not, one
# does. Here you get both answers from one cluster, find the numbers that decide, and write an exchange
# that no longer depends on them. The handout (`labs/05-overlap/README.md`) explains each word and shows the
# programs in a terminal; read its sections 1 to 3 first.
#
# - **Time** about 120 minutes together with the handout · **Points** 25
# - **You need** a running cluster (`beowulf lab 05` booted one) on a machine with nothing else to do
# - **How it works** Cells that *measure* save a **Record** in the folder `records/` beside this
#   notebook. `quick=True` takes fewer samples; leave it out when you have the time. Where you see
#   `None`, your answer goes.

# %%
from beowulf import claims, connect, picture, study
from beowulf.exercises.lab_05 import exchange
from beowulf.notebook import form
from beowulf.studies.lab_05 import d3_message_and_workload, d5_improvement

cluster = connect("records")
cluster.heal()  # does nothing to a cluster that is whole
print(cluster.kind, *cluster.nodes)

# %% [markdown]
# ## 1 Predict
#
# Nobody grades a prediction; it is there so that you notice a surprise.

# %%
predicted_rank_1_ms = None  # rank 0 posts 39 KB and works 100 ms; rank 1 works 50 ms, then receives
predicted_exchange_ms = None  # 17 ms of messages and 20 ms of work on both ranks: together?

# %% [markdown]
# ## 2 Does a message leave while its sender works?
#
# Study D1 is that experiment (paper D, figure 1): rank 0 posts, works (50 ms with `quick=True`,
# else 100 ms) and waits; rank 1 works half as long where the work is a sleep, a quarter where it is
# a computation, and then receives. The study measures this with the two eager limits that represent
# two of the paper's clusters (`limit 16 KB`: its one-user cluster, `limit 64 KB`: Solaris), with two
# send buffers that represent the same clusters by the paper's own cause (`send buffer 24 KB` and
# `send buffer 96 KB`), with our library as it comes (`limit 128 KB`), and with
# two remedies: `MPI_Test` in the work, and a progress thread.
#
# **Question `d1-record`** (1 point). Nothing to write: the point is for the Record.

# %%
d1 = study("D1", cluster, quick=True)
picture(d1)

# %% [markdown]
# *What to look at:* a bar is one rank's time from the start to its end; the work is a delay. Compare the two bars of a
# pair. If rank 1 ends with its own work, the message did not need rank 0. If it ends with rank 0,
# it waited, and the picture says in which call.

# %% nbgrader={"grade_id": "d1-record", "grade": true, "points": 1, "locked": true}
assert d1.study == "D1", "Run the cell above: it measures D1 on your cluster."
assert d1.complete, "The measurement was cut short; run the cell above again."

# %%
claims(d1)

# %% [markdown]
# `holds` means that your Record shows what is claimed. `inconclusive` with a load that was too high
# means that the machine was busy: close what else runs, and measure again. Your answers are held
# against the Record's samples, not against these Verdicts.
#
# **Question `d1-support`** (3 points). In your Record, with delays as work: is the overlap of
# synchronisation supported? Answer `"supported"` or `"not supported"`. (If the claims above call one
# of the three `unclear`, the machine was too busy to tell, and the case earns nothing: measure again.)

# %% nbgrader={"grade_id": "d1-support-answer", "solution": true}
one_user_39_kb = None  # limit 16,384 bytes, message 39.06 KB
solaris_39_kb = None  # limit 65,536 bytes, message 39.06 KB
one_user_test_39_kb = None  # limit 16,384 bytes, message 39.06 KB, MPI_Test in the work
### BEGIN SOLUTION
one_user_39_kb = "not supported"
solaris_39_kb = "supported"
one_user_test_39_kb = "supported"
### END SOLUTION

# %% nbgrader={"grade_id": "d1-support", "grade": true, "points": 3, "locked": true}
form(one_user_39_kb, "choice:supported,not supported")
form(solaris_39_kb, "choice:supported,not supported")
form(one_user_test_39_kb, "choice:supported,not supported")

# %% [markdown]
# ## 3 Find the limit
#
# Study D2 is the paper's message-size sweep: rank 1 does nothing but receive, and the message grows
# by 10 KB (a KB has 1024 bytes here, as in the paper).
#
# **Question `d2-record`** (1 point). Nothing to write: the point is for the Record.

# %%
d2 = study("D2", cluster, quick=True)
picture(d2)

# %% [markdown]
# *What to look at:* each line but four stays near zero. Where does each of these four jump, and how
# high? Compare the height with the work of rank 0, and the place with its eager limit. Two of them
# have the eager limit as the library comes, and a fixed send buffer: the same jump by another cause.

# %% nbgrader={"grade_id": "d2-record", "grade": true, "points": 1, "locked": true}
assert d2.study == "D2", "Run the cell above: it sweeps the sizes on your cluster."
assert d2.complete, "The measurement was cut short; run the cell above again."

# %%
claims(d2)

# %% [markdown]
# **Question `eager-limit`** (2 points). For `limit 16 KB`: the largest size in KB at which the message
# still leaves by itself, and the smallest at which it waits. (If your line does not jump exactly once,
# the machine was too busy: measure again.)

# %% nbgrader={"grade_id": "eager-limit-answer", "solution": true}
last_by_itself_kb = None
first_that_waits_kb = None
### BEGIN SOLUTION
last_by_itself_kb = 10
first_that_waits_kb = 20
### END SOLUTION

# %% nbgrader={"grade_id": "eager-limit", "grade": true, "points": 2, "locked": true}
form(last_by_itself_kb, "number")
form(first_that_waits_kb, "number")

# %% [markdown]
# ## 4 Is there a gain on one side?
#
# Study D3 measures a message alone, the work alone, and both at once, as tables 7 and 8 do, at 10 KB
# and 65 KB. `overlap.py`, beside this notebook, is the same program in Python; D3 runs it alternating
# with the C program.

# %%
d3 = study("D3", cluster, quick=True)
picture(d3)

# %% [markdown]
# *What to look at:* a pair of bars is the same message, separate and together. Overlap gains where the
# lower bar is the shorter one.

# %%
medians = d3_message_and_workload.paper_table(d3)
medians[medians["statistic"] == "median"].drop(columns="percent")

# %% [markdown]
# These are your medians with the limit of 16,384 bytes, in seconds; `sum_s` is the message and the
# workload one after the other.
#
# **Question `d3-percent`** (2 points). What is the improvement at **65 KB** by equation 1, in
# percent? T_overlap is `overlap_s`, T_nonoverlap is `sum_s`. Mind the sign. You may write the sum
# itself, such as `(0.00079 - 0.00081) / 0.00081 * 100`.

# %% nbgrader={"grade_id": "d3-percent-answer", "solution": true}
d3_percent = None
### BEGIN SOLUTION
long = medians[(medians["statistic"] == "median") & (medians["message_kb"] == 65)].iloc[0]
d3_percent = (long["overlap_s"] - long["sum_s"]) / long["sum_s"] * 100
### END SOLUTION

# %% nbgrader={"grade_id": "d3-percent", "grade": true, "points": 2, "locked": true}
form(d3_percent, "number")

# %%
claims(d3)

# %% [markdown]
# ## 5 Is there a gain on both sides?
#
# Study D4 lets both ranks send and receive: all the work before the exchange, or three quarters of
# it during the exchange; 7 KB and 70 KB (tables 9 to 12).
#
# **Question `d4-record`** (1 point). Nothing to write: the point is for the Record.

# %%
d4 = study("D4", cluster, quick=True)
picture(d4)

# %% [markdown]
# *What to look at:* left of the line at zero is a gain. A mark whose interval touches the line
# shows none. The paper has −26 % and −32 % at 7 KB, −4 % and −8 % at 70 KB.

# %% nbgrader={"grade_id": "d4-record", "grade": true, "points": 1, "locked": true}
assert d4.study == "D4", "Run the cell above: it measures D4 on your cluster."
assert d4.variant == "", "This is the Record of your own exchange; run the cell above again."
assert d4.complete, "The measurement was cut short; run the cell above again."

# %%
claims(d4)

# %% [markdown]
# ## 6 What does the size do to the gain?
#
# Study D5 is the same exchange with a longer work, 6 ms, at six sizes. So there is something to
# hide, and the limit lies among the sizes.
#
# **Question `d5-record`** (1 point). Nothing to write: the point is for the Record.

# %%
d5 = study("D5", cluster, quick=True)
times = d5_improvement.formulas(d5)
times[times["size_kb"] == 70][["library", "t_comm_s", "t_comp_s", "t_nonoverlap_s", "t_both_s"]]

# %% nbgrader={"grade_id": "d5-record", "grade": true, "points": 1, "locked": true}
assert d5.study == "D5", "Run the cell above: it measures D5 on your cluster."
assert d5.complete, "The measurement was cut short; run the cell above again."

# %% [markdown]
# The table shows your medians at 70 KB, in seconds, of the slower rank: the messages alone, the work
# alone, one after the other, and both at once.
#
# **Question `lost-gain`** (2 points). Equation 1 at 70 KB for `limit 16 KB`, where 70 KB are above the
# limit, and for `limit 16 KB, MPI_Test`. T_overlap is `t_both_s`.

# %% nbgrader={"grade_id": "lost-gain-answer", "solution": true}
plain_percent = None
tested_percent = None
### BEGIN SOLUTION
both = times[times["size_kb"] == 70].set_index("library")
gain = (both["t_both_s"] - both["t_nonoverlap_s"]) / both["t_nonoverlap_s"] * 100
plain_percent = gain["limit 16 KB"]
tested_percent = gain["limit 16 KB, MPI_Test"]
### END SOLUTION

# %% nbgrader={"grade_id": "lost-gain", "grade": true, "points": 2, "locked": true}
form(plain_percent, "number")
form(tested_percent, "number")

# %%
picture(d5)

# %% [markdown]
# *What to look at:* find the limit of each library on the axis, and say what happens to its line
# there. Which two lines do not care?

# %%
claims(d5)

# %% [markdown]
# ## 7 Overlap in paper A
#
# Paper A lets a rank work on bytes beside its message: up to 1024 bytes in figures 16 and 17 (A8),
# up to 1,000,000 in figure 18 (A9). With its program, mpptest, the paper probably swept the work and not the message
# (section 7 of the handout), so each study measures both ways. No points here: look whether what you
# know by now explains what the paper saw.

# %%
a8 = study("A8", cluster, quick=True)
picture(a8)

# %% [markdown]
# *What to look at:* above, two lines that can hardly be distinguished. Which of them is eager? Below, the
# work grows from none to 128 numbers: how many nanoseconds is that, beside a message?

# %%
a9 = study("A9", cluster, quick=True)
picture(a9)

# %% [markdown]
# *What to look at:* above, from which size of the message on do the lines part? Below, from how many
# bytes of work on, and which lines would lie on each other without the factor np (the number
# of ranks, by which mpptest multiplies)?

# %% [markdown]
# ## 8 Your own exchange
#
# Write `overlapped` in `exchange.c`, which lies beside this notebook (section 8 of the handout says
# how). Try it in a terminal, `beowulf run -n 2 exchange.c`, until you are content. This cell compiles
# it and measures it in two launches:

# %%
mine = exchange.measure(cluster, "exchange.c")
exchange.picture(mine)

# %% [markdown]
# **Question `exchange-record`** (2 points). For a Record of your own exchange: all data right, all
# the work done, no request left open.

# %% nbgrader={"grade_id": "exchange-record", "grade": true, "points": 2, "locked": true}
assert mine.variant == "exchange", "Run the cell above: it measures your exchange.c."
assert mine.complete, "The measurement was cut short; run the cell above again."

# %% [markdown]
# **Question `exchange-gain`** (4 points). All of them when your exchange takes at least 15 % less
# time than the one after the other, and the whole interval lies there; 2 when it is certainly
# shorter. (At 100 Mbit/s three quarters of 20 ms can be hidden behind 17 ms of messages, of 37 ms:
# 40 %. On other links the work is as much longer than the messages.)

# %% nbgrader={"grade_id": "exchange-gain", "grade": true, "points": 4, "locked": true}
print(exchange.gain(mine).says)

# %% [markdown]
# ## 9 With a pencil through the paper
#
# **Question `table-9-minimum`** (1 point). Table 9 says −26.27 %, which is equation 1 for the
# averages. What does equation 1 give for the **minima** of the same table, 5.28E-04 s without and
# 5.23E-04 s with overlap? In percent.

# %% nbgrader={"grade_id": "table-9-minimum-answer", "solution": true}
table_9_minimum_percent = None
### BEGIN SOLUTION
table_9_minimum_percent = (5.23 - 5.28) / 5.28 * 100
### END SOLUTION

# %% nbgrader={"grade_id": "table-9-minimum", "grade": true, "points": 1, "locked": true}
form(table_9_minimum_percent, "number")

# %% [markdown]
# **Question `misprint`** (1 point). The third column of numbers in table 8 is headed `%`, and its
# average is 8.05E-04. Which quantity is it? `"message"`, `"workload"`, `"nonoverlap"` or `"overlap"`.

# %% nbgrader={"grade_id": "misprint-answer", "solution": true}
misprinted_column = None
### BEGIN SOLUTION
misprinted_column = "nonoverlap"
### END SOLUTION

# %% nbgrader={"grade_id": "misprint", "grade": true, "points": 1, "locked": true}
form(misprinted_column, "choice:message,workload,nonoverlap,overlap")

# %% [markdown]
# ## 10 Explain
#
# **Question `explain`** (4 points, read by a person). In five to ten sentences of your own:
#
# 1. Your exchange of the first step posted everything before it worked, and gained nothing. Who
#    would have had to move the bytes meanwhile, and why did they not? What did the second step
#    change?
# 2. Table 9 gains 26 % by the averages and hardly anything by the minima. What does that say about
#    the claim, and what would you have published instead?

# %% [markdown] nbgrader={"grade_id": "explain", "grade": true, "points": 4, "solution": true}
# ### BEGIN SOLUTION
# **Who moves the bytes (2 points).** 200,000 bytes are above the eager limit. So posting only
# announces the message; the data leave when the sender's library has read the other rank's answer.
# The library runs only inside MPI calls, and the work calls none: the answer stays unread in the
# socket, which the kernel cannot understand. Both messages travel in the wait, after the work. With
# MPI_Testall between slices the library reads the answer early and keeps the socket filled. One
# point for the rendezvous, one for progress only inside MPI calls.
#
# **Averages (2 points).** An average follows its outliers: one operation of 46.6 ms among 1000 adds
# 0.047 ms to an average of 1.08 ms, and the standard deviation is larger than the average. The
# minima differ by one per cent. So the table shows at least as much how often something disturbed
# as what overlap gains. Better: the median with an interval, of pairs measured in turns, beside the
# minimum, and all samples. One point for the outliers, one for what to publish.
# ### END SOLUTION

# %% [markdown]
# ## 11 Hand in
#
# Save the notebook. What you hand in is this folder: the notebook, `records/` and `exchange.c`. You
# need not run everything again: it takes some minutes, and an answer counts when it fits one of your
# Records.
