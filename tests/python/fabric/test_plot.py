# SPDX-License-Identifier: LGPL-2.1-only
"""Pictures of fabrics: layout, drawing, and the load of a run."""

import itertools
import math
from pathlib import Path
from typing import Any

import numpy
import pytest
from matplotlib import image
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_rgb

from tests.support.fabrics import HOSTS, LARGE, SMALL, load
from weft import _core
from weft.base.errors import WeftError
from weft.cli.fabric import plot as plot_command
from weft.fabric import picture
from weft.fabric.graph import Graph
from weft.fabric.layout import lay_out
from weft.fabric.traffic import Traffic, read_traffic
from weft.fabric.traffic import traffic_of as loads_of
from weft.runs.record import Record, write_record
from weft.runs.record_data import (
    FabricPart,
    JobLinkPart,
    JobPart,
    LinkPart,
    OutcomePart,
    SwitchPart,
)

SMART, PLAIN = (to_rgb(picture._COLOURS[kind]) for kind in ("smart", "plain"))
FOUR_HOSTS_EACH = {"groups": ["4"], "routers": ["4"], "hosts": ["4"]}
MIXED = """
[fabric]
name = "mixed"
[topology]
kind = "fat_tree"
down = [4, 4]
up = [1, 2]
[host]
preset = "xeon-8360"
[nic]
preset = "connectx-6-dx"
[switch]
preset = "l2"
[[switches]]
match = "level1-*"
preset = "tofino"
[link]
bandwidth = "100Gbps"
latency = "1us"
"""


def pixels(path: Path) -> numpy.ndarray:
    return image.imread(path)[:, :, :3].reshape(-1, 3)


def share(path: Path, colour: tuple[float, float, float]) -> float:
    """Return the fraction of a picture that has a given colour."""
    return float(numpy.mean(numpy.all(abs(pixels(path) - colour) < 0.01, axis=1)))


def record_of(fabric: _core.Fabric, utilisation: float = 0.5, reduced: int = 4096) -> Record:
    """Return the record of a run that used only the first cable and the first switch."""
    cables = fabric.cables()
    links = [f"{cable['name']}.{way}" for cable in cables for way in ("up", "down")]
    used = {links[1]: utilisation}
    return Record(
        weft="",
        simgrid="",
        fabric=FabricPart(
            name=fabric.name,
            file="",
            topology=fabric.topology,
            hosts=len(fabric.hosts),
            switches=len(fabric.switches),
            links=fabric.links,
        ),
        ranks=4,
        hosts_used=4,
        offload="stream",
        outcome=OutcomePart(kind="completed"),
        simulated_time_s=1e-3,
        program="/somewhere/program",
        links=[
            LinkPart(name=name, bandwidth_Bps=1e9, bytes=1.0, utilisation=used.get(name, 0.0))
            for name in links
        ],
        switches=[
            SwitchPart(
                name=switch["name"],
                offloaded=1,
                bytes_reduced=reduced if position == 0 else 0,
                bytes_multicast=0,
                slots_used_max=1,
                channels_used_max=1,
            )
            for position, switch in enumerate(fabric.switches)
        ],
    )


def traffic_of(fabric: _core.Fabric, directory: Path, record: Record) -> Traffic:
    path = directory / "record.json"
    write_record(record, path)
    return read_traffic(path, fabric)


# ---- Graph and layout ----


def test_levels_are_distances_to_hosts(tmp_path: Path) -> None:
    graph = Graph(load(tmp_path, "fat_tree", LARGE["fat_tree"]))
    assert [graph.levels.count(level) for level in range(4)] == [1024, 128, 128, 64]
    assert graph.layered


@pytest.mark.parametrize("kind", SMALL)
def test_stars_and_fat_trees_have_layers(tmp_path: Path, kind: str) -> None:
    assert Graph(load(tmp_path, kind)).layered == (kind in ("star", "fat_tree"))


@pytest.mark.parametrize("kind", ["torus", "dragonfly"])
def test_circles_are_what_belongs_together(tmp_path: Path, kind: str) -> None:
    """The groups are the groups of a Dragonfly; in a torus, two of its four dimensions."""
    graph = Graph(load(tmp_path, kind, LARGE[kind]))
    assert graph.groups() == [range(first, first + 16) for first in range(0, 256, 16)]


@pytest.mark.parametrize("kind", SMALL)
def test_few_hosts_are_drawn_one_by_one(tmp_path: Path, kind: str) -> None:
    fabric = load(tmp_path, kind)
    marks = Graph(fabric).marks(HOSTS)
    names = [*fabric.hosts, *(switch["name"] for switch in fabric.switches)]
    assert [mark.name for mark in marks] == names


@pytest.mark.parametrize("kind", LARGE)
def test_many_hosts_are_one_mark_a_switch(tmp_path: Path, kind: str) -> None:
    fabric = load(tmp_path, kind, LARGE[kind])
    hosts = [mark for mark in lay_out(Graph(fabric)).marks if mark.switch is None]
    assert sum(int(mark.name) for mark in hosts) == len(fabric.hosts)
    assert len(hosts) == {"fat_tree": 128}.get(kind, 256)


