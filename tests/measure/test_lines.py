from __future__ import annotations

import pytest

from beowulf.measure.program_output import ProgramOutput

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
        "[]",
        "{}",
        '{"kind": "news"}',
        SAMPLE.replace("0.5", "NaN"),
        SAMPLE.replace("0.5", "0"),
        SAMPLE.replace("0.5", "true"),
        SAMPLE.replace('"repetitions": 2', '"repetitions": 0'),
        SAMPLE.replace("work_s", "work"),
        SAMPLE.replace('"quantity": "work_s", ', ""),
        '{"kind": "first", "seconds": -1}',
    ],
)
def test_a_line_that_is_no_result_is_reported_and_the_others_stay(line: str) -> None:
    lines = ProgramOutput()
    lines.write(f"{SAMPLE}\n{line}\n{SAMPLE}\n")
    assert lines.trouble == line
    assert lines.samples == 2
