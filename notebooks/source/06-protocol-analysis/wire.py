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
# You send a postcard from one node to another, read it on its way, and look at its parts: headers,
# handshakes, acknowledgements. Then you count whole conversations, as paper A did, and find out what its
# figures say. The handout (`labs/06-protocol-analysis/README.md`) explains each word and shows the
# same packets in Wireshark and in the terminal; read its sections 1 to 3 first.
#
# - **Time** about 150 minutes together with the handout · **Points** 34
# - **You need** a running cluster (`beowulf lab 06` booted one)
# - **How it works** Cells that *measure* save a **Record** in the folder `records/` beside this
#   notebook, and the captured packets beside it. `quick=True` takes fewer samples. Where you see
#   `None`, your answer goes. *Run All* stops at the first empty answer; to measure during a break,
#   run the cells with `study(` one by one.
# - **One thing at a time** The switch sees all packets: do not use `beowulf run`, `capture` or `study`
#   in a terminal while a cell measures, or it counts those packets as well.

# %%
from beowulf import claims, connect, picture, study
from beowulf.exercises.lab_06 import capture_run, count_packets, postcard
from beowulf.notebook import form
from beowulf.packets import layers
from beowulf.packets import pictures as drawn
from beowulf.packets.analysis import analyse
from beowulf.packets.ladder import ladder
from beowulf.packets.mpi_messages import messages
from beowulf.packets.table import read
from beowulf.studies.lab_06 import collectives, wire_picture

cluster = connect("records")
cluster.heal()  # does nothing to a cluster that is whole
names = {cluster.address(node): node for node in cluster.nodes}
print(cluster.kind, *cluster.nodes)

# %% [markdown]
# ## 1 Predict
#
# Nobody grades a prediction; it is there so that you notice a surprise.

# %%
predicted_packets = None  # how many packets does it take to send one postcard, all in all?
predicted_bytes = None  # how long is the packet with a message of 2 bytes?
predicted_overhead = (
    None  # "less", "more" or "same": with work beside each message, overhead is ...
)

# %% [markdown]
# ## 2 Send a postcard
#
# Write a text of your own. Rank 0 on node00 sends it to rank 1 on node01, who thanks for it with an
# empty message. A capture at the switch takes every packet whole while the program starts, runs and
# ends. (`payload_bytes` of a packet are what is left without the headers of Ethernet, IP and TCP.)

# %%
card = postcard.send(cluster, "Greetings from node00")
card_file = capture_run.capture(cluster, card)
table = read(card_file)
table[["time_s", "src", "dst", "src_port", "dst_port", "wire_bytes", "payload_bytes"]]

# %% [markdown]
# *What to look at:* that many packets, for one postcard? Port 22 is ssh, which starts the program.
# Here are the two messages among them:

# %%
messages(card_file)[["from_rank", "to_rank", "tag", "bytes", "kind", "first_packet", "last_packet"]]

# %% [markdown]
# ## 3 Four envelopes
#
# This is the packet with your text, layer by layer, as Wireshark shows it:

# %%
number = int(messages(card_file)["first_packet"].iloc[0])
packet = layers.packet(card_file, number)
print(packet)

# %% [markdown]
# **Question `postcard`** (2 points). How many bytes has your message, as `MPI_Send` was given it, and
# how many bytes has the packet in which it travels?

# %% nbgrader={"grade_id": "postcard-answer", "solution": true}
card_message_bytes = None
card_frame_bytes = None
### BEGIN SOLUTION
sent = card.select(from_rank=0)[0].facts
card_message_bytes = sent["bytes"]
card_frame_bytes = sent["frame_bytes"]  # "Frame length" of the packet above
### END SOLUTION

# %% nbgrader={"grade_id": "postcard", "grade": true, "points": 2, "locked": true}
form(card_message_bytes, "number")
form(card_frame_bytes, "number")

# %% [markdown]
# **Question `headers`** (2 points). How long is each of the four headers of this packet, in bytes?
# (That of TCP has options; that of MPICH is what is left of TCP's payload without your text. A text
# of up to 16 bytes lies *within* MPICH's header; then TCP's payload is the header.)

