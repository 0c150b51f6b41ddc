"""The school's signing service: measures a study itself, on a cluster of its own, and signs the Record.

    python -m beowulf.signing KEY FOLDER [WORDS OF `beowulf up` …]

A learner asks for a study by name (`beowulf study A2 --signed`) and can neither choose the program nor reach its
processes or its files: these are another user's. Who asks is what the kernel says of the other end of the socket.
"""

from __future__ import annotations

import base64
import json
import os
import pwd
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from beowulf import paths, signature, variant
from beowulf.errors import LabError, UsageError, plain
from beowulf.record import Record, RecordError, reserve
from beowulf.schemas import canonical
from beowulf.studies import find

SOCKET = Path("/run/beowulf-signing/socket")
VARIABLE = "BEOWULF_SIGNING"
LONGEST_REQUEST = 4_096
LONGEST_MESSAGE = 2_000
TALK_S = 10.0  # in which a request has come, or an answer has gone
LONGEST_BOOT_S, LONGEST_STUDY_S = 3_600.0, 7_200.0  # a queue may be long


def ask(name: str, folder: Path, *, quick: bool = False) -> tuple[Record, Path]:
    """Let the service measure a study; the signed Record, and its file in `folder`, with its captures beside it."""
    request = {"study": find(name).id, "quick": quick, "word": variant.word()}
    address = os.environ.get(VARIABLE) or str(SOCKET)
    with socket.socket(socket.AF_UNIX) as talk:
        try:
            talk.connect(address)
            talk.sendall(canonical(request) + b"\n")
            text = _all_of(talk)
        except OSError as error:
            raise LabError(
                f"The signing service does not answer at {address} ({error.strerror}).",
                "Without `--signed` the study is measured on your own cluster, and not signed.",
            ) from None
    try:
        answer = json.loads(text)
        if "error" in answer:
            raise LabError(f"The signing service reports: {plain(str(answer['error']))}")
        files = {Path(each).name: base64.b64decode(data) for each, data in answer["files"].items()}
        main = Path(answer["record"]).name
        content = files.pop(main)
    except (ValueError, KeyError, TypeError, AttributeError):
        raise LabError(
            "The signing service ended before its answer was whole.", "Ask it again."
        ) from None
    folder.mkdir(parents=True, exist_ok=True)
    for each, data in files.items():
        _write(folder / each, data)
    path = reserve(folder / main)
    _write(path, content)
    return Record.load(path, find(name).id), path


def _write(path: Path, content: bytes) -> None:
    try:
        path.write_bytes(content)
    except OSError as error:
        raise RecordError(
            f"{path.name} cannot be written: {error.strerror}.",
            "Free some space, or choose a folder that you may write to.",
            path,
        ) from None


def _all_of(talk: socket.socket) -> bytes:
    """What the service sends until it stops sending."""
    text = bytearray()
    while part := talk.recv(65_536):
        text += part
    return bytes(text)


def serve(key: Path, folder: Path, up: Sequence[str] = (), address: Path = SOCKET) -> None:
    """Measure and sign one request after the other, until the process is ended."""
    signature.make_key(key)
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    with suppress(FileNotFoundError):
        address.unlink()
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(address))
        address.chmod(0o666)  # everybody on this machine may ask
        listening.listen(128)
        print(f"beowulf: signs Records for anyone who asks at {address}.", flush=True)
        try:
            while True:
                talk, _ = listening.accept()
                with talk, suppress(OSError):  # who asked may be gone
                    talk.settimeout(TALK_S)
                    talk.sendall(json.dumps(_answer(talk, key, folder, up)).encode() + b"\n")
        finally:
            address.unlink(missing_ok=True)


