# SPDX-License-Identifier: LGPL-2.1-only
"""Testbeds: virtual topologies on a programmable switch, as planned by `weft testbed`."""

import tempfile
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from weft.api.fabrics import Fabric
from weft.api.input_checks import PathLike, Word, call, choice, existing, words
from weft.base.errors import WeftError
from weft.base.output import whole_file
from weft.base.plots import check_format
from weft_testbed.hardware import cables, medians
from weft_testbed.hardware import inventory as inventories
from weft_testbed.hardware.medians import PROBE_FRAME_BYTES
from weft_testbed.p4 import files as table_files
from weft_testbed.plan import distribution, fabric, latency, picture, plan, ports, wanted_topology
from weft_testbed.plan import file as plan_file
from weft_testbed.running import diff, iterate, probe
from weft_testbed.running import namespaces as netns
from weft_testbed.running import registry as running
from weft_testbed.running.probe import ProbeFindings
from weft_testbed.tables import entry_numbers, tables
from weft_testbed.tables import learning as first

if TYPE_CHECKING:
    from polars import DataFrame

    from weft_testbed.p4.client import Client

__all__ = [
    "P4Switch",
    "TestbedChange",
    "TestbedPlan",
    "testbed_down",
    "testbed_inventories",
    "testbed_iterate",
    "testbed_paper",
    "testbed_plan",
    "testbed_probe",
    "testbed_running",
    "testbed_status",
]

DEFAULT_NAME = "testbed"


@dataclass(frozen=True)
class P4Switch:
    """A switch controlled through P4Runtime."""

    address: str
    """HOST:PORT."""
    p4info: PathLike | None = None
    """P4Info of the compiled program (text). By default that of weft's own server."""
    config: PathLike | None = None
    """Compiled program. By default the program text, for weft's own server."""
    tls: PathLike | None = None
    """Directory with ca.pem, cert.pem and key.pem, for mutual authentication."""

    @contextmanager
    def _controller(self, *, configured: bool, primary: bool = True) -> "Iterator[Client]":
        from weft_testbed.p4.client import Client, pipeline

        if self.config is not None and self.p4info is None:
            raise WeftError("config: requires p4info, the file that the compiler writes beside it")
        if self.p4info is not None and self.config is None and not configured:
            raise WeftError("p4info: requires config, the compiled program")
        tls = None if self.tls is None else Path(self.tls)
        files = [None if one is None else Path(one) for one in (self.p4info, self.config)]
        with Client(self.address, pipeline(*files), primary=primary, tls=tls) as controller:
            yield controller


@dataclass(frozen=True)
class TestbedChange:
    """Minimal sequence of entry changes from one plan to another."""

    details: diff.Change

    @property
    def plan(self) -> "TestbedPlan":
        """The new plan, with its numbers after the change."""
        return TestbedPlan(self.details.plan)

    @call
    def frame(self) -> "DataFrame":
        """Return the steps in order: `step`, `table`, and the entry as JSON."""
        import json

        import polars

        return polars.DataFrame(
            [
                {
                    "step": step["step"],
                    "table": step.get("table"),
                    "entry": json.dumps({k: v for k, v in step.items() if k != "step"}),
                }
                for step in self.details.steps()
            ],
            schema={"step": polars.String, "table": polars.String, "entry": polars.String},
        )

    @call
    def save(self, path: PathLike) -> None:
        """Write the steps: as JSON (.json), else for simple_switch_CLI."""
        target = Path(path)
        if target.suffix == ".json":
            text = tables.changes_as_json(self.details.steps())
        else:
            text = table_files.script_of(self.details.script(), "the script")
        with whole_file("path", target) as file:
            file.write(text)

    def __repr__(self) -> str:
        """Return the number of entries that change."""
        one = self.details
        return f"<TestbedChange: remove {len(one.removed)}, add {len(one.added)}, keep {one.kept}>"


