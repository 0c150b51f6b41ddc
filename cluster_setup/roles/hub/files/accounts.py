"""Accounts for a class, on the machine of a hub. Arguments: the roster, the group, where passwords are kept, [--check].

Prints a line for each account that is made, or would be. Who has an account already keeps it, and joins the group.
"""

from __future__ import annotations

import csv
import grp
import os
import pwd
import re
import secrets
import subprocess
import sys
from pathlib import Path

from autograder.course import roster
from beowulf.errors import LabError

# As useradd has them. Numbers of people begin at 1000: nobody becomes root by a roster.
NAME = re.compile(r"[a-z_][a-z0-9_-]{0,30}")
FIRST_NUMBER = 1000
LETTERS = "abcdefghjkmnpqrstuvwxyz23456789"
LENGTH = 12


def main() -> int:
    """Make what is missing; 1 when someone cannot have an account."""
    source, group, kept = sys.argv[1:4]
    check = "--check" in sys.argv
    students = roster.read(Path(source))
    if wrong := [each.id for each in students if not _fits(each.id)]:
        print(
            f"{', '.join(wrong)} cannot have an account: as an ID for the hub, take small letters, digits and dashes,"
            " and none that this machine uses itself.",
            file=sys.stderr,
        )
        return 1
    members = set(grp.getgrnam(group).gr_mem)
    for student in students:
        is_new = _number(student.id) is None
        if not is_new and student.id not in members:
            print(f"{student.id} joins {group}")
            if not check:
                _run(
                    "gpasswd", "--add", student.id, group
                )  # also one whose account is in a directory
        elif is_new:
            print(f"{student.id} gets an account")
            if not check:
                _make(student, group, Path(kept))
    return 0


def _fits(name: str) -> bool:
    number = _number(name)
    return bool(NAME.fullmatch(name)) if number is None else number >= FIRST_NUMBER


def _number(name: str) -> int | None:
    """The number of an account, on this machine or in a directory such as LDAP; None if there is no such account."""
    try:
        return pwd.getpwnam(name).pw_uid
    except KeyError:
        return None


def _make(student: roster.Student, group: str, kept: Path) -> None:
    """An account whose password is in the file before it is set, so that it is never lost."""
    password = "".join(secrets.choice(LETTERS) for _ in range(LENGTH))
    new = not kept.exists()
    with open(kept, "a", opener=_only_ours, newline="") as file:
        rows = csv.writer(file)
        if new:
            rows.writerow(["id", "first_name", "last_name", "password"])
        rows.writerow([student.id, student.first_name, student.last_name, password])
    _run("useradd", "--create-home", "--shell", "/bin/bash", "--groups", group, student.id)
    os.chmod(pwd.getpwnam(student.id).pw_dir, 0o700)
    _run("chpasswd", text=f"{student.id}:{password}\n")


def _only_ours(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def _run(*words: str, text: str = "") -> None:
    surroundings = {**os.environ, "PATH": "/usr/sbin:/usr/bin:/sbin:/bin"}
    done = subprocess.run(words, input=text, text=True, capture_output=True, env=surroundings)
    if done.returncode:
        raise LabError(f"{words[0]} failed: {done.stderr.strip()}")


if __name__ == "__main__":
    try:
        sys.exit(main())
    except LabError as error:
        print(error, file=sys.stderr)
        sys.exit(1)
