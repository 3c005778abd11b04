# SPDX-License-Identifier: LGPL-2.1-only
"""Reports of campaigns in a browser: they work without a network and respond correctly.

The page's content security policy forbids Playwright's `wait_for_function`; `until` polls instead.
"""

import shutil
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import (
    Browser,
    BrowserContext,
    Locator,
    Page,
    Request,
    ViewportSize,
    sync_playwright,
)

from tests.python.report.test_campaigns import DOUBLED, VENDORS, hostile, of_vendors
from tests.support.computed_campaigns import PROGRAM, SMALL, Result, done, hosts_or_switches, made
from weft.benchmarks.certainty import MEASUREMENTS
from weft.campaign.file.axes import Point
from weft.report.page import page as pages
from weft.study.comparison.certainty import Side, certainty

LAPTOP: ViewportSize = {"width": 1366, "height": 768}
TELEPHONE: ViewportSize = {"width": 375, "height": 812}
MOST_WAITED_MS = 120_000
"""Timeout, generous enough for many concurrent tests."""
MOST_SECONDS = 3.0
"""Time within which the page of 10,000 runs must appear, with all of its charts."""
HOSTS = ("openmpi-5.0", "best of all algorithms")
UNSURE = certainty(0.75, 5.0, MEASUREMENTS, [Side(0.9, ["hosts: 16 hosts (up to 4)"])])
WIDE = (
    PROGRAM.replace('"{bytes:B}"', '"{bytes:B}", "{depth}", "{kind}"')
    + """
[[runs]]
program = "sum"
fabric = ["tofino-16", "tofino-4"]
ranks = [2, 4]
bytes = ["1KiB", "1MiB"]
offload = ["stream", "message", "off"]
switch.slots = [64, 256]
depth = [1, 2, 3]
kind = ["red", "green"]
"""
)
BIG = (
    PROGRAM
    + """
[programs.more]
source = "sum.c"
arguments = ["{bytes:B}"]
[[runs]]
program = ["sum", "more"]
fabric = ["tofino-16", "hdr100-8"]
ranks = [2, 3, 4, 5, 6, 7, 8]
bytes = { from = "4B", to = "2MiB", times = 2 }
offload = ["stream", "message", "off"]
link.bandwidth = ["100Gbps", "200Gbps", "400Gbps"]
link.latency = ["1us", "2us"]
"""
)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    path = shutil.which("chromium")
    if not path:
        pytest.skip("there is no chromium: setup/system-packages says how to get it")
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield started
        started.close()


Open = Callable[..., Page]


@pytest.fixture
def opened(browser: Browser, tmp_path: Path) -> Iterator[Open]:
    """Open pages without a network; afterwards check that none made requests or logged errors."""
    wrong: list[str] = []
    contexts: list[BrowserContext] = []

    def open_one(text: str, viewport: ViewportSize = LAPTOP, scheme: Any = "light") -> Page:
        file = tmp_path / f"report-{len(contexts)}.html"
        file.write_text(text, encoding="utf-8")
        context = browser.new_context(viewport=viewport, color_scheme=scheme, offline=True)
        context.set_default_timeout(MOST_WAITED_MS)
        contexts.append(context)
        page = context.new_page()
        own = file.as_uri()

        def ask(asked: Request) -> None:
            if asked.url != own:
                wrong.append(asked.url)

        page.on("request", ask)
        page.on("console", lambda said: wrong.append(f"{said.type}: {said.text}"))
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.goto(own)
        page.wait_for_selector("html.drawn")
        return page

    yield open_one
    for context in contexts:
        context.close()
    assert wrong == []


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> str:
    return pages.render(made(tmp_path_factory.mktemp("small"), SMALL, hosts_or_switches))


@pytest.fixture(scope="module")
def wide(tmp_path_factory: pytest.TempPathFactory) -> str:
    def result(point: Point) -> Any:
        if point["fabric"] == "tofino-4" and point["offload"] == "message":
            return done(1e-4, reason="one host")
        if point["kind"] == "green" and point["depth"] == 3:
            return {"state": "failed", "message": "rank 3 aborted"}
        return hosts_or_switches(point)

    return pages.render(made(tmp_path_factory.mktemp("wide"), WIDE, result))


