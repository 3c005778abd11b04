# SPDX-License-Identifier: LGPL-2.1-only
"""`weft calibrate`."""

from weft.cli.calibrate_cluster import cluster
from weft.cli.calibrate_cpu import cpu
from weft.cli.calibrate_host import host
from weft.cli.calibrate_p2p import p2p
from weft.cli.calibrate_switch import switch
from weft.cli.groups import help_group

_GROUP = "Fit the parameters of a fabric file to measurements of your own testbed."

calibrate = help_group("calibrate", _GROUP)
for _command in (cpu, p2p, switch, host, cluster):
    calibrate.add_command(_command)
