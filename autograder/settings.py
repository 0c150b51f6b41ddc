"""What a course's nbgrader_config.py sets, so that nbgrader's commands do as `beowulf class`."""

from __future__ import annotations

from typing import Any

from beowulf import paths

SANITIZE = ["autograder.grading.scoring.RestoreCells", "nbgrader.preprocessors.CheckCellMetadata"]
AUTOGRADE = [
    "autograder.grading.scoring.AssessSubmission",
    "nbgrader.preprocessors.SaveAutoGrades",
    "autograder.grading.lateness.TakeLatePoints",
    "nbgrader.preprocessors.CheckCellMetadata",
    "autograder.grading.safe_page.KeepSafe",
]


def apply(c: Any) -> None:
    """Put our settings into nbgrader's configuration `c`; what the course sets after that wins."""
    # nbgrader takes these as classes only; here, because they need this module themselves.
    from nbconvert.preprocessors import CSSHTMLHeaderPreprocessor
    from nbgrader.preprocessors import GetGrades

    from autograder.course import release
    from autograder.intake.submissions import LARGEST_FILE_KB, LARGEST_SUBMISSION_KB
    from autograder.results.feedback import AddSummary

    release.set_stubs(c)
    c.Autograde.sanitize_preprocessors = SANITIZE
    c.Autograde.autograde_preprocessors = AUTOGRADE
    # nbgrader would put the instructor's copy of hello.c over the one that a learner changed.
    c.Autograde.exclude_overwriting = {
        slug: [file.name for file in release.companions(slug)] for slug in paths.labs()
    }
    c.ExchangeFactory.collect = "autograder.intake.collection.Collect"
    c.GenerateFeedback.exporter_class = "autograder.results.feedback.PageExporter"
    c.GenerateFeedback.preprocessors = [GetGrades, AddSummary, CSSHTMLHeaderPreprocessor]
    c.ExportApp.plugin_class = "autograder.results.export.Grades"
    # CourseDirectory.ignore would keep the Records from grading as well.
    c.GenerateFeedback.post_convert_hook = "autograder.results.feedback.finish_pages"
    c.CourseDirectory.max_file_size = LARGEST_FILE_KB
    c.CourseDirectory.max_dir_size = LARGEST_SUBMISSION_KB
