# SPDX-License-Identifier: LGPL-2.1-only
"""Keys of campaign files by table, with their meanings; docs/campaigns.md is generated from them.

Run options are declared in `weft.runs.options`; those with a `campaigns` text are keys of
`[[runs]]`.
"""

from collections.abc import Mapping

from weft.runs.options import DeclaredOption, run_option, run_options, sentences

AXES: Mapping[str, DeclaredOption] = {
    one.name: one for one in run_options() if one.option.campaigns is not None
}
"""Keys of [[runs]] that are run options."""


def _meaning(one: DeclaredOption) -> str:
    option = one.option
    off = f"`false`: {option.off[0].lower()}{option.off[1:]}" if option.off else ""
    absent = f"By default {option.absent}" if option.absent else ""
    text = sentences(option.meaning, off, option.more, option.campaigns or "", absent)
    return text.removesuffix(".")


def in_brief(key: str) -> str:
    """Return the meaning of a key of [[runs]] as part of a sentence."""
    text = AXES[key].option.meaning if key in AXES else RUNS[key]
    return text if text[1].isupper() else text[0].lower() + text[1:]


CAMPAIGN: Mapping[str, str] = {
    "name": "Name of the campaign and of its store",
    "description": "Text for people",
    "timeout": f'{run_option("timeout_s").option.meaning}, such as `"60s"`; without, runs may take'
    " as long as they like",
    "memory": f"{run_option('memory_bytes').option.meaning}; without, as much as the machine gives",
    "most_runs": "More runs than this are refused, so that a typo does not launch a month of runs;"
    " 100000",
    "best": "`false` leaves out the runs by the hosts' fastest algorithms"
    " ([gains](campaigns.md#gains))",
    "intervals": "`false` leaves out the runs at the ends of calibrated fabrics' intervals",
}
"""Keys of [campaign]."""

PROGRAM: Mapping[str, str] = {
    "source": "A source of C, C++ or Fortran, which weft compiles (`-O2`) into the store",
    "flags": "With `source`: a list of further options of the compiler",
    "path": "In place of a source: a program",
    "build": "With `path`: a shell's command that makes it, called in the file's folder",
    "arguments": "A list of texts. `{KEY}` stands for the value of a key of `[[runs]]`, `{KEY:B}`"
    " for a size's bytes",
    "inputs": "Files that the program reads, a list: what they hold decides its results, too",
    "privatize": _meaning(run_option("privatize")),
}
"""Keys of [programs.NAME]."""

RUNS: Mapping[str, str] = {
    "program": "Names of programs that the file describes",
    **{key: _meaning(one) for key, one in AXES.items()},
    "seed": "Whole numbers: the [noise](fabric-files.md#noise) and the random drops of the fabric"
    " are drawn with each of them",
    "repetition": "Whole numbers; runs that differ in it alone are the same but for what is timed",
}
"""Keys of [[runs]], besides keys of the fabric and placeholders of programs' arguments."""

OTHERS: Mapping[str, str] = {
    "TABLE.KEY": "Values of a key of the fabric, as `--set` takes them",
    "any other": "Must stand in the arguments of a program that the table names",
}

RULES: Mapping[str, str] = {
    "repetitions": "How often to make each run, for programs whose computation is timed:"
    " `repetition` is 1, 2 …",
    "zip": 'Lists of keys that go on together, `[["ranks", "ppn"]]`: the first value of each, the'
    " second of each",
    "leave_out": "Tables; a combination is left out where all of a table's keys have one of the"
    " values there",
}
"""Keys of [[runs]] that control how values are combined."""
