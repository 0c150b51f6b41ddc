"""Compile an MPI program and run it on a cluster's nodes: hosts, environment, time-out, and an eye on every node."""

from __future__ import annotations

import codecs
import difflib
import hashlib
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO

from beowulf import paths
from beowulf.cluster import Cluster
from beowulf.cluster.common import hydra
from beowulf.cluster.common.config import SIMULATED
from beowulf.cluster.common.node_environment import JOB
from beowulf.cluster.common.shells import HINT, Answer, marked
from beowulf.errors import LabError, UsageError

DEFAULT_TIMEOUT_S = 600.0
MOST_OUTPUT_BYTES = 64 * 1024 * 1024
MOST_RANKS_A_NODE = 64
WATCH_EVERY_S = 0.5
CANNOT_RUN, NOT_FOUND = 126, 127  # as every shell says it
COMPILER_FLAGS = ("-std=c11", "-O2", "-Wall", "-Wextra", "-g")
LIKE_ENOUGH = 0.7  # of difflib's measure, from 0 to 1, in which hello.c and helo.c have 0.92
RPC = Path("/usr/include/tirpc")
SIMGRID_LACKS = paths.root() / "beowulf/cluster/simulated/simulated.h"


# What the cluster's own mpiexec and connection say of a node (beowulf/cluster/common/node_environment.py).
LOST = re.compile(r"^mpiexec: (?:the connection to )?(\S+) (?:broke|does not answer)", re.MULTILINE)
USUAL_CRASHES = (signal.SIGSEGV, signal.SIGABRT, signal.SIGFPE, signal.SIGBUS, signal.SIGKILL)


MORE = "What it printed above says more."  # of a program that was shown and did not end well

# Called with what a program prints, as it comes.
Listener = Callable[[str], object]


def to_screen(text: str) -> None:
    """Show at once what a program prints."""
    if sys.stdout:
        sys.stdout.write(text)
        sys.stdout.flush()


def errors_to_screen(text: str) -> None:
    """Show at once what a program prints on stderr."""
    if sys.stderr:
        sys.stderr.write(text)
        sys.stderr.flush()


@dataclass(frozen=True)
class Launch:
    """What an MPI program printed, how it ended, and how long the whole launch took."""

    returncode: int
    stdout: str
    stderr: str
    elapsed_s: float


def build(
    source: Path,
    *,
    library: str = "classic",
    output: Path | None = None,
    flags: Sequence[str] = (),
) -> Path:
    """Compile one C file with the library's own mpicc, next to its source unless `output` says where.

    `flags` are the compiler's, beside those that every program gets. What the labs bring is compiled once, and copied
    from then on.
    """
    if not source.is_file():
        hint = _meant(source) or "Give the path of a C source file."
        raise UsageError(f"There is no file {source}.", hint)
    program = output or source.with_suffix("")
    words = [
        _compiler(library),
        *COMPILER_FLAGS,
        *flags,
        f"-I{paths.root() / 'labs' / 'include'}",
        f"-I{RPC}",
        *(["-include", str(SIMGRID_LACKS)] if library == SIMULATED else []),
        _operand(source),
        "-o",
        _operand(program),
        # What a program does not call it does not load, which would make its start longer: lab 02 measures that.
        "-Wl,--as-needed",
        "-lm",
        *(["-ltirpc"] if RPC.is_dir() else []),
    ]
    kept = _kept(source, words) if output else None
    if kept and kept.is_file():
        return Path(shutil.copy2(kept, program))
    done = subprocess.run(words, capture_output=True, text=True, errors="replace")
    if done.returncode in (CANNOT_RUN, NOT_FOUND):
        raise LabError(f"There is no C compiler to run: {done.stderr.strip()}.", HINT)
    if done.returncode:
        raise LabError(
            f"{source} does not compile. The compiler says:\n{done.stderr.strip()}",
            "Fix the first error that it names, then try again.",
        )
    if kept:
        with suppress(OSError):  # the package is another user's, or the disk is full
            kept.parent.mkdir(parents=True, exist_ok=True)
            aside = kept.with_name(f"{kept.name}.{uuid.uuid4().hex}")
            Path(shutil.copy2(program, aside)).replace(kept)
    return program


