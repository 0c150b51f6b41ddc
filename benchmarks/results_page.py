"""Writes docs/results.md, claim by claim, from the full studies that are kept: `python -m benchmarks.results_page`."""

from __future__ import annotations

import re
import statistics
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from benchmarks.result import kept, table
from beowulf import paths
from beowulf.studies import STUDIES, find
from beowulf.verdict import HEADINGS, SYMBOLS, heading, with_place

PAGE = paths.root() / "docs" / "results.md"
TITLE = "# Results, claim by claim"
ABOUT = """\
What the papers' claims came to when each study was measured in full, with `beowulf study ID` and without `--quick`, on
one machine. Other machines give other figures, and may give other Verdicts. [How we measure](measuring.md) says what a
figure promises; `python -m benchmarks full_studies` measures again, and `python -m benchmarks.results_page` writes this
page.

A claim names its place in the paper. Below are demonstrations, which show what was put in, and what these labs ask
beyond the paper, as own checks: neither counts in the summary. Beside a claim is what was measured in the study's last run, and the Verdict; where runs came out
differently, it has the number of those that came out so. Below the tables is, for each outcome in them, why a modern
result agrees with the paper's, differs from it, or cannot decide."""
NOT_YET = "not measured yet"
COLUMNS = ("claim", "measured", "Verdict")

Run = Mapping[str, Any]


def main() -> None:
    """Write the page from what is measured."""
    PAGE.write_text(markdown(kept("full_studies")), encoding="utf-8")
    print(f"Written: {PAGE}.")


def markdown(result: Mapping[str, Any]) -> str:
    """The whole page: a summary, the circumstances, and a section a study."""
    runs, failed = result["facts"]["runs"], result["facts"]["failed"]
    # By paper, and not by lab as STUDIES are; a study that came later is on the page once it is measured.
    measured = {*runs, *failed}.intersection(STUDIES)
    names = sorted(measured, key=lambda name: (name[0], int(name[1:])))
    parts = [
        TITLE,
        ABOUT,
        "## Summary",
        summary(names, runs),
        "## Circumstances",
        circumstances(result, runs),
        *(
            part
            for name in names
            for part in (f"## {title(name)}", *section(name, runs.get(name), failed.get(name)))
        ),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def title(name: str) -> str:
    """A study's ID and title."""
    return f"{name} {find(name).title}"


def summary(names: Iterable[str], runs: Mapping[str, Run]) -> str:
    """How many of the papers' claims came out how in each study, and the minutes that it took."""
    rows = []
    total = dict.fromkeys(SYMBOLS, 0)
    for name in names:
        link = re.sub(r"[^\w\- ]", "", title(name).lower()).replace(" ", "-")
        shown = f"[{title(name)}](#{link})"
        if name not in runs:
            rows.append([shown, NOT_YET, "", "", ""])
            continue
        counts = count([each for each in runs[name]["verdicts"] if not heading(each)])
        total = {outcome: total[outcome] + counts[outcome] for outcome in SYMBOLS}
        rows.append([shown, *map(str, counts.values()), f"{runs[name]['took_s'] / 60:.1f}"])
    minutes = sum(run["took_s"] for run in runs.values()) / 60
    rows.append(["all", *map(str, total.values()), f"{minutes:.1f}"])
    return table(["study", *SYMBOLS, "minutes"], rows)


def count(verdicts: Sequence[Run]) -> dict[str, int]:
    """How many came out how."""
    return {word: sum(each["outcome"] == word for each in verdicts) for word in SYMBOLS}


def circumstances(result: Run, runs: Mapping[str, Run]) -> str:
    """When, on what, and beside what else the runs were made."""
    before = [run["before"] for run in runs.values()]
    started = sorted(run["started"] for run in runs.values())
    loads = [each["load_1min"] for each in before]
    cluster = result["facts"]["cluster"]
    cores = sorted({each["cores"] for each in before})
    rows = [
        ["measured", f"{moment(started[0])} to {moment(started[-1])} (starts of the last runs)"],
        ["runs of each study", ", ".join(map(str, sorted({run["runs"] for run in runs.values()})))],
        [
            "cluster, where a study names no other",
            f"{cluster['nodes']} nodes in namespaces of one machine",
        ],
        ["link rate", cluster["rate"]],
        ["MPI", f"{cluster['mpi']} MPICH"],
        ["cores", ", ".join(map(str, cores))],
        [
            "load before a run",
            f"median {statistics.median(loads):.2f}, at most {max(loads):.2f}, of {cores[-1]} cores",
        ],
        *([name, result["versions"][name]] for name in ("kernel", "machine", "python", "commit")),
    ]
    return table(["", ""], rows)


def section(name: str, run: Run | None, failed: str | None) -> list[str]:
    """A study's claims with their Verdicts, and why each outcome that occurs may be so."""
    if run is None:
        return [f"{NOT_YET.capitalize()}{f': {failed}' if failed else '.'}"]
    before, verdicts = run["before"], run["verdicts"]
    cluster = run.get("cluster", {})
    where = (
        f"; {cluster['nodes']} nodes on {cluster['networks']} networks of {cluster['rate']}"
        if cluster.get("networks", 1) > 1
        else ""
    )
    of_runs = f", the last of {run['runs']} runs" if run["runs"] > 1 else ""
    return [
        f"{moment(run['started'])}, {run['took_s']:.0f} s{of_runs}; load before: {before['load_1min']:.2f} on"
        f" {before['cores']} cores{where}.",
        *(
            part
            for above in HEADINGS
            if (listed := [row(each) for each in verdicts if heading(each) == above])
            for part in (f"{above}:" if above else "", table(COLUMNS, listed))
        ),
        "\n".join(
            f"- **{outcome}**: {why}"
            for outcome, why in find(name)
            .reasons((each["outcome"] for each in verdicts), cluster)
            .items()
        ),
    ]


def row(verdict: Run) -> list[str]:
    """A claim, what was measured for it, and what it came to in how many runs."""
    outcome, outcomes = verdict["outcome"], verdict["outcomes"]
    agree = outcomes.count(outcome)
    came = f"{SYMBOLS[outcome]} {outcome}"
    if agree < len(outcomes):
        came += f" ({agree} of {len(outcomes)} runs)"
    return [escaped(with_place(verdict)), escaped(verdict["evidence"]), came]


def escaped(text: str) -> str:
    """Text of a Verdict on one line, without a meaning in Markdown."""
    return re.sub(r"([<*])", r"\\\1", " ".join(text.split()))


def moment(started: str) -> str:
    """A time of a Record, to the minute."""
    return f"{started[:10]} {started[11:16]} UTC"


if __name__ == "__main__":
    main()
