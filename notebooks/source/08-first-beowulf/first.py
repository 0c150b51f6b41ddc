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
# # Lab 08: What did sixteen PCs and two Ethernets buy in 1995?
#
# The handout (`labs/08-first-beowulf/README.md`) has the same sections and explains every term. Read a section
# there, then do it here.
#
# - **Time** about 90 minutes for the sections marked *core* (20 points), and another 40 for those marked *more* (5
#   points) · **Points** 25
# - **You need** a cluster with two slow networks: `beowulf up --networks 2 --rate 10mbit` in a terminal. Section 5 also
#   needs SimGrid (`beowulf doctor` reports whether it is installed)
# - **How it works** Cells that *measure* or *simulate* save a **Record** in the folder `records/` next to this
#   notebook. Your answer goes where you see `None`. You may add your own cells anywhere. `check("08")` lists what is
#   still open.

# %%
from pathlib import Path

from beowulf import check, claims, connect, picture, predict, study
from beowulf.labs import lab_08 as lab

lab.course_style()
cluster = connect("records")
cluster.heal()  # does nothing to a cluster that is whole
print(cluster.kind, *cluster.nodes, "networks:", cluster.describe().get("networks", 1))

# %% [markdown]
# ## 1 Predict, and seal
#
# *Core, 5 minutes*
#
# **Question `predict-second`** (0.5 points). Eight pairs of ranks send tokens of 8 KB back and forth between two nodes.
# By what factor does a second network of 10 Mbit/s multiply the bytes per second?

# %% nbgrader={"grade_id": "predict-second-answer", "solution": true}
second_guess = None
second_low = None
second_high = None
### BEGIN SOLUTION
second_guess, second_low, second_high = 1.8, 1.4, 2.1
### END SOLUTION

# %% nbgrader={"grade_id": "predict-second", "grade": true, "points": 0.5, "locked": true}
predict(cluster, "second", value=second_guess, low=second_low, high=second_high)

# %% [markdown]
# **Question `predict-speed-up`** (0.5 points). Our gas is computed on 120 by 120 squares, its zones, in 16 tiles of 30
# by 30. A step would take a processor of 1995 about 2.7 s. Now each of 16 processors computes one tile, and sends its
# borders to its neighbours over one Ethernet that all processors share. How many times faster is a step?

# %% nbgrader={"grade_id": "predict-speed-up-answer", "solution": true}
speed_up_guess = None
speed_up_low = None
speed_up_high = None
### BEGIN SOLUTION
speed_up_guess, speed_up_low, speed_up_high = 10, 5, 15
### END SOLUTION

# %% nbgrader={"grade_id": "predict-speed-up", "grade": true, "points": 0.5, "locked": true}
predict(cluster, "speed-up", value=speed_up_guess, low=speed_up_low, high=speed_up_high)

# %% [markdown]
# ## 2 Tokens
#
# *Core, 18 minutes*
#
# In study C1, one to eight pairs at a time exchange tokens of 4 bytes to 8 KB, on one network and on two.
#
# **Question `c1-record`** (0.5 points). There is nothing to write: you get the points for the Record.

# %%
c1 = study("C1", cluster, quick=True)
picture(c1)

# %% [markdown]
# *What to look at:* all lines start from the same point. At which size does a line become level, and where do the lines
# for one and two networks diverge? Compare the lines of one pair with those of eight pairs. (If there are lines for
# only one network, your cluster has only one. Type `beowulf up --networks 2 --rate 10mbit`, run this notebook from its
# first cell, and measure again.)

# %% nbgrader={"grade_id": "c1-record", "grade": true, "points": 0.5, "locked": true}
assert c1.study == "C1", "Run the cell above: it measures C1 on your cluster."
assert c1.complete, "The measurement was cut short; run the cell above again."

# %%
rates = lab.tokens.table(lab.tokens.Tokens.of(c1))
rates.query("demand == 8").round(3)

# %% [markdown]
# **Question `saturation`** (2 points). With a demand of 8, what is the smallest token, in bytes, whose rate is at least
# 80 % of the highest, on one network and on two?

# %% nbgrader={"grade_id": "saturation-answer", "solution": true}
saturated_one_bytes = None
saturated_two_bytes = None
### BEGIN SOLUTION
saturated_one_bytes = lab.tokens.Tokens.of(c1).saturated_at(1)
saturated_two_bytes = lab.tokens.Tokens.of(c1).saturated_at(2)
### END SOLUTION

