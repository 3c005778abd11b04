# SPDX-License-Identifier: LGPL-2.1-only
"""Objects of SimGrid and SMPI that weft creates lazily for each rank; behaviour is unchanged.

binding/tuning/test_memory.py covers the saved memory.
"""

from pathlib import Path

import pytest

from tests.support import fabrics, simulated
from tests.support.simulated import Program

RANKS = 3
ALL_SMALL = ("--cfg", "smpi/async-small-thresh:65536")


def printed(
    program: Program, *arguments: str, options: tuple[str, ...] = (), on: str = "tofino-4"
) -> list[str]:
    """Return the output of three ranks."""
    command = simulated.weft_command(
        program("parts.c"), *arguments, on=on, ranks=RANKS, options=("-q", *options)
    )
    result = simulated.run_command(command)
    assert result.status == 0, result.stderr
    return result.stdout.splitlines()


def test_a_small_message_begins_before_it_is_waited_for(program: Program, tmp_path: Path) -> None:
    """The mailbox for small messages requires its receiver from the start."""
    free = str(fabrics.with_free_hosts(tmp_path, "tofino-4"))  # has no small messages
    late, _ = printed(program, "early", on=free)
    there, probed = printed(program, "early", options=ALL_SMALL, on=free)
    assert float(late) > 1 > float(there)
    assert probed == "0"


def test_small_messages_that_are_looked_for_are_found(program: Program) -> None:
    command = simulated.weft_command(
        program("polls.c"), "wait", "probe", "5000", ranks=2, options=("-q", *ALL_SMALL)
    )
    assert simulated.run_command(command).status == 0


@pytest.mark.parametrize("options", [(), ALL_SMALL])
def test_one_sided_communication(program: Program, options: tuple[str, ...]) -> None:
    lines = [line.split() for line in printed(program, "one-sided", options=options)]
    assert [line[:2] for line in lines] == [["3", "2"], ["0", "0"], ["0", "0"]]
    assert {line[2] for line in lines} == {"3"}


def test_an_actor_knows_its_properties(program: Program) -> None:
    assert printed(program, "properties") == 2 * ["smpirun 2 1", "2 smpirun 2"]


def test_a_rank_changes_its_own_arguments(program: Program) -> None:
    """All ranks start with the same arguments, which are stored once."""
    assert printed(program, "arguments", "x") == ["1 Arguments A", "1 Brguments B", "1 Crguments C"]
