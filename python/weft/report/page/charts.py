# SPDX-License-Identifier: LGPL-2.1-only
"""The charts of a report, as Vega-Lite: what they show of the rows that the page's program chooses.

Rows come as the data set `rows` when the page is open; their fields are named here and in
assets/charts.js. Colours, sizes and the orders of names are the page's, as they depend on its width
and theme.
"""

from typing import Any

import altair as alt

_Chart = Any
"""Altair's types of charts differ by what is called on them last."""
_ROWS = alt.NamedData(name="rows")
_TIP = alt.Tooltip("tip:N")
_SIZE = (
    "datum.value < 1024 ? datum.value + ' B' : datum.value < 1048576 ? datum.value / 1024 + ' KiB'"
    " : datum.value < 1073741824 ? datum.value / 1048576 + ' MiB'"
    " : datum.value / 1073741824 + ' GiB'"
)
_TIME = (
    "datum.value < 1e-6 ? format(datum.value * 1e9, '~g') + ' ns'"
    " : datum.value < 1e-3 ? format(datum.value * 1e6, '~g') + ' µs'"
    " : datum.value < 1 ? format(datum.value * 1e3, '~g') + ' ms'"
    " : format(datum.value, '~g') + ' s'"
)


def specs() -> dict[str, dict[str, Any]]:
    """Return all charts by name."""
    charts = {
        "map": _map(),
        "map_bars": _map_bars(),
        "latency": _lines("size", quantitative=True),
        "latency_by": _lines("x", quantitative=False),
        "latency_bars": _bars(alt.Axis(labelExpr=_TIME, title=None, tickCount=5)),
        "shares": _shares(),
        "use": _use(),
        "use_bars": _bars(alt.Axis(title=None, tickCount=5)),
    }
    return {name: _plain(chart.to_dict()) for name, chart in charts.items()}


def _plain(spec: dict[str, Any]) -> dict[str, Any]:
    """Leave out what Altair adds for its own themes, and the address of the schema."""
    return {key: value for key, value in spec.items() if key not in ("$schema", "config")}


def _map() -> _Chart:
    """One of the maps: a cell is a combination, its colour what offloading gains."""
    across = alt.X("x:N", sort=alt.EncodingSortField("xi", op="min"), title=None)
    down = alt.Y("y:N", sort=alt.EncodingSortField("yi", op="min"), title=None)
    base = alt.Chart(_ROWS).encode(x=across, y=down, tooltip=_TIP)
    others = base.transform_filter("!isValid(datum.log)").mark_rect(color="#8b949e", opacity=0.25)
    compared = (
        base.transform_filter("isValid(datum.log)")
        .mark_rect()
        .encode(color=alt.Color("log:Q", legend=None))
    )
    labels = base.mark_text(fontSize=11, color=alt.expr("datum.ink")).encode(text="label:N")
    return alt.layer(others, compared, labels)


def _map_bars() -> _Chart:
    """Return bars in place of maps of one cell each, and a line at which nothing is gained."""
    base = alt.Chart(_ROWS).encode(
        y=_names(), x=alt.X("value:Q", title=None, axis=None), tooltip=_TIP
    )
    bars = base.mark_bar(color=alt.expr("datum.fill"))
    labels = base.mark_text(align="left", dx=5).encode(text="label:N")
    one = alt.Chart(_ROWS).mark_rule(strokeDash=[4, 3]).encode(x=alt.XDatum(1, axis=None))
    return alt.layer(bars, one, labels)


def _lines(field: str, *, quantitative: bool) -> _Chart:
    """Mean time of a call by way; measured points beside, of the same colour, larger and open."""
    if quantitative:
        across: alt.X = alt.X(
            "size:Q",
            scale=alt.Scale(type="log", base=2),
            axis=alt.Axis(labelExpr=_SIZE, title="message of one call", grid=True),
        )
    else:
        across = alt.X(f"{field}:N", sort=alt.EncodingSortField("xi", op="min"), title=None)
    base = alt.Chart(_ROWS).encode(
        x=across,
        y=alt.Y(
            "time:Q",
            scale=alt.Scale(type="log"),
            axis=alt.Axis(labelExpr=_TIME, title="mean time of a call"),
        ),
        color=alt.Color("way:N", legend=None),
    )
    simulated = base.transform_filter("!datum.measured")
    band = simulated.mark_area(opacity=0.15).encode(y=alt.Y("low:Q"), y2="high:Q")
    line = simulated.mark_line(strokeWidth=2).encode(
        strokeDash=alt.StrokeDash("way:N", legend=None)
    )
    point = simulated.mark_point(filled=True, size=45, opacity=1).encode(
        shape=alt.Shape("way:N", legend=None), tooltip=_TIP
    )
    real = base.transform_filter("datum.measured").mark_point(
        filled=False, size=110, strokeWidth=2, opacity=0.9
    )
    return alt.layer(
        band, line, point, real.encode(shape=alt.Shape("way:N", legend=None), tooltip=_TIP)
    )


def _bars(axis: alt.Axis) -> _Chart:
    """Values of one message size or place, from zero; measured ones are open."""
    base = alt.Chart(_ROWS).encode(
        y=_names(), x=alt.X("value:Q", scale=alt.Scale(zero=True), axis=axis), tooltip=_TIP
    )
    simulated = base.transform_filter("!datum.measured").mark_bar()
    real = base.transform_filter("datum.measured").mark_bar(filled=False, strokeWidth=2)
    color = alt.Color("way:N", legend=None)
    spread = (
        base.transform_filter("datum.low < datum.high")
        .mark_rule(strokeWidth=1.5)
        .encode(x=alt.X("low:Q"), x2="high:Q")
    )
    return alt.layer(simulated.encode(color=color), real.encode(color=color), spread)


def _names() -> alt.Y:
    """Names of bars, in the lines that the page's program breaks them into."""
    lines = alt.Axis(labelExpr="split(datum.label, '\\n')", labelLimit=1000)
    return alt.Y("who:N", sort=alt.EncodingSortField("wi", op="min"), title=None, axis=lines)


def _shares() -> _Chart:
    """Parts of the simulated time, by program and way to offload."""
    return (
        alt.Chart(_ROWS)
        .mark_bar()
        .encode(
            y=_names(),
            x=alt.X(
                "share:Q",
                stack="zero",
                scale=alt.Scale(domain=[0, 1]),
                axis=alt.Axis(format="%", title=None, tickCount=5),
            ),
            color=alt.Color("part:N", legend=None),
            order=alt.Order("pi:Q"),
            tooltip=_TIP,
        )
    )


def _use() -> _Chart:
    """How much of links and slots is used, by the axis from left to right."""
    base = alt.Chart(_ROWS).encode(
        x=alt.X("x:N", sort=alt.EncodingSortField("xi", op="min"), title=None),
        color=alt.Color("way:N", legend=None),
    )
    band = base.mark_area(opacity=0.15).encode(y=alt.Y("low:Q"), y2="high:Q")
    middle = alt.Y("value:Q", title=None, scale=alt.Scale(zero=True))
    line = base.mark_line(strokeWidth=2).encode(
        y=middle, strokeDash=alt.StrokeDash("way:N", legend=None)
    )
    point = base.mark_point(filled=True, size=45, opacity=1).encode(
        y=middle, shape=alt.Shape("way:N", legend=None), tooltip=_TIP
    )
    return alt.layer(band, line, point)
