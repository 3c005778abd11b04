# SPDX-License-Identifier: LGPL-2.1-only
"""Draws of runs: a number and a seed determine command line, files, and expected results."""

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tests.support import compiled, fabrics
from tests.support.faults import random_faults
from tests.support.places import TESTS
from tests.support.traffic import random_traffic
from weft import _core

MODES = ("plain",) * 8 + ("twice",) * 2 + ("compare",) * 2 + ("record",) * 2 + ("jobs",) * 6
OFFLOADS = ("stream", "message", "multicast", "auto", "off")
SHIPPED = ("tofino-16", "fat-tree-8", "torus-3x3", "dragonfly-12", "fat-tree-1024", "hdr100-16")
SWITCHES = ("tofino", "tofino", "ideal", "sharp", "tofino-fixed", "cache", "tcam", "l2")
ROUTING = ("ecmp", "ecmp-message", "adaptive", "adaptive-global", "spray")
FORWARDING = ("cache", "tcam")
"""Switches with forwarding caches, which packets do not model."""
SHARING = ("first-come", "quota", "exclusive", "reserved", "best-effort")
COLLECTIVES = ("allreduce", "reduce", "reduce_scatter", "barrier", "bcast", "allgather", "alltoall")
SMPI_FALLBACKS = ("default", "ompi", "mpich", "mvapich2", "impi")
SMPI_ALGORITHMS = (
    *("allgather=smpi:pair", "allgather=smpi:2dmesh", "allgather=smpi:mvapich2_smp"),
    *("allgatherv=smpi:pair", "allreduce=smpi:rab1", "alltoall=smpi:pair", "alltoall=smpi:2dmesh"),
    *("alltoallv=smpi:pair_mpi_barrier", "bcast=smpi:SMP_linear", "reduce=smpi:scatter_gather"),
    *("reduce_scatter=smpi:mpich_noncomm", "reduce_scatter=smpi:ompi_ring"),
)
"""SMPI algorithms that cannot execute some calls."""
UNFIT = {
    "allreduce": "ring",
    "reduce": "chain",
    "reduce_scatter": "ring",
    "barrier": "two_proc",
    "allgather": "two_proc",
}
"""weft algorithms that cannot execute some calls, for rules files."""
SURVIVABLE, HOSTILE = "survivable", "hostile"

PROGRAMS: dict[str, tuple[tuple[str, ...], ...]] = {
    "random_programs": (("{seed}", "{first}"),) * 9,
    "random_calls": (("{small}", "{first}"),) * 3,
    "faults.c": (("mixed", "4", "3"), ("mixed", "4096", "3"), ("mixed", "65536", "2")),
    "intercommunicators.c": (("collectives", "{small}", "6"), ("messages", "{small}")),
    "matched.c": (("{small}", "20"),),
    "neighbors.c": (("random", "{small}", "6"),),
    "partitioned.c": (("8", "6", "3"),),
    "persistent.c": (("{small}", "2"),),
    "planned.c": ((),),
    "random_one_sided.c": (("{seed}", "6"),) * 2,
    "reductions.c": (("{small}", "4"),),
    "window_locks.c": ((),),
}
"""Sources of programs that check their results, with choices of arguments."""

TRACED = ("random_programs", "random_calls", "faults.c", "reductions.c")
"""Programs whose calls traces support; the first only with old forms."""


@dataclass
class Program:
    """Program with its arguments and number of ranks."""

    source: str
    arguments: tuple[str, ...]
    ranks: int

    @property
    def path(self) -> str:
        return str(compiled.program(TESTS / "smpi" / self.source))


@dataclass
class Case:
    """Drawn run."""

    mode: str
    options: list[str] = field(default_factory=list)
    """Options of `weft run`, except options that name the program's ranks."""
    programs: dict[str, Program] = field(default_factory=dict)
    """Programs by job; without jobs, the program's name is an empty text."""
    placement: list[str] = field(default_factory=list)
    """Options for the ranks of a run without jobs."""
    drawn: list[str] = field(default_factory=list)
    """Drawn features, for the histogram."""
    faults: str = ""

    @property
    def words(self) -> list[str]:
        """Return the command line."""
        if self.mode == "jobs":
            return ["run", *self.options]
        program = self.programs[""]
        return [
            *("run", *self.options, *self.placement, "-n", str(program.ranks)),
            *("--", program.path, *program.arguments),
        ]


