"""Decks: do they build, do they need nothing else, and does everything fit on its slide?"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from running import first

from beowulf.errors import LabError, UsageError
from beowulf.this_machine.browser import headless
from slides import build, plots

DECKS = sorted(build.HERE.glob("[0-9][0-9]-*.md"))
NAMES = [deck.stem for deck in DECKS]
CHROMIUM = build.browser()
FEWEST, MOST = 12, 26

needs_chromium = pytest.mark.skipif(not CHROMIUM, reason="there is no Chromium on this machine")

# Runs in the page: which slides hold more than they show, and which text is smaller than 24 px, in pictures as well.
MEASURE = """<script>
const report = [];
document.body.classList.remove("deck");
const bytes = (text) => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
// A picture's letters are measured as the browser shows them: the picture takes the place of its address.
document.querySelectorAll("img").forEach((img) => {
  const [kind, data] = img.src.split(";base64,");
  if (!kind.endsWith("svg+xml")) return;
  const text = new TextDecoder().decode(bytes(data));
  const svg = new DOMParser().parseFromString(text, "image/svg+xml").documentElement;
  const box = svg.viewBox.baseVal, width = Math.min(img.width, img.parentElement.clientWidth);
  svg.setAttribute("width", width);
  svg.setAttribute("height", (width * box.height) / box.width);
  svg.style.display = "block";
  img.replaceWith(document.importNode(svg, true));
});
document.querySelectorAll(".slide").forEach((slide, i) => {
  if (slide.scrollHeight > slide.clientHeight || slide.scrollWidth > slide.clientWidth)
    report.push(`slide ${i + 1} overflows`);
  const last = [...slide.children].filter((e) => !e.matches(".page, .notes")).at(-1);
  const page = slide.querySelector(".page").getBoundingClientRect();
  const box = (last.querySelector("svg") ?? last).getBoundingClientRect();
  if (box.bottom > page.top && box.right > page.left)
    report.push(`slide ${i + 1} runs into its number`);
  slide.querySelectorAll("p, li, td, th, code, em, h1, h2").forEach((e) => {
    if (e.closest(".notes") === null && parseFloat(getComputedStyle(e).fontSize) < 24)
      report.push(`slide ${i + 1} has small type: ${e.textContent}`);
  });
  slide.querySelectorAll("svg text").forEach((e) => {
    const scale = e.ownerSVGElement.getScreenCTM().a;
    const size = Math.min(...[e, ...e.querySelectorAll("tspan")].map((t) => parseFloat(getComputedStyle(t).fontSize)));
    if (size * scale < 23.95)
      report.push(`slide ${i + 1} has small letters in a picture, ${(size * scale).toFixed(1)} px: ${e.textContent}`);
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
    for cut, minutes in zip(
        build.CUTS, zip(*(slide.minutes for slide in found.slides), strict=True), strict=True
    ):
        assert sum(minutes) == cut, f"the slides of the cut of {cut} minutes take {sum(minutes)}"
    assert all(slide.minutes[1] for slide in found.slides), "each slide is in the long cut"
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


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Path], Path]:
    """Builds a deck once."""
    folder = tmp_path_factory.mktemp("slides")

    @cache
    def build_once(deck: Path) -> Path:
        return build.build(deck, folder / deck.stem)

    return build_once


@pytest.mark.parametrize("deck", DECKS, ids=NAMES)
def test_a_built_deck_needs_nothing_beside_itself_and_its_pictures_have_an_alternative_text(
    deck: Path, built: Callable[[Path], Path]
) -> None:
    html = built(deck).read_text(encoding="utf-8")
    addresses = re.findall(r'(?:src|href)="([^"]*)"|url\(([^)]*)\)|@import', html)
    outside = [a or b for a, b in addresses if not (a or b).startswith(("data:", "#"))]
    assert not outside, "a deck that is shown without a network asks for nothing"
    assert html.count('<section class="slide') == len(build.read(deck).slides)
    texts = re.findall(r"<img [^>]*?alt=\"([^\"]*)\"", html)
    assert len(texts) == html.count("<img ")
    assert all(len(text.split()) >= 4 for text in texts), texts
    assert not any(build.SIZE.search(text) for text in texts), "a size is not read aloud"


def dumped(address: str, folder: Path) -> str:
    """The page at an address as Chromium has it when its scripts have run."""
    words = [*headless(CHROMIUM, folder / "profile"), "--dump-dom", address]
    return subprocess.run(words, capture_output=True, text=True, timeout=240).stdout


@needs_chromium
@pytest.mark.browser
@pytest.mark.parametrize("deck", DECKS, ids=NAMES)
def test_nothing_overflows_its_slide_or_is_too_small_to_read(
    deck: Path, built: Callable[[Path], Path], tmp_path: Path
) -> None:
    html = tmp_path / "measured.html"
    html.write_text(built(deck).read_text().replace("</body>", f"{MEASURE}</body>"))
    report = re.search(r'data-report="([^"]*)"', dumped(html.as_uri(), tmp_path))
    assert report, "the page ran no script"
    assert report[1] == "all fits"


@needs_chromium
@pytest.mark.browser
@pytest.mark.parametrize("deck", first(1, DECKS), ids=NAMES)
def test_a_pdf_has_one_page_a_slide(deck: Path, built: Callable[[Path], Path]) -> None:
    pdf = build.print_pdf(built(deck), CHROMIUM).read_bytes()
    assert pdf.startswith(b"%PDF")
    assert len(re.findall(rb"/Type\s*/Page\b", pdf)) == len(build.read(deck).slides)


@pytest.mark.nightly
@needs_chromium
@pytest.mark.browser
@pytest.mark.parametrize("deck", DECKS, ids=NAMES)
def test_axe_finds_nothing_on_any_slide(
    deck: Path, built: Callable[[Path], Path], page: Any
) -> None:
    from axe_playwright_python.sync_playwright import Axe

    page.goto(built(deck).as_uri())
    for number in range(1, len(build.read(deck).slides) + 1):
        results = Axe().run(page)
        assert results.violations_count == 0, f"slide {number}: {results.generate_report()}"
        page.keyboard.press("ArrowRight")
    assert page.evaluate("location.hash") == f"#slide-{number}"


def test_a_rule_inside_a_code_block_is_no_new_slide(tmp_path: Path) -> None:
    deck = build.read(written(tmp_path, "# One\n\n```text\n---\n```\n\n---\n\n# Two\n"))
    assert [slide.content.count("<h1>") for slide in deck.slides] == [1, 1]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("![a picture of nothing](missing.png)", "missing.png"),
        ("![a picture of nothing](//example.org/a)", "//example.org/a"),
        ("![a picture of nothing](plot:nothing-else)", "plot:nothing-else"),
        ("<script>alert(1)</script>", "only comments"),
    ],
)
def test_what_a_deck_may_not_show_is_refused_by_name(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(LabError, match=re.escape(said)):
        build.read(written(tmp_path, f"{text}\n"))


def test_each_plot_and_each_kept_run_is_shown_in_a_deck() -> None:
    shown = {
        name
        for deck in DECKS
        for name in re.findall(r"\(plot:([\w-]+)\)", deck.read_text(encoding="utf-8"))
    }
    assert shown == {*plots.PLOTS, *plots.STILLS}
    assert {f"{name}.tar.xz" for name in plots.STILLS} == {f.name for f in plots.RUNS.iterdir()}


def test_comments_become_notes_classes_and_minutes(tmp_path: Path) -> None:
    one = "<!-- _minutes: 2 3 -->\n\n<!-- _class: lead -->\n\n# One\n\n<!-- say <this> -->\n"
    deck = build.read(written(tmp_path, f"{one}\n---\n\n<!-- _minutes: - 4 -->\n\n# Two\n"))
    assert [slide.minutes for slide in deck.slides] == [(2, 3), (0, 4)]
    assert [slide.classes for slide in deck.slides] == [["lead"], [build.MORE]]
    assert deck.slides[0].notes == ["say <this>"]
    assert "say" not in deck.slides[0].content
    page = build.page(deck)
    assert "say &lt;this&gt;" in page
    assert "In the 50-minute version: 0 to 2. In the 100-minute version: 0 to 3." in page
    assert "<p>In the 100-minute version: 3 to 7.</p>" in page


@needs_chromium
@pytest.mark.browser
def test_the_address_of_the_short_cut_leaves_its_slides(
    built: Callable[[Path], Path], tmp_path: Path
) -> None:
    short = [slide for slide in build.read(DECKS[0]).slides if slide.minutes[0]]
    page = dumped(f"{built(DECKS[0]).as_uri()}?cut=50", tmp_path)
    assert page.count('<section class="slide') == len(short)
    assert f">{len(short)} / {len(short)}</p>" in page


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
    assert build.main([NAMES[0], "--output", str(tmp_path / "out")]) == 0
    assert "no PDF" in capsys.readouterr().err
    assert [path.name for path in (tmp_path / "out").iterdir()] == [f"{NAMES[0]}.html"]
