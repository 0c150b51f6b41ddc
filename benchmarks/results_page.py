"""Writes docs/results.md, claim by claim, from the full studies that are kept: `python -m benchmarks.results_page`."""

from __future__ import annotations

import re
import statistics
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from benchmarks.full_studies import NAMES, ON_1995
from benchmarks.result import kept, table
from beowulf import paths
from beowulf.cluster.common.config import SIMULATED
from beowulf.cluster.state import USUAL
from beowulf.studies import find
from beowulf.studies.study import Study
from beowulf.verdict import HEADINGS, SYMBOLS, heading, with_place

PAGE = paths.root() / "docs" / "results.md"
TITLE = "# Results, claim by claim"
ABOUT = """\
What the papers' claims came to when each study was measured in full, with `beowulf study ID` and without `--quick`, on
one machine. Other machines give other figures, and may give other Verdicts. [How we measure](measuring.md) says what a
figure promises; `python -m benchmarks full_studies` measures once more, and `python -m benchmarks.results_page` writes
this page. It is published with each release. E3 to E5 are measured before and after, with `beowulf tune compare`.

A claim names its place in the paper. Below the papers' claims are demonstrations, which show what was put in, and what
these labs ask beyond the paper, as own checks: neither counts in the summary. What is simulated as well has a section
of its own, and no count in the summary's last line. Beside a claim is what was measured in the study's last run, the
Verdict, and in how many of its last runs it came out so. Below the tables is, for each outcome in them, why a modern
result agrees with the paper's, differs from it, or cannot decide."""
NOT_YET = "not measured yet"
NOT_RECORDED = "not recorded"
ON = ("processor", "kernel")  # of a run
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
    measured = {*runs, *failed}.intersection(NAMES)
    names = sorted(measured, key=lambda name: (name[0], int(name[1:].partition("-")[0]), name))
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
    said = f"{study_of(name).id} {study_of(name).title}"
    return f"{said}, simulated with processors of 1995" if name.endswith(ON_1995) else said


def study_of(name: str) -> Study:
    """The study of a run."""
    return find(name.removesuffix(ON_1995))


def summary(names: Iterable[str], runs: Mapping[str, Run]) -> str:
    """How many of the papers' claims came out how in each study, in all runs alike, and the minutes that it took."""
    rows = []
    total = dict.fromkeys(SYMBOLS, 0)
    again: list[Run] = []  # the claims of studies of which several runs are kept
    for name in names:
        link = re.sub(r"[^\w\- ]", "", title(name).lower()).replace(" ", "-")
        shown = f"[{title(name)}](#{link})"
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
    minutes = f"{sum(run['took_s'] for run in runs.values()) / 60:.1f}"
    rows.append(["all", *map(str, total.values()), agreement(again), minutes])
    return table(["study", *SYMBOLS, "alike in all runs", "minutes"], rows)


def agreement(verdicts: Sequence[Run]) -> str:
    """How many claims came out alike in all runs; nothing where there is a single run."""
    alike = sum(len(set(each["outcomes"])) == 1 for each in verdicts)
    return f"{alike} of {len(verdicts)}" if verdicts else ""


def count(verdicts: Sequence[Run]) -> dict[str, int]:
    """How many came out how."""
    return {word: sum(each["outcome"] == word for each in verdicts) for word in SYMBOLS}


def circumstances(result: Run, runs: Mapping[str, Run]) -> str:
    """When, on what, and beside what else the runs were made."""
    each = [one for run in runs.values() for one in run["each"]]
    before = [one["before"] for one in each]
    started = sorted(one["started"] for one in each)
    on = [one.get("on", {}) for one in each]
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
        *([name, several(one.get(name, NOT_RECORDED) for one in on)] for name in ON),
        ["cores", several(cores)],
        [
            "load before a run",
            f"median {statistics.median(loads):.2f}, at most {max(loads):.2f}, of {cores[-1]} cores",
        ],
        *([f"{name} of the last run", result["versions"][name]] for name in ("python", "commit")),
    ]
    return table(["", ""], rows)


def section(name: str, run: Run | None, failed: str | None) -> list[str]:
    """A study's claims with their Verdicts, and why each outcome that occurs may be so."""
    if run is None:
        return [f"{NOT_YET.capitalize()}{f': {failed}' if failed else '.'}"]
    verdicts = run["verdicts"]
    cluster = {"kind": USUAL} | run.get("cluster", {})
    where = "; simulated by SimGrid, not measured" if cluster["kind"] == SIMULATED else ""
    where = (
        f"; {cluster['nodes']} nodes on {cluster['networks']} networks of {cluster['rate']}"
        if cluster.get("networks", 1) > 1
        else where
    )
    return [
        "\n".join(f"- {one_run(each)}{where}." for each in run["each"]),
        *(
            part
            for above in HEADINGS
            if (listed := [row(each) for each in verdicts if heading(each) == above])
            for part in (f"{above}:" if above else "", table(COLUMNS, listed))
        ),
        "\n".join(
            f"- **{outcome}**: {why}"
            for outcome, why in study_of(name)
            .reasons((each["outcome"] for each in verdicts), cluster)
            .items()
        ),
    ]


def one_run(run: Run) -> str:
    """When a run began, how long it took, beside what else, and on what."""
    before, on = run["before"], run.get("on", {})
    return (
        f"{moment(run['started'])}, {run['took_s']:.0f} s; load before: {before['load_1min']:.2f} on"
        f" {before['cores']} cores" + "".join(f"; {name} {on[name]}" for name in ON if name in on)
    )


def several(values: Iterable[object]) -> str:
    """Those values that occur, each once."""
    return ", ".join(sorted({str(value) for value in values}))


def row(verdict: Run) -> list[str]:
    """A claim, what was measured for it, and what it came to in how many runs."""
    outcome, outcomes = verdict["outcome"], verdict["outcomes"]
    came = f"{SYMBOLS[outcome]} {outcome}"
    if len(outcomes) > 1:
        came += f" ({outcomes.count(outcome)} of {len(outcomes)} runs)"
    return [escaped(with_place(verdict)), escaped(verdict["evidence"]), came]


def escaped(text: str) -> str:
    """Text of a Verdict on one line, without a meaning in Markdown."""
    return re.sub(r"([<*])", r"\\\1", " ".join(text.split()))


def moment(started: str) -> str:
    """A time of a Record, to the minute."""
    return f"{started[:10]} {started[11:16]} UTC"


if __name__ == "__main__":
    main()
