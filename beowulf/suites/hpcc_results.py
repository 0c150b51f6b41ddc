"""What hpcc prints, as plain data: the seven results, the solutions of HPL, and which checks did not pass."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from beowulf.errors import LabError
from beowulf.suites.problem import THRESHOLD


@dataclass(frozen=True)
class Result:
    """One figure of the suite: its test, its key in a Record (which ends in the unit), what it is."""

    test: str
    key: str
    what: str
    unit: str
    summary: str  # its name in hpcc's summary

    @property
    def smaller_is_better(self) -> bool:
        """Whether it is a time."""
        return self.unit == "µs"

    @property
    def local(self) -> bool:
        """Whether every rank works for itself, and nothing crosses the network."""
        return self.summary.startswith("Star")

    @property
    def rings(self) -> bool:
        """Whether it is from b_eff's long messages."""
        return "bandwidth" in self.key


# Each a line: test, key, what it is, unit, name in hpcc's summary.
RESULTS = tuple(
    Result(*line.split("; "))
    for line in """\
HPL; hpl_gflops; solves one system on all ranks; Gflop/s; HPL_Tflops
DGEMM; dgemm_gflops; multiplies matrices, mean of all ranks at once; Gflop/s a rank; StarDGEMM_Gflops
STREAM; stream_gb_per_s; adds scaled vectors (triad), mean of all ranks at once; GB/s a rank; StarSTREAM_Triad
PTRANS; ptrans_gb_per_s; transposes a matrix over all ranks; GB/s; PTRANS_GBs
RandomAccess; random_access_gups; updates words at random over all ranks; 10^9 updates/s; MPIRandomAccess_GUPs
FFT; fft_gflops; one transform over all ranks; Gflop/s; MPIFFT_Gflops
b_eff; latency_us; 8 bytes, half round trip, mean of the pairs; µs; AvgPingPongLatency_usec
b_eff; least_latency_us; 8 bytes, half round trip, fastest pair; µs; MinPingPongLatency_usec
b_eff; ring_latency_us; 8 bytes to a neighbour in random rings; µs; RandomlyOrderedRingLatency_usec
b_eff; bandwidth_gb_per_s; 2,000,000 bytes one way, mean of the pairs; GB/s; AvgPingPongBandwidth_GBytes
b_eff; ring_bandwidth_gb_per_s; 2,000,000 bytes in random rings; GB/s a rank; RandomlyOrderedRingBandwidth_GBytes
""".splitlines()
)

SECTION_END = re.compile(r"^End of (\w+) section\.", re.MULTILINE)
SECTIONS = tuple(
    "MPIRandomAccess StarRandomAccess SingleRandomAccess"
    " MPIRandomAccess_LCG StarRandomAccess_LCG SingleRandomAccess_LCG PTRANS StarDGEMM SingleDGEMM"
    " StarSTREAM SingleSTREAM MPIFFT StarFFT SingleFFT LatencyBandwidth HPL".split()
)
SUMMARY = re.compile(r"^Begin of Summary section\.$(.*?)^End of Summary section\.", re.M | re.S)
SOLVED = re.compile(
    r"^W[RC]\w+\s+(\d+)\s+(\d+)\s+(\d+)\s+(\d+)\s+([\d.]+)\s+([\d.eE+-]+)\s*$", re.M
)
RESIDUAL = re.compile(r"^\|\|Ax-b\|\|.*=\s*(\S+)\s+\.+\s+(PASSED|FAILED)", re.M)
CLOCK = re.compile(r"^Current time \((\d+)\)", re.M)
SPREAD = re.compile(r"^(Minimum|Average|Maximum) Gflop/s ([\d.eE+-]+)", re.M)


@dataclass(frozen=True)
class Solution:
    """One solution of HPL: its rate, the time that this rate means, and its scaled residual."""

    gflops: float
    seconds: float
    residual: float
    passed: bool


@dataclass(frozen=True)
class Results:
    """What one run of hpcc found; `failures` has a sentence for each check that did not pass."""

    figures: dict[str, float]
    solutions: list[Solution]
    spread: dict[str, tuple[float, float]]  # the slowest and the fastest rank in DGEMM
    sections: dict[str, float]  # seconds, as the clock in hpcc's output has them
    summary: dict[str, str]
    failures: list[str] = field(default_factory=list)
    # By the key of a result, why it has none.
    left_out: dict[str, str] = field(default_factory=dict)

    def fact(self) -> dict[str, Any]:
        """What goes into a Record beside the samples."""
        return {"failures": self.failures, "sections_s": self.sections, "summary": self.summary}


