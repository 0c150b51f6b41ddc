"""What a course's nbgrader_config.py sets, so that nbgrader's commands do as `beowulf class`."""

from __future__ import annotations

from typing import Any

from beowulf import paths

# A stub that raises would stop a learner's "Run all", and the points do not come from it.
CODE_STUB = "# YOUR ANSWER HERE"
TEXT_STUB = "YOUR ANSWER HERE"

SANITIZE = [
    "autograder.grading.cells.RestoreCells",
    "nbgrader.preprocessors.ClearOutput",
    "nbgrader.preprocessors.OverwriteKernelspec",
    "nbgrader.preprocessors.OverwriteCells",
    "nbgrader.preprocessors.CheckCellMetadata",
]
AUTOGRADE = [
    "autograder.grading.scoring.AssessSubmission",
    "autograder.sandbox.execution.ExecuteOnRecords",
    "nbgrader.preprocessors.LimitOutput",
    "autograder.grading.scoring.WriteScores",
    "nbgrader.preprocessors.SaveAutoGrades",
    "nbgrader.preprocessors.AssignLatePenalties",
    "nbgrader.preprocessors.CheckCellMetadata",
    "autograder.results.safe_page.KeepSafe",
]


def apply(c: Any) -> None:
    """Put our settings into nbgrader's configuration `c`; what the course sets after that wins."""
    # nbgrader takes these as classes only; here, because they need this module themselves.
    from nbconvert.preprocessors import CSSHTMLHeaderPreprocessor
    from nbgrader.preprocessors import GetGrades

    from autograder.intake.submissions import LARGEST_FILE_KB, LARGEST_SUBMISSION_KB
    from autograder.results.feedback import AddSummary
    from autograder.results.safe_page import KeepSafe

    c.ClearSolutions.code_stub = {"python": CODE_STUB}
    c.ClearSolutions.text_stub = TEXT_STUB
    c.Autograde.sanitize_preprocessors = SANITIZE
    c.Autograde.autograde_preprocessors = AUTOGRADE
    # nbgrader would put the instructor's copy of hello.c over the one that a learner changed.
    c.Autograde.exclude_overwriting = {
        slug: [file.name for file in companions(slug)] for slug in paths.labs()
    }
    # KeepSafe once more, for what an older version graded.
    c.GenerateFeedback.preprocessors = [GetGrades, KeepSafe, AddSummary, CSSHTMLHeaderPreprocessor]
    c.ExportApp.plugin_class = "autograder.results.export.Grades"
    # CourseDirectory.ignore would keep the Records from grading as well.
    c.GenerateFeedback.post_convert_hook = "autograder.results.feedback.finish_pages"
    c.CourseDirectory.max_file_size = LARGEST_FILE_KB
    c.CourseDirectory.max_dir_size = LARGEST_SUBMISSION_KB


def companions(slug: str) -> list[Any]:
    """The files of a lab that go to a learner beside the notebook: its handout and programs."""
    folder = paths.labs().get(slug)
    files = sorted(folder.iterdir()) if folder else []
    return [file for file in files if file.is_file() and file.suffix in {".c", ".h", ".py", ".md"}]
