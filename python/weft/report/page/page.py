# SPDX-License-Identifier: LGPL-2.1-only
"""The page: a self-contained file with data and scripts, which makes no network requests.

Strings of campaigns (names, messages, commands) are untrusted. HTML text is escaped here, JSON
contains no `<` that could end a script, the page's script only ever sets text, and the page's
content security policy permits only the scripts whose digests it lists.
"""

import base64
import hashlib
import json
import re
from collections.abc import Mapping
from html import escape
from typing import Any

from weft.report.data.study import Study
from weft.report.page import charts, jobs, losses, payload, runtime, sections, training
from weft.report.page.provenance import versions
from weft.report.page.sentences import question


def render(study: Study) -> str:
    """Return the page of a study."""
    vega, script = runtime.vega(), runtime.script()
    if any("</script" in one.lower() or "<!--" in one for one in (vega, script)):
        raise ValueError("a script of the page would end before its end")
    parts = {
        "hashes": " ".join(f"'sha256-{_digest(one)}'" for one in (vega, script)),
        "weft": escape(dict(versions())["weft"]),
        "title": escape(study.name),
        "style": runtime.asset("report.css"),
        "about": escape(sections.about(study)),
        "question": escape(question(study)),
        "answer": sections.by_baseline(study, sections.answer),
        "basis": sections.by_baseline(study, sections.basis),
        "verdicts": sections.by_baseline(study, sections.verdict_table),
        "charts": _charts(study),
        "jobs": jobs.section(study),
        "losses": losses.section(study),
        "failures": sections.failures(study),
        "made": sections.made(study),
        "rows": escape(sections.number_of_rows(study)),
        "footer": escape(sections.footer()),
        "data": _json(payload.payload(study)),
        "specs": _json(charts.specs()),
        "vega": vega,
        "script": script,
    }
    return _filled(runtime.asset("page.html"), parts)


def _charts(study: Study) -> str:
    """Return the sections with charts of programs, and of training iterations."""
    found = training.trains(study)
    programs = "" if study.only_trains else runtime.asset("programs.html")
    return programs + (runtime.asset("training.html") if any(found) else "")


def _filled(template: str, parts: Mapping[str, str]) -> str:
    """Fill all placeholders in a single pass, so that values are not expanded again."""
    return re.sub(r"\{\{(\w+)\}\}", lambda found: parts[found[1]], template)


def _digest(script: str) -> str:
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()


def _json(value: Any) -> str:
    """Return JSON that is safe inside a page: it cannot open a tag or a comment."""
    text = json.dumps(value, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
