"""The commands that take packets and say what they were."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Annotated, Any

import typer

from beowulf.errors import LabError, UsageError

PANEL = "The wire"
WHOLE = 1 << 18  # the longest packet that dumpcap takes


def add_to(app: typer.Typer) -> None:
    """Put this file's commands into `app`."""
    # What follows the program is the program's own, options too.
    own = {"allow_interspersed_args": False}
    app.command(rich_help_panel=PANEL, context_settings=own)(capture)
    app.command(rich_help_panel=PANEL)(packets)


def capture(
    program: Annotated[
        list[str] | None,
        typer.Argument(help="An MPI program, a C source or a Python file, and its arguments."),
    ] = None,
    file: Annotated[
        Path | None, typer.Option("-o", "--output", help="The capture file that is written.")
    ] = None,
    where: Annotated[
        str, typer.Option(help="Whose packets: the switch's (all), or one node's.")
    ] = "switch",
    snap: Annotated[
        int, typer.Option(help="Take so many bytes of each packet; 0: all of them.")
    ] = 128,
    packet_filter: Annotated[
        str, typer.Option("--filter", help="Take only these, such as 'tcp and not port 22'.")
    ] = "",
    ranks: Annotated[int, typer.Option("-n", help="How many ranks.")] = 4,
    seconds: Annotated[
        float, typer.Option(help="Without a program: capture for so long, or until Ctrl-C.")
    ] = 10.0,
    timeout: Annotated[
        float, typer.Option(help="Stop the program after this many seconds; 0: never.")
    ] = 600.0,
    install_dissector: Annotated[
        bool,
        typer.Option("--install-dissector", help="Teach your Wireshark to show MPICH's packets."),
    ] = False,
) -> None:
    """Capture packets into a file while an MPI program runs on the cluster, or for some seconds.

    Example: beowulf capture -o ring.pcapng -n 4 -- labs/01-validation/ring.c
    """
    if install_dissector:
        _install()
        if file is None:
            return
    if file is None:
        raise UsageError("A capture needs a file.", "Name it: `-o ring.pcapng`.")
    if snap < 0 or seconds <= 0:
        raise UsageError("`--snap` is at least 0, `--seconds` more than 0.")
    from beowulf import mpi
    from beowulf.cluster import connect

    cluster = connect()
    failed = ""
    # Compiling is no part of what is measured.
    words = mpi.prepare(Path(program[0]), library=_library(cluster)) if program else []
    wire = cluster.capture(file, where=where, snap_bytes=snap or WHOLE, packet_filter=packet_filter)
    with wire:
        if program:
            done = mpi.launch(cluster, [*words, *program[1:]], ranks, timeout_s=timeout, show=True)
            failed = mpi.failure(done, Path(program[0]).name)
        else:
            _wait(seconds)
    for warning in wire.warnings:
        typer.echo(f"beowulf: {warning}", err=True)
    print(f"{wire.packets} packets are in {file} ({wire.dropped} dropped).")
    print(f"Next: `beowulf packets {file}` says what they are.")
    if failed:
        raise LabError(failed, "What it printed above says more.")


def packets(
    file: Annotated[Path, typer.Argument(help="A capture, pcap or pcapng.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print plain data for a script.")] = False,
    messages: Annotated[
        bool, typer.Option("--messages", help="List the MPI messages, one a line.")
    ] = False,
    elapsed: Annotated[
        float | None,
        typer.Option(help="Rates over so many seconds. [default: first to last packet]"),
    ] = None,
) -> None:
    """Say what the packets of a capture are: how many, how fast, of which kind, with how much overhead.

    Example: beowulf packets ring.pcapng --json
    """
    if elapsed is not None and elapsed <= 0:
        raise UsageError("`--elapsed` is more than 0 seconds.")
    if messages:
        _print_messages(file, as_json)
        return
    from beowulf.capture.analysis import analyse

    found = analyse(file, elapsed)
    if as_json:
        print(json.dumps(found, indent=1))
        return
    for line in describe(found):
        print(line)
    for warning in found["warnings"]:
        typer.echo(f"beowulf: {warning}", err=True)


