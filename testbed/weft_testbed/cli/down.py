# SPDX-License-Identifier: LGPL-2.1-only
"""`weft testbed down`."""

from pathlib import Path

import click

from weft.base.units import plural
from weft.cli.files import command
from weft_testbed.cli.shared import (
    check_place,
    name_option,
    p4info_option,
    switch,
    switch_option,
    tls_option,
)
from weft_testbed.running import namespaces as netns


@command()
@name_option
@switch_option
@p4info_option
@tls_option
def down(name: str, p4runtime: str | None, p4info: Path | None, tls: Path | None) -> None:
    """Remove a testbed and its processes, also the remains of a crashed one.

    With --p4runtime, remove all entries of a switch; its program stays loaded.
    """
    check_place(p4runtime, {"--p4info": p4info, "--tls": tls}, {})
    if p4runtime is not None:
        with switch(p4runtime, p4info, None, configured=True, tls=tls) as controller:
            updates = controller.change(controller.read(), [], 0)
        click.echo(f"{plural(updates, 'update')} written to {p4runtime}, which has no entry now")
        return
    count = netns.down(name)
    click.echo(f"{plural(count, 'namespace')} removed" if count else f"'{name}' is not up")
