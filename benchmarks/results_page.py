"""Writes docs/results.md, claim by claim, from the full studies that are kept: `python -m benchmarks.results_page`."""

from __future__ import annotations

import re
import statistics
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from benchmarks.brief_evidence import cells
from benchmarks.full_studies import NAMES, ON_1995
from benchmarks.result import kept, table
from beowulf import papers, paths
from beowulf.cluster.common.config import SIMULATED
from beowulf.cluster.state import USUAL
from beowulf.studies import find
from beowulf.studies.study import Study
from beowulf.verdict import DEMONSTRATIONS, HEADINGS, OWN_CHECKS, SYMBOLS, heading, with_place

PAGE = paths.root() / "docs" / "results.md"
TITLE = "# Results, claim by claim"
ABOUT = """\
The outcome of each claim of the papers, with each study measured in full three times, on machine A unless a run names
another. Other machines may give other Verdicts. [How we measure](measuring.md) explains what a figure means. E3 to E5
are measured before and after tuning (`beowulf tune compare`).

**Measured** has the deciding figures of the last run: median [95 % interval], number of samples, and the limit asked
for. *Half of X* is half of the change that the paper prints. `beowulf claims ID` prints the evidence of your own Record
in full, and [the runs](../benchmarks/results/full_studies.json) have that of every claim here. Where the runs differ,
the Verdict says in how many of them it came out that way.

Only the papers' claims count in the summary. Below them are the paper's arithmetic and, where they do not hold,
demonstrations (what was put in comes out, or machines of two eras are compared) and our own checks; of those that
hold, only the number is given. A study's second section, if any, is simulated and not in the summary's last line;
C6, which is only simulated, is in it."""
NOT_YET = "not measured yet"
NOT_RECORDED = "not recorded"
COLUMNS = ("claim", "measured", "Verdict")
# Of which those that hold are counted alone, by what they are called.
COUNTED = {DEMONSTRATIONS: "Demonstrations", OWN_CHECKS: "Own checks"}
SUMMARY = ("study", *SYMBOLS, "equal in all runs", "minutes")

Run = Mapping[str, Any]


def main() -> None:
    """Write the page from what is measured."""
    PAGE.write_text(markdown(kept("full_studies")), encoding="utf-8")
    print(f"Written: {PAGE}.")


