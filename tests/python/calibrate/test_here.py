# SPDX-License-Identifier: LGPL-2.1-only
"""`weft calibrate host --here`: the [host] table of the machine that weft runs on."""

import os
from collections.abc import Sequence
from pathlib import Path

import pytest

import weft
from tests.support.simulated import weft_says
from weft import _core
from weft.base.errors import WeftError
from weft.calibrate.host import here
from weft.calibrate.host.here import Caches, HostHere, Measured

CACHES = Caches(1 << 20, 32 << 20)
# Synthetic machine: seconds per byte in a core's caches, the shared cache, and memory.
CORE, SHARED, MEMORY = 2e-11, 7e-11, 4e-10
OVERHEAD, LATENCY, COPY = 1e-7, 3e-7, 5e9
# Two sockets with CPUs 0 to 3 and 4 to 7: rates of all cores of a socket, and costs between
# sockets.
TOGETHER, CACHED, FARTHER, FAR_RATE = 9e9, 4e10, 2e-7, 2e10


def made_up(what: str, of: str, size: int, repetitions: int, cpus: Sequence[int] = ()) -> Measured:
    assert of in (*here.TYPES, "bytes")
    if what == "stream":
        seconds = OVERHEAD
    elif what == "message":
        seconds = 2 * OVERHEAD + LATENCY + 2 * size / COPY
        if len(cpus) == 2 and cpus[0] // 4 != cpus[1] // 4:
            seconds += FARTHER + size / FAR_RATE
    elif what == "together":
        assert list(cpus) == [0, 1, 2, 3]
        seconds = size / (TOGETHER if size >= CACHES.shared else CACHED)
    else:
        # Both buffers count: they overflow the core's caches between this size and twice this size.
        left = min(1.0, max(0.0, 2 * size / CACHES.core - 1))
        seconds = size * (CORE + left * (SHARED - CORE))
        seconds = size * MEMORY if size >= CACHES.shared else seconds
    return Measured(f"{what} of {size}", (seconds,) * repetitions)


def number(host: HostHere, key: str) -> float:
    return float(str(host.values[key].value).rstrip("Bps"))


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(here, "_run", made_up)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(8)))
    monkeypatch.setattr(here, "find_sockets", lambda: [[0, 1, 2, 3], [4, 5, 6, 7]])


@pytest.mark.usefixtures("machine")
def test_a_made_up_machine_is_found_again() -> None:
    host = here.measure(5, CACHES)
    assert host.missing == ()
    assert number(host, "reduction_rate") == pytest.approx(1 / CORE, rel=1e-3)
    assert number(host, "shared_cache_rate") == pytest.approx(1 / (SHARED - CORE), rel=1e-3)
    assert number(host, "core_memory_rate") == pytest.approx(1 / (MEMORY - SHARED), rel=1e-3)
    # A third of a reduction's buffers belongs to the library.
    assert number(host, "core_cache_size") == pytest.approx(CACHES.core * 2 / 3, rel=0.02)
    assert number(host, "message_overhead") == pytest.approx(OVERHEAD, rel=1e-3)
    assert number(host, "loopback_latency") == pytest.approx(LATENCY + 2 * 64 / COPY, rel=1e-3)
    assert number(host, "copy_rate") == pytest.approx(COPY, rel=1e-3)
    assert host.values["sockets"].value == 2
    assert number(host, "memory_bandwidth") == pytest.approx(TOGETHER, rel=1e-3)
    assert number(host, "shared_cache_bandwidth") == pytest.approx(CACHED, rel=1e-3)
    assert number(host, "intersocket_latency") == pytest.approx(FARTHER + 64 / FAR_RATE, rel=1e-3)
    assert number(host, "intersocket_rate") == pytest.approx(FAR_RATE, rel=1e-3)


def test_sockets_are_the_nodes_that_linux_lists(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1, 4, 6, 9})
    for node, cpus in (("node0", "0-3,8-9"), ("node1", "4-7"), ("node2", "")):
        (tmp_path / node).mkdir()
        (tmp_path / node / "cpulist").write_text(f"{cpus}\n")
    assert here.find_sockets(tmp_path) == [[0, 1, 9], [4, 6]]
    assert here.find_sockets(tmp_path / "none") == [[0, 1, 4, 6, 9]]