def _kept(source: Path, words: Sequence[str]) -> Path | None:
    """Where a program of the labs is kept once it is compiled; None for any other. A new source has a new place."""
    labs = paths.root() / "labs"
    source = source.resolve()
    if not source.is_relative_to(labs):
        return None
    compilers = [
        Path(found).stat().st_mtime for name in (words[0], "cc") if (found := shutil.which(name))
    ]
    output = words.index("-o") + 1
    key = [
        *words[:output],
        *words[output + 1 :],
        *map(str, compilers),
        os.environ.get("MPICH_CC", ""),
    ]
    digest = hashlib.sha256("\0".join(key).encode())
    for folder in (source.parent, labs / "include"):  # it includes npb/mg.c, or measure/clock.h
        for path in sorted(folder.rglob("*.[ch]")):
            digest.update(path.read_bytes())
    return paths.root() / "build" / "programs" / f"{source.stem}-{digest.hexdigest()[:16]}"


def _compiler(library: str) -> str:
    """The library's own mpicc; LabError where it is missing."""
    simulated = library == SIMULATED
    compiler = "smpicc" if simulated else str(paths.mpi_prefix(library) / "bin" / "mpicc")
    if not (found := shutil.which(compiler)):
        hint = "`apt install libsimgrid-dev` installs it." if simulated else HINT
        raise LabError(f"{compiler} cannot be found on this machine.", hint)
    return found


def _operand(path: Path) -> str:
    """The path as a compiler takes it for a file, also when its name begins like an option."""
    return f"./{path}" if str(path).startswith("-") else str(path)


def prepare(program: Path, *, library: str = "classic") -> list[str]:
    """The words that start a program: a C source is compiled first, a Python one gets its interpreter."""
    if program.suffix == ".c":
        program = build(program, library=library)
    if program.suffix == ".py" and program.is_file():
        return ["python", str(program.absolute())]
    if not program.is_file():
        hint = _meant(program) or "Compile it first, or give its C source: `hello.c`."
        raise UsageError(f"There is no program {program}.", hint)
    if not program.stat().st_mode & 0o111:
        raise UsageError(f"{program} is not a program.", "Give a compiled program or a C source.")
    return [str(program.absolute())]


def _meant(missing: Path) -> str:
    """A question after the file that the user may have meant; empty when no name nearby is similar."""
    names = [path.name for path in missing.parent.glob("*") if path.is_file()]
    near = difflib.get_close_matches(missing.name, names, 1, LIKE_ENOUGH)
    return f"Did you mean {missing.with_name(near[0])}?" if near else ""


def launch(
    cluster: Cluster,
    program: Path | Sequence[str],
    ranks: int,
    arguments: Sequence[str] = (),
    *,
    hosts: Sequence[str] = (),
    environment: Mapping[str, str] | None = None,
    timeout_s: float = DEFAULT_TIMEOUT_S,
    output: Listener | None = None,
    errors: Listener | None = None,
    stdin: bool = False,
    folder: Path | None = None,
    launcher: Sequence[str] = (),
) -> Launch:
    """Run `program` with that many ranks, from node00, in `folder`.

    What it prints is given back; `output` and `errors` are called with it as it comes (to_screen and errors_to_screen
    show it), and then it may be endless.
    `stdin` hands our own standard input on to rank 0, whose input is at its end otherwise.
    `launcher`: the words that start it in place of the cluster's own mpiexec, for a program linked with another MPI.
    A node that dies, a time-out (0: none) or endless output ends the run with a LabError, and so does Ctrl-C with
    KeyboardInterrupt; no process of the run stays on any node.
    """
    if ranks < 1:
        raise UsageError(f"A program has at least 1 rank, not {ranks}.")
    words = prepare(program, library=cluster.mpi) if isinstance(program, Path) else list(program)
    used = list(hosts) or list(cluster.nodes)
    if ranks > MOST_RANKS_A_NODE * len(used):
        raise UsageError(
            f"{ranks} ranks are too many for {len(used)} node{'s' * (len(used) != 1)}: at most"
            f" {MOST_RANKS_A_NODE} a node."
        )
    if dead := [node for node in cluster.dead_nodes() if node in used[:ranks]]:
        verb = "is" if len(dead) == 1 else "are"
        raise LabError(
            f"{', '.join(dead)} {verb} down.",
            f"`beowulf up` starts {'it' if len(dead) == 1 else 'them'} again.",
            dead[0],
        )
    wanted = stdin and hydra.has_input()
    line, job = command(
        cluster,
        words if cluster.can.simulated else hydra.reading(words, wanted=wanted),
        ranks,
        arguments,
        hosts=hosts,
        environment=environment,
        stdin=wanted,
        folder=folder,
        launcher=launcher,
    )
    run = _Run(line, {"stdout": output, "stderr": errors}, stdin=wanted)
    name = Path(words[-1]).name
    try:
        _watch(run, cluster, used[:ranks], name, timeout_s, ranks)
    except BaseException:
        with _undisturbed():
            run.stop()
            clear(cluster, job)
        raise
    done = run.result()
    if folder:
        cluster.fetch(folder)
    if done.returncode:
        clear(cluster, job)
    run.complain()
    if done.returncode:
        _blame_dead(cluster, used[:ranks], name)
        if lost := [node for node in LOST.findall(done.stderr) if node in used[:ranks]]:
            raise LabError(
                f"The connection to {lost[0]} failed; the run of {name} was ended.",
                f"`beowulf ssh {lost[0]} hostname` says why; `beowulf up` heals the cluster.",
                lost[0],
            )
    return done


