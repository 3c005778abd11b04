# SPDX-License-Identifier: LGPL-2.1-only
"""Columns of a campaign's tables with unit and meaning, from which the docs are generated."""

from dataclasses import dataclass

from weft.runs import offload_modes

_MECHANISMS = ", ".join(f"`{name}`" for name in offload_modes.MECHANISMS)


@dataclass(frozen=True)
class Column:
    """A column of a table."""

    unit: str
    """`s`, `bytes`, `calls`; `1` for a fraction; empty for text."""
    meaning: str


OWN_TIME = "own_time_s"
BEST_TIME = "best_time_s"
NOT_MEASURED = "not_measured"
_WAIT = (
    "before the last rank [entered](guide.md#waiting-for-late-ranks) each call; empty for runs of"
    " earlier versions"
)


def _gain(name: str, over: str, of: str = "run") -> dict[str, Column]:
    """Return the columns of a gain and its interval."""
    return {
        name: Column("1", f"Speed-up of the {of} over {over}; empty in their own rows"),
        f"{name}_low": Column(
            "1",
            "Lower end of its [interval](compare.md#how-sure-the-gain-is); empty if nothing was"
            " offloaded",
        ),
        f"{name}_high": Column("1", "Upper end"),
        f"{name}_says": Column(
            "",
            "`faster`, `slower`, `same` (within 0.5 %), or `cannot tell`, if the interval"
            " contains 1",
        ),
    }


GAINS = (*_gain("speed_up", ""), *_gain("speed_up_over_best", ""), NOT_MEASURED)
"""Columns that compare a run with another run."""
JOB_GAINS = (*_gain("job_speed_up", ""), *_gain("job_speed_up_over_best", ""), NOT_MEASURED)
"""Columns that compare a job with the same job of another run."""

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
    OWN_TIME: Column(
        "s",
        "Time that gains compare: of the first job of a [jobs file](jobs.md), from its start to its"
        " end; else `simulated_time_s`",
    ),
    BEST_TIME: Column(
        "s",
        "`own_time_s` of the run with [the hosts' fastest algorithms](campaigns.md#gains), in"
        " rows with `offload` `off`; empty if there is none",
    ),
    **_gain(
        "speed_up",
        "the hosts (`offload` `off`), of an iteration of training over `collectives` `rings and"
        " trees`",
    ),
    **_gain("speed_up_over_best", "the hosts' fastest algorithms"),
    NOT_MEASURED: Column(
        "",
        "Values of the two runs [outside what was measured](compare.md#how-sure-the-gain-is);"
        " empty if there are none",
    ),
    "collectives_s": Column(
        "s", "Part of it in the calls counted under `collectives`, mean of the ranks"
    ),
    "collectives_wait_s": Column("s", f"Part of `collectives_s` {_WAIT}"),
    "mpi_s": Column("s", "Part of the simulated time in MPI calls of any kind, mean of the ranks"),
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
    "failure_times": Column("times", "Distinct times at which faults began"),
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
        "s",
        "Time from hits of collectives until they continued, with the time of what they repeated",
    ),
}
"""Columns of the table of runs, after the campaign's own keys."""

ITERATION_COLUMNS: dict[str, Column] = {
    "computation_s": Column("s", "Time in which a rank computes, mean of the ranks"),
    "exposed_s": Column("s", "Communication that no computation hides, mean of the ranks"),
    "waiting_s": Column(
        "s",
        "Time in which a rank waits for other ranks to begin a collective or a message, such as the"
        " bubbles of a pipeline; mean of the ranks",
    ),
    "idle_s": Column("s", "Time in which a rank has nothing to do, mean of the ranks"),
    "communicated_s": Column("s", "Communication, hidden or not, mean of the ranks"),
    "bound": Column("", "[Part](training.md#where-the-time-goes) that takes most of the time"),
    "limiting_links": Column(
        "",
        "[Class of links](training.md#classes-of-links) that limits most of the exposed"
        " communication; empty if there is none",
    ),
    "limited_s": Column("s", "Exposed communication that it limits, mean of the ranks"),
    "carried_s": Column("s", "Of this, the time in which the limiting links carry bytes"),
    "mfu": Column("1", "Model FLOPs utilisation"),
    "tflops_per_gpu": Column("TFLOP/s", "Operations of the model per second and GPU"),
    "tokens_per_s_per_gpu": Column("1/s", "Tokens per second and GPU"),
    "memory_needed_bytes": Column("bytes", "Memory that a GPU needs"),
    "messages": Column("messages", "Messages that were simulated"),
}
"""Columns of the table of runs that follow `COLUMNS` for training iterations."""

