# SPDX-License-Identifier: LGPL-2.1-only
"""`weft testbed`: one file per command."""

from weft.cli.groups import lazy_group

_HELP = """
Any topology on a real P4 switch: plan it on fixed cabling, get the switch's tables, and try it out.

\b
Example:
  weft testbed plan topocloud-64 torus-3x3 -o torus.json
  weft testbed show torus.json --picture torus.png
  weft testbed tables torus.json -o tables
  sudo weft testbed up --netns torus.json
"""

_COMMANDS = {
    "check": "Prove by probing that what is up is the plan.",
    "diff": "The least change between two plans.",
    "down": "Remove what `up` has built.",
    "fabric": "Write a planned experiment as a fabric file.",
    "iterate": "Run a command for each of some topologies.",
    "latency": "Predict the round trip of each pair of hosts.",
    "list": "List the inventories that weft brings along.",
    "paper": "Compare the model with what TopoCloud states.",
    "plan": "Map wanted topologies on a testbed.",
    "probe": "Round trips from a probe's time stamps.",
    "show": "Show what each port of the chassis does.",
    "status": "Say what is up, and whose.",
    "tables": "Write the switch's tables, a script that fills them, and the program.",
    "up": "Build a plan on this machine.",
}

testbed = lazy_group(
    "testbed", _HELP, {name: (f"{__name__}.{name}", said) for name, said in _COMMANDS.items()}
)
