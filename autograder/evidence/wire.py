"""A Record and its cables: what they can carry, and whether bytes, headers and messages add up."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from autograder.evidence.finding import IMPOSSIBLE, INCONCLUSIVE, Finding, is_number
from beowulf.cluster.common.config import RATE_BITS_PER_S
from beowulf.cluster.namespaces.links import BURST_BYTES, MTU_BYTES
from beowulf.measure.roundtrips import EXCHANGE, HALF
from beowulf.record import Point, Record
from beowulf.studies import find, known
from beowulf.studies.wire_shares import TAG

# tbf holds a rate within less than a per cent; the kernel's timer costs a little.
ROOM = 1.02
RATE_ROOM = 1.05  # of a capture at the switch, which begins and ends in the middle of bursts
ADD_UP = 1e-3  # to which rate, bytes and seconds agree: they are written with all digits
SHORTEST_FRAME = 60  # an Ethernet card pads what is shorter


def findings(record: Record) -> list[Finding]:
    """The first thing of each kind that does not fit."""
    problems = [_faster(record), _at_the_switch(record)]
    for point in record.points:
        problems += [_rates(point), _headers(point, record), _messages(point)]
    first_of_kind: dict[str, Finding] = {}
    for problem in problems:
        if problem:
            first_of_kind.setdefault(problem.says.partition(":")[0], problem)
    return list(first_of_kind.values())


def _faster(record: Record) -> Finding | None:
    """Whether a message arrived sooner than its bytes can leave the card."""
    name = record.cluster.get("rate", "")
    rate = RATE_BITS_PER_S.get(name)
    if rate is None or (record.study in known() and find(record.study).changes_cables):
        return None
    cables = record.cluster.get("networks", 1)
    for point in record.points:
        size = point.at.get("size_bytes")
        pattern = point.at.get("pattern")
        if point.quantity not in (HALF, EXCHANGE) or not pattern or not is_number(size):
            continue
        for us in point.samples:
            most = ROOM * cables * rate / 8 * us / 1e6 + 2 * BURST_BYTES[name] + MTU_BYTES
            if size > most:
                message = (
                    f"Faster than the cable: {size:,} bytes in {us:,.4g} µs, and {name} carries"
                    f" {most:,.0f} in that time."
                )
                return Finding(IMPOSSIBLE, message)
    return None


def _at_the_switch(record: Record) -> Finding | None:
    name = record.cluster.get("rate", "")
    rate, nodes = RATE_BITS_PER_S.get(name), record.cluster.get("nodes")
    if rate is None or nodes is None:
        return None
    most = RATE_ROOM * rate * len(nodes) * record.cluster.get("networks", 1) / 1e6
    for point in record.points:
        for facts in _with_rates(point.facts):
            mbit = facts["mbit_per_s"]
            if is_number(mbit) and mbit > most:
                message = (
                    f"More than all cables carry: {mbit:,.4g} Mbit/s at the switch, and {len(nodes)}"
                    f" cables of {name} carry {most:,.0f}."
                )
                return Finding(IMPOSSIBLE, message)
    return None


def _rates(point: Point) -> Finding | None:
    """Whether rates are what bytes, packets and seconds give."""
    for facts in _with_rates(point.facts):
        seconds, size = facts.get("elapsed_s"), facts.get("bytes")
        if not (is_number(seconds) and is_number(size)) or seconds <= 0:
            continue
        wanted = {"mbit_per_s": 8 * size / seconds / 1e6, "bytes_per_s": size / seconds}
        if is_number(facts.get("packets")):
            wanted["packets_per_s"] = facts["packets"] / seconds
        for name, value in wanted.items():
            written = facts.get(name, value)
            if not is_number(written) or not math.isclose(
                written, value, rel_tol=ADD_UP, abs_tol=1e-9
            ):
                why = f"Rates that do not add up: {name} is {written}, and bytes, packets and seconds give {value:.6g}."
                return Finding(INCONCLUSIVE, why)
    return None


def _with_rates(facts: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """These facts, and those inside, that have a rate."""
    for each in (facts, *facts.values()):
        if isinstance(each, Mapping) and "mbit_per_s" in each:
            yield each


def _headers(point: Point, record: Record) -> Finding | None:
    """Whether a frame is as long as its headers and its payload, and a message has segments enough."""
    facts = point.facts
    names = ("ethernet_header_bytes", "ip_header_bytes", "tcp_header_bytes")
    if not all(is_number(facts.get(name)) for name in (*names, "payload_bytes", "frame_bytes")):
        return None
    headers = sum(facts[name] for name in names)
    frame = headers + facts["payload_bytes"]
    if facts["frame_bytes"] not in (frame, max(frame, SHORTEST_FRAME)):
        message = (
            f"Headers that do not add up: a frame of {facts['frame_bytes']} bytes has {headers} bytes"
            f" of headers and {facts['payload_bytes']} of payload."
        )
        return Finding(IMPOSSIBLE, message)
    # A card that cuts segments itself is given longer ones, and so a capture has them.
    mtu = record.cluster.get("mtu", "")
    carries = int(mtu) if mtu.isdecimal() else MTU_BYTES
    segment = carries - facts["ip_header_bytes"] - facts["tcp_header_bytes"]
    segment = max(segment, facts["payload_bytes"])
    size, segments = facts.get("bytes"), facts.get("segments")
    if is_number(size) and is_number(segments) and size > segments * segment:
        message = f"Segments that are too few: {size:,} bytes do not fit into {segments} of {segment} bytes."
        return Finding(IMPOSSIBLE, message)
    return None


def _messages(point: Point) -> Finding | None:
    """Whether the messages that were sent are on the wire, and the bytes of a message add up."""
    sent, captured = point.facts.get("sent"), point.facts.get("captured")
    if not isinstance(sent, list) or not isinstance(captured, list):
        return None
    size = point.at.get("message_bytes")
    for each in (*sent, *captured):
        if each.get("tag") == TAG and is_number(size) and each["bytes"] != each["messages"] * size:
            message = (
                f"Messages that do not add up: {each['messages']} messages of {size} bytes are not"
                f" {each['bytes']:,} bytes."
            )
            return Finding(IMPOSSIBLE, message)
    payload = point.facts.get("tcp", {}).get("payload_bytes")
    whole = sum(each["bytes"] for each in captured)
    if is_number(payload) and whole > payload:
        message = (
            f"More messages than bytes on the wire: {whole:,} bytes in {payload:,} of payload."
        )
        return Finding(IMPOSSIBLE, message)
    return None
