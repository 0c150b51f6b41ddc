"""What goes back to a learner: the page with points and reasons, and nothing beside it."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from beowulf import places

# nbgrader's own: by these it knows to which hand-in a page belongs, and to whom it may show it.
KEPT = {"timestamp.txt", "submission_secret.txt"}


def leave_only_pages(assignment: str, student: str, notebooks: Iterable[str]) -> None:
    """Take out of feedback/ what nbgrader copied there: programs, captures, Records.

    nbgrader calls this for each learner, in the course's folder, with the autograded `notebooks`.
    `assignment` and `student` may be patterns, so that the names are read off the paths. An
    assignment that is none of our labs stays as it is.
    """
    for folder in {Path(notebook).parent for notebook in notebooks}:
        if folder.name in places.labs():
            _clear(Path("feedback", folder.parent.name, folder.name))


def _clear(place: Path) -> None:
    # The deepest first, so that a folder is empty when its turn comes.
    for path in sorted(place.rglob("*"), reverse=True):
        if path.is_symlink() or not path.is_dir():
            if path.parent != place or not (path.suffix == ".html" or path.name in KEPT):
                path.unlink()
        elif not any(path.iterdir()):
            path.rmdir()
