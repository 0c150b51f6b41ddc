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
# # Lab 01: Is this a cluster?
#
# The handout (`labs/01-validation/README.md`) has the same sections and explains each new word. Read a section there,
# then do it here.
#
# - **Time** about 90 minutes for the sections marked *core* · **Points** 30
# - **Run** cells with Shift+Enter, from top to bottom. Cells that *measure* save a **Record** in the folder `records/`
#   next to this notebook: raw values and how they were measured.
# - **Answer** where you see `None`, with a number or text in quotes. Write programs and plots where you see
#   `# YOUR ANSWER HERE`. Add your own cells anywhere.
# - **Check** `check("01")` reports which questions are still open.

# %%
import matplotlib.pyplot as plt
import numpy as np

from beowulf import check, claims, connect, picture, predict, prediction, start_engines, study
from beowulf.labs import lab_01 as lab

lab.course_style()
cluster = connect("records")
cluster.heal()  # does nothing to a healthy cluster
print(cluster.kind, *cluster.nodes)

# %% [markdown]
# ## 1 Predict, and seal
#
# *Core, 4 minutes*
#
# **Question `predict-trip`** (0.5 points). A message of 8 bytes goes from one node to another and back. How many
# microseconds (millionths of a second) does that take? Seal your value and the two ends of its range.

# %% nbgrader={"grade_id": "predict-trip-guess", "solution": true}
trip_guess = None
trip_low = None
trip_high = None
### BEGIN SOLUTION
trip_guess, trip_low, trip_high = 200, 20, 2000
### END SOLUTION

# %% nbgrader={"grade_id": "predict-trip", "grade": true, "points": 0.5, "locked": true}
predict(cluster, "trip", value=trip_guess, low=trip_low, high=trip_high)

# %% [markdown]
# **Question `predict-idle`** (0.5 points). How many packets cross the switch in a minute when nobody is doing anything:
# none, a few, hundreds?

# %% nbgrader={"grade_id": "predict-idle-guess", "solution": true}
idle_guess = None
idle_low = None
idle_high = None
### BEGIN SOLUTION
idle_guess, idle_low, idle_high = 20, 0, 200
### END SOLUTION

# %% nbgrader={"grade_id": "predict-idle", "grade": true, "points": 0.5, "locked": true}
predict(cluster, "idle", value=idle_guess, low=idle_low, high=idle_high)

# %% [markdown]
# ## 2 Run and see
#
# *Core, 5 minutes*

# %%
a1 = study("A1", cluster)
picture(a1)

# %%
claims(a1)

# %% [markdown]
# ## 3 Do: names and routes
#
# *Core, 6 minutes*
#
# `cluster.ask(node, command)` runs a command on a node and returns what it prints. Which line comes first?

# %%
print(cluster.ask("node00", "cat /etc/hosts"))

# %%
print(cluster.ask("node01", "cat /etc/hosts"))

# %% [markdown]
# **Question `hosts-first-line`** (1 point). Copy the first line of **node01**'s file, address and name, as text in
# quotes.

# %% nbgrader={"grade_id": "hosts-first-line-answer", "solution": true}
hosts_first_line = None
### BEGIN SOLUTION
hosts_first_line = cluster.ask("node01", "cat /etc/hosts").splitlines()[0]
### END SOLUTION

# %% nbgrader={"grade_id": "hosts-first-line", "grade": true, "points": 1, "locked": true}
lab.form(hosts_first_line, "text")

# %%
print(cluster.ask("node00", "ip route"))

# %% [markdown]
# ## 4 Do: doors
#
# *Core, 4 minutes*
#
# A login from node01 to node02 and one from node02 to node01 are two logins.
#
# **Question `ordered-pairs`** (1 point). How many ssh logins does it take to check the path from every node to every
# *other* node of **your** cluster?

# %% nbgrader={"grade_id": "ordered-pairs-answer", "solution": true}
ordered_pairs = None
### BEGIN SOLUTION
ordered_pairs = len(cluster.nodes) * (len(cluster.nodes) - 1)
### END SOLUTION

# %% nbgrader={"grade_id": "ordered-pairs", "grade": true, "points": 1, "locked": true}
lab.form(ordered_pairs, "number")

# %% [markdown]
# ## 5 Do: data
#
# *More, 4 minutes*
#
# Follow the handout in a terminal: send ten million bytes from node00 to node01. How fast do they arrive, and are they
# the same bytes?