# %% nbgrader={"grade_id": "headers-answer", "solution": true}
ethernet_bytes = None
ip_bytes = None
tcp_bytes = None
mpich_bytes = None
### BEGIN SOLUTION
ethernet_bytes = 14
ip_bytes = 20
tcp_bytes = 32
mpich_bytes = 80
### END SOLUTION

# %% nbgrader={"grade_id": "headers", "grade": true, "points": 2, "locked": true}
form(ethernet_bytes, "number")
form(ip_bytes, "number")
form(tcp_bytes, "number")
form(mpich_bytes, "number")

# %% [markdown]
# ## 4 Before the first word
#
# The connection that carried your postcard, from its first packet to its last. `flags` reads as in
# Wireshark: SYN opens a connection, SYN, ACK answers, ACK alone acknowledges, FIN, ACK closes.

# %%
its_packet = table.loc[number]
ports = {its_packet["src_port"], its_packet["dst_port"]}
talk = table[table["src_port"].isin(ports) & table["dst_port"].isin(ports)]
talk[["time_s", "src", "dst", "flags", "seq", "ack", "wire_bytes", "payload_bytes"]]

# %% [markdown]
# **Question `connection`** (1 point). How many packets of this connection, in both directions, came
# *before* the one with your text? Count the rows: the numbers on the left are Wireshark's, which count
# all packets of the capture, those of other connections as well.

# %% nbgrader={"grade_id": "connection-answer", "solution": true}
packets_before_card = None
### BEGIN SOLUTION
packets_before_card = int((talk.index < number).sum())
### END SOLUTION

# %% nbgrader={"grade_id": "connection", "grade": true, "points": 1, "locked": true}
form(packets_before_card, "number")

# %% [markdown]
# ## 5 Longer cards
#
# Four cards in one run: 2, 1024, 8192 and 200,000 bytes, with the tags 1 to 4.

# %%
cards = postcard.send(cluster, "Greetings from node00 ", 2, 1024, 8192, 200_000, name="sizes")
cards_file = capture_run.capture(cluster, cards)
sizes = postcard.table(cards)
sizes[sizes["from_rank"] == 0][
    ["tag", "bytes", "kind", "segments", "ack_packets", "packets", "wire_bytes", "control_packets"]
]

# %% [markdown]
# `segments` are the packets that rank 0 sent for the card, `ack_packets` those with which node01
# acknowledged them; `control_packets` belong to MPICH. This is the card of 8192 bytes as a ladder:

# %%
ladder(cards_file, tag=3, names=names)

# %% [markdown]
# **Question `segments`** (2 points). Into how many segments did TCP cut the card of 1024 bytes, and
# the one of 8192 bytes? Before you look: a segment carries at most 1448 bytes.

# %% nbgrader={"grade_id": "segments-answer", "solution": true}
segments_1024 = None
segments_8192 = None
### BEGIN SOLUTION
of_card = sizes[sizes["from_rank"] == 0].set_index("bytes")
segments_1024 = int(of_card["segments"][1024])
segments_8192 = int(of_card["segments"][8192])
### END SOLUTION

# %% nbgrader={"grade_id": "segments", "grade": true, "points": 2, "locked": true}
form(segments_1024, "number")
form(segments_8192, "number")

# %% [markdown]
# ## 6 Ask first
#
# The card of 200,000 bytes is above the eager limit: a **rendezvous**, now seen on the wire.

# %%
ladder(cards_file, tag=4, names=names)

# %% [markdown]
# *What to look at:* the first two arrows. Who asks, who answers, and how long does it take until the
# data leave? How many data segments come for one ACK?
#
# **Question `rendezvous`** (2 points). How many control packets of MPICH precede the data, and how
# many segments did rank 0 send for this card, its request among them?

# %% nbgrader={"grade_id": "rendezvous-answer", "solution": true}
asking_packets = None
segments_200000 = None
### BEGIN SOLUTION
asking_packets = int(of_card["control_packets"][200_000])
segments_200000 = int(of_card["segments"][200_000])
### END SOLUTION

