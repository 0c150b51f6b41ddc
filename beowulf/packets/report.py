"""What `analyse` found, in lines for a person who never saw a packet: each line says what its figure is."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

Analysis = dict[str, Any]

# What each of analysis.SHARES is, in the order in which they are shown.
_PACKETS = {
    "data_segments": "carry data over TCP: of MPI, or of mpiexec and its helpers on the nodes",
    "remote_shell": "belong to ssh, which starts the program on the nodes: paper A's 'remote shell'",
    "ack_only": "are TCP's acknowledgements (ACK) of what arrived, and carry nothing else",
    "connection": "open or close a TCP connection (SYN, FIN, RST)",
    "other": "are not TCP, such as ARP, which asks for a node's hardware address",
}
_MESSAGES = {
    "eager": "sent without asking",
    "short eager": "sent within the header, which has room for 16 bytes",
    "rendezvous": "so long that the sender asked first",
    "ready": "sent by MPI_Rsend",
    "synchronous eager": "sent by MPI_Ssend, which waits for an answer",
}
_CONTROL = {
    "request to send": "asks whether a long message may come",
    "clear to send": "says that it may",
    "rendezvous data": "comes before the long message",
    "synchronous acknowledgement": "answers MPI_Ssend",
    "close": "says that no more will come, or that this was understood",
}


def lines(analysis: Analysis) -> Iterator[str]:
    """The lines of `beowulf packets`."""
    seconds = f"{analysis['elapsed_s']:.6f} s"
    if analysis["elapsed_s"] == analysis["first_to_last_s"]:
        seconds += " from the first packet to the last"
    yield f"{analysis['packets']:,} packets, {analysis['bytes']:,} bytes in {seconds}"
    yield (
        f"  on average {analysis['packets_per_s']:,.2f} packets/s, {analysis['bytes_per_s']:,.2f} bytes/s,"
        f" {analysis['mbit_per_s']:.4f} Mbit/s"
    )
    if not analysis["packets"]:
        return
    yield from _packets(analysis)
    if not analysis["tcp"]["packets"]:
        return
    yield from _bytes(analysis)
    yield from _messages(analysis["mpi"])
    yield from _connections(analysis)
    yield from _waits(analysis)


def _packets(analysis: Analysis) -> Iterator[str]:
    yield "What the packets are"
    for name, what in _PACKETS.items():
        share = analysis["shares"][name]
        yield f"  {_percent(share):>8} {round(share * analysis['packets']):>9,}  {what}"
    short = analysis["short_messages"]
    yield (
        f"  Among the data, {_percent(short['share'])} ({short['packets']:,}) are a header of MPICH"
        " alone: perhaps paper A's 'short message'."
    )


def _bytes(analysis: Analysis) -> Iterator[str]:
    tcp, overhead = analysis["tcp"], analysis["overhead"]
    headers = tcp["header_bytes"]
    parts = {
        "payload, what programs gave to TCP": tcp["payload_bytes"],
        "headers of Ethernet: which card": headers["ethernet"],
        "headers of IP: which node": headers["ip"],
        "headers of TCP: which program, and which bytes of its stream": headers["tcp"],
        "padding of frames that were too short for Ethernet": tcp["padding_bytes"],
    }
    yield f"What the bytes are, of the {tcp['bytes']:,} in TCP's {tcp['packets']:,} packets"
    for what, size in parts.items():
        if size:
            yield f"  {_percent(size / tcp['bytes']):>8} {size:>13,}  {what}"
    yield (
        f"  TCP overhead is {_percent(overhead['tcp'])}: the bytes that are not payload seen for the"
        " first time."
    )
    yield (
        f"  Paper A's measure is another: {_percent(overhead['paper_a_data_share'])} of TCP's packets"
        " carry data, however few bytes."
    )


def _messages(mpi: Analysis) -> Iterator[str]:
    if not mpi["messages"]:
        yield "MPI: no message of classic MPICH was found"
        return
    yield (
        f"MPI: {mpi['messages']:,} messages with {mpi['message_bytes']:,} bytes,"
        f" {mpi['collective']['messages']:,} of them from collective calls"
    )
    for kind, count in mpi["kinds"].items():
        yield (
            f"  {count['messages']:>7,} {kind}: {count['bytes']:,} bytes,"
            f" {count['segments_per_message']:.1f} segments a message; {_MESSAGES.get(kind, '')}"
        ).rstrip("; ")
    if mpi["control_packets"]:
        yield "  MPICH's own packets besides:"
        for kind, count in mpi["control_packets"].items():
            yield f"  {count:>7,} {kind}: {_CONTROL.get(kind, '')}".rstrip(": ")


def _connections(analysis: Analysis) -> Iterator[str]:
    mpi, ssh, rest = analysis["mpi"], analysis["ssh"], analysis["other_tcp"]
    setup = mpi["setup"]["syn_to_answer_s"]
    yield "Who talked over TCP"
    ready = "" if setup is None else f"; one is ready {_time(setup)} after its first packet"
    yield f"  MPI: {_extent(mpi)}{ready}"
    outside = analysis["overhead"]["mpi"]
    if outside is not None:
        yield f"    {_percent(outside)} of these bytes are not in messages: headers, and retransmissions"
    yield f"  ssh: {_extent(ssh)}"
    yield f"  others, such as mpiexec and its helpers: {_extent(rest)}"


def _waits(analysis: Analysis) -> Iterator[str]:
    tcp = analysis["tcp"]
    windows, waits, again = tcp["windows"], tcp["waits"], tcp["retransmissions"]
    yield "What TCP had to repeat or to wait for"
    yield (
        f"  Retransmitted: {again['packets']:,} packets with {again['bytes']:,} bytes; out of order:"
        f" {tcp['out_of_order_packets']:,}"
    )
    if windows["smallest_bytes"] is None:
        yield "  Windows: not known, for no connection was captured from its beginning"
    else:
        yield (
            f"  Windows: each receiver always had room for {windows['smallest_bytes']:,} bytes or more;"
            f" at most {_percent(windows['fullest_share'])} of"
        )
        yield (
            f"    a window was in use; {windows['full_segments']:,} segments filled one, and it was"
            f" closed {windows['closed_packets']:,} times"
        )
    yield (
        f"  Delayed ACKs: {waits['delayed_acks']:,} came 30 ms or more after the data, the latest after"
        f" {_time(waits['longest_ack_delay_s'])};"
    )
    yield "    Linux keeps an ACK for 40 ms or more, so that an answer may carry it"
    held = waits["held_segments"]
    waited = f", {_time(waits['held_s'])} in all" if held else ""
    yield (
        f"  Nagle's algorithm: {held:,} short segments waited for a delayed ACK{waited},"
        f" {analysis['mpi']['waits']['held_segments']:,} of them MPI's;"
    )
    yield "    it holds a short segment until all before it is acknowledged; MPICH switches it off"


def _extent(part: Analysis) -> str:
    return (
        f"{part['connections']:,} connections, {part['packets']:,} packets, {part['bytes']:,} bytes"
    )


def _percent(share: float | None) -> str:
    return "–" if share is None else f"{share:.2%}".replace("%", " %")


def _time(seconds: float) -> str:
    return f"{seconds * 1e6:.0f} µs" if seconds < 0.001 else f"{seconds * 1e3:.1f} ms"