# %% [markdown]
# ## 6 Do: one program on four nodes
#
# *Core, 7 minutes*
#
# Follow the handout in a terminal. `hello.c` and `ring.c` are next to this notebook.
#
# **Question `ring-messages`** (1 point). How many messages does it take to bring the token of `ring.c` home, with one
# rank on each node of your cluster?

# %% nbgrader={"grade_id": "ring-messages-answer", "solution": true}
ring_messages = None
### BEGIN SOLUTION
ring_messages = len(cluster.nodes)
### END SOLUTION

# %% nbgrader={"grade_id": "ring-messages", "grade": true, "points": 1, "locked": true}
lab.form(ring_messages, "number")

# %% [markdown]
# ## 7 Do: ask everything at once
#
# *Core, 4 minutes*
#
# **Question `a2-record`** (1 point). There is nothing to write: you get the point for the Record of a healthy four-node
# cluster. A2 asks every node about itself and about every other node (name, ping, ssh, one million random bytes), and
# runs `hello` and `ring`.

# %%
a2 = study("A2", cluster)
a2

# %% nbgrader={"grade_id": "a2-record", "grade": true, "points": 1, "locked": true}
assert a2.study == "A2", "Run the cell above: it measures A2 on your cluster."
assert a2.variant == "", "This is the Record of a broken cluster; run the cell above again."
assert a2.complete, "The measurement was cut short; run the cell above again."

# %%
picture(a2)

# %% [markdown]
# *What to look at:* each row belongs to the node that asks, and each column to the node that is asked. Is every square
# off the diagonal `ok`?

# %%
claims(a2)

# %% [markdown]
# ## 8 Your own ring
#
# *Core, 12 minutes*

# %%
engines = start_engines(cluster)

# %%
# %%px
print(f"rank {rank} of {ranks} on {node}")

# %% [markdown]
# **Question `own-ring`** (5 points). Write `pass_token(token)`. All ranks call it at the same time. The token
# goes from rank 0 to 1, to 2, and so on, and from the last rank home to rank 0. Each rank appends the name of its
# node before it passes the token on.
#
# - On rank 0, `token` is a list with one string; on all other ranks it is `None`.
# - Rank 0 returns the list that came home. Every other rank returns the list that it passed on.
#
# You get the points for the Record below: three tokens, each of which visited every node in turn and came home.


# %% nbgrader={"grade_id": "own-ring-answer", "solution": true}
# %%px
def pass_token(token):
    """Pass the token round all ranks; return the list that came home (rank 0) or was passed on (others)."""
    before, after = (rank - 1) % ranks, (rank + 1) % ranks  # the neighbours in the ring
    ### BEGIN SOLUTION
    if rank == 0:
        token.append(node)
        world.send(token, dest=after)
        return world.recv(source=before)
    token = world.recv(source=before)
    token.append(node)
    world.send(token, dest=after)
    return token
    ### END SOLUTION


# %% [markdown]
# Try your function before you measure it.

# %%
# %%px --timeout 10
pass_token(["a token"] if rank == 0 else None)

# %%
ring = lab.own_ring.measure(engines, "pass_token")

# %% nbgrader={"grade_id": "own-ring", "grade": true, "points": 5, "locked": true}
assert ring.variant == "own-ring", "Run the cell above: it measures your function."

# %% [markdown]
# ## 9 Your own ping-pong
#
# *Core, 14 minutes*
#
# **Question `own-trips`** (4 points). Write `round_trip_us(buffer, one, other)`. `buffer` is an array of bytes.
# It has the same length on all ranks, and rank `one` has filled it.
#
# - The function sends `buffer` from rank `one` to rank `other` and back, with `Send` and `Recv`.
# - On rank `one` it returns the time of one round trip in microseconds. `MPI.Wtime()` returns seconds. One round trip
#   is short compared with a disturbance, so time about twenty, and divide the total by their number.
# - On every rank but `one` it returns nothing. Only `one` and `other` take part.
#
# You get the points for the Record below. Your function is called ten times for each ordered pair of nodes, and the
# same 8 bytes must come back.