def draw_case(seed: int, number: int, folder: Path, packets: bool = False) -> Case:
    """Return the case with this number; write its files to the folder.

    With `packets`, messages are packets in networks with random flow and congestion control.
    """
    name = f"{seed} {number} packets" if packets else f"{seed} {number}"
    return _Drawing(random.Random(name), folder, packets).case


class _Drawing:
    def __init__(self, draw: random.Random, folder: Path, packets: bool) -> None:
        self.draw, self.folder, self.packets = draw, folder, packets
        self.case = Case(draw.choice(MODES))
        self.note(f"mode {self.case.mode}")
        if self.maybe(0.45):
            self.case.faults = draw.choice([SURVIVABLE, SURVIVABLE, HOSTILE])
        self.spray = False
        self.is_tree = False
        self.files = False
        self.offload = draw.choice(OFFLOADS[:-1] if self.case.mode == "compare" else OFFLOADS)
        self.add("--fabric", self.fabric())
        self.add("--offload", self.offload)
        self.note(f"offload {self.offload}")
        self.network()
        if self.packets:
            self.packet_network()
        self.switch()
        self.hosts()
        self.programs()
        self.events()
        self.simulation()

    def maybe(self, share: float) -> bool:
        return self.draw.random() < share

    def note(self, feature: str) -> None:
        self.case.drawn.append(feature)

    def add(self, *words: str) -> None:
        self.case.options += words

    def put(self, key: str, values: Sequence[object], share: float) -> None:
        """Override a key of the fabric in a fraction of the runs."""
        if self.maybe(share):
            value = self.draw.choice(values)
            self.add("--set", f"{key}={value}")
            self.note(f"set {key}")

    def fabric(self) -> str:
        self.preset, self.is_small = "tofino", True
        if self.maybe(0.3):
            name = self.draw.choice(SHIPPED)
            self.is_tree = name.startswith(("tofino", "fat-tree", "hdr"))
            self.spray = self.is_tree and not self.packets
            self.note(f"fabric {name}")
            self.is_small = name != "fat-tree-1024"
            return name
        kinds = [kind for kind in fabrics.SMALL if kind != "custom" or not self.case.faults]
        kind = self.draw.choice(kinds)
        known = [name for name in SWITCHES if not (self.packets and name in FORWARDING)]
        self.preset = self.draw.choice(known)
        self.is_tree = kind in ("star", "fat_tree")
        self.spray = self.is_tree and not self.packets
        self.note(f"fabric {kind}")
        self.note(f"switch {self.preset}")
        path = fabrics.make(self.folder, kind, switch=self.preset)
        more = self.policies() + self.noise() + self.storage(path)
        if self.offload in ("multicast", "auto") and self.maybe(0.5):
            more += '\n[progress_engine]\npreset = "bluefield-3-dpa"\n'
            self.note("progress engine")
        with path.open("a") as file:
            file.write(more)
        return str(path)

    def policies(self) -> str:
        if self.offload != "auto" or self.maybe(0.5):
            return ""
        self.note("policy")
        text = ""
        for _ in range(self.draw.randint(1, 3)):
            names = self.draw.sample(COLLECTIVES, self.draw.randint(1, 4))
            text += f"\n[[policy]]\ncollectives = {names}\n".replace("'", '"')
            text += f'below = "{self.draw.choice([64, 1024, 65536])}B"\n' if self.maybe(0.5) else ""
            text += f'offload = "{self.draw.choice(OFFLOADS)}"\n'
        return text

    def noise(self) -> str:
        if self.maybe(0.85):
            return ""
        self.note("noise")
        kind = self.draw.choice(["fixed", "exponential"])
        return (
            f"\n[noise]\nseed = {self.draw.randint(0, 99)}\n\n[[noise.host]]\n"
            f'interval = "100us"\nintervals = "{kind}"\ndetour = "5us"\ndistribution = "{kind}"\n'
            f'\n[[noise.link]]\njitter = "0.2us"\ndistribution = "{kind}"\n'
        )

    def storage(self, path: Path) -> str:
        if self.packets or self.maybe(0.85):
            return ""
        self.files = True
        last = _core.load_fabric(str(path)).hosts[-1]
        return (
            f'\n[storage]\nhosts = ["{last}"]\nread_bandwidth = "2GBps"\n'
            f'write_bandwidth = "1GBps"\nopen_latency = "5us"\n'
        )

    def network(self) -> None:
        if self.maybe(0.4):
            policies = ROUTING if self.spray and not self.case.faults else ROUTING[:-1]
            policy = self.draw.choice(policies)
            self.add("--set", f"routing.policy={policy}")
            self.note(f"routing {policy}")
        if self.packets:
            return
        self.put("link.sharing", ["flow", "host", "job"], 0.2)
        if (
            self.offload == "off"
            and not self.case.faults
            and self.case.mode != "jobs"
            and self.maybe(0.1)
        ):
            self.add("--no-contention")
            self.note("no contention")

    def packet_network(self) -> None:
        self.add("--network", "packets")
        control = self.draw.choice(["credits", "pfc", "none"])
        self.add("--set", f"network.flow_control={control}")
        self.note(f"flow control {control}")
        if control != "none" and not self.is_tree:
            self.add("--set", "network.lanes=15")
        self.put("network.packet", ["512B", "1KiB", "16KiB"], 0.5)
        self.put("network.switching", ["store-and-forward"], 0.3)
        if self.maybe(0.4) and not any("policy=adaptive" in word for word in self.case.options):
            self.put("network.load_balancing", ["spray", "random", "shortest-queue"], 1)
        else:
            self.put("network.retransmission", ["selective"], 0.5)
        trims = control == "none" and self.maybe(0.5)
        if trims:
            self.put("network.overflow", ["trim"], 1)
        self.congestion_control(control, trims)
        if control == "none":
            self.put("network.buffer", ["16KiB", "32KiB"], 0.7)
            self.put("network.retransmission_timeout", ["20us", "200us"], 0.8)
        if self.maybe(0.3):
            self.add("--set", "network.ecn_min=1kB", "--set", "network.ecn_max=20kB")
            self.note("early marks")

    def congestion_control(self, flow_control: str, trims: bool) -> None:
        rows = ["dcqcn", "swift", "timely"] + ["nscc"] * trims
        row = self.draw.choice(rows + ["infiniband"] * (flow_control == "credits"))
        if not self.maybe(0.5):
            return
        self.put("network.congestion_control", [row], 1)
        if row == "infiniband":
            self.put("network.infiniband.ccti_timer", ["1us", "50us"], 1)
            self.put("network.infiniband.threshold", [0, 1, 8], 0.3)
            self.put("network.infiniband.marking_rate", [0, 100], 0.5)
            self.put("network.infiniband.victim_mask", ["all"], 0.3)
            self.put("network.infiniband.ccti_increase", [0, 100], 0.3)
            if self.maybe(0.3):
                self.put("network.infiniband.cct", ["0:0,3:1,1:40", "0:0,0:100"], 1)
            else:
                self.put("network.infiniband.ccti_min", [1, 20, 127], 0.3)

    def switch(self) -> None:
        if self.preset not in ("l2", "cache", "tcam"):
            self.put("switch.channels", [1, 2, 32], 0.25)
            self.put("switch.slots", [1, 2, 16, 256], 0.25)
            self.put("switch.channel_sharing", SHARING, 0.25)
            self.put("switch.streaming_from", ["64B", "4KiB", "1MiB"], 0.2)
            self.put("switch.stream_sharing", ["all", "locked"], 0.1)
            self.put("switch.aggregation_rate", ["1Gbps", "50Gbps"], 0.1)
        if self.offload in ("multicast", "auto"):
            self.put("multicast.transport", ["ud", "uc"], 0.3)
            self.put("multicast.chains", [1, 2, 3], 0.3)
            self.put("multicast.trees", [1, 2], 0.3)
            self.put("multicast.chunk", ["1KiB", "4KiB"], 0.2)
            self.put("multicast.slow_branch", ["buffer", "pause"], 0.2)
            self.put("multicast.port_buffer", ["8KiB", "64KiB"], 0.1)
            if self.maybe(0.3):
                self.add("--drop-rate", self.draw.choice(["0.01", "0.2", "1"]))
                self.note("drops")

    def hosts(self) -> None:
        self.put("nic.contributions", ["per-rank", "per-host"], 0.25)
        self.put("nic.reduce_scatter", ["parts", "allreduce"], 0.15)
        self.put("mpi.eager_threshold", ["1B", "256B", "1MiB"], 0.2)
        self.put("mpi.progress", ["thread", "calls"], 0.25)
        if self.maybe(0.6):
            fallback = self.fallback()
            self.add("--fallback", fallback)
            self.note(f"fallback {_kind(fallback)}")

    def fallback(self, smpi: bool = True) -> str:
        kinds = ["selection", "best", "algorithms", "algorithms", "smpi", "smpi algorithms", "file"]
        kind = self.draw.choice(kinds)
        if kind == "best":
            return "best"
        if kind == "file":
            return self.selection_file()
        if kind.startswith("smpi") and smpi and self.case.mode != "jobs":
            if kind == "smpi":
                return f"smpi:{self.draw.choice(SMPI_FALLBACKS)}"
            return ",".join(self.draw.sample(SMPI_ALGORITHMS, 3))
        if kind != "algorithms":
            return self.draw.choice([one["name"] for one in _core.selections()])
        chosen = {one["collective"]: one["name"] for one in self.draw.sample(_algorithms(), 4)}
        return ",".join(f"{collective}={name}" for collective, name in sorted(chosen.items()))

    def selection_file(self) -> str:
        """Write a rules file, some of whose rules name algorithms that cannot execute the call."""
        base = self.draw.choice([one["name"] for one in _core.selections()])
        text = f'[selection]\nbase = "{base}"\n' if self.maybe(0.5) else ""
        for collective, algorithm in self.draw.sample(sorted(UNFIT.items()), 3):
            text += f'\n[[rule]]\ncollective = "{collective}"\nalgorithm = ["{algorithm}"]\n'
        path = self.folder / f"rules-{self.draw.randint(0, 10**6)}.toml"
        path.write_text(text)
        return str(path)

    def program(self, most: int) -> Program:
        known = TRACED if self.case.mode == "record" else PROGRAMS
        source = self.draw.choice([*known, *["random_programs"] * len(known)])
        seed, small = self.draw.randint(1, 10**6), self.draw.randint(1, 4)
        first = self.draw.randint(0, 200)
        words = self.draw.choice(PROGRAMS[source])
        arguments = [word.format(seed=seed, small=small, first=first) for word in words]
        if source == "random_programs" and self.maybe(0.5):
            arguments.append(str(first + (19 if self.packets else 2)))
        if self.case.mode == "record" and source == "random_programs":
            arguments.insert(0, "--old")
        if source == "random_programs" and self.files:
            arguments.insert(0, "--files")
            self.note("files")
        self.note(f"program {source}")
        least = 4 if source == "intercommunicators.c" else 2
        return Program(source, tuple(arguments), self.draw.randint(least, most))

    def programs(self) -> None:
        if self.case.mode == "jobs":
            self.jobs()
            return
        self.case.programs[""] = program = self.program(8)
        ppn = self.draw.choice([1, 1, 2, 3])
        if program.ranks > 7:
            ppn = max(ppn, 2)
        self.case.placement = ["--ppn", str(ppn)]
        self.note(f"ppn {ppn}")

    def jobs(self) -> None:
        text = ""
        for number in range(self.draw.randint(1, 3)):
            name = f"job-{number}"
            self.case.programs[name] = program = self.program(4)
            text += f'\n[[jobs]]\nname = "{name}"\nprogram = "{program.path}"\n'
            text += f"arguments = {list(program.arguments)}\n".replace("'", '"')
            text += f"ranks = {program.ranks}\nppn = 2\n"
            text += f'offload = "{self.draw.choice(OFFLOADS)}"\n' if self.maybe(0.5) else ""
            text += f'fallback = "{self.fallback(smpi=False)}"\n' if self.maybe(0.4) else ""
            text += f'start = "{self.draw.randint(1, 300)}us"\n' if self.maybe(0.5) else ""
            placement = self.draw.choice(["contiguous", "round-robin", "random", "fragments"])
            text += f'placement = "{placement}"\nseed = {self.draw.randint(0, 9)}\n'
        path = self.folder / "jobs.toml"
        path.write_text(text)
        self.add("--jobs", str(path))
        self.note(f"jobs {len(self.case.programs)}")

    def events(self) -> None:
        if self.maybe(0.35) and "--no-contention" not in self.case.options:
            self.add("--traffic", random_traffic(self.draw, self.folder, self.is_small))
            self.note("traffic")
        if self.case.faults:
            survivable = self.case.faults == SURVIVABLE
            write = random_faults if survivable else hostile_faults
            self.add("--faults", write(self.draw, self.folder))
            self.note(f"faults {self.case.faults}")

    def simulation(self) -> None:
        given = self.case.options
        excluded = {"--traffic", "--faults", "--jobs", "--network"}
        if self.maybe(0.08) and not excluded & set(given):
            self.add("--messages", "smpi")
            self.note("messages smpi")
        if self.maybe(0.12):
            names = self.draw.sample([one["name"] for one in _core.tunings()], 3)
            tunings = self.draw.choice(["none", ",".join(f"-{name}" for name in names)])
            self.add("--tunings", tunings)
            self.note("tunings off")
        if self.maybe(0.05) and self.case.mode != "jobs":
            self.add("--cfg", "contexts/factory:thread")
            self.note("ranks are threads")
        if self.maybe(0.08) and self.case.mode not in ("jobs", "compare"):
            self.add("--trace", str(self.folder / "timeline.json"))
            self.note("timeline")


