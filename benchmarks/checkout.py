"""Which state of this project was measured."""

from __future__ import annotations

import subprocess

from beowulf import paths


def commit() -> str:
    """The commit of the checkout, marked when files differ from it; "" where there is no git."""
    root = paths.root()

    def git(*arguments: str) -> str:
        try:
            done = subprocess.run(["git", *arguments], cwd=root, capture_output=True, text=True)
        except OSError:
            return ""
        return done.stdout.strip()

    changed = git(
        "status", "--porcelain", "--untracked-files=no", "--", ".", ":!benchmarks/results"
    )
    return git("rev-parse", "HEAD") + (" with changes" if changed else "")
