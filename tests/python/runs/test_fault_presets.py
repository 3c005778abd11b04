# SPDX-License-Identifier: LGPL-2.1-only
"""Fault files with presets: rates of published clusters, routing, growing timeouts, changes."""

import json
from math import log1p, sqrt
from pathlib import Path
from typing import Any

import pytest

import weft
from tests.support import compiled
from tests.support.jobs import job, part
from tests.support.places import TESTS
from tests.support.simulated import weft_says
from weft import _core
from weft.base.errors import WeftError
from weft.runs.faults import presets
from weft.runs.faults.description import PreparedFaults, prepare

FABRIC = "fat-tree-1024"
"""1,024 hosts below 128 leaf switches."""
DAY_S = 86_400
LLAMA_S = 54 * DAY_S * 16_384 / 35


@pytest.fixture(scope="module")
def fabric() -> _core.Fabric:
    return _core.load_fabric(FABRIC)


@pytest.fixture(scope="module")
def faults() -> str:
    return str(compiled.program(TESTS / "smpi" / "faults.c"))


def made(
    folder: Path, fabric: _core.Fabric, table: str, *changes: str, recovery: str = ""
) -> PreparedFaults:
    """Return the faults of a file with one table."""
    path = folder / "faults.toml"
    path.write_text(f"[recovery]\n{recovery}\n[[fault]]\n{table}\n")
    return prepare(path, changes, fabric)


def failed(faults: PreparedFaults) -> list[str]:
    """Return the names of failing elements, with their kind."""
    return [one.what.removesuffix(" down") for one in faults.events if one.what.endswith("down")]


# ---- Rates


def test_rates_are_those_that_were_published() -> None:
    link, nic = presets.rates("llama-3")
    assert link.mtbf_s == pytest.approx(LLAMA_S)
    assert link.mtbf_s / DAY_S == pytest.approx(25_278, abs=1)  # as stated in docs/faults.md
    assert nic.mtbf_s == pytest.approx(5 * LLAMA_S)
    link, switch = presets.rates("alibaba-hpn")
    assert link.mtbf_s == pytest.approx(30 * DAY_S / -log1p(-0.00057))
    assert switch.mtbf_s == pytest.approx(30 * DAY_S / -log1p(-0.00051))


@pytest.mark.parametrize("name", presets.rate_presets())
def test_all_presets_have_rates_of_known_parts(name: str) -> None:
    found = presets.rates(name)
    assert found
    for rate in found:
        assert 100 * DAY_S < rate.mtbf_s < 1e6 * DAY_S


def test_a_preset_makes_as_many_faults_as_its_rate_says(
    tmp_path: Path, fabric: _core.Fabric
) -> None:
    expected = 2_000  # over all hosts
    scale = expected / 1024 * LLAMA_S / 10
    table = f'rates = "llama-3"\nlink = "*"\nscale = {scale}\nrepair = "1ns"\nend = "10s"'
    names = failed(made(tmp_path, fabric, table))
    assert abs(len(names) - expected) < 4 * sqrt(expected)
    assert {name.split()[0] for name in names} == {"link"}
    assert all("--" not in name for name in names)  # only cables of hosts


def test_a_preset_reaches_only_what_it_has_rates_of(tmp_path: Path, fabric: _core.Fabric) -> None:
    def places(preset: str, key: str = "") -> set[str]:
        table = f'rates = "{preset}"\nscale = 1e9\nrepair = "1ms"\nend = "1s"\n{key}'
        return {
            name.split()[0] + " " + name.split()[1].split("-")[0]
            for name in failed(made(tmp_path, fabric, table))
        }

    assert places("alibaba-hpn") == {"link host", "switch level1"}
    assert places("alibaba-hpn", 'switch = "*"') == {"switch level1"}
    assert places("llama-3") == {"link host", "nic host"}
    assert places("azure-2021") >= {"switch level1", "switch level2"}
    assert places("microsoft-2011", 'switch = "level1-00*"') == {"switch level1"}


def test_a_cable_between_two_hosts_is_one_of_hosts(tmp_path: Path) -> None:
    table = 'rates = "llama-3"\nlink = "*"\nscale = 1e12\nrepair = "1ms"\nend = "1s"'
    pair = _core.load_fabric("server-pair")
    (cable,) = pair.cables()
    assert set(failed(made(tmp_path, pair, table))) == {f"link {cable['name']}"}