class TestbedPlan:
    """Placement of the hosts and switches of virtual topologies, and the paths of their cables."""

    __test__ = False  # not a pytest class
    details: plan.Plan

    @call
    def __init__(self, source: "PathLike | plan.Plan") -> None:
        """Read a plan written by `save` or `weft testbed plan`."""
        if isinstance(source, plan.Plan):
            self.details = source
        else:
            self.details = plan_file.read(existing("plan", source))

    @property
    def experiments(self) -> list[str]:
        """Names of the topologies."""
        return [one.name for one in self.details.experiments]

    @property
    def recirculated(self) -> int:
        """Number of recirculated cables."""
        return self.details.recirculated

    @call
    def save(self, path: PathLike) -> None:
        """Write the plan as JSON."""
        plan_file.write(self.details, Path(path))

    @call
    def frame(self) -> "DataFrame":
        """Return the use of each port of the chassis.

        `port`, `pipe`, `speed`, `cabled_to`, `role`, `experiment`, `cable`.
        """
        import polars

        return polars.DataFrame(
            [
                {
                    "port": use.port.number,
                    "pipe": use.port.pipe,
                    "speed": cables.gbps(use.port.speed),
                    "cabled_to": str(
                        use.peer or (use.port.kind if use.port.kind != "front" else "")
                    ),
                    "role": use.role,
                    "experiment": use.experiment,
                    "cable": use.cable,
                }
                for use in ports.uses(self.details)
            ]
        )

    @call
    def plot(self, path: PathLike) -> None:
        """Draw the plan: .png, .pdf or .svg."""
        check_format("path", Path(path))
        picture.draw(self.details, Path(path), "path")

    @call
    def latency(
        self, experiment: str | None = None, *, frame_bytes: int = PROBE_FRAME_BYTES
    ) -> "DataFrame":
        """Predict the round-trip time of each pair of hosts on idle cables.

        Args:
            experiment: The topology, if there are several.
            frame_bytes: Size of the frames in both directions.

        Returns:
            `source`, `target`, `switches`, `passes` (through the chassis), `wires`,
            `recirculations`, `layer2`, `round_trip_ns`, `least_ns`, `most_ns` (over the published
            ranges of the devices): counts are sums over both directions.
        """
        import polars

        found = latency.predict(self.details, self.details.experiment(experiment), frame_bytes)
        return polars.DataFrame([asdict(one) for one in found])

    @call
    def learning(
        self,
        source: str,
        target: str,
        *,
        learning_ms: float,
        gap_ms: float = 1.0,
        packets: int = 4,
        frame_bytes: int = PROBE_FRAME_BYTES,
        experiment: str | None = None,
    ) -> "DataFrame":
        """Predict the first packets between two hosts if the switches learn addresses by flooding.

        Args:
            source: The host that pings.
            target: The host that replies.
            learning_ms: Time from the first frame of a host to its entry in a switch.
            gap_ms: Time between pings.
            packets: Number of pings.
            frame_bytes: Size of the frames in both directions.
            experiment: The topology, if there are several.

        Returns:
            `packet` (`ARP`, 1, 2, …), `round_trip_ns`, `flooding` (switches that flooded the
            request or the reply), `copies` (frames that other hosts received).
        """
        import polars

        found = first.first_packets(
            self.details,
            self.details.experiment(experiment),
            (source, target),
            learning_ms=learning_ms,
            gap_ms=gap_ms,
            packets=packets,
            frame_bytes=frame_bytes,
        )
        return polars.DataFrame([asdict(one) for one in found])

    @call
    def write_fabric(self, path: PathLike, experiment: str | None = None) -> list[str]:
        """Write a planned topology as a fabric file, with the plan's latencies and bandwidths.

        Args:
            path: The fabric file to write.
            experiment: The topology, if there are several.

        Returns:
            Features of the requested switches that a slice of the chassis lacks.
        """
        chosen = self.details.experiment(experiment)
        fabric.write(self.details, chosen, Path(path))
        return fabric.losses(chosen)

    @call
    def write_tables(self, directory: PathLike) -> list[Path]:
        """Write the entries, the programs, and scripts for simple_switch_CLI and Tofino."""
        return _write_tables(self.details, Path(directory))

    @call
    def diff(self, new: "TestbedPlan | PathLike") -> TestbedChange:
        """Return the change from this plan to another, with the fewest entries."""
        other = new if isinstance(new, TestbedPlan) else TestbedPlan(new)
        return TestbedChange(diff.change(self.details, other.details))

    @call
    def up(
        self,
        name: str = DEFAULT_NAME,
        *,
        listen: str | None = None,
        tls: PathLike | None = None,
        insecure: bool = False,
        switch: P4Switch | None = None,
        replace: bool = False,
    ) -> None:
        """Build the plan on this machine from network namespaces; requires root.

        Args:
            name: Name of the testbed: its namespaces are weft-NAME.DEVICE.
            listen: HOST:PORT where the namespaces' P4Runtime server also listens.
            tls: Directory with ca.pem, cert.pem and key.pem, to authenticate clients there.
            insecure: Let other machines control it there without a certificate.
            switch: Load the plan into this switch instead.
            replace: Load the program even if the switch runs another one or has entries.
        """
        elsewhere = (
            {"listen": listen, "tls": tls, "insecure": insecure} if switch else {"replace": replace}
        )
        for option in (option for option, given in elsewhere.items() if given):
            place = "namespace testbeds" if switch else "switches"
            raise WeftError(
                f"{option}: applies to {place}, and switch is {'' if switch else 'not '}given"
            )
        if switch is None:
            certificates = None if tls is None else Path(tls)
            said = netns.up(self.details, name, listen, tls=certificates, insecure=insecure)
            if said:
                warnings.warn(said, stacklevel=3)
            return
        with switch._controller(configured=False) as controller:
            controller.fill(tables.entries(self.details), replace=replace)

    @call
    def change_to(
        self, new: "TestbedPlan", name: str = DEFAULT_NAME, *, switch: P4Switch | None = None
    ) -> "TestbedPlan":
        """Change a testbed from this plan to another; return the new plan with its numbers.

        Args:
            new: The new plan.
            name: Name of the testbed of namespaces.
            switch: Change this switch instead.
        """
        change = diff.change(self.details, new.details)
        if switch is None:
            netns.apply(self.details, change, name)
        else:
            before, after = tables.entries(self.details), tables.entries(change.plan)
            with switch._controller(configured=True) as controller:
                controller.prove(self.details, "OLD")
                controller.change(before, after, diff.DRAIN_MS / 1000)
        return TestbedPlan(change.plan)

    @call
    def apply(self, name: str = DEFAULT_NAME, *, switch: P4Switch | None = None) -> "TestbedPlan":
        """Change a running testbed to this plan from any state; return the plan with its numbers.

        Args:
            name: Name of the testbed of namespaces.
            switch: Change this switch instead.
        """
        if switch is None:
            return testbed_running(name).change_to(self, name)
        with switch._controller(configured=True) as controller:
            change = diff.change_from(controller.read(), self.details)
            after = tables.entries(change.plan)
            controller.change(change.before, after, diff.DRAIN_MS / 1000)
        return TestbedPlan(change.plan)

    @call
    def check(self, name: str = DEFAULT_NAME) -> ProbeFindings:
        """Verify by probing that the running testbed matches the plan; see `problems`."""
        return probe.check(self.details, name)

    def __repr__(self) -> str:
        """Return the topologies."""
        return f"<TestbedPlan of {', '.join(self.experiments)} on {self.details.inventory.name}>"