@pytest.fixture(scope="module")
def vendors(tmp_path_factory: pytest.TempPathFactory) -> str:
    return pages.render(made(tmp_path_factory.mktemp("vendors"), VENDORS, of_vendors))


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return a page of several programs, fabrics and sizes."""
    fabrics = '["fat-tree-1024-radix-32", "tofino-16", "tofino-4", "hdr100-8"]'
    text = SMALL.replace('"tofino-16"', fabrics).replace(
        'program = "sum"', 'program = ["sum", "more"]'
    )
    text = text.replace("[[runs]]", '[programs.more]\nsource = "sum.c"\n[[runs]]')
    gains = {"fat-tree-1024-radix-32": 3, "tofino-16": 2, "tofino-4": 1.5, "hdr100-8": 0.8}

    def result(point: Point) -> Any:
        if point["offload"] == "off":
            return done(1.0)
        more = 0.5 if point["program"] == "more" else 0
        return done(
            1.0 / (gains[str(point["fabric"])] + int(point["ranks"]) / 100 - more), offloaded=10
        )

    return pages.render(made(tmp_path_factory.mktemp("many"), text, result))


@pytest.fixture(scope="module")
def bars(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return a page of a single size, on fabrics with the longest possible names."""
    fabrics = '["tofino-4", "fat-tree-1024-radix-32", "dragonfly-16x16"]'
    text = SMALL.replace("[4, 16]", "4").replace('["1KiB", "64KiB", "1MiB"]', '"1KiB"')
    text = text.replace('"tofino-16"', fabrics)
    text += 'fallback = ["allreduce=recursive_doubling", "openmpi-5.0"]\n'
    return pages.render(made(tmp_path_factory.mktemp("bars"), text, hosts_or_switches))


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return a page with gains over the best algorithms, and with intervals."""
    text = SMALL + 'fallback = ["openmpi-5.0", "best"]\n'
    text += 'leave_out = [{ offload = "stream", fallback = "best" }]\n'

    def result(point: Point) -> Any:
        found = hosts_or_switches(point)
        best = point["fallback"] == "best"
        return done(found["simulated_time_s"] / 2) if best else found

    study = made(tmp_path_factory.mktemp("both"), text, result)
    return pages.render(
        replace(study, library="openmpi-5.0", certainty_of=lambda row, other: UNSURE)
    )


def cells(page: Page) -> list[str]:
    """Return the texts of the maps' cells in reading order."""
    found = page.locator("#map .mark-text.role-mark text").all_text_contents()
    return [one.rstrip("\N{MULTIPLICATION SIGN}") for one in found]


def until(page: Page, true: str, seconds: float = 60.0) -> None:
    """Wait until an expression becomes true in a page."""
    end = time.monotonic() + seconds
    while not page.evaluate(true):
        assert time.monotonic() < end, f"never true: {true}"
        time.sleep(0.05)


def table_of(page: Page, chart: str, rows: int = 1) -> Locator:
    """Open the table of a chart's numbers and wait until its first `rows` rows are drawn."""
    table = page.locator(f"#{chart}-table")
    table.locator("summary").click()
    table.locator("tbody tr").nth(rows - 1).wait_for()
    return table


def point_at_first_cell(page: Page) -> str:
    """Return the tooltip of the first cell of the first map."""
    page.locator("#map .mark-text.role-mark text").first.hover(force=True)
    page.wait_for_selector("#tip:not([hidden])")
    return page.locator("#tip").inner_text()


def control(page: Page, label: str, place: str = "bar") -> Any:
    return page.locator(f"#{place}").get_by_label(label, exact=True)


# ---- Initial view --------------------------------------------------------------------------------


