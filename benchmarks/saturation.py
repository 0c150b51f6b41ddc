"""Does a shaped link carry what it should, and does a launch of the ping-pong repeat the one before?"""

from __future__ import annotations

import statistics
from collections.abc import Mapping

from benchmarks import pingpong
from benchmarks.pingpong import Launcher
from benchmarks.result import Findings
from benchmarks.rows import Bar, Question
from benchmarks.scratch_cluster import STATE, awake, scratch_folder
from benchmarks.turns import Side, interleave
from beowulf.cluster import Cluster, namespaces
from beowulf.cluster.config import RATE_BITS_PER_S, ClusterConfig
from beowulf.measure import wire
from beowulf.measure.statistics import ratio
from beowulf.progress import Progress

TITLE = "Half a round trip at 100 Mbit/s: does it repeat, and is the link full?"
ROUNDS = 6
FILLS_THE_CORES = True

RATE = "100mbit"
MTU = 1500
LAUNCHES = 5
SIZES = [1 << power for power in range(10, 21)]
# Chunks one after the other have the same neighbours on a shared machine, and are up to 3 % above others at 8192 B. A
# launch of sixty passes with one chunk of each size sees more of them than one of ten with three.
PASSES, CHUNKS = 60, 1
# A shaper's bucket carries over from one message to the next: a chunk of one message or two is a draw among its states,
# and medians of such chunks differ by up to 4 % at 4096 B. Some dozen messages together go through all of them.
CHUNK_US = 8000

LARGEST = SIZES[-1]
AT_SATURATION, IDEAL = f"{LARGEST} B", "what headers leave of the cable"
SHAPED = "what headers leave as tbf counts"
AWAKE = "Idle cores wait awake meanwhile, as knob idle-states of lab 07 lets them."
ASLEEP = "Idle cores may sleep: this machine does not let the benchmark keep them awake."
MOST, LEAST = "most of 5 medians", "least of 5 medians"


def measure(rounds: int, seed: int, progress: Progress) -> Findings:
    """A round is five launches on two nodes; of each launch and size the median is taken."""
    with scratch_folder() as folder, awake() as stay_awake:
        progress(0, 1, "booting the cluster")
        cluster = namespaces.up(ClusterConfig(nodes=2, rate=RATE), folder=folder / STATE)
        stamps = time_stamps(cluster)
        side = our_side(pingpong.on_nodes(cluster, folder), pingpong.build(folder), stamps)
        taken = interleave({f"{LAUNCHES} launches": side}, rounds, seed, progress, warm_up=0)
    return Findings(
        questions(taken.samples, seed),
        taken.samples,
        taken.busy_percent,
        taken.order,
        facts={"rate": RATE, "tcp_timestamps": stamps, "idle_cores_wait_awake": stay_awake},
        notes=notes(stamps, stay_awake),
    )


def time_stamps(cluster: Cluster) -> bool:
    """Whether the nodes put time stamps into TCP's headers."""
    node = cluster.nodes[0]
    return cluster.run(node, "cat /proc/sys/net/ipv4/tcp_timestamps").stdout.strip() != "0"


def our_side(launch: Launcher, program: str, stamps: bool) -> Side:
    """Five launches, one after the other."""
    command = [program, *pingpong.arguments(SIZES, "--passes", PASSES, "--chunks", CHUNKS)]
    command += ["--chunk-us", str(CHUNK_US)]
    ideal = {
        IDEAL: LARGEST * 8 / bits_per_s(stamps, wire.ETHERNET_BYTES),
        SHAPED: LARGEST * 8 / bits_per_s(stamps, wire.ETHERNET_BYTES - NOT_COUNTED),
    }

    def run() -> Mapping[str, float]:
        medians: dict[int, list[float]] = {size: [] for size in SIZES}
        for number in range(LAUNCHES):
            settings = ["--seed", str(number + 1)]
            for size, chunks in pingpong.half_round_trips(launch(command + settings, {})).items():
                medians[size].append(statistics.median(chunks))
        medians_by_name = {AT_SATURATION: statistics.median(medians[LARGEST]), **ideal}
        for size, each in medians.items():
            medians_by_name |= {sample(size, MOST): max(each), sample(size, LEAST): min(each)}
        return medians_by_name

    return run


# tbf counts a frame without preamble, check sum and gap.
NOT_COUNTED = 8 + 4 + 12


def bits_per_s(stamps: bool, ethernet_bytes: int) -> float:
    """What is left for data of the rate, when a frame costs so many bytes besides IP's packet."""
    headers = wire.IP_BYTES + wire.TCP_BYTES + (wire.TIME_STAMP_BYTES if stamps else 0)
    return RATE_BITS_PER_S[RATE] * (MTU - headers) / (MTU + ethernet_bytes)


def sample(size: int, which: str) -> str:
    """The name of a size's samples."""
    return f"{size} B, {which}"


def questions(samples: Mapping[str, list[float]], seed: int) -> list[Question]:
    """The rows: the size that repeats worst, and the largest message against the sum."""

    def spread(size: int) -> float:
        pairs = zip(samples[sample(size, MOST)], samples[sample(size, LEAST)], strict=True)
        return ratio(list(pairs), seed).median

    worst = max(SIZES, key=spread)
    return [
        Question(
            f"{LAUNCHES} launches from 1 KiB on, worst of {len(SIZES)} sizes: {worst} B",
            sample(worst, MOST),
            sample(worst, LEAST),
            Bar(1.02, "ratio", "medians within 2 % of each other"),
        ),
        Question(
            f"half round trip of {LARGEST} B against headers' sum",
            AT_SATURATION,
            IDEAL,
            Bar(1.05, "ratio", "within 5 %", least=0.95),
        ),
        Question(
            f"half round trip of {LARGEST} B against the sum as the shaper counts",
            AT_SATURATION,
            SHAPED,
        ),
    ]


def notes(stamps: bool, stay_awake: bool) -> list[str]:
    """What the figures rest on, the sum among it."""
    options = f" - {wire.TIME_STAMP_BYTES} (its time stamps, which the nodes use)" if stamps else ""
    cable, shaped = (
        bits_per_s(stamps, each) / 1e6
        for each in (wire.ETHERNET_BYTES, wire.ETHERNET_BYTES - NOT_COUNTED)
    )
    headers = f"{MTU} - {wire.IP_BYTES} (IP) - {wire.TCP_BYTES} (TCP){options}"
    return [
        f"A round is {LAUNCHES} launches; of each launch and size, the median of {PASSES * CHUNKS} chunks of "
        f"{CHUNK_US / 1000:g} ms, of one round trip at least. The first row has the largest of five medians over the "
        "least, at the size at which that is worst.",
        f"The sum: of the {MTU} bytes of IP in a full frame, data has {headers}; on the cable the frame takes "
        f"{MTU} + 14 (Ethernet) + 4 (check sum) + 8 (preamble) + 12 (gap) = {MTU + wire.ETHERNET_BYTES} byte times. "
        f"That leaves {cable:.2f} of 100 Mbit/s, and {LARGEST} B take {LARGEST * 8e-3 / cable:.3f} ms.",
        f"tbf, which shapes the links, counts {MTU} + 14 for the frame: there {shaped:.2f} Mbit/s are left.",
        AWAKE if stay_awake else ASLEEP,
        "Half a round trip also has the latency and what the rendezvous takes; at this size that is little.",
    ]