def _write_tables(made: plan.Plan, directory: Path) -> list[Path]:
    contents = table_files.contents(made)
    directory.mkdir(parents=True, exist_ok=True)
    for name, text in contents.items():
        with whole_file("directory", directory / name) as file:
            file.write(text)
    return [directory / name for name in contents]


def _text(one: PathLike | Fabric) -> str:
    return str(one.file) if isinstance(one, Fabric) else str(one)


@call
def testbed_inventories() -> "DataFrame":
    """Return the shipped inventories: `name`, `description`."""
    import polars

    names = inventories.shipped()
    return polars.DataFrame(
        {"name": names, "description": [inventories.read(name).description for name in names]}
    )


@call
def testbed_plan(
    inventory: PathLike,
    fabrics: Sequence[PathLike | Fabric] = (),
    *,
    keep: TestbedPlan | PathLike | None = None,
    end: Sequence[str] = (),
    chassis: str | None = None,
) -> TestbedPlan:
    """Map virtual topologies onto a testbed, with the fewest recirculated cables.

    Args:
        inventory: A TOML file or a shipped name.
        fabrics: The requested topologies: names, files, or fabrics.
        keep: A running plan whose experiments stay in place.
        end: Experiments of that plan to remove.
        chassis: Chassis of the inventory. By default the first on which all fit.

    Raises:
        WeftError: Something does not fit; the text names the resource and the shortfall.
    """
    there = inventories.read_all(str(inventory), chassis)
    running = None if keep is None else keep if isinstance(keep, TestbedPlan) else TestbedPlan(keep)
    ended = words("end", end)
    if running is None and ended:
        raise WeftError(f"end: found '{ended[0]}' without keep, a plan that has experiments")
    kept: list[plan.Experiment] = []
    if running is not None:
        one = running.details
        if one.inventory.text != there[0].text:
            raise WeftError(f"keep: is a plan on another inventory than {there[0].name}")
        for name in ended:
            choice("end", name, running.experiments)
        kept = [experiment for experiment in one.experiments if experiment.name not in ended]
        there = [two for two in there if two.chassis.name == one.inventory.chassis.name]
        if not there:
            raise WeftError(
                f"chassis: found '{chassis}', but keep is a plan of {one.inventory.chassis.name},"
                " and running experiments stay there; leave out chassis"
            )
    if not fabrics and not (kept and ended):
        raise WeftError("fabrics: found none; name the topologies to plan")
    topologies = [wanted_topology.read(_text(one)) for one in fabrics]
    return TestbedPlan(plan.on_first(there, lambda at: plan.make(at, topologies, kept)))


