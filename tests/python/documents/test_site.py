# SPDX-License-Identifier: LGPL-2.1-only
"""The documentation as a site: `make docs`, and the site in a browser, opened from files.

MkDocs in strict mode finds broken links in documents; the tests parse the built pages again, as a
browser would.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from functools import cache, partial
from html.parser import HTMLParser
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from urllib.parse import unquote, urlsplit

import pytest
from markdown_it import MarkdownIt
from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

from tests.support.places import ROOT

SITE = ROOT / "build" / "site"
MOST_BYTES = 40_000_000
# Attributes, by element, whose files a browser fetches, and which must be files of the site.
FETCHED = {"script": "src", "img": "src", "link": "href", "iframe": "src", "source": "src"}

pytestmark = pytest.mark.slow


class Parsed(HTMLParser):
    """Links and anchors of a page, and the number of elements of each kind in its article."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.fetched: list[str] = []
        self.anchors: set[str] = set()
        self.counts: Counter[str] = Counter()
        self.article = False
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        named = {name: value or "" for name, value in attrs}
        self.article |= tag == "article"
        self.anchors |= {named[name] for name in ("id", "name") if name in named}
        if tag == "a" and "href" in named:
            self.links.append(named["href"])
        if tag in FETCHED and FETCHED[tag] in named and named.get("rel") != "canonical":
            self.fetched.append(named[FETCHED[tag]])
        if self.article:
            self.counts[tag] += 1

    def handle_endtag(self, tag: str) -> None:
        self.article &= tag != "article"


@cache
def parsed(path: Path) -> Parsed:
    return Parsed(path)


def build(*options: str) -> "subprocess.CompletedProcess[str]":
    """Run MkDocs without --quiet, which would suppress the warnings that --strict counts."""
    return subprocess.run(
        [Path(sys.executable).parent / "mkdocs", "build", *options],
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )


@pytest.fixture(scope="module", autouse=True)
def site() -> Path:
    """Build the site once; warnings are errors."""
    result = build()
    assert result.returncode == 0, result.stdout
    return SITE


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[x](guide.md#nowhere)", "'guide.md#nowhere', but there is no such anchor"),
        ("[x](../presets/switch/none.toml)", "target is not found"),
        ("text", 'not included in the "nav"'),
    ],
)
def test_what_leads_nowhere_ends_the_build(tmp_path: Path, text: str, said: str) -> None:
    """The example is a page with a broken link that docs/README.md does not list."""
    copy = tmp_path / "weft"
    shutil.copytree(ROOT / "setup" / "site", copy / "setup" / "site")
    shutil.copy(ROOT / "mkdocs.yml", copy)
    (copy / "docs").mkdir()
    (copy / "docs" / "README.md").write_text("# A site\n\n## Pages\n")
    (copy / "docs" / "guide.md").write_text(f"# A page\n\n{text}\n")
    result = build("--config-file", str(copy / "mkdocs.yml"), "--site-dir", str(tmp_path / "site"))
    assert result.returncode != 0
    assert said in result.stdout


def pages() -> list[Path]:
    return sorted(SITE.rglob("*.html"))


def documents() -> Iterator[tuple[Path, Path]]:
    """Yield each document of docs/ with its page."""
    for document in sorted((ROOT / "docs").rglob("*.md")):
        inside = document.relative_to(ROOT / "docs")
        name = "index.html" if inside.name == "README.md" else f"{inside.stem}.html"
        yield document, SITE / inside.parent / name


def broken(page: Path, link: str) -> str:
    """Return the problem with a link of a page; empty if its target exists."""
    parts = urlsplit(link)
    if parts.scheme:
        return "" if parts.scheme in ("https", "http", "mailto") and link.strip() == link else link
    path = (page.parent / unquote(parts.path)).resolve() if parts.path else page
    if path.is_dir():
        path /= "index.html"
    if not path.is_relative_to(SITE) or not path.is_file():
        return f"{page.relative_to(SITE)}: {link}: no such file"
    if parts.fragment and path.suffix == ".html":
        anchors = parsed(path).anchors
        return "" if unquote(parts.fragment) in anchors else f"{page}: {link}: no such anchor"
    return ""


def test_every_link_leads_somewhere() -> None:
    links = [
        (page, link) for page in pages() if page.name != "404.html" for link in parsed(page).links
    ]
    assert len(links) > 1000
    assert [wrong for page, link in links if (wrong := broken(page, link))] == []


def test_links_of_documents_to_files_of_the_repository_are_pages_with_these() -> None:
    preset = (SITE / "files/presets/switch/tofino.toml.html").read_text()
    assert "processing_latency" in preset
    assert "../files/presets/switch/tofino.toml.html" in parsed(SITE / "papers/belbeisi.html").links
    assert (SITE / "files/data/index.html").is_file()


def test_notebooks_are_pages_with_their_outputs() -> None:
    for notebook in (ROOT / "docs").rglob("*.ipynb"):
        page = SITE / notebook.relative_to(ROOT / "docs").with_suffix(".ipynb.html")
        cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
        outputs = sum(len(cell.get("outputs", [])) for cell in cells)
        text = page.read_text(encoding="utf-8")
        assert text.count('<div class="weft-output">') == outputs > 0
        assert not re.search(r'<div class="weft-output">\d*</div>', text)
        assert text.count("language-python") == sum(cell["cell_type"] == "code" for cell in cells)


