"""A search in a database of DNA, divided among the ranks, as mpiBLAST did it.

    mpiexec -n 4 python search.py database.fa queries.fa --out hits.tsv

Rank 0 deals the sequences of the database out; each rank makes a database of its part on its own node
(makeblastdb), searches it for all queries (blastn), and rank 0 merges the hits, the best first. The result is
that of a search in the whole database, to the last digit, whatever the number of ranks:

- How unlikely a hit is (its E-value) depends on the size of the whole database. A rank that knows only its part would
  take a chance hit for a rare one. `blastn -dbsize` corrects the number of letters, but not that of the sequences, and
  the third digit stays wrong. So each part carries a note, an alias file, that says what it is a part of.
- Hits of the same score need an order of their own: else it depends on who answers first.
- The best KEEP of all are among the best KEEP of each part: no rank has to send more.
"""

import argparse
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from mpi4py import MPI

WORLD = MPI.COMM_WORLD
RANK, RANKS = WORLD.Get_rank(), WORLD.Get_size()
TOOLS = ("makeblastdb", "blastn")
HEARD_S = 1.0  # until the messages are passed on: then mpiexec may end all ranks
COLUMNS = "qseqid sseqid score evalue length nident qstart qend sstart send"
QUERY, SUBJECT, SCORE, PLACES = 0, 1, 2, slice(6, 10)


def sequences(text):
    """The sequences of a FASTA file: each its line with '>' and its letters."""
    return [">" + part for part in text.split(">")[1:]]


def letters(sequence):
    """How many letters a sequence has."""
    return sum(len(line.strip()) for line in sequence.split("\n")[1:])


def deal(items, parts):
    """The sequences in as many parts, one after another like cards; lengths even out."""
    return [items[number::parts] for number in range(parts)]


def make_database(folder, part, whole):
    """Make blastn's database of a part, with the note that says of what it is a part."""
    (folder / "part.fa").write_text("".join(part))
    call("makeblastdb", "-in", "part.fa", "-dbtype", "nucl", "-out", "part", cwd=folder)
    note = f"TITLE whole\nDBLIST part\nSTATS_NSEQ {whole['sequences']}\nSTATS_TOTLEN {whole['letters']}\n"
    (folder / "whole.nal").write_text(note)


def search(folder, queries, most):
    """What blastn finds in this rank's part: a row a hit."""
    (folder / "queries.fa").write_text(queries)
    words = ["-task", "blastn", "-query", "queries.fa", "-db", "whole", "-outfmt", f"6 {COLUMNS}"]
    # Never fewer than there are: blastn would choose which to drop.
    output = call("blastn", *words, "-max_target_seqs", str(max(most, 5)), cwd=folder)
    return [tuple(line.split("\t")) for line in output.splitlines()]


def order(hit):
    """The order of hits: by query, the best score first, then by sequence and place, which decides ties."""
    return (hit[QUERY], -int(hit[SCORE]), hit[SUBJECT], *map(int, hit[PLACES]))


def best(hits, keep):
    """The `keep` first hits of each query, in order."""
    chosen, counts = [], {}
    for hit in sorted(hits, key=order):
        counts[hit[QUERY]] = counts.get(hit[QUERY], 0) + 1
        if counts[hit[QUERY]] <= keep:
            chosen.append(hit)
    return chosen


def merge(parts, keep):
    """One list from those of all parts."""
    return best([hit for part in parts for hit in part], keep)


def call(*words, cwd):
    """What a program prints; RuntimeError with its complaint when it fails."""
    done = subprocess.run(words, cwd=cwd, capture_output=True, text=True, errors="replace")
    if done.returncode:
        raise RuntimeError(f"{words[0]} failed: {done.stderr.strip() or done.stdout.strip()}")
    return done.stdout


def tell(kind, **values):
    """One line of JSON from rank 0."""
    if RANK == 0:
        print(json.dumps({"kind": kind, **values}), flush=True)


def refuse(sentence):
    """End all ranks; rank 0 says why, and ends last, because its code makes mpiexec end the others."""
    if RANK == 0:
        print(f"refused: {sentence}", file=sys.stderr, flush=True)
    MPI.Finalize()
    if RANK == 0:
        time.sleep(HEARD_S)
    sys.exit(2 if RANK == 0 else 0)


