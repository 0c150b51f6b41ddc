"""Lab 09's staircase and plate: are right functions timed alike everywhere, and wrong or foreign ones named?"""

from __future__ import annotations

import math
import shutil
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from running import PATIENCE_S, first

from beowulf import paths
from beowulf.cluster.namespaces.cluster import NamespaceCluster
from beowulf.cluster.simulated import cluster as simulated
from beowulf.errors import LabError, UsageError
from beowulf.labs import lab_09 as lab
from beowulf.labs.lab_09 import collectives, replays, scaling, stairs, tokens
from beowulf.measure import machine_queue
from beowulf.measure.calibration import need_quiet, of
from beowulf.record import newest
from beowulf.this_machine import host_state
from beowulf.timeline import simgrid
from tests.gold import lab_09
from tests.solutions import by_the_author

if TYPE_CHECKING:
    import pandas as pd

pytestmark = [pytest.mark.simgrid, pytest.mark.usefixtures("simgrid")]


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """A busy machine may be long about a run that ends."""
    monkeypatch.setattr(stairs, "LONGEST_RUN_S", PATIENCE_S)


HANDED_OUT = (paths.lab("09") / stairs.SOURCE).read_text(encoding="utf-8")
TREE = "broadcast_naive(data, bytes, rank, ranks); /* in place of this line */"


def tree(body: str) -> str:
    """What is handed out, with another body of broadcast_tree."""
    head, name, rest = HANDED_OUT.partition("void broadcast_tree")
    return head + name + rest.replace(TREE, body, 1)


def behind(more: str) -> str:
    """What is handed out, with a line behind it."""
    return f"{HANDED_OUT}\n{more}\n"


LONG = ("ring", "pipelined", "reduce")


@pytest.mark.parametrize(
    "names", first(1, [[name for name in stairs.BY_NAME if name not in LONG], [*LONG]])
)
def test_right_functions_take_the_same_time_in_every_run_and_beat_their_targets_by_a_tenth(
    names: list[str],
) -> None:
    found = stairs.outcomes(lab_09.source(), names)
    assert {name: each.why for name, each in found.items()} == dict.fromkeys(names, "")
    for name in names:
        assert found[name].ms <= 0.9 * stairs.targets().get(name, math.inf), name
        assert found[name].ms == pytest.approx(lab_09.TIMES_MS[name], rel=1e-5)


@pytest.mark.nightly
def test_what_is_handed_out_is_right_and_misses_every_target_by_far() -> None:
    found = stairs.outcomes(HANDED_OUT)
    assert not any(each.why for each in found.values())
    assert all(found[name].ms > 1.5 * target for name, target in stairs.targets().items())


def test_no_right_function_is_below_the_least_time() -> None:
    network = stairs.platform()
    for name, ms in lab_09.TIMES_MS.items():
        assert ms > stairs.BY_NAME[name].bound_ms(network)


ENDLESS = "for (;;) if (ranks < 0) free(data);"


