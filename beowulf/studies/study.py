"""A study, declared: what is measured, what the paper claims of it, and how it is drawn.

A file of a study says what is its own; what every study does alike is done here: hold the cluster and launch, see
whether the Record can carry a Verdict, and turn what a claim's judge saw into one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from beowulf.cluster.common.config import SIMULATED
from beowulf.cluster.common.hydra import EAGER_LIMIT
from beowulf.errors import LabError
from beowulf.measure.judgement import unjudged, unmeasured, verdict
from beowulf.measure.quality import NO_SAMPLES, trouble
from beowulf.record import Record
from beowulf.this_machine.progress import Progress, no_progress
from beowulf.verdict import OWN, Outcome, RestsOn, Verdict

if TYPE_CHECKING:
    import pandas as pd

    from beowulf.cluster import Abilities, Cluster
    from beowulf.figures import Figure
    from beowulf.measure.measurement import Measurement


@dataclass(frozen=True)
class Plan:
    """What a study is about to do: `steps` launches programs so many times; `sweep` describes it in the Record."""

    launches: int
    sweep: Mapping[str, Any]
    steps: Callable[[Measurement], None]


@dataclass(frozen=True)
class Judgement:
    """What a claim's judge made of the facts.

    `advice` says what helps where the outcome is inconclusive, `hint` what to do where the claim is contradicted.
    `undecidable` is a reason that no Record of this kind of cluster can decide the claim.
    """

    outcome: Outcome
    evidence: str
    numbers: Mapping[str, Any] = field(default_factory=dict)
    advice: str = ""
    hint: str = ""
    undecidable: str = ""


def undecided(why: str, advice: str = "") -> Judgement:
    """The Judgement on a claim that this Record cannot decide, however quiet its machine was."""
    return Judgement("inconclusive", "", advice=advice, undecidable=why)


def other_library(record: Record) -> dict[str, str]:
    """Why eager limits (for paper D's) mean nothing on this cluster, as a Judgement says it; empty when they do."""
    if record.cluster.get("mpi", "classic") == "classic":
        return {}
    return {
        "undecidable": f"{EAGER_LIMIT} is a setting of MPICH's CH3 device, which this cluster's library does not have",
        "advice": "`beowulf up --mpi classic` boots a cluster with it.",
    }


@dataclass(frozen=True)
class Claim:
    """A sentence of a paper, and the function that holds it against the facts of a Record.

    The judge raises LabError where the Record has no samples for this claim. `needs` says what else decides: quiet
    samples are those against which nothing of the study's `troubles` speaks. A claim that rests on intervals needs a
    quiet machine less: there they are wider. Without either, a claim is decided whatever the troubles are, and one
    that needs nothing even without any samples.
    """

    name: str
    says: str
    judge: Callable[[Any], Judgement]
    needs: Literal["intervals", "quiet samples", "samples", "nothing"] = "intervals"
    # Where in the paper it stands, such as "table 5" or "section V.A"; else it is an own check of these labs.
    place: str = OWN
    # Arithmetic: computed from the paper's own figures, which no Record can change. Demonstration: what was put in
    # comes out, as a step where a setting places it. Both are listed by themselves, and in no paper's count.
    rests_on: RestsOn = "measurement"
    # What in the conditions of a Record is a stand-in for the paper's, as the evidence ends; empty for nothing.
    caveat: Callable[[Record], str] = lambda record: ""
    # Where other samples decide this claim than the other ones: what the study's own `troubles` would ask.
    troubles: Callable[[Record], Sequence[str]] | None = None

    def __post_init__(self) -> None:
        # A comparison of two numbers, in place of quantities, is True or False.
        if not callable(self.judge):
            raise TypeError(f"the claim {self.name!r} has no function that judges it")

    def at(self, place: str) -> Claim:
        """The same claim, at this place in the paper."""
        return replace(self, place=place)


quiet_claim = partial(Claim, needs="quiet samples")


@dataclass(frozen=True)
class Need:
    """An ability of a cluster that a study, or a part of it, cannot do without."""

    ability: str  # a field of Abilities
    because: str  # why it cannot be seen without
    part: str = ""  # the sentence for what is left out without, where the rest is measured

    def unmet(self, can: Abilities) -> bool:
        """Whether a cluster that can this lacks it; no part of a study is left out for a cable that is simulated."""
        return not getattr(can, self.ability) and not (self.part and can.simulated)


# What the nodes of most kinds of cluster have.
SEPARATE = Need(
    "separate_nodes", "its nodes are names of one machine, without network cards or logins"
)
CABLE = Need(
    "separate_nodes",
    "messages between names of one machine cross no cable",
    "The nodes of this Record are names of one machine: its messages crossed no cable.",
)
PACKETS = Need("whole_wire", "no packets can be captured on it")


@dataclass(frozen=True, kw_only=True)
class Study:
    """One row of the papers: measured by its plan, judged claim by claim, drawn."""

    id: str
    title: str
    # Given the cluster, `quick` and the options of this study alone.
    plan: Callable[..., Plan]
    # What claims and picture look at, made of a Record once; LabError where the Record has none of it.
    facts: Callable[[Record], Any] = lambda record: record
    # The claims, or what makes them of a Record where they depend on what was measured.
    judged: Sequence[Claim] | Callable[[Record], Sequence[Claim]]
    draw: Callable[[Any], Figure]
    # The Record in the form of the paper's table, where the paper prints one that is not that of the picture.
    as_printed: Callable[[Record], pd.DataFrame] | None = None
    needs: Sequence[Need] = ()  # beside programs that run on the nodes
    # Why no claim of a Record may be decided, beside that it is cut short.
    troubles: Callable[[Record], Sequence[str]] = trouble
    simulates: bool = False  # its programs are C with MPI alone, and run in SimGrid
    timed: bool = True  # False: a busy machine changes nothing of what is seen, and no claim needs quiet samples
    adaptive: bool = False  # measure() can find sizes between those that it is given
    # What the capture beside a Record gives when it is counted again, by the names of its first Point's facts.
    recount: Callable[[Record, Path], Mapping[str, Any]] | None = None
    asked: Sequence[str] = ()  # facts that a lab asks for: `beowulf show` leaves them out
    changes_cables: bool = False  # so that its messages can be faster than the cluster's rate
    # For each outcome of a claim, why a modern result agrees with the paper's, differs from it, or cannot decide.
    # Where that depends on the kind of cluster, a sentence by kind, and under "" that of the other kinds.
    differs: Mapping[Outcome, str | Mapping[str, str]] = field(default_factory=dict)

    def unmet(self, can: Abilities) -> Need | None:
        """What it needs of a cluster that can this, and lacks; first that without which nothing is seen."""
        lacking = [need for need in self.needs if need.unmet(can)]
        return min(lacking, key=lambda need: bool(need.part), default=None)

    def measure(
        self,
        cluster: Cluster,
        folder: Path,
        *,
        quick: bool = False,
        progress: Progress = no_progress,
        when: str = "now",
        traces: Path | None = None,
        **options: Any,
    ) -> Record:
        """Measure on `cluster`; files that belong to the Record, such as captures, go into `folder`.

        Where `traces` names a folder, what each rank of each launch did is recorded there (see beowulf/timeline).
        `when`: as in machine_queue.joined.
        """
        from beowulf.measure.measurement import Measurement
        from beowulf.tuning import change

        plan = self.plan(cluster, quick=quick, **options)
        change.clear(cluster)  # what a killed measurement left
        with Measurement(
            self.id,
            cluster,
            folder,
            quick=quick,
            progress=progress,
            launches=plan.launches,
            sweep=plan.sweep,
            timed=self.timed,
            when=when,
            traces=traces,
        ) as measurement:
            if lacking := self.unmet(cluster.can):
                measurement.warnings.append(lacking.part)
            plan.steps(measurement)
        return measurement.record()

    def claims(self, record: Record) -> list[Verdict]:
        """What the paper claims, each held against the Record."""
        claims = self.judged(record) if callable(self.judged) else self.judged
        # Many claims share one function, which goes through all samples.
        asked = {claim.troubles or self.troubles for claim in claims}
        reasons = {troubles: list(troubles(record)) if self.timed else [] for troubles in asked}
        bad = {claim.name: reasons[claim.troubles or self.troubles] for claim in claims}
        judged = [c for c in claims if NO_SAMPLES not in bad[c.name] or c.needs == "nothing"]
        facts = None
        try:
            facts = self.facts(record) if judged else None
        except LabError as missing:
            why = missing.message.rstrip(".")
            bad = {name: [*each, why[0].lower() + why[1:]] for name, each in bad.items()}
            judged = []
        found = [
            _verdict(record, claim, facts, bad[claim.name])
            if claim in judged
            else unjudged(record, {claim.name: claim.says}, bad[claim.name])[0]
            for claim in claims
        ]
        return [
            replace(verdict, rests_on=claim.rests_on, place=claim.place)
            for verdict, claim in zip(found, claims, strict=True)
        ]

    def reasons(
        self, outcomes: Iterable[Outcome], cluster: Mapping[str, Any]
    ) -> dict[Outcome, str]:
        """Why a result on this cluster agrees, differs or cannot decide, for those outcomes that occur."""
        occur, kind = set(outcomes), cluster.get("kind", "")
        return {
            outcome: why if isinstance(why, str) else why.get(kind, why[""])
            for outcome, why in self.differs.items()
            if outcome in occur
        }

    def picture(self, record: Record) -> Figure:
        """What the Record shows."""
        return self.draw(self.facts(record))


def _verdict(record: Record, claim: Claim, facts: Any, troubles: Sequence[str]) -> Verdict:
    try:
        seen = claim.judge(facts)
    except LabError as missing:
        return unmeasured(record, claim.name, claim.says, missing.hint)
    bad = list(troubles) if claim.needs in ("intervals", "quiet samples") else []
    evidence = seen.evidence
    if (
        claim.needs == "intervals"
        and seen.outcome != "inconclusive"
        and set(bad) <= set(record.load_before)
    ):
        load = "clear in spite of the load" if bad else ""
        evidence, bad = "; ".join(filter(None, (evidence, load))), []
    advice = {"inconclusive": seen.advice, "contradicted": seen.hint}.get(seen.outcome, "")
    said = "its messages crossed no cable" if CABLE.part in record.warnings else ""
    if record.cluster.get("kind") == SIMULATED:
        said = "simulated by SimGrid, not measured"
    caveat = "; ".join(filter(None, (said, claim.caveat(record))))
    return verdict(
        record,
        claim.name,
        claim.says,
        seen.outcome,
        f"{evidence}; {caveat}" if evidence and caveat else evidence,
        advice=seen.advice if seen.undecidable else advice,
        undecidable=seen.undecidable,
        numbers=seen.numbers,
        trouble=bad,
    )
