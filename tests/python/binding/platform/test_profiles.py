# SPDX-License-Identifier: LGPL-2.1-only
"""Profiles of a SimGrid platform: hosts and links that fail and recover, and reduced bandwidths."""

import re
from pathlib import Path

import pytest

import weft
from tests.support import compiled
from tests.support.places import TESTS
from tests.support.simulated import weft_says
from weft.runs.record import Record
from weft.runs.record_data import FaultsPart

CLOSE = 1e-9
BYTES = 1_000_000
LATENCY = 11.6436e-6
"""Latency of the link, 1 us, times the factor of SimGrid's model SMPI for large messages."""


@pytest.fixture(scope="module")
def jobs() -> str:
    return str(compiled.program(TESTS / "smpi" / "jobs.c"))


@pytest.fixture(scope="module")
def faults() -> str:
    return str(compiled.program(TESTS / "smpi" / "faults.c"))


def platform(folder: Path, *, link: str = "", host: str = "", profile: str = "") -> str:
    """Write a platform of two hosts and a link, either of which may have the profile."""
    (folder / "profile").write_text(profile)
    path = folder / "two.xml"
    path.write_text(f"""<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <zone id="two" routing="Full">
    <host id="host-0" speed="1Gf"/>
    <host id="host-1" speed="1Gf" {host and f'{host}="profile"'}/>
    <link id="cable" bandwidth="1Gbps" latency="1us" {link and f'{link}="profile"'}/>
    <route src="host-0" dst="host-1"><link_ctn id="cable"/></route>
  </zone>
</platform>
""")
    return str(path)


def recovery(folder: Path, keys: str = 'timeout = "1ms"') -> str:
    path = folder / "recovery.toml"
    path.write_text(f"[recovery]\n{keys}\n")
    return str(path)


def part(record: Record) -> FaultsPart:
    assert record.faults
    return record.faults


def flow(jobs: str, path: str, file: str | None = None) -> Record:
    return weft.run(jobs, ["flow", str(BYTES)], ranks=2, platform=path, faults=file)


def took(record: Record) -> float:
    return float(record.check().output.split()[0])


def test_a_message_waits_until_its_link_is_up(jobs: str, tmp_path: Path) -> None:
    alone = took(flow(jobs, platform(tmp_path)))
    assert took(flow(jobs, platform(tmp_path), recovery(tmp_path))) == pytest.approx(alone)
    for down, waits in ((0.001, 0.003), (0.002, 0.002)):
        path = platform(tmp_path, link="state_file", profile=f"0 1\n{down} 0\n0.0035 1\n")
        record = flow(jobs, path, recovery(tmp_path))
        assert took(record) == pytest.approx(alone + waits + LATENCY, rel=CLOSE)
        counts = part(record)
        assert (counts.cut, counts.resumed, counts.given_up) == (1, 1, 0)
        assert counts.waited_s == pytest.approx(waits, rel=CLOSE)


def test_a_message_that_starts_while_its_link_is_down(jobs: str, tmp_path: Path) -> None:
    alone = took(flow(jobs, platform(tmp_path)))
    path = platform(tmp_path, link="state_file", profile="0 0\n0.0035 1\n")
    record = flow(jobs, path, recovery(tmp_path))
    assert took(record) == pytest.approx(alone + 0.004, rel=CLOSE)
    assert part(record).cut == 1


def test_bandwidth_that_halves(jobs: str, tmp_path: Path) -> None:
    alone = took(flow(jobs, platform(tmp_path)))
    times = []
    for at in (0.001, 0.002):
        path = platform(tmp_path, link="bandwidth_file", profile=f"{at} 62500000\n")
        record = flow(jobs, path, recovery(tmp_path))
        assert part(record).cut == 0
        times.append(took(record))
        assert times[-1] == took(flow(jobs, path))
    assert times[0] - times[1] == pytest.approx(0.001, rel=CLOSE)
    assert times[0] == pytest.approx(2 * alone - 0.001, rel=1e-5)  # except for MPI_Init