def read(text: str, *, brief: bool = False) -> Results:
    """The results in hpcc's output; LabError when it breaks off. `brief`: b_eff's long messages were cut short."""
    found = SUMMARY.search(text)
    if not found:
        raise LabError(_broken(text), "Its last lines may say why; run hpcc again.")
    summary = dict(
        line.partition("=")[::2] for line in found[1].split("\n") if "=" in line and line.strip()
    )
    left_out = _left_out(summary, brief=brief)
    figures = {
        result.key: _number(summary, result.summary)
        for result in RESULTS
        if result.key not in left_out
    }
    solutions = _solutions(text)
    # Of several solutions, hpcc's summary has one, in Tflop/s; the list has them all.
    figures["hpl_gflops"] = max(solution.gflops for solution in solutions)
    return Results(
        figures,
        solutions,
        {"dgemm": _spread(text, "StarDGEMM")},
        _sections(text),
        summary,
        _failures(summary, solutions),
        left_out,
    )


def _left_out(summary: Mapping[str, str], *, brief: bool) -> dict[str, str]:
    if summary.get("CommWorldProcs") == "1":
        why = "one rank has nobody to talk to"
        return {result.key: why for result in RESULTS if result.test == "b_eff"}
    why = "`--quick` cuts the long messages short"
    return {result.key: why for result in RESULTS if brief and result.rings}


def _broken(text: str) -> str:
    ended = SECTION_END.findall(text)
    last = [line.strip() for line in text.splitlines() if line.strip(" -=#*")][-1:]
    said = f" Its last line: {last[0]}" if last else " It printed nothing."
    after = f"after {ended[-1]}" if ended else "before its first test had ended"
    return f"hpcc's output breaks off {after}: there is no summary.{said}"


def _number(summary: Mapping[str, str], name: str) -> float:
    value = float(summary[name])
    if value < 0:  # -1 stands for a test that did not run, for want of memory
        raise LabError(f"hpcc did not measure {name}: its summary has {summary[name]} for it.")
    return value


def _solutions(text: str) -> list[Solution]:
    section = _section(text, "HPL")
    solved = zip(SOLVED.findall(section), RESIDUAL.findall(section), strict=True)
    solutions = []
    for (n, _nb, _p, _q, _seconds, gflops), (residual, word) in solved:
        # The time is printed with two digits behind the point, the rate with four in all.
        operations = 2 / 3 * int(n) ** 3 + 3 / 2 * int(n) ** 2
        rate = float(gflops)
        solutions.append(Solution(rate, operations / rate / 1e9, float(residual), word == "PASSED"))
    return solutions


def _section(text: str, name: str) -> str:
    begin = "HPLinpack" if name == "HPL" else f"Begin of {name} section."
    before = text.partition(f"End of {name} section.")[0]
    return before[before.rfind(begin) :] if begin in before else ""


def _spread(text: str, name: str) -> tuple[float, float]:
    found = {word: float(value) for word, value in SPREAD.findall(_section(text, name))}
    return found.get("Minimum", 0.0), found.get("Maximum", 0.0)


def _sections(text: str) -> dict[str, float]:
    """Seconds of each section, from the clock at its end to that of the one before."""
    found: dict[str, float] = {}
    clocks = [(match.start(), int(match[1])) for match in CLOCK.finditer(text)]
    for match in SECTION_END.finditer(text):
        before = [at for place, at in clocks if place < match.start()]
        if match[1] in SECTIONS and len(before) > 1:
            found[match[1]] = float(before[-1] - before[-2])
    return found


def _failures(summary: Mapping[str, str], solutions: list[Solution]) -> list[str]:
    found = []
    for number, solution in enumerate(solutions, 1):
        if not solution.passed:
            found.append(
                f"HPL: solution {number} of {len(solutions)} fails its check:"
                f" the scaled residual is {solution.residual:g} and has to be below {THRESHOLD:g}"
                f" ({solution.gflops:.4g} Gflop/s)"
            )
    if summary.get("Success") != "1" and not found:
        found.append("hpcc calls the run a failure; what it printed says of which test")
    return found
