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

_COMMANDS = (
    *("check", "diff", "down", "fabric", "iterate", "latency", "list"),
    *("paper", "plan", "probe", "show", "tables", "up"),
)

testbed = lazy_group("testbed", _HELP, {name: f"{__name__}.{name}" for name in _COMMANDS})
