"""The page and the still picture: do they show what the trace has, offline, by keyboard?"""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest
from axe_playwright_python.sync_playwright import Axe
from IPython.lib.pretty import pretty
from PIL import Image
from running import wait_until

pytest.importorskip("bokeh")

from beowulf.errors import UsageError
from beowulf.timeline import analysis, picture
from beowulf.timeline.analysis import Analysis
from beowulf.timeline.timeline_page import Page
from beowulf.timeline.trace import EVENT, RECEIVES, SENDS, RankTrace, Trace

if TYPE_CHECKING:
    from tests.timeline.conftest import Recorded


HOSTILE = "<script>alert(1)</script>"


def made(ranks: int, calls: int) -> Analysis:
    """A run of `calls` calls a rank: each pair of ranks sends to and fro; the second one often waits."""
    random = np.random.default_rng(1)
    traces = []
    for rank in range(ranks):
        events = np.zeros(calls, EVENT)
        length = random.integers(1_000, 30_000, calls)
        start = np.arange(calls) * 50_000 + random.integers(0, 15_000, calls)
        events["began_ns"], events["ended_ns"] = start, start + length
        events["partner"], events["tag"], events["bytes"] = rank ^ 1, 3, 64
        sends = (np.arange(calls) + rank) % 2 == 0
        events["call"] = np.where(sends, 0, 1)
        events["flags"] = np.where(sends, SENDS, RECEIVES) | 4
        traces.append(
            RankTrace(
                rank, ranks, HOSTILE, f"/x/{HOSTILE}", 0, calls * 50_000, events,
                ("MPI_Send", "MPI_Recv"), ((1, 0, ranks),), np.zeros(0), (HOSTILE,),
            )
        )  # fmt: skip
    return Analysis(Trace(tuple(traces), warnings=(HOSTILE,)), {})


def packets(count: int, length_ns: int, messages: int) -> pd.DataFrame:
    """Packets between four nodes."""
    number = np.arange(count)
    return pd.DataFrame(
        {
            "time_ns": np.linspace(0, length_ns - 1, count).astype("int64"),
            "src": number % 4,
            "dst": (number + 1) % 4,
            "kind": "data",
            "payload_bytes": 64,
            "message": number % max(messages, 1),
            "number": number + 1,
        }
    )


@contextmanager
def opened(browser: Any, file: Path) -> Iterator[Any]:
    """The page in a browser; afterwards: no error and no request."""
    wrong: list[str] = []
    view = browser.new_page(viewport={"width": 1280, "height": 900})
    view.on("pageerror", lambda error: wrong.append(str(error)))
    view.on("console", lambda m: wrong.append(m.text) if m.type in ("error", "warning") else None)
    view.on("dialog", lambda dialog: wrong.append("a dialog"))
    view.on(
        "request",
        lambda asked: (
            None if asked.url.startswith(("file:", "data:", "blob:")) else wrong.append(asked.url)
        ),
    )
    view.goto(file.as_uri())
    view.wait_for_selector("html[data-ready=yes]", timeout=60_000)
    yield view
    view.close()
    assert not wrong


def seen(view: Any, rank: int) -> set[tuple[int, ...]]:
    """The colours of the screen in a rank's row, below the strip of its waits."""
    x, y, width = view.evaluate(f"""(() => {{
  const plot = timeline.view(), box = plot.canvas_view.el.getBoundingClientRect(), frame = plot.frame;
  return [box.left + frame.bbox.left, box.top + frame.y_scale.compute({rank} + 0.75), frame.bbox.width];
}})()""")
    clip = {"x": x, "y": y, "width": width, "height": 1}
    shot = Image.open(io.BytesIO(view.screenshot(clip=clip))).convert("RGB")
    return {colour for _, colour in shot.getcolors(1 << 20) or []}