def test_a_page_opens_without_a_network_and_answers_on_its_first_screen(
    opened: Open, small: str
) -> None:
    page = opened(small)
    answer = page.locator("p.answer")
    assert answer.inner_text() == (
        "Worth it for sum on tofino-16 in 1 of 6 combinations: 0.505 to 3.67 times as fast as the"
        " hosts; most for 16 ranks, 1KiB."
    )
    page.locator("#answer summary").first.click()
    counts = page.locator("#answer details").first.inner_text()
    assert "stream is faster than the hosts (offload = off) in 1 of 6" in counts
    page.locator("#answer summary").first.click()
    for place in (answer, page.locator("#map svg")):
        box = place.bounding_box()
        assert box is not None
        assert box["y"] + box["height"] < LAPTOP["height"]
    assert sorted(cells(page)) == sorted(["0.954", "0.566", "0.505", "3.67", "0.963", "0.533"])
    for chart in ("latency", "shares", "use"):
        assert page.locator(f"#{chart} svg path").count() > 3


def test_the_measured_points_stand_beside_the_simulated_ones(opened: Open, small: str) -> None:
    page = opened(small)
    said = page.locator("#latency").inner_text()
    assert "measured: mpitofino (tofino_osu_allreduce_4x1)" in said
    assert "Open marks are measured" in page.locator("#latency-about").inner_text()
    control(page, "ranks", "latency-bar").select_option(label="16")
    until(page, "document.querySelector('#latency-about').textContent.includes('ranks 16')")
    assert "Nothing of this was measured" in page.locator("#latency-about").inner_text()
    until(page, "!document.querySelector('#latency').textContent.includes('measured:')")


def test_the_wait_for_late_ranks_stands_beside_the_time_of_a_call(opened: Open, small: str) -> None:
    page = opened(small)
    table = table_of(page, "latency")
    heads = table.locator("th").all_inner_texts()
    assert heads == ["way", "message", "mean time of a call", "before the last rank", "measured"]
    rows = table.locator("tbody tr")
    cells_of = [rows.nth(row).locator("td").all_inner_texts() for row in range(rows.count())]
    simulated = [cells for cells in cells_of if cells[-1] == "no"]
    assert simulated
    for _, _, time_of_call, wait, _ in simulated:
        assert seconds(wait) == pytest.approx(seconds(time_of_call) / 4, rel=0.02)
    assert {cells[3] for cells in cells_of if cells[-1] == "yes"} == {""}


def seconds(text: str) -> float:
    number, unit = text.split()
    return float(number) * {"ns": 1e-9, "µs": 1e-6, "ms": 1e-3, "s": 1}[unit]


# ---- Controls ------------------------------------------------------------------------------------


def test_controls_change_what_is_shown(opened: Open, small: str) -> None:
    page = opened(small)
    before = cells(page)
    control(page, "compared").select_option("call:allreduce")
    until(page, "document.querySelector('#map-about').textContent.includes('one call')")
    control(page, "left to right").select_option("ranks")
    until(
        page,
        "[...document.querySelectorAll('#map text')].some((one) => one.textContent === 'ranks')",
    )
    assert sorted(cells(page)) == sorted(before), "calls take a fixed part of the time here"
    assert control(page, "top to bottom").input_value() == "bytes"


def test_each_further_axis_has_a_control_and_maps_of_its_own(opened: Open, wide: str) -> None:
    page = opened(wide)
    for name in ("fabric", "offload", "switch.slots", "depth", "kind"):
        assert control(page, name).count() == 1, name
    shown = page.locator("#chosen").inner_text()
    control(page, "fabric").select_option(label="tofino-16")
    control(page, "offload").select_option(label="stream")
    control(page, "depth").select_option(label="each, a map of its own")
    until(page, "document.querySelectorAll('#map h4').length === 6")
    assert page.locator("#chosen").inner_text() != shown
    titles = page.locator("#map h4").all_inner_texts()
    assert all("depth" in title for title in titles)
    control(page, "depth").select_option(label="geometric mean")
    until(page, "document.querySelectorAll('#map h4').length === 2")


def test_cells_that_fell_back_or_failed_say_so(opened: Open, wide: str) -> None:
    page = opened(wide)
    assert "fell back" in cells(page)
    assert (
        "“fell back” every call fell back to the hosts" in page.locator("#map-about").inner_text()
    )
    control(page, "kind").select_option(label="green")
    control(page, "depth").select_option(label="3")
    until(page, "document.querySelector('#chosen').textContent.includes('failed')")
    assert "failed" in cells(page)
    assert "rank 3 aborted" in point_at_first_cell(page)


