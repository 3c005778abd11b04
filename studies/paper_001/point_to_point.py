# SPDX-License-Identifier: LGPL-2.1-only
"""Figures 3, 4 and 5: a ping-pong over one switch and over three switches, in three message models.

Figure 3 is for griffon; figures 4 and 5 are for gdx, with griffon's models.

The paper gives its measured times only in figures. The affine models are therefore compared with
the piece-wise linear model, which is SMPI's default and was fitted to griffon. In addition, all
three models are fitted to the ping-pongs that ship with weft, as the paper does with its own
measurements.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from studies.paper_001.griffon import (
    GDX_SWITCH,
    HERE,
    HOSTS,
    PAGE,
    TABLES,
    compiled,
    gdx,
    griffon,
    numbers,
    plain_numbers,
    run,
)
from studies.resume import kept_rows
from studies.study import IMAGES, Study, Table, markdown, read_table, write_table
from weft.base import paths
from weft.base.measured import LogError, log_error
from weft.base.plots import look
from weft.base.process import work_directory
from weft.calibrate.measurements.samples import Floats, read_pingpong
from weft.calibrate.measurements.simulated import simulate_ping_pong
from weft.calibrate.point_to_point import fabric_file
from weft.calibrate.point_to_point.affine import Affine, best_affine
from weft.calibrate.point_to_point.p2p import calibrate

SIZES = tuple(sorted({2**k for k in range(24)} | {3 * 2**k for k in range(22)}))  # 1 B to 8 MiB


@dataclass(frozen=True)
class Route:
    """Path from the first rank to the last."""

    cluster: str
    switches: str
    ranks: int

    @property
    def name(self) -> str:
        """Name for tables and figures."""
        return f"{self.cluster}, {self.switches}"


ROUTES = {
    "one": Route("griffon", "one switch", 2),
    "three": Route("griffon", "three switches", HOSTS),
    "gdx-one": Route("gdx", "one switch", 2),
    "gdx-three": Route("gdx", "three switches", GDX_SWITCH + 1),
}
CABLE_LATENCY_S, CABLE_BYTES_PER_S = 24e-6, 125e6
"""Values of griffon's hosts in the file."""
TCP_SHARE = 0.92
"""Fraction of the bandwidth that TCP reaches: the paper's default affine model."""
MODELS = {
    "piecewise": "piece-wise linear",
    "default": "default affine",
    "best": "best-fit affine",
}
CALIBRATED = ("p2p_taurus_ethernet", "p2p_azure_hc44rs_mpi", "p2p_alaska_ib")
SEGMENTS = 3
"""The paper's value."""
MESSAGES, FITS = TABLES / "ping-pong.csv", TABLES / "calibrated.csv"

Column = dict[int, float]


def measure() -> None:
    """Run the ping-pongs, and fit the tables."""
    write_table(MESSAGES, kept_rows("paper-001", [("ping-pong", measure_messages)]))
    write_table(
        FITS,
        kept_rows("paper-001", [(f"fit-{name}", partial(fit, name)) for name in CALIBRATED]),
    )


def measure_messages() -> Table:
    """Run each model on all routes; the affine models are derived from griffon's single switch."""
    rows: Table = []
    with work_directory() as work:
        program = compiled(HERE / "first_and_last.c", work)
        platforms = {"griffon": griffon(), "gdx": gdx(work)}
        one_switch = ping_pong(program, ROUTES["one"], platforms, ())
        for name, route in ROUTES.items():
            for model, settings in models(one_switch).items():
                rows += [
                    {
                        "switches": name,
                        "model": model,
                        "bytes": str(size),
                        "seconds": f"{time:.9g}",
                    }
                    for size, time in ping_pong(program, route, platforms, settings).items()
                ]
    return rows


def ping_pong(
    program: Path, route: Route, platforms: Mapping[str, Path], settings: tuple[str, ...]
) -> Column:
    """Return the one-way time of each size."""
    arguments = (",".join(map(str, SIZES)),)
    config = ("smpi/wtime:0", *settings)
    platform = platforms[route.cluster]
    lines, _ = run(program, route.ranks, arguments, platform=platform, config=config)
    return {int(size): seconds for size, seconds in numbers(lines)}


