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
# Four computers, a switch and some cables are a heap of hardware. When do they become *one
# machine*? In this notebook you ask every node, and every pair of nodes, until you know. The
# handout (`labs/01-validation/README.md`) explains each word and shows the same steps in a
# terminal; do its sections 1 to 6 first, or side by side with this.
#
# - **Time** about 90 minutes together with the handout · **Points** 20
# - **You need** a running cluster: `make lab` booted one; in a terminal, `beowulf up` does
# - **How it works** Cells that *measure* save a **Record** in the folder `records/` beside this
#   notebook: raw values with their circumstances. Run cells with Shift+Enter, from top to bottom.
#   Where you see `None`, your answer goes.

# %%
from beowulf import claims, connect, picture, study
from beowulf.cluster.faults import breakable
from beowulf.notebook import form

cluster = connect("records")
cluster.heal()  # does nothing to a cluster that is whole
print(cluster.kind, *cluster.nodes)

# %% [markdown]
# ## 1 Predict
#
# Write down what you expect before you measure. Nobody grades a prediction; it is there so that
# you notice a surprise.

# %%
predicted_transfer_mbit_per_s = None  # 1 MB from node to node over cables of 100 Mbit/s: how fast?
predicted_idle_packets = None  # packets on the wire in one minute in which nobody does anything

# %% [markdown]
# ## 2 What it is made of, and names
#
# Study A1 asks every node what it is: its system, kernel, processor and memory, its network card,
# its MPI and compiler, and the way to each other node. Paper A builds such a cluster of four PCs;
# each claim is one property of the paper's cluster.

# %%
a1 = study("A1", cluster)
picture(a1)

# %%
claims(a1)

# %% [markdown]
# `cluster.ask(node, command)` runs a command in a shell on a node and gives back what it prints.
# The answer is also kept beside your Records.

# %%
print(cluster.ask("node00", "cat /etc/hosts"))

# %%
print(cluster.ask("node01", "cat /etc/hosts"))

# %% [markdown]
# Compare the two: the same lines, in another order. Which one comes first?
#
# **Question `hosts-first-line`** (1 point). Copy the whole first line of **node01**'s file,
# address and name, as a text in quotes.

# %% nbgrader={"grade_id": "hosts-first-line-answer", "solution": true}
hosts_first_line = None
### BEGIN SOLUTION
hosts_first_line = cluster.ask("node01", "cat /etc/hosts").splitlines()[0]
### END SOLUTION

# %% nbgrader={"grade_id": "hosts-first-line", "grade": true, "points": 1, "locked": true}
form(hosts_first_line, "text")

# %%
print(cluster.ask("node00", "ip route"))

# %% [markdown]
# One line: every address that begins with `192.168.0` is reached through the card `eth0`, with no
# router in between. That is what *private LAN* means.

# %% [markdown]
# ## 3 Is it one machine?
#
# Study A2 repeats the validation of paper A: it asks every node for its configuration, every node
# about every other (name, ping, ssh, one million random bytes), and runs the two MPI programs
# `hello` and `ring` on all of them. It takes some seconds.
#
# **Question `a2-record`** (3 points). Nothing to write: the points are for the Record of a whole
# four-node cluster, which this cell measures and saves.

# %%
a2 = study("A2", cluster)
a2

# %% nbgrader={"grade_id": "a2-record", "grade": true, "points": 3, "locked": true}
assert a2.study == "A2", "Run the cell above: it measures A2 on your cluster."
assert a2.variant == "", "This is the Record of a broken cluster; run the cell above again."
assert a2.complete, "The measurement was cut short; run the cell above again."

# %%
picture(a2)

# %% [markdown]
# *What to look at:* a row is the node that asks, a column the node that is asked. Every square off
# the diagonal says `ok`; one that does not is the beginning of a story.

# %%
claims(a2)

# %% [markdown]
# A line of this table is a **Verdict**: what is claimed, whether your Record supports it
# (`holds`, `contradicted`, or `inconclusive` when it cannot tell), and the evidence.
#
# **Question `ordered-pairs`** (1 point). From node01 to node02 is one login, from node02 to node01
# is another. How many ssh logins check every node to every *other* node of **your** cluster?

# %% nbgrader={"grade_id": "ordered-pairs-answer", "solution": true}
ordered_pairs = None
### BEGIN SOLUTION
ordered_pairs = len(cluster.nodes) * (len(cluster.nodes) - 1)
### END SOLUTION