# The same for a person at a terminal, who sees what it prints and types what it reads.
launch_shown = partial(launch, output=to_screen, errors=errors_to_screen, stdin=True)


def command(
    cluster: Cluster,
    words: Sequence[str],
    ranks: int,
    arguments: Sequence[str] = (),
    *,
    hosts: Sequence[str] = (),
    environment: Mapping[str, str] | None = None,
    stdin: bool = False,
    folder: Path | None = None,
    launcher: Sequence[str] = (),
) -> tuple[list[str], str]:
    """The words that, started on this machine, run a program from node00, and the mark for `clear()` to find it by.

    What it prints begins with another mark (see shells.Answer).
    """
    job = uuid.uuid4().hex
    where = ["-hosts", ",".join(hosts)] if hosts else []
    mpiexec = list(launcher) or ["mpiexec", "-n", str(ranks), *where]
    settings = [f"{name}={value}" for name, value in (environment or {}).items()]
    brought, place = cluster.bring([*settings, *mpiexec, *words, *arguments], folder)
    started = hydra.with_input(["env", *brought]) if stdin else brought
    line = shlex.join(["env", f"{JOB}={job}", *started])
    master = cluster.nodes[0]
    lost = f"{master} has no folder {place}: work in one that all nodes share, such as your home."
    enter = f"cd {shlex.quote(place)} 2>/dev/null || {{ echo {shlex.quote(lost)} >&2; exit 1; }}"
    return cluster.shell(master, marked(f"{enter}; exec {line}")), job


def failure(done: Launch, name: str) -> str:
    """In one sentence, how a program ended that did not end well; empty when it did."""
    if done.returncode == 0:
        return ""
    banner = hydra.BANNER.search(done.stdout)
    where = f"A rank of {name} on {banner['node']}" if banner else name
    code = int(banner["code"]) if banner else done.returncode
    number = code - 128 if code > 128 else code
    with suppress(ValueError):
        meaning = signal.strsignal(signal.Signals(number))
        if code > 128:
            return f"{where} was ended by signal {number} ({meaning})."
        if banner and number in USUAL_CRASHES:
            return f"{where} ended with {code}; as a signal, that is: {meaning}."
    return f"{where} ended with exit code {code}."


