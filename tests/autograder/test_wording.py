"""Are counts said as people say them, and stays what a learner wrote text?"""

from __future__ import annotations

from autograder.text import as_html, as_written


def test_a_command_is_shown_as_one_and_nothing_else_is_markup() -> None:
    assert as_html("`beowulf up` heals it") == "<code>beowulf up</code> heals it"
    assert as_html("a < b & `<i>`") == "a &lt; b &amp; <code>&lt;i&gt;</code>"
    assert as_html("costs $3 or $4") == "costs &#36;3 or &#36;4"
    assert as_html("two\nlines, `one\nopen`") == "two<br>lines, `one<br>open`"


def test_a_value_is_quoted_without_the_dust_of_computing() -> None:
    assert as_written(0.1 + 0.2) == "0.3"
    assert as_written("node01") == "'node01'"
    assert len(as_written("x" * 1000)) == 200
