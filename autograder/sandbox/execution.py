"""A learner's notebook run again, in a sandbox, on the recorded cluster: nothing is measured a second time."""

from __future__ import annotations

import json
from collections.abc import Mapping
from html import escape
from pathlib import Path
from typing import Any

from nbformat import NotebookNode
from nbgrader.preprocessors import NbGraderPreprocessor
from traitlets import Bool, Float, Integer

from autograder.cells import new_cell, node
from autograder.rubrics.score import MIME_TYPE
from autograder.sandbox import kernel
from autograder.sandbox.box import Limits
from autograder.sandbox.kernel import Ran
from beowulf.errors import LabError

NOTE = "**This notebook was not run to its end** ({}). The points are not affected."
NOTE_ID = "not-run-to-its-end"
CELL_TIMEOUT = "CellTimeoutError"  # as nbclient calls it
NOT_RUN = {
    "output_type": "error",
    "ename": "NotRun",
    "evalue": "this cell was not run",
    "traceback": ["NotRun: this cell was not run"],
}
MOST_OUTPUTS = 2000  # of a cell
OUT_OF_TIME = (
    "beowulf_out_of_time"  # among nbgrader's resources: the time was over before the notebook was
)


class ExecuteOnRecords(NbGraderPreprocessor):  # type: ignore[misc]
    """Runs the notebook where its code can read what was handed in with it, and nothing else of the course.

    It sees the Records of its own hand-in as BEOWULF_RECORDED. A kernel that dies or never answers does not stop the
    grading, because the points do not come from it; without a sandbox nothing is run, and nothing is graded.
    """

    timeout = Integer(30, help="Seconds for a cell.").tag(config=True)
    longest_run_s = Integer(180, help="Seconds for a whole notebook.").tag(config=True)
    memory_mib = Integer(1024, help="MiB of memory, with what is written to files.").tag(
        config=True
    )
    disk_mib = Integer(256, help="MiB of files that a notebook may write.").tag(config=True)
    processes = Integer(100, help="Processes and threads at a time.").tag(config=True)
    pictures = Bool(
        False, help="Draw our pictures of Records; else their sentence stands for each."
    ).tag(config=True)
    output_mb = Float(10.0, help="MB of output of a whole notebook.").tag(config=True)

    @property
    def limits(self) -> Limits:
        """What the configuration allows."""
        return Limits(
            cell_s=self.timeout or self.longest_run_s,
            notebook_s=self.longest_run_s,
            memory_bytes=self.memory_mib << 20,
            disk_bytes=self.disk_mib << 20,
            processes=self.processes,
            output_bytes=int(self.output_mb * 1e6),
            pictures=self.pictures,
        )

    def preprocess(
        self, nb: NotebookNode, resources: dict[str, Any]
    ) -> tuple[NotebookNode, dict[str, Any]]:
        """The notebook after its run, with a note on top when that did not come to its end."""
        spec = nb.metadata.get("kernelspec", {})
        if (spec.get("language") or spec.get("name") or "python").rstrip("0123456789.") != "python":
            raise LabError(f"The sandbox has a kernel for Python, and none for {spec['name']}.")
        folder = Path(resources["metadata"]["path"]).absolute()
        cells = {place: cell.source for place, cell in enumerate(nb.cells) if _is_run(cell)}
        ran = kernel.shared().run(cells, folder, self.limits)
        put_into(nb, list(cells), ran)
        resources[OUT_OF_TIME] = is_out_of_time(ran)
        if ran.reason:
            self.log.warning("the notebook was not run to its end: %s", ran.reason)
            nb.cells.insert(
                0, new_cell("markdown", NOTE.format(escape(_text(ran.reason))), id=NOTE_ID)
            )
        return nb, resources


def is_out_of_time(ran: Ran) -> bool:
    """Whether a cell, or the whole run, was ended because it took too long."""
    ends = (out.get("ename") for outs in ran.outputs.values() for out in clean(outs))
    ended = any(end == CELL_TIMEOUT for end in ends)
    return ended or ran.reason.startswith((TimeoutError.__name__, CELL_TIMEOUT))


def put_into(nb: NotebookNode, places: list[int], ran: Ran) -> None:
    """Give the cells their outputs; one that was to be run and was not has an error, so that no test passes by it."""
    for place in places:
        cell = nb.cells[place]
        if place in ran.outputs:
            cell.outputs = clean(ran.outputs[place])
            count = ran.counts.get(place)
            cell.execution_count = count if type(count) is int else None
        else:
            cell.outputs = [node(NOT_RUN)]
            cell.execution_count = None


def clean(outputs: object) -> list[NotebookNode]:
    """The outputs of a cell as a notebook may have them: what came out of the sandbox may be anything.

    What looks like one of our scores is left out.
    """
    if not isinstance(outputs, list):
        return []
    made = (_output(each) for each in outputs[:MOST_OUTPUTS] if isinstance(each, Mapping))
    return [each for each in made if each is not None]


def _output(output: Mapping[str, Any]) -> NotebookNode | None:
    kind = output.get("output_type")
    if kind == "stream":
        name = "stderr" if output.get("name") == "stderr" else "stdout"
        return node({"output_type": kind, "name": name, "text": _text(output.get("text"))})
    if kind == "error":
        lines = output.get("traceback")
        trace = [_text(line) for line in lines] if isinstance(lines, list) else []
        name, value = _text(output.get("ename")), _text(output.get("evalue"))
        return node({"output_type": kind, "ename": name, "evalue": value, "traceback": trace})
    if kind in ("display_data", "execute_result"):
        shown = {"output_type": kind, "metadata": {}, "data": _data(output.get("data"))}
        if kind == "execute_result":
            count = output.get("execution_count")
            shown["execution_count"] = count if type(count) is int else None
        return node(shown)
    return None


def _data(data: object) -> dict[str, Any]:
    if not isinstance(data, Mapping):
        return {}
    shown = {_text(kind): value for kind, value in data.items() if _is_shown(str(kind), value)}
    shown.pop(MIME_TYPE, None)
    return {kind: _text(v) if isinstance(v, str) else v for kind, v in shown.items()}


def _is_shown(kind: str, value: object) -> bool:
    if not (kind.endswith("+json") or kind == "application/json"):
        return isinstance(value, str)
    try:  # as a file that any program can read
        json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
    except (ValueError, RecursionError):
        return False
    return True


def _text(value: object) -> str:
    # JSON can hold half of a surrogate pair, a file cannot.
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) else ""


def _is_run(cell: NotebookNode) -> bool:
    return cell.cell_type == "code" and bool(cell.source.strip())
