"""`beowulf class mark`: the answers that a person reads."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from autograder.commands.shared import Lab, Students, found_course
from autograder.text import plain, say
from beowulf.errors import LabError, UsageError

if TYPE_CHECKING:
    from autograder.course.course import Course
    from autograder.grading.marking import Answer, Asked

MOST_SHOWN = 20_000  # characters of an answer


def mark(
    lab: Lab,
    question: Annotated[
        str, typer.Option(help="Only this question; without it, all that a person grades.")
    ] = "",
    student: Students = None,
    again: Annotated[
        bool, typer.Option("--again", help="Also show answers that have points already.")
    ] = False,
    names: Annotated[
        bool, typer.Option("--names", help="With the learners' names, in their order.")
    ] = False,
    points: Annotated[
        float | None,
        typer.Option(help="Give one learner these points for one question, of any kind, at once."),
    ] = None,
    reason: Annotated[
        str, typer.Option(help="The reason for --points, which the learner reads.")
    ] = "",
) -> None:
    """Grade the written answers: one question for all learners, without names, next to the author's answer.

    Example: beowulf class mark 01
    """
    from autograder.grading import marking
    from autograder.results import answers_page

    course = found_course()
    slug = course.lab(lab)
    if points is not None:
        if not (question and student and len(student) == 1 and reason.strip()):
            raise UsageError(
                "`--points` needs one `--student`, one `--question` and a `--reason`.",
                'For example: `--student ab12 --question explain --points 3 --reason "both parts"`.',
            )
        marking.give(course, slug, student[0], question, points, reason=reason)
        say(f"{student[0]}, {question}: {points:g}. `beowulf class feedback {lab}` says why.")
        return
    asked = marking.questions(course, slug)
    if question and question not in asked:
        raise UsageError(f"{question!r} is not graded by hand.", f"There are: {', '.join(asked)}.")
    for name in [question] if question else asked:
        answers, notes = marking.answers(
            course, slug, name, student or (), again=again, by_lot=not names
        )
        for note in notes:
            say(note)
        if not answers:
            say(f"{name}: nothing is waiting.")
            continue
        page = answers_page.write(course, slug, asked[name], answers, names=names)
        say(f"\n{asked[name].text}\n\nWith the learners' plots, for a browser beside this: {page}")
        if not _mark_all(course, slug, asked[name], answers, names=names):
            break


def _mark_all(
    course: Course, slug: str, asked: Asked, answers: list[Answer], *, names: bool
) -> bool:
    """Show each answer and ask for its points; False when the instructor has enough."""
    from autograder.grading import marking

    given: dict[str, float | None] = {each.student: each.given for each in answers}
    place = 0
    while place < len(answers):
        answer = answers[place]
        who = answer.student if names else f"answer {place + 1}"
        _show_answer(answer, asked, f"{answer.question}, {place + 1} of {len(answers)}", who)
        now = given[answer.student]
        has = "" if now is None else f", has {now:g}"
        items = " or items (ab)" if asked.items else ""
        say(
            f"Points of {answer.of:g}{has}: a number{items}, and a comment if you like."
            " Enter: later, -: back, q: end"
        )
        try:
            typed = input("> ").strip()
        except EOFError:
            return False
        first, _, comment = typed.partition(" ")
        if first == "q":
            return False
        if first == "-":
            place = max(place - 1, 0)
            continue
        if first:
            about = (course, slug, answer.student, answer.question)
            try:
                number, by_item = asked.points(first)
                said = f"{by_item} {comment.strip()}".strip()
                marking.give(*about, number, comment=said, before=now)
            except ValueError as problem:
                say(str(problem))
                continue
            except LabError as problem:
                say(f"{problem.message} {problem.hint}")
                continue
            given[answer.student] = number
        place += 1
    return True


def _show_answer(answer: Answer, asked: Asked, title: str, who: str) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    # Text has no markup, so that a learner's brackets stay brackets.
    table = Table(title=Text(title), expand=True, show_lines=True)
    table.add_column(Text(plain(who)), ratio=1)
    table.add_column("the author's answer", ratio=1)
    shown = plain(answer.text[:MOST_SHOWN]) or "(nothing)"
    items = [
        f"{chr(97 + n)}  {item.name} ({item.points:g}): {item.text}"
        for n, item in enumerate(asked.items)
    ]
    table.add_row(Text(shown), Text(plain("\n\n".join(items) or asked.model)))
    figures = plain("\n".join(answer.figures)) or "(nothing was scored)"
    comment = f"Your comment: {plain(answer.comment)}" if answer.comment else ""
    table.add_row(Text(f"Their own figures\n{figures}"), Text(comment))
    Console().print(table)
