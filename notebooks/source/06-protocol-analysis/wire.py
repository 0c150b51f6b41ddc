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
# # Lab 06: What is on the wire?
#
# The handout (`labs/06-protocol-analysis/README.md`) has the same sections and explains every term. Read a section
# there, then do it here.
#
# - **Time** about 95 minutes for the sections marked *core* (22.5 points), and another 62 for those marked *more* (8.5
#   points) · **Points** 31
# - **You need** a running cluster (`make lab LAB=06` boots one)
# - **How it works** Cells that *measure* save a **Record** and the captured packets in the folder `records/` next to
#   this notebook. `quick=True` takes fewer samples. Your answer goes where you see `None` or `# YOUR ANSWER HERE`. You
#   may add cells of your own anywhere. `check("06")` lists what is still open.

# %%
from collections import Counter

import matplotlib.pyplot as plt
import pyshark

from beowulf import check, claims, connect, picture, predict, study
from beowulf.labs import lab_06 as lab

lab.course_style()
cluster = connect("records")
cluster.heal()  # does nothing to a cluster that is whole
names = {cluster.address(node): node for node in cluster.nodes}
print(cluster.kind, *cluster.nodes)

# %% [markdown]
# ## 1 Predict, and seal
#
# *Core, 5 minutes*
#
# **Question `predict-card`** (0.5 points). In section 2, rank 0 sends rank 1 a text, such as `Greetings from node00`.
# Choose yours now. How many bytes long is the packet in which it travels, with all its headers?

# %% nbgrader={"grade_id": "predict-card-answer", "solution": true}
card_guess = None
card_low = None
card_high = None
### BEGIN SOLUTION
card_guess, card_low, card_high = 100, 60, 200
### END SOLUTION

# %% nbgrader={"grade_id": "predict-card", "grade": true, "points": 0.5, "locked": true}
predict(cluster, "card", value=card_guess, low=card_low, high=card_high)

# %% [markdown]
# **Question `predict-packets`** (0.5 points). In section 4, four ranks share a plate with the number of columns that
# the next cell prints. In each step a rank sends each neighbour a border row, with 8 bytes per column. How many packets
# do all ranks together send in one step, including the acknowledgements? (A packet carries at most 1448 bytes of a
# message.)

# %%
print(f"{lab.by_lot.columns()} columns, so that a row has {8 * lab.by_lot.columns()} bytes")

# %% nbgrader={"grade_id": "predict-packets-answer", "solution": true}
packets_guess = None
packets_low = None
packets_high = None
### BEGIN SOLUTION
packets_guess, packets_low, packets_high = 54, 36, 72
### END SOLUTION

# %% nbgrader={"grade_id": "predict-packets", "grade": true, "points": 0.5, "locked": true}
predict(cluster, "packets", value=packets_guess, low=packets_low, high=packets_high)

# %% [markdown]
# ## 2 A postcard
#
# *Core, 11 minutes*
#
# Write a text of your own. Rank 0 on node00 sends it to rank 1 on node01, and a capture records every packet.

# %%
card = lab.postcard.send(cluster, "Greetings from node00")
card_file = lab.capture_run.capture(cluster, card)
print(f"{len(lab.read(card_file))} packets are in {card_file}")

# %% [markdown]
# All these packets contain only two MPI messages:

# %%
lab.messages(card_file)[["from_rank", "to_rank", "tag", "kind", "first_packet", "last_packet"]]

# %% [markdown]
# The next cell shows the first packet of each message. *Drag:* in which layer is your text? Which layers begin with the
# same bytes in both packets?

# %%
lab.packet_layers(cluster)

# %% [markdown]
# Use Wireshark or tshark to find your card in the file named above, and read it.
#
# **Question `postcard`** (1 point). How long is the packet with your card, and how long is your text? Use both lengths
# to answer: how long is the packet of a card with the number of letters that the next cell prints? How long, in
# letters, is the longest card that fits into one packet of at most 1514 bytes? (A text of up to 16 letters travels
# *within* MPICH's header, and does not make the packet longer.)

# %%
print(lab.by_lot.letters(), "letters")