def test_rates_of_networks_leave_the_inside_of_nodes_alone(tmp_path: Path) -> None:
    pod = _core.load_fabric("superpod-h100-32", ["topology.nodes=2", "topology.nics=4"])

    def hit(table: str) -> set[str]:
        return set(failed(made(tmp_path, pod, table)))

    rest = 'scale = 1e11\nrepair = "1ms"\nend = "1s"\n'
    nodes = [f"node-{node}.nic-{nic}" for node in range(2) for nic in range(4)]
    cables = {f"link {nic}--leaf-{nic[-1]}" for nic in nodes}
    leaves = {f"switch leaf-{leaf}" for leaf in range(4)}
    gpus = {f"nic node-{node}.gpu-{gpu}" for node in range(2) for gpu in range(8)}
    assert hit(f'rates = "alibaba-hpn"\n{rest}') == cables | leaves
    assert hit(f'rates = "llama-3"\n{rest}') == cables | gpus
    spines = {f"switch spine-{spine}" for spine in range(4)}
    assert hit(f'rates = "azure-2021"\n{rest}') == leaves | spines
    # Two GPUs share a NIC; its cables fail, but not their NVLinks.
    nic = made(tmp_path, pod, 'nic = "node-1.gpu-3"\nat = 0')
    numbers = {change["link"] // 2 for change in nic.events[0].changes}
    names = [pod.cables()[number]["name"] for number in sorted(numbers)]
    assert names == [
        "node-1.gpu-2--node-1.nic-1",
        "node-1.gpu-3--node-1.nic-1",
        "node-1.nvswitch--node-1.nic-1",
        "node-1.nic-1--leaf-1",
    ]
    inside = 'rates = "azure-2021"\nswitch = "*nvswitch"\nrepair = "1ms"\nend = "1s"'
    with pytest.raises(WeftError, match="no switch of fabric superpod-h100-32 that it has a rate"):
        made(tmp_path, pod, inside)
    assert hit('switch = "node-1.nvswitch"\nat = 0') == {"switch node-1.nvswitch"}


def test_a_scale_is_a_factor_on_the_rate(tmp_path: Path, fabric: _core.Fabric) -> None:
    rest = 'repair = "1ms"\nend = "1s"\nswitch = "*"'
    halved = made(tmp_path, fabric, f'mtbf = "2s"\nscale = 2\n{rest}')
    assert halved.events == made(tmp_path, fabric, f'mtbf = "1s"\n{rest}').events
    assert halved.events
    assert not made(tmp_path, fabric, f'mtbf = "1s"\nscale = 0\n{rest}').events


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ('rates = "lama-3"\nend = "1s"', "rates: found 'lama-3'; allowed are alibaba-hpn, azure"),
        ('rates = "llama-3"\nend = "1s"', "repair: is missing, but required: the source of llama"),
        ('rates = "llama-3"\nrepair = "1s"', "end: is missing, but required"),
        (
            'rates = "llama-3"\nrepair = "1s"\nend = "1s"\nswitch = "*"',
            "switch: llama-3 has no rate of a switch; it has those of cables of hosts, NICs",
        ),
        ('rates = "llama-3"\nmtbf = "1s"', "mtbf: found together with rates; write one of both"),
        ('rates = "llama-3"\nrepair = "1s"\nat = "1s"', "at: found together with rates"),
        (
            'rates = "llama-3"\nrepair = "1s"\nend = "1s"\nlink = "level2-*"',
            "link: found 'level2-*', which is no link",
        ),
        ('switch = "*"\nat = "1s"\nscale = 2', "scale: is a key of faults at random; write mtbf"),
        ('rates = "llama-3"\nrepair = "1s"\nend = "1s"\nscale = -1', "scale: found -1; allowed is"),
    ],
)
def test_wrong_tables_are_refused(
    tmp_path: Path, fabric: _core.Fabric, table: str, message: str
) -> None:
    with pytest.raises(WeftError) as error:
        made(tmp_path, fabric, table)
    assert message in error.value.message


# ---- Routing and timeouts

DOWN = 'switch = "level2-*"\nat = "1s"'