@pytest.mark.parametrize(
    ("body", "said"),
    first(1, [
        ("MPI_Recv(data, bytes, MPI_BYTE, ranks - 1 - rank, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);", "deadlock"),
        ("(void)data, (void)bytes, (void)rank, (void)ranks;", "wrong data: byte 0 of 1024 from rank 0"),
        (ENDLESS, "did not end"),
        ("*(volatile int *)0 = 1;", "Segmentation fault"),
    ]),
    ids=["a deadlock", "nothing", "endless", "a crash"],
)  # fmt: skip
def test_a_wrong_function_is_named_and_the_others_are_timed(
    body: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if said == "did not end":
        monkeypatch.setattr(stairs, "LONGEST_RUN_S", 4.0)
    found = stairs.outcomes(tree(body), ["tree", "halo"])
    assert said in found["tree"].why, found["tree"]
    assert not found["halo"].why


@pytest.mark.parametrize(
    ("source", "said"),
    [
        (tree("MPI_Bcast(data, bytes, MPI_BYTE, 0, MPI_COMM_WORLD);"), "calls MPI_Bcast, which is not allowed"),
        (tree('extern int system(const char *); system("id");'), "calls system"),
        (tree("send it to all"), "does not compile"),
        (HANDED_OUT.replace("void broadcast_tree", "void a_tree"), "has no function broadcast_tree"),
        (behind("void *(*volatile a)(void *, const void *, size_t) = memcpy;"), "takes the address of memcpy"),
        (behind("extern long _GLOBAL_OFFSET_TABLE_[]; void a(void) { *_GLOBAL_OFFSET_TABLE_ = 1; }"),
         "_GLOBAL_OFFSET_TABLE_"),
        (behind("void a(void (*b)(void)) { b(); }"), "calls a function through a pointer"),
        (behind("long a(void *b) { goto *b; c: return 1; d: return (long)&&c + (long)&&d; }"), "through a pointer"),
        (behind("XBT_ATTRIB_CONSTRUCTOR(101) static void a(void) { free(0); }"), "has __attribute__ in line"),
    ],
    ids=["MPI_Bcast", "a shell", "no C", "no function", "an address", "the linker's table", "a pointer", "a jump",
         "a constructor"],
)  # fmt: skip
def test_what_is_not_allowed_is_refused_with_its_name(source: str, said: str) -> None:
    with pytest.raises(LabError) as refused:
        stairs.outcomes(source, ["tree"])
    assert said in str(refused.value)
    assert "/tmp" not in str(refused.value)


def test_without_a_record_a_step_says_which_cell_to_run() -> None:
    assert "run the cell with `stairs.measure`" in stairs.says(None, "tree")


def test_a_busy_machine_is_refused_before_a_calibration_is_measured(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    busy = {"load_1min": 9.0, "cores": 2}
    monkeypatch.setattr(host_state, "now", lambda: busy)
    monkeypatch.setattr(machine_queue, "LONGEST_QUIET_S", 0)
    with pytest.raises(LabError, match=r"nothing was measured: the load.*lab\.given\.record"):
        need_quiet()
    monkeypatch.setattr(host_state, "now", lambda: {**busy, "load_1min": 0.1})
    need_quiet()
    assert of(lab.given.record("E1")).sizes


@pytest.mark.nightly
def test_a_record_keeps_times_faults_and_the_source(tmp_path: Path) -> None:
    source = tmp_path / stairs.SOURCE
    source.write_text(tree("(void)data, (void)bytes, (void)rank, (void)ranks;"))
    made = stairs.measure(_nowhere(tmp_path), source)
    assert "wrong data" in stairs.says(made, "tree")
    assert "misses its target" in stairs.says(made, "ring")
    assert stairs.source_of(made) == source.read_text()
    assert newest(tmp_path / "records", "S9", made.variant) == made
    assert list(stairs.table(made).index) == list(stairs.BY_NAME)


def _nowhere(folder: Path) -> simulated.SimulatedCluster:
    """A cluster that only says where Records are kept."""
    cluster = simulated.beside(stairs.platform(), folder / "cluster")
    cluster.records = folder / "records"
    return cluster


def test_a_step_of_simulated_ranks_has_a_timeline_whose_waits_go_up_the_tree(
    tmp_path: Path,
) -> None:
    source = tmp_path / "stairs.c"
    source.write_text(lab_09.source())
    found = stairs.timeline("tree", source, ranks=4).found
    assert sorted((int(m.source), int(m.to)) for m in found.messages.itertuples())[:1] == [(0, 1)]
    assert set(found.messages["bytes"]) == {stairs.BY_NAME["tree"].size_bytes}
    assert len(found.trace.ranks) == 4
    assert {int(wait.cause) for wait in found.waits.itertuples()} <= set(range(4))
    source.write_text(
        tree("MPI_Recv(data, bytes, MPI_BYTE, !rank, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);")
    )
    stuck = stairs.timeline("tree", source, ranks=4).found
    assert set(stuck.waits["kind"]) == {"never ended"}
    assert stuck.warnings == ["Ranks in a call that never ends: 0, 1, 2, 3."]
    (tmp_path / "empty.paje").write_text("")
    with pytest.raises(LabError, match="is not a SimGrid trace"):
        simgrid.read(tmp_path / "empty.paje")


@pytest.mark.cluster
@pytest.mark.nightly
def test_a_plate_is_measured_on_the_nodes_that_are_there_and_simulated_on_others(
    cluster: NamespaceCluster, records: Path
) -> None:
    made = scaling.measure(cluster, lab_09.times())
    table = scaling.table(made)
    assert sorted(set(table["nodes"])) == list(scaling.NODES)
    assert set(scaling.errors_percent(made)) == {2, 4}
    faster = table.set_index(["network", "nodes"])["speed_up"]
    assert faster[scaling.GIGABIT, 64] > faster[scaling.OWN, 64]
    assert newest(records, "S9", made.variant) == made


@pytest.mark.cluster
@pytest.mark.nightly
def test_programs_are_recorded_once_and_replayed_on_other_networks(
    cluster: NamespaceCluster, records: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replays, "KERNELS", {"IS": replays.KERNELS["IS"]})
    own = by_the_author(replays.lab_08_gas.SOURCE, tmp_path)
    made = replays.measure(cluster, of(lab_09.times()), own)
    table = replays.table(made)
    assert list(table.index) == ["plate", "IS", "gas"]
    assert (table["recorded_ms"] > 0).all()
    assert _saved_ms(table).loc["plate"] > LEAST_SAVED_MS
    assert newest(records, "S9", made.variant) == made


def _saved_ms(table: pd.DataFrame) -> pd.Series:
    """What paper E's tuning saves in the replays.

    Where many messages share a link, as in an all-to-all, the measured times of computing decide which ones meet there.
    Then a replay can take longer on the faster network. The plate's ranks exchange with neighbours alone.
    """
    return table["paper E, before (ms)"] - table["paper E, after (ms)"]


LEAST_SAVED_MS = 20 * 0.030  # in each of the plate's 20 steps a rank waits for a message


@pytest.mark.nightly
def test_on_nodes_that_are_not_there_computing_takes_its_time_in_each_replay(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kernels = {
        name: replace(each, words=("S",), ranks=8)
        for name, each in replays.KERNELS_64.items()
        if name != "CG"
    }
    monkeypatch.setattr(replays, "KERNELS_64", kernels)
    own = by_the_author(replays.lab_08_gas.SOURCE, tmp_path)
    made = replays.on_64_nodes(_nowhere(tmp_path), of(lab_09.times()), own)
    table = replays.table(made)
    assert dict(table["nodes"]) == {"plate": 64, "MG": 8, "IS": 8, "FT": 8, "gas": 64}
    # Without the computing, or with other messages, a replay would be far from what was recorded.
    assert (table["off_percent"].abs() < 5).all()
    assert _saved_ms(table).loc["plate"] > LEAST_SAVED_MS
    plate = table.loc["plate", "paper E, after (ms)"]
    assert plate > 20 * 64 * 3e-3, "20 steps with 64 rows of 3 µs"
    assert newest(tmp_path / "records", "S9", made.variant) == made


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("file", "said"),
    first(1, [("nowhere.c", "There is no file nowhere.c"), ("gas.c", "exchange_ghosts is wrong")]),
)
def test_a_gas_that_is_missing_or_wrong_is_left_out_and_that_is_said(
    file: str,
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(replays, "KERNELS_64", {})
    shutil.copy(paths.lab("08") / "gas.c", tmp_path)
    monkeypatch.chdir(tmp_path)
    made = replays.on_64_nodes(_nowhere(tmp_path), of(lab_09.times()), file)
    assert list(replays.table(made).index) == ["plate"]
    assert said in str(made.sweep["without_gas"])
    assert said in capsys.readouterr().out


def test_another_network_changes_only_the_cables_part_and_says_how_sure_it_is() -> None:
    made = of(lab_09.times())
    slow, same, cable = made.at_rate("10mbit"), made.at_rate("100mbit"), made.on_cable(1000)
    for before, there, back, fast in zip(
        made.sizes, slow.sizes, same.sizes, cable.sizes, strict=True
    ):
        assert there.low <= there.median <= there.high
        assert there.median > before.median
        assert back.low <= before.median <= back.high
        if before.size_bytes > 100_000:
            assert there.median == pytest.approx(10 * before.median, rel=0.05)
            assert fast.median < 0.2 * before.median
    with pytest.raises(LabError, match=r"not 3mbit"):
        made.at_rate("3mbit")
    with pytest.raises(LabError, match="A cable's rate is"):
        made.on_cable(0)


def test_less_latency_shortens_a_step_a_shared_cable_lengthens_it_and_the_formula_of_the_sliders_is_near() -> (
    None
):
    exact, after, shared = (
        scaling.on_network(name, 3.0, 16)
        for name in ("paper-e-before", "paper-e-after", "ethernet-1995")
    )
    assert after < exact < shared
    assert scaling.model_ms(16, 1000, 50, 3.0) == pytest.approx(exact, rel=0.15)
    assert set(scaling.sliders(3.0, latency_us=1).table["line"]) == {
        "by the formula",
        "nothing lost",
    }


@pytest.mark.nightly
def test_a_tree_wins_with_short_data_and_parts_win_with_long(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(collectives, "NODES", (16,))
    made = collectives.measure(_nowhere(tmp_path), of(lab_09.times()))
    table = collectives.table(made).xs(16, level="nodes")
    tree, parts = table["binomial tree"], table["scatter and all-gather"]
    assert tree.iloc[0] < parts.iloc[0]
    assert parts.iloc[-1] < tree.iloc[-1] < table[collectives.LOOP].iloc[-1]
    assert list(table["shortest"].iloc[[0, -1]]) == ["binomial tree", "scatter and all-gather"]
    sums = collectives.table(made, "allreduce").xs(16, level="nodes")
    assert list(sums["shortest"].iloc[[0, -1]]) == ["recursive doubling", "Rabenseifner"]
    # 2 (p - 1) rounds of a part each, and log2 p rounds of all: few rounds win with short data, few bytes with long.
    assert sums["recursive doubling"].iloc[0] < sums["ring"].iloc[0]
    assert sums["ring"].iloc[-1] < sums["recursive doubling"].iloc[-1]
    # Without an eager limit, each of its 2 (p - 1) messages also waits for an answer.
    messages_ms = 2 * 15 * (lab_09.ALPHA_US + lab_09.US_A_BYTE * 262_144 / 16) / 1e3
    assert messages_ms < sums["ring"].iloc[-1] < 1.5 * messages_ms
    with pytest.raises(UsageError, match="There are broadcast, allreduce"):
        collectives.table(made, "gather")
    assert newest(tmp_path / "records", "S9", made.variant) == made


# What an attacker of the grading tried. With names of their own, and never a step's time.

OVERRIDE = """
int MPI_Allreduce(const void *in, void *out, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
    static int calls;
    if (type == MPI_LONG) return *(long *)out = 1L << 40, 0;
    return *(double *)out = ++calls == 1 ? *(const double *)in : 0.0005, 0;
}
"""
# The address of the data, by a tree, and beside it as many bytes as the data have, all at once.
ADDRESS = """
    static unsigned char other[1 << 18];
    MPI_Request requests[2];
    unsigned char *there = COPY;
    MPI_Irecv(other, bytes, MPI_BYTE, (rank + ranks - 1) % ranks, 8, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(data, bytes, MPI_BYTE, (rank + 1) % ranks, 8, MPI_COMM_WORLD, &requests[1]);
    if (rank) MPI_Recv(&there, 8, MPI_BYTE, (rank - 1) / 2, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int to = 2 * rank + 1; to <= 2 * rank + 2 && to < ranks; to++)
        MPI_Send(&there, 8, MPI_BYTE, to, TAG, MPI_COMM_WORLD);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    if (rank) memcpy(data, there, (size_t)bytes);
"""
STACK = """
    broadcast_naive(data, bytes, rank, ranks);
    volatile double mark = 0, *above = &mark;
    for (int i = 1; i < 60; i++)
        if (above[i] > 0.0099 && above[i] < 0.2) above[i] += 0.0081;
"""
EARLY = """
    static MPI_Request request;
    if (rank) MPI_Irecv(data, bytes, MPI_BYTE, 0, TAG, MPI_COMM_WORLD, &request);
    else for (int to = 1; to < ranks; to++) MPI_Isend(data, bytes, MPI_BYTE, to, TAG, MPI_COMM_WORLD, &request);
"""
BEYOND = "broadcast_naive(data, bytes, rank, ranks); data[bytes + 3] = 1;"
NOBODY = """
    broadcast_naive(data, bytes, rank, ranks);
    if (rank == ranks - 1) MPI_Send(data, 1, MPI_BYTE, ranks, TAG, MPI_COMM_WORLD);
"""


@pytest.mark.parametrize(
    ("source", "said"),
    first(2, [
        (tree(ADDRESS.replace("COPY", "data")), "rank "),
        (tree(ADDRESS.replace("COPY", "memcpy(malloc(1 << 18), data, (size_t)bytes)")), "rank "),
        (tree(ADDRESS.replace("COPY", "memcpy((unsigned char[1 << 18]){0}, data, (size_t)bytes)")), "rank "),
        (tree(EARLY), "wrong data"),
        (tree(STACK), ""),
        (tree(BEYOND), "behind the end of the data"),
        (tree(NOBODY), "MPI_ERR_RANK"),
    ]),
    ids=["an address", "of a copy", "of the stack", "returned early", "the stack", "beyond the end", "no such rank"],
)  # fmt: skip
def test_a_function_gets_no_time_by_a_trick(source: str, said: str) -> None:
    found = stairs.outcomes(source, ["tree"])["tree"]
    assert said in found.why
    assert found.why or found.ms > 8


def test_no_function_of_mpi_is_replaced_by_the_learners_own() -> None:
    assert stairs.outcomes(behind(OVERRIDE), ["tree"])["tree"].ms == pytest.approx(8.71921)


HONEST = r"""
#define MOST(a, b) ((a) > (b) ? (a) \
                                : (b))
#pragma GCC diagnostic ignored "-Wunused-parameter"
_Static_assert(sizeof(struct halo) > 8, "it's a struct, isn't it?"); // don't
static int way(int rank) { /* as many cases as make a table of jumps */
    switch (rank) {
    case 0: return 3;
    case 1: return 1;
    case 2: return 4;
    case 3: return 15;
    case 4: return 9;
    case 5: return 2;
    case 6: return 6;
    default: return rank;
    }
}
void broadcast_tree(unsigned char *restrict data, int bytes, int rank, int ranks) {
    assert(data != NULL && way(rank) >= 0 && offsetof(struct halo, first) == 0);
    bool leaf = rank & 1 || isnan(INFINITY) || __func__[0] != 'b';
    int lowest = rank ? __builtin_ctz((unsigned)rank) : (int)ceil(log2((double)MOST(ranks, 2)));
    MPI_Status status;
    if (rank)
        MPI_Recv(data, bytes, MPI_BYTE, MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &status);
    int order[1] = {0}, bits[1] = {lowest - 1};
    for (int bit = bits[order[0]]; !leaf && bit >= 0; bit--)
        if (rank + (1 << bit) < ranks)
            MPI_Send(data, bytes, MPI_BYTE, rank + (1 << bit), TAG, MPI_COMM_WORLD);
}
"""


# Every call that is allowed, with requests that are null and types of several sizes.
CALLS = r"""
    enum { HALF = 512 };
    MPI_Request requests[3];
    MPI_Status status, statuses[3];
    int flag = 0, place, done, places[3], left = 2, number = rank, wrong = 0;
    if (rank == 0) {
        for (int to = 1; to < ranks; to++) {
            MPI_Issend(data, HALF / 2, MPI_SHORT, to, 1, MPI_COMM_WORLD, &requests[0]);
            requests[1] = MPI_REQUEST_NULL;
            MPI_Isend(data + HALF, HALF / 8, MPI_DOUBLE, to, 2, MPI_COMM_WORLD, &requests[2]);
            if (to % 3 == 0)
                MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
            else if (to % 3 == 1)
                while (!flag) MPI_Testall(3, requests, &flag, statuses);
            else
                for (; left; left -= done) MPI_Waitsome(3, requests, &done, places, statuses);
            MPI_Sendrecv_replace(&number, 1, MPI_INT, to, 3, to, 3, MPI_COMM_WORLD, &status);
            wrong |= number != to || status.MPI_SOURCE != to || requests[0] || requests[2];
            MPI_Ssend(&to, 1, MPI_INT, to, 4, MPI_COMM_WORLD);
            flag = number = 0, left = 2;
        }
        MPI_Waitany(3, requests, &place, &status);
        wrong |= place != MPI_UNDEFINED;
    } else {
        MPI_Probe(0, 1, MPI_COMM_WORLD, &status);
        MPI_Get_count(&status, MPI_LONG, &number);
        wrong |= number != HALF / 8;
        MPI_Irecv(data, HALF, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &requests[0]);
        MPI_Waitany(1, requests, &place, &status);
        wrong |= place != 0 || status.MPI_TAG != 1 || requests[0] != MPI_REQUEST_NULL;
        MPI_Irecv(data + HALF, bytes, MPI_BYTE, 0, 2, MPI_COMM_WORLD, &requests[1]);
        for (requests[0] = MPI_REQUEST_NULL; !flag;) MPI_Testany(2, requests, &place, &flag, &status);
        MPI_Get_count(&status, MPI_BYTE, &number);
        wrong |= place != 1 || number != HALF;
        number = rank;
        MPI_Sendrecv_replace(&number, 1, MPI_INT, 0, 3, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (flag = 0; !flag;) MPI_Iprobe(0, 4, MPI_COMM_WORLD, &flag, &status);
        MPI_Irecv(&number, 1, MPI_INT, 0, 4, MPI_COMM_WORLD, &requests[0]);
        for (flag = 0; !flag;) MPI_Test(&requests[0], &flag, &status);
        MPI_Comm_rank(MPI_COMM_WORLD, &place), MPI_Comm_size(MPI_COMM_WORLD, &done);
        wrong |= number != rank || place != rank || done != ranks;
    }
    if (wrong) *(volatile int *)0 = 1;
"""


def test_every_call_that_is_allowed_does_what_mpi_says() -> None:
    assert not stairs.outcomes(tree(CALLS), ["tree"])["tree"].why


@pytest.mark.parametrize("ending", first(1, ["\r\n", "\n"]), ids=["CR LF", "LF"])
def test_allowed_headers_their_macros_and_usual_c_cost_an_honest_program_nothing(
    ending: str,
) -> None:
    headers = "".join(f"#include <{name}>\n" for name in sorted(tokens.HEADERS - {"stairs.h"}))
    head, _, rest = HANDED_OUT.partition("/* TODO: in each round")
    _, _, rest = rest.partition("/* TODO: a tree")
    source = f"{headers}{head}{HONEST}/* TODO: a tree{rest}".replace("\n", ending)
    found = stairs.outcomes(source, ["tree"])["tree"]
    assert not found.why
    assert found.ms == pytest.approx(lab_09.TIMES_MS["tree"], rel=0.02)
