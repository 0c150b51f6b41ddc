"""The commands that run programs on the cluster."""

from __future__ import annotations

import re
import shlex
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from beowulf.errors import LabError, UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from beowulf.mpi import Launch


# Our options; `separate`: their value is the next word.
OURS = re.compile(r"--profile|--trace|(?P<separate>-n|--timeout)|-n=?\d+|--timeout=.*")


def run(
    program: Annotated[Path, typer.Argument(help="A program, a C source or a Python file.")],
    arguments: Annotated[
        list[str] | None,
        typer.Argument(
            help="The program's own arguments; after `--` also -n, --timeout and the like."
        ),
    ] = None,
    ranks: Annotated[int, typer.Option("-n", help="How many ranks.")] = 4,
    timeout: Annotated[
        float, typer.Option(min=0, help="Stop it after this many seconds; 0: never.")
    ] = 600.0,
    profile: Annotated[
        bool,
        typer.Option("--profile", help="Count its MPI calls, and print the time spent in them."),
    ] = False,
    trace: Annotated[
        bool,
        typer.Option(
            "--trace", help="Record each rank's MPI calls; `beowulf timeline` shows them."
        ),
    ] = False,
    capture: Annotated[
        bool, typer.Option("--capture", help="With --trace: also record the packets of the wire.")
    ] = False,
    folder: Annotated[
        Path | None,
        typer.Option("-o", "--output", help="With --trace: its folder. Default: PROGRAM.trace."),
    ] = None,
) -> None:
    """Run an MPI program on the cluster.

    It starts on node00, in the folder that you are in. A C source is compiled first. A node that dies and a program
    that hangs end the run with a sentence. Options for `beowulf run` come before the program; `beowulf run PROGRAM --
    -n 2` passes `-n 2` to the program.

    Example: beowulf run -n 4 labs/01-validation/hello.c
    """
    from beowulf import mpi
    from beowulf.cluster import running

    words = own_arguments(program, arguments or [])
    if trace and profile:
        raise UsageError(
            "`--trace` and `--profile` take the same place, between a program and MPI.",
            "Give one of them; a trace has the profile's numbers, too.",
        )
    if (capture or folder) and not trace:
        raise UsageError("`--capture` and `--output` belong to `--trace`.", "Add `--trace`.")
    if trace:
        done = _traced(program, ranks, words, timeout, folder, capture)
    elif profile:
        done = _profiled(program, ranks, words, timeout)
    else:
        done = mpi.launch_shown(running(), program, ranks, words, timeout_s=timeout)
    if sentence := mpi.failure(done, program.name):
        raise LabError(sentence, mpi.MORE)


def own_arguments(program: Path, arguments: list[str]) -> list[str]:
    """A program's arguments, without the `--` before them; UsageError for options of `run` that have none."""
    if arguments[:1] == ["--"]:
        return arguments[1:]
    for place, word in enumerate(arguments):
        if word == "--":
            break
        if option := OURS.fullmatch(word):
            value = arguments[place + 1 : place + 2] if option["separate"] else []
            ours = shlex.join([word, *value])
            rest = shlex.join(
                [str(program), *arguments[:place], *arguments[place + 1 + len(value) :]]
            )
            its = shlex.join([str(program), "--", *arguments])
            raise UsageError(
                f"`{ours}` after {program} would go to the program, not to `beowulf run`.",
                f"Write `beowulf run {ours} {rest}`; or `beowulf run {its}` if the program is to get it.",
            )
    return arguments


def _profiled(program: Path, ranks: int, arguments: Sequence[str], timeout_s: float) -> Launch:
    """The same with profile.c between the program and MPI; what it counted is shown at the end."""
    import tempfile

    from rich.console import Console

    from beowulf import mpi
    from beowulf.cluster import running
    from beowulf.measure import profile

    cluster = running()
    words = mpi.prepare(program, library=cluster.mpi)
    output = profile.Sieve(mpi.to_screen).write
    # Below /tmp, which the nodes of a local cluster share with this machine.
    with tempfile.TemporaryDirectory(prefix="beowulf-") as folder:
        words = [*profile.prefix(profile.build(Path(folder), library=cluster.mpi)), *words]
        done = mpi.launch_shown(
            cluster, words, ranks, arguments, timeout_s=timeout_s, output=output
        )
    if done.returncode == 0:
        Console().print(profile.printed(done.stdout))
    return done


def _traced(
    program: Path,
    ranks: int,
    arguments: Sequence[str],
    timeout_s: float,
    folder: Path | None,
    capture: bool,
) -> Launch:
    """The same with the recorder between the program and MPI; what it recorded is shown at the end."""
    from rich.console import Console

    from beowulf import mpi
    from beowulf.cluster import running
    from beowulf.timeline import analysis, recording

    cluster = running()
    words = mpi.prepare(program, library=cluster.mpi)
    into = folder or Path(f"{program.stem}.trace")
    try:
        return recording.launch(
            cluster,
            words,
            ranks,
            arguments,
            into=into,
            capture=capture,
            timeout_s=timeout_s,
            output=mpi.to_screen,
            errors=mpi.errors_to_screen,
            stdin=True,
        )
    finally:
        # Also when it was stopped: what the ranks waited for is in it.
        with suppress(LabError):
            Console().print(analysis.read(into))
            Console().print(f"`beowulf timeline {into}` draws it.", highlight=False)


def timeline(
    folder: Annotated[
        Path,
        typer.Argument(help="What `beowulf run --trace` has written."),
    ],
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="The page to write; else FOLDER.html.")
    ] = None,
    picture: Annotated[
        Path | None, typer.Option(help="Also a still picture, .svg or .png.")
    ] = None,
    from_s: Annotated[float, typer.Option("--from", min=0, help="Show from this second.")] = 0.0,
    to_s: Annotated[float | None, typer.Option("--to", help="Show up to this second.")] = None,
    ranks: Annotated[str | None, typer.Option(help="Which ranks, like 0-3,7.")] = None,
    on: Annotated[
        Path | None,
        typer.Option(
            "--on", help="Also predict the run's time on another network, given as .toml."
        ),
    ] = None,
) -> None:
    """Show what the ranks of a recorded run did and waited for.

    It writes a page for a browser, too.

    Example: beowulf timeline ring.trace --picture ring.svg --from 0.1 --to 0.2 --ranks 0-3
    """
    from rich.console import Console

    from beowulf.timeline import analysis
    from beowulf.timeline import picture as pictures
    from beowulf.timeline.timeline_page import Page

    found = analysis.read(folder)
    Console().print(found)
    if on:
        from beowulf.cluster.simulated import platform
        from beowulf.timeline.replay import replay

        there = replay(found, platform.read(on))
        typer.echo(
            f"From the first data to the last, the run took {there.recorded_ms:,.3f} ms. On the network of {on} it"
            f" would take {there.ms:,.3f} ms: {there.ratio:.3g} times as long."
        )
    shown = pictures.chosen(ranks, len(found.trace.ranks)) if ranks else None
    if picture:
        pictures.picture(found, from_s=from_s, to_s=to_s, ranks=shown).save(picture)
    file = output or Path(f"{folder.resolve().name}.html")
    Page(found, from_s=from_s, to_s=to_s, ranks=shown).save(file)
    typer.echo(f"{file} shows it in a browser.")