def test_routing_sets_detection_and_convergence(tmp_path: Path, fabric: _core.Fabric) -> None:
    def times(recovery: str) -> tuple[float, float]:
        found = made(tmp_path, fabric, DOWN, recovery=recovery).recovery
        return found.detection_s, found.convergence_s

    assert times("") == (0.9, 0)
    assert times('routing = "local"') == pytest.approx((2e-3, 0))
    assert times('routing = "subnet-manager"') == pytest.approx((0, 10))
    assert times('routing = "bgp"') == pytest.approx((0.9, 0.1))
    assert times('routing = "bgp-hold-timer"') == pytest.approx((90, 0.1))
    assert times('routing = "bgp"\ndetection = "3ms"') == pytest.approx((3e-3, 0.1))


def test_transport_sets_timeouts_and_retries(tmp_path: Path, fabric: _core.Fabric) -> None:
    def senders(recovery: str) -> tuple[str, float, float, int, int]:
        found = made(tmp_path, fabric, DOWN, recovery=recovery).recovery
        timeout_us = round(found.timeout_s * 1e6, 6)
        return found.transport, timeout_us, found.backoff, found.retries, found.packet_bytes

    assert senders("") == ("nccl", 4.096 * 2**20, 1, 7, 4096)
    assert senders('transport = "nccl"') == senders("")
    assert senders('transport = "ucx"') == ("ucx", 4.096 * 2**18, 1, 7, 4096)
    assert senders('transport = "tcp"') == ("tcp", 200_000, 2, 11, 1460)
    # The file overrides one key; all other keys come from the preset.
    assert senders('transport = "tcp"\nretries = 3') == ("own", 200_000, 2, 3, 1460)
    assert senders('transport = "tcp"\nretries = 11')[0] == "tcp"


def test_days_and_hours_are_durations(tmp_path: Path, fabric: _core.Fabric) -> None:
    def first(table: str) -> float:
        return made(tmp_path, fabric, table).events[0].at_s

    assert first('switch = "level2-*"\nat = "2h"') == pytest.approx(7200)
    assert first('switch = "level2-*"\nat = "1.5d"') == pytest.approx(1.5 * DAY_S)
    rest = 'repair = "1h"\nend = "1w"\nswitch = "*"\nmtbf'
    assert made(tmp_path, fabric, f'{rest} = "30d"').events == (
        made(tmp_path, fabric, f'{rest} = "{30 * DAY_S}s"').events
    )


def test_record_and_output_say_which_recovery_is_in_force(faults: str, tmp_path: Path) -> None:
    path = tmp_path / "faults.toml"
    path.write_text(
        '[recovery]\ntransport = "ucx"\nrouting = "bgp"\n[[fault]]\nlink = "host-0"\nat = "1h"\n'
    )
    record = weft.run(
        faults, ["allreduce", "4096"], ranks=4, fabric="tofino-4", faults=str(path)
    ).check()
    assert record.faults
    recovery = record.faults.recovery
    assert recovery
    assert (recovery.transport, recovery.routing) == ("ucx", "bgp")
    assert (recovery.retries, recovery.collectives) == (7, "hosts")
    assert (
        "recovery: transport ucx (timeout 1.07 s, 7 retries), routing bgp (detection 900 ms,"
        " convergence 100 ms), collectives hosts" in str(record)
    )


DAILY = """
[recovery]
timeout = "100us"
[[fault]]
link = "host-0"
at = "300us"
until = "310us"
every = "21600s"
"""


def test_a_budget_is_the_cost_of_a_failure_times_its_rate(faults: str, tmp_path: Path) -> None:
    path = tmp_path / "faults.toml"
    path.write_text(DAILY)
    arguments = ["allreduce", str(4 << 20)]
    where: dict[str, Any] = {"ranks": 4, "fabric": "tofino-4", "offload": "stream"}
    without = weft.run(faults, arguments, **where).check()
    record = weft.run(faults, arguments, faults=path, budget=True, **where).check()
    assert record.faults
    budget = record.faults.budget
    assert budget
    lost = record.simulated_time_s - without.simulated_time_s
    assert lost > 0
    assert (record.faults.failures, record.faults.failures_per_day) == (1, 4)
    assert (budget.without_s, budget.lost_s) == (without.simulated_time_s, lost)
    assert budget.per_failure_s == lost
    assert budget.per_day_s == pytest.approx(4 * lost)
    assert budget.fraction == pytest.approx(4 * lost / DAY_S)
    assert "budget of faults" in str(record)


