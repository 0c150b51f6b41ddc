"""Who works here; a Record carries the name, and each learner has broken clusters of their own."""

from __future__ import annotations

import getpass
import os


def learner() -> str:
    """BEOWULF_LEARNER, or else the name of this user."""
    return os.environ.get("BEOWULF_LEARNER") or name()


def name() -> str:
    """The name of this user."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a user without a name, as some containers have
        return f"user{os.getuid()}"
