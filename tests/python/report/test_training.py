# SPDX-License-Identifier: LGPL-2.1-only
"""Reports of training iterations: campaigns, and single records."""

import html
import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, sync_playwright

from tests.python.campaign.test_training import CAMPAIGN, MODEL
from tests.support.campaign_files import written
from tests.support.simulated import weft
from weft.campaign.file.keys import COLLECTIVES
from weft.report.data import records
from weft.report.page import page as pages
from weft.report.page.sentences import headline

MOST_WAITED_MS = 120_000
PIPELINE = (
    "--with",
    "parallel.pipeline=4",
    "--with",
    "parallel.data=1",
    "--with",
    "batch.global=8",
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = tmp_path_factory.mktemp("training")
    (found / "llama.toml").write_text(MODEL, encoding="utf-8")
    return found


def trained(folder: Path, name: str, *options: str) -> Path:
    file = folder / f"{name}.json"
    words = ("train", str(folder / "llama.toml"), "--fabric", "superpod-h100-32", "-q")
    ended = weft(*words, "--json", str(file), *options)
    assert ended.status == 0, ended.stderr
    return file


def reported(folder: Path, *files: Path) -> str:
    page = folder / "page.html"
    ended = weft("report", *map(str, files), "-o", str(page))
    assert ended.status == 0, ended.stderr
    return page.read_text(encoding="utf-8")


def data_of(text: str) -> dict[str, Any]:
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.S)
    assert found
    data: dict[str, Any] = json.loads(found[1])
    return data


def headings(text: str) -> list[str]:
    return [html.unescape(one) for one in re.findall(r"<h2[^>]*>(.*?)</h2>", text)]


def test_the_verdict_of_a_comparison_comes_first(folder: Path) -> None:
    file = trained(folder, "compared", "--compare")
    variants = json.loads(file.read_text(encoding="utf-8"))["variants"]
    times = {one["name"]: one["iteration"]["time_s"] for one in variants}
    text = reported(folder, file)
    said = re.findall(r"<p[^>]*>(.*?)</p>", text[text.index('id="h-answer"') :])
    best = min((name for name in times if name != "rings and trees"), key=times.__getitem__)
    factor = times["rings and trees"] / times[best]
    assert said[0].startswith(
        f"{best}: {factor:.3g} times as fast an iteration of llama-3-8b on 16 GPUs as rings and"
        " trees ("
    )
    assert headings(text)[:4] == [
        "What reductions in switches gain",
        "Where the time goes",
        "Utilisation",
        "Timeline of an iteration",
    ]
    study = records.of([records.read(file)])
    assert [point[COLLECTIVES] for point in study.points] == list(times)


def test_single_iterations_show_parts_and_a_picture_of_the_pipeline(folder: Path) -> None:
    file = trained(folder, "pipeline", *PIPELINE)
    record = json.loads(file.read_text(encoding="utf-8"))
    text = reported(folder, file)
    sentence = headline(records.of([records.read(file)]))[0]
    assert sentence.startswith("An iteration of llama-3-8b on 32 GPUs takes ")
    assert "MFU" in sentence
    data = data_of(text)
    times = dict(zip(data["training"]["parts"], data["training"]["times"][0], strict=True))
    assert sum(times.values()) == pytest.approx(record["time_s"], rel=1e-4)
    picture = data["training"]["pictures"]["0"]
    assert [rank for rank, _ in picture["ranks"]] == [0, 8, 16, 24]
    # Each rank's columns show the fractions of its parts; stages differ in their bubbles.
    letters = {name: chr(ord("a") + at) for at, name in enumerate(picture["names"])}
    drawn = [columns.count(letters["computation"]) / 240 for _, columns in picture["ranks"]]
    computing = times["computation"] / record["time_s"]
    assert sum(drawn) / 4 == pytest.approx(computing, abs=0.02)


def test_records_that_differ_in_keys_are_compared(folder: Path) -> None:
    files = [trained(folder, f"t{k}", "--with", f"batch.sequence={k}") for k in (1024, 2048)]
    study = records.of(map(records.read, files))
    assert [point["batch.sequence"] for point in study.points] == ["1024", "2048"]
    assert study.reference is not None
    assert study.reference.axis == "batch.sequence"
    commands = [str(one) for one in study.commands]
    assert all("--with batch.sequence=" in one for one in commands)
    assert any("faster" in one or "times as" in one for one in headline(study))


def test_other_files_are_refused(folder: Path) -> None:
    file = folder / "other.json"
    file.write_text('{"format": "weft-iteration", "version": 1}', encoding="utf-8")
    ended = weft("report", str(file), "-o", str(folder / "no.html"))
    assert ended.status == 2
    assert "is not a record of a run" in ended.stderr
    assert "`weft train --json`" in ended.stderr


def test_campaigns_have_maps_of_gains_and_their_commands(folder: Path) -> None:
    file = written(folder, CAMPAIGN)
    assert weft("campaign", "run", str(file)).status == 0
    page = folder / "small.html"
    ended = weft("campaign", "report", str(file), "-o", str(page))
    assert ended.status == 0, ended.stderr
    text = page.read_text(encoding="utf-8")
    assert "What a call takes" not in text
    data = data_of(text)
    assert data["training"]["only"]
    assert data["baselines"][0]["reference"]["value"] == "rings and trees"
    assert "ranks" not in (data["baselines"][0]["across"], *data["baselines"][0]["further"])
    assert sum(other >= 0 for other in data["baselines"][0]["rows"]["reference"]) == 4
    assert len(data["training"]["pictures"]) == 6
    assert "weft train llama.toml --fabric superpod-h100-32" in text


# ---- In a browser


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    path = shutil.which("chromium")
    if not path:
        pytest.skip("there is no chromium: setup/system-packages says how to get it")
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield started
        started.close()


@pytest.mark.parametrize("width", [375, 1280])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_pages_draw_their_charts(folder: Path, browser: Browser, width: int, scheme: Any) -> None:
    files = [trained(folder, "pipeline", *PIPELINE), trained(folder, "compared", "--compare")]
    text = pages.render(records.of(map(records.read, files)))
    file = folder / f"{width}-{scheme}.html"
    file.write_text(text, encoding="utf-8")
    wrong: list[str] = []
    context = browser.new_context(
        viewport={"width": width, "height": 800}, color_scheme=scheme, offline=True
    )
    context.set_default_timeout(MOST_WAITED_MS)
    page = context.new_page()
    page.on("console", lambda said: wrong.append(said.text))
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.goto(file.as_uri())
    page.wait_for_selector("html.drawn")
    assert wrong == []
    for chart in ("map", "parts", "rates", "timeline"):
        assert page.locator(f"#{chart} svg.marks").count() > 0, chart
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    # Four stages, then the single stage of another iteration.
    bars = page.locator("#timeline svg .role-axis-label text")
    assert "rank 24" in bars.all_text_contents()
    page.locator("#timeline-bar select").select_option(index=1)
    page.wait_for_timeout(1500)
    assert "rank 24" not in bars.all_text_contents()
    context.close()