def test_tooltips_name_both_sides_with_units_and_go(opened: Open, small: str) -> None:
    page = opened(small)
    page.locator("#map .mark-text.role-mark text", has_text="3.67").hover(force=True)
    page.wait_for_selector("#tip:not([hidden])")
    said = page.locator("#tip").inner_text()
    assert "3.67 times as fast as the hosts" in said
    assert "4.41 µs (stream) against 16.2 µs (off)" in said
    assert "10 of 10 calls of collectives offloaded" in said
    page.keyboard.press("Escape")
    assert page.locator("#tip").is_hidden()


def test_both_gains_and_their_intervals_are_in_reach(opened: Open, both: str) -> None:
    page = opened(both)
    shown = page.locator("#answer [data-baseline='0']").first
    assert shown.locator(".answer").all_inner_texts() == [
        "Cannot tell whether it is worth it for sum on tofino-16: 0.505 to 3.67 times as fast as"
        " openmpi-5.0 (0.750 to 5.00, 80 %); over the best of all algorithms: 0.252 to 1.84 (0.750"
        " to 5.00, 80 %)."
    ]
    counts = shown.locator("details").text_content() or ""
    unsure = "cannot tell whether it is faster than the hosts"
    assert f"{unsure} (openmpi-5.0) in all of 6" in counts
    assert f"{unsure} (best of all algorithms) in all of 6" in counts
    chosen = page.locator("#chosen").inner_text()
    assert "6 cannot tell; against the best of all algorithms: 6 cannot tell." in chosen
    assert "“?”: cannot tell, the interval contains 1" in page.locator("#map-about").inner_text()
    page.locator("#map .mark-text.role-mark text", has_text="3.67").hover(force=True)
    page.wait_for_selector("#tip:not([hidden])")
    said = page.locator("#tip").inner_text()
    assert (
        "3.67 times as fast as the hosts (openmpi-5.0), the whole program, 0.750 to 5.00, cannot"
        " tell (not measured: hosts: 16 hosts (up to 4)):" in said
    )
    assert "4.41 µs (stream) against 16.2 µs (openmpi-5.0)" in said
    assert (
        "1.84 times as fast as the hosts (best of all algorithms), 0.750 to 5.00, cannot tell (not"
        " measured: hosts: 16 hosts (up to 4)): against 8.1 µs"
    ) in said
    table = table_of(page, "map")
    row = table.locator("tbody tr", has_text="3.67").locator("td").all_inner_texts()
    assert row[-2:] == ["0.750 to 5.00", "1.84\N{MULTIPLICATION SIGN}"]
    heads = page.locator("#runs th").all_inner_texts()
    first, second = (heads.index(f"times as fast as {one}") for one in HOSTS)
    gains = page.locator("#runs tbody tr", has_text="3.67").locator("td").all_inner_texts()
    assert gains[first] == "3.67\N{MULTIPLICATION SIGN} (0.750 to 5.00)"
    assert gains[second] == "1.84\N{MULTIPLICATION SIGN} (0.750 to 5.00)"
    assert control(page, "baseline").count() == 1
    assert control(page, "fallback").count() == 0
    legend = page.locator("#latency .legend.names").inner_text()
    assert "hosts alone (best of all algorithms)" in legend
    assert "hosts alone (openmpi-5.0)" in legend
    control(page, "baseline").select_option(label="the hosts (best of all algorithms)")
    assert "1.84\N{MULTIPLICATION SIGN}?" in cells(page)


def test_every_chart_has_its_numbers_as_a_table(opened: Open, small: str) -> None:
    page = opened(small)
    for chart in ("map", "latency", "shares", "use"):
        table_of(page, chart, rows=6)
    assert "3.67" in page.locator("#map-table").inner_text()