# %% nbgrader={"grade_id": "rendezvous", "grade": true, "points": 2, "locked": true}
form(asking_packets, "number")
form(segments_200000, "number")

# %% [markdown]
# Where exactly is the limit? Lab 05 gave 131,072 bytes. Send cards on both sides and read `protocol`
# off the wire; then put the sizes nearer to each other and run the cell again, until two cards that
# differ by *one* byte travel in different ways.

# %%
near = postcard.send(cluster, "x", 100_000, 131_072, name="limit")
found = postcard.table(near)
found[found["from_rank"] == 0][["bytes", "protocol", "segments", "control_packets"]]

# %% [markdown]
# **Question `eager-limit`** (2 points). Of all cards that you sent: the largest that left at once,
# and the smallest for which rank 0 asked. (1 point if they are less than 1000 bytes apart.)

# %% nbgrader={"grade_id": "eager-limit-answer", "solution": true}
largest_eager_bytes = None
smallest_rendezvous_bytes = None
### BEGIN SOLUTION
postcard.send(cluster, "x", 131_040, 131_041, name="limit")
largest_eager_bytes = 131_040  # 32 bytes of MPICH's own count against the limit
smallest_rendezvous_bytes = 131_041
### END SOLUTION

# %% nbgrader={"grade_id": "eager-limit", "grade": true, "points": 2, "locked": true}
form(largest_eager_bytes, "number")
form(smallest_rendezvous_bytes, "number")

# %% [markdown]
# Your card and 32 bytes of MPICH's own count against the limit: as many as the fields of an eager
# header take. On the wire the header has 80, as for every kind of packet; this kind does not use the
# other 48.

# %% [markdown]
# ## 7 What is overhead?
#
# Paper A speaks of *TCP/IP overhead* and never says what it is. So we say it first, and show the
# paper's own measure beside it.
#
# - **TCP overhead** (these labs): of all *bytes* in TCP's packets, the share that is not payload
#   seen for the first time: headers of Ethernet, IP and TCP, packets that only acknowledge, open or
#   close, and what was retransmitted.
# - **Data share** (paper A): of all TCP *packets*, the share that carries data, as Ethereal counted
#   it. The paper takes its changes for changes of the overhead.

# %%
whole = analyse(cards_file)
print("TCP overhead        ", f"{whole['overhead']['tcp']:.2%} of the bytes")
print("paper A's data share", f"{whole['overhead']['paper_a_data_share']:.2%} of the packets")
drawn.shares(whole)

# %% [markdown]
# The same packets in time: first how much crossed the wire in each slice of 5 ms, then how much
# payload each direction has sent so far. A cross marks what TCP retransmitted, if there was any.

# %%
drawn.rates_over_time(cards_file, slice_s=0.005)

# %%
drawn.bytes_over_time(cards_file, names=names)

# %% [markdown]
# *What to look at:* most of the time next to nothing is on the wire, though a program starts, runs and
# ends. While your longest card travels, the cable is nearly full. Where is this card in the second
# picture? Port 22 is ssh: why do its lines lie on the ground? A cross costs its bytes twice, and is part
# of the overhead.

# %% [markdown]
# And this is the wire when nothing runs, which paper A holds its captures against. Soon after another
# run you may see some packets of ssh: its connections stay open for half a minute, and ask every two
# seconds whether the other end is still there.

# %%
idle = study("A5", cluster, quick=True)
picture(idle)

# %% [markdown]
# ## 8 Overlap on the wire
#
# Study A10 repeats section V.A of paper A: messages of 2 bytes among four ranks, with work on no or
# on 2 bytes beside each, and with blocking and non-blocking calls. Each conversation is captured from
# the start of the program to its end, launch by ssh included, as in the paper.
#
# **Question `a10-record`** (1 point). Nothing to write: the point is for the Record.

# %%
a10 = study("A10", cluster, quick=True)
picture(a10)

