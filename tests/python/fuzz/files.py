# SPDX-License-Identifier: LGPL-2.1-only
"""Fuzz targets: each reads one kind of file as the commands do."""

import gzip
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from tests.support.workloads import Executor
from weft import _core
from weft.base import paths
from weft.base.errors import WeftError
from weft.base.units import parse_counts, parse_size, parse_sizes
from weft.calibrate.measurements.samples import read_allreduce, read_pingpong
from weft.calibrate.switch.observations import read_observations
from weft.campaign.cluster import file as cluster_file
from weft.campaign.file import file as campaign_file
from weft.campaign.file import runs
from weft.fabric.traffic import read_traffic
from weft.runs import settings, site
from weft.runs.record import read_record
from weft.study import schedules
from weft.study.forwarding import jobs
from weft.study.validation import validate
from weft.trace.calls import CALLS
from weft.trace.folder import read_folder
from weft.training.accelerator import load_accelerator
from weft.training.build import build
from weft.training.file import load_model
from weft.training.recorder import Recorder
from weft_testbed.hardware import inventory, medians
from weft_testbed.p4 import info as p4info
from weft_testbed.p4 import program as p4_program
from weft_testbed.p4 import script
from weft_testbed.plan import fabric as testbed_fabric
from weft_testbed.plan import file as plan_file
from weft_testbed.plan import latency, plan, ports, wanted_topology
from weft_testbed.running import diff
from weft_testbed.tables import tables

SHARED = Path(_core.__file__).parent
_MOST_HOSTS = 256
_MOST_RUNS = 60
_MOST_TRAINED = 32
"""Maximum ranks of an iteration that is executed."""
_MOST_PASSES = 200
"""Maximum of microbatches times layers times ring steps of an iteration that is executed."""


@dataclass(frozen=True)
class Target:
    """File format to fuzz; `read` returns the text that a user would see about a file."""

    name: str
    file: str
    seeds: Sequence[str]
    read: Callable[[Path], str]


def _texts(*patterns: str, folder: Path = SHARED) -> list[str]:
    files = [path for pattern in patterns for path in sorted(folder.glob(pattern))]
    assert files, patterns
    return [path.read_text("utf-8") for path in files if path.stat().st_size < 50_000]


_TESTBED = Path(inventory.__file__).parents[1]

_POLICY = """
[[policy]]
collectives = ["allreduce"]
datatypes = ["MPI_INT"]
from = "1KiB"
offload = "off"
[multicast]
chains = 2
[[multicast.drops]]
link = "*"
probability = 0.1
[mpi]
eager_threshold = "4KiB"
send_overhead = "0.1us"
[[point_to_point]]
from = "0B"
latency_factor = 1.0
bandwidth_factor = 0.9
"""
_CUSTOM = """
[fabric]
name = "own"
[topology]
kind = "custom"
hosts = ["a", "b"]
switches = ["s"]
[[topology.cables]]
between = ["a", "s"]
[[topology.cables]]
between = ["b", "s"]
[host]
preset = "xeon-8360"
[nic]
preset = "connectx-6-dx"
[switch]
preset = "tofino"
[[switch.offload]]
collectives = ["bcast"]
[link]
bandwidth = "100Gbps"
latency = "1us"
[[links]]
match = "a--*"
latency = "2us"
"""


def _fabric(path: Path) -> str:
    fabric = _core.load_fabric(str(path))
    text = fabric.describe()
    return text + (fabric.check() if len(fabric.hosts) <= _MOST_HOSTS else "")


def _engine(path: Path) -> str:
    return _core.load_progress_engine(str(path)).describe()


def _inventory(path: Path) -> str:
    found = inventory.read_all(str(path))
    for one in found:
        list(script.init(one))
        [one.cabled(device) for device in one.devices.values()]
    return found[0].description


def _plan(path: Path) -> str:
    """Read a plan; accepted plans are also used, which must not fail."""
    found = plan_file.read(path)
    entries = tables.entries(found)
    tables.as_json(found)
    list(script.added(entries, found.inventory))
    list(p4info.requests(entries, p4info.Names(p4_program.shipped())))
    ports.uses(found)
    diff.change(found, found)
    for one in found.experiments:
        list(testbed_fabric.render(found, one))
        latency.predict(found, one)
    return " ".join(one.name for one in found.experiments)


def _selection(path: Path) -> str:
    _core.smpi_fallbacks(str(path))
    for collective, size in (("allreduce", 4), ("bcast", 1 << 20), ("alltoall", 1024)):
        schedules.schedule(schedules.Case(collective, 6, size, selection=str(path)))
    return ""


