"""Files on their way to nodes that do not share this machine's disk, and back.

On a node they lie below one folder of the user's own, under the names that they have here: what is /home/ada/ring here
is /tmp/beowulf-ada/home/ada/ring there.
"""

from __future__ import annotations

import io
import os
import shlex
import tarfile
from collections.abc import Iterable
from pathlib import Path, PurePosixPath

from beowulf.errors import LabError

# Programs that a node has itself.
THEIR_OWN = ("/usr/bin/", "/usr/sbin/", "/bin/", "/sbin/", "/proc/", "/sys/", "/dev/")
SENT = ".beowulf-sent"
# How tar and others say that a disk is full.
FULL = ("No space left", "Wrote only", "Disk quota exceeded")

# First a folder aside, so that a full disk leaves no half file where a program is looked for.
UNPACK = """\
umask 077
mkdir -p ROOT && [ -O ROOT ] && [ ! -h ROOT ] || { echo 'ROOT belongs to another user' >&2; exit 1; }
aside=$(mktemp -d ROOT/.new-XXXXXX) || exit 1
tar -x -m -C "$aside" && mkdir -p WORK && cp -rlf "$aside/." ROOT/ && touch WORK/SENT
code=$?
rm -rf "$aside"
exit $code
"""
PACK = "cd WORK && find . -type f -newer SENT ! -name SENT -print0 | tar -c --null -T -"


def root(user: str) -> str:
    """The folder on a node below which our files lie."""
    return f"/tmp/beowulf-{user}"


def there(path: Path | str, user: str) -> str:
    """The name on a node of what has this name here."""
    return f"{root(user)}{os.path.abspath(path)}"


def travelling(words: Iterable[str]) -> dict[str, Path]:
    """The words, or what follows their `=`, that name a file of this machine: as they are written, and the file."""
    files = {}
    for word in words:
        name, equals, value = word.partition("=")
        text = value if equals and name.isidentifier() else word
        if text.startswith("/") and not text.startswith(THEIR_OWN) and Path(text).is_file():
            files[text] = Path(text)
    return files


def packed(files: Iterable[Path]) -> bytes:
    """These files as a tar archive, with their whole names."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", dereference=True) as archive:
        for file in files:
            archive.add(file, arcname=os.path.abspath(file)[1:], recursive=False)
    return buffer.getvalue()


def unpack(user: str, work: str) -> str:
    """Lines of shell that unpack an archive from their stdin; `work` is the folder that a program runs in."""
    lines = UNPACK.replace("ROOT", shlex.quote(root(user))).replace("SENT", SENT)
    return lines.replace("WORK", shlex.quote(work))


def pack(work: str) -> str:
    """A line of shell that prints an archive of what is new in a folder since it was sent."""
    return PACK.replace("WORK", shlex.quote(work)).replace("SENT", SENT)


def unpacked(archive: bytes, folder: Path) -> list[Path]:
    """Write the plain files of an archive into `folder`, and nowhere else; their paths."""
    written = []
    with tarfile.open(fileobj=io.BytesIO(archive)) as members:
        for member in members:
            name = PurePosixPath(member.name)
            source = members.extractfile(member) if member.isfile() else None
            if source is None or name.is_absolute() or ".." in name.parts:
                continue
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(source.read())
            written.append(path)
    return written


def trouble(node: str, errors: str) -> LabError:
    """The sentence for files that did not arrive."""
    if any(mark in errors for mark in FULL):
        return LabError(
            f"The disk of {node} is full; the program was not started.",
            "Free some space there.",
            node,
        )
    last = (errors.strip() or "it printed nothing").rpartition("\n")[2]
    return LabError(
        f"Files could not be copied to {node}: {last.rstrip('.')}.", "Check its folder /tmp.", node
    )