def test_a_link_that_stays_down_ends_the_run(jobs: str, tmp_path: Path) -> None:
    path = platform(tmp_path, link="state_file", profile="0 1\n0.001 0\n")
    without = flow(jobs, path)
    assert without.outcome.kind == "network-failure"
    assert without.outcome.message.startswith('link "cable" is off at 0.001 s of simulated time')
    given_up = flow(jobs, path, recovery(tmp_path, 'timeout = "100us"\nretries = 3'))
    assert given_up.outcome.kind == "network-failure"
    assert given_up.outcome.message.startswith(
        "a message from host-0 to host-1 was given up after 3 retries after timeouts of 100us"
        ' each: link "cable" is off at 0.0014 s of simulated time'
    )
    assert part(given_up).given_up == 1


@pytest.mark.parametrize("recovers", [False, True])
def test_a_host_that_is_turned_off_ends_the_run(jobs: str, tmp_path: Path, recovers: bool) -> None:
    path = platform(tmp_path, host="state_file", profile="0 1\n0.001 0\n")
    record = flow(jobs, path, recovery(tmp_path) if recovers else None)
    assert record.outcome.kind == "network-failure"
    assert record.outcome.message == (
        'host "host-1" is off at 0.001 s of simulated time, and its ranks have ended with it'
    )


def exported(folder: Path) -> str:
    """Export tofino-4, with a host's cable down from 200 to 530 us."""
    path = folder / "tofino-4.xml"
    weft.Fabric("tofino-4").export(path)
    text = path.read_text()
    for direction in ("up", "down"):
        (folder / f"{direction}.profile").write_text("0 1\n0.0002 0\n0.00053 1\n")
        text, changed = re.subn(
            f'<link id="host-1.{direction}" ',
            rf'\g<0>state_file="{direction}.profile" ',
            text,
        )
        assert changed == 1
    path.write_text(text)
    return str(path)


@pytest.mark.parametrize("size", [100, 20_000, 8 << 20])
def test_a_profile_is_a_fault_of_the_fabric(jobs: str, tmp_path: Path, size: int) -> None:
    path = exported(tmp_path)
    on_fabric = tmp_path / "faults.toml"
    on_fabric.write_text(
        '[recovery]\ndetection = "1s"\ntimeout = "100us"\n'
        '[[fault]]\nlink = "host-1"\nat = "200us"\nuntil = "530us"\n'
    )
    file = recovery(tmp_path, 'timeout = "100us"')
    arguments = ["flow", str(size)]
    one = weft.run(jobs, arguments, ranks=2, platform=path, faults=file)
    other = weft.run(jobs, arguments, ranks=2, fabric="tofino-4", faults=on_fabric)
    assert took(one) == pytest.approx(took(other), rel=CLOSE)
    assert part(one).cut == part(other).cut == (1 if size == 8 << 20 else 0)


@pytest.mark.parametrize("offload", ["off", "stream", "message"])
def test_programs_go_on(faults: str, tmp_path: Path, offload: str) -> None:
    path = exported(tmp_path)
    arguments = ["mixed", "65536", "2"]
    expected = weft.run(faults, arguments, ranks=8, ppn=2, fabric="tofino-4").check().output
    file = recovery(tmp_path, 'timeout = "100us"')
    record = weft.run(
        faults, arguments, ranks=8, ppn=2, platform=path, faults=file, offload=offload
    )
    assert record.check().output == expected
    assert part(record).resumed == part(record).cut > 0


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('[[fault]]\nlink = "cable"\nat = 0\n', "fault]: found with --platform; what fails on a"),
        ('[recovery]\ncollectives = "hosts"\n', "collectives: found with --platform, where coll"),
        ('[recovery]\ndetection = "1ms"\n', "detection: found with --platform, where routes do"),
        ('[recovery]\ntimeout = "0s"\n', "timeout: found '0s'"),
        ('[recover]\ntimeout = "1s"\n', "recover]: no such key"),
    ],
)
def test_wrong_files_are_refused(jobs: str, tmp_path: Path, text: str, message: str) -> None:
    path = platform(tmp_path)
    file = tmp_path / "faults.toml"
    file.write_text(text)
    result = weft_says("run", "--platform", path, "-n", "2", "--faults", str(file), jobs, "flow")
    assert result.returncode == 2
    assert message in result.stderr
    assert result.stderr.count("\n") == 1


def test_smpis_messages_are_refused(jobs: str, tmp_path: Path) -> None:
    path = platform(tmp_path)
    options = ("--messages", "smpi", "--faults", recovery(tmp_path))
    result = weft_says("run", "--platform", path, "-n", "2", *options, jobs, "flow")
    assert result.returncode == 2
    assert "faults do not reach SMPI's messages; run with --messages weft" in result.stderr
