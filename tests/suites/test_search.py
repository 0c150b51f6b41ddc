"""Do the parts of a database give what the whole one gives: the real search, and the merge for any hits?"""

from __future__ import annotations

import importlib.util
import os
import random
import subprocess
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import given
from hypothesis import strategies as st
from running import Beowulf

from beowulf import paths
from beowulf.cli import suites
from beowulf.cluster.namespaces.cluster import NamespaceCluster
from beowulf.labs.lab_07 import e5_application
from beowulf.suites import blast, sequences
from beowulf.suites.sequences import Collection

PROGRAM = paths.root() / "labs" / blast.LAB / blast.PROGRAM
TINY = Collection(bases=60_000, queries=15, seed=3)


@pytest.fixture(scope="session")
def search() -> ModuleType:
    """Lab 03's program as a module; mpi4py needs the library's name before."""
    os.environ.setdefault(
        "MPI4PY_LIBMPI", str(paths.mpi_prefix("classic") / "lib" / "libmpi.so.12")
    )
    spec = importlib.util.spec_from_file_location("search", PROGRAM)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_same_seed_makes_the_same_sequences(tmp_path: Path) -> None:
    texts = []
    for name, made in (("a", TINY), ("b", TINY), ("c", Collection(60_000, 15, seed=4))):
        database, queries = tmp_path / f"{name}.fa", tmp_path / f"{name}q.fa"
        made.write(database, queries)
        texts.append((database.read_text(), queries.read_text()))
    assert texts[0] == texts[1]
    assert texts[0] != texts[2]
    assert texts[0][1].count(">") == TINY.queries
    letters = "".join(line for line in texts[0][0].splitlines() if not line.startswith(">"))
    assert set(letters) == set("ACGT")
    assert len(letters) >= TINY.bases


HITS = st.lists(
    st.tuples(
        st.sampled_from(["q1", "q2", "q3"]),
        st.sampled_from([f"s{number}" for number in range(6)]),
        st.integers(20, 24).map(str),  # so few scores that many are alike
        st.just("0.01"),
        st.just("30"),
        st.just("29"),
        *[st.integers(1, 3).map(str)] * 4,
    ),
    max_size=60,
    unique=True,
)


@given(HITS, st.integers(1, 5), st.integers(1, 6), st.randoms(use_true_random=False))
def test_merging_the_best_of_parts_gives_the_best_of_all(
    search: ModuleType, hits: list[tuple[str, ...]], parts: int, keep: int, chance: random.Random
) -> None:
    dealt: list[list[tuple[str, ...]]] = [[] for _ in range(parts)]
    for hit in hits:
        dealt[chance.randrange(parts)].append(hit)
    merged = search.merge([search.best(part, keep) for part in dealt], keep)
    assert merged == search.best(hits, keep)
    counts = [sum(hit[0] == query for hit in merged) for query in ("q1", "q2", "q3")]
    assert all(count <= keep for count in counts)
    assert merged == sorted(merged, key=search.order)


@given(st.lists(st.text("ACGT\n", min_size=1), max_size=20), st.integers(1, 7))
def test_dealing_loses_no_sequence(search: ModuleType, bodies: list[str], parts: int) -> None:
    found = search.sequences("".join(f">s{n}\n{body}\n" for n, body in enumerate(bodies)))
    dealt = search.deal(found, parts)
    assert len(dealt) == parts
    assert sorted(sequence for part in dealt for sequence in part) == sorted(found)
    assert max(map(len, dealt)) - min(map(len, dealt)) <= 1


def whole(folder: Path, database: Path, queries: Path) -> set[str]:
    """What blastn finds in the database as it is, without a program of ours."""
    made = ["makeblastdb", "-in", str(database), "-dbtype", "nucl", "-out", str(folder / "whole")]
    subprocess.run(made, check=True, capture_output=True)
    columns = "6 qseqid sseqid score evalue length nident qstart qend sstart send"
    words = ["blastn", "-task", "blastn", "-query", str(queries), "-db", str(folder / "whole")]
    words += ["-outfmt", columns, "-max_target_seqs", "100000"]
    done = subprocess.run(words, check=True, capture_output=True, text=True)
    return set(done.stdout.splitlines())


@pytest.mark.nightly
@pytest.mark.cluster
@pytest.mark.usefixtures("blast_is_here")
def test_any_number_of_parts_finds_what_the_whole_has(at_cluster: Beowulf) -> None:
    database, queries = at_cluster.here / "d.fa", at_cluster.here / "q.fa"
    TINY.write(database, queries)
    results = []
    for parts in (1, 4):
        out = at_cluster.here / f"{parts}.tsv"
        words = ("--keep", "1000", "--out", str(out))
        at_cluster("run", "-n", str(parts), PROGRAM, database, queries, *words)
        results.append(out.read_text())
    assert results[0] == results[1]
    found = whole(at_cluster.here, database, queries)
    assert set(results[0].splitlines()) == found, "its E-values too"
    relatives = TINY.queries - TINY.queries // 5
    assert len({row.split("\t")[0] for row in found}) >= relatives


@pytest.mark.nightly
@pytest.mark.cluster
@pytest.mark.usefixtures("blast_is_here")
def test_what_cannot_be_searched_is_a_sentence(at_cluster: Beowulf) -> None:
    database, queries, single = (at_cluster.here / f"{name}.fa" for name in ("d", "q", "single"))
    TINY.write(database, queries)
    single.write_text(">s1\nACGTACGTACGT\n")
    for words, sentence in (
        ((database, at_cluster.here / "gone.fa"), "gone.fa on node00: No such file or directory"),
        ((single, queries), "has 1 sequences, too few for 2 ranks"),
        ((database, queries, "--keep", "0"), "--keep is at least 1"),
    ):
        said = at_cluster("run", "-n", "2", PROGRAM, *words, code=1)
        assert sentence in said
        assert "Abort" not in said
    assert "at least 1 part, not 0" in at_cluster("suite", "search", "-n", "0", code=2)


@pytest.mark.nightly
@pytest.mark.cluster
@pytest.mark.usefixtures("blast_is_here")
def test_the_command_says_seconds_hits_and_parts(
    cluster: NamespaceCluster, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("BEOWULF_STATE", str(cluster.folder))
    monkeypatch.setattr(sequences, "Collection", lambda: TINY)
    suites.suite("search", ranks=2)
    said = capsys.readouterr().out
    rows = [line.split() for line in said.splitlines() if line.strip()[:1] in ("1", "2")]
    assert [row[0] for row in rows[:2]] == ["1", "2"]
    assert rows[0][-1] == rows[1][-1], "as many hits"
    assert "2 parts find the same as the whole" in said


@pytest.mark.nightly
@pytest.mark.cluster
@pytest.mark.usefixtures("blast_is_here")
def test_the_study_searches_the_whole_and_its_parts(
    cluster: NamespaceCluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(e5_application, "PARTS", (1, 2))
    monkeypatch.setattr(e5_application, "QUICK_LAUNCHES", 1)
    record = e5_application.STUDY.measure(cluster, tmp_path, quick=True, collection=TINY)
    record.save_in(tmp_path)
    found = [point.at["parts"] for point in record.points if point.quantity == "total_s"]
    assert found == [1, 2]
    assert e5_application.STUDY.claims(record)[0].outcome == "holds"
    assert list(e5_application.table(record)["parts"]) == [1, 2]
    assert e5_application.STUDY.picture(record).alt