def models(one_switch: Column) -> dict[str, tuple[str, ...]]:
    """Return the SimGrid settings of each model."""
    default = Affine(one_switch[1], TCP_SHARE * CABLE_BYTES_PER_S)
    best = best_affine(*_arrays(one_switch))
    return {"piecewise": (), "default": _settings(default), "best": _settings(best)}


def _arrays(times: Column) -> tuple[Floats, Floats]:
    return np.array(list(times), dtype=float), np.array(list(times.values()))


def _settings(model: Affine) -> tuple[str, ...]:
    return (
        f"network/latency-factor:{model.latency_s / (2 * CABLE_LATENCY_S):.9g}",
        f"network/bandwidth-factor:{model.bandwidth_Bps / CABLE_BYTES_PER_S:.9g}",
    )


def fit(name: str) -> Table:
    """Fit the models to a measured table; simulate the piece-wise linear model."""
    pingpong = read_pingpong(paths.data(f"{name}.csv"))
    calibration = calibrate(pingpong, SEGMENTS)
    simulated = simulate_ping_pong(
        fabric_file.render(calibration, name, None), list(calibration.measured)
    )
    errors = {"piecewise": log_error(simulated, calibration.measured)}
    errors |= {name: calibration.error(f"{MODELS[name]}") for name in ("default", "best")}
    return [
        {
            "table": name,
            "rows": str(len(calibration.measured)),
            "model": model,
            "mean_error": f"{error.mean:.6g}",
            "worst_error": f"{error.worst:.6g}",
        }
        for model, error in errors.items()
    ]


def read() -> Mapping[tuple[str, str], Column]:
    """Return the times of the table by route and model."""
    found: dict[tuple[str, str], Column] = {}
    for row in read_table(MESSAGES):
        column = found.setdefault((row["switches"], row["model"]), {})
        column[int(row["bytes"])] = float(row["seconds"])
    return found


def messages_table() -> str:
    """Return the deviation of the affine models from the piece-wise linear model."""
    times = read()
    rows = []
    for key, route in ROUTES.items():
        for model in ("default", "best"):
            error = log_error(times[key, model], times[key, "piecewise"])
            rows.append((f"{route.name}: {MODELS[model]}", *_cells(error)))
    return markdown(("against the piece-wise linear model", "mean error", "worst"), rows)


def fits_table() -> str:
    """Return the deviation of each model from measurements."""
    rows = []
    for name in CALIBRATED:
        own = {row["model"]: row for row in read_table(FITS) if row["table"] == name}
        cells = [f"`{name}`", own["piecewise"]["rows"]]
        for model in MODELS:
            error = LogError(*(float(own[model][f"{part}_error"]) for part in ("mean", "worst")))
            cells.append(" / ".join(_cells(error)))
        rows.append(cells)
    return markdown(("measured", "rows", *MODELS.values()), rows)


def _cells(error: LogError) -> tuple[str, str]:
    return f"{error.mean:.1%}", f"{error.worst:.1%}"


def draw() -> Figure:
    """Plot the time against size, one panel per route."""
    times = read()
    figure = Figure(figsize=(11, 8.8), layout="constrained")
    panels = figure.subplots(2, 2, sharey=True).flat
    for axes, route in zip(panels, ROUTES, strict=True):
        _draw_route(axes, route, times)
    return figure


def _draw_route(axes: Axes, route: str, times: Mapping[tuple[str, str], Column]) -> None:
    for number, (model, name) in enumerate(MODELS.items()):
        column = times[route, model]
        axes.plot(
            list(column), [1e6 * time for time in column.values()], label=name, **look(number)
        )
    axes.set(xscale="log", yscale="log", title=ROUTES[route].name)
    axes.set(xlabel="message size, B", ylabel="one way, µs")
    plain_numbers(axes.xaxis)
    plain_numbers(axes.yaxis)
    axes.grid(visible=True, color="#dddddd", linewidth=0.7)
    axes.legend(frameon=False)


STUDY = Study(
    name="paper-001-messages",
    about="ping-pongs on griffon and gdx by three models of messages",
    measure=measure,
    figures=lambda: {IMAGES / "paper-001-messages.png": draw()},
    page=PAGE,
    texts=lambda: {
        "table: paper-001 messages": messages_table(),
        "table: paper-001 fits": fits_table(),
    },
)