def hostile_faults(draw: random.Random, folder: Path) -> str:
    """Write faults that are never repaired, or that a few retries do not survive."""
    kind = draw.choice(["abort", "hosts", "rebuild", "resend"])
    text = (
        f'[recovery]\ndetection = "{draw.randint(0, 50)}us"\n'
        f'convergence = "{draw.randint(0, 200)}us"\ntimeout = "{draw.randint(5, 100)}us"\n'
        f'retries = {draw.randint(0, 4)}\ncollectives = "{kind}"\nbackoff = {draw.randint(1, 2)}\n'
    )
    for _ in range(draw.randint(1, 3)):
        place = draw.choice(['link = "*"', 'switch = "*"', 'nic = "*"', 'host = "*[02]"'])
        text += f"\n[[fault]]\n{place}\n"
        if draw.random() < 0.4:
            text += f'at = "{draw.randint(0, 300)}us"\n'
            text += f'until = "{draw.randint(301, 900)}us"\n' if draw.random() < 0.3 else ""
        else:
            text += f'mtbf = "{draw.randint(200, 20000)}us"\nrepair = "{draw.randint(1, 900)}us"\n'
            text += f'end = "2ms"\nseed = {draw.randint(0, 99)}\n'
    path = folder / "faults.toml"
    path.write_text(text)
    return str(path)


def _algorithms() -> "list[_core.HostAlgorithm]":
    """Return the algorithms that can execute every call."""
    return [
        one
        for one in _core.host_algorithms()
        if one["any_operation"] and not one["two_ranks"] and not one["one_host"]
    ]


def _kind(fallback: str) -> str:
    if fallback.endswith(".toml"):
        return "rules of a file"
    if "=smpi:" in fallback:
        return "smpi's algorithms"
    return "algorithms" if "=" in fallback else fallback