def test_hosts_at_the_same_two_switches_are_one_mark(tmp_path: Path) -> None:
    fabric = load(tmp_path, "fat_tree", {"down": ["40,2"], "up": ["2,2"]})
    marks = lay_out(Graph(fabric)).marks
    assert [mark.name for mark in marks if mark.switch is None] == ["40", "40"]


def test_cables_between_the_same_two_vertices_are_drawn_once(tmp_path: Path) -> None:
    graph = Graph(load(tmp_path, "fat_tree"))
    bundles = graph.bundles(graph.marks(HOSTS))
    assert sorted(cable for bundle in bundles for cable in bundle.cables) == list(range(32))
    assert [bundle.parallel for bundle in bundles] == [1] * 16 + [2] * 8


@pytest.mark.parametrize(
    ("kind", "options"), [*SMALL.items(), *LARGE.items(), ("dragonfly", FOUR_HOSTS_EACH)]
)
def test_marks_have_room(tmp_path: Path, kind: str, options: dict[str, list[str]]) -> None:
    layout = lay_out(Graph(load(tmp_path, kind, options)))
    assert not any(math.isnan(number) for place in layout.places for number in place)
    for one, other in itertools.combinations(layout.places, 2):
        assert math.dist(one, other) > 0.49


# ---- Files ----


@pytest.mark.parametrize("kind", SMALL)
def test_a_picture_shows_something(tmp_path: Path, kind: str) -> None:
    picture.plot(load(tmp_path, kind), tmp_path / "x.png")
    assert 0.02 < 1 - share(tmp_path / "x.png", (1.0, 1.0, 1.0)) < 0.5
    assert share(tmp_path / "x.png", SMART) > 0.0005


def test_a_picture_without_width_shows_its_cables(tmp_path: Path) -> None:
    """All nodes are in one column; a cable listed in reverse is drawn next to the first."""
    cables = ["a,x", "b,y", "x,y", "y,x"]
    fabric = load(tmp_path, "custom", {"hosts": ["a,b"], "switches": ["x,y"], "cables": cables})
    assert [bundle.parallel for bundle in lay_out(Graph(fabric)).bundles] == [1, 1, 2]
    picture.plot(fabric, tmp_path / "x.png")
    assert share(tmp_path / "x.png", to_rgb(picture._CABLE)) > 0.001


@pytest.mark.parametrize("kind", ["fat_tree", "torus"])
@pytest.mark.slow
def test_a_picture_of_1024_hosts_shows_all_switches(tmp_path: Path, kind: str) -> None:
    picture.plot(load(tmp_path, kind, LARGE[kind]), tmp_path / "x.png")
    assert share(tmp_path / "x.png", SMART) > 0.002


@pytest.mark.parametrize("suffix", [".png", ".svg", ".pdf"])
def test_a_picture_is_the_same_whenever_it_is_drawn(tmp_path: Path, suffix: str) -> None:
    fabric = load(tmp_path, "fat_tree")
    traffic = traffic_of(fabric, tmp_path, record_of(fabric))
    files = [tmp_path / f"{number}{suffix}" for number in range(2)]
    for file in files:
        picture.plot(fabric, file, traffic)
    assert files[0].read_bytes() == files[1].read_bytes()


def test_smart_switches_do_not_look_like_plain_ones(tmp_path: Path) -> None:
    fabrics = {}
    for name, text in (
        ("mixed", MIXED),
        ("smart", MIXED.replace('"l2"', '"tofino"')),
        ("plain", MIXED.replace('"tofino"', '"l2"')),
    ):
        (tmp_path / "x.toml").write_text(text)
        picture.plot(_core.load_fabric(str(tmp_path / "x.toml")), tmp_path / "x.png")
        fabrics[name] = share(tmp_path / "x.png", SMART)
    assert fabrics["plain"] == 0 < fabrics["mixed"] < fabrics["smart"]


@pytest.mark.parametrize("leaves", [8, 32, 48])
def test_names_of_leaf_switches_cover_no_mark_and_are_covered_by_none(
    tmp_path: Path, leaves: int
) -> None:
    fabric = load(tmp_path, "fat_tree", {"down": [f"16,{leaves}"], "up": ["1,4"]})
    figure = picture._Picture(fabric, None).draw()
    canvas: Any = FigureCanvasAgg(figure)
    canvas.draw()
    (axes, *_) = figure.axes
    shown = {text.get_text(): text for text in axes.texts}
    assert {switch["name"] for switch in fabric.switches} <= set(shown)
    marks = numpy.concatenate([one.get_offsets() for one in axes.collections[1:]])
    at = axes.transData.transform(marks)
    for switch in fabric.switches:
        box = shown[switch["name"]].get_window_extent(canvas.get_renderer())
        assert not any(box.contains(x, y) for x, y in at)


# ---- Records ----


