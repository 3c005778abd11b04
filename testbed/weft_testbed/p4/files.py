# SPDX-License-Identifier: LGPL-2.1-only
"""Files that fill a switch with a plan's entries, by name."""

from collections.abc import Iterable

from weft_testbed.hardware.inventory import FOLDER
from weft_testbed.p4 import bfrt, script, script_check
from weft_testbed.p4 import info as p4info
from weft_testbed.p4 import program as p4_program
from weft_testbed.plan.plan import Plan
from weft_testbed.tables import tables

NAMES = (
    "tables.json", "init.txt", "runtime.txt", "testbed.p4", "testbed_tna.p4", "p4info.txt",
    "write.txt", "bfrt_ports.py", "bfrt_entries.py",
)  # fmt: skip


def contents(plan: Plan) -> dict[str, str]:
    """Return the texts of all files; scripts are checked against the program."""
    entries, program = tables.entries(plan), p4_program.shipped()
    tna = (FOLDER / p4_program.TNA).read_text("utf-8")
    texts = (
        tables.as_json(plan),
        script_of(script.init(plan.inventory), "init.txt"),
        script_of(script.added(entries, plan.inventory), "runtime.txt"),
        (FOLDER / p4_program.V1MODEL).read_text("utf-8"),
        bfrt.program(plan.inventory, tna),
        p4info.as_text(p4info.p4info(program)),
        "".join(p4info.requests(entries, p4info.Names(program))),
        _lines(bfrt.ports(plan.inventory)),
        _lines(bfrt.entries(entries)),
    )
    return dict(zip(NAMES, texts, strict=True))


def script_of(commands: Iterable[str], source: str) -> str:
    """Return a script for simple_switch_CLI, checked against the program."""
    found = [*commands]
    script_check.check(found, p4_program.shipped(), source)
    return _lines(found)


def _lines(texts: Iterable[str]) -> str:
    return "".join(f"{text}\n" for text in texts)
