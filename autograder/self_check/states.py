"""The state of each question: what is still open, and as far as the course allows, what is right."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property

from autograder import rubrics
from autograder.rubrics import needed_records, questions
from autograder.rubrics.needed_records import Need
from autograder.rubrics.score import INCONCLUSIVE, Score
from autograder.rubrics.submission import RECORDS
from autograder.self_check.work import Work
from beowulf import predictions, studies
from beowulf.course import answers, personal_code
from beowulf.course.checklist import DONE, FIT, FORM, LEVEL_SAYS, RIGHT, Checklist, Line
from beowulf.course.lab_file import QuestionTable
from beowulf.exercises import own_plot
from beowulf.predictions import Prediction

PREDICTION = predictions.STUDY
PLOT = own_plot.STUDY
# A state, and a sentence on it.
State = tuple[str, str]


def checklist(work: Work) -> Checklist:
    """All questions of a lab as they are now, at the level that the course allows.

    LabError when its lab.toml or the course's file is wrong.
    """
    return _Check(work).checklist()


class _Check:
    def __init__(self, work: Work) -> None:
        self.work = work
        self.has_rubric = questions.has_rubric(work.slug)
        self.level = work.limits.level if self.has_rubric else FORM
        self.needs = needed_records.of_lab(work.slug, work.course)

    def checklist(self) -> Checklist:
        lines = [self._line(table) for table in self.work.lab.questions.values()]
        return Checklist(self.work.slug, self.work.file, self.level, lines, list(self._notes()))

    def _line(self, table: QuestionTable) -> Line:
        state, says = self._state(table.name)
        line = Line(table.name, state, says, table.points)
        if self.level == RIGHT and (score := self.scores.get(table.name)):
            line = Line(table.name, state, says, score.of, score.points)
        return line if line.symbol == DONE else replace(line, read=table.read)

    def _state(self, name: str) -> State:
        if self.work.released[name].solution:
            written = self.work.cell(name)
            return ("a person reads it", self._compare(name)) if written else ("empty", "")
        score = self.scores.get(name)
        if score and score.points == score.of:
            return self._all_points(name)
        if missing := self._missing(name):
            return self._unwritten(name) or missing
        if unanswered := self._unanswered(name):
            return unanswered
        if score is None:
            return self._all_points(name)
        state, says = self._lost_points(name, score)
        # Of a program, a Record says what it said when it was made; a rubric's words may hold what is expected.
        return state, says if self.level != FORM else ""

    def _compare(self, name: str) -> str:
        """Where nobody forbids it, how a learner compares what they wrote with the author's answer."""
        if not (self.work.limits.solutions and self.has_rubric):
            return ""
        command = f"beowulf check {self.work.number} --solution {name}"
        return (
            f"Compare it with the author's answer, which says what earns each point: `{command}`."
        )

    def _all_points(self, name: str) -> State:
        """The state of a question with all points, or, where only its form is looked at, with all that it needs."""
        if any(PREDICTION.fullmatch(study) for study, _ in self.needs.get(name, ())):
            return "sealed in time", ""
        if self.level == RIGHT:
            return "right", ""
        if self.level == FIT and self.needs.get(name):
            return "fits your Records", ""
        return "there", ""

    def _lost_points(self, name: str, score: Score) -> State:
        """Of a question that has its Records and an answer of the right form."""
        asked = self.needs.get(name, ())
        if score.outcome == INCONCLUSIVE:
            return "measure it again", score.found
        if not asked:
            if self.level == FIT:
                return "there", ""
            return ("partly right" if score.points else "not right"), score.found
        if self._names(name):
            partly = self.level == RIGHT and score.points
            return ("partly right" if partly else "does not fit your Records"), score.found
        study, variant = asked[0]
        if PREDICTION.fullmatch(study):
            return "sealed too late", score.found
        if PLOT.fullmatch(study):
            return "plot not yet right", score.found
        if study in studies.known() and not variant:
            return "measure it again", score.found
        return ("partly right" if score.points else "program not yet right"), score.found

    @cached_property
    def scores(self) -> dict[str, Score]:
        """The Scores of all questions; where only the form is looked at, of those that nobody types an answer to."""
        if not self.has_rubric:
            return {}
        asked = questions.of_lab(self.work.slug, self.work.course)
        if self.level == FORM:
            # Where a program, a plot or a measurement decides, by what its Record holds.
            alone = [name for name in asked if self.needs.get(name) and not self._names(name)]
            asked = {name: asked[name] for name in alone}
        return rubrics.ask(asked, self.work.submission)

    def _missing(self, name: str) -> State | None:
        """What has to be measured, sealed or drawn first."""
        states = (self._missing_of(need, name) for need in self.needs.get(name, ()))
        return next(filter(None, states), None)

    def _missing_of(self, need: Need, name: str) -> State | None:
        study, variant = need
        handed_in = self.work.submission
        records = handed_in.measured(study, variant)
        if PREDICTION.fullmatch(study):
            return self._unsealed(variant)
        if PLOT.fullmatch(study):
            return None if records else ("plot missing", "Draw it, and keep it by its cell.")
        whole = [record for record in records if record.complete]
        if not records:
            return "Record missing", self._not_measured(need, self.work.lab.questions[name].read)
        if not whole and study in studies.known():
            return "Record missing", f"{records[0].file_name} was cut short: measure it again."
        places = [place for place, each in enumerate(handed_in.records) if each in whole]
        if places and all(place in handed_in.doubts for place in places):
            findings = handed_in.doubts[places[-1]]
            return "measure it again", " ".join(finding.says for finding in findings)
        return None

    def _unsealed(self, name: str) -> State | None:
        sealed = next((each for each in self.sealed if each.name == name), None)
        if sealed is None:
            study = getattr(self.work.lab.predictions.get(name), "study", "its study")
            return "prediction not sealed", f"Seal {name} before you measure {study}."
        if sealed.late:
            return "sealed too late", f"There was a Record of {sealed.study} before."
        return None

    @cached_property
    def sealed(self) -> list[Prediction]:
        """The predictions that were sealed beside this notebook."""
        return predictions.sealed_in(self.work.folder / RECORDS)

    def _not_measured(self, need: Need, section: str) -> str:
        study, variant = need
        stem = f"{study}-{variant}-" if variant else f"{study}-"
        for bad in self.work.submission.unreadable:
            if bad.file.startswith(stem):
                return f"{bad.why} Measure it again."
        if variant or study not in studies.known():
            return f"Section {section!r} says what to measure."
        return f"Run the cell that measures {study}, or `beowulf study {study}`."

    def _names(self, name: str) -> dict[str, str]:
        """The answers that a question's own test looks at, each with its kind."""
        return answers.asked(self.work.released[name].source)

    def _unwritten(self, name: str) -> State | None:
        """Of a question that asks for code and no values: whether its cell is empty, or no Python."""
        if self._names(name) or f"{name}-answer" not in self.work.released:
            return None
        if self.work.cell(f"{name}-answer") is None:
            # Functions of the heat program are in a file beside the notebook: their Record shows them.
            if any(self.work.submission.measured(*need) for need in self.needs.get(name, ())):
                return None
            section = self.work.lab.questions[name].read
            return (
                "empty",
                f"It is not measured yet: section {section!r} says what to write and to run.",
            )
        note = self._syntax(name)
        return ("malformed", note) if note else None

    def _unanswered(self, name: str) -> State | None:
        """What of the answers is empty, or has not the form that is asked for."""
        handed_in, empty = self.work.submission, []
        for answer, kind in self._names(name).items():
            if why := handed_in.unread_answers.get(answer):
                return "malformed", f"{why}."
            value = handed_in.answers.get(answer)
            if value is None or value is Ellipsis:
                empty.append(answer)
            elif why := answers.fault(value, kind):
                return "malformed", f"{answer}: {why}"
        if empty and (note := self._syntax(name)):
            return "malformed", note
        return ("empty", f"No value yet: {', '.join(empty)}.") if empty else None

    def _syntax(self, name: str) -> str:
        """Why the answer's cell cannot be read as Python; "" when it can."""
        cells = (f"cell {name}-answer cannot", f"cell {name} cannot")
        notes = self.work.submission.notes
        return next((note for note in notes if any(each in note for each in cells)), "")

    def _notes(self) -> Iterator[str]:
        limits, number = self.work.limits, self.work.number
        if code := personal_code.missing():
            yield code
        yield from (bad.why for bad in self.work.submission.unreadable)
        if not self.has_rubric:
            yield "This copy of the labs has no answers, so it looks at the form of yours only."
            yield "What is wrong with a program or a plot, the cell says that measures or keeps it."
        elif limits.whose:
            day = f" From {limits.solutions_from} on, all." if limits.solutions_from else ""
            yield f"{limits.whose}you see {LEVEL_SAYS[self.level]}.{day}"
        if limits.hints and any(table.hints for table in self.work.lab.questions.values()):
            yield f"`beowulf check {number} --hint QUESTION` opens a hint, one after the other."
        if limits.solutions and self.has_rubric:
            yield f"`beowulf check {number} --solution QUESTION` shows the author's answer."
