"""What a measuring program prints: are its lines read, its refusal found, and is the rest passed on?"""

from __future__ import annotations

import io

import pytest

from beowulf.measure.program_output import ProgramOutput
from beowulf.measure.program_stderr import ProgramStderr

SAMPLE = (
    '{"kind": "sample", "quantity": "work_s", "repetitions": 2, "seconds": 0.5, "size_bytes": 8}'
)


def test_lines_are_read_however_they_are_cut() -> None:
    reported: list[int] = []
    lines = ProgramOutput(lambda so_far: reported.append(so_far.samples))
    text = f'{{"kind": "about", "samples": 2}}\n{SAMPLE}\n{SAMPLE}\n{{"kind": "end"}}\n'
    for letter in text:
        lines.write(letter)
    assert [line["kind"] for line in lines.rows] == ["about", "sample", "sample", "end"]
    assert lines.ended
    assert (lines.samples, lines.planned) == (2, 2)
    assert reported == [0, 1, 2, 2]
    assert lines.trouble == ""
    lines = ProgramOutput()
    lines.write(SAMPLE + "\n" + SAMPLE[:20])
    assert (lines.ended, lines.samples) == (False, 1)


@pytest.mark.parametrize(
    "line",
    [
        "hello",
        '{"kind": "news"}',
        SAMPLE.replace("0.5", "NaN"),
        SAMPLE.replace("0.5", "0"),
        SAMPLE.replace('"repetitions": 2', '"repetitions": 0'),
        SAMPLE.replace("work_s", "work"),
        '{"kind": "first", "seconds": -1}',
    ],
)
def test_a_line_that_is_no_result_is_reported_and_the_others_stay(line: str) -> None:
    lines = ProgramOutput()
    lines.write(f"{SAMPLE}\n{line}\n{SAMPLE}\n")
    assert lines.trouble == line
    assert lines.samples == 2


def test_a_refusal_is_kept_back_and_the_rest_is_passed_on_to_its_last_line() -> None:
    screen = io.StringIO()
    with ProgramStderr(screen.write) as complaints:
        complaints.write("refused: --sizes takes num")
        complaints.write("bers.\n[0] the library's own\nwrong data\nno memory")
    assert complaints.refused == "--sizes takes numbers."
    assert complaints.message == "wrong data"
    assert screen.getvalue() == "[0] the library's own\nwrong data\nno memory\n"