def describe(found: dict[str, Any]) -> list[str]:
    """What `analyse` found, in lines for a reader."""
    tcp, mpi, overhead = found["tcp"], found["mpi"], found["overhead"]
    headers = tcp["header_bytes"]
    lines = [
        f"{found['packets']} packets, {found['bytes']} bytes in {found['elapsed_s']:.6f} s",
        f"  {found['packets_per_s']:.2f} packets/s, {found['bytes_per_s']:.2f} bytes/s,"
        f" {found['mbit_per_s']:.4f} Mbit/s",
        "Of all packets",
        f"  data segments {_percent(found['shares']['data_segments'])},"
        f" ssh {_percent(found['shares']['remote_shell'])},"
        f" only ACK {_percent(found['shares']['ack_only'])},"
        f" opening and closing {_percent(found['shares']['connection'])},"
        f" not TCP {_percent(found['shares']['other'])}",
        f"  short messages of MPICH {_percent(found['short_messages']['share'])}",
        "TCP",
        f"  {tcp['packets']} packets, {tcp['bytes']} bytes: headers of Ethernet"
        f" {headers['ethernet']}, IP {headers['ip']}, TCP {headers['tcp']};"
        f" payload {tcp['payload_bytes']}, padding {tcp['padding_bytes']}",
        f"  overhead {_percent(overhead['tcp'])} of the bytes are not payload seen for the first time",
        f"  paper A's measure: {_percent(overhead['paper_a_data_share'])} of TCP's packets are data",
        f"  {tcp['connections']} connections; retransmitted {tcp['retransmissions']['packets']}"
        f" packets, out of order {tcp['out_of_order_packets']}, window closed"
        f" {tcp['zero_window_packets']}, ACKs after 30 ms and more {tcp['delayed_acks']}",
        "MPI",
        f"  {mpi['messages']} messages, {mpi['message_bytes']} bytes"
        f" ({mpi['collective']['messages']} of collective calls)",
    ]
    for kind, count in mpi["kinds"].items():
        lines.append(
            f"  {kind}: {count['messages']} messages, {count['bytes']} bytes,"
            f" {count['segments_per_message']:.1f} segments a message"
        )
    if mpi["control_packets"]:
        parts = [f"{name} {count}" for name, count in mpi["control_packets"].items()]
        lines.append("  other packets of MPICH: " + ", ".join(parts))
    if mpi["connections"]:
        setup = mpi["setup"]["syn_to_answer_s"]
        taken = "" if setup is None else f", open after {setup * 1e6:.0f} us"
        lines.append(
            f"  {mpi['connections']} connections{taken}; {_percent(overhead['mpi'])}"
            " of their bytes are not in messages"
        )
    ssh, rest = found["ssh"], found["other_tcp"]
    login = ssh["setup"]
    keyed = (
        f"; {login['packets']:g} packets and {login['syn_to_keys_s'] * 1000:.0f} ms until one has keys"
        if login["logins"]
        else ""
    )
    lines += [
        f"ssh: {ssh['connections']} connections, {ssh['packets']} packets, {ssh['bytes']} bytes{keyed}",
        f"other TCP, such as the launcher's: {rest['connections']} connections,"
        f" {rest['packets']} packets, {rest['bytes']} bytes",
    ]
    return lines


def _percent(share: float | None) -> str:
    return "–" if share is None else f"{share:.2%}".replace("%", " %")


def _print_messages(file: Path, as_json: bool) -> None:
    from beowulf.capture.mpi_messages import messages

    found = messages(file)
    if as_json:
        print(json.dumps(found.to_dict("records"), indent=1))
        return
    if found.empty:
        print("No MPI message of classic MPICH is in this capture.")
    else:
        shown = found.drop(columns=["src", "src_port", "dst", "dst_port", "complete", "source"])
        print(shown.to_string(index=False))
    if lost := found.attrs["lost_segments"]:
        typer.echo(
            f"beowulf: {lost} segments could not be read; `--snap 0` takes them whole.", err=True
        )


def _install() -> None:
    from beowulf.capture import dissector

    print(f"The dissector is in {dissector.install()}.")
    print("Start Wireshark again and filter for `mpich`. It shows most when you also switch on, in")
    print("Preferences, Protocols, TCP: 'Try heuristic sub-dissectors first' and")
    print("'Reassemble out-of-order segments'.")


def _library(cluster: Any) -> str:
    return str(cluster.describe().get("mpi", "classic"))


def _wait(seconds: float) -> None:
    try:
        time.sleep(seconds)
    except KeyboardInterrupt:
        print("Stopped; what was captured is kept.")
