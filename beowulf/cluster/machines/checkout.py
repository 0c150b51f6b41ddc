"""This checkout, packed for a master that is to serve notebooks: `python -m beowulf.cluster.machines.checkout FOLDER`.

Prints the archive's path and a digest of what is in it, as JSON. Only what the project's own folders hold is packed: a
course or a learner's work may lie in a checkout too, and is nobody else's business.
"""

from __future__ import annotations

import hashlib
import json
import secrets
import sys
import tarfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from beowulf import paths

PARTS = (
    *("autograder", "beowulf", "cluster_setup", "labs", "notebooks", "requirements"),
    *("Makefile", "pyproject.toml", "LICENSE", "LICENSE-TEXT"),
    "course.toml",  # of a class kit alone
)
MADE_HERE = {"build", "__pycache__", ".ipynb_checkpoints", "records", "work"}


def pack(folder: Path) -> tuple[Path, str]:
    """Pack the checkout into a file of `folder`, unless it is there; its path, and the digest that is in its name."""
    hashed = hashlib.sha256()
    for name, path in files():
        hashed.update(f"{name}\0{hashlib.sha256(path.read_bytes()).hexdigest()}\0".encode())
    digest = hashed.hexdigest()

    def write(archive: Path) -> None:
        with tarfile.open(archive, "w:gz", compresslevel=1) as tar:
            for name, path in files():
                tar.add(path, name, recursive=False)

    return made(folder / f"labs-{digest[:16]}.tar.gz", write), digest


def made(archive: Path, write: Callable[[Path], None]) -> Path:
    """The archive, which `write` makes unless it is there; those of older contents beside it go."""
    if not archive.exists():
        archive.parent.mkdir(parents=True, exist_ok=True)
        name, ends = archive.name.partition("-")[0], "".join(archive.suffixes)
        for old in archive.parent.glob(f"{name}-*{ends}"):
            old.unlink(missing_ok=True)
        aside = archive.with_name(f".{archive.name}.{secrets.token_hex(4)}")
        try:
            write(aside)
            aside.replace(archive)
        finally:
            aside.unlink(missing_ok=True)
    return archive


def files(parts: Iterable[str] = PARTS) -> Iterator[tuple[str, Path]]:
    """The project's own files in these parts of the checkout: the name of each from its root on, and its path."""
    root = paths.root()
    for part in parts:
        for path in sorted([root / part, *(root / part).rglob("*")]):
            name = path.relative_to(root)
            # A file of a lab without a dot is a compiled program.
            ours = not MADE_HERE & set(name.parts) and (part != "labs" or path.suffix)
            if ours and path.is_file() and not path.is_symlink():
                yield str(name), path


if __name__ == "__main__":
    archive, what = pack(Path(sys.argv[1]))
    print(json.dumps({"archive": str(archive), "digest": what}))