# %% nbgrader={"grade_id": "own-trips-answer", "solution": true}
# %%px
def round_trip_us(buffer, one, other):
    """The time of one round trip of `buffer` in microseconds, on rank `one`; None on all others."""
    trips = 20
    began = MPI.Wtime()
    ### BEGIN SOLUTION
    for _ in range(trips):
        if rank == one:
            world.Send(buffer, dest=other)
            world.Recv(buffer, source=other)
        elif rank == other:
            world.Recv(buffer, source=one)
            world.Send(buffer, dest=one)
    return (MPI.Wtime() - began) / trips * 1e6 if rank == one else None
    ### END SOLUTION


# %%
# %%px --timeout 10
round_trip_us(np.ones(8, np.uint8), 0, 1)

# %%
trips = lab.own_trips.measure(engines, "round_trip_us")

# %% nbgrader={"grade_id": "own-trips", "grade": true, "points": 4, "locked": true}
assert trips.variant == "own-trips", "Run the cell above: it measures your function."

# %% [markdown]
# `table = lab.own_trips.table(trips)` has a row for each ordered pair: the nodes, their ranks (`rank` begins,
# `other` answers), and the median round trip in microseconds with its 95 % interval.
#
# **Question `trips-plot`** (3 points). Draw the median round trip against the number of the other node (0 to 3), with a
# line for each starting node. Label the axes, with the unit, and name each line in a legend. (`table[table["node"] ==
# "node00"]` selects the rows for one line.) `lab.prediction_band(axes, prediction(cluster, "trip"))` adds your
# prediction; leave it out if a wide range makes your lines flat.
#
# Units, scales, names and your numbers count; style does not.

# %%
# Look at the table here.

# %% nbgrader={"grade_id": "trips-plot-answer", "solution": true}
trips_figure = None  # trips_figure, axes = plt.subplots()
### BEGIN SOLUTION
trips_figure, axes = plt.subplots()
for name, rows in lab.own_trips.table(trips).groupby("node"):
    axes.plot(rows["other"], rows["median"], "o-", label=f"from {name}")
lab.prediction_band(axes, prediction(cluster, "trip"))
axes.set_xticks(range(len(cluster.nodes)))
axes.set(title="Who reaches whom, and how fast", ylim=(0, None))
axes.set(xlabel="number of the other node", ylabel="round trip of 8 bytes (µs)")
axes.legend()
### END SOLUTION

# %% nbgrader={"grade_id": "trips-plot", "grade": true, "points": 3, "locked": true}
lab.own_plot.keep(
    cluster,
    trips_figure,
    "trips",
    lab.own_plot.Wants(x="number of the other node", y="round trip in µs", lines=4, points=3),
)

# %% [markdown]
# Compare your round trip with `ping` and with your prediction:

# %%
pings_us = [1000 * time_ms for point in a2.select(check="ping") for time_ms in point.samples]
print(f"ping took {np.median(pings_us):.0f} µs for a round trip (median of {len(pings_us)}).")
if lab.own_trips.curves(trips):
    print(lab.outcome(cluster, "trip", lab.own_trips.middle_us(trips)))

# %% [markdown]
# Stop the engines: their open connections would add packets to the idle wire of the next section.

# %%
engines.stop()

# %% [markdown]
# ## 10 Do: the idle wire
#
# *Core, 6 minutes*
#
# Wait half a minute after `engines.stop()` and after your last command on a node. Then run the next cell. Leave the
# cluster alone for the minute that it takes: no ping, no ssh.
#
# **Question `a5-record`** (1 point). There is nothing to write: you get the point for the Record.

# %%
a5 = study("A5", cluster)
a5

# %% nbgrader={"grade_id": "a5-record", "grade": true, "points": 1, "locked": true}
assert a5.study == "A5", "Run the cell above: it listens to your idle wire."
assert a5.complete, "The measurement was cut short; run the cell above again."

# %%
wire = a5.points[0].facts
for quantity in ("elapsed_s", "packets", "packets_per_s", "bytes", "bytes_per_s"):
    print(f"{quantity:14} {wire[quantity]}")
print(lab.outcome(cluster, "idle", wire["packets"]))

# %% [markdown]
# **Question `idle-mbit`** (2 points). Compute the megabits per second of your idle wire from `bytes` and `elapsed_s`
# above. A byte is 8 bits, and a megabit is 1,000,000 bits. You may write the calculation, such as
# `8 * 1250 / 60.0 / 1e6`, with your own figures. Names such as `wire` earn no points, because grading does not run your
# code.

# %% nbgrader={"grade_id": "idle-mbit-answer", "solution": true}
idle_mbit_per_s = None
### BEGIN SOLUTION
idle_mbit_per_s = 8 * wire["bytes"] / wire["elapsed_s"] / 1e6
### END SOLUTION