def test_runs_are_searched_sorted_and_made_again(opened: Open, wide: str) -> None:
    page = opened(wide)
    rows = page.locator("#runs tbody tr")
    assert rows.count() == 50
    assert "288 combinations; rows 1 to 50" in page.locator("#runs-about").inner_text()
    search = page.get_by_label("Search the runs").last
    search.fill("aborted 1MiB message")
    assert page.locator("#runs-about").inner_text().startswith("4 combinations of 288")
    search.fill("nothing of the kind")
    assert rows.count() == 0
    search.fill("done")
    sort = page.locator("#runs th button", has_text="simulated time")
    for order in ("ascending", "descending"):
        sort.press("Enter")
        assert (
            page.locator("#runs th", has_text="simulated time").get_attribute("aria-sort") == order
        )
    titles = page.locator("#runs th").all_inner_texts()
    assert "program" not in titles, "it is alike in all runs"
    assert "All with program sum." in page.locator("#runs-about").inner_text()
    first = rows.first.locator('td[data-head="simulated time"]').inner_text()
    assert first.endswith("s")
    rows.first.get_by_role("button").press("Enter")
    assert "weft run" in page.locator("#runs tr.more pre").inner_text()


def test_the_keyboard_reaches_all_and_stays_where_it_is(opened: Open, small: str) -> None:
    page = opened(small)
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.id") == "theme"
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.tagName") == "SUMMARY"
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.getAttribute('aria-label')") == "compared"
    page.keyboard.press("ArrowDown")
    until(page, "document.querySelector('#map-about').textContent.includes('time in collectives')")
    assert page.evaluate("document.activeElement.getAttribute('aria-label')") == "compared"
    names = page.evaluate(
        "[...document.querySelectorAll('select, input, button')].filter((one) =>"
        " !(one.labels?.length || one.getAttribute('aria-label') || one.textContent.trim())).length"
    )
    assert names == 0, "each control has a name"
    levels = page.evaluate(
        "[...document.querySelectorAll('h1, h2, h3, h4')].map((one) => Number(one.tagName[1]))"
    )
    assert all(after - before <= 1 for before, after in pairwise(levels))
    labels = page.evaluate(
        "[...document.querySelectorAll('.chart svg.marks')].map((one) =>"
        " one.getAttribute('aria-label')"
        " ?? one.querySelector('[aria-label]').getAttribute('aria-label'))"
    )
    assert all(labels), "each chart says what it is"


# ---- Appearance ----------------------------------------------------------------------------------

GROUND = "getComputedStyle(document.documentElement).backgroundColor"


def test_dark_is_dark_and_can_be_chosen(opened: Open, small: str) -> None:
    light, dark = opened(small), opened(small, scheme="dark")
    assert light.evaluate(GROUND) == "rgb(255, 255, 255)"
    assert dark.evaluate(GROUND) == "rgb(15, 19, 24)"
    cells_of = "[...document.querySelectorAll('#map .mark-rect path')]"
    fills = f"{cells_of}.map((one) => one.getAttribute('fill')).join()"
    assert light.evaluate(fills) != dark.evaluate(fills)
    light.get_by_label("Colours").select_option("dark")
    assert light.evaluate(GROUND) == dark.evaluate(GROUND)
    until(light, f"{fills} === '{dark.evaluate(fills)}'")
    dark.emulate_media(color_scheme="light")
    until(dark, f"{GROUND} === 'rgb(255, 255, 255)'")


# Elements beyond the screen or their own box, and selectors too narrow for the chosen name.
CUT_OFF = """
[...document.querySelectorAll("body *")].filter((one) => {
  const unseen = one.closest("thead:not(#runs thead), [hidden], script, option, #tip");
  if (unseen || !one.getClientRects().length) return false;
  const box = one.getBoundingClientRect();
  if (box.right > innerWidth + 1 || box.left < -1) return true;
  if (one.tagName === "SELECT") {
    const pen = document.createElement("canvas").getContext("2d");
    pen.font = getComputedStyle(one).font;
    return pen.measureText(one.selectedOptions[0].textContent).width > one.clientWidth - 14;
  }
  return one.scrollWidth > one.clientWidth + 1 && getComputedStyle(one).overflowX !== "visible";
}).map((one) => `${one.tagName} ${one.id} ${one.textContent.slice(0, 40)}`)
"""


MOST_HEIGHT = 12_000
"""Height of a page on a telephone with all tables closed, in pixels."""


