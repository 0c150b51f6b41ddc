"""nbgrader's own loop over a course, for benchmarks/grading.py: a submission for each line, a line of JSON for each.

Its kernel is nbgrader's, a new process for each notebook and not in a sandbox; its points come from the same rubric.
`python -m benchmarks.stock_grading COURSE LAB STUDENT...`
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

from autograder.course.course import Course


def main(folder: str, slug: str, *students: str) -> None:
    """Report that everything is imported; then grade the next submission for each line that is read."""
    course = Course(Path(folder))
    course.api.config.Autograde.autograde_preprocessors = [
        "nbgrader.preprocessors.Execute"
        if name == "autograder.sandbox.execution.ExecuteOnRecords"
        else name
        for name in course.api.config.Autograde.autograde_preprocessors
    ]
    _say(ready=True)
    for student in students:
        if not sys.stdin.readline():
            return
        records = course.folder / "autograded" / student / slug / "records"
        os.environ["BEOWULF_RECORDED"] = str(records)
        result = course.api.autograde(slug, student, force=True)
        _say(student=student, well=result["success"], log=result.get("log", "")[-500:])


def _say(**what: object) -> None:
    print(json.dumps(what), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