def _answer(talk: socket.socket, key: Path, folder: Path, up: Sequence[str]) -> dict[str, Any]:
    account = account_of(talk)
    try:
        request = _request(talk.recv(LONGEST_REQUEST))  # at once, so that nobody holds up others
        print(f"beowulf: {account} asks for {request['study']}.", flush=True)
        return _measured(request, account, key, folder, up)
    except LabError as error:
        return {"error": str(error)[:LONGEST_MESSAGE]}
    except Exception as error:  # the next learner gets an answer all the same
        traceback.print_exc()
        return {"error": f"It could not measure ({type(error).__name__})."}


def account_of(talk: socket.socket) -> str:
    """The name of the user at the other end, by the kernel's word."""
    size = struct.calcsize("3i")
    _, number, _ = struct.unpack("3i", talk.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, size))
    try:
        return pwd.getpwuid(number).pw_name
    except KeyError:
        return f"user{number}"


def _request(text: bytes) -> dict[str, Any]:
    """What is asked for: all of it plain words; UsageError for anything else."""
    try:
        asked = json.loads(text)
        name, word = str(asked["study"]), str(asked.get("word", ""))
        quick = asked.get("quick") is True
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError):
        raise UsageError("This is no request for a study.") from None
    return {"study": find(name).id, "quick": quick, "word": variant.checked(word)}


def _measured(
    request: Mapping[str, Any], account: str, key: Path, folder: Path, up: Sequence[str]
) -> dict[str, Any]:
    """The files that the study left, the Record signed."""
    with tempfile.TemporaryDirectory(dir=folder, prefix="study-") as place:
        # Nothing of who asks is in it but the account's name and the course's code.
        environment = {
            "PATH": f"{paths.python_bin()}:/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin",
            "HOME": str(folder),
            "LANG": "C.UTF-8",
            "BEOWULF_STATE": str(folder / "state"),
            "BEOWULF_WORK": place,
            "BEOWULF_LEARNER": account,
            variant.VARIABLE: request["word"],
        }
        words = ["study", request["study"], "--json", "--records", "records"]
        words += ["--quick"] * request["quick"]
        try:
            _run(["up", *up], environment, place, LONGEST_BOOT_S)
            _run(words, environment, place, LONGEST_STUDY_S)
        finally:
            with suppress(LabError):
                _run(["down"], environment, place, LONGEST_BOOT_S)
        kept = Path(place, "records")
        (path,) = kept.glob(f"{request['study']}-*.json")
        signature.sign(Record.load(path), key, account).save(path)
        files = {
            each.name: base64.b64encode(each.read_bytes()).decode("ascii")
            for each in kept.iterdir()
            if each.is_file() and not each.name.startswith(".")
        }
        return {"record": path.name, "files": files}


def _run(words: Sequence[str], environment: Mapping[str, str], place: str, most_s: float) -> None:
    """One command of beowulf; LabError with what it printed last when it fails."""
    line = [str(paths.python_bin() / "beowulf"), *words]
    with subprocess.Popen(
        line,
        cwd=place,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
    ) as process:
        try:
            _, errors = process.communicate(timeout=most_s)
        except BaseException as stopped:
            process.terminate()  # it takes its processes with it
            process.wait()
            if isinstance(stopped, subprocess.TimeoutExpired):
                raise LabError(f"`beowulf {words[0]}` did not end within {most_s:g} s.") from None
            raise
    if process.returncode:
        raise LabError(errors.strip().removeprefix("beowulf: ") or f"`beowulf {words[0]}` failed.")


def _main() -> None:
    def stop(_number: int, _frame: object) -> None:
        raise KeyboardInterrupt

    signal.signal(signal.SIGTERM, stop)
    if len(sys.argv) < 3:
        sys.exit("usage: python -m beowulf.signing KEY FOLDER [WORDS OF `beowulf up` ...]")
    os.umask(0o077)
    address = Path(os.environ.get(VARIABLE) or SOCKET)
    try:
        serve(Path(sys.argv[1]), Path(sys.argv[2]).resolve(), sys.argv[3:], address)
    except LabError as error:
        sys.exit(f"beowulf: {error}")
    except KeyboardInterrupt:
        sys.exit(0)


if __name__ == "__main__":
    _main()