@pytest.mark.parametrize("kind", ["small", "wide", "vendors", "bars", "both", "many"])
def test_a_telephone_shows_all_of_it(kind: str, opened: Open, request: Any) -> None:
    page = opened(request.getfixturevalue(kind), TELEPHONE)
    assert page.evaluate("document.documentElement.scrollHeight") < MOST_HEIGHT
    for details in page.locator("details.numbers summary").all():
        details.click()
    assert page.evaluate(CUT_OFF) == []
    if kind == "bars":
        return
    page.set_viewport_size(LAPTOP)
    until(page, "document.querySelector('#latency svg.marks').clientWidth > 600")
    assert page.evaluate("document.documentElement.scrollWidth") <= LAPTOP["width"]
    tables = "[...document.querySelectorAll('.scroll')]"
    cut = f"{tables}.filter((one) => one.scrollWidth > one.clientWidth + 1)"
    assert page.evaluate(f"{cut}.map((one) => one.textContent.slice(0, 60))") == []


# ---- Many programs and fabrics -------------------------------------------------------------------


def test_many_programs_and_fabrics_are_ranked(opened: Open, many: str) -> None:
    page = opened(many)
    labels = page.locator("#ranking .role-axis-label text").all_text_contents()
    names = [one for one in labels if " on " in one]
    assert names[:2] == ["sum on A: stream", "more on A: stream"]
    points = page.locator("#ranking .mark-symbol path")
    assert points.count() == 8
    assert page.locator("#ranking .mark-rule.role-mark line").count() > 1, (
        "whiskers, and a gain of 1"
    )
    assert "Key: A is fat-tree-1024-radix-32." in page.locator("#ranking").inner_text()
    control(page, "fabric").select_option(label="tofino-16")
    until(page, "document.querySelector('#ranking').parentElement.hidden")


def test_axes_are_labelled(opened: Open, many: str, small: str) -> None:
    page = opened(many)
    titles = page.locator("#map .role-axis-title text").all_text_contents()
    assert {"ranks", "bytes"} <= set(titles)
    assert page.locator("#ranking .role-axis-title text").all_text_contents() == [
        "times as fast as off"
    ]
    for chart in ("latency", "shares", "use"):
        titles = opened(small).locator(f"#{chart} .role-axis-title text").all_text_contents()
        assert titles, chart


def test_it_prints_light_and_without_what_can_only_be_clicked(opened: Open, small: str) -> None:
    page = opened(small, scheme="dark")
    made_file = page.pdf(format="A4", print_background=True)
    assert made_file.startswith(b"%PDF")
    assert 2 <= made_file.count(b"/Type /Page\n") <= 12
    page.emulate_media(media="print")
    assert page.locator("#bar").is_hidden()
    assert page.locator("#map svg").first.is_visible()


# ---- Unusual campaigns ---------------------------------------------------------------------------


def alone(point: Point) -> Any:
    return done(1e-5 * int(point["ranks"]), offloaded=1)


@pytest.mark.parametrize(
    ("text", "result", "said"),
    [
        (SMALL.replace('["stream", "off"]', '"stream"'), alone, "is unknown"),
        (SMALL, lambda _: {"state": "failed", "message": "no"}, "6 cannot be compared"),
        (SMALL, lambda _: done(1e-5, calls=0), "made no collective calls"),
        (
            SMALL.replace("[4, 16]", "4").replace('["1KiB", "64KiB", "1MiB"]', '"1KiB"'),
            hosts_or_switches,
            "stream takes 1.05 times as long as the hosts (offload = off) (4.4",
        ),
        (
            SMALL.replace("[4, 16]", "4").replace('["1KiB", "64KiB", "1MiB"]', '"1KiB"')
            + "switch.slots = [64, 256]\nlink.latency = ['1us', '2us']\n",
            hosts_or_switches,
            "slower in 4, which is all that could be compared",
        ),
    ],
    ids=["no comparison", "all failed", "no calls", "one run", "no sizes"],
)
def test_pages_of_other_campaigns_are_whole(
    text: str, result: Result, said: str, opened: Open, tmp_path: Path
) -> None:
    page = opened(pages.render(made(tmp_path / "other", text, result)))
    assert said in (page.locator("#answer").text_content() or "")
    assert page.locator("#map svg, #map p").count() >= 1


