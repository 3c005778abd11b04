# SPDX-License-Identifier: LGPL-2.1-only
"""weft simulates MPI programs on clusters whose switches compute.

    import weft

    record = weft.run("ring.c", fabric="tofino-16", ranks=16)
    print(record)
    record.frame("collectives")

`weft.run`, `weft.compare` and `weft.Campaign` execute one run, two runs and many runs;
`docs/python.md` lists the call for each command of the command line. User errors raise `WeftError`;
a program that fails in the simulation is an outcome in its record.

Public names are loaded lazily, and this module imports only what Python has already imported: build
systems call `weft-cc` hundreds of times. The first part serves type checkers and editors, the
second the interpreter; both parts list the names in `__all__` of the modules in `weft.api`.
Extensions such as weft-testbed add names (`weft.base.extras`).
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    # names for type checkers: `make stub`
    from weft._core import version as __version__
    from weft.api.bench import bench, bench_like
    from weft.api.benches import (
        Demo,
        Schedule,
        Validation,
        collective_algorithms,
        collective_schedule,
        collective_selections,
        demo,
        nccl_choices,
        validate,
    )
    from weft.api.caches import (
        CacheTable,
        HashProof,
        cache_capacity,
        cache_hash,
        cache_jobs,
        cache_placement,
        cache_rate,
        cache_trace,
        cache_traffic,
        cache_ways,
        progress_engine_memory,
        progress_engine_throughput,
    )
    from weft.api.calibrating import (
        ClusterCalibration,
        CpuSpeed,
        HostCalibration,
        MessagesFit,
        SwitchCalibration,
        calibrate_cluster,
        calibrate_cpu,
        calibrate_here,
        calibrate_host,
        calibrate_p2p,
        calibrate_switch,
    )
    from weft.api.campaigns import Campaign, Program, Progress
    from weft.api.compiling import compile, mpi_commands
    from weft.api.fabrics import (
        Fabric,
        check_platform,
        fabric_from,
        fabric_options,
        fabrics,
        new_fabric,
    )
    from weft.api.input_checks import ArgumentError
    from weft.api.results import Results, Status, write_report
    from weft.api.running import compare, read_record, record_trace, replay, run, run_jobs
    from weft.api.schemas import schema
    from weft.api.training import TrainedIteration, compare_training, replay_training, train
    from weft.base import paths
    from weft.base.errors import WeftError
    from weft.runs.record import FailedRunError, Record
    from weft.runs.replay import Recording
    from weft.study.comparison.comparison import Comparison
    from weft.study.forwarding.hashes import Cube
    from weft_testbed.api import P4Switch as P4Switch
    from weft_testbed.api import TestbedChange as TestbedChange
    from weft_testbed.api import TestbedPlan as TestbedPlan
    from weft_testbed.api import testbed_down as testbed_down
    from weft_testbed.api import testbed_inventories as testbed_inventories
    from weft_testbed.api import testbed_iterate as testbed_iterate
    from weft_testbed.api import testbed_paper as testbed_paper
    from weft_testbed.api import testbed_plan as testbed_plan
    from weft_testbed.api import testbed_probe as testbed_probe
    from weft_testbed.api import testbed_running as testbed_running
    from weft_testbed.api import testbed_status as testbed_status
    # end

__all__ = [
    # public names: `make stub`
    "ArgumentError",
    "CacheTable",
    "Campaign",
    "ClusterCalibration",
    "Comparison",
    "CpuSpeed",
    "Cube",
    "Demo",
    "Fabric",
    "FailedRunError",
    "HashProof",
    "HostCalibration",
    "MessagesFit",
    "Program",
    "Progress",
    "Record",
    "Recording",
    "Results",
    "Schedule",
    "Status",
    "SwitchCalibration",
    "TrainedIteration",
    "Validation",
    "WeftError",
    "__version__",
    "bench",
    "bench_like",
    "cache_capacity",
    "cache_hash",
    "cache_jobs",
    "cache_placement",
    "cache_rate",
    "cache_trace",
    "cache_traffic",
    "cache_ways",
    "calibrate_cluster",
    "calibrate_cpu",
    "calibrate_here",
    "calibrate_host",
    "calibrate_p2p",
    "calibrate_switch",
    "check_platform",
    "collective_algorithms",
    "collective_schedule",
    "collective_selections",
    "compare",
    "compare_training",
    "compile",
    "demo",
    "fabric_from",
    "fabric_options",
    "fabrics",
    "mpi_commands",
    "nccl_choices",
    "new_fabric",
    "paths",
    "progress_engine_memory",
    "progress_engine_throughput",
    "read_record",
    "record_trace",
    "replay",
    "replay_training",
    "run",
    "run_jobs",
    "schema",
    "train",
    "validate",
    "write_report",
    # end
]

_MODULES: "dict[str, tuple[str, ...]]" = {
    # names by module: `make stub`
    "weft._core": ("__version__",),
    "weft.api.bench": ("bench", "bench_like"),
    "weft.api.benches": (
        "Demo",
        "Schedule",
        "Validation",
        "collective_algorithms",
        "collective_schedule",
        "collective_selections",
        "demo",
        "nccl_choices",
        "validate",
    ),
    "weft.api.caches": (
        "CacheTable",
        "HashProof",
        "cache_capacity",
        "cache_hash",
        "cache_jobs",
        "cache_placement",
        "cache_rate",
        "cache_trace",
        "cache_traffic",
        "cache_ways",
        "progress_engine_memory",
        "progress_engine_throughput",
    ),
    "weft.api.calibrating": (
        "ClusterCalibration",
        "CpuSpeed",
        "HostCalibration",
        "MessagesFit",
        "SwitchCalibration",
        "calibrate_cluster",
        "calibrate_cpu",
        "calibrate_here",
        "calibrate_host",
        "calibrate_p2p",
        "calibrate_switch",
    ),
    "weft.api.campaigns": ("Campaign", "Program", "Progress"),
    "weft.api.compiling": ("compile", "mpi_commands"),
    "weft.api.fabrics": (
        "Fabric",
        "check_platform",
        "fabric_from",
        "fabric_options",
        "fabrics",
        "new_fabric",
    ),
    "weft.api.input_checks": ("ArgumentError",),
    "weft.api.results": ("Results", "Status", "write_report"),
    "weft.api.running": ("compare", "read_record", "record_trace", "replay", "run", "run_jobs"),
    "weft.api.schemas": ("schema",),
    "weft.api.training": ("TrainedIteration", "compare_training", "replay_training", "train"),
    "weft.base": ("paths",),
    "weft.base.errors": ("WeftError",),
    "weft.runs.record": ("FailedRunError", "Record"),
    "weft.runs.replay": ("Recording",),
    "weft.study.comparison.comparison": ("Comparison",),
    "weft.study.forwarding.hashes": ("Cube",),
    # end
}
_NAMES = {name: module for module, names in _MODULES.items() for name in names}
_OTHERWISE_CALLED = {"__version__": "version"}


def __getattr__(name: str) -> object:
    """Load a public name on first use."""
    if name not in _NAMES:
        if name.startswith("_"):  # requested by tools that inspect modules
            raise AttributeError(f"module 'weft' has no attribute '{name}'")
        from weft.base.extras import find_call

        return find_call(name)
    from importlib import import_module

    own = _OTHERWISE_CALLED.get(name, name)
    module = import_module(_NAMES[name])
    value = globals()[name] = (
        getattr(module, own) if hasattr(module, own) else import_module(f"{module.__name__}.{own}")
    )
    return value


def __dir__() -> "list[str]":
    from weft.base.extras import calls

    return [*__all__, *calls(), *(name for name in globals() if name.startswith("__"))]
