# SPDX-License-Identifier: LGPL-2.1-only
"""Properties of a fabric survive round trips: an exported platform, and a plan's fabric file.

The fabrics are random. A run on the exported platform produces the same record as a run on the
fabric, with times within a thousandth (simultaneous flows share links in another order), except for
features that a platform cannot express; the export reports these features by name.
"""

import json
import tomllib
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from tests.support import simulated
from tests.support.fabrics import SMALL
from tests.support.simulated import Program
from weft import _core
from weft.cli.fabric import fabric as fabric_command
from weft.fabric import export
from weft.fabric.template import Template, render
from weft_testbed.hardware import inventory
from weft_testbed.plan import fabric as planned
from weft_testbed.plan import plan, wanted_topology

CALLS = (
    "int-sum",
    "int-max",
    "long-sum",
    "reduce",
    "reduce_scatter",
    "barrier",
    "bcast",
    "allgather",
)
REDUCTIONS = ("allreduce", "reduce", "reduce_scatter")
OTHERS = ("barrier", "bcast", "allgather", "allgatherv")

times = st.integers(0, 5000).map(lambda ns: f"{ns}ns")
rates = st.integers(1, 400).map(lambda tenths: f"{tenths / 10}GBps")


def subset(names: Sequence[str]) -> st.SearchStrategy[list[str]]:
    return st.lists(st.sampled_from(list(names)), min_size=1, unique=True)


def toml(**keys: Any) -> str:
    return "".join(f"{key} = {json.dumps(value)}\n" for key, value in keys.items())


@st.composite
def offload(draw: st.DrawFn) -> str:
    kind = draw(st.sampled_from(["reductions", "others", "converted"]))
    keys: dict[str, Any] = {"collectives": draw(subset(REDUCTIONS))}
    if kind == "others":
        keys = {"collectives": draw(subset(OTHERS))}
    elif kind == "converted":
        keys |= {"datatypes": ["MPI_FLOAT"], "operations": ["MPI_SUM"]}
        keys |= {"conversion": "fixed-point", "conversion_rate": draw(rates)}
    else:
        keys["datatypes"] = draw(subset(["MPI_INT", "MPI_LONG", "MPI_DOUBLE"]))
        keys["operations"] = draw(st.sampled_from([["MPI_SUM"], ["MPI_SUM", "MPI_MAX"], ["all"]]))
    return "[[switch.offload]]\n" + toml(**keys)


@st.composite
def switch(draw: st.DrawFn) -> str:
    """Draw a preset, a modified preset, or none with a complete table."""
    preset = draw(st.sampled_from(["tofino", "sharp", "ideal", None]))
    if preset and draw(st.booleans()):
        return "[switch]\n" + toml(preset=preset)
    channels, slots = draw(st.integers(1, 8)), draw(st.integers(1, 64))
    keys: dict[str, Any] = {"preset": preset} if preset else {}
    keys |= {"max_ports": 64, "channels": channels, "slots": slots}
    if preset or draw(st.booleans()):
        keys["total_slots"] = channels * slots + draw(st.integers(0, 9))
    for key in ("forwarding_latency", "processing_latency", "turnaround"):
        keys[key] = draw(times)
    keys |= {"payload": f"{draw(st.integers(1, 4096))}B"}
    keys |= {"packet_overhead": f"{draw(st.integers(0, 99))}B"}
    if draw(st.booleans()):
        keys["aggregation_rate"] = draw(rates)
    if draw(st.booleans()):
        keys["streaming_from"] = f"{draw(st.integers(0, 4096))}B"
    rows = draw(st.lists(offload(), min_size=0 if preset else 1, max_size=3))
    return "[switch]\n" + toml(**keys) + "".join(rows)


@st.composite
def others(draw: st.DrawFn) -> str:
    nic = {"offload_overhead": draw(times), "message_gap": draw(times)}
    if draw(st.booleans()):
        nic["offload_copy_rate"] = draw(rates)
    if draw(st.booleans()):
        nic["contributions"] = "per-host"
    text = "[nic]\n" + toml(**nic)
    if draw(st.booleans()):
        # More than SimGrid's precision of 1 ns, within which events count as simultaneous.
        overhead = st.integers(1, 9).map(lambda us: f"{us}us")
        text += "[mpi]\n" + toml(send_overhead=draw(overhead), receive_overhead=draw(overhead))
    return text


