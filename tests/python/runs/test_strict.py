# SPDX-License-Identifier: LGPL-2.1-only
"""Values outside the measured ranges: reported for new fabrics, refused by `strict`."""

from pathlib import Path

import pytest

import weft
from tests.support import compiled
from tests.support.places import ROOT
from tests.support.simulated import weft_says
from weft import _core
from weft.base.errors import WeftError
from weft.benchmarks import measured
from weft.report.page.fabrics import Variant

DO = "choose measured values or presets, or leave out --strict"
INFINIBAND = ("--set", "mpi.preset=openmpi-ucx-infiniband")
FAST = ("--set", "link.bandwidth=200Gbps")


def test_a_run_with_measured_values_is_as_without_strict() -> None:
    words = ("run", "--fabric", "tofino-4", "-n", "4")
    program = str(compiled.example("allreduce_latency"))
    plain = weft_says(*words, "-q", "--", program, "1024")
    strict = weft_says(*words, "-q", "--strict", "--", program, "1024")
    assert (plain.returncode, strict.returncode) == (0, 0)
    assert plain.stdout == strict.stdout


@pytest.mark.parametrize(
    ("words", "found"),
    [
        (("tofino-16", "-n", "16"), "hosts: found 16 hosts; measured up to 4"),
        (("tofino-4", "-n", "4", "--set", "switch.slots=64"), "switch.slots: found switch.slots"),
        (("hdr100-8", "-n", "8", *FAST), "found cables of 200 Gb/s; measured up to 100 Gb/s"),
        (("tofino-4", "-n", "4", *FAST), "a port of tofino (Ethernet) has 100 Gb/s"),
        (("tofino-4", "-n", "4", *INFINIBAND), "on tofino (Ethernet); a mixture of networks"),
        (("fdr-188", "-n", "4"), "--strict: nothing was measured with "),
    ],
)
def test_a_run_beyond_the_measurements_is_refused(words: tuple[str, ...], found: str) -> None:
    program = str(compiled.example("allreduce_latency"))
    said = weft_says("run", "--strict", "--fabric", *words, "--", program, "1024")
    assert (said.returncode, said.stdout) == (2, "")
    (line,) = said.stderr.splitlines()
    assert line.startswith("weft: --strict: ")
    assert found in line
    assert line.endswith(DO)


def test_a_device_that_was_never_measured_is_refused_with_those_that_were(tmp_path: Path) -> None:
    target = tmp_path / "mine.toml"
    hdr = ("--switch-preset", "sharp-hdr200", "--bandwidth", "200Gbps")
    new = ("fabric", "new", "star", "--hosts", "4", *hdr, "-o", str(target))
    assert weft_says(*new).returncode == 0
    program = str(compiled.example("allreduce_latency"))
    said = weft_says("run", "--strict", "--fabric", str(target), "-n", "4", "--", program, "1024")
    assert said.returncode == 2
    (line,) = said.stderr.splitlines()
    assert line.startswith(
        "weft: --strict: nothing was measured with preset sharp-hdr200+connectx-6-hdr200 of the"
        " switches, but with sharp+connectx-6-hdr100, "
    )
    assert "; also not measured: hosts: " in line
    assert line.endswith(DO)


def test_calls_beyond_the_measured_sizes_are_refused() -> None:
    words = ("--fabric", "tofino-4", "-n", "4", "--modes", "stream", "--strict")
    said = weft_says("bench", "allreduce", *words, "--sizes", "1KiB")
    assert said.returncode == 0, said.stderr
    said = weft_says("bench", "allreduce", *words, "--sizes", "2GiB")
    assert said.returncode == 2


def test_throughput_beyond_the_measured_ranks_or_sizes_is_refused() -> None:
    words = ("--fabric", "tofino-4", "--modes", "stream,ring", "--sizes", "4KiB", "--strict")
    said = weft_says("bench", "allgather", *words, "-n", "4")
    assert said.returncode == 0, said.stderr
    with pytest.raises(WeftError, match=r"strict: .* found 16 hosts; measured up to 4"):
        weft.bench("ag+rs", "tofino-16", 16, sizes=[4096], modes=["stream"], strict=True)


