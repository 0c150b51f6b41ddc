"""Sphinx' settings for `make site`: the documents as they are, as pages with a search."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from sphinx.application import Sphinx

project = "Beowulf Labs"
language = "en"
extensions = ["myst_parser"]
root_doc = "README"
include_patterns = ["*.md", "docs/*.md", "labs/*/README.md"]
exclude_patterns = [".*", "build", "work"]
# Links lead to headings, as they do where the project is hosted.
myst_heading_anchors = 4
# The documents as they are: no quotes or dashes in place of those that were typed.
smartquotes = False
# A block in a language that the highlighter does not know is shown as it is.
suppress_warnings = ["misc.highlighting_failure"]

html_theme = "alabaster"
html_theme_options = {
    "page_width": "1240px",
    "body_max_width": "none",
    "sidebar_width": "300px",
    "font_family": "sans-serif",
    "head_font_family": "sans-serif",
    "show_powered_by": False,
    "fixed_sidebar": True,
}
html_show_copyright = False
html_show_sourcelink = False
html_copy_source = False
html_use_index = False
html_sidebars = {"**": ["about.html", "searchbox.html", "navigation.html"]}

# The contents beside each page. README.md itself is read in other places, too, and has none.
CONTENTS = """
```{toctree}
:hidden:
:titlesonly:
:glob:
:caption: CAPTION

PAGES
```
"""
CAPTIONS = {
    "Labs": ["labs/*/README"],
    "Learn": ["docs/learner", "docs/faq", "docs/glossary"],
    "Teach": ["docs/afternoon", "docs/instructor", "docs/syllabus", "docs/scale"],
    "Reference": [
        *(
            "docs/README",
            "docs/clusters",
            "docs/machines",
            "docs/measuring",
            "docs/results",
            "docs/timeline",
        ),
        *("CHANGELOG", "SECURITY"),
    ],
    "Develop": ["CONTRIBUTING", "docs/architecture", "docs/authors", "CODE_OF_CONDUCT"],
}
LINK_TO_FOLDER = re.compile(r"\[([^\]]+)\]\([^)#:]+/\)")


def prepare(_: Sphinx, name: str, source: list[str]) -> None:
    """Give the start page its contents, and show a link to what has no page as its text."""
    source[0] = LINK_TO_FOLDER.sub(r"\1", source[0])
    if name == root_doc:
        for caption, pages in CAPTIONS.items():
            part = CONTENTS.replace("CAPTION", caption).replace("PAGES", "\n".join(pages))
            source[0] += part


def copy_start_page(app: Sphinx, problem: Exception | None) -> None:
    """A browser that is given the folder opens index.html."""
    if problem is None and app.builder.name == "html":
        folder = Path(app.outdir)
        shutil.copyfile(folder / f"{root_doc}.html", folder / "index.html")


def setup(app: Sphinx) -> None:
    """Sphinx calls this when it has read the settings."""
    app.connect("source-read", prepare)
    app.connect("build-finished", copy_start_page)
