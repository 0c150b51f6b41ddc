"""The commands that take packets and print what they were."""

from __future__ import annotations

import json
import shlex
import time
from pathlib import Path
from typing import Annotated, Any

import typer

from beowulf.cli.options import AsJson
from beowulf.cli.running_measurement import report
from beowulf.errors import LabError, UsageError

WHOLE = 1 << 18  # the longest packet that dumpcap takes


def capture(
    program: Annotated[
        list[str] | None,
        typer.Argument(help="An MPI program, a C source or a Python file, and its arguments."),
    ] = None,
    file: Annotated[
        Path | None, typer.Option("-o", "--output", help="The capture file that is written.")
    ] = None,
    where: Annotated[
        str,
        typer.Option(help="Whose packets: the wire's (all, each once), one node's, or all nodes'."),
    ] = "wire",
    snap: Annotated[int, typer.Option(help="Keep this many bytes of each packet; 0: all.")] = 128,
    packet_filter: Annotated[
        str, typer.Option("--filter", help="Keep only these, such as 'tcp and not port 22'.")
    ] = "",
    most: Annotated[
        float, typer.Option(help="End the capture when the file has this many MB (10^6 bytes).")
    ] = 1000,
    ranks: Annotated[int, typer.Option("-n", help="How many ranks.")] = 4,
    seconds: Annotated[
        float, typer.Option(help="Without a program: the seconds to capture, or until Ctrl-C.")
    ] = 10.0,
    timeout: Annotated[
        float, typer.Option(help="Stop the program after this many seconds; 0: never.")
    ] = 600.0,
) -> None:
    """Capture packets while a program runs, or for some seconds.

    Example: beowulf capture -o ring.pcapng -n 4 -- labs/01-validation/ring.c
    """
    if file is None:
        raise UsageError("A capture needs a file.", "Name it: `-o ring.pcapng`.")
    if snap < 0 or seconds <= 0:
        raise UsageError("`--snap` must be at least 0, and `--seconds` more than 0.")
    from beowulf import mpi
    from beowulf.cluster import running

    cluster = running()
    failed = ""
    # Compiling is no part of what is measured.
    words = mpi.prepare(Path(program[0]), library=cluster.mpi) if program else []
    limits: dict[str, Any] = {"packet_filter": packet_filter, "most_mb": most}
    with cluster.capture(file, where=where, snap_bytes=snap or WHOLE, **limits) as wire:
        if program:
            done = mpi.launch_shown(cluster, [*words, *program[1:]], ranks, timeout_s=timeout)
            failed = mpi.failure(done, Path(program[0]).name)
        else:
            try:
                time.sleep(seconds)
            except KeyboardInterrupt:
                print("Stopped; what was captured is kept.")
    for warning in wire.warnings:
        report(warning)
    lost = [f"{count} at {name}" for name, count in wire.dropped_by_interface.items() if count]
    where_lost = f": {', '.join(lost)}" if len(wire.interfaces) > 1 and lost else ""
    print(
        f"{wire.packets} {'packet is' if wire.packets == 1 else 'packets are'} in {file} ({wire.dropped}"
        f" dropped{where_lost})."
    )
    at = f" --at {wire.interfaces[0]}" if wire.twice else ""
    print(f"Next: `beowulf packets {file}{at}` says what they are.")
    if failed:
        raise LabError(failed, mpi.MORE)


def packets(
    file: Annotated[
        Path | None, typer.Argument(help="A capture, pcap or pcapng.", show_default=False)
    ] = None,
    as_json: AsJson = False,
    messages: Annotated[
        bool, typer.Option("--messages", help="List the MPI messages, one per line.")
    ] = False,
    at: Annotated[
        str, typer.Option(help="Only packets captured at this place, such as node01.")
    ] = "",
    elapsed: Annotated[
        float | None,
        typer.Option(help="Rates over this many seconds. \\[default: first to last packet]"),
    ] = None,
    tshark: Annotated[
        bool, typer.Option("--tshark", help="Print the tshark command that shows MPICH's packets.")
    ] = False,
    install_dissector: Annotated[
        bool,
        typer.Option("--install-dissector", help="Make your Wireshark show MPICH's packets."),
    ] = False,
) -> None:
    """Describe the packets of a capture.

    How many are they, how fast, of which kind, with how much overhead?

    Example: beowulf packets ring.pcapng --messages
    """
    if install_dissector:
        _install()
        if file is None:
            return
    if file is None:
        raise UsageError("Which capture? Name its file.", "Example: `beowulf packets ring.pcapng`.")
    if elapsed is not None and elapsed <= 0:
        raise UsageError("`--elapsed` must be more than 0 seconds.")
    if tshark:
        from beowulf.packets import dissector

        print(shlex.join([*dissector.tshark_words(file.absolute()), "-Y", "mpich"]))
        return
    if messages:
        _print_messages(file, as_json, at)
        return
    from beowulf.packets.analysis import analyse
    from beowulf.packets.report import lines

    analysis = analyse(file, elapsed, at)
    if as_json:
        print(json.dumps(analysis, indent=1))
        return
    for line in lines(analysis):
        print(line)
    for warning in analysis["warnings"]:
        report(warning)


def _print_messages(file: Path, as_json: bool, at: str) -> None:
    from beowulf.packets.analysis import warn_of
    from beowulf.packets.mpi_messages import messages

    table = messages(file, at)
    if table.attrs["several"]:
        report(warn_of(table.attrs["several"]))
    if as_json:
        print(json.dumps(table.to_dict("records"), indent=1))
        return
    if table.empty:
        print("No MPI message of classic MPICH is in this capture.")
    else:
        shown = table.drop(columns=["src", "src_port", "dst", "dst_port", "complete", "source"])
        print(shown.to_string(index=False))
    if lost := table.attrs["lost_segments"]:
        report(f"{lost} segments could not be read; `--snap 0` takes them whole.")


def _install() -> None:
    from beowulf.packets import dissector

    print(f"The dissector is in {dissector.install()}.")
    print("Start Wireshark again and filter for `mpich`. It shows most when you also switch on, in")
    print("Preferences, Protocols, TCP, 'Try heuristic sub-dissectors first' and")
    print("'Reassemble out-of-order segments'.")