def _campaign(path: Path) -> str:
    found = campaign_file.read(path)
    return " ".join(str(point["fabric"]) for point in islice(found.points(), 100))


def _runs(path: Path) -> str:
    """Derive the digests of the runs; commands in the file are not executed."""
    found = campaign_file.read(path)
    if sum(grid.size for grid in found.grids) > _MOST_RUNS:
        return ""
    made = runs.of(found, dict.fromkeys(found.programs, Path("/bin/true")))
    return " ".join(run.digest for run in made.runs)


def _cluster(path: Path) -> str:
    return " ".join(cluster_file.read(path).setup)


def _training(path: Path) -> str:
    """Write the programs of small files."""
    found = load_model(path)
    parallel = found.parallel
    passes = found.microbatches * found.model.layers * parallel.context
    if parallel.ranks > _MOST_TRAINED or passes > _MOST_PASSES:
        return found.name
    workload, summary = build(found, load_accelerator("h100-sxm"), Recorder, ignore_memory=True)
    Executor(workload).run()
    return summary.layout


def _record(path: Path) -> str:
    record = read_record(path)
    read_traffic(path, _core.load_fabric("tofino-4"))
    return record.fabric.name


def _manifest(path: Path) -> str:
    (path.parent / "actions.txt").write_text(_ACTIONS)
    return read_folder(path.parent).manifest.fabric


def _actions(path: Path) -> str:
    (path.parent / "manifest.json").write_text(_MANIFEST)
    return read_folder(path.parent).manifest.fabric


def _calls(path: Path) -> str:
    """Read calls; lines are mutated uncompressed, as gzip's checksum would reject most inputs."""
    (path.parent / "manifest.json").write_text(_CALLS_MANIFEST)
    (path.parent / CALLS).write_bytes(gzip.compress(path.read_bytes(), 1))
    return read_folder(path.parent).manifest.fabric


def _pingpong(path: Path) -> str:
    return read_pingpong(path).source


def _allreduce(path: Path) -> str:
    read_allreduce(path)
    return read_observations(path, None, "all", 256, 1).name


def _probe(path: Path) -> str:
    return str(sorted(medians.read_probe(path)))


def _jobs(path: Path) -> str:
    return str([jobs.distribution(sizes) for sizes in jobs.read_jobs(path).values()])


def _platform(path: Path) -> str:
    site.check_platform(path)
    return ""


def _checks(path: Path) -> str:
    return " ".join(check.name for check in validate.read_checks(path))


def _words(path: Path) -> str:
    """Parse option values that weft parses itself, one per file."""
    text = path.read_text("utf-8", "replace").partition("\n")[0]
    for read in (parse_size, parse_sizes, parse_counts, _core.parse_bandwidth, _speed):
        try:
            read(text)
        except (WeftError, _core.UserError):
            continue
    return ""


def _speed(text: str) -> None:
    settings.check_speed(text)
    settings.check_form(text)