def together(step, *values):
    """Do a step on all ranks; its result, and the seconds of the slowest. A rank's complaint ends them all."""
    WORLD.Barrier()
    began, result, trouble = MPI.Wtime(), None, ""
    try:
        result = step(*values)
    except OSError as problem:
        trouble = f"{problem.filename} on {MPI.Get_processor_name()}: {problem.strerror}."
    except (ValueError, RuntimeError) as problem:
        trouble = f"{MPI.Get_processor_name()}: {problem}"
    seconds = WORLD.allreduce(MPI.Wtime() - began, op=MPI.MAX)
    if messages := [each for each in WORLD.allgather(trouble) if each]:
        refuse(messages[0])
    return result, seconds


def read(asked):
    """The database, dealt out, the queries and the size of the whole, on rank 0; nothing on the others."""
    if RANK:
        return None
    database = sequences(Path(asked.database).read_text())
    queries = Path(asked.queries).read_text()
    if len(database) < RANKS:
        raise ValueError(
            f"{asked.database} has {len(database)} sequences, too few for {RANKS} ranks."
        )
    if not sequences(queries):
        raise ValueError(f"{asked.queries} has no sequence to look for.")
    counts = [letters(sequence) for sequence in database]
    if not all(counts):
        raise ValueError(f"A sequence of {asked.database} has no letters.")
    return deal(database, RANKS), queries, {"sequences": len(database), "letters": sum(counts)}


def scatter(work):
    """Give each rank its part; everybody gets the queries and the size of the whole."""
    parts, queries, whole = work or (None, None, None)
    return WORLD.scatter(parts), *WORLD.bcast((queries, whole))


def arguments():
    """What the words after the program's name ask for."""
    reader = argparse.ArgumentParser(description=__doc__, exit_on_error=False)
    reader.add_argument("database")
    reader.add_argument("queries")
    reader.add_argument("--keep", type=int, default=50, help="hits a query")
    reader.add_argument("--out", default="", help="a file for the hits")
    try:
        asked, unknown = reader.parse_known_args()
    except (argparse.ArgumentError, ValueError, SystemExit) as problem:
        refuse(f"{problem}." if str(problem) != "2" else "A database and queries are needed.")
    if unknown:
        refuse(f"There is no argument {unknown[0]}.")
    if asked.keep < 1:
        refuse("--keep is at least 1.")
    return asked


def main():
    """Scatter, format, search, merge: each step timed."""
    asked = arguments()
    lacking = [tool for tool in TOOLS if not shutil.which(tool)]
    where = [(MPI.Get_processor_name(), tool) for tool in lacking]
    if missing := [pair for each in WORLD.allgather(where) for pair in each]:
        node, tool = missing[0]
        refuse(f"{tool} is not on {node}: `sudo apt-get install ncbi-blast+` installs it.")
    patient = WORLD.reduce(int(os.environ.get("BEOWULF_POLLING") == "patient"))
    tell("about", program="search.py", ranks=RANKS, patient_ranks=patient, parts=RANKS, samples=5)
    seconds = {}
    work, _ = together(read, asked)
    with tempfile.TemporaryDirectory(prefix="search-") as place:
        folder = Path(place)  # on the node's own disk
        (part, queries, whole), seconds["scatter"] = together(scatter, work)
        _, seconds["format"] = together(make_database, folder, part, whole)
        hits, seconds["search"] = together(search, folder, queries, len(part))
        mine = best(hits, asked.keep)
        hits, seconds["merge"] = together(lambda: merge(WORLD.gather(mine) or [], asked.keep))
    rows = "".join("\t".join(hit) + "\n" for hit in hits)
    together(lambda: Path(asked.out).write_text(rows) if asked.out and RANK == 0 else None)
    for step, value in {**seconds, "total": sum(seconds.values())}.items():
        tell("sample", quantity=f"{step}_s", parts=RANKS, repetitions=1, seconds=value)
    digest = hashlib.sha256(rows.encode()).hexdigest()
    tell("result", parts=RANKS, hits=len(hits), digest=digest, **whole)
    tell("end")


if __name__ == "__main__":
    main()
