"""What a program says on stderr: is the refusal found, is the rest passed on, is the last line heard?"""

from __future__ import annotations

import io

from beowulf.measure.program_stderr import ProgramStderr


def test_a_refusal_is_kept_back_and_the_rest_is_passed_on() -> None:
    screen = io.StringIO()
    with ProgramStderr(screen.write) as complaints:
        complaints.write("refused: --sizes takes num")
        complaints.write("bers.\n[0] the library's own\nwrong data\n")
    assert complaints.refused == "--sizes takes numbers."
    assert complaints.message == "wrong data"
    assert screen.getvalue() == "[0] the library's own\nwrong data\n"


def test_a_last_line_without_its_end_is_heard_too() -> None:
    screen = io.StringIO()
    with ProgramStderr(screen.write) as complaints:
        complaints.write("no memory")
    assert (complaints.message, screen.getvalue()) == ("no memory", "no memory\n")
