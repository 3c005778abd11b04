# SPDX-License-Identifier: LGPL-2.1-only
"""Progress engines: the command, properties of all engines, and the tables behind the figures."""

import csv
import random
from itertools import pairwise
from pathlib import Path

import pytest
from click.testing import CliRunner

from studies import progress_engine as bench
from studies.study import DOCS
from weft import _core
from weft.base.errors import WeftError
from weft.cli.root import weft
from weft.study import progress_engine as api

DPA = "bluefield-3-dpa"


def engine_file(directory: Path, *lines: str) -> str:
    path = directory / "engine.toml"
    path.write_text("\n".join(["[progress_engine]", *lines, ""]))
    return str(path)


def message(*arguments: str) -> str:
    result = CliRunner().invoke(weft, ["progress-engine", *arguments])
    assert isinstance(result.exception, _core.UserError | WeftError | SystemExit), result.exception
    return result.output if isinstance(result.exception, SystemExit) else str(result.exception)


# ---- Properties of any engine


@pytest.mark.parametrize("seed", range(50))
def test_rates_are_sound_whatever_the_engine(seed: int, tmp_path: Path) -> None:
    draw = random.Random(seed)
    cores, threads = draw.randint(1, 4), draw.randint(1, 16)
    issue_rate = draw.uniform(0.1, 4)
    cycles = {name: draw.uniform(10, 5000) for name in api.TRANSPORTS}
    lines = [
        f"{name}_cycles = {of}\n{name}_instructions = {draw.uniform(0.01, 1) * of * issue_rate}"
        for name, of in cycles.items()
    ]
    engine = _core.load_progress_engine(
        engine_file(
            tmp_path,
            f"cores = {cores}\nthreads = {threads}\nclock = '1GHz'\nissue_rate = {issue_rate}",
            f"staging_entries = {draw.randint(64, 128)}\ncopy_latency = '{draw.uniform(0, 9)}us'",
            *lines,
        )
    )
    chunk, buffer = draw.randint(1, 4096), draw.randint(1, 1 << 24)
    for transport in api.TRANSPORTS:
        counts = range(1, cores * threads + 1)
        rates = [engine.receive_chunks_per_s(transport, chunk, count) for count in counts]
        alone = 1e9 / cycles[transport]
        assert rates[0] <= alone * (1 + 1e-9)
        assert all(
            rate <= count * alone * (1 + 1e-9) for count, rate in zip(counts, rates, strict=True)
        )
        assert all(more >= fewer * (1 - 1e-9) for fewer, more in pairwise(rates))
        for count, rate in zip(counts, rates, strict=True):
            link = draw.uniform(1e6, 1e11)
            time_s = engine.receive_time_s(transport, chunk, buffer, count, link)
            assert time_s >= buffer / link
            # Limited by the steady rate of the threads, except for a smaller last chunk.
            assert time_s >= (buffer // chunk) / rate * (1 - 1e-9) or buffer < count * chunk


# ---- The command


def test_the_table_of_throughput_is_that_of_the_csv(tmp_path: Path) -> None:
    target = tmp_path / "rates.csv"
    words = ["throughput", DPA, "--threads", "1:4", "--link", "200Gbps", "--csv", str(target)]
    result = CliRunner().invoke(weft, ["progress-engine", *words])
    assert result.exit_code == 0, result.output
    with target.open() as file:
        rows = list(csv.DictReader(file))
    assert [(row["transport"], row["threads"]) for row in rows] == [
        (transport, count) for transport in ("ud", "uc") for count in ("1", "2", "4")
    ]
    assert float(rows[-1]["bytes_per_s"]) == 25e9
    assert len(result.output.splitlines()) == 2 + len(rows)


def test_memory_without_a_limit_is_said() -> None:
    result = CliRunner().invoke(weft, ["progress-engine", "memory", "epyc-7413-core"])
    assert result.exit_code == 0
    assert "unlimited" in result.output
    assert "All of its memory" not in result.output


def test_an_unknown_engine_is_named() -> None:
    assert message("memory", "bluefield-3-dap") == (
        'progress engine "bluefield-3-dap": there is no such file, and no preset has that name; did'
        ' you mean "bluefield-3-dpa"? allowed: a file with a table [progress_engine], or one of'
        " bluefield-3-dpa, epyc-7413-core, xeon-e5-2660v2-core"
    )


def test_a_ring_too_small_is_refused(tmp_path: Path) -> None:
    path = engine_file(tmp_path, f"preset = '{DPA}'", "staging = '32KiB'")
    assert message("throughput", path, "--threads", "16") == (
        f"{path}: [progress_engine] staging: found 32KiB; each of 16 receive workers holds a chunk"
        " of 4KiB; allowed: at least 64KiB; or use fewer workers or smaller chunks"
    )
    result = CliRunner().invoke(
        weft, ["progress-engine", "throughput", path, "--threads", "16", "--transport", "uc"]
    )
    assert result.exit_code == 0


def test_a_datagram_has_at_most_an_mtu() -> None:
    assert message("throughput", DPA, "--chunk", "1KiB:8KiB") == (
        "--chunk: found 8 KiB; a UD datagram has at most 4 KiB: use smaller chunks, or --transport"
        " uc alone"
    )


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--threads", "257"), "receive_workers: found 257; allowed: at most 256"),
        (("--threads", "0"), "--threads: found '0'; write whole numbers from 1 to 999999"),
        (("--threads", "1,x"), "--threads: found '1,x'"),
        (("--transport", "rc"), "found 'rc'; allowed: ud, uc"),
        (("--link", "200"), 'bandwidth: found "200"; allowed: a bandwidth, a number and one of'),
        (("--link", "0Gbps"), "--link: found '0Gbps'; allowed: more than zero"),
        (("--chunk", "0"), "--chunk: found '0'; allowed is a positive whole number"),
        (("--chunk", "9" * 400), "allowed are at most 2^53 bytes"),
        (("--csv", "/nowhere/x.csv"), "--csv: cannot write /nowhere/x.csv"),
    ],
)
def test_wrong_input_is_said(words: tuple[str, ...], said: str) -> None:
    assert said in message("throughput", DPA, *words)