# %% nbgrader={"grade_id": "saturation", "grade": true, "points": 2, "locked": true}
lab.form(saturated_one_bytes, "number")
lab.form(saturated_two_bytes, "number")

# %% [markdown]
# **Question `second-network`** (1.5 points). With a demand of 8, how many times as much do two networks carry as one,
# with tokens of 8192 bytes and with tokens of 256 bytes? Divide the two rates in the table.

# %% nbgrader={"grade_id": "second-network-answer", "solution": true}
gain_8192 = None
gain_256 = None
### BEGIN SOLUTION
of = rates.query("demand == 8").set_index(["networks", "size_bytes"])["rate_mb_per_s"]
gain_8192 = of[2, 8192] / of[1, 8192]
gain_256 = of[2, 256] / of[1, 256]
### END SOLUTION

# %% nbgrader={"grade_id": "second-network", "grade": true, "points": 1.5, "locked": true}
lab.form(gain_8192, "number")
lab.form(gain_256, "number")

# %%
two, one = (rates.query(f"demand == 8 and networks == {n} and size_bytes == 8192") for n in (2, 1))
if len(two):
    measured = float(two["rate_mb_per_s"].iloc[0]) / float(one["rate_mb_per_s"].iloc[0])
    print(lab.outcome(cluster, "second", round(measured, 2)))

# %%
claims(c1)

# %% [markdown]
# ## 3 A barrier
#
# *Core, 8 minutes*
#
# In study C7, all ranks wait for each other in `MPI_Barrier`, first on two nodes, then on four, and so on.

# %%
c7 = study("C7", cluster, quick=True)
picture(c7)

# %%
lab.c7_barrier.table(lab.c7_barrier.times(c7)).round(1)

# %% [markdown]
# **Question `barrier`** (1.5 points). How many microseconds does *one round* of a barrier on all of your nodes take?
# With rounds of this length, how long would a barrier of twelve nodes take?

# %% nbgrader={"grade_id": "barrier-answer", "solution": true}
round_us = None
other_barrier_us = None
### BEGIN SOLUTION
waits = lab.c7_barrier.times(c7)
round_us = waits[max(waits)].median / (max(waits) - 1).bit_length()
other_barrier_us = 4 * round_us
### END SOLUTION

# %% nbgrader={"grade_id": "barrier", "grade": true, "points": 1.5, "locked": true}
lab.form(round_us, "number")
lab.form(other_barrier_us, "number")

# %% [markdown]
# *What to look at:* does a round on two nodes take as long as on all? What besides messages takes time here?

# %%
claims(c7)

# %% [markdown]
# ## 4 The gas
#
# *Core, 30 minutes*
#
# Write `exchange_ghosts` in `gas.c`, next to this notebook. First look at what the given version does:

# %%
lab.gas.picture(cluster, "gas.c")

# %% [markdown]
# *What to look at:* the third picture shows the difference between four ranks and one; the dashed lines are the ranks'
# borders. Where is the difference largest, and why there?
#
# A rank with one tile has a neighbour on each side and at each corner. How many messages does it send in a step (not
# graded)?

# %% nbgrader={"grade_id": "ghosts-answer", "solution": true}
messages_a_step = None
### BEGIN SOLUTION
messages_a_step = 8
file = Path("gas.c")
file.write_text(
    file.read_text().replace(
        "    end_at_borders(tiles); /* in place of this line */\n",
        """    for (int i = 0; i < tiles->borders; i++) {
        struct border *border = &tiles->border[i];
        check(MPI_Irecv(border->in, border->count, MPI_DOUBLE, border->rank, border->tag_in,
                        MPI_COMM_WORLD, &tiles->requests[2 * i]));
    }
    for (int i = 0; i < tiles->borders; i++) {
        struct border *border = &tiles->border[i];
        pack(tiles, border);
        check(MPI_Isend(border->out, border->count, MPI_DOUBLE, border->rank, border->tag_out,
                        MPI_COMM_WORLD, &tiles->requests[2 * i + 1]));
    }
    check(MPI_Waitall(2 * tiles->borders, tiles->requests, MPI_STATUSES_IGNORE));
    for (int i = 0; i < tiles->borders; i++)
        unpack(tiles, &tiles->border[i]);
""",
    )
)
### END SOLUTION

# %% [markdown]
# **Question `ghosts`** (6 points). Write the function, save the file, and run the cell below. It fills each zone with a
# different number, calls your function, and compares every ghost zone. If all are right, it runs the gas on one rank
# and on four.