def markdown(result: Mapping[str, Any]) -> str:
    """The whole page: a summary, the circumstances, and a section a study."""
    runs, failed = result["facts"]["runs"], result["facts"]["failed"]
    each = [one for run in runs.values() for one in run["each"]]
    machines = lettered(each)
    # By paper, and not by lab as STUDIES are; a study that came later is on the page once it is measured.
    measured = {*runs, *failed}.intersection(NAMES)
    names = sorted(measured, key=lambda name: (name[0], int(name[1:].partition("-")[0]), name))
    parts = [
        TITLE,
        ABOUT,
        cited({name[0] for name in names}),
        "## Summary",
        summary(names, runs),
        "## Circumstances",
        circumstances(result, runs, machines),
        *(
            part
            for name in names
            for part in (
                f"## {title(name)}",
                *section(name, runs.get(name), failed.get(name), machines),
            )
        ),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def cited(letters: Collection[str]) -> str:
    """The papers whose studies are on the page, by the letters with which the studies' IDs begin."""
    lines = (
        f"- **{letter}**: {papers.cite(letter)} {linked(papers.place(letter))}"
        for letter in papers.letters()
        if letter in letters
    )
    return "The letter of a study is that of its paper (L: of none):\n\n" + "\n".join(lines)


def linked(place: str) -> str:
    """Where to get a paper: an address as a link, or a sentence as it is."""
    return f"<{place}>" if place.startswith("http") else place


def title(name: str) -> str:
    """A study's ID and title."""
    said = f"{study_of(name).id} {study_of(name).title}"
    return f"{said}, simulated with processors of 1995" if name.endswith(ON_1995) else said


def study_of(name: str) -> Study:
    """The study of a run."""
    return find(name.removesuffix(ON_1995))


def summary(names: Iterable[str], runs: Mapping[str, Run]) -> str:
    """How many of the papers' claims came out how in each study, and the minutes that it took."""
    rows = []
    total = dict.fromkeys(SYMBOLS, 0)
    again: list[Run] = []  # the claims of studies of which several runs are kept
    for name in names:
        link = re.sub(r"[^\w\- ]", "", title(name).lower()).replace(" ", "-")
        shown = f"[{study_of(name).id}](#{link}) {study_of(name).title.partition(':')[0]}"
        shown += " (simulated)" if name.endswith(ON_1995) else ""
        if name not in runs:
            rows.append([shown, NOT_YET, *[""] * 4])
            continue
        claims = [each for each in runs[name]["verdicts"] if not heading(each)]
        several = claims if len(runs[name]["each"]) > 1 else []
        counts = count(claims)
        if not name.endswith(ON_1995):
            again += several
            total = {outcome: total[outcome] + counts[outcome] for outcome in SYMBOLS}
        minutes = f"{runs[name]['took_s'] / 60:.1f}"
        rows.append([shown, *map(str, counts.values()), agreement(several), minutes])
    counted = [run["took_s"] for name, run in runs.items() if not name.endswith(ON_1995)]
    minutes = f"{sum(counted) / 60:.1f}"
    rows.append(["all", *map(str, total.values()), agreement(again), minutes])
    return table(SUMMARY, rows)


def agreement(verdicts: Sequence[Run]) -> str:
    """How many claims came out the same in all runs; nothing where there is a single run."""
    equal = sum(len(set(each["outcomes"])) == 1 for each in verdicts)
    return f"{equal} of {len(verdicts)}" if verdicts else ""


def count(verdicts: Sequence[Run]) -> dict[str, int]:
    """How many came out how."""
    return {word: sum(each["outcome"] == word for each in verdicts) for word in SYMBOLS}


def made_on(run: Run) -> str:
    """The machine of a run."""
    on = run.get("on", {})
    return f"{on.get('processor', NOT_RECORDED)}, kernel {on.get('kernel', NOT_RECORDED)}"


def lettered(each: Iterable[Run]) -> dict[str, str]:
    """A letter for each machine; A is that of most runs."""
    found = Counter(map(made_on, each)).most_common()
    return {machine: chr(ord("A") + number) for number, (machine, _) in enumerate(found)}


def circumstances(result: Run, runs: Mapping[str, Run], machines: Mapping[str, str]) -> str:
    """When, on what, and beside what else the runs were made."""
    each = [one for run in runs.values() for one in run["each"]]
    before = [one["before"] for one in each]
    started = sorted(one["started"] for one in each)
    loads = [one["load_1min"] for one in before]
    cluster = result["facts"]["cluster"]
    cores = sorted({one["cores"] for one in before})
    rows = [
        ["measured", f"{moment(started[0])} to {moment(started[-1])} (starts of the runs)"],
        ["runs of each study", several(len(run["each"]) for run in runs.values())],
        [
            "cluster, where a study names no other",
            f"{cluster['nodes']} nodes in namespaces of one machine",
        ],
        ["link rate", cluster["rate"]],
        ["MPI", f"{cluster['mpi']} MPICH"],
        *([f"machine {letter}", machine] for machine, letter in machines.items()),
        ["cores", several(cores)],
        [
            "load before a run",
            f"median {statistics.median(loads):.2f}, at most {max(loads):.2f}, of {cores[-1]} cores",
        ],
        *([f"{name} of the last run", result["versions"][name]] for name in ("python", "commit")),
    ]
    return table(["", ""], rows)


def section(
    name: str, run: Run | None, failed: str | None, machines: Mapping[str, str]
) -> list[str]:
    """A study's claims with their Verdicts, and why each outcome that occurs may be so."""
    if run is None:
        return [f"{NOT_YET.capitalize()}{f': {failed}' if failed else '.'}"]
    verdicts = run["verdicts"]
    cluster = {"kind": USUAL} | run.get("cluster", {})
    study, where = study_of(name), ""
    if cluster["kind"] == SIMULATED or (study.simulates and not study.timed):
        where = "; simulated by SimGrid, not measured"
    elif cluster.get("networks", 1) > 1:
        where = f"; {cluster['nodes']} nodes on {cluster['networks']} networks of {cluster['rate']}"
    measured, notes = cells([each["evidence"] for each in verdicts])
    listed: dict[str, list[list[str]]] = {above: [] for above in HEADINGS}
    held: Counter[str] = Counter()
    for each, cell in zip(verdicts, measured, strict=True):
        if each["outcome"] == "holds" and heading(each) in COUNTED:
            held[heading(each)] += 1
        else:
            listed[heading(each)].append(row(each, cell))
    claims = listed.pop("")
    # An own check that holds needs no reason.
    outcomes = [
        each["outcome"]
        for each in verdicts
        if each["outcome"] != "holds" or heading(each) != OWN_CHECKS
    ]
    return [
        f"Runs (seconds/load): {', '.join(one_run(each, machines) for each in run['each'])}{where}.",
        table(COLUMNS, claims),
        *(f"{above}:\n\n{points(rows)}" for above, rows in listed.items() if rows),
        " ".join(f"{COUNTED[above]} that hold: {number}." for above, number in held.items()),
        "\n".join(escaped(note) for note in notes),
        "\n".join(
            f"- **{outcome}**: {why}"
            for outcome, why in study_of(name).reasons(outcomes, cluster).items()
        ),
    ]


def points(rows: Iterable[Sequence[str]]) -> str:
    """Claims that do not count, in a line each."""
    return "\n".join(
        f"- {came}: {': '.join(filter(None, [says, cell]))}" for says, cell, came in rows
    )


def one_run(run: Run, machines: Mapping[str, str]) -> str:
    """How long a run took, beside what else, and on which machine, where that is not A."""
    letter = machines[made_on(run)]
    where = "" if letter == "A" else f" on {letter}"
    return f"{run['took_s']:.0f}/{run['before']['load_1min']:.2f}{where}"


def several(values: Iterable[object]) -> str:
    """Those values that occur, each once."""
    return ", ".join(sorted({str(value) for value in values}))


def row(verdict: Run, measured: str) -> list[str]:
    """A claim, what was measured for it, and what it came to: in how many runs, if not in all of them."""
    outcome, outcomes = verdict["outcome"], verdict["outcomes"]
    came = f"{SYMBOLS[outcome]} {outcome}"
    if len(set(outcomes)) > 1:
        came += f" ({outcomes.count(outcome)} of {len(outcomes)})"
    return [escaped(with_place(verdict)), escaped(measured), came]


def escaped(text: str) -> str:
    """Text of a Verdict on one line, without a meaning in Markdown."""
    return re.sub(r"([<*])", r"\\\1", " ".join(text.split()))


def moment(started: str) -> str:
    """A time of a Record, to the minute."""
    return f"{started[:10]} {started[11:16]} UTC"


if __name__ == "__main__":
    main()
