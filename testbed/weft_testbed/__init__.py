# SPDX-License-Identifier: LGPL-2.1-only
"""Any topology on a real P4 switch, or in network namespaces of this machine.

`EXTENSION` registers its commands and calls. weft loads this module to list its commands, so it
imports nothing else.
"""

from weft.base.extras import Extension

EXTENSION = Extension(
    commands={"testbed": ("weft_testbed.cli", "Emulate a topology on a real P4 switch.")},
    calls={
        # names by module: `make stub`
        "weft_testbed.api": (
            "P4Switch",
            "TestbedChange",
            "TestbedPlan",
            "testbed_down",
            "testbed_inventories",
            "testbed_iterate",
            "testbed_paper",
            "testbed_plan",
            "testbed_probe",
            "testbed_running",
            "testbed_status",
        ),
        # end
    },
)
