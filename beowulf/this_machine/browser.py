"""The Chromium of this machine, which prints pages as PDF."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from beowulf.errors import LabError

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
LONGEST_PRINT_S = 300


def browser() -> str:
    """The Chromium of this machine, or an empty text."""
    return next((found for name in BROWSERS if (found := shutil.which(name))), "")


def print_pdf(html: Path, browser: str) -> Path:
    """Let a Chromium print the page beside it; LabError when it does not."""
    pdf = html.with_suffix(".pdf")
    with tempfile.TemporaryDirectory(prefix="beowulf-browser-") as profile:
        words = headless(browser, Path(profile))
        words += ["--no-pdf-header-footer", f"--print-to-pdf={pdf.absolute()}"]
        words += [html.absolute().as_uri()]
        pdf.unlink(missing_ok=True)
        done = subprocess.run(words, capture_output=True, text=True, timeout=LONGEST_PRINT_S)
    if done.returncode or not pdf.exists():
        last = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
        raise LabError(
            f"{browser} could not print {html.name}: {last}.",
            "Open the HTML file in a browser and print it there.",
        )
    return pdf


def headless(browser: str, profile: Path) -> list[str]:
    """The words that start a Chromium without a window, which leaves the network alone."""
    # Root's Chromium refuses to start with its sandbox; the page is our own and fetches nothing.
    root = ["--no-sandbox"] if os.geteuid() == 0 else []
    return [
        *(browser, "--headless", *root, f"--user-data-dir={profile}", "--disable-gpu"),
        *("--no-first-run", "--disable-background-networking", "--disable-component-update"),
        *("--disable-sync", "--disable-quic", "--disable-dev-shm-usage"),
    ]
