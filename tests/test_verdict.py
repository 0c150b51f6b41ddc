"""Does a Verdict say what was found, to the eye and to a program, without relying on colour?"""

from __future__ import annotations

import json
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import jsonschema
import pandas as pd
import pytest
from IPython.core.formatters import PlainTextFormatter

from beowulf import paths
from beowulf.desk.notebook import fitted, print_whole
from beowulf.record import Record
from beowulf.studies import judge
from beowulf.verdict import ARITHMETIC, DEMONSTRATIONS, OWN, OWN_CHECKS, Verdict, Verdicts


def small(**changes: Any) -> Verdict:
    given: dict[str, Any] = {
        "study": "A2",
        "claim": "reachability",
        "says": "Every node reaches every other.",
        "outcome": "holds",
        "evidence": "12 of 12 pairs answer.",
        "numbers": {"pairs": 12, "reached": 12},
        "records": ["0" * 64],
    }
    return Verdict(**{**given, **changes})


def test_only_three_outcomes_exist_and_the_third_comes_with_advice() -> None:
    with pytest.raises(ValueError, match="outcome is one of"):
        small(outcome="maybe")
    with pytest.raises(ValueError, match="what to do about it"):
        small(outcome="inconclusive")
    assert small(outcome="inconclusive", advice="Measure longer.").advice


class Cells(HTMLParser):
    """The tags and the text of the cells of a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.cells: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        if tag == "td":
            self.cells.append("")

    def handle_data(self, data: str) -> None:
        if self.cells:
            self.cells[-1] += data


several = Verdicts(
    [
        small(),
        small(claim="b", outcome="contradicted", evidence='<b onclick="x">node03</b> & more'),
        small(claim="c", outcome="inconclusive", advice="Measure [bold]again[/bold]."),
    ]
)


def test_a_notebook_shows_outcomes_as_words_and_symbols_and_escapes_what_nodes_printed() -> None:
    page = Cells(several._repr_html_())
    outcomes = page.cells[1::3]
    assert outcomes == ["✓ holds", "✗ contradicted", "? inconclusive"]
    assert "node03</b> & more" in page.cells[5], "evidence is shown as it was said"
    assert "b" not in page.tags, "and not as markup"
    assert Cells(small()._repr_html_()).cells[1] == "✓ holds"


WIDTH = 848  # of a cell's output where JupyterLab is 1280 pixels wide


@pytest.mark.browser
def test_a_wide_table_fits_into_a_cell_of_a_notebook(page: Any) -> None:
    titles = [f"node0{node}_half_round_trip_us" for node in range(8)]
    wide = pd.DataFrame({title: [1234.5, 2.0] for title in titles} | {"path": ["/very" * 40, ""]})
    verdicts = Verdicts([small(says="said " * 30, evidence="word" * 60, advice="do " * 40)])
    pages = {
        "verdicts": verdicts._repr_html_(),
        "numbers": fitted(wide),
        "as pandas has it": wide.to_html(),
    }
    widths = {}
    for name, text in pages.items():
        page.set_content(f'<div style="width:{WIDTH}px; font: 12px sans-serif">{text}</div>')
        widths[name] = page.locator("table").bounding_box()["width"]
    assert widths["as pandas has it"] > WIDTH, "it is wide"
    assert widths["verdicts"] <= WIDTH
    assert widths["numbers"] <= WIDTH


def test_a_table_that_fits_says_what_it_printed_before() -> None:
    table = pd.DataFrame({"half_trip_us": [1.5], "<b>": ["<i>_x"]})
    before, after = Cells(str(table.to_html())), Cells(fitted(table))
    assert [cell.strip() for cell in after.cells] == [cell.strip() for cell in before.cells]
    assert "b" not in after.tags
    assert "i" not in after.tags


def test_a_terminal_shows_every_column_of_a_wide_table(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    table = pd.DataFrame({f"column_{number}_ms": range(24) for number in range(11)})
    formatter = PlainTextFormatter()
    assert "column_7_ms" not in formatter(table)
    formatter.for_type_by_name("pandas", "DataFrame", print_whole)
    lines = formatter(table).splitlines()
    assert all(f"column_{number}_ms" in " ".join(lines) for number in range(11))
    assert max(map(len, lines)) <= 80


def test_plain_text_shows_the_same_without_control_characters() -> None:
    shown = str(Verdicts([small(evidence="said \x1b[31mred\x07\r\nand more")]))
    assert "✓ holds" in shown
    assert all(letter.isprintable() or letter == "\n" for letter in shown)
    assert shown.count("\n") == 1, "one line a claim and one for its evidence"
    assert str(Verdicts()) == "no claims"


def test_own_checks_and_arithmetic_have_headings_of_their_own() -> None:
    sums = small(claim="sums", says="The sums are right", rests_on="arithmetic")
    own = small(claim="own", says="The clock is fine", place=OWN)
    step = small(claim="step", says="The step is where it was put", rests_on="demonstration")
    several = Verdicts([sums, own, step, small(says="It rises", place="figure 13")])
    expected = (
        "It rises (figure 13)",
        DEMONSTRATIONS,
        step.says,
        OWN_CHECKS,
        "The clock is fine",
        ARITHMETIC,
        sums.says,
    )
    for text in (str(several), several._repr_html_()):
        places = [text.index(each) for each in expected]
        assert places == sorted(places)
    assert OWN_CHECKS not in str(Verdicts([small()]))


def test_the_samples_in_the_docs_are_what_this_version_makes_of_them(tmp_path: Path) -> None:
    samples = paths.root() / "docs" / "samples"
    record = Record.load(samples / "record.json")
    record.save(tmp_path / "record.json")
    assert (tmp_path / "record.json").read_bytes() == (samples / "record.json").read_bytes()
    verdict = json.loads((samples / "verdict.json").read_text())
    assert judge(record).named(verdict["claim"]).as_plain() == verdict
    schema = json.loads((paths.root() / "beowulf" / "schemas" / "verdict-1.json").read_text())
    jsonschema.validate(verdict, schema)