_ACTIONS = "0 send 1 0 4 MPI_INT\n1 recv 0 0 4 MPI_INT\n" + "".join(
    f"{rank} {line}\n"
    for rank in (0, 1)
    for line in (
        *("allreduce 4 MPI_INT MPI_SUM", "bcast 4 0 MPI_INT", "barrier", "compute 1e6", "ibarrier"),
        *("wait_collective 0", "gatherv 1 1 1 0 MPI_INT MPI_INT", "alltoall 1 1 MPI_INT MPI_INT"),
        *("reduce 1 0 MPI_DOUBLE MPI_SUM", "sleep 0.1", "reduce_scatter 1 1 MPI_INT MPI_SUM"),
        "finalize",
    )
)
_MANIFEST = json.dumps(
    {
        **{"schema": "weft-trace/1", "weft": "0", "simgrid": "4.1", "program": "p", "ranks": 2},
        **{"arguments": ["x"], "command": ["weft", "run"], "ppn": None, "fabric": "tofino-4"},
        **{"offload": "stream", "simulated_time_s": 0.1, "polls": False},
    },
    indent=1,
)
_CALLS = """weft-calls 2 2
0 Isend 0 4 MPI_INT 1 7 0
communicator 1 0-1
0 Comm_dup 0 1
0 Waitany 0,-1 0
0 Allgatherv 1 4 MPI_INT 4*2 MPI_INT
0 Alltoallw 1 1*2 MPI_INT,derived:8 1*2 MPI_INT*2
0 Comm_split 1 undefined 3 null
0 Finalize
1 compute 1e6
1 Recv 0 4 MPI_INT any any
1 Comm_dup 0 1
1 Allreduce 1 in-place 4 MPI_DOUBLE user
1 Finalize
end 12
"""
_CALLS_MANIFEST = json.dumps(
    {
        **{"schema": "weft-trace/2", "weft": "0", "simgrid": "4.1", "program": "p", "ranks": 2},
        **{"arguments": ["x"], "command": ["weft", "run"], "ppn": None, "fabric": "tofino-4"},
        **{"offload": "stream", "fallback": "openmpi-5.0", "host_speed": "", "config": []},
        **{"simulated_time_s": 0.1, "lines": 12},
    },
    indent=1,
)
_SWF = "; a comment\n" + "".join(
    f"{k} 0 5 60 {k} -1 -1 {k} 60 -1 1 1 1 1 1 -1 -1 -1\n" for k in range(9)
)
_OSU = "# OSU MPI Latency Test\n# Size          Latency (us)\n" + "".join(
    f"{1 << k:<10} {1 + k / 4:.2f}\n" for k in range(12)
)
_IMB = "# Benchmarking PingPong\n#bytes #repetitions t[usec] Mbytes/sec\n" + "".join(
    f" {1 << k} 1000 {1 + k / 4:.2f} {k}.5\n" for k in range(9)
)
_SKAMPI = 'begin result "Pingpong_Send_Recv"\n' + "".join(
    f"count= {1 << k} {4 << k} {1 + k / 4} 0.1 8\n" for k in range(9)
)
_CSV = "# by us\nbytes,op,median_us,mean_us\n" + "".join(
    f"{1 << k},{op},{1 + k / 4},{2 + k}\n" for op in ("MPI_Send", "MPI_Recv") for k in range(9)
)
_RANKS = "ranks,nodes,mean_us\n4,4,5.0\n8,4,6.5\n12,4,8.0\n16,4,9\n"
_XML = """<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1"><zone id="z" routing="Full"><host id="a" speed="1Gf"/></zone></platform>
"""
_PROBE = "c1,s1,s2,c2\n0,100,150,900\n10,200,230,1100\n"


_CAMPAIGN = """
[campaign]
name = "slots"
description = "what slots are worth"
timeout = "60s"
memory = "2GiB"
most_runs = 1000
[programs.latency]
source = "latency.c"
flags = ["-O1"]
arguments = ["{bytes:B}", "{rounds}"]
inputs = ["c.toml"]
[programs.other]
path = "/bin/true"
build = "true"
privatize = false
arguments = ["{bytes:B}", "{rounds}"]
[[runs]]
program = ["latency", "other"]
fabric = ["tofino-4", "tofino-16"]
ranks = [4, 8]
ppn = [1, 2]
zip = [["ranks", "ppn"]]
offload = ["stream", "off"]
fallback = "bcast=binomial,openmpi-5.0"
bytes = { from = "4B", to = "1KiB", times = 16 }
rounds = 2
seed = 1
repetitions = 2
switch.slots = [64, 256]
leave_out = [{ offload = "off", "switch.slots" = 64 }]
[[runs]]
program = "other"
fabric = "tofino-4"
ranks = 4
bytes = "1MiB"
rounds = { from = 1, to = 3, plus = 1 }
host_speed = "10Gf"
"""
_CLUSTER = """
[cluster]
partition = "batch"
account = "me"
jobs = 4
cores = 32
memory = "4GiB"
walltime = "1-02:00:00"
setup = ["module load gcc", "module load python/3.11"]
sbatch = ["--qos=short"]
logs = "logs"
address = "10.0.0.1"
patience = "00:10:00"
"""
_TRAINING = """
[model]
layers = 8
hidden = 64
feed_forward = 128
heads = 8
kv_heads = 4
vocabulary = 512
experts = 8
experts_per_token = 2
expert_feed_forward = 32
shared_experts = 1
dense_layers = 1
window = 16
window_period = 2
[parallel]
tensor = 2
context = 2
pipeline = 2
virtual_stages = 2
data = 2
expert = 2
sharding = "fsdp"
schedule = "interleaved"
context_exchange = "ring"
[batch]
sequence = 64
global = 8
[train]
recomputation = "selective"
slowdown = 1.5
copies = 1.5
bucket = "10KiB"
overlap = true
"""
_RULES = """rule-file-version-2
2 # collectives
2 # allreduce
2
4 1
0 3 0 0
8 2
0 3 0 0 0
65536 4 0 1024 2
7 1
4 2
0 6 0 0
1048576 5 4 8192
"""


