# SPDX-License-Identifier: LGPL-2.1-only
"""Tables of jobs, and their parts of a record, for tests of `weft run --jobs`."""

from typing import Any

from weft.runs.record import Record

FAILURES = {
    "return": ("exit", 4),
    "exit": ("exit", 4),
    "early": ("early-exit", 4),
    "abort": ("abort", 4),
    "crash": ("signal", 139),
    "raise": ("signal", 143),
    "hang": ("deadlock", 1),
    "mismatch": ("mismatch", 1),
    "thread-abort": ("abort", 4),
    "thread-crash": ("signal", 139),
}
"""Ways in which tests/smpi/jobs.c fails: outcome, and exit status for the number 1."""


def job(name: str, program: str, *arguments: object, ranks: int = 4, **more: Any) -> dict[str, Any]:
    words = [str(one) for one in arguments]
    return {"name": name, "program": program, "arguments": words, "ranks": ranks, **more}


def said(record: Record, name: str) -> list[str]:
    """Return the output of a job."""
    begin = f"{name}: "
    return [
        line.removeprefix(begin) for line in record.output.splitlines() if line.startswith(begin)
    ]


def part(record: Record, name: str) -> Any:
    """Return a job's part of the record."""
    (found,) = (one for one in record.jobs or () if one.name == name)
    return found


def outcome(record: Record, name: str) -> tuple[str, int]:
    one = part(record, name)
    return one.outcome.kind, one.exit_status


def results(record: Record, name: str) -> dict[str, Any]:
    """Return the results that must not depend on other jobs: output, times, calls and traffic."""
    one = part(record, name).to_json()
    for used in one["links"] + one["switches"]:
        del used["share"]
    return {**{key: one[key] for key in one if key != "hosts"}, "said": said(record, name)}