@pytest.mark.browser
def test_what_is_drawn_is_what_the_trace_has(browser: Any, tmp_path: Path) -> None:
    found = made(4, 200)
    shown = Page(found)
    shown.packets, shown.nodes = packets(100, found.length_ns, 10), ["a", "b", "c", HOSTILE]
    shown.save(tmp_path / "t.html")
    with opened(browser, tmp_path / "t.html") as view:
        for rank, began, ended in ((0, 0, 50_000), (3, 123_456, 7_000_000)):
            events = found.events[found.events["rank"] == rank]
            clipped = np.minimum(events["ended_ns"], ended) - np.maximum(events["began_ns"], began)
            sending = clipped.clip(lower=0)[events["call"] == 0].sum()
            shares = view.evaluate(f"timeline.shares({rank}, {began}, {ended})")
            assert shares[1] == sending
            assert sum(shares) == ended - began
        hover = view.evaluate("timeline.model('heads').data.text[0]")
        assert hover.startswith("packet 1: data, 64 bytes, a to b, ")
        # A pixel within a call has its colour, one between two calls that of computing.
        event = found.events.iloc[0]
        view.evaluate(f"timeline.bound({event.began_ns / 1e6}, {event.ended_ns / 1e6})")
        view.evaluate("timeline.draw()")
        image = "timeline.model('image of ranks').data.image[0]"
        cell = f"(() => {{const i = {image}, w = i.shape[1]; return i[w * 9 + (w >> 1)]}})()"
        blue, green, red = (int(picture.FILLS[1][at : at + 2], 16) for at in (5, 3, 1))
        assert view.evaluate(cell) == (255 << 24 | blue << 16 | green << 8 | red)
        # And so it is on the canvas: its colour is where the hover text says that the call is.
        view.evaluate("document.getElementById('lines').checked = false; timeline.draw()")
        wait_until(lambda: (red, green, blue) in seen(view, 0), "the first call is drawn")
        second = tuple(int(picture.FILLS[2][at : at + 2], 16) for at in (1, 3, 5))
        wait_until(lambda: second in seen(view, 1), "the second call is drawn")
        assert HOSTILE in view.inner_text(".warnings")
        results = Axe().run(view)
        assert results.violations_count == 0, results.generate_report()


@pytest.mark.nightly
@pytest.mark.browser
def test_keys_jump_to_the_waits(record: Recorded, browser: Any, tmp_path: Path) -> None:
    found = analysis.read(record("cases.c", 2, "late-sender", "5"))
    Page(found).save(tmp_path / "t.html")
    top = found.waits.iloc[0]
    since = (top["since_ns"] - found.trace.began_ns) / 1e6
    with opened(browser, tmp_path / "t.html") as view:
        view.focus("#view")
        view.keyboard.press("l")
        start, end = view.evaluate("[timeline.range.start, timeline.range.end]")
        assert start < since < end < since + 3 * top["waited_ns"] / 1e6
        # On a busy machine the barrier between two messages may be the longest wait of all.
        assert f"{top['kind']}, for rank {top['cause']}" in view.inner_text("#live")
        view.keyboard.press("Home")
        assert view.evaluate("timeline.range.start") == 0
        view.keyboard.press("+")
        assert view.evaluate("timeline.range.end - timeline.range.start") == pytest.approx(
            found.length_ns / 2e6
        )
        view.keyboard.press("n")
        assert "waits" in view.inner_text("#live")


def test_names_in_the_page_are_text() -> None:
    assert HOSTILE not in Page(made(2, 10)).html()
    assert "srcdoc" in Page(made(2, 10))._repr_html_()


def test_a_terminal_gets_the_longest_waits_and_the_way_to_the_picture(record: Recorded) -> None:
    found = analysis.read(record("cases.c", 2, "late-sender", "5"))
    printed = pretty(Page(found))
    longest_ms = f"{found.waits['waited_ns'].max() / 1e6:.3f}"
    assert longest_ms in printed
    assert '`_.save("timeline.html")`' in printed


def test_the_still_picture_has_its_sentence_and_table(tmp_path: Path) -> None:
    found = made(4, 100)
    figure = picture.picture(found, from_s=0.001, to_s=0.002, ranks=[1, 2])
    assert set(figure.table["rank"]) == {1, 2}
    assert figure.alt.startswith("Timeline of 2 ranks from 0.001 s to 0.002 s")
    assert len(figure.save(tmp_path / "t.svg")) == 3
    with pytest.raises(UsageError, match="not part of the run"):
        picture.picture(found, from_s=9.0)
    assert picture.chosen("0-1,3", 4) == [0, 1, 3]
    with pytest.raises(UsageError):
        picture.chosen("nine", 4)
