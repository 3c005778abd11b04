# SPDX-License-Identifier: LGPL-2.1-only
"""Columns of a campaign's tables with unit and meaning; the docs are generated from them."""

from dataclasses import dataclass

from weft.runs import offload_modes

_MECHANISMS = ", ".join(f"`{name}`" for name in offload_modes.MECHANISMS)


@dataclass(frozen=True)
class Column:
    """A column of a table."""

    unit: str
    """`s`, `bytes`, `calls`, `1` for a fraction, empty for text."""
    meaning: str


BEST_TIME = "best_time_s"
NOT_MEASURED = "not_measured"


def _gain(name: str, over: str) -> dict[str, Column]:
    """Return the columns of a gain and its interval."""
    return {
        name: Column("1", f"Speed-up of the run over {over}; empty in their own rows"),
        f"{name}_low": Column(
            "1",
            "Lower end of its [interval](compare.md#how-sure-the-gain-is); empty if nothing was"
            " offloaded",
        ),
        f"{name}_high": Column("1", "Upper end"),
        f"{name}_says": Column(
            "", "`faster`, `slower` or `cannot tell`, if the interval contains 1"
        ),
    }


GAINS = (*_gain("speed_up", ""), *_gain("speed_up_over_best", ""), NOT_MEASURED)
"""Columns that compare a run with another one."""

COLUMNS: dict[str, Column] = {
    "run": Column("", "Digest of the run, the name of its file in the store"),
    "state": Column(
        "",
        "`done`; `failed` in the simulation; `refused`: weft did not start it; `missing`: not run"
        " yet, with `--missing` only",
    ),
    "outcome": Column("", "[`outcome.kind`](record.md#outcome) of its record; empty if refused"),
    "message": Column("", "Reason of a failure or refusal; empty if done"),
    "simulated_time_s": Column(
        "s", "Simulated time from the program's start to the end of its last rank"
    ),
    BEST_TIME: Column(
        "s",
        "Simulated time of the run with [the hosts' fastest algorithms](campaigns.md#gains), in"
        " rows with `offload` `off`; empty if there is none",
    ),
    **_gain("speed_up", "the hosts (`offload` `off`)"),
    **_gain("speed_up_over_best", "the hosts' fastest algorithms"),
    NOT_MEASURED: Column(
        "",
        "Values of the two runs [outside what was measured](compare.md#how-sure-the-gain-is);"
        " empty if there are none",
    ),
    "collectives_s": Column(
        "s", "Part of it in the calls counted under `collectives`, mean of the ranks"
    ),
    "mpi_s": Column("s", "Part of it in MPI calls of any kind, mean of the ranks"),
    "calls": Column(
        "calls", "Collective calls of the program, each counted once for all its ranks"
    ),
    "offloaded_calls": Column("calls", "Number of these that were offloaded"),
    "wall_time_s": Column("s", "Wall time of the simulation"),
    "cpu_time_s": Column("s", "CPU time of the simulation, user and system"),
    "peak_memory_bytes": Column("bytes", "Peak RSS of the simulation"),
    "busiest_link": Column("", "Link with the highest utilisation; empty if no link was used"),
    "busiest_link_utilisation": Column(
        "1", "Utilisation of that link: fraction of the simulated time that its bytes occupy it"
    ),
    "mean_link_utilisation": Column("1", "Mean utilisation of all links of the fabric"),
    "slots_used_max": Column(
        "slots", "Maximum number of slots in use at the same time in one switch"
    ),
    "bytes_reduced": Column("bytes", "Contributions reduced by all switches"),
    "bytes_multicast": Column("bytes", "Results sent by all switches, counting all copies"),
    "fault_events": Column(
        "events", "[Faults](faults.md) and repairs during the run; empty without a fault file"
    ),
    "failures": Column("failures", "Faults that began during the run, without repairs"),
    "failures_per_day": Column(
        "1/d",
        "Failures per day at the real rates, without `scale`; empty if the fault file has none",
    ),
    "messages_cut": Column("messages", "Messages and flows of calls that faults have cut"),
    "calls_hit": Column("calls", "Times that a fault has hit a collective in the network"),
    "waited_s": Column(
        "s", "Time from cuts until senders sent the rest again, over all messages that were cut"
    ),
    "lost_in_calls_s": Column(
        "s", "Time from hits of collectives until they went on, with the time of what they repeated"
    ),
}
"""Columns of the table of runs, after the campaign's own keys."""

COLLECTIVE_COLUMNS: dict[str, Column] = {
    "run": COLUMNS["run"],
    "collective": Column("", "`allreduce`, `bcast`, …; non-blocking ones with the prefix `i`"),
    "communicator_size": Column("ranks", "Number of ranks of the communicators"),
    "datatype": Column("", "MPI's name of it"),
    "op": Column("", "MPI's name of the operation; empty if nothing is reduced"),
    "path": Column("", f"Executor: {_MECHANISMS}; `fallback`: the hosts"),
    "reason": Column("", "Fallback reason; empty if offloaded"),
    "algorithm": Column("", "Host algorithm; empty if offloaded"),
    "calls": Column("calls", "Number of calls, each counted once for all its ranks"),
    "bytes": Column("bytes", "Total time of all calls, mean of the ranks"),
    "mean_time_s": Column(
        "s", "Mean time of one rank in one call; empty for SMPI's own non-blocking calls"
    ),
    "max_time_s": Column("s", "Maximum time of any rank in one call"),
}
"""Columns of the table of collectives, after the campaign's own keys."""


def collective_name(column: str, keys: list[str]) -> str:
    """Return a column's name in the table of collectives of a campaign with these keys.

    Keys of a campaign keep their names, so a column such as `bytes` becomes `call_bytes` on a
    clash.
    """
    return f"call_{column}" if column in keys else column