# %% [markdown]
# *What to look at:* black diamonds are what the paper calls data; white ones have its "short
# messages" added. Which of the two is nearer to where your bars of data and short messages end? (Ask
# again at the picture of A11: the answer is another one there; section 13 of the handout says what
# follows.) And does work on 2 bytes, a few nanoseconds, change anything?

# %% nbgrader={"grade_id": "a10-record", "grade": true, "points": 1, "locked": true}
assert a10.study == "A10", "Run the cell above: it captures four conversations."
assert a10.variant == "", "This is the Record of your postcards; run the cell above again."
assert a10.complete, "The measurement was cut short; run the cell above again."

# %% [markdown]
# Does your Record agree with what the paper says? A claim is `inconclusive` when the launches differ
# among themselves by more than what is claimed, as they do on a busy machine. Then the Record decides
# nothing, neither for nor against the paper: say so, or measure more without `quick`.

# %%
claims(a10)

# %% [markdown]
# **Question `smpp`** (2 points). Ethereal called 24.21 % of the paper's packets *peer-to-peer short
# messages* (SMPP, the protocol between the centres that pass on SMS), and 73.41 % data. What were the
# former in truth: `"sms"`, `"mpich"`, `"ssh"` or `"ack"`? And how many per cent of the packets are
# data if they are counted among them? (You may write the sum itself.)

# %% nbgrader={"grade_id": "smpp-answer", "solution": true}
short_messages_are = None
all_data_percent = None
### BEGIN SOLUTION
short_messages_are = "mpich"
all_data_percent = 73.41 + 24.21
### END SOLUTION

# %% nbgrader={"grade_id": "smpp", "grade": true, "points": 2, "locked": true}
form(short_messages_are, "choice:sms,mpich,ssh,ack")
form(all_data_percent, "number")

# %% [markdown]
# Study A11 repeats section V.B: messages of 1024 and 8192 bytes, with work on 0 or 8192 bytes (all
# four overlaps without `quick`).
#
# **Question `a11-record`** (1 point). Nothing to write: the point is for the Record.

# %%
a11 = study("A11", cluster, quick=True)
picture(a11)

# %% nbgrader={"grade_id": "a11-record", "grade": true, "points": 1, "locked": true}
assert a11.study == "A11", "Run the cell above: it captures the long messages."
assert a11.complete, "The measurement was cut short; run the cell above again."

# %% [markdown]
# *What to look at:* more than 100 Mbit/s, on cables of 100 Mbit/s? The capture is taken at the switch,
# which sees four cables, each in both directions; and the limit of our cables lets short bursts pass.

# %%
long = wire_picture.table(a11)
long = long[(long["message_bytes"] == 8192) & (long["protocol"] == "nonblocking")]
long[["overlap_bytes", "data_percent", "tcp_overhead_percent", "mbit_per_s", "talking_mbit_per_s"]]

# %% [markdown]
# **Question `overlap-gain`** (2 points). Non-blocking messages of 8192 bytes: how large is
# `tcp_overhead_percent` without overlap and with an overlap of 8192 bytes, and do the two differ by
# more than 0.1 points, `"yes"` or `"no"`? (The yes or no counts only with the two figures.) And how
# large is `talking_mbit_per_s`, the rate while messages travel, without and with? Two digits behind
# the point are enough.

# %% nbgrader={"grade_id": "overlap-gain-answer", "solution": true}
overhead_without_percent = None
overhead_with_percent = None
overhead_changes = None
rate_without_mbit_per_s = None
rate_with_mbit_per_s = None
### BEGIN SOLUTION
by_overlap = long.set_index("overlap_bytes")  # every cluster has its own
overhead, rates = by_overlap["tcp_overhead_percent"], by_overlap["talking_mbit_per_s"]
overhead_without_percent = overhead[0]
overhead_with_percent = overhead[8192]
overhead_changes = "yes" if abs(overhead[8192] - overhead[0]) > 0.1 else "no"
rate_without_mbit_per_s = rates[0]
rate_with_mbit_per_s = rates[8192]
### END SOLUTION

