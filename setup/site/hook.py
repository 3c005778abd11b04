# SPDX-License-Identifier: LGPL-2.1-only
"""What MkDocs does not know of weft's documents: where they stand, and in which order.

Documents link as files of the repository do. A link that leaves docs/ (to a preset, an example, a
folder) leads to a page of the site with what stands there: the pages README.md, CONTRIBUTING.md
and their like become pages beside the others, all else pages below `files/` with the source.
The order of the pages is that of docs/README.md: its headings are the site's sections, and what
the tables below them link to first are the pages. Notebooks become pages with the outputs that
they hold.
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
# Long tables of numbers would hide all else that is searched for.
UNSEARCHED = {".csv", ".txt"}

_FENCED = re.compile(r"^(```+).*?^\1$", re.MULTILINE | re.DOTALL)
_COMMENT = re.compile(r"^<!-- .* -->$", re.MULTILINE)
_LINK = re.compile(r"(?<=\]\()([^)\s#]+)(?=(?:#[^)\s]*)?\))")
_OUTPUT = re.compile(r'(<div class="weft-output">)(\d+)(</div>)')
_HEADING_OR_ROW = re.compile(r"^## (.*)$|^\| \[([^]]+)\]\(([^)#]+)\)", re.MULTILINE)


def outside_code(text: str, change: Callable[[str], str]) -> str:
    """Return the Markdown with what is not in blocks of code changed."""
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
    """Return the path in the repository that a link of a document or of a folder's page means."""
    folder = document if (ROOT / document).is_dir() else posixpath.dirname(document)
    return posixpath.normpath(posixpath.join(folder, link))


def place(path: str) -> str:
    """Return where MkDocs finds a file of the repository, or the page that is made of it."""
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
    """Return what colours a file's source."""
    try:
        return get_lexer_for_filename(path).aliases[0]
    except ClassNotFound:
        return "text"


def folder_page(path: str) -> str:
    """Return a page with links to what a folder has."""
    names = sorted(part for part in (ROOT / path).iterdir() if part.name[0] not in "._")
    rows = (f"- [{part.name}]({part.name})" for part in names if not part.name.endswith(".runs"))
    return "\n".join([f"# {path}/", "", *rows, ""])


def source_page(path: str) -> str:
    """Return a page with a file's source, which searches find after the documents."""
    head = (
        "search:\n  exclude: true" if Path(path).suffix in UNSEARCHED else "search:\n  boost: 0.2"
    )
    text = (ROOT / path).read_text(encoding="utf-8").rstrip()
    return f"---\n{head}\n---\n# {path}\n\n````{language(path)}\n{text}\n````\n"


def shown(output: dict[str, Any]) -> str:
    """Return an output of a notebook's cell as HTML."""
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
    """Return a notebook's cells as Markdown; its outputs, which are HTML, come in afterwards."""
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
    """Return the page that is made of a file or folder."""
    if (ROOT / path).is_dir():
        return folder_page(path)
    if path.endswith(".ipynb"):
        return notebook_page(path)
    text = (ROOT / path).read_text(encoding="utf-8")
    return text if path.endswith(".md") else source_page(path)


def is_made(path: str) -> bool:
    """Return whether the site's page of a path is not simply a file of docs/."""
    return not path.startswith("docs/") or path.endswith(".ipynb") or (ROOT / path).is_dir()


class Pages:
    """The pages that are made, and for every page the document it is of."""

    def __init__(self) -> None:
        """Follow the links of all documents, and of what they lead to."""
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
        """Return what a link of the document is in the site."""
        found = target(document, link)
        here = place(document)
        return posixpath.relpath(place(found), posixpath.dirname(here) or ".")


_outputs: list[str] = []
_pages = Pages()


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Give the site the order of docs/README.md."""
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
    """Add the pages that stand outside docs/. Only Markdown must have its place in the order."""
    for path, text in _pages.made.items():
        listed = path.endswith((".md", ".ipynb"))
        level = InclusionLevel.INCLUDED if listed else InclusionLevel.NOT_IN_NAV
        files.append(File.generated(config, place(path), content=text, inclusion=level))
    return files


def on_page_markdown(markdown: str, page: Page, **_: Any) -> str:
    """Let links lead to the site's pages; comments end, so that tables below them begin."""
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
    """Put the outputs of a notebook where its page has their numbers."""
    return _OUTPUT.sub(lambda place: f"{place[1]}{_outputs[int(place[2])]}{place[3]}", content)