# %%
mine = lab.gas.measure(cluster, "gas.c")

# %% nbgrader={"grade_id": "ghosts", "grade": true, "points": 6, "locked": true}
print(lab.gas.says(mine))

# %%
lab.gas.picture(cluster, "gas.c")

# %% [markdown]
# This shows the gas moving:

# %%
lab.gas.film(cluster, "gas.c")

# %%
lab.gas.parts(mine).round(2) if lab.gas.function(mine)["right"] else print(
    "Write the exchange first."
)

# %% [markdown]
# **Question `parts`** (1.5 points). On four ranks, how many times faster would a step be if communicating took no time,
# and everything else took as long as now? How many times faster would it be if only computing took no time?

# %% nbgrader={"grade_id": "parts-answer", "solution": true}
no_communicating_times = None
no_computing_times = None
### BEGIN SOLUTION
shares = lab.gas.parts(mine).loc[4]
no_communicating_times = 100 / (100 - shares["communicating_percent"])
no_computing_times = 100 / (100 - shares["computing_percent"])
### END SOLUTION

# %% nbgrader={"grade_id": "parts", "grade": true, "points": 1.5, "locked": true}
lab.form(no_communicating_times, "number")
lab.form(no_computing_times, "number")

# %% [markdown]
# ## 5 The machine of 1995
#
# *Core, 12 minutes*
#
# This simulates *your* gas on the network and the processors of 1995:

# %%
machine = lab.first_beowulf.measure(cluster, "gas.c")
lab.first_beowulf.tokens(machine).round(3)

# %%
lab.first_beowulf.gas(machine).round(2)

# %% [markdown]
# *What to look at:* in the first table, where does one network saturate, and where does the paper's network saturate?
# In the second table, what does the gas gain from the second network?
#
# **Question `speed-up`** (2 points). On 16 nodes and one network, what is the overhead of the gas in per cent, as the
# handout defines it? For long messages, the second network makes the cable 1.7 times as fast. From this factor and the
# two times of a step, compute what percentage of a step the messages spend on the cable with one network.

# %% nbgrader={"grade_id": "speed-up-answer", "solution": true}
overhead_one_percent = None
cable_percent = None
### BEGIN SOLUTION
on_16 = lab.first_beowulf.gas(machine).loc[16]
overhead_one_percent = 100 * (1 - on_16["one_speed_up"] / 16)
cable_percent = 100 * (1 - on_16["two_ms"] / on_16["one_ms"]) / (1 - 1 / 1.7)
### END SOLUTION

# %% nbgrader={"grade_id": "speed-up", "grade": true, "points": 2, "locked": true}
lab.form(overhead_one_percent, "number")
lab.form(cable_percent, "number")

# %%
print(
    lab.outcome(
        cluster,
        "speed-up",
        round(float(lab.first_beowulf.gas(machine).loc[16, "one_speed_up"]), 1),
        way="simulated",
    )
)

# %% [markdown]
# *Drag:* the paper reports "a few thousand" operations per zone. With that many operations, would messages alone
# explain its speed-up on 16 nodes?

# %%
lab.speed_up_1995(cluster)

# %% [markdown]
# ## 6 Explain
#
# *Core, 17 minutes*
#
# **Question `explain`** (4 points, read by a person). Answer in five to ten sentences, with your own figures:
#
# 1. Above which message size does a second network pay off, and why not below it?
# 2. On 16 processors the paper's gas of fixed size loses more than 60 % to overhead, 'not due to communication time' (1
#    % of the whole). Most of it appears to be synchronisation, the wait for others at the end of each step. Does your
#    simulated machine of 1995 show the same for this gas? Does your own cluster show it, with networks of the same rate
#    but much faster processors?

# %% [markdown] nbgrader={"grade_id": "explain", "grade": true, "points": 4, "solution": true}
# ### BEGIN SOLUTION
# **The second network (2 points).** It pays off for tokens of more than one frame, about 1.4 KB: only then is there a
# second piece that can take the other network at the same time. On any number of networks, a shorter token waits for
# software and for one frame. Give one point for the frame, and one for figures from the learner's Record.
#
# **The conclusion (2 points).** It does not hold for this gas. Less than half of a step on 16 processors of 1995 is
# computing, and the second network makes a step a quarter faster. So communication does hold the gas back, and no rank
# has more to compute than another (one point, with the learner's speed-ups). The paper's code computes several times as
# much for a zone, but sends the same number of rows. So messages explain less of its overhead, and the rest would be
# time that ranks wait for slower ones, as the paper supposes. On the learner's cluster the same step is mostly
# communicating and waiting, because the processors are much faster and the networks have the same rate. Give one point
# for that, with the learner's shares of a step.
# ### END SOLUTION

