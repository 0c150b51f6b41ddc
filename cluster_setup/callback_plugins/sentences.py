"""What `beowulf setup` hears of Ansible: a line for each step, and in the end who changed and who failed, as JSON."""

from __future__ import annotations

import json
import os
from typing import Any

from ansible.plugins.callback import CallbackBase

DOCUMENTATION = """
name: sentences
type: stdout
short_description: a line for each step, and a file with who changed and who failed
"""
# Steps that only ask and compute.
QUIET = ("look", "keep", "see ", "agree", "tell", "gather", "bring")


class CallbackModule(CallbackBase):
    """Prints each step once, and writes the file that BEOWULF_SETUP_RESULT names."""

    CALLBACK_VERSION = 2.0
    CALLBACK_TYPE = "stdout"
    CALLBACK_NAME = "sentences"

    def __init__(self) -> None:
        super().__init__()
        self.changed: dict[str, list[str]] = {}
        self.failed: dict[str, str] = {}
        self.loud = bool(os.environ.get("BEOWULF_SETUP_VERBOSE"))

    def v2_runner_on_start(self, host: Any, task: Any) -> None:
        """A step begins on a machine."""
        self.changed.setdefault(host.name, [])

    def v2_runner_on_ok(self, result: Any) -> None:
        """A step was done, or had been done before."""
        self._step(result, bool(result._result.get("changed")))

    def v2_runner_on_skipped(self, result: Any) -> None:
        """A step was not needed, or `--check` kept a command from being run."""
        outcome = result._result
        shell = result._task.action.endswith(("raw", "script")) and "skip_reason" not in outcome
        self._step(result, shell or "would have run" in str(outcome.get("msg")))

    def _step(self, result: Any, changed: bool) -> None:
        name, what = result._host.name, result._task.get_name().rpartition(" : ")[2]
        what = " ".join([what, ", ".join(result._result.get("written", []))]).strip()
        seen = self.changed.setdefault(name, [])
        if changed and not what.startswith(QUIET) and what not in seen:
            seen.append(what)
            self._display.display(f"{name}: {what}")
        elif self.loud:
            self._display.display(f"{name}: {what}: as it shall be")

    def v2_runner_on_failed(self, result: Any, ignore_errors: bool = False) -> None:
        """A step failed: the machine is left out of the rest."""
        if ignore_errors:
            return
        outcome = result._result
        messages = [
            str(outcome.get(name) or "")
            for name in ("module_stderr", "stderr", "msg", "module_stdout")
        ]
        for item in outcome.get("results", []):
            if item.get("failed"):
                messages.insert(0, str(item.get("msg") or ""))
        self.failed[result._host.name] = "\n".join(text for text in messages if text)
        if self.loud:
            self._display.display(f"{result._host.name}: {self._dump_results(outcome)}")

    def v2_runner_on_unreachable(self, result: Any) -> None:
        """A machine cannot be logged in to."""
        self.failed[result._host.name] = str(result._result.get("msg", "it cannot be reached"))
        self.changed.pop(result._host.name, None)

    def v2_playbook_on_stats(self, stats: Any) -> None:
        """The end: leave the file for `beowulf setup`."""
        with open(os.environ["BEOWULF_SETUP_RESULT"], "w") as file:
            json.dump({"changed": self.changed, "failed": self.failed}, file)