def test_a_measured_benchmark_beyond_the_measured_hosts_is_refused(tmp_path: Path) -> None:
    measured = tmp_path / "osu_allreduce.txt"
    measured.write_text(
        "# OSU MPI Allreduce Latency Test v7.4\n# Size  Avg Latency(us)\n1024  6.7\n"
    )
    like = ("bench", "--like", str(measured), "--strict", "--fabric")
    assert weft_says(*like, "tofino-4", "-n", "4").returncode == 0
    said = weft_says(*like, "tofino-16", "-n", "16")
    assert said.returncode == 2
    assert "hosts: found 16 hosts; measured up to 4" in said.stderr
    assert said.stdout == ""


def test_fabrics_with_fast_cables_are_reported_and_refused(tmp_path: Path) -> None:
    target = tmp_path / "mine.toml"
    new = ("fabric", "new", "star", "--hosts", "4", "--switch-preset", "sharp", "-o", str(target))
    refused = weft_says(*new, "--bandwidth", "200Gbps", "--strict")
    assert refused.returncode == 2
    assert "preset sharp+connectx-6-hdr100 of the switches: link.bandwidth" in refused.stderr
    assert not target.exists()
    made = weft_says(*new, "--bandwidth", "200Gbps")
    assert made.returncode == 0
    beyond = "not measured: switches: cables of 200 Gb/s (up to 100 Gb/s)"
    assert f"weft: {target}: {beyond}\n" in made.stderr
    checked = weft_says("fabric", "check", str(target))
    assert (checked.returncode, checked.stderr) == (0, f"weft: {target}: {beyond}\n")
    assert weft_says("fabric", "check", str(target), "--strict").returncode == 2
    with pytest.raises(WeftError, match="found cables of 200 Gb/s"):
        weft.Fabric(target).check(strict=True)
    with pytest.warns(UserWarning, match="not measured: switches: cables"):
        weft.Fabric(target).check()


def test_ports_of_a_tofino_have_their_documented_rate() -> None:
    said = weft_says("fabric", "check", "tofino-4", "--set", "link.bandwidth=400Gbps")
    assert said.returncode == 0
    assert "cable host-0 of 400 Gb/s (a port of tofino (Ethernet) has 100 Gb/s)" in said.stderr
    assert weft_says("fabric", "check", "tofino-4", "--strict").returncode == 0


def mixed(fabric: str, *changes: str) -> list[str]:
    return [str(one) for one in measured.impossible(_core.load_fabric(fabric, list(changes)))]


def test_no_shipped_fabric_mixes_networks() -> None:
    for name in _core.list_fabrics():
        assert mixed(name) == []


@pytest.mark.parametrize(
    ("fabric", "change", "found"),
    [
        (
            "tofino-4",
            "nic.preset=connectx-6-hdr200",
            "switches: NICs of connectx-6-hdr200 (InfiniBand) on tofino (Ethernet)",
        ),
        (
            "tofino-4",
            "mpi.preset=openmpi-ucx-infiniband",
            "hosts: messages of openmpi-ucx-infiniband (InfiniBand) on tofino (Ethernet)",
        ),
        (
            "hdr100-8",
            "mpi.preset=openmpi-ucx-roce",
            "hosts: messages of openmpi-ucx-roce (Ethernet) on sharp (InfiniBand)",
        ),
    ],
)
def test_hosts_and_switches_of_two_networks_are_a_mixture(
    fabric: str, change: str, found: str
) -> None:
    assert mixed(fabric, change) == [f"{found} (a mixture of networks)"]


