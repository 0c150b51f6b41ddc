"""Decks: do they build, do they need nothing else, and does everything fit on its slide?"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from beowulf.errors import LabError, UsageError
from slides import build

DECKS = sorted(build.HERE.glob("[0-9][0-9]-*.md"))
NAMES = [deck.stem for deck in DECKS]
CHROMIUM = build.browser()
# A talk of fifteen minutes.
FEWEST, MOST = 10, 15

needs_chromium = pytest.mark.skipif(not CHROMIUM, reason="there is no Chromium on this machine")

# Runs in the page: which slides hold more than they show, and which text is smaller than 24 px.
MEASURE = """<script>
const report = [];
document.body.classList.remove("deck");
document.querySelectorAll(".slide").forEach((slide, i) => {
  if (slide.scrollHeight > slide.clientHeight || slide.scrollWidth > slide.clientWidth)
    report.push(`slide ${i + 1} overflows`);
  const last = [...slide.children].filter((e) => !e.matches(".page, .notes")).at(-1);
  const page = slide.querySelector(".page").getBoundingClientRect();
  const box = (last.querySelector("img") ?? last).getBoundingClientRect();
  if (box.bottom > page.top && box.right > page.left)
    report.push(`slide ${i + 1} runs into its number`);
  slide.querySelectorAll("p, li, td, th, code, h1, h2").forEach((e) => {
    if (e.closest(".notes") === null && parseFloat(getComputedStyle(e).fontSize) < 24)
      report.push(`slide ${i + 1} has small type: ${e.textContent}`);
  });
  slide.querySelectorAll("pre").forEach((e) => {
    if (e.scrollWidth > e.clientWidth) report.push(`slide ${i + 1} cuts off a line of code`);
  });
});
document.documentElement.dataset.report = report.join("; ") || "all fits";
</script>"""


def written(tmp_path: Path, text: str) -> Path:
    deck = tmp_path / "99-deck.md"
    deck.write_text(text, encoding="utf-8")
    return deck


@pytest.mark.parametrize("deck", DECKS, ids=NAMES)
def test_a_deck_has_a_title_notes_on_each_slide_and_fits_into_its_time(deck: Path) -> None:
    found = build.read(deck)
    assert found.title != deck.stem, "the front matter names a title"
    assert FEWEST <= len(found.slides) <= MOST
    silent = [i for i, slide in enumerate(found.slides, start=1) if not slide.notes]
    assert not silent, f"slides without speaker's notes: {silent}"


@pytest.mark.parametrize(
    ("lab", "answers"),
    [("05", ["1.99 s", "2.00 s"]), ("06", ["frame.svg", "of 146", "travels in"])],
)
def test_a_deck_leaves_what_is_predicted_in_its_lab_to_the_learner(
    lab: str, answers: list[str]
) -> None:
    text = next(deck for deck in DECKS if deck.stem.startswith(lab)).read_text(encoding="utf-8")
    assert not [each for each in answers if each in text]


@pytest.mark.parametrize("deck", DECKS, ids=NAMES)
def test_a_built_deck_needs_nothing_beside_itself(deck: Path, tmp_path: Path) -> None:
    html = build.build(deck, tmp_path).read_text(encoding="utf-8")
    assert list(tmp_path.iterdir()) == [tmp_path / f"{deck.stem}.html"]
    addresses = re.findall(r'(?:src|href)="([^"]*)"|url\(([^)]*)\)|@import', html)
    outside = [a or b for a, b in addresses if not (a or b).startswith(("data:", "#"))]
    assert not outside, "a deck that is shown without a network asks for nothing"
    assert html.count('<section class="slide') == len(build.read(deck).slides)


@pytest.mark.parametrize("deck", DECKS, ids=NAMES)
def test_every_picture_of_a_deck_has_an_alternative_text(deck: Path) -> None:
    html = build.page(build.read(deck))
    texts = re.findall(r"<img [^>]*?alt=\"([^\"]*)\"", html)
    assert len(texts) == html.count("<img ")
    assert all(len(text.split()) >= 4 for text in texts), texts
    assert not any(build.SIZE.search(text) for text in texts), "a size is not read aloud"


@needs_chromium
@pytest.mark.browser
@pytest.mark.parametrize("deck", DECKS, ids=NAMES)
def test_nothing_overflows_its_slide_or_is_too_small_to_read(deck: Path, tmp_path: Path) -> None:
    html = build.build(deck, tmp_path)
    html.write_text(html.read_text(encoding="utf-8").replace("</body>", f"{MEASURE}</body>"))
    words = [*build.headless(CHROMIUM, tmp_path / "profile"), "--dump-dom", html.as_uri()]
    page = subprocess.run(words, capture_output=True, text=True, timeout=240).stdout
    report = re.search(r'data-report="([^"]*)"', page)
    assert report, "the page ran no script"
    assert report[1] == "all fits"


@needs_chromium
@pytest.mark.browser
@pytest.mark.parametrize(
    "deck", [DECKS[0], *(pytest.param(d, marks=pytest.mark.slow) for d in DECKS[1:])], ids=NAMES
)
def test_the_pdf_has_one_page_a_slide(deck: Path, tmp_path: Path) -> None:
    pdf = build.print_pdf(build.build(deck, tmp_path), CHROMIUM).read_bytes()
    assert pdf.startswith(b"%PDF")
    assert len(re.findall(rb"/Type\s*/Page\b", pdf)) == len(build.read(deck).slides)


def test_a_rule_inside_a_code_block_is_no_new_slide(tmp_path: Path) -> None:
    deck = build.read(written(tmp_path, "# One\n\n```text\n---\n```\n\n---\n\n# Two\n"))
    assert [slide.content.count("<h1>") for slide in deck.slides] == [1, 1]


def test_comments_become_notes_and_directives_become_classes(tmp_path: Path) -> None:
    deck = build.read(written(tmp_path, "<!-- _class: lead -->\n\n# One\n\n<!-- say <this> -->\n"))
    assert deck.slides[0].classes == ["lead"]
    assert deck.slides[0].notes == ["say <this>"]
    assert "say &lt;this&gt;" in build.page(deck)
    assert "say" not in deck.slides[0].content


@pytest.mark.parametrize("address", ["missing.png", "https://example.org/a.png", "//example.org/a"])
def test_a_picture_that_is_not_ours_is_refused_by_name(tmp_path: Path, address: str) -> None:
    with pytest.raises(LabError, match=re.escape(address)):
        build.read(written(tmp_path, f"![a picture of nothing]({address})\n"))


def test_html_that_is_no_comment_is_refused(tmp_path: Path) -> None:
    with pytest.raises(LabError, match="only comments"):
        build.read(written(tmp_path, "<script>alert(1)</script>\n"))


def test_a_deck_that_is_not_there_is_refused_with_those_that_are(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert build.main(["77-nothing", "--no-pdf", "--output", str(tmp_path)]) == UsageError.exit_code
    said = capsys.readouterr().err
    assert "77-nothing" in said
    assert all(name in said for name in NAMES)


def test_without_chromium_the_html_is_built_and_a_sentence_says_the_rest(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert build.main(["--output", str(tmp_path / "out")]) == 0
    assert "no PDF" in capsys.readouterr().err
    assert sorted(path.stem for path in (tmp_path / "out").iterdir()) == NAMES