def test_a_budget_says_what_it_does_not_know(faults: str, tmp_path: Path) -> None:
    path = tmp_path / "faults.toml"

    def text(table: str) -> str:
        path.write_text(table)
        return str(
            weft.run(
                faults, ["allreduce", "4096"], ranks=4, fabric="tofino-4", faults=path, budget=True
            ).check()
        )

    slow = '[[fault]]\nlink = "host-0"\nkind = "slow"\nbandwidth = "50%"\n'
    said = text(f"{slow}at = 0\n")
    assert "how often these faults happen is not known: write every" in said
    outlasts = "a failure outlasts the run: the budget leaves out what the program loses until"
    assert outlasts not in said
    assert outlasts in text(f'{slow}at = "1us"\n')
    assert outlasts not in text(f'{slow}at = "1us"\nuntil = "2us"\n')
    assert "no failure happened during the run" in text('[[fault]]\nlink = "host-0"\nat = "900s"\n')
    with pytest.raises(WeftError, match="budget: found without a fault file"):
        weft.run(faults, ["allreduce", "4096"], ranks=4, fabric="tofino-4", budget=True)


GIVES_UP = """
[recovery]
timeout = "100us"
retries = 2
detection = "1ms"
convergence = "4ms"
[[fault]]
link = "host-0"
at = "300us"
every = "6h"
"""
WARNING = (
    "senders give up 300 us after a failure (recovery.timeout, backoff, retries), before routing"
    " avoids it after 5 ms (recovery.detection + recovery.convergence)"
)


def test_a_budget_counts_failures_that_end_the_job(faults: str, tmp_path: Path) -> None:
    path, written = tmp_path / "faults.toml", tmp_path / "run.json"
    path.write_text(GIVES_UP)
    run = ["run", "--fabric", "tofino-4", "-n", "4", "--faults", str(path), "--budget"]
    program = ["--json", str(written), "--", faults, "allreduce", str(4 << 20)]
    ended = weft_says(*run, *program)
    assert ended.returncode == 1
    assert ended.stderr.startswith(f"weft: {path}: {WARNING}")
    assert "each such failure ends the job, 4 per day: lost is the run so far, " in ended.stderr
    row = ended.stderr.partition("budget of faults\n")[2].splitlines()[1]
    assert row.split()[2:] == ["the", "job", "1", "4"]  # no time per failure or day
    record = weft.read_record(written)
    assert record.outcome.kind == "network-failure"
    assert record.faults
    budget = record.faults.budget
    assert budget
    lost_s = record.simulated_time_s
    assert (budget.ended_job, budget.ends_per_day, budget.lost_s) == (True, 4, lost_s)
    assert budget.per_failure_s == lost_s
    assert budget.per_day_s == pytest.approx(4 * lost_s)
    assert 0 < budget.without_s < lost_s
    assert WARNING in str(record)
    assert "each such failure ends the job" in record._repr_html_()
    # Two links that fail at once lose one run, and fail twice as often.
    path.write_text(GIVES_UP.replace('"host-0"', '"host-[01]"'))
    both = weft_says(*run, *program)
    assert "each such failure ends the job, 8 per day" in both.stderr
    # A program that fails by itself has no budget.
    path.write_text(GIVES_UP.replace("300us", "900s"))
    failing = compiled.program(TESTS / "smpi" / "jobs.c")
    alone = weft_says(*run, "--", str(failing), "exit", "1")
    assert "weft: --budget: there is none, because no fault ended the run" in alone.stderr


def test_a_comparison_has_a_budget_of_each_run(faults: str, tmp_path: Path) -> None:
    path, written = tmp_path / "faults.toml", tmp_path / "runs.json"
    path.write_text(GIVES_UP)
    run = ["run", "--fabric", "tofino-4", "-n", "4", "--faults", str(path), "--budget", "--compare"]
    ended = weft_says(*run, "--json", str(written), "--", faults, "allreduce", str(4 << 20))
    assert ended.returncode == 1
    for mode in ("--offload stream", "--offload off", "--fallback best"):
        assert f"{mode}: each such failure ends the job, 4 per day" in ended.stderr
    runs = json.loads(written.read_text())
    for name in ("with_offload", "without_offload", "with_best"):
        assert runs[name]["faults"]["budget"]["ends_per_day"] == 4
    path.write_text(DAILY)
    survived = weft_says(*run, "--", faults, "allreduce", str(4 << 20))
    assert survived.returncode == 0
    assert "per failure" in survived.stderr
    assert "ends the job" not in survived.stderr
    assert WARNING not in survived.stderr


