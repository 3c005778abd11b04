# SPDX-License-Identifier: LGPL-2.1-only
"""Pictures of reports: screenshots, by Debian's chromium, of the page of a shipped campaign.

Only these pictures come from a browser, so no fingerprint ties them to numbers.
"""

import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

from studies.resume import RESULTS
from studies.study import IMAGES, ROOT, Study
from weft.base.errors import WeftError
from weft.campaign import campaign as campaigns
from weft.report.data import loading
from weft.report.page import page

CAMPAIGN = ROOT / "examples" / "campaigns" / "slots.toml"
FIRST_SCREEN, LATENCY, TELEPHONE = (
    IMAGES / f"report-{name}.png" for name in ("first-screen", "latency", "telephone")
)
PICTURES = (FIRST_SCREEN, LATENCY, TELEPHONE)


def measure() -> None:
    """Run the campaign if necessary, and take the screenshots."""
    prepared = campaigns.prepare(CAMPAIGN, RESULTS / "reports.runs")
    campaigns.carry_out(prepared, lambda _run, _done: None)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "slots.html"
        file.write_text(page.render(loading.of(prepared)), encoding="utf-8")
        with _browser() as new_page:
            _take(new_page, file)


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
