"""Three counts of what is on the wire. They are yours to write: replace each `...`.

    python tally.py conversation.pcapng

`packets` is a pandas table with one row a packet. You need these columns:

    ip_protocol          6 for TCP
    wire_bytes           the whole packet, all headers included
    payload_bytes        what TCP carries in it; 0 if it only acknowledges, opens or closes
    flags                of TCP, as Wireshark names them: "SYN, ACK"
    src_port, dst_port   which end of which connection sent it, and which got it

`messages` is another table, with one row an MPI message: `bytes`, `tag`, `src_port`, `dst_port`.

    packets[packets["payload_bytes"] > 1000]               the rows for which something is true
    packets[~packets["flags"].str.contains("SYN|FIN")]     the rows in which neither of these flags is set
    packets[packets["dst_port"].isin(messages["dst_port"])]   the rows with a value from a list
    len(packets), packets["wire_bytes"].sum()              how many rows; a column added up
"""


def ack_share(packets):
    """Of all TCP packets, the share that only acknowledges: no payload, and no FIN, SYN or RST."""
    return ...


def overhead(packets):
    """Of all bytes of TCP packets, the share that is not payload."""
    return ...


def bytes_a_message(packets, messages):
    """The bytes of all packets on the connections between the ranks, divided by all MPI messages."""
    return ...


if __name__ == "__main__":
    import sys

    from beowulf.exercises.lab_06 import count_packets

    count_packets.main(sys.argv, globals())