def test_fabrics_are_compared_where_nothing_else_is(opened: Open, tmp_path: Path) -> None:
    text = SMALL.replace('"tofino-16"', '["tofino-4", "hdr100-8", "tofino-16"]').replace(
        'offload = ["stream", "off"]', ""
    )

    def result(point: Point) -> Any:
        return done({"tofino-4": 4e-6, "hdr100-8": 2e-6, "tofino-16": 8e-6}[str(point["fabric"])])

    page = opened(pages.render(made(tmp_path / "fabrics", text, result)))
    assert cells(page) == ["2.00"] * 6 + ["0.500"] * 6
    assert page.locator("h2").first.inner_text() == "Which fabric is faster"
    assert "fabric hdr100-8 is faster than fabric" in page.locator("p.answer").first.inner_text()
    assert "sum on hdr100-8: stream against tofino-4" in page.locator("#map").inner_text()
    assert page.locator("#latency").inner_text().count("tofino") >= 2, "a line for each fabric"
    said = point_at_first_cell(page)
    assert "2.00 times as fast as fabric tofino-4" in said
    assert "2 µs (hdr100-8) against 4 µs (tofino-4)" in said
    control(page, "fabric").select_option(label="tofino-16")
    until(page, "document.querySelectorAll('#map .mark-text.role-mark text').length === 6")


def test_the_reader_picks_the_baseline(opened: Open, vendors: str) -> None:
    """Sentences, maps, tables and the table of runs follow; exactly one of each is visible."""
    page = opened(vendors)
    answer = page.locator("#answer [data-baseline]:visible").first
    assert page.locator("h2").first.inner_text() == "Where offloading pays off"
    assert "The fastest fabric for sum" in answer.inner_text()
    baseline = control(page, "baseline")
    assert baseline.locator("option").all_inner_texts() == [
        "the hosts (offload = off)",
        *("fabric hdr100-8", "fabric tofino-16", "fabric star-8"),
    ]
    baseline.focus()
    baseline.select_option(label="fabric star-8")
    until(page, "document.querySelector('#map-about').textContent.includes('fabric star-8')")
    assert page.locator("h2").first.inner_text() == "Which fabric is faster"
    assert page.locator("#answer [data-baseline]:visible").count() == 3
    assert "Program sum, stream, fabric hdr100-8 is faster than" in (answer.text_content() or "")
    assert cells(page).count("4.00") == 2
    assert "4.00 times as fast as fabric star-8" in point_at_first_cell(page)
    assert "times as fast as star-8" in page.locator("#runs th").all_inner_texts()
    assert page.evaluate("document.activeElement.getAttribute('aria-label')") == "baseline"
    baseline.select_option(label="the hosts (offload = off)")
    until(page, "document.querySelector('#h-answer').textContent === 'Where offloading pays off'")


def test_one_size_is_bars_as_wide_as_the_page(opened: Open, tmp_path: Path) -> None:
    """Previously, a single size was a point on a curve 65 pixels wide."""
    text = SMALL.replace("[4, 16]", "4").replace('["1KiB", "64KiB", "1MiB"]', '"1KiB"')
    text = text.replace('"tofino-16"', '["tofino-4", "hdr100-8"]')
    page = opened(pages.render(made(tmp_path / "bars", text, hosts_or_switches)))
    room = page.locator("#map").evaluate("(one) => one.clientWidth")
    for chart in ("map", "latency", "use"):
        bars = page.locator(f"#{chart} svg.marks .mark-rect.role-mark path")
        assert bars.count() >= 2, chart
        widths = bars.evaluate_all("(all) => all.map((one) => one.getBoundingClientRect().width)")
        assert max(widths) > room / 2, chart
    said = page.locator("#latency-about").inner_text()
    assert "one call of allreduce of 1 KiB" in said
    assert "Open bars are measured on real devices" in said
    assert "logarithmic" not in said
    assert all(one.endswith("\N{MULTIPLICATION SIGN}") for one in cells_of_bars(page))


def cells_of_bars(page: Page) -> list[str]:
    found = page.locator("#map .mark-text.role-mark text").all_text_contents()
    assert len(found) == 2
    return found


