"""The state of heat.py with which a lab begins, and a quick check of what the learner has written."""

from __future__ import annotations

from pathlib import Path

from beowulf.errors import LabError
from beowulf.exercises.heat import program, quick_check

BEFORE = "heat-before"


def start(lab: int | str, *, given: bool = False, folder: Path | None = None) -> None:
    """Write heat.py as a lab begins with it; one that is there already stays, and is checked.

    What the lab asks for is put behind it as stubs. `given`: write it with right functions for all earlier labs, and
    keep the file that was there as heat-before.py.
    """
    number = program.lab_number(lab)
    place = _place(folder)
    program.lay_out(place)
    file = place / program.FILE
    if not file.exists():
        program.write(file, program.composed(number))
        print(f"Written: {file}. {_yours(number)}".rstrip())
    elif given:
        kept = _kept(file)
        program.write(file, program.composed(number))
        print(f"Written: {file}, with what earlier labs ask for. Your own file is now {kept.name}.")
    else:
        _go_on(file, number)


def check(lab: int | str, *, folder: Path | None = None) -> None:
    """Say what is right and what is wrong with the functions that a lab asks for, within seconds, without a cluster."""
    number = program.lab_number(lab)
    if number not in program.FUNCTIONS:
        print(f"Lab {number:02} asks for no function of {program.FILE}.")
        return
    for name, why in quick_check.faults(number, _place(folder) / program.FILE).items():
        print(f"{name:<20} {why or 'right'}")


def _go_on(file: Path, lab: int) -> None:
    """Keep the learner's file; say what is wrong with what earlier labs ask for."""
    text = program.read(file)
    longer = program.added(text, lab)
    if longer != text:
        program.write(file, longer)
    print(f"Yours: {file}. {_yours(lab)}".rstrip())
    wrong: dict[str, str] = {}
    for number in program.FUNCTIONS:
        if number < lab:
            wrong |= {k: why for k, why in quick_check.faults(number, file).items() if why}
    for name, why in wrong.items():
        print(f"{name}: {why}.")
    if wrong:
        print(
            f"If this lab calls them: lab.heat.start({lab}, given=True) writes correct ones,"
            f" and keeps yours as {BEFORE}.py."
        )


def _yours(lab: int) -> str:
    names = program.FUNCTIONS.get(lab, ())
    return f"This lab's functions in it: {', '.join(names)}." if names else ""


def _place(folder: Path | None) -> Path:
    place = folder or program.folder()
    if place.resolve() == program.ORIGINALS:
        raise LabError(
            f"{place} has the originals of the heat program.",
            "Work on copies: `beowulf lab 02` lays them out in work/heat.",
        )
    return place


def _kept(file: Path) -> Path:
    """Move a file out of the way, under a name that is free; its new place."""
    place, number = file.with_name(f"{BEFORE}.py"), 2
    while place.exists():
        place = file.with_name(f"{BEFORE}-{number}.py")
        number += 1
    return file.rename(place)