# ---- Contents of the document


def test_the_tables_are_those_of_the_model(tmp_path: Path) -> None:
    for name, compute in bench.COMPUTED.items():
        api.write_csv(compute(), tmp_path / "now.csv")
        shipped = bench.TABLES / f"{name}.csv"
        assert (tmp_path / "now.csv").read_text() == shipped.read_text(), shipped


def test_the_document_shows_the_comparison() -> None:
    assert bench.comparison() in (DOCS / "progress-engine.md").read_text()


def rate_of(engine: str, transport: str, threads: int) -> float:
    """Return the throughput with a receive buffer of 8 MiB on 200 Gbit/s, as in figure 13."""
    (row,) = bench.read("threads", engine=engine, transport=transport, threads=str(threads))
    return float(row["bytes_per_s"])


def test_single_threads_are_table_ones() -> None:
    assert rate_of(DPA, "uc", 1) / bench.GIB == pytest.approx(11.9, rel=0.01)
    assert rate_of(DPA, "ud", 1) / bench.GIB == pytest.approx(5.2, rel=0.01)


@pytest.mark.parametrize(
    ("transport", "threads", "too_few"), [("uc", 4, 1), ("ud", 8, 4), ("ud", 16, 4)]
)
def test_the_link_is_full_with_the_stated_threads(
    transport: str, threads: int, too_few: int
) -> None:
    assert rate_of(DPA, transport, threads) == pytest.approx(bench.LINK, rel=0.03)
    assert rate_of(DPA, transport, too_few) < 0.8 * bench.LINK


def test_half_of_the_threads_sustain_the_chunks_of_1600_gbps() -> None:
    for transport in api.TRANSPORTS:
        (row,) = bench.read("rates", transport=transport, threads="128")
        assert float(row["chunks_per_s"]) >= bench.TERABIT_CHUNKS
    (ud,) = bench.read("rates", transport="ud", threads="128")
    assert float(ud["chunks_per_s"]) == pytest.approx(bench.TERABIT_CHUNKS, rel=0.1)


@pytest.mark.parametrize(("ring", "fills"), [("88KiB", False), ("92KiB", True)])
def test_how_small_a_ring_fills_the_link(ring: str, fills: bool, tmp_path: Path) -> None:
    engine = engine_file(tmp_path, f"preset = '{DPA}'", f"staging = '{ring}'")
    rows = api.throughput(api.Case(engine, ["ud"], [16]))
    assert (rows[0].bytes_per_s >= bench.LINK) == fills