def test_a_repair_within_the_retries_is_no_reason_to_warn(
    tmp_path: Path, fabric: _core.Fabric
) -> None:
    slow = 'timeout = "1ms"\nretries = 1\n'
    down = 'switch = "level2-000"\nat = 0'
    assert "2 ms after a failure" in made(tmp_path, fabric, down, recovery=slow).warning
    for table in (f'{down}\nuntil = "2ms"', f'{down}\nkind = "state"'):
        assert made(tmp_path, fabric, table, recovery=slow).warning == ""
    quick = slow + 'routing = "local"\n'
    assert made(tmp_path, fabric, down, recovery=quick).warning == ""


def test_failures_per_day_are_those_without_the_scale(tmp_path: Path, fabric: _core.Fabric) -> None:
    table = 'rates = "llama-3"\nlink = "*"\nscale = 1e6\nrepair = "1ns"\nend = "1ms"'
    per_day = made(tmp_path, fabric, table).per_day
    assert per_day == pytest.approx(1024 / (LLAMA_S / DAY_S))
    assert made(tmp_path, fabric, DOWN).per_day is None
    switches = made(tmp_path, fabric, 'switch = "level2-00[0-3]"\nat = 0\nevery = "43200s"')
    assert switches.per_day == pytest.approx(8)
    with pytest.raises(WeftError, match="every: found '0s'; write a duration above zero"):
        made(tmp_path, fabric, f'{DOWN}\nevery = "0s"')


def test_a_comparison_keeps_the_table_of_faults(faults: str, tmp_path: Path) -> None:
    path = tmp_path / "faults.toml"
    path.write_text(DAILY)
    text = str(
        weft.compare(
            faults, arguments=["allreduce", str(4 << 20)], ranks=4, fabric="tofino-4", faults=path
        )
    )
    assert "recovery: transport own (timeout 100 us, 7 retries)" in text
    for run in ("--offload stream", "--offload off", "--fallback best"):
        assert [line for line in text.splitlines() if line.startswith(f"{run} ")]


def test_wrong_reactions_are_refused(tmp_path: Path, fabric: _core.Fabric) -> None:
    def says(recovery: str) -> str:
        with pytest.raises(WeftError) as error:
            made(tmp_path, fabric, DOWN, recovery=recovery)
        return error.value.message

    assert "routing: found 'ospf'; allowed are bgp, bgp-hold-timer, local" in says(
        'routing = "ospf"'
    )
    assert "transport: found 'quic'; allowed are nccl, tcp, ucx" in says('transport = "quic"')
    assert "backoff: found 0.5; allowed is a number from 1 to 1000" in says("backoff = 0.5")
    assert "backoff: found 2 with 1000 retries, whose last timeout would be more than" in says(
        "backoff = 2\nretries = 1000"
    )


def test_a_call_in_the_network_waits_longer_each_time(faults: str, tmp_path: Path) -> None:
    def took(until_us: int, backoff: float) -> float:
        path = tmp_path / "faults.toml"
        path.write_text(
            f'[recovery]\ntimeout = "100us"\ncollectives = "resend"\nbackoff = {backoff}\n'
            f'[[fault]]\nlink = "host-0"\nat = "300us"\nuntil = "{until_us}us"\n'
        )
        arguments = ["allreduce", str(4 << 20)]
        record = weft.run(
            faults, arguments, ranks=4, fabric="tofino-4", offload="stream", faults=str(path)
        ).check()
        assert record.faults
        assert record.faults.resent_calls == 1
        return float(record.output.split()[0])

    first = took(310, 2)
    # Timeouts end 100, 300 and 700 us after the hit.
    assert took(590, 2) - first == pytest.approx(200e-6, rel=1e-9)
    assert took(610, 2) - first == pytest.approx(600e-6, rel=1e-9)
    assert took(610, 1) - first == pytest.approx(300e-6, rel=1e-9)


# ---- Changes


