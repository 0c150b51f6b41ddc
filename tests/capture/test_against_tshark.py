"""Whatever was captured, and whatever became of the file: do we read what tshark and capinfos read?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from runs import Run
from test_flows import agrees_on_conversations
from test_protocols import with_tshark
from written import START_S, Packet, agrees, capinfos, fields, frames, pcap, pcapng

from beowulf.packets.batches import CaptureError
from beowulf.packets.protocols import summary
from beowulf.packets.table import read

# Any nanosecond of a quarter of an hour.
moments = st.integers(START_S * 10**9, START_S * 10**9 + 10**12)
# From nothing to all of a packet. (A snap length of 0 is legal in a file, though no program takes it.)
snaps = st.integers(0, 150) | st.just(1 << 18)
# Of pcapng's interfaces: micro- and nanoseconds, and the coarse units in which tshark rounds as we do.
resolutions = st.lists(st.sampled_from([6, 9, 3]), min_size=1, max_size=4)
cuts = st.just(0) | st.integers(1, 40)


@dataclass(frozen=True)
class Written:
    """A capture of either kind, how many packets went in, and whether its end is missing."""

    data: bytes
    packets: int
    cut: bool


def several(packets: Sequence[Packet], units: Sequence[int], cut: int) -> Written:
    """A pcapng with an interface for each unit, of which the last bytes may be missing."""
    own = [
        Packet(each.frame, each.time_ns, number % len(units), each.snap_bytes)
        for number, each in enumerate(packets)
    ]
    return _cut(pcapng(own, units), len(own), cut, len(pcapng(own[:-1], units)))


def one(packets: Sequence[Packet], unit_ns: int, cut: int) -> Written:
    """The same as pcap, in micro- or nanoseconds."""
    whole = pcap(packets, unit_ns)
    return _cut(whole, len(packets), cut, len(pcap(packets[:-1], unit_ns)))


def _cut(whole: bytes, packets: int, cut: int, without_last: int) -> Written:
    # Never so much that nothing of the last packet is left.
    end = max(len(whole) - cut, without_last + 1)
    return Written(whole[:end], packets, end < len(whole))


written = st.lists(
    st.builds(Packet, frames, moments, snap_bytes=snaps), min_size=1, max_size=60
).flatmap(
    lambda packets: st.one_of(
        st.builds(several, st.just(packets), resolutions, cuts),
        st.builds(one, st.just(packets), st.sampled_from([1000, 1]), cuts),
    )
)


@pytest.mark.nightly
@settings(with_tshark, max_examples=12)
@given(capture=written)
def test_any_capture_is_what_tshark_and_capinfos_read(
    capture: Written, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("any") / "wire"
    path.write_bytes(capture.data)
    ours = read(path)
    names = "frame.time_epoch frame.len frame.cap_len frame.interface_id frame.protocols".split()
    theirs = fields(path, *names)
    assert len(ours) == len(theirs) == capture.packets - capture.cut
    assert ours.attrs["truncated"] is capture.cut
    counts: Counter[str] = Counter()
    for our, row in zip(ours.itertuples(), theirs, strict=True):
        time, length, taken, interface, protocols = row
        counts.update(set(protocols.split(":")))
        seconds, _, rest = time.partition(".")
        assert our.time_ns == int(seconds) * 10**9 + int(rest.ljust(9, "0"))
        assert (our.wire_bytes, our.captured_bytes) == (int(length), int(taken))
        assert not interface or our.interface.endswith(interface)
    whole, info = summary(path), capinfos(path)
    assert (whole["packets"], whole["bytes"]) == (info.packets, info.wire_bytes)
    assert whole["first_to_last_s"] == pytest.approx(info.duration_s, abs=1e-6)
    # `-z io,phs` leaves out a header that is not whole; `frame.protocols` has it, as we do.
    for name in ("arp", "ip", "ipv6", "icmp", "icmpv6", "tcp", "udp"):
        assert whole["protocols"][name]["packets"] == counts[name], name


@pytest.mark.nightly
@settings(with_tshark, max_examples=12)
@given(capture=written, data=st.data())
def test_what_tshark_reads_of_a_spoiled_capture_we_read_or_refuse(
    capture: Written, data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    spoiled = bytearray(capture.data)
    for _ in range(data.draw(st.integers(1, 3))):
        spoiled[data.draw(st.integers(0, len(spoiled) - 1))] = data.draw(st.integers(0, 255))
    path = tmp_path_factory.mktemp("spoiled") / "wire"
    path.write_bytes(bytes(spoiled))
    theirs = [(int(size), int(taken)) for size, taken in fields(path, "frame.len", "frame.cap_len")]
    try:
        ours = read(path)
    except CaptureError:
        return  # we say that it is damaged where tshark shows what stands before
    lengths = ours["wire_bytes"].clip(upper=2**31 - 1)  # tshark shows no more
    rows = list(zip(lengths, ours["captured_bytes"], strict=True))
    # tshark may stop at a block without packets that we pass over by its length.
    assert rows[: len(theirs)] == theirs


@pytest.mark.cluster
def test_a_real_capture_agrees_to_the_packet_and_the_byte(whole: Run) -> None:
    agrees(whole.file)
    agrees_on_conversations(whole.file)
