"""Do the benchmarks of time read what their neighbours print, pick the worst size, and say what failed?"""

from __future__ import annotations

import json
import random
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from benchmarks import (
    c_vs_python,
    capture,
    captures,
    commands,
    full_studies,
    neighbours,
    npb,
    parts,
    pingpong,
    roundtrip,
    rows,
    saturation,
    studies,
    turns,
)
from benchmarks.failures import Failures
from benchmarks.neighbours import AS_IMB, LEAST_OF_5, LEAST_OF_7, MEAN, Neighbour
from benchmarks.pingpong import Launcher
from benchmarks.rows import Bar, Question, answer, cells
from beowulf.errors import LabError
from beowulf.measure import profile, wire
from beowulf.packets.table import Packets

HOST = roundtrip.HOST


def silent(done: float, of: float, what: str) -> None:
    """Nothing is reported."""


def verdict(question: Question, samples: Mapping[str, list[float]]) -> str:
    return answer(question, samples, "", seed=1).verdict


def line(**fields: object) -> str:
    return json.dumps(fields) + "\n"


END = line(kind="end")


def our_lines(chunks: Mapping[int, list[float]]) -> str:
    """What our ping-pong prints when half a round trip takes so many seconds."""
    taken = [
        line(kind="sample", size_bytes=size, repetitions=10, seconds=half_s * 20)
        for size, each in chunks.items()
        for half_s in each
    ]
    return "mpiexec says hello\n" + line(kind="about") + "".join(taken) + END


# ---------------------------------------------------------------- bars and rows


def test_a_bar_with_two_ends_holds_at_both() -> None:
    within = Question("it", "ours", "other", neighbours.WITHIN_A_TENTH)
    for factor, expected in ((1.0, "met"), (1.2, "not met"), (0.8, "not met")):
        assert verdict(within, {"ours": [factor] * 9, "other": [1.0] * 9}) == expected
    across = {"ours": [0.8, 0.85, 0.88, 0.92, 0.95, 1.0], "other": [1.0] * 6}
    assert verdict(within, across) == "inconclusive"


def test_what_failed_is_no_pair_with_what_was_measured_before() -> None:
    asked = Question("it", "ours", "other", neighbours.NOT_SLOWER, missing="it broke")
    row = answer(asked, {"ours": [1.0] * 9, "other": [1.0] * 2}, "", seed=1)
    assert (row.verdict, row.why, row.ratio) == ("not measured", "it broke", None)


def test_memory_is_no_time() -> None:
    asked = Question("it", "ours", bar=Bar(1e9, says="at most 1000 MB"), unit="bytes")
    row = answer(asked, {"ours": [120e6] * 3}, "", seed=1)
    assert "120 MB" in cells(row)
    assert row.verdict == "met"
    assert rows.amount(2.5e-7, "s") == "250 ns"


def test_a_side_that_failed_is_not_run_again_and_the_reason_is_kept() -> None:
    runs: list[int] = []

    def breaks() -> Mapping[str, float]:
        runs.append(1)
        if len(runs) == 2:
            raise LabError("The link is down.", "Plug it in.")
        return {"it": 1.0}

    failed = Failures()
    side = failed.spare("it", breaks)
    assert [dict(side()) for _ in range(4)] == [{"it": 1.0}, {}, {}, {}]
    assert failed == {"it": "The link is down. Plug it in."}
    assert len(runs) == 2


# ---------------------------------------------------------------- what others print


def test_what_mpi4py_bench_prints_is_read() -> None:
    text = (
        "# MPI PingPong Test\n# Size [B]  Bandwidth [MB/s] | Time Mean [s] ± StdDev [s]  Samples\n"
        "         1              1.44 | 6.9410000e-07 ± 2.0170e-07    10000\n"
        "      1024            988.12 | 1.0363000e-06 ± 1.1000e-07    10000\n"
    )
    assert neighbours.read_mpi4py(text) == {1: 6.941e-07, 1024: 1.0363e-06}


