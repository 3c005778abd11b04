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

COLUMNS: dict[str, Column] = {
    "run": Column("", "The run's digest, which is the name of its file in the store"),
    "state": Column(
        "",
        "`done`; `failed` in the simulation; `refused` by weft, which did not start it; `missing`,"
        " where it has not been run and missing ones are asked for",
    ),
    "outcome": Column(
        "", "How it ended, [`outcome.kind`](record.md#outcome) of its record; empty if refused"
    ),
    "message": Column("", "Why it failed or was refused; empty if done"),
    "simulated_time_s": Column("s", "From the program's start to the end of its last rank"),
    BEST_TIME: Column(
        "s",
        "The same of the run by [the hosts' fastest algorithms](campaigns.md#gains), beside"
        " `offload` `off`; empty where there is none",
    ),
    "collectives_s": Column("s", "Of it, in the calls under `collectives`, mean of the ranks"),
    "mpi_s": Column("s", "Of it, in calls of MPI of any kind, mean of the ranks"),
    "calls": Column(
        "calls", "Collectives that the program called, each once however many ranks take part"
    ),
    "offloaded_calls": Column("calls", "How many of them the switches did"),
    "wall_time_s": Column("s", "Real time that the simulation took"),
    "cpu_time_s": Column("s", "CPU time that it took, user and system"),
    "peak_memory_bytes": Column("bytes", "The most memory that it held, resident"),
    "busiest_link": Column("", "The link with the highest utilisation; empty where none was used"),
    "busiest_link_utilisation": Column(
        "1", "Part of the simulated time for which its bytes fill it"
    ),
    "mean_link_utilisation": Column("1", "The same, mean of all links of the fabric"),
    "slots_used_max": Column("slots", "Most slots in use at a time in any one switch"),
    "bytes_reduced": Column("bytes", "Contributions that switches reduced, all switches together"),
    "bytes_multicast": Column("bytes", "Results that switches sent out, all copies together"),
}
"""Columns of the table of runs, after the campaign's own keys."""

COLLECTIVE_COLUMNS: dict[str, Column] = {
    "run": COLUMNS["run"],
    "collective": Column("", "`allreduce`, `bcast`, …; with `i` before it where it does not block"),
    "communicator_size": Column("ranks", "Ranks of the communicators"),
    "datatype": Column("", "MPI's name of it"),
    "op": Column("", "MPI's name of the operation; empty where nothing is combined"),
    "path": Column("", f"What did it: {_MECHANISMS}; `fallback`: the hosts"),
    "reason": Column("", "Why it fell back; empty if offloaded"),
    "algorithm": Column("", "The algorithm of the hosts; empty if offloaded"),
    "calls": Column("calls", "Each once, however many ranks take part"),
    "bytes": Column("bytes", "Of all calls together, mean of the ranks"),
    "mean_time_s": Column(
        "s", "Of one rank in one call; nothing for SMPI's own calls that do not block"
    ),
    "max_time_s": Column("s", "The longest of any rank"),
}
"""Columns of the table of collectives, after the campaign's own keys."""


def collective_name(column: str, keys: list[str]) -> str:
    """Return a column's name in the table of collectives of a campaign with these keys.

    Keys of a campaign keep their names, so a column such as `bytes` becomes `call_bytes` on a
    clash.
    """
    return f"call_{column}" if column in keys else column