# %% nbgrader={"grade_id": "idle-mbit", "grade": true, "points": 2, "locked": true}
lab.form(idle_mbit_per_s, "number")

# %%
picture(a5)

# %% [markdown]
# *What to look at:* which protocols are on the wire although nobody is doing anything? An empty figure is also a
# finding: a quiet wire.

# %%
claims(a5)

# %% [markdown]
# ## 11 Three broken clusters
#
# *Core, 11 minutes*
#
# **Write your own search** in `probe`. It asks the broken cluster and prints the answers. `victim.ask(node, command)`
# returns what a command prints on a node. Ask node00 about the others, because asking a node that is down stops the
# cell with an error. The first question is already there, as a comment.
#
# For each cluster, a cell breaks it, measures A2, and runs your search. At the end of the `with` block, the cluster is
# repaired.


# %%
def probe(victim):
    """Ask the nodes of a broken cluster from node00, and print their answers."""
    # for node in victim.nodes[1:]:
    #     print(node, victim.ask("node00", f"ping -c 1 -W 1 {node}"))
    # Add your own questions: does a node let you in, does it know the others?


# %% [markdown]
# ### Cluster a
#
# **Question `broken-a`** (1 point). Which fault is it (`"wrong-hosts"`, `"node-down"` or `"key-refused"`), and which
# node has it? The node at fault is the one to repair.

# %%
with lab.breakable(cluster) as victim:
    victim.break_it("a")
    broken_a = study("A2", victim, variant="broken-a")
    probe(victim)

# %% nbgrader={"grade_id": "broken-a-answer", "solution": true}
fault_a = None  # "wrong-hosts", "node-down" or "key-refused"
node_a = None  # such as "node00"
### BEGIN SOLUTION
fault_a = lab.diagnose(broken_a).fault  # every learner has their own broken clusters
node_a = lab.diagnose(broken_a).node
### END SOLUTION

# %% nbgrader={"grade_id": "broken-a", "grade": true, "points": 1, "locked": true}
lab.form(fault_a, "choice:wrong-hosts,node-down,key-refused")
lab.form(node_a, "node")

# %% [markdown]
# Now look at what A2 saw. A bad square concerns two nodes; the node of its **row** is the one that asked. If a whole
# **column** is bad, no other node can log in to that node. `not asked` marks a node that could not be asked about the
# others.

# %%
picture(broken_a)

# %% [markdown]
# ### Cluster b
#
# **Question `broken-b`** (1 point). Which fault is it, and which node has it?

# %%
with lab.breakable(cluster) as victim:
    victim.break_it("b")
    broken_b = study("A2", victim, variant="broken-b")
    probe(victim)

# %% nbgrader={"grade_id": "broken-b-answer", "solution": true}
fault_b = None  # "wrong-hosts", "node-down" or "key-refused"
node_b = None  # such as "node00"
### BEGIN SOLUTION
fault_b = lab.diagnose(broken_b).fault
node_b = lab.diagnose(broken_b).node
### END SOLUTION

# %% nbgrader={"grade_id": "broken-b", "grade": true, "points": 1, "locked": true}
lab.form(fault_b, "choice:wrong-hosts,node-down,key-refused")
lab.form(node_b, "node")

# %%
picture(broken_b)

# %% [markdown]
# ### Cluster c
#
# **Question `broken-c`** (1 point). Which fault is it, and which node has it?

# %%
with lab.breakable(cluster) as victim:
    victim.break_it("c")
    broken_c = study("A2", victim, variant="broken-c")
    probe(victim)

# %% nbgrader={"grade_id": "broken-c-answer", "solution": true}
fault_c = None  # "wrong-hosts", "node-down" or "key-refused"
node_c = None  # such as "node00"
### BEGIN SOLUTION
fault_c = lab.diagnose(broken_c).fault
node_c = lab.diagnose(broken_c).node
### END SOLUTION

# %% nbgrader={"grade_id": "broken-c", "grade": true, "points": 1, "locked": true}
lab.form(fault_c, "choice:wrong-hosts,node-down,key-refused")
lab.form(node_c, "node")

# %%
picture(broken_c)

# %% [markdown]
# ## 12 A ring that waits
#
# *Core, 7 minutes*
#
# Every node of cluster `d` answers ping, accepts logins, and knows the others. The next cell runs your own ring on it,
# and stops the ring after five seconds.