@st.composite
def fabrics(draw: st.DrawFn) -> str:
    """Draw the text of a fabric of 16 hosts."""
    kind = draw(st.sampled_from(sorted(SMALL)))
    # A platform cannot express the choice between parallel cables.
    options = {
        key: [value.removesuffix(":count=2") for value in values]
        for key, values in SMALL[kind].items()
        if key != "cables" or kind == "custom"
    }
    text = render(Template(topology=kind, options=options, name="random"))
    head, _, rest = text.partition("[nic]")
    # Hosts of a platform copy and reduce in zero time.
    free = 'speed = "76.8Gf"\ncores = 72\nloopback_bandwidth = "10GBps"\nloopback_latency = "0.4us"'
    head = head.replace('preset = "xeon-2-socket"', free)
    link = rest[rest.index("[link]") :]
    return head + draw(others()) + link.partition("# More tables")[0] + draw(switch())


def record_of(
    program: Path,
    on: Sequence[str],
    options: Sequence[str],
    target: Path,
    calls: Sequence[str] = CALLS,
) -> Any:
    command = simulated.weft_command(
        program, *calls, ranks=16, options=(*options, "--json", str(target))
    )
    at = command.index("--fabric")
    command[at : at + 2] = on
    result = simulated.run_command(command)
    assert result.status == 0, result.stderr
    return simulated.read_record(target)


def comparable(record: Any) -> Any:
    """Return the part that a platform can express: all but links, which it names by routes."""
    return {
        key: record[key]
        for key in ("collectives", "switches", "simulated_time_s", "outcome", "ranks", "hosts_used")
    }


def assert_close(found: Any, expected: Any, where: str = "") -> None:
    if isinstance(expected, dict):
        assert found.keys() == expected.keys(), where
        for key in expected:
            assert_close(found[key], expected[key], f"{where}.{key}")
    elif isinstance(expected, list):
        assert len(found) == len(expected), where
        for number, (one, other) in enumerate(zip(found, expected, strict=True)):
            assert_close(one, other, f"{where}[{number}]")
    elif isinstance(expected, float):
        # SimGrid merges events within 1 ns, and times are summed over 16 ranks.
        assert found == pytest.approx(expected, rel=1e-3, abs=16e-9), where
    else:
        assert found == expected, where


@pytest.mark.parametrize("offload", ["stream", "message"])
def test_a_platform_that_was_exported_gives_the_record_of_its_fabric(
    program: Program, tmp_path_factory: pytest.TempPathFactory, offload: str
) -> None:
    calls = program("calls.c")

    # An example takes two runs, so shrinking a failure would take minutes.
    @settings(max_examples=4, phases=[Phase.generate], derandomize=True)
    @given(st.data(), st.just(1))
    def same(data: st.DataObject, ppn: int) -> None:
        text = data.draw(fabrics())
        directory = tmp_path_factory.mktemp("trip")
        path, exported = directory / "random.toml", directory / "random.xml"
        path.write_text(text)
        lost = export.export(_core.load_fabric(str(path)), exported)
        assert [text.partition(" ")[0] for text in lost] == ["[mpi]"] * ("[mpi]" in text)
        options = ("--offload", offload, "--ppn", str(ppn))
        # SimGrid has no overhead for empty messages, as the export reports.
        told = [call for call in CALLS if call != "barrier" or not lost]
        fabric, platform = ("--fabric", str(path)), ("--platform", str(exported))
        expected = record_of(calls, fabric, options, directory / "a.json", told)
        found = record_of(calls, platform, options, directory / "b.json", told)
        assert_close(comparable(found), comparable(expected))

    same()


def test_auto_runs_on_a_platform(program: Program, tmp_path: Path) -> None:
    """Regression: it crashed on a route between hosts, for which it predicts the hosts' time."""
    for name in ("line-4", "tofino-4"):
        path = tmp_path / f"{name}.xml"
        export.export(_core.load_fabric(name), path)
        command = simulated.weft_command(
            program("calls.c"), *CALLS, ranks=4, options=("-q", "--offload", "auto")
        )
        at = command.index("--fabric")
        command[at : at + 2] = ["--platform", str(path)]
        result = simulated.run_command(command)
        assert result.status == 0, result.stderr


# ---- Losses are reported ----


