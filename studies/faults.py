# SPDX-License-Identifier: LGPL-2.1-only
"""docs/faults.md: the keys of fault files, as defined in the code.

The study measures nothing.
"""

from studies.study import DOCS, Study, markdown
from weft.runs.faults import presets
from weft.runs.faults.file import FAULT, RECOVERY


def texts() -> dict[str, str]:
    """Return the text of each generated section."""
    return {
        **{
            name: markdown(
                ("key", ""), [(f"`{word}`", key.meaning) for word, key in keys.items()], 2
            )
            for name, keys in (("table: fault file", FAULT), ("table: recovery", RECOVERY))
        },
        "table: rates": _rates(),
        "table: transport": _transport(),
        "table: routing": _routing(),
    }


def _rates() -> str:
    rows = [
        (
            f"[`{name}`](../presets/faults/{name}.toml)",
            rate.kind.meaning,
            f"{rate.mtbf_s / presets.DAY_S:,.0f}",
        )
        for name in presets.rate_presets()
        for rate in presets.rates(name)
    ]
    return markdown(("`rates`", "of", "mean time between failures of each, days"), rows, 2)


def _transport() -> str:
    rows = []
    for name in presets.transport_presets():
        found = presets.transport(name).values
        rows.append(
            (
                f"[`{name}`](../presets/recovery/{name}.toml)",
                *(str(found[key]) for key in ("timeout", "backoff", "retries", "packet")),
            )
        )
    heads = ("`transport`", "timeout", "backoff", "retries", "packet")
    return markdown(heads, rows, 1)


def _routing() -> str:
    rows = [
        (f"[`{name}`](../presets/routing/{name}.toml)", *(f"{times[key]}" for key in times))
        for name in presets.routing_presets()
        for times in [presets.routing(name).values]
    ]
    return markdown(("`routing`", "detection", "convergence"), rows)


STUDY = Study(
    "faults",
    "the keys of fault files, as the program knows them",
    measure=lambda: None,
    page=DOCS / "faults.md",
    texts=texts,
)