# %%
with lab.breakable(cluster) as victim:
    victim.break_it("d")
    stuck = lab.broken_ring.measure(victim)

# %% [markdown]
# **Question `ring-waits`** (2 points). Which rank (by number) waits forever in a *send*? How many ranks wait forever in
# a *receive*?

# %% nbgrader={"grade_id": "ring-waits-answer", "solution": true}
sender_rank = None
receiving_ranks = None
### BEGIN SOLUTION
sender_rank = int(lab.broken_ring.waiting(stuck)["sender_rank"])
receiving_ranks = int(lab.broken_ring.waiting(stuck)["receiving_ranks"])
### END SOLUTION

# %% nbgrader={"grade_id": "ring-waits", "grade": true, "points": 2, "locked": true}
lab.form(sender_rank, "number")
lab.form(receiving_ranks, "number")

# %% [markdown]
# **Question `broken-d`** (1 point). Which node is at fault? Test the nodes as in section 12 of the handout. Delete the
# `#` in the last line of the next cell to test node01, and add lines for the others.

# %%
with lab.breakable(cluster) as victim:
    victim.break_it("d")
    probe(victim)
    # print(victim.ask("node00", "timeout 1 bash -c ': < /dev/tcp/node01/9'; echo code $?"))

# %% nbgrader={"grade_id": "broken-d-answer", "solution": true}
node_d = None  # such as "node00"
### BEGIN SOLUTION
node_d = lab.broken_ring.waiting(stuck)["node_d"]
### END SOLUTION

# %% nbgrader={"grade_id": "broken-d", "grade": true, "points": 1, "locked": true}
lab.form(node_d, "node")

# %% [markdown]
# ## 13 Explain
#
# *Core, 10 minutes*
#
# **Question `explain`** (4 points, read by a person). In five to eight sentences of your own:
#
# 1. Why does paper A put a node's own name and LAN address on the first line of its `/etc/hosts`? What would happen to
#    `hello` and to `ring` if every node had 127.0.1.1 there, and MPI were not limited to one network card?
# 2. What use is a capture of an idle wire when you later capture a program's traffic? Use your own figure from
#    `idle-mbit`.
# 3. In cluster `d`, why does the ring find the fault, while ping, ssh and `hello` do not? One rank waits in a send and
#    others in a receive. Which line of the report points to the cause, and which only to the consequences?

# %% [markdown] nbgrader={"grade_id": "explain", "grade": true, "points": 4, "solution": true}
# ### BEGIN SOLUTION
# **A node's own name first (1 point).** An MPI rank looks up its own name and sends the address to the other ranks, so
# that they can connect. At the LAN address they reach it. At 127.0.1.1 each rank reaches itself, because an address
# that begins with 127 is the machine's own. So the connection is refused. `hello` still prints its lines, because it
# sends no message; `ring` stops at the first message.
#
# **The idle wire (1 point).** What an idle wire carries is also in every later capture. If it is not measured, it
# counts as the program's traffic. Once measured, it can be subtracted, or shown to be too small to matter. Traffic on a
# wire that should be idle also reveals a forgotten program. The argument uses the learner's own figure.
#
# **The ring that waits (2 points).** The kernel answers ping, the firewall accepts ssh, and hello sends no message. So
# none of them needs a connection from one rank to another, but the ring does. This earns one point. The rank that waits
# in a send cannot connect to the next one: its line names the two nodes between which nothing gets through. The ranks
# in a receive only wait for a token that never left; rank 0 waits for it to come home. The sender's line does not say
# which of the two nodes is at fault: other nodes have to ask both. Distinguishing cause from consequence earns the
# other point.
# ### END SOLUTION

# %% [markdown]
# ## 14 Two programs
#
# *More, 10 minutes*
#
# Follow the handout in a terminal: `master.c` and `worker.c` are two programs of one MPI run.

# %% [markdown]
# ## 15 Compare with paper A
#
# *More, 5 minutes*
#
# Compare the last column of the handout's table with your own nodes.

# %% [markdown]
# ## 16 The questions
#
# Save the notebook first. `check` reads it and your Records, and reports what is empty or wrong.

# %%
check("01")

# %% [markdown]
# Hand in this folder: the notebook **and** `records/`. You need not run everything again, because your answers are
# compared with your own Records. A figure without its Record counts for nothing, here and in research.
