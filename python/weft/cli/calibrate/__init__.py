# SPDX-License-Identifier: LGPL-2.1-only
"""`weft calibrate`: one file per kind of measurement."""

from weft.cli.calibrate.cluster import cluster
from weft.cli.calibrate.cpu import cpu
from weft.cli.calibrate.host import host
from weft.cli.calibrate.p2p import p2p
from weft.cli.calibrate.switch import switch
from weft.cli.groups import help_group

_GROUP = "Fit the parameters of a fabric file to measurements of your own testbed."

calibrate = help_group("calibrate", _GROUP)
for _command in (cpu, p2p, switch, host, cluster):
    calibrate.add_command(_command)
