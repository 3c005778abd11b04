# SPDX-License-Identifier: LGPL-2.1-only
"""Port map of docs/testbed.md: a 3 x 3 torus on the shipped testbed."""

from studies.study import DOCS, IMAGES, Study
from weft_testbed.hardware import inventory
from weft_testbed.plan import file as plan_file
from weft_testbed.plan import picture, plan, wanted_topology

PLAN = DOCS / "testbed" / "torus-3x3.json"


def measure() -> None:
    """Compute the plan that the picture shows."""
    PLAN.parent.mkdir(exist_ok=True)
    plan_file.write(
        plan.make(inventory.read("topocloud-64"), [wanted_topology.read("torus-3x3")]), PLAN
    )


STUDY = Study(
    name="testbed",
    about="a plan's port map",
    measure=measure,
    figures=lambda: {IMAGES / "testbed_torus.png": picture.figure_of(plan_file.read(PLAN))},
)
