# SPDX-License-Identifier: LGPL-2.1-only
"""MkDocs hook for weft's documents: locations and page order.

Links in documents are relative paths in the repository. A link that leaves docs/ (to a preset, an
example, a folder) leads to a page of the site with the target's content: README.md, CONTRIBUTING.md
and similar pages become top-level pages, all other files become pages with source code below
`files/`. docs/README.md defines the page order: its headings are the site's sections, and the first
links in the tables below them are the pages. Notebooks become pages with their stored outputs.
"""

import base64
import html
import json
import posixpath
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files, InclusionLevel
from mkdocs.structure.pages import Page
from pygments.lexers import get_lexer_for_filename
from pygments.util import ClassNotFound

ROOT = Path(__file__).resolve().parents[2]
INDEX = "docs/README.md"
# Long numeric tables would drown other search results.
UNSEARCHED = {".csv", ".txt"}

_FENCED = re.compile(r"^(```+).*?^\1$", re.MULTILINE | re.DOTALL)
_COMMENT = re.compile(r"^<!-- .* -->$", re.MULTILINE)
_LINK = re.compile(r"(?<=\]\()([^)\s#]+)(?=(?:#[^)\s]*)?\))")
_OUTPUT = re.compile(r'(<div class="weft-output">)(\d+)(</div>)')
_HEADING_OR_ROW = re.compile(r"^## (.*)$|^\| \[([^]]+)\]\(([^)#]+)\)", re.MULTILINE)


def outside_code(text: str, change: Callable[[str], str]) -> str:
    """Apply a change to the Markdown outside code blocks."""
    parts, end = [], 0
    for block in _FENCED.finditer(text):
        parts += [change(text[end : block.start()]), block[0]]
        end = block.end()
    return "".join([*parts, change(text[end:])])


def links(text: str) -> Iterator[str]:
    """Yield the links of a document to files."""
    for link in _LINK.findall(_FENCED.sub("", text)):
        if ":" not in link:
            yield link


def target(document: str, link: str) -> str:
    """Return the repository path of a link in a document or a folder's page."""
    folder = document if (ROOT / document).is_dir() else posixpath.dirname(document)
    return posixpath.normpath(posixpath.join(folder, link))


def place(path: str) -> str:
    """Return the location in MkDocs of a repository file, or of the page generated for it."""
    inside = path.removeprefix("docs/")
    if path.endswith(".ipynb"):
        return f"{inside if inside != path else f'files/{path}'}.md"
    if (ROOT / path).is_dir():
        return f"{inside if inside != path else f'files/{path}'}/index.md"
    if inside != path:
        return inside
    if path.endswith(".md"):
        return f"files/{path}" if "/" in path else path.lower().replace("readme", "overview")
    return f"files/{path}.md"


def language(path: str) -> str:
    """Return the syntax highlighting language of a file."""
    try:
        return get_lexer_for_filename(path).aliases[0]
    except ClassNotFound:
        return "text"


def folder_page(path: str) -> str:
    """Return a page with links to the content of a folder."""
    names = sorted(part for part in (ROOT / path).iterdir() if part.name[0] not in "._")
    rows = (f"- [{part.name}]({part.name})" for part in names if not part.name.endswith(".runs"))
    return "\n".join([f"# {path}/", "", *rows, ""])


def source_page(path: str) -> str:
    """Return a page with a file's source, ranked below documents in searches."""
    head = (
        "search:\n  exclude: true" if Path(path).suffix in UNSEARCHED else "search:\n  boost: 0.2"
    )
    text = (ROOT / path).read_text(encoding="utf-8").rstrip()
    return f"---\n{head}\n---\n# {path}\n\n````{language(path)}\n{text}\n````\n"


def shown(output: dict[str, Any]) -> str:
    """Return the output of a notebook cell as HTML."""
    data = output.get("data", {"text/plain": output.get("text") or output.get("traceback", "")})
    if "text/html" in data:
        return "".join(data["text/html"])
    for kind in ("image/svg+xml", "image/png"):
        if kind in data:
            raw = "".join(data[kind])
            coded = base64.b64encode(raw.encode()).decode() if "svg" in kind else raw.strip()
            return f'<img alt="" src="data:{kind};base64,{coded}">'
    return f"<pre><code>{html.escape(''.join(data['text/plain']))}</code></pre>"