# %% nbgrader={"grade_id": "ordered-pairs", "grade": true, "points": 1, "locked": true}
form(ordered_pairs, "number")

# %% [markdown]
# Data go over the same cables. How fast was your million bytes?

# %%
for point in a2.select(check="transfer", node="node00"):
    for rate in point.samples:
        print(f"node00 to {point.at['peer']}: {8 * rate / 1e6:.1f} Mbit/s")
print("You predicted:", predicted_transfer_mbit_per_s)

# %% [markdown]
# ## 4 Hello and the ring
#
# What the two MPI programs printed when A2 ran them:

# %%
for check in ("mpi-hello", "mpi-ring"):
    for point in a2.select(check=check):
        print(*point.facts["lines"], "", sep="\n")

# %% [markdown]
# `hello` proves that a program can be *started* on every node. The `ring` proves that the nodes
# can *talk*: read `pass_the_token` in `ring.c`, which lies beside this notebook.
#
# **Question `ring-messages`** (1 point). How many messages did that token need to come home, with
# one rank on each node of your cluster?

# %% nbgrader={"grade_id": "ring-messages-answer", "solution": true}
ring_messages = None
### BEGIN SOLUTION
ring_messages = len(cluster.nodes)
### END SOLUTION

# %% nbgrader={"grade_id": "ring-messages", "grade": true, "points": 1, "locked": true}
form(ring_messages, "number")

# %% [markdown]
# ## 5 The idle wire
#
# Study A5 listens at the switch for a minute. Wait half a minute after your last command on a
# node, because ssh keeps its connections open for so long. Then run the next cell, and keep your
# hands off the cluster until it is done: no ping, no ssh.
#
# **Question `a5-record`** (2 points). Nothing to write: the points are for the Record.

# %%
a5 = study("A5", cluster)
a5

# %% nbgrader={"grade_id": "a5-record", "grade": true, "points": 2, "locked": true}
assert a5.study == "A5", "Run the cell above: it listens to your idle wire."
assert a5.complete, "The measurement was cut short; run the cell above again."

# %%
wire = a5.points[0].facts
for quantity in ("elapsed_s", "packets", "packets_per_s", "bytes", "bytes_per_s"):
    print(f"{quantity:14} {wire[quantity]}")
print("You predicted:", predicted_idle_packets, "packets")

# %%
picture(a5)

# %% [markdown]
# *What to look at:* which protocols speak although nobody asked them to. One packet counts for
# each protocol that it carries (ssh travels in TCP, and TCP in IP). An empty figure is a finding
# too: a wire that is really quiet.
#
# **Question `idle-mbit`** (2 points). Work out the megabits per second of your idle wire from the
# `bytes` and `elapsed_s` above. A byte has 8 bits, a megabit is 1,000,000 bits. You may write the
# sum itself, with your own figures in it, such as `8 * 1250 / 60.0 / 1e6`.

# %% nbgrader={"grade_id": "idle-mbit-answer", "solution": true}
idle_mbit_per_s = None
### BEGIN SOLUTION
idle_mbit_per_s = 8 * wire["bytes"] / wire["elapsed_s"] / 1e6
### END SOLUTION

# %% nbgrader={"grade_id": "idle-mbit", "grade": true, "points": 2, "locked": true}
form(idle_mbit_per_s, "number")

# %%
claims(a5)

# %% [markdown]
# ## 6 Three broken clusters
#
# Somebody has been at your cluster. In each of `a`, `b` and `c` one thing is wrong on one node:
#
# - `wrong-hosts`: the node's `/etc/hosts` gives another node an address that nobody has
# - `node-down`: the node is switched off
# - `key-refused`: the node does not accept the key that the others have
#
# Each of the three happens once. Look round with your own hands first, in a terminal
# (`beowulf break a`, then section 10 of the handout); the cells below measure the same broken
# cluster and keep its Record. Where `with` ends, the cluster is healed, so that the next one starts whole.
#
# PCs, VMs and the nodes of a queue are not broken, because others need them. There, `breakable` boots a
# small cluster of namespaces on the machine of this notebook, and takes it down again.
#
# ### Cluster a

# %%
with breakable(cluster) as victim:
    victim.break_it("a")
    broken_a = study("A2", victim, variant="broken-a")
picture(broken_a)