@pytest.mark.parametrize("hosts", ["hdr100-8", "azure-hb96-4"])
def test_a_mixture_is_said_wherever_its_fabric_is_used(tmp_path: Path, hosts: str) -> None:
    """Regression: InfiniBand's costs on an Ethernet switch passed without a word."""
    target = tmp_path / "mine.toml"
    words = ("--switch-preset", "tofino", "--hosts-like", hosts, "-o", str(target))
    new = ("fabric", "new", "star", "--hosts", "4", *words)
    assert weft_says(*new, "--strict").returncode == 2
    assert not target.exists()
    name = "openmpi-ucx-infiniband" if hosts == "hdr100-8" else hosts
    found = f"hosts: messages of {name} (InfiniBand) on tofino (Ethernet) (a mixture of networks)"
    made = weft_says(*new)
    assert made.returncode == 0
    assert "exists nowhere: " in made.stderr
    assert found in made.stderr
    program = str(compiled.example("allreduce_latency"))
    run = ("run", "--fabric", str(target), "-n", "4")
    for more in ((), ("--compare", "--no-best")):
        said = weft_says(*run, *more, "--", program, "64")
        assert said.returncode == 0
        assert any(
            line.startswith("exists nowhere: ") and found in line
            for line in said.stderr.splitlines()
        )
    assert "not measured: " in said.stderr.splitlines()[-1]
    assert found in said.stderr.splitlines()[-1]


def test_benchmarks_and_reports_say_that_a_network_exists_nowhere() -> None:
    words = ("--fabric", "hdr100-8", "-n", "4", "--sizes", "4", "--set", "switch.preset=tofino")
    said = weft_says("bench", "allreduce", *words, "--modes", "stream")
    nics = "switches: NICs of connectx-6-hdr100 (InfiniBand) on tofino (Ethernet)"
    assert f"weft: hdr100-8: exists nowhere: {nics} (a mixture of networks)" in said.stderr
    changed = Variant("hdr100-8", "hdr100-8", ("switch.preset=tofino",), [])
    assert f"exists nowhere: {nics}" in changed.about
    assert "nowhere" not in Variant("hdr100-8", "hdr100-8", (), []).about


def test_scaled_presets_say_their_rule(tmp_path: Path) -> None:
    target = tmp_path / "ndr.toml"
    words = ("--hosts", "4", "--switch-preset", "sharp-ndr", "--bandwidth", "400Gbps")
    made = weft_says("fabric", "new", "star", *words, "-o", str(target))
    assert "switches: sharp-ndr, scaled from sharp: aggregation_rate is 4 times" in made.stderr
    shown = weft_says("fabric", "show", str(target)).stdout
    assert "  connectx-7-ndr: scaled from connectx-6-hdr100: the rates of streaming are 4" in shown
    fabric = weft.Fabric(target)
    assert fabric.core.nic["preset"] == "connectx-7-ndr"
    measured = weft.Fabric("hdr100-8")
    sharp, ndr = measured.core.switches[0], fabric.core.switches[0]
    assert ndr["aggregation_rate_Bps"] == pytest.approx(4 * sharp["aggregation_rate_Bps"])
    assert ndr["turnaround_s"] == sharp["turnaround_s"]
    rates = [
        [one["offload_copy_rate_Bps"] for one in x.core.nic["calls"]] for x in (measured, fabric)
    ]
    assert rates[1] == pytest.approx([4 * rate for rate in rates[0]])


def test_a_campaign_beyond_the_measurements_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    (tmp_path / "latency.c").write_bytes((ROOT / "examples" / "allreduce_latency.c").read_bytes())
    file.write_text(
        '[campaign]\nname = "mine"\n[programs.latency]\nsource = "latency.c"\narguments = ["64"]\n'
        '[[runs]]\nprogram = "latency"\nfabric = "tofino-16"\nranks = [4, 16]\n'
    )
    said = weft_says("campaign", "run", str(file), "--strict")
    assert said.returncode == 2
    assert "hosts: found 16 hosts; measured up to 4" in said.stderr
    with pytest.raises(WeftError, match="found 16 hosts; measured up to 4"):
        weft.Campaign(file).run(strict=True, progress=False)
