"""A learner's notebook run again, on the recorded cluster: nothing is measured a second time."""

from __future__ import annotations

import os
from contextlib import AbstractContextManager
from pathlib import Path
from subprocess import DEVNULL
from typing import Any

from nbformat import NotebookNode
from nbgrader.preprocessors import Execute

from autograder.cells import new_cell
from autograder.submission import RECORDS


class ExecuteOnRecords(Execute):  # type: ignore[misc]
    """nbgrader's Execute with BEOWULF_RECORDED set to the Records that were handed in.

    A kernel that dies does not stop the grading, because the points do not come from it.
    """

    def setup_kernel(self, **kwargs: Any) -> AbstractContextManager[None]:
        """The kernel, told where the Records are."""
        folder = Path(self.resources["metadata"]["path"]).absolute() / RECORDS
        # Without the folder, connect() would look for a running cluster of the instructor's.
        folder.mkdir(exist_ok=True)
        environment = {**os.environ, "BEOWULF_RECORDED": str(folder)}
        # What a kernel says beside its notebook would be mixed into the instructor's terminal.
        started: AbstractContextManager[None] = super().setup_kernel(
            env=environment, stdout=DEVNULL, stderr=DEVNULL, **kwargs
        )
        return started

    def preprocess(
        self, nb: NotebookNode, resources: dict[str, Any], km: Any = None
    ) -> tuple[NotebookNode, dict[str, Any]]:
        """The notebook after its run, with a note on top when that did not come to its end."""
        try:
            nb, resources = super().preprocess(nb, resources, km)
        except Exception as problem:
            said = f"{type(problem).__name__}: {problem}".splitlines()[0]
            self.log.warning("the notebook was not run to its end: %s", said)
            note = (
                f"**This notebook was not run to its end** ({said}). The points stand all the same."
            )
            nb.cells.insert(0, new_cell("markdown", note, id="not-run-to-its-end"))
        return nb, resources
