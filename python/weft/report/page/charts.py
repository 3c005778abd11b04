# SPDX-License-Identifier: LGPL-2.1-only
"""Vega-Lite charts of a report, for rows that the page's script selects.

The open page supplies rows as the data set `rows`, with field names shared by this module and
assets/charts.js. Colours, sizes and the order of names are set by the page, as they depend on its
width and theme.
"""

from typing import Any

import altair as alt

_Chart = Any
"""Altair's chart types differ by the last method called."""
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
        "ranking": _ranking(),
        "latency": _lines("size", quantitative=True),
        "latency_by": _lines("x", quantitative=False),
        "latency_bars": _bars(alt.Axis(labelExpr=_TIME, title="mean time of a call", tickCount=5)),
        "shares": _shares(),
        "use": _use(),
        "losses": _losses(),
        "parts": _parts(),
        "timeline": _timeline(),
        "use_bars": _bars(alt.Axis(title=None, tickCount=5)),
    }
    return {name: _plain(chart.to_dict()) for name, chart in charts.items()}


def _plain(spec: dict[str, Any]) -> dict[str, Any]:
    """Remove Altair's theme configuration and the address of the schema."""
    return {key: value for key, value in spec.items() if key not in ("$schema", "config")}


def _map() -> _Chart:
    """Return a map: each cell is a combination, coloured by the gain from offloading."""
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
    """Return bars, which replace maps with one cell each, and a line at a gain of 1."""
    base = alt.Chart(_ROWS).encode(
        y=_names(), x=alt.X("value:Q", axis=alt.Axis(tickCount=5)), tooltip=_TIP
    )
    bars = base.mark_bar(color=alt.expr("datum.fill"), opacity=0.5)  # whiskers show through
    labels = base.mark_text(align="left", dx=5).encode(x="end:Q", text="label:N")
    one = alt.Chart(_ROWS).mark_rule(strokeDash=[4, 3]).encode(x=alt.XDatum(1))
    return alt.layer(bars, _whiskers(base), one, labels)


def _ranking() -> _Chart:
    """Return a point for each program, fabric and mode, with a line from its least to its most."""
    base = alt.Chart(_ROWS).encode(
        y=_names(), x=alt.X("value:Q", axis=alt.Axis(tickCount=5)), tooltip=_TIP
    )
    points = base.mark_point(filled=True, size=70, opacity=1, color=alt.expr("datum.fill"))
    labels = base.mark_text(align="left", dx=8).encode(x="end:Q", text="label:N")
    one = alt.Chart(_ROWS).mark_rule(strokeDash=[4, 3]).encode(x=alt.XDatum(1))
    return alt.layer(_whiskers(base), points, one, labels)


def _whiskers(base: _Chart) -> _Chart:
    """Return lines from `low` to `high`, for rows where they differ."""
    there = base.transform_filter("datum.low < datum.high")
    return there.mark_rule(strokeWidth=1.5).encode(x=alt.X("low:Q"), x2="high:Q")


def _lines(field: str, *, quantitative: bool) -> _Chart:
    """Return mean call times by executor; measured points are larger, open, of the same colour."""
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
    """Return bars from zero for one message size or position; measured ones are open."""
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
    """Return bar names, in the lines that the page's script breaks them into."""
    lines = alt.Axis(labelExpr="split(datum.label, '\\n')", labelLimit=1000)
    return alt.Y("who:N", sort=alt.EncodingSortField("wi", op="min"), title=None, axis=lines)


def _stacked(x: alt.X) -> _Chart:
    """Return a bar for each name, of parts on the axis `x`."""
    part = alt.Color("part:N", legend=None)
    bars = alt.Chart(_ROWS).mark_bar()
    return bars.encode(y=_names(), x=x, color=part, order=alt.Order("pi:Q"), tooltip=_TIP)


def _shares() -> _Chart:
    """Return the breakdown of the simulated time, by program and offload mode."""
    axis = alt.Axis(format="%", title="fraction of the simulated time", tickCount=5)
    return _stacked(alt.X("share:Q", stack="zero", scale=alt.Scale(domain=[0, 1]), axis=axis))


def _parts() -> _Chart:
    """Return the parts of iterations, as bars that add up to their time."""
    axis = alt.Axis(labelExpr=_TIME, title="mean time of a rank", tickCount=5)
    return _stacked(alt.X("value:Q", stack="zero", axis=axis))


def _timeline() -> _Chart:
    """Return a row for each rank of an iteration, with its uses of time."""
    return (
        alt.Chart(_ROWS)
        .mark_bar(height=alt.RelativeBandSize(0.8))
        .encode(
            y=alt.Y("rank:N", sort=alt.EncodingSortField("ri", op="min"), title=None),
            x=alt.X("begin:Q", axis=alt.Axis(labelExpr=_TIME, title="simulated time", tickCount=5)),
            x2="end:Q",
            color=alt.Color("use:N", legend=None),
            tooltip=_TIP,
        )
    )


def _use() -> _Chart:
    """Return the utilisation of links and slots along the horizontal axis."""
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


def _losses() -> _Chart:
    """Return the time lost to faults: medians as points, side by side per mode and reaction."""
    base = alt.Chart(_ROWS).encode(
        x=alt.X(
            "x:N",
            sort=alt.EncodingSortField("xi", op="min"),
            scale=alt.Scale(paddingInner=0.6),
            title=None,
        ),
        xOffset=alt.XOffset("way:N"),
        color=alt.Color("way:N", legend=None),
    )
    axis = alt.Axis(labelExpr=_TIME, title="simulated time lost")
    several = base.transform_filter("datum.low < datum.high")
    whiskers = several.mark_rule(strokeWidth=1.5).encode(y=alt.Y("low:Q", axis=axis), y2="high:Q")
    points = base.mark_point(filled=True, size=70, opacity=1).encode(
        y=alt.Y("value:Q", scale=alt.Scale(zero=True), axis=axis),
        shape=alt.Shape("way:N", legend=None),
        tooltip=_TIP,
    )
    return alt.layer(whiskers, points)