def test_pages_fetch_nothing_but_files_of_the_site() -> None:
    for page in pages():
        for link in parsed(page).fetched:
            if link.startswith("data:"):
                continue
            assert not urlsplit(link).scheme, f"{page}: {link}"
            assert page.name == "404.html" or broken(page, link) == ""
    styles = "".join(path.read_text() for path in SITE.rglob("*.css"))
    assert re.findall(r"url\(['\"]?https?:[^)]*|@import[^;]*", styles) == []


def test_the_site_renders_documents_as_a_browser_of_repositories_does() -> None:
    """Two Markdown dialects: lists, tables and code must be recognised alike."""
    reader = MarkdownIt("gfm-like", {"linkify": False})
    kinds = {"li": "li", "pre": "pre", "table": "table", "tr": "tr", "img": "img", "h2": "h2"}
    for document, page in documents():
        html = reader.render(document.read_text(encoding="utf-8"))
        if ":::" in html:
            continue
        wanted = {tag: len(re.findall(rf"<{tag}[ >]", html)) for tag in kinds}
        found = {tag: parsed(page).counts[tag] for tag in kinds}
        assert found == wanted, document


def test_the_index_names_every_document_and_search_knows_them() -> None:
    index = json.loads((SITE / "search" / "search_index.json").read_text())
    known = {entry["location"].partition("#")[0] for entry in index["docs"]}
    for _, page in documents():
        assert str(page.relative_to(SITE)) in known
        here = os.path.relpath(page, SITE)
        assert here == "index.html" or here in parsed(SITE / "index.html").links
    assert {"overview.html", "architecture.html", "contributing.html", "changelog.html"} <= known


def test_the_site_is_of_a_size_that_can_be_passed_on() -> None:
    assert sum(path.stat().st_size for path in SITE.rglob("*") if path.is_file()) < MOST_BYTES


# ---- In a browser --------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    path = shutil.which("chromium")
    if not path:
        pytest.skip("there is no chromium: setup/system-packages says how to get it")
    with sync_playwright() as playwright:
        made = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield made
        made.close()


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    made = browser.new_context(viewport={"width": 1280, "height": 900})
    yield made
    made.close()


@pytest.fixture
def page(context: BrowserContext) -> Page:
    return context.new_page()


def address(name: str) -> str:
    return (SITE / name).as_uri()


def test_no_page_asks_the_network_or_complains_and_all_fit_a_telephone(page: Page) -> None:
    asked: list[str] = []
    said: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.set_viewport_size({"width": 390, "height": 844})
    names = [str(one.relative_to(SITE)) for _, one in documents()]
    names += [str(one.relative_to(SITE)) for one in SITE.rglob("*.ipynb.html")]
    for name in [*names, "overview.html", "architecture.html", "files/fabrics/tofino-4.toml.html"]:
        page.goto(address(name))
        assert page.evaluate("document.documentElement.scrollWidth") <= 390, name
        assert (
            page.evaluate("document.querySelector('article').getBoundingClientRect().width") > 300
        )
    outside = [url for url in asked if urlsplit(url).scheme not in ("file", "data", "about")]
    assert (outside, said) == ([], [])


@pytest.fixture
def server() -> Iterator[str]:
    """Yield the address of a local server with the site."""
    handler = partial(Silent, directory=str(SITE))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as made:
        thread = Thread(target=made.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{made.server_port}"
        made.shutdown()
        thread.join()


class Silent(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *arguments: object) -> None: ...


@pytest.mark.parametrize("served", [False, True], ids=["files", "server"])
def test_search_works(page: Page, server: str, served: bool) -> None:
    name = "papers/kuppili.html"
    page.goto(f"{server}/{name}" if served else address(name))
    page.click(".md-search__input")
    page.keyboard.type("turnaround", delay=20)
    page.wait_for_selector(".md-search-result__link")
    results = page.locator(".md-search-result__link")
    links = [results.nth(number).get_attribute("href") or "" for number in range(results.count())]
    assert any("models.html" in link for link in links)
    results.first.click()
    page.wait_for_load_state()
    assert "turnaround" in page.inner_text("article").lower()


def test_code_is_copied_without_prompts_and_output(page: Page) -> None:
    page.goto(address("guide.html"))
    blocks = page.locator(".language-console")
    copies = page.locator("[data-clipboard-target]")
    assert copies.count() >= page.locator("article pre").count() > blocks.count() >= 5
    block = blocks.nth(1)
    assert "$ weft run" in block.inner_text() and "sum 6" in block.inner_text()
    block.hover()
    block.locator("[data-clipboard-target]").click()
    page.click(".md-search__input")
    page.keyboard.press("Control+V")
    copied = page.input_value(".md-search__input")
    assert copied.strip() == "weft run --fabric tofino-4 -n 4 -- ./ring"


@pytest.mark.parametrize(("scheme", "dark"), [("light", False), ("dark", True)])
def test_light_and_dark_follow_the_system(browser: Browser, scheme: str, dark: bool) -> None:
    context = browser.new_context(color_scheme="dark" if dark else "light")
    page = context.new_page()
    page.goto(address("index.html"))
    colour = page.evaluate("getComputedStyle(document.body).backgroundColor")
    levels = [int(level) for level in re.findall(r"\d+", colour)[:3]]
    assert (sum(levels) < 384) == dark
    context.close()