def test_what_netpipe_writes_is_read_finer_than_its_seconds() -> None:
    text = "       1 20.874103   0.00000037\n    1024 16821.355236   0.00000046\n"
    found = neighbours.read_netpipe(text)
    assert found == pytest.approx({1: 3.655e-7, 1024: 4.644e-7}, rel=1e-3)


def test_what_mpptest_and_imb_print_is_read() -> None:
    text = (
        "set title 'Comm Perf'\n#p0\tp1\tdist\tlen\tave time (us)\trate\n0\t1\t1\t8\t0.34\t23.5\n"
        "0\t1\t1\t1048576\t90.2e+3\t190.095e+3\n"
    )
    assert neighbours.read_mpptest(text) == pytest.approx({8: 0.34e-6, 1048576: 90.2e-3})
    text = (
        "# Benchmarking PingPong\n       #bytes #repetitions      t[usec]   Mbytes/sec\n"
        "            0         1000         0.36         0.00\n"
        "      4194304           10       812.40      5162.87\n"
    )
    assert neighbours.read_imb(text) == pytest.approx({0: 0.36e-6, 4194304: 812.4e-6})


def test_a_neighbour_that_prints_no_times_is_quoted() -> None:
    with pytest.raises(LabError, match="printed no times: alas"):
        neighbours.mpi4py_bench().taken("alas\n")


def test_neighbours_that_are_not_there_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(neighbours.shutil, "which", lambda name: None)
    said = {each.name: each.missing for each in neighbours.all_of_them(tmp_path)}
    assert said.pop("mpi4py.bench") == ""
    assert set(said) == {"NetPIPE", "mpptest", "IMB-MPI1", "IMB-MPI1, its way"}
    assert all("is not in PATH" in why for why in said.values())


# ---------------------------------------------------------------- the round trip


def test_our_lines_become_half_round_trips() -> None:
    found = pingpong.half_round_trips(our_lines({0: [1e-6, 2e-6], 8: [3e-6]}))
    assert found[0] == pytest.approx([1e-6, 2e-6])
    assert found[8] == pytest.approx([3e-6])
    with pytest.raises(LabError, match="breaks off"):
        pingpong.half_round_trips(line(kind="about"))


def a_neighbour(ours: str = LEAST_OF_5, launches: int = 1) -> Neighbour:
    """It prints one number, its time at 8 bytes."""

    def read(text: str) -> dict[int, float]:
        return {8: float(text), 4096: 1.0}

    return Neighbour("N", ours, neighbours.NOT_SLOWER, ["n"], read, launches=launches)


def test_beside_a_neighbour_stands_the_same_of_as_many_chunks() -> None:
    def launch(words: Sequence[str], settings: Mapping[str, str]) -> str:
        asked = int(words[words.index("--passes") + 1]) if "--passes" in words else 1
        return our_lines({8: [float(20 - i) for i in range(asked)]})

    def taken(way: str) -> float:
        return roundtrip.ours(launch, "it", a_neighbour(way), HOST)[8]

    assert taken(MEAN) == pytest.approx(17.0)
    assert taken(LEAST_OF_7) == pytest.approx(14.0)
    assert taken(LEAST_OF_5) == pytest.approx(16.0)
    assert taken(AS_IMB) == pytest.approx(20.0)


def test_the_least_of_a_neighbours_launches_is_taken() -> None:
    times = iter([3.0, 1.0, 2.0])
    each = a_neighbour(launches=3)
    assert roundtrip.theirs(lambda words, settings: str(next(times)), each) == {8: 1.0}


def test_a_pair_is_one_launch_after_the_other_in_an_order_that_is_drawn() -> None:
    launched: list[str] = []

    def launch(words: Sequence[str], settings: Mapping[str, str]) -> str:
        launched.append(words[0])
        return "2.0" if words[0] == "n" else our_lines({8: [1.0]})

    each = a_neighbour()
    pair = roundtrip.a_pair(launch, "it", each, HOST, random.Random(1))
    for number in range(8):
        name, beside = roundtrip.sample(each, 8, HOST), roundtrip.sample(each, 8, HOST, ours=True)
        assert pair() == {name: 2.0, beside: pytest.approx(1.0)}
        assert sorted(launched[2 * number :]) == ["it", "n"]
    assert set(launched[::2]) == {"it", "n"}


