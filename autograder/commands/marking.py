"""`beowulf class mark`: the answers that a person reads."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from autograder.commands.shared import Lab, Students, found_course
from autograder.text import plain, say
from beowulf.errors import LabError, UsageError

if TYPE_CHECKING:
    from autograder.course.course import Course
    from autograder.grading.marking import Answer

MOST_SHOWN = 20_000  # characters of an answer


def mark(
    lab: Lab,
    question: Annotated[
        str, typer.Option(help="Only this question; without it, each that a person grades.")
    ] = "",
    student: Students = None,
    again: Annotated[
        bool, typer.Option("--again", help="Also show answers that have points already.")
    ] = False,
    points: Annotated[
        float | None,
        typer.Option(help="Give one learner these points for one question, of any kind, at once."),
    ] = None,
    reason: Annotated[
        str, typer.Option(help="Why, for --points: the learner reads it, and it is kept.")
    ] = "",
) -> None:
    """Grade the written answers, one learner after the other, beside the author's answer.

    Example: beowulf class mark 01
    """
    from autograder.grading import marking

    course = found_course()
    slug = course.lab(lab)
    if points is not None:
        if not (question and student and len(student) == 1 and reason.strip()):
            raise UsageError(
                "--points needs one --student, one --question and a --reason.",
                'As in: `--student ab12 --question explain --points 3 --reason "both parts"`.',
            )
        marking.give(course, slug, student[0], question, points, reason=reason)
        say(f"{student[0]}, {question}: {points:g}. `beowulf class feedback {lab}` says why.")
        return
    models = marking.questions(course, slug)
    if question and question not in models:
        raise UsageError(f"No person grades {question!r}.", f"There are: {', '.join(models)}.")
    for name in [question] if question else models:
        answers, notes = marking.answers(course, slug, name, student or (), again=again)
        for note in notes:
            say(note)
        if not answers:
            say(f"{name}: nothing waits.")
        elif not _mark_all(course, slug, models[name], answers):
            break


def _mark_all(course: Course, slug: str, model: str, answers: list[Answer]) -> bool:
    """Show each answer and ask for its points; False when the instructor has enough."""
    from autograder.grading import marking

    given: dict[str, float | None] = {each.student: each.given for each in answers}
    place = 0
    while place < len(answers):
        answer = answers[place]
        _show_answer(answer, model, f"{place + 1} of {len(answers)}")
        now = given[answer.student]
        has = "" if now is None else f", has {now:g}"
        say(
            f"Points of {answer.of:g}{has}, and a comment if you like. Enter: later, b: back, q: end"
        )
        try:
            typed = input("> ").strip()
        except EOFError:
            return False
        first, _, comment = typed.partition(" ")
        if first == "q":
            return False
        if first == "b":
            place = max(place - 1, 0)
            continue
        if first:
            about, said = (course, slug, answer.student, answer.question), comment.strip()
            try:
                number = float(first.replace(",", "."))
                marking.give(*about, number, comment=said, before=now)
            except ValueError:
                say(f"{first!r} is no number.")
                continue
            except LabError as problem:
                say(f"{problem.message} {problem.hint}")
                continue
            given[answer.student] = number
        place += 1
    return True


def _show_answer(answer: Answer, model: str, place: str) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    # Text has no markup, so that a learner's brackets stay brackets.
    table = Table(title=Text(f"{answer.question}, {place}"), expand=True, show_lines=True)
    table.add_column(Text(plain(answer.student)), ratio=1)
    table.add_column("the author's answer", ratio=1)
    shown = plain(answer.text[:MOST_SHOWN]) or "(nothing)"
    table.add_row(Text(shown), Text(plain(model)))
    if answer.comment:
        table.add_row(Text(f"Your comment: {plain(answer.comment)}"), "")
    Console().print(table)