@call
def testbed_running(name: str = DEFAULT_NAME) -> TestbedPlan:
    """Return the plan that a testbed of namespaces runs, with its numbers.

    Args:
        name: Name of the testbed.
    """
    netns.check_name(name)
    return TestbedPlan(running.plan_of(name))


@call
def testbed_status(
    name: str | None = None,
    *,
    plan: TestbedPlan | PathLike | None = None,
    switch: P4Switch | None = None,
) -> "DataFrame":
    """Return the running testbeds of namespaces and their owners, or the state of a switch.

    Args:
        name: Only this testbed of namespaces. By default all.
        plan: Plan to compare with.
        switch: Read this switch instead.

    Returns:
        `name`, `user`, `since`, `listen`, `experiments`, `hosts`, `state` ("as recorded", or the
        difference); for a switch `name` and `state`. With a plan, `difference` as well.
    """
    import polars

    from weft_testbed.running import status

    other = None if plan is None else plan if isinstance(plan, TestbedPlan) else TestbedPlan(plan)
    if switch is not None:
        with switch._controller(configured=True, primary=False) as controller:
            row = {"name": switch.address, "state": status.of_switch(controller)}
            if other is not None:
                row["difference"] = entry_numbers.compare(other.details, controller.read()).said()
        return polars.DataFrame([row])
    if other is not None and name is None:
        raise WeftError("plan: applies to one testbed; give its name")
    found = status.of_all() if name is None else [status.of_one(name)]
    rows = [{**asdict(one), "experiments": list(one.experiments)} for one in found]
    if other is not None and name is not None:
        rows[0]["difference"] = running.difference(other.details, name)
    return polars.DataFrame(rows)


