"""Does the site have every document, does its search work without a server, and is a wrong link refused?"""

from __future__ import annotations

import re
import subprocess
import sys
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from running import first

from beowulf import paths

ROOT = paths.root()
DOCUMENTS = [
    *("README", "CONTRIBUTING", "CHANGELOG", "CODE_OF_CONDUCT", "SECURITY"),
    *(f"docs/{path.stem}" for path in sorted(ROOT.glob("docs/*.md"))),
    *(f"labs/{path.parent.name}/README" for path in sorted(ROOT.glob("labs/*/README.md"))),
]


def sphinx(source: Path, own: Path, builder: str = "html") -> subprocess.CompletedProcess[str]:
    """Build as `make site` does."""
    recipe = re.search(r"-m sphinx (.+?) \. build/site$", MAKE_SITE, re.DOTALL | re.MULTILINE)
    assert recipe
    options = recipe[1].replace("\\\n", "").replace("build/site-cache", str(own / "cache")).split()
    cwd = source if (source / "docs" / "site").is_dir() else ROOT
    words = [sys.executable, "-m", "sphinx", "-b", builder, *options, source, own / "site"]
    return subprocess.run(words, cwd=cwd, capture_output=True, text=True, timeout=600)


MAKE_SITE = (ROOT / "Makefile").read_text()


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    own = tmp_path_factory.mktemp("site")
    done = sphinx(ROOT, own)
    assert done.returncode == 0, done.stderr
    return own / "site"


@pytest.mark.nightly
def test_every_document_is_a_page_with_its_pictures_and_needs_no_network(site: Path) -> None:
    start = (site / "index.html").read_text()
    for name in DOCUMENTS:
        title = re.search(r"^# (.+)$", (ROOT / f"{name}.md").read_text(), re.MULTILINE)
        page = (site / f"{name}.html").read_text()
        assert title
        heading = re.sub(r"<[^>]+>", "", re.search(r"<h1>(.+?)<a", page)[1])  # type: ignore[index]
        assert unescape(heading) == title[1].replace("`", "")
        assert name == "README" or f'href="{name}.html"' in start, f"no way to {name}"
    pictures = 0
    for page in site.rglob("*.html"):
        text = page.read_text()
        used = re.findall(r'<(?:img|script|link)\b[^>]*?(?:src|href)="([^"]+)"', text)
        assert not [each for each in used if "//" in each], page
        for name in re.findall(r'<img\b[^>]*?src="([^"]+)"', text):
            assert (page.parent / name).is_file(), f"{page} shows {name}"
            pictures += 1
    shown = [(ROOT / f"{name}.md").read_text().count("![") for name in DOCUMENTS]
    # The start page is there twice.
    assert pictures >= sum(shown) > 0

    (link,) = re.findall(r'href="([^"]+recorder\.c)"', (site / "docs/timeline.html").read_text())
    source = ROOT / "beowulf" / "timeline" / "recorder.c"
    assert (site / "docs" / link).read_bytes() == source.read_bytes()


@pytest.mark.browser
@pytest.mark.nightly
def test_the_search_works_on_files_without_a_server(site: Path, page: Any) -> None:
    from playwright.sync_api import expect

    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto((site / "index.html").as_uri())
    page.fill("input[name=q]", "rendezvous")
    page.keyboard.press("Enter")
    found = page.locator("#search-results li a")
    expect(found.filter(has_text="Lab 05").first).to_be_visible()
    assert [each for each in asked if not each.startswith("file:")] == []


@pytest.mark.parametrize(
    "wrong",
    first(1, [
        *("[a](docs/x.md#no-such-heading)", "![a](no-such-picture.svg)"),
        *("[a](docs/no-such-page.md)", "[a](no-such-file.c)", "[a](#no-such-part)"),
    ]),
)  # fmt: skip
def test_a_link_that_leads_nowhere_is_named_and_fails(wrong: str, tmp_path: Path) -> None:
    source = tmp_path / "source"
    (source / "docs").mkdir(parents=True)
    (source / "docs" / "x.md").write_text("# X\n\n[right](x.md#x)\n")
    (source / "README.md").write_text(
        f"# Start\n\n[right](docs/x.md#x), [a folder](docs/)\n{wrong}\n"
    )
    done = sphinx(source, tmp_path, "dummy")
    assert done.returncode != 0
    # Of this tiny source the contents name pages that are not there; what is asked is the line of the link.
    (line,) = [line for line in done.stderr.splitlines() if "no-such" in line]
    assert line.startswith(f"{source / 'README.md'}:3: WARNING")