# %% nbgrader={"grade_id": "overlap-gain", "grade": true, "points": 2, "locked": true}
form(overhead_without_percent, "number")
form(overhead_with_percent, "number")
form(overhead_changes, "choice:yes,no")
form(rate_without_mbit_per_s, "number")
form(rate_with_mbit_per_s, "number")

# %%
claims(a11)

# %% [markdown]
# ## 9 Side by side
#
# Study A12 is the paper's figures 23 to 28: 2, 1024 and 8192 bytes beside each other, no overlap.
#
# **Question `a12-record`** (1 point). Nothing to write: the point is for the Record.

# %%
a12 = study("A12", cluster, quick=True)
picture(a12)

# %% nbgrader={"grade_id": "a12-record", "grade": true, "points": 1, "locked": true}
assert a12.study == "A12", "Run the cell above: it captures three sizes."
assert a12.variant == "", "This is the Record of your own counts; run the cell above again."
assert a12.complete, "The measurement was cut short; run the cell above again."

# %%
wire_picture.table(a12, "figures 23-24")[
    ["message_bytes", "protocol", "data_percent", "paper_data_percent", "tcp_overhead_percent"]
]

# %% [markdown]
# **Question `two-measures`** (2 points). With blocking calls, as the message grows from 2 to 8192
# bytes, what does each measure do in your Record? `"rises"` or `"falls"`.

# %% nbgrader={"grade_id": "two-measures-answer", "solution": true}
data_share_moves = None  # paper A's measure, data_percent
overhead_moves = None  # by our definition, tcp_overhead_percent
### BEGIN SOLUTION
data_share_moves = "falls"
overhead_moves = "falls"
### END SOLUTION

# %% nbgrader={"grade_id": "two-measures", "grade": true, "points": 2, "locked": true}
form(data_share_moves, "choice:rises,falls")
form(overhead_moves, "choice:rises,falls")

# %%
claims(a12)

# %% [markdown]
# ## 10 What the paper left open
#
# Study A13 does the paper's future work: other sizes of buffers, and collective calls against the
# same pattern written as a loop of single messages.
#
# **Question `a13-record`** (1 point). Nothing to write: the point is for the Record.

# %%
a13 = study("A13", cluster, quick=True)
picture(a13)

# %% nbgrader={"grade_id": "a13-record", "grade": true, "points": 1, "locked": true}
assert a13.study == "A13", "Run the cell above: it measures buffers and collectives."
assert a13.complete, "The measurement was cut short; run the cell above again."

# %%
each = collectives.table(a13)
each[each["size_bytes"] == 1024][["operation", "way", "messages", "message_bytes", "wire_bytes"]]

# %% [markdown]
# **Question `collectives`** (2 points). At 1 KB and four ranks, by MPI's own call: how many messages
# does one broadcast take, and how many bytes are in all messages of one *scatter*? Compare the second
# with the loop's: who carries whose block twice?

# %% nbgrader={"grade_id": "collectives-answer", "solution": true}
broadcast_messages = None
scatter_call_bytes = None
### BEGIN SOLUTION
broadcast_messages = 3
scatter_call_bytes = 4096
### END SOLUTION

# %% nbgrader={"grade_id": "collectives", "grade": true, "points": 2, "locked": true}
form(broadcast_messages, "number")
form(scatter_call_bytes, "number")

# %%
claims(a13)

# %% [markdown]
# ## 11 Count it yourself
#
# Write the three functions in `tally.py`, which lies beside this notebook (section 12 of the handout
# says how). Try them in a terminal, `python tally.py conversation.pcapng`, until you are content.
# This cell captures a conversation that is new, with messages of another size and another number of
# them each time, and counts it by your functions:

# %%
counted = count_packets.measure(cluster, "tally.py")
print("conversation.c", *counted.program["arguments"])
print("\n".join(count_packets.lines(counted.points)))

# %% [markdown]
# **Question `tally`** (3 points). One for each count that is right.

# %% nbgrader={"grade_id": "tally", "grade": true, "points": 3, "locked": true}
assert counted.variant == "tally", "Run the cell above: it counts by your functions."