def sized(neighbour: Neighbour, factors: Mapping[int, float]) -> dict[str, list[float]]:
    """Samples in which ours takes so many times as long as the neighbour."""
    ours = {
        roundtrip.sample(neighbour, size, HOST, ours=True): [factor * 1e-6] * 9
        for size, factor in factors.items()
    }
    other = {roundtrip.sample(neighbour, size, HOST): [1e-6] * 9 for size in factors}
    return ours | other


def test_the_row_has_the_worst_size() -> None:
    bench, imb = neighbours.mpi4py_bench(), neighbours.imb()
    factors = {1: 0.5, 8: 0.9, 64: 1.05}
    asked = roundtrip.question(bench, HOST, sized(bench, factors), 1)
    assert "worst of 3 sizes: 64 B" in asked.what
    assert verdict(asked, sized(bench, factors)) == "not met"
    # Where less is not better either, twice as fast is worse than 5 % slower.
    asked = roundtrip.question(replace(imb, missing=""), HOST, sized(imb, factors), 1)
    assert "worst of 3 sizes: 1 B" in asked.what
    page = roundtrip.table(bench, HOST, sized(bench, factors))
    assert "  | 64 | 1.05 µs | 1 µs | 1.050 |" in page


def test_our_ping_pong_and_mpi4pys_run_on_one_host(tmp_path: Path) -> None:
    launch, built = pingpong.on_one_host(tmp_path), pingpong.build(tmp_path)
    words = [built, *pingpong.arguments([0, 8], "--passes", 1, "--chunks", 2)]
    found = pingpong.half_round_trips(launch(words, {}))
    assert {size: len(chunks) for size, chunks in found.items()} == {0: 2, 8: 2}
    bench = neighbours.mpi4py_bench()
    taken = bench.taken(launch([*bench.command, "-l", "20"], {}))
    assert set(taken) == set(roundtrip.SIZES) - {0}
    assert all(seconds > 0 for seconds in taken.values())


@pytest.mark.parametrize(
    ("mode", "least", "most"),
    [
        # One repetition, then as many as count or as fit a second, which on a busy machine are fewer.
        ("imb", 1 + 1 + 1000, 1 + 2 * 1000),
        ("osu", 100 + 10_000, 100 + 10_000),
    ],
)
def test_in_the_ways_of_others_as_many_messages_go_before_that_do_not_count(
    mode: str, least: int, most: int, tmp_path: Path
) -> None:
    layer = profile.prefix(profile.build(tmp_path))
    words = [*layer, pingpong.build(tmp_path), *pingpong.arguments([8], "--mode", mode)]
    counted = profile.printed(pingpong.on_one_host(tmp_path)(words, {})).calls
    assert pingpong.RANKS * least <= counted["MPI_Send"].count <= pingpong.RANKS * most


# ---------------------------------------------------------------- c_vs_python


def prints(text: str) -> Launcher:
    """A launch that prints this, whatever is asked for."""
    return lambda words, settings: text


def test_python_is_compared_with_c_size_by_size() -> None:
    chunks = {size: [1e-3, 2e-3, 9e-3] for size in c_vs_python.SIZES}
    slower = {size: [1.5 * each for each in found] for size, found in chunks.items()}
    taken: dict[str, list[float]] = {}
    for language, printed in (
        (c_vs_python.C, our_lines(chunks)),
        (c_vs_python.PYTHON, our_lines(slower)),
    ):
        for _ in range(8):
            launch = c_vs_python.side(prints(printed), [], language, c_vs_python.round_trips)
            for name, seconds in launch().items():
                taken.setdefault(name, []).append(seconds)
    asked = {question.what: question for question in c_vs_python.questions()}
    short, long = asked[c_vs_python.trip(1)], asked[c_vs_python.trip(c_vs_python.LONG)]
    assert answer(short, taken, "", 1).ratio == pytest.approx(1.5)
    assert verdict(short, taken) == "no bar"
    assert verdict(long, taken) == "not met"