def _record_text() -> str:
    fabric = _core.load_fabric("tofino-4")
    rows = {
        "collective": "allreduce", "communicator_size": 4, "datatype": "MPI_INT", "op": "MPI_SUM",
        "path": "stream", "reason": "", "algorithm": "", "calls": 1, "bytes": 4,
        "total_time_s": 1e-5, "total_wait_s": 0, "max_time_s": 1e-5,
    }  # fmt: skip
    links = [
        {"name": name, "bandwidth_Bps": 1e10, "bytes": 4.0, "utilisation": 0.1}
        for cable in fabric.cables()
        for name in (f"{cable['name']}.up", f"{cable['name']}.down")
    ]
    switch = {
        "name": fabric.switches[0]["name"], "offloaded": 1, "bytes_reduced": 16,
        "bytes_multicast": 0, "slots_used_max": 1, "channels_used_max": 1,
    }  # fmt: skip
    return json.dumps(
        {
            "schema": "weft-run/1", "weft": "0.1", "simgrid": "4.1", "ranks": 4, "hosts_used": 4,
            "fabric": {
                "name": fabric.name, "file": "f", "topology": "star", "hosts": 4, "switches": 1,
                "links": fabric.links,
            },
            "offload": "stream", "outcome": {"kind": "completed"}, "simulated_time_s": 1e-5,
            "collectives": [rows], "switches": [switch], "links": links, "program": "p",
        },
        indent=1,
    )  # fmt: skip


def _plan_texts(directory: Path) -> Iterator[str]:
    """Yield plans of each kind of cable: direct ones, wires, and recirculated ones."""
    path = directory / "plan.json"
    for chassis, names in (
        *(("topocloud-64", names) for names in (("tofino-4",), ("star-8", "line-4"))),
        ("recirculating-64", ("ring-6",)),
    ):
        made = plan.make(inventory.read(chassis), [wanted_topology.read(name) for name in names])
        plan_file.write(made, path)
        yield path.read_text("utf-8")


def targets(directory: Path) -> list[Target]:
    """Return all targets with their seed inputs."""
    rows = [_OSU, _IMB, _SKAMPI, _CSV, _RANKS, *_texts("data/p2p*.csv", "data/tofino*.csv")]
    fabrics = [text + more for text in _texts("fabrics/*.toml") for more in ("", _POLICY)]
    words = ["4:1MiB", "4,1KiB,64KiB", "1:16", "100Gbps", "10Gf", "contexts/stack-size:16384"]
    return [
        Target("fabric", "f.toml", [*fabrics, _CUSTOM, _CUSTOM, _CUSTOM], _fabric),
        Target("engine", "e.toml", _texts("presets/progress_engine/*.toml"), _engine),
        Target("inventory", "i.toml", _texts("inventories/*.toml", folder=_TESTBED), _inventory),
        Target("plan", "p.json", [*_plan_texts(directory)], _plan),
        Target("selection", "s.toml", [*_texts("presets/mpi/*.toml")], _selection),
        Target("rules", "rules.conf", [_RULES], _selection),
        Target("campaign", "c.toml", [_CAMPAIGN], _campaign),
        Target("runs", "c.toml", [_CAMPAIGN], _runs),
        Target("cluster", "c.toml", [_CLUSTER], _cluster),
        Target("training", "t.toml", [_TRAINING], _training),
        Target("record", "r.json", [_record_text()], _record),
        Target("manifest", "manifest.json", [_MANIFEST, _CALLS_MANIFEST], _manifest),
        Target("actions", "actions.txt", [_ACTIONS], _actions),
        Target("calls", "calls", [_CALLS], _calls),
        Target("pingpong", "t.csv", rows, _pingpong),
        Target("allreduce", "t.csv", rows, _allreduce),
        Target("probe", "t.csv", [_PROBE], _probe),
        Target("swf", "j.swf", [_SWF], _jobs),
        Target("jobs", "j.csv", ["trace,procs,jobs\na,4,2\nb,8,1\n"], _jobs),
        Target("platform", "p.xml", [_XML], _platform),
        Target("checks", "c.toml", [paths.data(validate.CHECKS).read_text("utf-8")], _checks),
        Target("words", "w.txt", words, _words),
    ]
