"""The signature of a Record that the school's own service measured: made and checked by OpenSSH's ssh-keygen."""

from __future__ import annotations

import copy
import platform
import re
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from beowulf import schemas
from beowulf.errors import LabError
from beowulf.record import Record, moment

FIELD = "signature"  # in the cluster's description
NAMESPACE = "beowulf-record"
WHO = "beowulf"
SIGNED, UNSIGNED, BROKEN = "signed", "unsigned", "broken"
PUBLIC_KEY = re.compile(r"^(ssh-ed25519 [A-Za-z0-9+/=]{1,200})(?: .*)?$", re.MULTILINE)
LONGEST_SIGNATURE = 2_000
LONGEST_S = 60.0


@dataclass(frozen=True)
class Checked:
    """SIGNED, UNSIGNED or BROKEN; whose account asked for it and on which machine; else `why` not, in a sentence."""

    state: str
    account: str = ""
    host: str = ""
    why: str = ""


def make_key(key: Path) -> None:
    """A key that its owner alone reads, with its public half in KEY.pub; one that is there stays."""
    if key.exists():
        return
    words = ["-q", "-t", "ed25519", "-N", "", "-C", f"beowulf-{platform.node()}", "-f", str(key)]
    done = _ssh_keygen(words, b"")
    if done.returncode:
        raise LabError(f"The key {key} cannot be made: {_message(done)}.")


def sign(record: Record, key: Path, account: str) -> Record:
    """The Record with a signature that `account` asked for, on this machine, now."""
    about = {"account": account, "host": platform.node(), "signed": moment()}
    done = _ssh_keygen(["-q", "-Y", "sign", "-f", str(key), "-n", NAMESPACE], _text(record, about))
    if done.returncode:
        raise LabError(f"The Record cannot be signed with {key}: {_message(done)}.")
    signature = {**about, "text": done.stdout.decode("ascii")}
    return replace(record, cluster={**record.cluster, FIELD: signature})


def check(record: Record, keys: Sequence[str]) -> Checked:
    """What the signature of a Record is worth, where these public keys are the school's."""
    about = record.cluster.get(FIELD)
    if about is None:
        return Checked(UNSIGNED, why="It is not signed.")
    fields = ("account", "host", "signed", "text")
    if not isinstance(about, Mapping) or not all(isinstance(about.get(f), str) for f in fields):
        return Checked(BROKEN, why="Its signature lacks a part.")
    account, host, text = about["account"], about["host"], about["text"]
    if len(text) > LONGEST_SIGNATURE:
        return Checked(BROKEN, why="Its signature is too long to be one.")
    try:
        signed = _text(record, {name: about[name] for name in fields[:-1]})
    except (ValueError, RecursionError):  # of a file that someone wrote
        return Checked(BROKEN, why="It holds what no measurement leaves.")
    with tempfile.TemporaryDirectory(prefix="beowulf-") as folder:
        signature, signers = Path(folder, "signature"), Path(folder, "signers")
        signature.write_bytes(text.encode("utf-8", "replace"))
        signers.write_text("".join(f"{WHO} {each}\n" for each in keys), encoding="ascii")
        with_signature = ["-n", NAMESPACE, "-s", str(signature)]
        known = ["-q", "-Y", "verify", "-f", str(signers), "-I", WHO, *with_signature]
        if keys and _ssh_keygen(known, signed).returncode == 0:
            return Checked(SIGNED, account, host)
        if _ssh_keygen(["-q", "-Y", "check-novalidate", *with_signature], signed).returncode == 0:
            why = "It is signed with a key that the course does not know."
            return Checked(UNSIGNED, why=why)
    return Checked(BROKEN, why="It was altered after it was signed.")


def public_keys(text: str) -> list[str]:
    """The public keys in a text, one a line, as ssh-keygen writes them."""
    return PUBLIC_KEY.findall(text)


def _text(record: Record, about: Mapping[str, Any]) -> bytes:
    """What is signed: the digest of the Record without its signature, and who asked for it, where and when."""
    bare = copy.copy(record)
    bare.cluster = {name: value for name, value in record.cluster.items() if name != FIELD}
    return schemas.canonical({**about, "record": bare.digest})


def _ssh_keygen(words: Sequence[str], text: bytes) -> subprocess.CompletedProcess[bytes]:
    try:
        return subprocess.run(
            ["ssh-keygen", *words], input=text, capture_output=True, timeout=LONGEST_S
        )
    except FileNotFoundError:
        raise LabError(
            "There is no ssh-keygen, which signs and checks Records.",
            "Install openssh-client.",
        ) from None
    except subprocess.TimeoutExpired:
        raise LabError(
            "ssh-keygen did not end.", "Try again on a machine that is less busy."
        ) from None


def _message(done: subprocess.CompletedProcess[bytes]) -> str:
    lines = done.stderr.decode(errors="replace").strip().splitlines()
    return lines[-1].rstrip(".") if lines else f"ssh-keygen ended with {done.returncode}"