def test_marks_of_the_legend_are_those_of_the_chart(opened: Open, small: str) -> None:
    """The caption describes measured marks as open, but the legend used to show them filled."""
    page = opened(small)
    legend = page.locator("#latency .legend li")
    kinds = {
        one.inner_text(): one.locator("svg").get_attribute("data-mark") for one in legend.all()
    }
    assert kinds["hosts alone (off)"] == kinds["stream"] == "line"
    measured = {name for name in kinds if name.startswith("measured")}
    assert measured
    assert {kinds[name] for name in measured} == {"open"}
    shown = page.evaluate(
        "[...document.querySelectorAll('#latency svg.marks .mark-symbol path')]"
        ".map((one) => [one.getAttribute('fill'), one.getAttribute('stroke')])"
    )
    filled = {fill for fill, _ in shown if fill and fill not in ("none", "transparent")}
    open_ones = {stroke for fill, stroke in shown if fill in (None, "none", "transparent")}
    for name, kind in kinds.items():
        key = legend.filter(has_text=name).locator("svg path").last
        fill, stroke = key.get_attribute("fill"), key.get_attribute("stroke")
        if kind == "line":
            assert fill in filled
        else:
            assert fill == "none"
            assert stroke in open_ones


@pytest.mark.parametrize("kind", ["small", "wide", "vendors", "bars", "both"])
def test_no_visible_text_has_doubled_punctuation(kind: str, opened: Open, request: Any) -> None:
    page = opened(request.getfixturevalue(kind))
    page.locator("#runs tbody button").first.click()
    for number in range(max(1, control(page, "baseline").locator("option").count())):
        if number:
            control(page, "baseline").select_option(index=number)
        for place in ("#answer", "section:has(#latency)", "section:has(#use)", "#runs-about"):
            for line in page.locator(place).first.inner_text().splitlines():
                assert DOUBLED.findall(line) == [], line


def test_hostile_texts_are_shown_and_do_nothing(opened: Open, tmp_path: Path) -> None:
    page = opened(hostile(tmp_path / "hostile"))
    assert page.evaluate("window.hacked") is None
    assert page.locator("img").count() == 0
    assert "<img src=x onerror='hacked=1'>" in page.locator("h1").inner_text()
    assert "</script>" in page.locator("#map").inner_text()
    assert "<img" in point_at_first_cell(page)
    page.locator("#runs tbody button").first.click()
    assert page.evaluate("window.hacked") is None


def test_a_script_that_is_not_the_pages_own_never_runs(
    browser: Browser, small: str, tmp_path: Path
) -> None:
    file = tmp_path / "changed.html"
    file.write_text(small.replace("<main>", "<main><script>window.hacked = 1</script>"), "utf-8")
    context = browser.new_context(offline=True)
    page = context.new_page()
    page.goto(file.as_uri())
    assert page.evaluate("window.hacked") is None
    context.close()


@pytest.mark.slow
def test_ten_thousand_runs_open_in_three_seconds(browser: Browser, tmp_path: Path) -> None:
    """CPU time of the page's thread is used because of concurrent tests; alone, it is the time."""
    study = made(tmp_path / "big", BIG, hosts_or_switches)
    assert len(study.points) == 10_080
    text = pages.render(study)
    assert len(text) < 6_000_000
    file = tmp_path / "big.html"
    file.write_text(text, encoding="utf-8")
    context = browser.new_context(viewport=LAPTOP, offline=True)
    context.set_default_timeout(MOST_WAITED_MS)
    page = context.new_page()
    watch = context.new_cdp_session(page)
    watch.send("Performance.enable", {"timeDomain": "threadTicks"})
    page.goto(file.as_uri())
    page.wait_for_selector("html.drawn")
    found = watch.send("Performance.getMetrics")["metrics"]
    spent = next(one["value"] for one in found if one["name"] == "TaskDuration")
    assert 0.1 < spent < MOST_SECONDS
    assert page.locator("#map svg").count() == 8
    page.get_by_label("Search the runs").last.fill("hdr100-8 2MiB off")
    until(page, "document.querySelector('#runs-about').textContent.startsWith('84 ')")
    context.close()