def test_export_names_what_a_platform_cannot_say(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    text = render(Template(topology="star", options=SMALL["star"], name="x"))
    text = text.replace(
        'preset = "tofino"',
        'preset = "tofino"\n[switch.forwarding]\nkind = "cache"\n'
        'tcam_latency = "10ns"\nhit_latency = "1ns"',
    )
    text += '[multicast]\nchains = 2\n[[policy]]\ncollectives = ["all"]\noffload = "off"\n'
    text += '[progress_engine]\npreset = "bluefield-3-dpa"\n'
    Path("x.toml").write_text(text)
    result = CliRunner().invoke(fabric_command, ["export", "x.toml", "-o", "x.xml"])
    assert result.exit_code == 0, result.output
    assert result.output == (
        "weft: x.xml: a SimGrid platform cannot express [policy], [multicast], [progress_engine],"
        " [nic] costs by size, packet copies, and Reduce_scatter as Allreduce,"
        " [host] costs of reductions and copies, or messages within a host (loopback),"
        " [switch.forwarding] (only the latency of a cache hit is included); to include it, run on"
        " the fabric itself\n"
    )
    # A graph expresses none of these features by design.
    assert export.export(_core.load_fabric("x.toml"), tmp_path / "x.dot") == []


# ---- Properties ----


def mutilated(program: Program, tmp_path: Path, change: Callable[[str], str]) -> str:
    """Return the error for an exported platform after a change to the file."""
    path = tmp_path / "x.xml"
    export.export(_core.load_fabric("tofino-4"), path)
    text = path.read_text()
    changed = change(text)
    assert changed != text
    path.write_text(changed)
    command = simulated.weft_command(program("calls.c"), "int-sum", ranks=2)
    at = command.index("--fabric")
    command[at : at + 2] = ["--platform", str(path)]
    result = simulated.run_command(command)
    assert result.status == 2, result.stderr
    (message,) = result.messages
    return message.partition(": host ")[2]


ROW = "allreduce MPI_INT MPI_SUM"
MISTAKES = {
    "two words": (
        "allreduce MPI_INT",
        'property offload: found "allreduce MPI_INT"; allowed: rows',
    ),
    "collective": ("alreduce MPI_INT MPI_SUM", 'found "alreduce"; did you mean "allreduce"?'),
    "datatype": ("allreduce MPI_ITN MPI_SUM", 'found "MPI_ITN"; did you mean "MPI_INT"?'),
    "quotes": ("allreduce MPI_INT&quot;] MPI_SUM", "allowed: names separated by commas"),
    "rate": ("allreduce MPI_FLOAT MPI_SUM fixed-point x", 'found "x"; allowed: a bandwidth'),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_wrong_offload_properties_are_one_message(
    program: Program, tmp_path: Path, mistake: str
) -> None:
    row, says = MISTAKES[mistake]
    message = mutilated(program, tmp_path, lambda text: text.replace(ROW, row))
    assert message.startswith('"switch", property offload'), message
    assert says in message


def test_a_switch_without_a_preset_must_say_all(program: Program, tmp_path: Path) -> None:
    """Regression: it was treated as a Tofino."""
    message = mutilated(
        program,
        tmp_path,
        lambda text: text.replace('value="tofino"', 'value="none"').replace(
            '<prop id="slots" value="256"/>', ""
        ),
    )
    assert message == (
        '"switch", property offload: a smart switch needs channels, slots and payload as well; set'
        " them, or name a preset"
    )


# ---- A plan as a fabric file ----


@settings(max_examples=20, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_a_planned_fabric_keeps_what_the_chassis_does_not_replace(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    tables = {
        "multicast": "[multicast]\nchains = 2\n[[multicast.drops]]\nprobability = 0.5\n",
        "progress_engine": '[progress_engine]\npreset = "epyc-7413-core"\nthreads = 1\n',
        "mpi": '[mpi]\nsend_overhead = "1us"\n',
        "policy": '[[policy]]\ncollectives = ["all"]\noffload = "off"\n',
        "point_to_point": '[[point_to_point]]\nfrom = "0B"\nlatency_factor = 2.0\n'
        "bandwidth_factor = 0.5\n",
    }
    text = data.draw(others()).partition("[mpi]")[0]
    base = render(Template(topology="star", options={"hosts": ["4"]}, name="x"))
    head, _, rest = base.partition("[nic]")
    chosen = data.draw(st.lists(st.sampled_from(sorted(tables)), unique=True))
    source = (
        head
        + text
        + rest[rest.index("# Every switch") :]
        + "".join(tables[name] for name in chosen)
    )
    path = tmp_path_factory.mktemp("planned") / "x.toml"
    path.write_text(source)
    made = plan.make(inventory.read("topocloud-64"), [wanted_topology.read(str(path))])
    experiment = made.experiment(None)
    written = "\n".join(planned.render(made, experiment)) + "\n"
    path.write_text(written)
    _core.load_fabric(str(path))
    before, after = tomllib.loads(source), tomllib.loads(written)
    for table in {*before} - {"fabric", "link", "links", "shared", "switch", "switches"}:
        assert after[table] == before[table]
    assert planned.losses(experiment) == ["[[switch.offload]]"]
    plain = replace(experiment, wanted=wanted_topology.read("ring-6"))
    assert planned.losses(plain) == []
