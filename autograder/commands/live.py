"""`beowulf class live`: a class at work, on a projector and for the instructor alone."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from autograder.commands.shared import Lab, doing, found_course
from autograder.text import say

EVERY_S = 5.0


def live(
    lab: Lab,
    folder: Annotated[
        Path | None,
        typer.Option(
            help="Where learners on this machine share, if not beside the hand-ins of the exchange; it is made."
        ),
    ] = None,
    once: Annotated[bool, typer.Option("--once", help="Write the pages once, and end.")] = False,
) -> None:
    """Show a lesson while it runs: sections, checks, who is stuck, predictions, and measurements.

    Three pages, which a browser loads again by itself. The one with codes is for you; the others show neither names nor
    codes. They are made from what learners share (`beowulf share`) and from the hand-ins that you have collected.

    Example: beowulf class live 04
    """
    course = found_course()
    slug = course.lab(lab)
    doing(f"Reading what the class has of {slug}")
    from autograder.results import live_page
    from autograder.results.live import Room, open_folder

    shared = open_folder(course, folder)
    room = Room(course, slug, shared)
    for title, page in live_page.write(room, time.time()).items():
        say(f"{title}: {page}")
    if shared:
        say(f"Learners who want to be seen type: beowulf share {shared}")
    say(f"Hand-ins appear after `beowulf class collect {lab}`.")
    if once:
        return
    say("The pages follow the class until Ctrl-C.")
    try:
        while True:
            time.sleep(EVERY_S)
            live_page.write(room, time.time())
    except KeyboardInterrupt:
        say("The pages stay as they are now.")