# %% nbgrader={"grade_id": "postcard-answer", "solution": true}
longer_frame_bytes = None
longest_card_bytes = None
### BEGIN SOLUTION
sent = card.select(from_rank=0)[0].facts
beside_the_text = sent["frame_bytes"] - sent["bytes"]
longer_frame_bytes = beside_the_text + lab.by_lot.letters()
longest_card_bytes = 1514 - beside_the_text
### END SOLUTION

# %% nbgrader={"grade_id": "postcard", "grade": true, "points": 1, "locked": true}
lab.form(longer_frame_bytes, "number")
lab.form(longest_card_bytes, "number")

# %%
print(lab.outcome(cluster, "card", card.select(from_rank=0)[0].facts["frame_bytes"]))

# %% [markdown]
# ## 3 Four envelopes
#
# *Core, 8 minutes*
#
# **Question `headers`** (1 point). How long is each of the four headers in the packet with your card? (MPICH's is TCP's
# payload without your text.) A card with the number of letters that the next cell prints needs several packets of at
# most 1514 bytes. How many bytes of each kind of header do all of them together contain? Which kind occurs only once?

# %%
print(f"{lab.by_lot.long_letters():,} letters")

# %% nbgrader={"grade_id": "headers-answer", "solution": true}
ethernet_bytes = None  # in all packets together
ip_bytes = None
tcp_bytes = None
mpich_bytes = None
### BEGIN SOLUTION
ethernet, ip, tcp = (sent[f"{name}_header_bytes"] for name in ("ethernet", "ip", "tcp"))
mpich_bytes = sent["payload_bytes"] - sent["bytes"]
carried = mpich_bytes + lab.by_lot.long_letters()
needed = -(-carried // (1514 - ethernet - ip - tcp))  # rounded up
ethernet_bytes, ip_bytes, tcp_bytes = needed * ethernet, needed * ip, needed * tcp
### END SOLUTION

# %% nbgrader={"grade_id": "headers", "grade": true, "points": 1, "locked": true}
lab.form(ethernet_bytes, "number")
lab.form(ip_bytes, "number")
lab.form(tcp_bytes, "number")
lab.form(mpich_bytes, "number")

# %% [markdown]
# ## 4 Your plate on the wire
#
# *Core, 8 minutes*
#
# This cell names what your `heat.py` still lacks:

# %%
lab.heat.start(6)

# %% [markdown]
# **Question `plate-record`** (0.5 points). There is nothing to write: the Record earns the points.

# %%
plate = lab.heat.capture(cluster, columns=lab.by_lot.columns())
file = lab.capture_run.capture(cluster, plate)
ROW_BYTES = 8 * plate.sweep["columns"]
print(f"{len(lab.read(file))} packets are in {file}; a ghost row has {ROW_BYTES} bytes")

# %% nbgrader={"grade_id": "plate-record", "grade": true, "points": 0.5, "locked": true}
assert plate.study == "H6", "Run the cell above: it captures your heat program."
assert plate.complete, "The measurement was cut short; run the cell above again."

# %% [markdown]
# The next cell shows the beginning of the connection on which the first ghost row travels. SYN opens a connection, ACK
# acknowledges bytes, and FIN closes the connection. (PSH asks the receiver to pass the bytes to its program at once.)

# %%
table, sent = lab.read(file), lab.messages(file)
first_row = sent[sent["bytes"] == ROW_BYTES].iloc[0]
ports = {first_row["src_port"], first_row["dst_port"]}
talk = table[table["src_port"].isin(ports) & table["dst_port"].isin(ports)]
talk[["time_s", "src", "dst", "flags", "seq", "ack", "wire_bytes", "payload_bytes"]].head(16)

# %% [markdown]
# Which packets come before the first one with a payload, and who sends them? (The numbers on the left are Wireshark's.)
# The next plot shows how many bytes have travelled in each direction by each point in time:

# %%
lab.pictures.bytes_over_time(file, names=names)

# %% [markdown]
# ## 5 Your packet loop
#
# *Core, 20 minutes*
#
# **Question `packet-loop`** (8 points). Write `count(packets)`. It receives the packets of a capture from pyshark, goes
# through them once, and returns a dict with four counts of *all* TCP packets, including those of ssh:

# %%
for name, what in lab.own_loop.COUNTS.items():
    print(f"{name:<14} {what}")
print(f"{'ghost_rows':<14} MPI messages of {ROW_BYTES} bytes, each counted once")

# %% [markdown]
# To which counts does a packet belong? One packet may contain the ends of two messages. Return `found` at the end. The
# handout lists the fields that you need.


# %% nbgrader={"grade_id": "packet-loop-answer", "solution": true}
def count(packets):
    """How many packets of each kind there are, and how many ghost rows."""
    found = dict.fromkeys([*lab.own_loop.COUNTS, "ghost_rows"], 0)
    for packet in packets:
        if "tcp" not in packet:
            continue
        flags, payload = packet.tcp.flags.showname_value, int(packet.tcp.len)
        ### BEGIN SOLUTION
        opens_or_closes = any(name in flags for name in ("SYN", "FIN", "RST"))
        found["handshake"] += "SYN" in flags
        found["data"] += payload > 0
        found["bare_acks"] += payload == 0 and not opens_or_closes
        for layer in packet.get_multiple_layers("mpich"):
            found["ghost_rows"] += layer.get_field_value("bytes") == str(ROW_BYTES)
    return found
    ### END SOLUTION


# %% [markdown]
# Try it on your postcard, which has fewer packets and no ghost row. (`lab.dissector.options()` enables pyshark to read
# the protocol of MPICH.)

# %%
with pyshark.FileCapture(str(card_file), custom_parameters=lab.dissector.options()) as packets:
    print(count(packets))

# %% [markdown]
# Now measure it. This takes about ten seconds.

# %%
loop = lab.own_loop.measure(cluster, count, plate, row_bytes=ROW_BYTES)
print(*lab.own_loop.lines(loop.points), sep="\n")

# %% nbgrader={"grade_id": "packet-loop", "grade": true, "points": 8, "locked": true}
assert loop.variant == "loop", "Run the cell above: it calls your function."

# %% [markdown]
# The next cell shows what `beowulf packets` counts in the same file:

# %%
print(*lab.report.lines(lab.analyse(file)), sep="\n")

# %% [markdown]
# ## 6 What a row costs
#
# *Core, 8 minutes*
#
# The table shows the messages of your plate, and the packets that each took:

# %%
own = lab.costs(file)
own[["from_rank", "to_rank", "bytes", "kind", "packets", "ack_packets", "wire_bytes"]].head(12)

# %% [markdown]
# **Question `row-cost`** (2 points). How many packets do the ghost rows of all ranks together take in one step, on
# average over the 20 steps? How many bytes are on the wire for one row, on average? What percentage of these bytes are
# headers (MPICH's too) and bare ACKs?

# %%
# Your calculations go here.

# %% nbgrader={"grade_id": "row-cost-answer", "solution": true}
packets_a_step = None
wire_bytes_a_row = None
row_overhead_percent = None
### BEGIN SOLUTION
rows = own[own["bytes"] == ROW_BYTES]
packets_a_step = rows["packets"].sum() / plate.sweep["steps"]
wire_bytes_a_row = rows["wire_bytes"].mean()
row_overhead_percent = 100 * (1 - ROW_BYTES / wire_bytes_a_row)
### END SOLUTION

# %% nbgrader={"grade_id": "row-cost", "grade": true, "points": 2, "locked": true}
lab.form(packets_a_step, "number")
lab.form(wire_bytes_a_row, "number")
lab.form(row_overhead_percent, "number")

# %% [markdown]
# The next cell shows your prediction, and one of your rows as a ladder. How many data segments does one ACK
# acknowledge?

# %%
step = plate.select(capture="steps")[0].facts
print(lab.outcome(cluster, "packets", round(step["ghost_packets"] / step["steps"], 1)))
lab.ladder(file, int(sent.index.get_loc(first_row.name)), names=names)

# %% [markdown]
# ## 7 Two measures
#
# *Core, 12 minutes*
#
# Choose six or more sizes, from a few bytes to 200,000. Each size becomes one card, and all cards are sent in one run.

# %% nbgrader={"grade_id": "cost-plot-sizes", "solution": true}
card_sizes = None  # six sizes or more in bytes, such as (2, 200_000)
### BEGIN SOLUTION
card_sizes = [2, 64, 512, 1024, 1400, 4096, 8192, 32_768, 200_000]
### END SOLUTION

# %%
sizes = lab.postcard.send(cluster, "x", *(card_sizes or (2, 200_000)), name="sizes")
cards = lab.postcard.table(sizes)
columns = ["bytes", "segments", "packets", "ack_packets", "wire_bytes", "retransmitted_packets"]
cards[cards["from_rank"] == 0][columns]

# %% [markdown]
# **Question `cost-plot`** (3 points). Plot two lines, in per cent, against the size of a card. Use only the cards of
# rank 0, not rank 1's thanks. Line 1 is the share of `wire_bytes` that is not the card. Line 2 is the share of
# `packets` that carry data: all but the `ack_packets`. The sizes range from a few bytes to 200,000. Choose a suitable
# scale for the x axis.
#
# If a card's `retransmitted_packets` is not 0, run the cell above again.

# %% nbgrader={"grade_id": "cost-plot-answer", "solution": true}
cost_figure = None  # cost_figure, axes = plt.subplots()
### BEGIN SOLUTION
mine = cards[cards["from_rank"] == 0].sort_values("bytes")
other_bytes = 100 * (1 - mine["bytes"] / mine["wire_bytes"])
with_data = 100 * (1 - mine["ack_packets"] / mine["packets"])
cost_figure, axes = plt.subplots()
axes.semilogx(mine["bytes"], other_bytes, "o-", label="bytes that are not the card")
axes.semilogx(mine["bytes"], with_data, "s-", label="packets with data")
axes.set(xlabel="size of the card (bytes)", ylabel="share (%)")
axes.set_title("Two measures of the same packets")
axes.legend()
### END SOLUTION

# %% nbgrader={"grade_id": "cost-plot", "grade": true, "points": 3, "locked": true}
lab.own_plot.keep(
    cluster,
    cost_figure,
    "costs",
    lab.own_plot.Wants(x="size in bytes", y="share in %", log_x=True, lines=2, points=6),
)

# %% [markdown]
# In the text about its figure 27, paper A interprets a rising share of data as a rising overhead. Where do your two
# lines move in the same direction?

# %% [markdown]
# ## 8 Ask first
#
# *Core, 13 minutes*
#
# The next cell sends two cards, one below the **eager limit** from lab 05, and one with exactly that many bytes:

# %%
near = lab.postcard.send(cluster, "x", 100_000, 131_072, name="limit")
found = lab.postcard.table(near).query("from_rank == 0")
found[["tag", "bytes", "protocol", "segments", "control_packets"]]

# %%
longest = found.loc[found["bytes"].idxmax()]
lab.ladder(lab.capture_run.capture(cluster, near), tag=int(longest["tag"]), names=names)

# %% [markdown]
# Look at the first two arrows. Who asks, who answers, and how long is it until the data leave?
#
# **Question `eager-limit`** (1 point). Where exactly is the limit? Change the sizes above, and run that cell again,
# until two cards that differ by *one* byte travel in different ways. Of all cards that you sent, which is the largest
# that left at once, and which is the smallest for which rank 0 asked? (Half a point if they are less than 1000 bytes
# apart.)

# %% nbgrader={"grade_id": "eager-limit-answer", "solution": true}
largest_eager_bytes = None
smallest_rendezvous_bytes = None
### BEGIN SOLUTION
lab.postcard.send(cluster, "x", 131_040, 131_041, name="limit")
largest_eager_bytes = 131_040  # 32 bytes of MPICH's own count against the limit
smallest_rendezvous_bytes = 131_041
### END SOLUTION

# %% nbgrader={"grade_id": "eager-limit", "grade": true, "points": 1, "locked": true}
lab.form(largest_eager_bytes, "number")
lab.form(smallest_rendezvous_bytes, "number")

# %% [markdown]
# How many bytes below 131,072 is the limit, and whose bytes are these? The handout gives the answer.
#
# What does the program do in between? The next cell exchanges one message of 200,000 bytes between two ranks. Both work
# for a while after `MPI_Isend`.

# %%
shown = lab.one_message.traced(cluster)
lab.timelines.timeline(cluster, shown, "one message")

# %% [markdown]
# The measured message has tag 6, and is in the last exchange, at the right end.
#
# **Question `timeline`** (1 point). How many milliseconds after the beginning of `MPI_Isend` do the request and the
# first data of rank 0's message leave? In which call, such as `"MPI_Recv"`, is rank 0 when the data leave?

# %% nbgrader={"grade_id": "timeline-answer", "solution": true}
request_ms = None
data_ms = None
data_in = None
### BEGIN SOLUTION
moments = lab.one_message.moments(shown)
request_ms, data_ms = moments["request_at_ms"], moments["data_at_ms"]
data_in = moments["data_in"]
### END SOLUTION

# %% nbgrader={"grade_id": "timeline", "grade": true, "points": 1, "locked": true}
lab.form(request_ms, "number")
lab.form(data_ms, "number")
lab.form(data_in, "text")

# %% [markdown]
# ## 9 Explain
#
# *Core, 10 minutes*
#
# **Question `explain`** (4 points, read by a person). Write four to eight sentences of your own, with your own figures:
#
# 1. Paper A concludes that overlap lowers the TCP/IP overhead. What did it measure, and what would it have had to
#    measure? What would change in the bytes of one of your rows if its rank worked meanwhile?
# 2. In your plot of two measures, why does the share of packets with data change as it does when messages grow? Why
#    does that show nothing about the overhead? Use your ladder.

# %% [markdown] nbgrader={"grade_id": "explain", "grade": true, "points": 4, "solution": true}
# ### BEGIN SOLUTION
# **The conclusion (2 points).** The paper counted frames: the share that Ethereal calls data. That share moves by less
# than 0.6 percentage points, up or down. With the "short messages" added, the share once falls by 0.7 percentage
# points, and once rises by 0.4. Overhead is a matter of bytes: headers, acknowledgements and retransmissions against
# payload. Work during a message changes neither the message nor its headers. A row of 8000 bytes takes the same six
# segments and ACKs, and about 6 % of its bytes are overhead. What overlap can change is when the data leave, as the
# timeline shows. (The learner's Record of A11, if there is one, shows no difference either.) Give one point for frames
# against bytes, and one for what does not change, with one of the learner's figures.
#
# **The measure (2 points).** A short message travels in one packet, and its ACK piggybacks on the answer: nearly every
# packet has data, though most of its bytes are headers. A message of 8192 bytes has six segments, and a bare ACK for
# every second one. The share of data falls to three quarters or less, while headers are only a few per cent of the
# bytes. So the share of data falls, and the overhead also falls. Give one point for the ACKs, and one for noticing that
# a lower share of data goes with less overhead.
# ### END SOLUTION

# %% [markdown]
# ## 10 How long packets are
#
# *More, 10 minutes*
#
# **Question `length-plot`** (2 points). How long are the packets of your plate? Plot the number of packets (y) for each
# length that occurs (x, in bytes). Use a loop over pyshark's packets, or the table in section 4. Most lengths occur a
# few times, and about three occur hundreds of times. Choose a scale for the y axis that shows both.
#
# The check looks at units, scales, names and your numbers; the style is up to you.

# %% nbgrader={"grade_id": "length-plot-answer", "solution": true}
length_figure = None  # length_figure, axes = plt.subplots()
### BEGIN SOLUTION
counts = Counter(table["wire_bytes"].tolist())
length_figure, axes = plt.subplots()
axes.plot(list(counts), list(counts.values()), "o")
axes.set_yscale("log")
axes.set(xlabel="length of the packet (bytes)", ylabel="packets")
axes.set_title("How long the packets of my plate are")
### END SOLUTION

# %% nbgrader={"grade_id": "length-plot", "grade": true, "points": 2, "locked": true}
lab.own_plot.keep(
    cluster,
    length_figure,
    "lengths",
    lab.own_plot.Wants(x="length in bytes", y="packets", log_y=True, points=4),
)

# %% [markdown]
# How long are a bare ACK, a full segment, and the last segment of a row? Which packets have lengths between these?

# %% [markdown]
# ## 11 Overlap on the wire
#
# *More, 12 minutes*
#
# **Question `predict-overhead`** (0.5 points). *TCP overhead* is the share of all bytes on the wire that are not a
# program's data: headers, ACKs and retransmissions. Two programs send the same messages of 8192 bytes. In one of them
# each rank also works during each message. By how many percentage points does its overhead differ from the other's? A
# decrease is negative: from 7 % to 5 % is -2.

# %% nbgrader={"grade_id": "predict-overhead-answer", "solution": true}
overhead_guess = None
overhead_low = None
overhead_high = None
### BEGIN SOLUTION
overhead_guess, overhead_low, overhead_high = 0, -0.5, 0.5
### END SOLUTION

# %% nbgrader={"grade_id": "predict-overhead", "grade": true, "points": 0.5, "locked": true}
predict(cluster, "overhead", value=overhead_guess, low=overhead_low, high=overhead_high)

# %% [markdown]
# Study A11 sends messages among four ranks, with work on 0 or 8192 bytes during each message. (Without `quick` it
# measures all four overlaps of the paper.)
#
# **Question `a11-record`** (0.5 points). There is nothing to write: the Record earns the points.

# %%
a11 = study("A11", cluster, quick=True)
picture(a11)

# %% nbgrader={"grade_id": "a11-record", "grade": true, "points": 0.5, "locked": true}
assert a11.study == "A11", "Run the cell above: it captures the long messages."
assert a11.complete, "The measurement was cut short; run the cell above again."

# %% [markdown]
# Black diamonds show what the paper calls data, and white ones include its "short messages".

# %%
long = lab.wire_picture.table(a11)
long = long[long["protocol"] == "nonblocking"]
long[
    ["message_bytes", "overlap_bytes", "data_percent", "tcp_overhead_percent", "talking_mbit_per_s"]
]

# %% [markdown]
# **Question `overlap-gain`** (2 points). Take the non-blocking messages of 8192 bytes in your Record, with and without
# an overlap of 8192 bytes. With overlap, how many bytes are on the wire for 100 bytes of payload? By what factor does
# overlap change the rate? For the same number of bytes on the wire, how many times as much payload is there with
# overlap as without? Two decimals are enough.

# %% nbgrader={"grade_id": "overlap-gain-answer", "solution": true}
wire_bytes_for_100 = None
rate_times = None
payload_times = None
### BEGIN SOLUTION
by_overlap = long[long["message_bytes"] == 8192].set_index("overlap_bytes")
payload = 1 - by_overlap["tcp_overhead_percent"] / 100
wire_bytes_for_100 = 100 / payload[8192]
rate_times = by_overlap["talking_mbit_per_s"][8192] / by_overlap["talking_mbit_per_s"][0]
payload_times = payload[8192] / payload[0]
### END SOLUTION

# %% nbgrader={"grade_id": "overlap-gain", "grade": true, "points": 2, "locked": true}
lab.form(wire_bytes_for_100, "number")
lab.form(rate_times, "number")
lab.form(payload_times, "number")

# %% [markdown]
# The next cells compare your prediction and the paper's claims with your Record:

# %%
compared = long[long["message_bytes"] == 8192].set_index("overlap_bytes")["tcp_overhead_percent"]
print(lab.outcome(cluster, "overhead", round(float(compared[8192] - compared[0]), 2)))

# %%
claims(a11)

# %% [markdown]
# ## 12 A message for a mobile phone
#
# *More, 9 minutes*
#
# Study A10 sends messages of 2 bytes among four ranks, with work on 0 or 2 bytes during each message, and with blocking
# and non-blocking calls.
#
# **Question `a10-record`** (0.5 points). There is nothing to write: the Record earns the points.

# %%
a10 = study("A10", cluster, quick=True)
picture(a10)

# %% nbgrader={"grade_id": "a10-record", "grade": true, "points": 0.5, "locked": true}
assert a10.study == "A10", "Run the cell above: it captures four conversations."
assert a10.variant == "", "This is the Record of your postcards; run the cell above again."
assert a10.complete, "The measurement was cut short; run the cell above again."

# %% [markdown]
# Near which of the two diamonds do your bars of data and short messages end? (In the picture of A11 it is the other
# one.) Does work on 2 bytes, which takes a few nanoseconds, change anything?
#
# **Question `smpp`** (1 point). Ethereal called 24.21 % of the paper's packets *short message peer-to-peer* (SMPP), and
# 73.41 % data. What were the SMPP packets really: `"sms"`, `"mpich"`, `"ssh"` or `"ack"`? If you count them as data,
# what percentage of the packets is data?

# %% nbgrader={"grade_id": "smpp-answer", "solution": true}
short_messages_are = None
all_data_percent = None
### BEGIN SOLUTION
short_messages_are = "mpich"
all_data_percent = 73.41 + 24.21
### END SOLUTION

# %% nbgrader={"grade_id": "smpp", "grade": true, "points": 1, "locked": true}
lab.form(short_messages_are, "choice:sms,mpich,ssh,ack")
lab.form(all_data_percent, "number")

# %%
claims(a10)

# %% [markdown]
# ## 13 Side by side
#
# *More, 6 minutes*
#
# Study A12 sends messages of 2, 1024 and 8192 bytes, without overlap.
#
# **Question `a12-record`** (0.5 points). There is nothing to write: the Record earns the points.

# %%
a12 = study("A12", cluster, quick=True)
picture(a12)

# %% nbgrader={"grade_id": "a12-record", "grade": true, "points": 0.5, "locked": true}
assert a12.study == "A12", "Run the cell above: it captures three sizes."
assert a12.variant == "", "This is the Record of your own counts; run the cell above again."
assert a12.complete, "The measurement was cut short; run the cell above again."

# %% [markdown]
# With blocking calls, does the share of data rise or fall as the message grows from 2 to 8192 bytes? Does that match
# your own plot, or the paper's figure 23?

# %%
claims(a12)

# %% [markdown]
# ## 14 What the paper left open
#
# *More, 14 minutes*
#
# Study A13 measures other buffer sizes, and compares collective calls with a loop of single messages.
#
# **Question `a13-record`** (0.5 points). There is nothing to write: the Record earns the points.

# %%
a13 = study("A13", cluster, quick=True)
picture(a13)

# %% nbgrader={"grade_id": "a13-record", "grade": true, "points": 0.5, "locked": true}
assert a13.study == "A13", "Run the cell above: it measures buffers and collectives."
assert a13.complete, "The measurement was cut short; run the cell above again."

# %% [markdown]
# **Question `collectives`** (0.5 points). With 1 KB (1024 bytes), four ranks and MPI's own call, how many messages does
# one broadcast take, and how many bytes do all messages of one *scatter* contain together? Compare the second number
# with that of the loop. Which rank's block travels twice, and which ranks send it? `operations` has a row for each
# operation, way and size. Its columns are:

# %%
operations = lab.collectives.table(a13)
list(operations.columns)

# %%
# Explore the table here.

# %% nbgrader={"grade_id": "collectives-answer", "solution": true}
broadcast_messages = None
scatter_call_bytes = None
### BEGIN SOLUTION
broadcast_messages = 3
scatter_call_bytes = 4096
### END SOLUTION

# %% nbgrader={"grade_id": "collectives", "grade": true, "points": 0.5, "locked": true}
lab.form(broadcast_messages, "number")
lab.form(scatter_call_bytes, "number")

# %%
claims(a13)

# %% [markdown]
# ## 15 Compare with paper A
#
# *More, 11 minutes*
#
# **Question `swapped`** (0.5 points). Paper A says that with blocking calls the bytes per second of 2-byte messages
# *drop* from 145,017.58 without overlap to 255,664.28 with it. The packets per second are 2,309.16 without overlap and
# 1,309.29 with it. Packets of non-blocking calls have 110 to 111 bytes on average. Divide bytes by packets: which pairs
# yield that many bytes per packet? Answer with the bytes per packet and the corrected bytes per second, both *without*
# overlap.

# %% nbgrader={"grade_id": "swapped-answer", "solution": true}
bytes_a_packet = None
no_overlap_bytes_per_s = None
### BEGIN SOLUTION
bytes_a_packet = 255664.28 / 2309.16
no_overlap_bytes_per_s = 255664.28
### END SOLUTION

# %% nbgrader={"grade_id": "swapped", "grade": true, "points": 0.5, "locked": true}
lab.form(bytes_a_packet, "number")
lab.form(no_overlap_bytes_per_s, "number")

# %% [markdown]
# ## 16 The questions
#
# `check` reads this notebook and your Records, and lists what is still empty or does not fit. It measures nothing. Save
# the notebook first.

# %%
check("06")

# %% [markdown]
# Hand in this folder: the notebook and `records/`. You need not run everything again: an answer counts if it fits one
# of your Records.