@contextmanager
def _undisturbed() -> Iterator[None]:
    """A second Ctrl-C does not keep us from clearing up after the first."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def stop(process: subprocess.Popen[bytes]) -> None:
    """End what was started on this machine to run a program, in a session of its own."""
    # The whole session: what we started only waits for ssh, which would go on without it.
    for number in (signal.SIGTERM, signal.SIGKILL):
        with suppress(ProcessLookupError):
            os.killpg(process.pid, number)
        with suppress(subprocess.TimeoutExpired):
            process.wait(2.0)
            break


def clear(cluster: Cluster, job: str) -> None:
    """Kill what is left of a run on every node that lives, by process number."""
    script = (
        f"for p in /proc/[0-9]*; do grep -qz '^{JOB}={job}$' $p/environ 2>/dev/null"
        " && kill -9 ${p#/proc/}; done; true"
    )
    dead = cluster.dead_nodes()
    for node in cluster.nodes:
        if node not in dead:
            with suppress(LabError):
                cluster.run(node, script, timeout_s=60)


class _Run:
    """A launcher under way, with readers that keep what it prints up to a limit."""

    def __init__(
        self, words: list[str], listeners: Mapping[str, Listener | None], *, stdin: bool
    ) -> None:
        self.began = self.ended = time.monotonic()
        # A session of its own: Ctrl-C reaches us alone, and we end the run in good order.
        self.process = subprocess.Popen(
            words,
            # Where nothing is wanted, it stays open until the launcher ends: see hydra.
            stdin=None if stdin else subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        assert self.process.stdout
        assert self.process.stderr
        self.listeners = listeners
        self.refused: OSError | None = None  # why what it prints could not be passed on
        self.output = {"stdout": bytearray(), "stderr": bytearray()}
        streams = {"stdout": self.process.stdout, "stderr": self.process.stderr}
        self.readers = [
            threading.Thread(target=self._read, args=each, daemon=True) for each in streams.items()
        ]
        for reader in self.readers:
            reader.start()

    def _read(self, name: str, stream: IO[bytes]) -> None:
        text = codecs.getincrementaldecoder("utf-8")(errors="replace")
        answer = Answer()
        listener = self.listeners[name]
        while chunk := os.read(stream.fileno(), 65536):
            if name == "stdout":
                chunk = answer.heard(chunk)
            if len(self.output[name]) <= MOST_OUTPUT_BYTES:
                self.output[name] += chunk
            if listener and not self.refused:
                try:
                    listener(text.decode(chunk))
                except OSError as error:
                    self.refused = error
                except ValueError:
                    pass  # closed: who listened has stopped, and the run is being ended
        stream.close()

    @property
    def too_much(self) -> bool:
        heard = any(self.listeners.values())
        return not heard and any(len(k) > MOST_OUTPUT_BYTES for k in self.output.values())

    def over(self, patience_s: float) -> bool:
        try:
            self.process.wait(patience_s)
        except subprocess.TimeoutExpired:
            return False
        self.ended = time.monotonic()
        if self.process.stdin:
            self.process.stdin.close()
        return True

    def complain(self) -> None:
        if self.refused:
            raise self.refused

    def stop(self) -> None:
        stop(self.process)
        self.over(0.0)

    def result(self) -> Launch:
        for reader in self.readers:
            reader.join(30.0)
        texts = {name: bytes(text).decode(errors="replace") for name, text in self.output.items()}
        return Launch(self.process.returncode, elapsed_s=self.ended - self.began, **texts)


def _watch(
    run: _Run, cluster: Cluster, used: list[str], name: str, timeout_s: float, ranks: int
) -> None:
    while not run.over(WATCH_EVERY_S):
        _blame_dead(cluster, used, name)
        if timeout_s and time.monotonic() - run.began > timeout_s:
            why = "A rank may be waiting for a message that no rank sends."
            if ranks == 1:
                why = "One of its loops may have no end, or it may be waiting for input."
            raise LabError(
                f"{name} did not end within {timeout_s:g} s; it was stopped.",
                f"{why} `--timeout` allows more time.",
            )
        run.complain()
        if run.too_much:
            raise LabError(
                f"{name} printed more than {MOST_OUTPUT_BYTES // 1024**2} MiB; it was stopped.",
                "See whether a loop in it prints without end.",
            )


def _blame_dead(cluster: Cluster, used: list[str], name: str) -> None:
    if dead := [node for node in cluster.dead_nodes() if node in used]:
        raise LabError(
            f"{', '.join(dead)} went down while {name} was running; the run was ended.",
            "`beowulf up` heals the cluster; then run the program again.",
            dead[0],
        )
