"""What a hand-in may hold to act in the browser of who reads it; whatever runs or is fetched asks for /attack/NAME."""

from __future__ import annotations

import base64
from typing import Any

from nbformat.v4 import new_code_cell, new_markdown_cell

ASKS = "window.attacked=1;new Image().src='/attack/{}'"
SVG = '<svg xmlns="http://www.w3.org/2000/svg" onload="{}"><script>{}</script><text>x</text></svg>'


def _act(name: str) -> str:
    return ASKS.format(name)


def _coded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


# By name: HTML that acts, in Markdown and in what a cell shows.
HTML = {
    "script": f"<script>{_act('script')}</script>",
    "script-src": "<script src='/attack/script-src'></script>",
    "module": f"<script type=module>{_act('module')}</script>",
    "svg": SVG.format(_act("svg"), _act("svg")),
    "svg-use": "<svg><use href='/attack/svg-use#x'/><image href='/attack/svg-image'/></svg>",
    "animate": '<svg><animate onbegin="' + _act("animate") + '" attributeName=x dur=1s></svg>',
    "onerror": f'<img src="/attack/none" onerror="{_act("onerror")}">',
    "onerror-mixed": f'<IMG SRC=x OnErRoR="{_act("onerror-mixed")}"/>',
    "remote-image": '<img src="/attack/remote-image"><img srcset="/attack/srcset 1x">',
    "javascript": f'<a id=explain href="javascript:{_act("javascript")}">click</a>',
    "javascript-coded": f'<a href="jav&#x09;ascript:{_act("javascript-coded")}">click</a>',
    "data-link": f'<a href="data:text/html,<script>{_act("data-link")}</script>">click</a>',
    "relative": '<a href="evil.html">my plot</a> <a href="/attack/relative">and</a>',
    "iframe": '<iframe src="/attack/iframe"></iframe>',
    "srcdoc": f'<iframe srcdoc="<script>parent.attacked=1;{_act("srcdoc")}</script>"></iframe>',
    "object": '<object data="/attack/object"></object><embed src="/attack/embed">',
    "meta": '<meta http-equiv="refresh" content="0;url=/attack/meta">',
    "base": '<base href="/attack/base/">',
    "form": '<form action="/attack/form"><input name=x autofocus onfocus="'
    + _act("focus")
    + '"><button>Save</button></form>',
    "cover": '<div style="position:fixed;inset:0;z-index:99999;background:url(/attack/cover)">x</div>',
    "style": "<style>body{background:url(/attack/style)} .score{display:none}</style>",
    "import": '<style>@import "/attack/import";</style><link rel=stylesheet href=/attack/link>',
    "details": f'<details open ontoggle="{_act("details")}"><summary>x</summary></details>',
    "media": '<video src="/attack/video" autoplay></video><audio src="/attack/audio" autoplay>',
    "mutation": f'<math><mtext><table><mglyph><style><img title="--&gt;&lt;img src=1 onerror={_act("mutation")}&gt;">',
    "comment": f'<!--><img src=x onerror="{_act("comment")}">-->',
    "template": f"<template><script>{_act('template')}</script></template>",
    "mathjax": '<script type="text/x-mathjax-config">' + _act("mathjax") + "</script>",
    "mathml": '<math><maction actiontype="statusline#http://x" xlink:href="javascript:'
    + _act("mathml")
    + '">x</maction></math>',
    "clobber": '<img name=submission_id><form id=score></form><a id=base_url href="/attack/clobber">',
}
MARKDOWN = {
    **HTML,
    "md-link": f"[click](javascript:{_act('md-link')})",
    "md-image": "![x](/attack/md-image)",
    "md-reference": f"[click][1]\n\n[1]: javascript:{_act('md-reference')}",
    "md-auto": f"<javascript:{_act('md-auto')}>",
    "md-attribute": f'[x](https://a.invalid/"onmouseover="{_act("md-attribute")})',
    "md-code": f'```html"><script>{_act("md-code")}</script>\nx\n```',
    "tex-href": f"$\\href{{javascript:{_act('tex-href')}}}{{x}}$",
    "tex-style": r"$$\style{background:url(/attack/tex-style)}{x}$$ $\class{score}{x}$ $\cssId{explain}{x}$",
    "tex-html": f"$\\text{{<img src=x onerror={_act('tex-html')}>}}$",
    "tex-end": f"$x$<script>{_act('tex-end')}</script>$y$",
    "attached": '![x](attachment:a.svg) ![y](attachment:b.png) ![z](attachment:c"onerror="alert)',
}
ATTACHED = {
    "a.svg": {"image/svg+xml": _coded(SVG.format(_act("attached-svg"), ""))},
    "b.png": {f'image/png" onerror="{_act("attached-kind")}': "iVBORw0KGgo="},
    'c"onerror="alert': {"image/png": f'x" onerror="{_act("attached-data")}'},
}
# What a cell shows that is no HTML, by its kind.
OTHERS: dict[str, Any] = {
    "image/svg+xml": SVG.format(_act("data-svg"), _act("data-svg")),
    "application/javascript": _act("data-javascript"),
    "text/markdown": f'<img src=x onerror="{_act("data-markdown")}">',
    "text/latex": f"$\\href{{javascript:{_act('data-latex')}}}{{x}}$<script>{_act('latex')}</script>",
    "image/png": f'x" onerror="{_act("data-png")}',
    "image/jpeg": _coded(SVG.format(_act("data-jpeg"), "")),
    "text/plain": f"<script>{_act('data-plain')}</script>",
    "application/vnd.jupyter.widget-view+json": {
        "model_id": "</script><script>attacked=1</script>"
    },
    "application/vnd.mathjax+json": {"x": 1},
}
FILES = {
    "evil.html": f"<script>{_act('file-html')}</script>",
    "evil.svg": SVG.format(_act("file-svg"), ""),
    "evil.xhtml": f'<html xmlns="http://www.w3.org/1999/xhtml"><script>{_act("xhtml")}</script></html>',
    "records/evil.HTM": f"<script>{_act('file-htm')}</script>",
}


def put_into(notebook: Any) -> None:
    """Put all of them into a hand-in's notebook: cells of their own, shown by code, and in the written answer."""
    cells = [new_markdown_cell(f"attack {name}\n\n{text}") for name, text in MARKDOWN.items()]
    for cell in cells:
        cell["attachments"] = ATTACHED
    shown = [{"text/html": text} for text in HTML.values()] + [{k: v} for k, v in OTHERS.items()]
    cells.append(new_code_cell(_showing(shown)))
    print_them = f"import sys; print({HTML['script']!r}, {HTML['onerror']!r})"
    cells.append(new_code_cell(f"{print_them}; print({HTML['svg']!r}, file=sys.stderr)"))
    cells.append(new_code_cell(f"raise ValueError({HTML['onerror']!r})"))
    notebook.cells += cells
    for cell in notebook.cells:
        if cell.metadata.get("nbgrader", {}).get("grade_id") == "explain":
            cell.source += "\n\n" + "\n\n".join(MARKDOWN.values())
            cell["attachments"] = ATTACHED


def _showing(every: list[dict[str, Any]]) -> str:
    """Code that shows all of these, as well as it can be done by a learner."""
    return (
        "from IPython.display import display\n"
        f"for data in {every!r}:\n"
        "    display(data, raw=True, metadata={'text/html': {'isolated': True}})\n"
        "    display(data, raw=True)\n"
    )
