# SPDX-License-Identifier: LGPL-2.1-only
"""Pictures of reports: screenshots, with Debian's chromium, of a shipped campaign's page.

Unlike all other pictures, they come from a browser, so no fingerprint ties them to numbers.
"""

import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import FloatRect, Page, sync_playwright

from studies.resume import RESULTS
from studies.study import IMAGES, ROOT, Study
from weft.base.errors import WeftError
from weft.campaign import campaign as campaigns
from weft.iterations.iteration import Conditions, simulate
from weft.iterations.record import record_of
from weft.iterations.timeline import listed_ranks
from weft.report.data import loading, records
from weft.report.page import page
from weft.training.run import load_training

CAMPAIGN = ROOT / "examples" / "campaigns" / "slots.toml"
FIRST_SCREEN, LATENCY, TELEPHONE, TRAINING = (
    IMAGES / f"report-{name}.png" for name in ("first-screen", "latency", "telephone", "training")
)
PICTURES = (FIRST_SCREEN, LATENCY, TELEPHONE, TRAINING)
PIPELINE = ("tensor=8", "data=2", "pipeline=4")
"""Parallelism of the pictured iteration."""


def measure() -> None:
    """Run the campaign if necessary, and take the screenshots."""
    prepared = campaigns.prepare(CAMPAIGN, RESULTS / "reports.runs")
    campaigns.carry_out(prepared, lambda _run, _done: None)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "slots.html"
        file.write_text(page.render(loading.of(prepared)), encoding="utf-8")
        with _browser() as new_page:
            _take(new_page, file)
            take_training(new_page, Path(folder) / "training.html")


def take_training(new_page: Callable[[int, int, str], Page], file: Path) -> None:
    """Take screenshots of the sections about a pipelined iteration."""
    changes = [f"parallel.{one}" for one in PIPELINE] + ["batch.global=16"]
    trained = load_training("llama-3-8b", changes, gpu="h100-sxm")
    listed = listed_ranks(trained.summary)
    its = simulate(trained.workload, Conditions(fabric="superpod-h100-32", listed=listed))
    record = record_of("llama-3-8b", its, trained.summary, changes)
    file.write_text(page.render(records.of([record])), encoding="utf-8")
    opened = new_page(1200, 800, "light")
    opened.goto(file.as_uri())
    opened.wait_for_selector("html.drawn")
    first, last = (
        opened.locator("section", has=opened.locator(f"#{name}")).bounding_box()
        for name in ("parts", "timeline")
    )
    assert first and last
    clip: FloatRect = {**first, "height": last["y"] + last["height"] - first["y"]}
    opened.screenshot(path=TRAINING, clip=clip, full_page=True)


def _take(new_page: Callable[[int, int, str], Page], file: Path) -> None:
    for target, width, height in ((FIRST_SCREEN, 1366, 700), (TELEPHONE, 390, 844)):
        opened = new_page(width, height, "light")
        opened.goto(file.as_uri())
        opened.wait_for_selector("html.drawn")
        opened.screenshot(path=target)
    opened = new_page(1200, 800, "dark")
    opened.goto(file.as_uri())
    opened.wait_for_selector("html.drawn")
    opened.locator("section", has=opened.locator("#latency")).screenshot(path=LATENCY)


@contextmanager
def _browser() -> Iterator[Callable[[int, int, str], Page]]:
    path = shutil.which("chromium")
    if not path:
        raise WeftError("studies: there is no chromium; setup/system-packages says how to get it")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])

        def new_page(width: int, height: int, scheme: str) -> Page:
            context = browser.new_context(
                viewport={"width": width, "height": height},
                color_scheme="dark" if scheme == "dark" else "light",
                offline=True,
            )
            return context.new_page()

        yield new_page
        browser.close()


STUDY = Study("reports", "pictures of a campaign's page, in a browser", measure)
