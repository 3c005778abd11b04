# SPDX-License-Identifier: LGPL-2.1-only
"""`weft campaign`: one file per command."""

from weft.cli.groups import lazy_group

_HELP = """
Many runs that one file describes: programs, fabrics, sizes and whatever else they differ in.

Results are kept in a folder, by all that decides them, so that nothing is run twice: `run` goes on
where it was stopped, and repeats only what has changed.

\b
Example:
  weft campaign plan slots.toml
  weft campaign run slots.toml
  weft campaign report slots.toml -o slots.html
"""

_COMMANDS = {
    "export": "Write a table of all results.",
    "plan": "Say what there is to run.",
    "report": "Write a page that says where offloading pays.",
    "run": "Make the runs that are missing.",
    "status": "Say what has ended, and how.",
}

campaign = lazy_group(
    "campaign", _HELP, {name: (f"{__name__}.{name}", said) for name, said in _COMMANDS.items()}
)