@pytest.mark.usefixtures("machine")
def test_what_is_written_is_a_table_of_fabric_files(tmp_path: Path) -> None:
    host = here.measure(5, CACHES)
    here.write(host, 5, "tofino-4", tmp_path / "x.toml")
    fabric = _core.load_fabric(str(tmp_path / "x.toml"))
    assert fabric.host["reduction_rate_Bps"] == pytest.approx(1 / CORE, rel=1e-3)
    # Measured values are no longer guesses.
    assert "copy_rate" not in fabric.host["unmeasured"]
    assert "memory_bandwidth" not in fabric.host["unmeasured"]
    assert "single_copy_threshold" in fabric.host["unmeasured"]
    assert fabric.host["sockets"] == 2
    alone = here.text_of(host, here.head_of(host, 5), 8, "2Gf")
    head, _, rest = Path(fabric.file).read_text().partition("[host]")
    assert "sum int32: 50 GB/s core, 14.3 GB/s shared, 2.5 GB/s memory" in head
    tail = rest[rest.index("[nic]") :]
    text = head + alone[alone.index("[host]") :] + tail
    (tmp_path / "y.toml").write_text(text, encoding="utf-8")
    assert _core.load_fabric(str(tmp_path / "y.toml")).host["cores"] == 8


def test_a_busy_machine_counts_its_fastest_repetition() -> None:
    assert Measured("", (1.0, 1.1, 1.2)).value == 1.1
    assert Measured("", (1.0, 1.4, 9.0)).value == 1.0
    assert "the fastest taken" in Measured("", (1.0, 1.4, 9.0)).note()


def test_messages_that_waited_for_a_core_are_no_measurement(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def waiting(
        what: str, of: str, size: int, repetitions: int, cpus: Sequence[int] = ()
    ) -> Measured:
        if what == "message":
            return Measured("message", (4e-3,) * repetitions)
        return made_up(what, of, size, repetitions, [0, 1, 2, 3] if cpus else ())

    monkeypatch.setattr(here, "_run", waiting)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1})
    host = here.measure(3, CACHES)
    assert {"loopback_latency", "copy_rate"}.isdisjoint(host.values)
    missing = [why.partition(":")[0] for why in host.missing]
    assert missing[:2] == ["loopback_latency", "copy_rate"]


def test_caches_are_those_that_linux_says(tmp_path: Path) -> None:
    for index, (level, kind, size) in enumerate(
        [
            (1, "Data", "48K"),
            (1, "Instruction", "32K"),
            (2, "Unified", "1280K"),
            (3, "Unified", "55296K"),
        ]
    ):
        folder = tmp_path / f"index{index}"
        folder.mkdir()
        for name, text in (("level", str(level)), ("type", kind), ("size", size)):
            (folder / name).write_text(f"{text}\n")
    assert here.find_caches(tmp_path) == Caches(1280 << 10, 54 << 20)
    with pytest.raises(WeftError, match=r"found 0 levels of data caches; .* such as 1MiB,32MiB"):
        here.find_caches(tmp_path / "none")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--here", "--key", "nic.message_gap"), "--here: found --key; allowed beside --here"),
        (
            ("--here", "--caches", "32MiB,1MiB"),
            "--caches: found 32MiB,1MiB; allowed are two",
        ),
        (("--here", "--caches", "64,128"), "allowed are two rising sizes of 4 KiB and more"),
        (("--here", "--caches", "1MiB,x"), "--caches: found 'x'"),
        (("--base", "tofino-4"), "calibrate host: TABLE is missing"),
    ],
)
def test_bad_input(tmp_path: Path, words: tuple[str, ...], message: str) -> None:
    result = weft_says("calibrate", "host", *words, "-o", str(tmp_path / "x.toml"))
    assert result.returncode == 2 and message in result.stderr, result.stderr
    assert not (tmp_path / "x.toml").exists()


def test_one_processor_cannot_send_itself_a_message(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0})
    with pytest.raises(WeftError, match="may use 1 processor"):
        here.measure(3, CACHES)


def test_this_machine_can_be_measured(tmp_path: Path) -> None:
    """Other load may slow the machine down, but a core's caches are still faster than memory."""
    target = tmp_path / "here.toml"
    values = weft.calibrate_here(target, base="tofino-4", repetitions=3, caches="1MiB,8MiB")
    host = _core.load_fabric(str(target)).host
    assert f"{host['reduction_rate_Bps']:.4g}Bps" == values["reduction_rate"]
    assert 1e9 < host["reduction_rate_Bps"] < 1e12
    assert 1e-9 <= host["message_overhead_s"] < 1e-3