@call
def testbed_down(name: str = DEFAULT_NAME, *, switch: P4Switch | None = None) -> int:
    """Remove a testbed of namespaces and the processes in it, or the entries of a switch.

    Args:
        name: Name of the testbed of namespaces.
        switch: Remove this switch's entries instead; its program stays.

    Returns:
        Number of namespaces or entries removed.
    """
    if switch is None:
        return netns.down(name)
    with switch._controller(configured=True) as controller:
        return controller.change(controller.read(), [], 0)


@call
def testbed_iterate(
    inventory: PathLike,
    fabrics: Sequence[PathLike | Fabric],
    command: Sequence[Word],
    *,
    chassis: str | None = None,
    up_as: str | None = None,
    directory: PathLike | None = None,
    on_step: Callable[[str], object] | None = None,
) -> None:
    """Run a command for each of several topologies on one testbed; all plans are made first.

    Args:
        inventory: A TOML file or a shipped name.
        fabrics: The topologies, in order.
        command: Command to run; `weft testbed iterate --help` describes its environment.
        chassis: Chassis of the inventory.
        up_as: Build each topology from namespaces of this name while the command runs; requires
            root.
        directory: Directory for plans, tables, changes and fabrics. By default none are kept.
        on_step: Called with each topology's name.

    Raises:
        WeftError: A topology does not fit, or the command has failed.
    """
    if up_as is not None:
        netns.check_name(up_as)
    there = inventories.read_all(str(inventory), chassis)
    topologies = [wanted_topology.read(_text(one)) for one in fabrics]
    line = words("command", command)
    if not line or not topologies:
        raise WeftError(f"{'fabrics' if line else 'command'}: found an empty list")

    def announce(step: iterate.Step) -> None:
        if on_step is not None:
            on_step(step.name)

    with tempfile.TemporaryDirectory(prefix="weft-") as temporary:
        place = Path(temporary if directory is None else directory)
        place.mkdir(parents=True, exist_ok=True)
        iterate.run(iterate.prepare(there, topologies, place), line, up_as=up_as, on_step=announce)


@call
def testbed_probe(*files: PathLike, plot: PathLike | None = None) -> "DataFrame":
    """Compute round-trip times from a probe's time stamps (CSV: c1,s1,s2,c2 in nanoseconds).

    Args:
        files: The tables.
        plot: Figure of the distributions.

    Returns:
        A row for each file: `file`, `count`, and the percentiles `p0_ns` to `p100_ns` in
        nanoseconds.
    """
    import polars

    if not files:
        raise WeftError("files: found none; name at least one")
    if plot is not None:
        check_format("plot", Path(plot))
    trips = {str(one): medians.read_probe(existing("files", one)) for one in files}
    if plot is not None:
        distribution.draw(trips, Path(plot), "plot")
    return polars.DataFrame(
        [
            {
                "file": name,
                "count": len(found),
                **{f"p{at:g}_ns": distribution.quantile(found, at) for at in distribution.SHARES},
            }
            for name, found in trips.items()
        ]
    )


@call
def testbed_paper() -> "DataFrame":
    """Compare predicted round-trip times with TopoCloud's medians.

    Returns:
        `over` (direct cables, the chassis, a layer 2 switch), `median_ns`, `predicted_ns`.
    """
    import polars

    found = medians.measured()
    predicted = {
        "direct": found.direct,
        "chassis": found.direct + 2 * found.chassis_pass,
        "l2": found.direct + 2 * found.l2_pass,
    }
    return polars.DataFrame(
        [
            {"over": way, "median_ns": getattr(found, way), "predicted_ns": value}
            for way, value in predicted.items()
        ]
    )