def test_a_record_colours_what_was_used(tmp_path: Path) -> None:
    fabric = load(tmp_path, "fat_tree")
    traffic = traffic_of(fabric, tmp_path, record_of(fabric))
    assert traffic.utilisation([0]) == traffic.utilisation_max == 0.5
    assert traffic.utilisation([1, 2, 3]) == 0
    assert traffic.reduced_max == 4096
    assert traffic.title == "program on 4 ranks, offload stream, 1 ms of simulated time"
    picture.plot(fabric, tmp_path / "x.png", traffic)
    busiest, most = (
        picture._scale(scale)(1.0)[:3] for scale in (picture._LINK_SCALE, picture._SWITCH_SCALE)
    )
    for colour in (busiest, most, to_rgb(picture._UNUSED)):
        assert share(tmp_path / "x.png", colour) > 0.0001


def test_a_run_that_moved_nothing_can_be_drawn(tmp_path: Path) -> None:
    fabric = load(tmp_path, "star")
    traffic = traffic_of(fabric, tmp_path, record_of(fabric, utilisation=0.0, reduced=0))
    picture.plot(fabric, tmp_path / "x.png", traffic)
    assert share(tmp_path / "x.png", to_rgb(picture._UNUSED)) > 0.0001


def test_a_record_must_be_of_this_fabric(tmp_path: Path) -> None:
    fabric, other = load(tmp_path, "star"), load(tmp_path, "fat_tree")
    with pytest.raises(WeftError) as error:
        traffic_of(fabric, tmp_path, record_of(other))
    assert str(error.value) == (
        f"record: {tmp_path}/record.json is not a run on 'star' with 32 links: it ran on 'fat_tree'"
        " with 64 links; name the fabric of the run"
    )


def test_a_record_must_name_this_fabrics_links(tmp_path: Path) -> None:
    """Other topologies may have the same name and number of links."""
    fabric = load(tmp_path, "star")
    record = record_of(fabric)
    record.links[0].name = "somewhere.up"
    with pytest.raises(WeftError, match=r"it has a link 'somewhere\.up'; name the fabric"):
        traffic_of(fabric, tmp_path, record)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("tofino-4 -o x.jpg", "-o: found 'x.jpg'; its name must end in one of .png, .pdf, .svg"),
        ("tofino-4 -o no/x.png", "-o: cannot write no/x.png: there is no directory "),
        ("tofino-5 -o x.png", 'fabric "tofino-5": there is no such file'),
        (
            "tofino-4 -o x.png --record no.json",
            "record: no.json is not a record of a run: cannot be",
        ),
    ],
)
def test_mistakes_are_one_message(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: str, message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises((WeftError, _core.UserError)) as error:
        plot_command.main(arguments.split(), standalone_mode=False)
    assert str(error.value).startswith(message)
    assert list(tmp_path.iterdir()) == []


# ---- Jobs ----


def record_of_jobs(fabric: _core.Fabric) -> Record:
    """Return a record in which a job sends a quarter of the traffic on the busiest link."""
    record = record_of(fabric)
    link = max(record.links, key=lambda one: one.utilisation)
    done = OutcomePart(kind="completed")
    record.jobs = [
        JobPart(
            name=name,
            ranks=2,
            hosts_used=1,
            hosts=hosts,
            offload="off",
            start_s=0,
            end_s=1e-3,
            outcome=done,
            exit_status=0,
            links=[JobLinkPart(name=link.name, bytes=share * link.bytes, share=share)],
        )
        for name, share, hosts in (("a", 0.25, [fabric.hosts[0]]), ("b", 0.75, [fabric.hosts[1]]))
    ]
    return record


def test_a_job_is_shown_with_its_traffic_and_hosts(tmp_path: Path) -> None:
    fabric = load(tmp_path, "star")
    path = tmp_path / "record.json"
    write_record(record_of_jobs(fabric), path)
    assert read_traffic(path, fabric).utilisation_max == 0.5
    assert read_traffic(path, fabric).title.startswith("2 jobs on 4 ranks")
    traffic = read_traffic(path, fabric, "a")
    assert traffic.utilisation_max == 0.125
    assert traffic.hosts == {fabric.hosts[0]}
    assert traffic.title == (
        "traffic of job a with 2 ranks on 1 host, offload off, 1 ms of simulated time"
    )
    short = record_of_jobs(fabric)
    assert short.jobs
    short.jobs[0].end_s = short.simulated_time_s / 2
    write_record(short, path)
    assert read_traffic(path, fabric, "a").utilisation_max == 0.25, "of the job's time"
    picture.plot(fabric, tmp_path / "x.png", traffic)
    assert share(tmp_path / "x.png", to_rgb(picture._OF_JOB)) > 0.0001


@pytest.mark.parametrize(
    ("jobs", "name", "message"),
    [
        (True, "c", "job: the record has no job c; allowed are a, b"),
        (False, "a", "job: the record is a run of one program; leave job out"),
    ],
)
def test_unknown_jobs_are_refused(tmp_path: Path, jobs: bool, name: str, message: str) -> None:
    fabric = load(tmp_path, "star")
    record = record_of_jobs(fabric) if jobs else record_of(fabric)
    with pytest.raises(WeftError) as error:
        loads_of(record, fabric, job=name)
    assert str(error.value) == message
