# SPDX-License-Identifier: LGPL-2.1-only
"""`weft campaign`: one file per command."""

from weft.cli.groups import lazy_group

_HELP = """
Run the parameter study that a file describes: all combinations of programs, fabrics, sizes and
other parameters.

Results are stored under a key of everything that affects them, so no run is repeated: `run` resumes
an interrupted campaign and repeats only runs whose inputs have changed.

\b
Example:
  weft campaign plan slots.toml
  weft campaign run slots.toml
  weft campaign report slots.toml -o slots.html
"""

_COMMANDS = {
    "export": "Write a table of all results.",
    "plan": "Show the runs of a campaign; start none.",
    "report": "Write a page that shows where offloading pays off.",
    "run": "Execute the missing runs.",
    "status": "Show how many runs are done, failed and left.",
}

campaign = lazy_group(
    "campaign", _HELP, {name: (f"{__name__}.{name}", said) for name, said in _COMMANDS.items()}
)