# %% [markdown]
# ## 7 The galaxy
#
# *More, 20 minutes*
#
# `galaxy.c` uses a tree to compute the motion of particles that attract each other. Some particles need more work than
# others. Write `partition`, which divides the particles among the ranks so that all ranks have the same amount of work.
#
# Do all ranks then have the same number of particles, `True` or `False` (not graded)?

# %% nbgrader={"grade_id": "galaxy-answer", "solution": true}
equally_many = None
### BEGIN SOLUTION
equally_many = False
file = Path("galaxy.c")
head, brace, rest = file.read_text().partition(
    "static void partition(const int *costs, int count, int ranks, int *first) {\n"
)
_, end, tail = rest.partition("\n}\n")
file.write_text(
    head
    + brace
    + """    double all = 0.0, sum = 0.0;
    int rank = 1;
    for (int i = 0; i < count; i++)
        all += costs[i];
    first[0] = 0;
    for (int i = 0; i < count; i++) {
        while (rank < ranks && sum >= all * rank / ranks)
            first[rank++] = i;
        sum += costs[i];
    }
    while (rank <= ranks)
        first[rank++] = count;"""
    + end
    + tail
)
### END SOLUTION

# %% [markdown]
# **Question `galaxy`** (3 points). You get all three points if the rank with the most interactions has at most 1.05
# times the mean, and half of them for up to 1.12 times. (In the given version, all ranks have the same number of
# particles.)

# %%
balanced = lab.galaxy.measure(cluster, "galaxy.c")

# %% nbgrader={"grade_id": "galaxy", "grade": true, "points": 3, "locked": true}
print(lab.galaxy.says(balanced))

# %% [markdown]
# Here your own program computes the motion of two galaxies that meet. This takes a minute:

# %%
lab.galaxy.film(cluster, "galaxy.c")

# %% [markdown]
# ## 8 Tokens a second
#
# *More, 8 minutes*
#
# Study C2 repeats figure 2 of the paper, which counts tokens per second, not bytes. This section has no points.

# %%
c2 = study("C2", cluster, quick=True)
picture(c2)

# %% [markdown]
# *What to look at:* where are the lines level, and at which size do they begin to fall? In the paper, at a demand of
# two, a second network adds hardly anything up to 256 bytes. C2 also measures short tokens while both kernels alternate
# their packets between the two networks. Does the paper's oddity appear there, too?

# %%
claims(c2)

# %% [markdown]
# **Study C3** sends one long stream over both networks in several ways, and captures it. Copy the cells for this study
# from section 8 of the handout.

# %% [markdown]
# ## 9 Compare with paper C
#
# *More, 12 minutes*
#
# **Question `slips`** (2 points). One processor reached 4.5 MFLOPS. Sixteen reached 62 with a grid that grew with their
# number, a result that the paper calls 16 % below the ideal. With a grid of fixed size they reached 31, and the paper
# prints an overhead of more than 60 %. If overhead is what is missing from the ideal, compute both percentages again:
# by what percentage is 62 below 16 times 4.5, and by what percentage is 31?

# %% nbgrader={"grade_id": "slips-answer", "solution": true}
below_percent = None  # 62
overhead_percent = None  # 31
### BEGIN SOLUTION
below_percent = (1 - 62 / (16 * 4.5)) * 100
overhead_percent = (1 - 31 / (16 * 4.5)) * 100
### END SOLUTION

# %% nbgrader={"grade_id": "slips", "grade": true, "points": 2, "locked": true}
lab.form(below_percent, "number")
lab.form(overhead_percent, "number")

# %% [markdown]
# If you want to see more, run **studies C4 to C6** (section 9 of the handout). C6 draws figures 3 and 4 of the paper,
# on 1 to 16 simulated processors of 1995.

# %% [markdown]
# ## 10 The questions
#
# `check` reads this notebook and your Records, and reports what is still empty or does not fit. It measures
# nothing. Save the notebook first.

# %%
check("08")

# %% [markdown]
# Hand in this folder: the notebook, `records/`, `gas.c` and `galaxy.c`. `beowulf up --networks 1 --rate 100mbit`
# restores your usual cluster.
