# SPDX-License-Identifier: LGPL-2.1-only
"""`weft testbed`: one file per command."""

from weft.cli.groups import lazy_group

_HELP = """
Emulate topologies on a real P4 switch: plan them on fixed cabling, generate the switch's tables,
and test them.

\b
Example:
  weft testbed plan topocloud-64 torus-3x3 -o torus.json
  weft testbed show torus.json --picture torus.png
  weft testbed tables torus.json -o tables
  sudo weft testbed up --netns torus.json
"""

_COMMANDS = {
    "check": "Check by probing that the running testbed matches the plan.",
    "diff": "Compute the smallest change between two plans.",
    "down": "Remove a testbed that `up` has built.",
    "fabric": "Write a planned experiment as a fabric file.",
    "iterate": "Run a command on each of several topologies.",
    "latency": "Predict the round-trip time of each pair of hosts.",
    "learning": "Predict first packets if the switches learn addresses.",
    "list": "List the shipped inventories.",
    "paper": "Compare the latency model with TopoCloud's results.",
    "plan": "Map topologies onto a testbed.",
    "probe": "Compute round-trip times from a probe's time stamps.",
    "show": "Show the use of each port of the chassis.",
    "status": "List running testbeds and their owners.",
    "tables": "Write the switch's table entries and its P4 program.",
    "up": "Build a plan on this machine or on a switch.",
}

testbed = lazy_group(
    "testbed", _HELP, {name: (f"{__name__}.{name}", said) for name, said in _COMMANDS.items()}
)