COMMON_COLUMNS = (
    *("run", "state", "outcome", "message", "simulated_time_s", "speed_up", "calls"),
    *("wall_time_s", "cpu_time_s", "peak_memory_bytes"),
    *("busiest_link", "busiest_link_utilisation"),
    *("fault_events", "failures", "failure_times", "failures_per_day", "messages_cut", "waited_s"),
)
"""Names in `COLUMNS` that also apply to training iterations."""

PART_COLUMNS: dict[str, Column] = {
    "run": COLUMNS["run"],
    "job": Column("", "Job of a jobs file; empty if the run is one iteration"),
    "part": Column(
        "",
        "[Use of time](training.md#where-the-time-goes): `computation`, `exposed KIND`, `waiting"
        " KIND`, `idle`, with the kind of group",
    ),
    "mean_s": Column("s", "Time of the part, mean of the ranks"),
    "most_s": Column("s", "Time of the part, maximum of the ranks"),
}
"""Columns of the table of iteration parts, after the campaign's own keys."""

JOB_COLUMNS: dict[str, Column] = {
    "run": COLUMNS["run"],
    "job": Column("", "Name of the job in its [jobs file](jobs.md)"),
    "job_ranks": Column("ranks", "Number of its ranks"),
    "job_ppn": Column("ranks", "Ranks per host"),
    "hosts_used": Column("hosts", "Number of its hosts"),
    "start_s": Column("s", "Simulated time of its start"),
    "time_s": Column("s", "Time from its start to its end; empty if it failed"),
    "outcome": Column("", "[`outcome.kind`](record.md#jobs) of the job"),
    **_gain("job_speed_up", "the same job on the hosts (`offload` `off`)", "job"),
    **_gain("job_speed_up_over_best", "the same job with the hosts' fastest algorithms", "job"),
    NOT_MEASURED: Column(
        "",
        "Values of the two jobs [outside what was measured](compare.md#how-sure-the-gain-is);"
        " empty if there are none",
    ),
    "collectives_s": Column("s", "Part of its time in collectives, mean of its ranks"),
    "collectives_wait_s": Column("s", f"Part of `collectives_s` {_WAIT}"),
    "mpi_s": Column("s", "Part of its time in MPI calls of any kind, mean of its ranks"),
    "calls": Column("calls", "Collective calls of the job"),
    "offloaded_calls": Column("calls", "Number of these that were offloaded"),
    "fallback_calls": Column("calls", "Number of these that were to be offloaded and fell back"),
    **{
        name: Column("s", f"{ITERATION_COLUMNS[name].meaning}; empty for MPI programs")
        for name in ("computation_s", "exposed_s", "waiting_s", "idle_s")
    },
}
"""Columns of the table of jobs, after the campaign's own keys."""

COLLECTIVE_COLUMNS: dict[str, Column] = {
    "run": COLUMNS["run"],
    "job": Column("", "Job of a jobs file; empty if the run had one program"),
    "collective": Column("", "`allreduce`, `bcast`, …; non-blocking ones with the prefix `i`"),
    "communicator_size": Column("ranks", "Number of ranks of the communicators"),
    "datatype": Column("", "MPI's name of it"),
    "op": Column("", "MPI's name of the operation; empty if nothing is reduced"),
    "path": Column("", f"Executor: {_MECHANISMS}; `fallback`: the hosts"),
    "reason": Column("", "Fallback reason; empty if offloaded"),
    "algorithm": Column("", "Host algorithm; empty if offloaded"),
    "calls": Column("calls", "Number of calls, each counted once for all its ranks"),
    "bytes": Column("bytes", "Contribution of a rank to all calls, mean of the ranks"),
    "mean_time_s": Column(
        "s", "Mean time of one rank in one call; empty for SMPI's own non-blocking calls"
    ),
    "mean_wait_s": Column("s", f"Part of `mean_time_s` {_WAIT}, and where `mean_time_s` is"),
    "max_time_s": Column("s", "Maximum time of any rank in one call"),
}
"""Columns of the table of collectives, after the campaign's own keys."""


def collective_name(column: str, keys: list[str]) -> str:
    """Return a column's name in the table of collectives of a campaign with these keys.

    Keys of a campaign keep their names, so a column such as `bytes` becomes `call_bytes` on a
    clash.
    """
    return f"call_{column}" if column in keys else column


def job_name(column: str, keys: list[str]) -> str:
    """Return a column's name in the table of jobs of a campaign with these keys."""
    return f"its_{column}" if column in keys else column