def test_changes_set_keys_of_the_tables_that_they_belong_to(
    tmp_path: Path, fabric: _core.Fabric
) -> None:
    path = tmp_path / "faults.toml"
    random = 'mtbf = "2s"\nrepair = "1ms"\nend = "1s"\nswitch = "*"\n'
    path.write_text(f"[[fault]]\n{random}[[fault]]\n{DOWN}\n")
    plain = prepare(path, (), fabric)
    other = prepare(path, ("fault.seed=7", "recovery.timeout=3us"), fabric)
    assert other.recovery.timeout_s == pytest.approx(3e-6)
    assert failed(other) != failed(plain)
    assert failed(other)[-1] == failed(plain)[-1]  # at a given time
    assert prepare(path, ("fault.mtbf = 2s",), fabric).events == plain.events
    for change, message in {
        "fault.sed=3": "fault.sed: no such key; did you mean seed",
        "fault.bandwidth=5%": "fault.bandwidth: no table [[fault]] of",
        "recovery.timeout": "write recovery.timeout=VALUE",
        "recovery.timeout=soon": "with recovery.timeout=soon: [recovery] timeout: found 'soon'",
    }.items():
        with pytest.raises(WeftError) as error:
            prepare(path, (change,), fabric)
        assert message in error.value.message


def test_set_changes_a_run_and_its_record(faults: str, tmp_path: Path) -> None:
    path = tmp_path / "faults.toml"
    path.write_text('[[fault]]\nlink = "host-0"\nat = "300s"\n[recovery]\nrouting = "local"\n')
    options = ("--fabric", "tofino-4", "-n", "2", "--set", "recovery.convergence=1ms")
    program = (faults, "allreduce", "4")
    result = weft_says("run", *options, "--faults", str(path), *program)
    assert result.returncode == 0, result.stderr
    assert "1 event was due after the run's end" in result.stderr
    record = weft.run(
        faults,
        program[1:],
        ranks=2,
        fabric="tofino-4",
        faults=str(path),
        set={"recovery.convergence": "1ms"},
    ).check()
    assert record.faults
    assert record.faults.changes == ["recovery.convergence=1ms"]
    assert record.faults.convergence_s == pytest.approx(1e-3)
    assert record.faults.detection_s == pytest.approx(2e-3)
    result = weft_says("run", *options, *program)
    assert result.returncode == 2
    assert "found 'recovery.convergence=1ms', a key of fault files; name one by" in result.stderr


def test_each_job_has_a_budget_of_its_own_time(faults: str, tmp_path: Path) -> None:
    path = tmp_path / "faults.toml"
    path.write_text(DAILY.replace("host-0", "host-00"))
    jobs = [
        job("hit", faults, "allreduce", 4 << 20),
        job("near", faults, "allreduce", 4 << 20),
        job("late", faults, "allreduce", 4096, start="1s"),
    ]
    where: dict[str, Any] = {"fabric": "tofino-16", "offload": "stream"}
    without = weft.run_jobs(jobs, **where).check()
    record = weft.run_jobs(jobs, faults=path, budget=True, **where).check()
    hit, near, late = (part(record, name).budget for name in ("hit", "near", "late"))
    lost = part(record, "hit").time_s - part(without, "hit").time_s
    assert lost > 0
    assert (hit.failures, hit.lost_s, hit.per_failure_s) == (1, lost, lost)
    assert hit.per_day_s == pytest.approx(4 * lost)
    assert (near.failures, near.lost_s) == (1, 0)
    assert late.failures == 0
    assert not late.per_failure_s, "unknown, as nothing failed while the job ran"
    assert "budget of faults\njob " in str(record)
    assert record.faults and not record.faults.budget


def test_a_job_that_a_failure_ends_is_lost(faults: str, tmp_path: Path) -> None:
    path, jobs = tmp_path / "faults.toml", tmp_path / "jobs.toml"
    path.write_text(GIVES_UP)
    jobs.write_text(
        f'[[jobs]]\nname = "hit"\nprogram = "{faults}"\narguments = ["allreduce", "4194304"]\n'
        "ranks = 4\n"
    )
    run = ["run", "--fabric", "tofino-4", "--faults", str(path), "--jobs", str(jobs), "--budget"]
    ended = weft_says(*run)
    assert ended.returncode == 1
    assert "hit: each such failure ends the job, 4 per day: lost is the run so far" in ended.stderr
    for other in ("--compare", "--alone", "--check-flows"):
        refused = weft_says(*run, other)
        assert refused.returncode == 2
        assert "found together with --" in refused.stderr