# %% [markdown]
# *What to look at:* one bad square is a matter between two nodes; the node of its **row** was
# asked. A whole bad **column** is a node that nobody gets into; its squares say
# whether it is silent or refuses. `not asked` is shown where a node could not be asked about others,
# because there was no way into that node.

# %%
claims(broken_a)

# %% [markdown]
# **Question `broken-a`** (2 points). Which fault, and on which node? The node at fault is the one
# that you would have to repair.

# %% nbgrader={"grade_id": "broken-a-answer", "solution": true}
fault_a = None  # "wrong-hosts", "node-down" or "key-refused"
node_a = None  # such as "node00"
### BEGIN SOLUTION
from beowulf.studies.lab_01.a2_validation import diagnose

fault_a = diagnose(broken_a).fault  # every learner has broken clusters of their own
node_a = diagnose(broken_a).node
### END SOLUTION

# %% nbgrader={"grade_id": "broken-a", "grade": true, "points": 2, "locked": true}
form(fault_a, "choice:wrong-hosts,node-down,key-refused")
form(node_a, "node")

# %% [markdown]
# ### Cluster b

# %%
with breakable(cluster) as victim:
    victim.break_it("b")
    broken_b = study("A2", victim, variant="broken-b")
picture(broken_b)

# %%
claims(broken_b)

# %% [markdown]
# **Question `broken-b`** (2 points). Which fault, and on which node?

# %% nbgrader={"grade_id": "broken-b-answer", "solution": true}
fault_b = None  # "wrong-hosts", "node-down" or "key-refused"
node_b = None  # such as "node00"
### BEGIN SOLUTION
fault_b = diagnose(broken_b).fault
node_b = diagnose(broken_b).node
### END SOLUTION

# %% nbgrader={"grade_id": "broken-b", "grade": true, "points": 2, "locked": true}
form(fault_b, "choice:wrong-hosts,node-down,key-refused")
form(node_b, "node")

# %% [markdown]
# ### Cluster c

# %%
with breakable(cluster) as victim:
    victim.break_it("c")
    broken_c = study("A2", victim, variant="broken-c")
picture(broken_c)

# %%
claims(broken_c)

# %% [markdown]
# **Question `broken-c`** (2 points). Which fault, and on which node?

# %% nbgrader={"grade_id": "broken-c-answer", "solution": true}
fault_c = None  # "wrong-hosts", "node-down" or "key-refused"
node_c = None  # such as "node00"
### BEGIN SOLUTION
fault_c = diagnose(broken_c).fault
node_c = diagnose(broken_c).node
### END SOLUTION

# %% nbgrader={"grade_id": "broken-c", "grade": true, "points": 2, "locked": true}
form(fault_c, "choice:wrong-hosts,node-down,key-refused")
form(node_c, "node")

# %% [markdown]
# ## 7 Explain
#
# **Question `explain`** (4 points, read by a person). In five to ten sentences of your own:
#
# 1. Why does paper A put a node's own name and LAN address on the first line of its `/etc/hosts`?
#    Say what would happen to `hello` and to `ring` if every node had 127.0.1.1 there, and MPI were
#    not configured for one network card.
# 2. What is a capture of an idle wire good for, when later you capture a program at work? Use your
#    own figure from `idle-mbit`.

# %% [markdown] nbgrader={"grade_id": "explain", "grade": true, "points": 4, "solution": true}
# ### BEGIN SOLUTION
# **The own name first (2 points).** An MPI rank looks up its own name and gives the address that
# it finds to the other ranks, so that they can connect. On the LAN address they reach it. On
# 127.0.1.1 each of them reaches itself, because every machine takes addresses that begin with 127
# for its own: the connection is refused. `hello` still prints its lines, since it only has to be
# started and sends no message; `ring` stops at the first message. One point for what is handed on,
# one for why hello and ring differ.
#
# **The idle wire (2 points).** What the wire carries by itself is also in every later capture.
# Without the baseline it would be counted as the program's traffic; with it one can subtract it,
# or show that it is too small to matter. A wire that is not quiet when it should be also tells of
# a program that was forgotten. One point for the comparison, one for an argument with the
# learner's own figure.
# ### END SOLUTION

# %% [markdown]
# ## 8 Hand in
#
# 1. Save the notebook. Do not measure again for this: *Run All Cells* takes about two minutes,
#    breaks the cluster three times, and adds new Records to those that you wrote about.
# 2. What you hand in is this folder: the notebook **and** `records/`. An answer is held against
#    your own Records; a figure without its Record counts for nothing, here and in research.