def test_only_the_operations_of_rank_0_count() -> None:
    at = {"kind": "sample", "part": "both", "size_bytes": 10_240}
    printed = line(**at, rank=0, seconds=2.0) + line(**at, rank=1, seconds=5.0) + END
    assert c_vs_python.operations(printed) == {"both, 10240 B": 2.0}
    with pytest.raises(LabError, match="breaks off"):
        c_vs_python.operations(line(**at, rank=0, seconds=2.0))


def test_both_languages_print_what_is_read(tmp_path: Path) -> None:
    launch = pingpong.on_one_host(tmp_path)
    for lab, in_c, in_python, words, read, what in (
        (
            c_vs_python.LAB_04,
            "roundtrip",
            "roundtrip",
            ["--chunks", 1],
            c_vs_python.round_trips,
            c_vs_python.trip(8),
        ),
        *[
            (
                c_vs_python.LAB_05,
                "message_workload",
                "overlap",
                [],
                c_vs_python.operations,
                "both, 8 B",
            )
        ],
    ):
        for language, started in c_vs_python.pair(tmp_path, lab, in_c, in_python).items():
            more = pingpong.arguments([8], "--passes", 1, *words)
            found = c_vs_python.side(launch, [*started, *more], language, read)()
            assert found[f"{what}, {language}"] > 0


# ---------------------------------------------------------------- npb


@pytest.mark.parametrize(
    ("mhz", "held"), [("2596.138", True), ("2300.000", False), ("3400", False), ("unknown", False)]
)
def test_official_seconds_hold_for_a_core_like_theirs_alone(mhz: str, held: bool) -> None:
    asked = {question.what: question.bar for question in npb.questions(mhz)}
    assert (asked["CG class A, one rank, user CPU"] is not None) == held
    assert asked["CG class W, 4 nodes, unshaped links"] is not None


# ---------------------------------------------------------------- saturation


def test_the_sum_of_the_headers_is_that_of_the_studies() -> None:
    data, whole = wire.frame()
    assert saturation.bits_per_s(True, wire.ETHERNET_BYTES) == pytest.approx(100e6 * data / whole)
    assert "1500 - 20 (IP) - 20 (TCP) - 12 (its time stamps" in saturation.notes(True, True)[1]
    assert "94.15 of 100 Mbit/s" in saturation.notes(True, True)[1]
    assert "94.93 of 100 Mbit/s" in saturation.notes(False, True)[1]


