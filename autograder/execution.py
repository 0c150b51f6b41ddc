"""A learner's notebook run again, on the recorded cluster: nothing is measured a second time."""

from __future__ import annotations

import math
import os
import time
from contextlib import AbstractContextManager
from pathlib import Path
from subprocess import DEVNULL
from typing import Any

from nbformat import NotebookNode
from nbgrader.preprocessors import Execute
from traitlets import Integer

from autograder.cells import new_cell
from autograder.submission import RECORDS


class ExecuteOnRecords(Execute):  # type: ignore[misc]
    """nbgrader's Execute with BEOWULF_RECORDED set to the Records that were handed in.

    A kernel that dies or never answers does not stop the grading, because the points do not come
    from it.
    """

    longest_run_s = Integer(
        180,
        help="Seconds for a whole notebook; the other limit, timeout, is for each of its cells.",
    ).tag(config=True)

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
        self._ends = time.monotonic() + self.longest_run_s
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

    def preprocess_cell(
        self, cell: NotebookNode, resources: dict[str, Any], index: int
    ) -> tuple[NotebookNode, dict[str, Any]]:
        """The cell after it ran; TimeoutError when the notebook's time is over."""
        left_s = self._ends - time.monotonic()
        if left_s <= 0:
            raise TimeoutError(f"the notebook ran longer than {self.longest_run_s} s")
        # Without it, forty cells that never answer would take forty times the limit of one.
        a_cell_s = self.timeout or self.longest_run_s
        self.set_trait("timeout", min(a_cell_s, math.ceil(left_s)))
        done: tuple[NotebookNode, dict[str, Any]] = super().preprocess_cell(cell, resources, index)
        return done
