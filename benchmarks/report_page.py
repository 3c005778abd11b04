# SPDX-License-Identifier: LGPL-2.1-only
"""Wall-clock time in which a browser opens the page of 10,000 runs.

The results in the store are fabricated, and `weft campaign report` writes their page. A running
browser opens the page several times without a network; each time ends when all charts are drawn. If
permitted, the browser gets a real-time priority, which keeps other load on the machine from
interfering.
"""

import os
import shutil
import statistics
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import fabricated
from allreduce import Standard
from campaigns import weft
from playwright.sync_api import Browser, sync_playwright

from weft.base import paths

_ATTEMPTS = 7
_CAMPAIGN = """
[campaign]
name = "page"
best = false
[programs.one]
source = "{source}"
arguments = ["{{bytes:B}}", "10"]
privatize = false
[programs.other]
source = "{source}"
arguments = ["{{bytes:B}}", "10"]
privatize = false
[[runs]]
program = ["one", "other"]
fabric = ["tofino-16", "hdr100-8"]
ranks = [2, 3, 4, 5, 6, 7, 8]
bytes = {{ from = "4B", to = "2MiB", times = 2 }}
offload = ["stream", "message", "off"]
link.bandwidth = ["100Gbps", "200Gbps", "400Gbps"]
link.latency = ["1us", "2us"]
"""


def standards(work: Path) -> list[Standard]:
    """Write the page and open it; without a browser, only write it."""
    file, page = work / "page.toml", work / "page.html"
    text = _CAMPAIGN.format(source=paths.example("allreduce_latency.c"))
    file.write_text(text, encoding="utf-8")
    runs = len(fabricated.fill(file).runs)
    cpu_s = weft("report", str(file), "-o", str(page)).cpu_time_s
    found = [Standard(f"page of {runs:,} runs, to write, CPU", cpu_s, 10, at_most=True, unit=" s")]
    chromium = shutil.which("chromium")
    if chromium is None:
        print("bench: no chromium here: pages are not opened", file=sys.stderr)
        return found
    opened_s = _opened(chromium, page)
    print(
        f"bench: page opened in {_listed(opened_s)} s, load {os.getloadavg()[0]:.1f}",
        file=sys.stderr,
    )
    middle = statistics.median(opened_s)
    return [*found, Standard("the same, to open, clock", middle, 3, at_most=True, unit=" s")]


def _opened(chromium: str, page: Path) -> list[float]:
    with _first(), sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        times = [_open(browser, page) for _ in range(_ATTEMPTS)]
        browser.close()
    return times


def _open(browser: Browser, page: Path) -> float:
    """Return the seconds until everything is drawn."""
    context = browser.new_context(viewport={"width": 1366, "height": 768}, offline=True)
    context.set_default_timeout(300_000)
    shown = context.new_page()
    began = time.monotonic()
    shown.goto(page.as_uri())
    shown.wait_for_selector("html.drawn")
    taken_s = time.monotonic() - began
    context.close()
    return taken_s


@contextmanager
def _first() -> Iterator[None]:
    """Give this process and its children a real-time priority, if permitted."""
    with suppress(PermissionError):
        os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(1))
    try:
        yield
    finally:
        os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))


def _listed(seconds: list[float]) -> str:
    return ", ".join(f"{one:.2f}" for one in seconds)
