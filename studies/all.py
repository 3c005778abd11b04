# SPDX-License-Identifier: LGPL-2.1-only
"""List of all studies."""

from studies import (
    campaigns,
    command_line,
    congestion_control,
    contention,
    cpu_and_memory,
    fabric_files,
    failures,
    fault_rates,
    faults,
    foreign_files,
    forwarding,
    forwarding_caches,
    forwarding_ft,
    host_algorithms,
    hosts,
    iterations,
    jobs,
    mpi_changes,
    mpi_functions,
    nccl,
    packets,
    performance,
    progress_engine,
    reports,
    rooms,
    routing,
    scale,
    shared_fabric,
    shared_switch,
    testbed,
    traffic,
    training,
    training_study,
    tunings,
    tutorial,
)
from studies.crowds import page as crowds
from studies.growth import page as growth
from studies.multicast import (
    activation,
    ag_rs,
    chains,
    claims,
    cores,
    cutoff,
    drops,
    figure_2,
    figure_10,
    figure_11,
    figure_12,
    fsdp,
    incast,
    others,
    variability,
)
from studies.paper_001 import collectives, dt, point_to_point, speed
from studies.real_programs import costs, gains, packages, traces
from studies.study import Study

STUDIES: dict[str, Study] = {
    module.STUDY.name: module.STUDY
    for module in (
        *(
            contention,
            routing,
            cpu_and_memory,
            forwarding,
            forwarding_caches,
            forwarding_ft,
            progress_engine,
            gains,
            costs,
            traces,
            packages,
        ),
        *(host_algorithms, hosts, rooms, testbed, tutorial),
        *(
            campaigns,
            command_line,
            congestion_control,
            fabric_files,
            foreign_files,
            iterations,
            jobs,
            mpi_changes,
            mpi_functions,
            nccl,
            packets,
            reports,
            training,
            training_study,
            tunings,
        ),
        *(failures, fault_rates, faults, traffic),
        *(shared_switch, shared_fabric),
        *(point_to_point, collectives, dt, speed),
        *(
            figure_2,
            figure_10,
            cutoff,
            drops,
            figure_11,
            variability,
            others,
            figure_12,
            ag_rs,
            chains,
            incast,
        ),
        *(activation, fsdp, cores, claims),
        *(crowds, growth, performance, scale),
    )
}


def chosen(names: list[str]) -> list[Study]:
    """Return the studies with these names or prefixes, such as `multicast`."""
    wanted = []
    for name in names:
        beginning = [one for one in STUDIES.values() if one.name.startswith(f"{name}-")]
        found = [STUDIES[name]] if name in STUDIES else beginning
        if not found:
            raise ValueError(f"found '{name}'; allowed are {', '.join(STUDIES)}")
        wanted += found
    return wanted or list(STUDIES.values())