def notebook_page(path: str) -> str:
    """Return a notebook's cells as Markdown; HTML outputs are inserted afterwards."""
    parts = []
    for cell in json.loads((ROOT / path).read_text(encoding="utf-8"))["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            parts.append(source)
        elif cell["cell_type"] == "code":
            parts.append(f"````python\n{source}\n````")
            for output in cell["outputs"]:
                parts.append(f'<div class="weft-output">{len(_outputs)}</div>')
                _outputs.append(shown(output))
    return "\n\n".join(parts) + "\n"


def text_of(path: str) -> str:
    """Return the page generated from a file or folder."""
    if (ROOT / path).is_dir():
        return folder_page(path)
    if path.endswith(".ipynb"):
        return notebook_page(path)
    text = (ROOT / path).read_text(encoding="utf-8")
    return text if path.endswith(".md") else source_page(path)


def is_made(path: str) -> bool:
    """Return true if the page of a path is generated instead of being a file of docs/."""
    return not path.startswith("docs/") or path.endswith(".ipynb") or (ROOT / path).is_dir()


class Pages:
    """Generated pages, and the source document of every page."""

    def __init__(self) -> None:
        """Follow the links of all documents and of their targets, transitively."""
        self.documents = {
            place(path): path
            for path in (str(one.relative_to(ROOT)) for one in sorted(ROOT.glob("docs/**/*.md")))
        }
        self.made: dict[str, str] = {}
        waiting = list(self.documents.values())
        while waiting:
            path = waiting.pop()
            text = self.made.get(path) or (ROOT / path).read_text(encoding="utf-8")
            for found in (target(path, link) for link in links(text)):
                if found not in self.made and is_made(found) and (ROOT / found).exists():
                    self.made[found] = text_of(found)
                    self.documents[place(found)] = found
                    waiting.append(found)

    def link(self, document: str, link: str) -> str:
        """Rewrite a link of a document for the site."""
        found = target(document, link)
        here = place(document)
        return posixpath.relpath(place(found), posixpath.dirname(here) or ".")


_outputs: list[str] = []
_pages = Pages()


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Set the order of pages from docs/README.md."""
    nav: list[Any] = [{"Home": place(INDEX)}]
    for heading, title, link in _HEADING_OR_ROW.findall((ROOT / INDEX).read_text(encoding="utf-8")):
        if heading:
            nav.append({heading: []})
        else:
            page = place(target(INDEX, link))
            next(iter(nav[-1].values())).append(page if title.endswith(".md") else {title: page})
    config.nav = nav
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages from outside docs/. Only Markdown pages need a position in the order."""
    for path, text in _pages.made.items():
        listed = path.endswith((".md", ".ipynb"))
        level = InclusionLevel.INCLUDED if listed else InclusionLevel.NOT_IN_NAV
        files.append(File.generated(config, place(path), content=text, inclusion=level))
    return files


def on_page_markdown(markdown: str, page: Page, **_: Any) -> str:
    """Rewrite links to the site's pages, and terminate comments before tables."""
    document = _pages.documents[page.file.src_uri]
    if document == "CHANGELOG.md":
        page.meta["search"] = {"boost": 0.3}

    def change(text: str) -> str:
        text = _COMMENT.sub("", text)
        return _LINK.sub(
            lambda found: found[0] if ":" in found[0] else _pages.link(document, found[0]), text
        )

    return outside_code(markdown, change)


def on_page_content(content: str, **_: Any) -> str:
    """Replace the numbered placeholders in a notebook's page with its outputs."""
    return _OUTPUT.sub(lambda place: f"{place[1]}{_outputs[int(place[2])]}{place[3]}", content)


def on_post_build(config: MkDocsConfig) -> None:
    """Remove the theme's source maps, which only its developers need."""
    for path in Path(config.site_dir).rglob("*.map"):
        path.unlink()