# %% [markdown]
# ## 12 With a pencil through the paper
#
# **Question `swapped`** (2 points). Paper A says that the bytes per second of 2-byte messages *drop*
# from 145,017.58 without overlap to 255,664.28 with it. Packets per second are 2,309.16 without and
# 1,309.29 with overlap, and in section V.A a packet has 110 to 111 bytes on average. Divide: which
# pairs give that many bytes a packet? Give the bytes a packet *without* overlap that fit, and the
# rate of bytes per second that belongs to *no* overlap.

# %% nbgrader={"grade_id": "swapped-answer", "solution": true}
bytes_a_packet = None
no_overlap_bytes_per_s = None
### BEGIN SOLUTION
bytes_a_packet = 255664.28 / 2309.16
no_overlap_bytes_per_s = 255664.28
### END SOLUTION

# %% nbgrader={"grade_id": "swapped", "grade": true, "points": 2, "locked": true}
form(bytes_a_packet, "number")
form(no_overlap_bytes_per_s, "number")

# %% [markdown]
# **Question `turned-round`** (1 point). Figure 23 gives 64.70 % to messages of 2 bytes and 73.43 % to
# those of 8192. Sections V.A and V.B say otherwise. To which of the two sizes, in bytes, does 64.70 %
# belong by those sections, and by your own A12?

# %% nbgrader={"grade_id": "turned-round-answer", "solution": true}
bytes_of_64_70_percent = None
### BEGIN SOLUTION
bytes_of_64_70_percent = 8192
### END SOLUTION

# %% nbgrader={"grade_id": "turned-round", "grade": true, "points": 1, "locked": true}
form(bytes_of_64_70_percent, "number")

# %% [markdown]
# **Question `unit`** (1 point). Section V.B speaks of 1,388,106.63 *packets* per second. The shortest
# frame takes 84 bytes of a cable's time, with preamble, checksum and gap. How many of them can a cable
# of 100 Mbit/s carry in a second?

# %% nbgrader={"grade_id": "unit-answer", "solution": true}
most_packets_per_s = None
### BEGIN SOLUTION
most_packets_per_s = 100_000_000 / (84 * 8)
### END SOLUTION

# %% nbgrader={"grade_id": "unit", "grade": true, "points": 1, "locked": true}
form(most_packets_per_s, "number")

# %% [markdown]
# ## 13 Explain
#
# **Question `explain`** (4 points, read by a person). In five to ten sentences of your own:
#
# 1. Paper A concludes that overlap lowers the TCP/IP overhead. What did it measure, what would it
#    have had to measure, and what do your Records say?
# 2. In your A12, why does paper A's measure move as it does when messages grow, and why does that
#    say nothing about the overhead? Use the ladder of section 5.

# %% [markdown] nbgrader={"grade_id": "explain", "grade": true, "points": 4, "solution": true}
# ### BEGIN SOLUTION
# **The conclusion (2 points).** The paper counted frames: the share that Ethereal calls data. It
# moves by less than 0.6 points, once down and once up; with the "short messages" added by 0.7 down
# and 0.4 up. Overhead is a matter of bytes: headers, acknowledgements and repetitions against
# payload. Work beside a message changes neither the message nor its headers, so the overhead stays
# as it is, and the Record says so. What overlap can change is the time; rates over a whole capture
# also hold its quiet begin and end. One point for frames against bytes, one for what the own Record
# shows.
#
# **The measure (2 points).** A short message travels in one packet, and its ACK piggybacks on the answer:
# nearly every packet is data, though most of its bytes are headers. A message of 8192 bytes has six
# segments, and an ACK of its own for every second one: the share of data falls to three quarters
# or less, while headers are only a few per cent of the bytes. So the share of data falls, and the
# overhead falls, too. One point for the ACKs, one for the opposite meaning.
# ### END SOLUTION

# %% [markdown]
# ## 14 Hand in
#
# Save the notebook. What you hand in is this folder: the notebook, `records/` and `tally.py`. You need
# not run everything again: an answer counts when it fits one of your Records.