def test_five_launches_are_held_against_each_other(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(saturation, "SIZES", [1024, saturation.LARGEST])
    full_s = saturation.LARGEST * 8 / saturation.bits_per_s(True, wire.ETHERNET_BYTES)
    factors = iter([1.0, 1.01, 1.1, 1.0, 1.0] * 6)

    def launch(words: object, settings: object) -> str:
        return our_lines({1024: [next(factors) * 1e-4] * 3, saturation.LARGEST: [full_s] * 3})

    side = saturation.our_side(launch, "it", True)
    taken: dict[str, list[float]] = {}
    for _ in range(6):
        for name, seconds in side().items():
            taken.setdefault(name, []).append(seconds)
    repeats, full, shaped = saturation.questions(taken, 1)
    assert "worst of 2 sizes: 1024 B" in repeats.what
    assert answer(repeats, taken, "", 1).ratio == pytest.approx(1.1)
    assert verdict(repeats, taken) == "not met"
    assert verdict(full, taken) == "met"
    assert answer(shaped, taken, "", 1).ratio == pytest.approx(1538 / 1514)


# ---------------------------------------------------------------- studies


def test_what_claims_came_to_is_counted_after_warnings() -> None:
    said = json.dumps(
        [{"outcome": "holds"}, {"outcome": "holds"}, {"outcome": "inconclusive"}], indent=1
    )
    assert (
        studies.outcomes(studies.read_verdicts("warning: [odd]\n" + said))
        == "2 holds, 1 inconclusive"
    )
    with pytest.raises(LabError, match="no Verdicts"):
        studies.read_verdicts("nothing")


@pytest.mark.cluster
def test_a_study_that_fails_is_reported_and_the_others_are_measured(
    monkeypatch: pytest.MonkeyPatch, namespaces_work: None
) -> None:
    monkeypatch.setattr(studies, "STUDIES", {"Z9": "none", "A5": "a5_no_load"})
    monkeypatch.setattr(turns, "busy_percent", lambda: 0.0)

    def timed(words: list[str], *_: object, **__: object) -> tuple[float, str]:
        if "Z9" in words:
            raise LabError("`beowulf study Z9` ended with 2.")
        assert "--quick" in words
        return 7.0, '[\n {"outcome": "holds"}\n]'

    monkeypatch.setattr(commands, "timed", timed)
    found = studies.measure(3, 1, silent)
    judged = [answer(question, found.samples, "", 1) for question in found.questions]
    assert [(row.verdict, row.why) for row in judged] == [
        ("not measured", "`beowulf study Z9` ended with 2."),
        ("met", ""),
    ]
    assert found.facts == {"A5 --quick: claims": "1 holds"}


def full_run(study: str, took_s: float = 100.0) -> full_studies.Run:
    verdicts = [{"study": study, "claim": name, "outcome": "holds"} for name in ("one", "two")]
    return full_studies.Run(study, "2026-11-01T10:00:00+00:00", took_s, {}, verdicts)


def test_the_studies_with_the_fewest_full_runs_come_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(full_studies, "STUDIES", {"A5": "", "A6": "", "A7": ""})
    runs = [full_run("A5"), full_run("A5"), full_run("A6")]
    assert full_studies.order(runs, 1, seed=1)[0] == "A7"
    assert sorted(full_studies.order(runs, 1, seed=1)) == ["A5", "A6", "A7"]
    turns = full_studies.order(runs, full_studies.ROUNDS, seed=1)
    assert (turns[0], sorted(turns[1:3]), sorted(turns[3:])) == (
        "A7",
        ["A6", "A7"],
        ["A5", "A6", "A7"],
    )
    assert full_studies.order([full_run(each) for each in ("A5", "A6", "A7") * 3], 3, 1) == []


def test_full_studies_take_more_than_one_run_to_judge(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(full_studies, "STUDIES", {"A5": "", "A6": "", "A7": "", "A8": ""})
    runs = [full_run("A5"), *[full_run("A6")] * 3, *[full_run("A7", 700.0)] * 3]
    found = full_studies.findings(runs, {"A8": "The switch is on fire."}, [], [])
    judged = [answer(question, found.samples, "", 1) for question in found.questions]
    assert [(row.verdict, row.why) for row in judged] == [
        ("inconclusive", "1 of the 3 rounds that it takes"),
        ("met", ""),
        ("not met", ""),
        ("not measured", "The switch is on fire."),
    ]


def test_a_study_that_is_not_measured_again_keeps_its_run(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(full_studies, "STUDIES", {"A5": "", "A6": "", "A7": ""})
    silent_part = full_studies.findings([full_run("A5"), full_run("A6", 50.0)], {}, [], [])
    before = SimpleNamespace(samples_s=silent_part.samples, facts=silent_part.facts)
    now = full_studies.findings([full_run("A6", 7.0)], {"A7": "It failed."}, [], [])
    found = full_studies.beside(before, now)  # type: ignore[arg-type]
    assert found.samples == {"A5": [100.0], "A6": [7.0]}
    assert found.facts["runs"]["A6"]["took_s"] == 7.0
    assert found.facts["A5: claims"] == "2 holds"


def test_paper_c_is_measured_on_its_own_kind_of_cluster() -> None:
    assert full_studies.cluster_of("C1").networks == 2
    assert full_studies.cluster_of("E1") == full_studies.CLUSTER


@pytest.mark.nightly
@pytest.mark.cluster
def test_full_studies_go_on_where_the_last_part_ended(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, namespaces_work: None
) -> None:
    monkeypatch.setattr(parts, "FOLDER", tmp_path)
    monkeypatch.setattr(full_studies, "STUDIES", {"A5": "a5_no_load", "A6": "a6"})
    monkeypatch.setattr(full_studies, "busy_percent", lambda: 0.0)
    monkeypatch.setattr(full_studies, "rest", lambda: None)
    monkeypatch.setattr(full_studies, "KEPT", tmp_path / "none.json")
    ran: list[str] = []

    def timed(words: list[str], *_: object, **__: object) -> tuple[float, str]:
        assert "--quick" not in words
        ran.append(words[2])
        if len(ran) == 2:
            raise KeyboardInterrupt
        return 7.0, '[\n {"claim": "one", "outcome": "holds"}\n]'

    monkeypatch.setattr(commands, "timed", timed)
    # Ctrl-C ends a part; its table has what was measured until then.
    cut = full_studies.measure(1, 1, silent)
    first, stopped = ran
    assert {first, stopped} == {"A5", "A6"}
    assert cut.samples == {first: [7.0]}
    verdicts = {asked.ours: verdict(asked, cut.samples) for asked in cut.questions}
    assert verdicts == {first: "inconclusive", stopped: "not measured"}
    found = full_studies.measure(1, 1, silent)
    rest = ran[2:]
    assert rest == [stopped, first]
    assert found.samples == {first: [7.0, 7.0], stopped: [7.0]}
    # What other code measured does not count.
    monkeypatch.setattr(full_studies, "of", lambda: "another")
    assert full_studies.measure(1, 1, silent).samples == {"A5": [7.0], "A6": [7.0]}


# ---------------------------------------------------------------- captures


def test_the_written_capture_is_what_tshark_and_our_reader_say(tmp_path: Path) -> None:
    file, packets = tmp_path / "it.pcap", captures.PACKETS_A_BLOCK + 500
    size = captures.write(file, packets)
    assert size == file.stat().st_size == 24 + packets * captures.RECORD_BYTES
    assert captures.RECORD_BYTES == captures.FRAME_OFFSET + captures.SNAP_BYTES
    pieces = list(Packets(file))
    count = sum(len(piece["time_ns"]) for piece in pieces)
    assert count == packets
    assert {int(n) for piece in pieces for n in np.unique(piece["payload_bytes"])} == {1448}
    assert {int(n) for piece in pieces for n in np.unique(piece["tcp_options_bytes"])} == {12}
    words = ["tshark", "-n", "-r", str(file), "-c", "3000", "-T", "fields", "-e", "tcp.len"]
    words += ["-Y", "!tcp.analysis.retransmission && !tcp.analysis.lost_segment"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=240)
    assert done.stdout.split() == ["1448"] * 3000


def test_a_reader_that_misses_packets_counts_for_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "it.pcap"
    captures.write(file, 1000)
    took_s, found = capture.reading("ours", file)
    assert found["packets"] == 1000
    assert 0 < found["seconds"] < took_s
    assert 10e6 < found["memory_bytes"] < 1e9
    with pytest.raises(LabError, match="our reader has read 1,000"):
        capture.our_reader(file)


def test_what_is_not_installed_is_reported_in_the_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(capture.shutil, "which", lambda name: None)
    monkeypatch.setattr(capture.importlib.util, "find_spec", lambda name: None)
    monkeypatch.setattr(capture, "LARGE_BYTES", 1)
    disk = type("Disk", (), {"free": 2})
    monkeypatch.setattr(capture.shutil, "disk_usage", lambda folder: disk)
    asked = capture.questions(capture.missing_here(), [])
    said = {row.why for row in (answer(question, {}, "", 1) for question in asked)}
    assert {
        "tshark is not installed",
        "pyshark is not installed",
        "dumpcap is not installed",
        "less than 3 GB are free for temporary files",
    } <= said
