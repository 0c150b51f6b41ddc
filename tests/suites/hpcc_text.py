"""hpcc's output as it would be, made of figures to choose."""

from __future__ import annotations

from collections.abc import Sequence

SUMMARY = {
    "Success": "1",
    "CommWorldProcs": "4",
    "HPL_Tflops": "0.0005",
    "StarDGEMM_Gflops": "1.75",
    "SingleDGEMM_Gflops": "2.5",
    "PTRANS_GBs": "0.02",
    "MPIRandomAccess_GUPs": "0.0006",
    "MPIRandomAccess_ErrorsFraction": "0",
    "StarSTREAM_Triad": "8.5",
    "MPIFFT_Gflops": "0.06",
    "MPIFFT_maxErr": "1.2e-15",
    "MinPingPongLatency_usec": "8.1",
    "AvgPingPongLatency_usec": "14.8",
    "RandomlyOrderedRingLatency_usec": "95.8",
    "AvgPingPongBandwidth_GBytes": "0.0118",
    "RandomlyOrderedRingBandwidth_GBytes": "0.0108",
}
SOLVED = "WR11C2R4 {n:>11} {nb:>5} {p:>5} {q:>5} {seconds:>18.2f} {gflops:>22.3e}"
CHECK = "||Ax-b||_oo/(eps*(||A||_oo*||x||_oo+||b||_oo)*N)= {residual:>16} ...... {word}"


def section(name: str, clock: int, *lines: str) -> str:
    """One test's part, which ended when the clock was that."""
    body = "\n".join(lines)
    return f"Begin of {name} section.\n{body}\nCurrent time ({clock}) is some day\n\nEnd of {name} section.\n"


def output(
    rates: Sequence[float] = (0.5,),
    words: Sequence[str] = (),
    *,
    residual: str = "0.0069220",
    n: int = 1200,
    dgemm: Sequence[float] = (1.5, 1.75, 2.0),
    **summary: str,
) -> str:
    """A whole run: HPL solved once for each of `rates` (in Gflop/s), with a word of its check each."""
    words = words or ["PASSED"] * len(rates)
    operations = 2 / 3 * n**3 + 3 / 2 * n**2
    solved = []
    for rate, word in zip(rates, words, strict=True):
        seconds = operations / rate / 1e9 if rate else 0.0
        solved.append(SOLVED.format(n=n, nb=80, p=2, q=2, seconds=seconds, gflops=rate))
        solved += ["-" * 80, CHECK.format(residual=residual, word=word)]
    named = zip(("Minimum", "Average", "Maximum"), dgemm, strict=True)
    spread = [f"{word} Gflop/s {value:f}" for word, value in named]
    figures = {**SUMMARY, **summary}
    return "".join(
        (
            "This is the DARPA/DOE HPC Challenge Benchmark version 1.5.0 October 2012\n",
            "Current time (1000) is some day\n",
            "HPLinpack 2.0  --  High-Performance Linpack benchmark\nP      :       2\n",
            section("MPIRandomAccess", 1007, "Found 0 errors in 1048576 locations (passed)."),
            section(
                "PTRANS", 1009, "WALL   600   600  80  80   2   2     0.14 PASSED    0.020  0.00"
            ),
            section("StarDGEMM", 1010, "Node(s) with error 0", *spread),
            section("LatencyBandwidth", 1140, "Message Length: 8"),
            "HPLinpack 2.0  --  High-Performance Linpack benchmark\n",
            "\n".join(solved),
            "\nEnd of Tests.\nCurrent time (1150) is some day\n\nEnd of HPL section.\n",
            "Begin of Summary section.\n",
            "".join(f"{name}={value}\n" for name, value in figures.items()),
            "End of Summary section.\n",
        )
    )
