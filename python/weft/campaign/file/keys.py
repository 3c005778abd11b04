# SPDX-License-Identifier: LGPL-2.1-only
"""Keys of campaign files by table, with their meanings; docs/campaigns.md is generated from them.

Run options are declared in `weft.runs.options`; options with a `campaigns` text are keys of
`[[runs]]`.
"""

from collections.abc import Mapping

from weft.runs import value_types
from weft.runs.options import DeclaredOption, run_option, run_options, sentences
from weft.training.variants import VARIANTS
from weft.training.workload import DETAILS

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


def parts(text: str) -> list[str]:
    """Return the settings in a value, KEY:VALUE each, which are separated by commas."""
    return [part.strip() for part in text.split(",")]


def in_brief(key: str) -> str:
    """Return the meaning of a [[runs]] key as a clause."""
    text = AXES[key].option.meaning if key in AXES else RUNS[key]
    return text if text[1].isupper() else text[0].lower() + text[1:]


CAMPAIGN: Mapping[str, str] = {
    "name": "Name of the campaign and of its store",
    "description": "Text for people",
    "timeout": f'{run_option("timeout_s").option.meaning}, such as `"60s"`; without, runs may take'
    " as long as they like",
    "memory": f"{run_option('memory_bytes').option.meaning}; unlimited by default",
    "most_runs": "Maximum number of runs, so that a typo does not launch a month of runs; 100000"
    " by default",
    "best": "`false` omits the runs with the hosts' fastest algorithms"
    " ([gains](campaigns.md#gains))",
    "intervals": "`false` omits the runs at the ends of calibrated fabrics' intervals",
}
"""Keys of [campaign]."""

PROGRAM: Mapping[str, str] = {
    "source": "C, C++ or Fortran source, which weft compiles (`-O2`) into the store",
    "flags": "With `source`: list of additional compiler options",
    "path": "Compiled program, instead of a source",
    "build": "With `path`: shell command that builds it, run in the campaign's folder",
    "jobs": "[Jobs file](jobs.md), instead of a source or a path: its programs and traces run at"
    " once. Runs of it have no `ranks`",
    "model": "[Training file](training-models.md) or preset of a model, instead of a source or a"
    " path: a run is an [iteration of training](training.md) on the fabric's GPUs. Its ranks follow"
    " from the file's `[parallel]`",
    "trace": "[Trace of training](training-traces.md), instead of a source or a path: a run is the"
    " recorded iteration on the fabric's GPUs. Its ranks are those of the trace",
    "allgather_size": "With `trace`, of Chakra: size of an Allgather, `input`, what a rank"
    " contributes, or `total`, the result; `input` by default",
    "process_groups": "With `trace`, of Chakra: JSON file with the ranks of process groups by"
    " number",
    "logical_dimensions": "With `trace`, of Chakra: list of the ranks in each dimension of"
    " ASTRA-sim's logical topology, fastest first",
    "arguments": "List of arguments. `{KEY}` is replaced by the value of a key of `[[runs]]`,"
    " `{KEY:B}` by a size in bytes",
    "inputs": "List of files that the program reads; a change of their contents repeats the runs",
    "privatize": _meaning(run_option("privatize")),
}
"""Keys of [programs.NAME]."""

_VARIANT_MEANINGS = {name: one.meaning for name, one in VARIANTS.items()}

COLLECTIVES = "collectives"
"""Key of [[runs]] that selects the devices that reduce and copy in a training iteration."""

OF_TRAINING: Mapping[str, str] = {
    COLLECTIVES: "With `model` or `trace`: what NCCL may use, "
    + "; ".join(f"`{name}`, {meaning}" for name, meaning in _VARIANT_MEANINGS.items())
    + ". By default what the fabric file allows",
    "slowdown": "With `model` or `trace`: GPUs that compute more slowly, as `--slowdown` of `weft"
    " train`: `17=1.2`; several separated by commas",
    "noise": "With `model` or `trace`: standard deviation of the logarithm of a random factor of"
    " each computation",
    "noise_seed": "Integers: seeds of `noise`, one run each",
    "detail": "With `model` or `trace`: what collectives are executed as: `slice`, all messages of"
    " NCCL; `step`, one message for each step of rings; `call`, one flow for each call. By default"
    " as `weft train` and `weft replay` choose",
    "execute_all": "With `model` or `trace`: `true` executes equal calls again, instead of reusing"
    " their times",
    "gpu": "With `model` or `trace`: preset of the GPU that computes, instead of the training"
    " file's, or what a trace has no times of",
    "ignore_memory": "With `model`: `true` allows what a GPU's memory does not hold",
    "replicate": "With `trace`: number of ranks that do what the only recorded rank does",
}
"""Keys of [[runs]] that apply only to training iterations."""

MOST_RANKS = 1 << 20
"""Limit on the ranks of a trace that `replicate` and `logical_dimensions` produce."""
ONLY_OF_MODELS = ("ignore_memory",)
ONLY_OF_TRACES = ("replicate",)

TRAINING_KINDS: Mapping[str, value_types.Kind] = {
    "noise_seed": value_types.Count(0, 2**31 - 1),
    "detail": value_types.Choice(tuple(DETAILS)),
    "execute_all": value_types.Switch(),
    "gpu": value_types.Text(),
    "ignore_memory": value_types.Switch(),
    "replicate": value_types.Count(1, MOST_RANKS),
}
"""Types of the values of these keys, where a type suffices to check them."""

FOR_TRAINING = (
    *("program", "fabric", "faults", "traffic", "fallback", "repetition"),
    *OF_TRAINING,
)
"""Keys of [[runs]] that apply to training iterations, besides TABLE.KEY."""

RUNS: Mapping[str, str] = {
    "program": "Names of programs described in the file",
    **{key: _meaning(one) for key, one in AXES.items()},
    "seed": "Integers: seeds of the [noise](fabric-files.md#noise) and random drops of the fabric,"
    " one run each",
    "repetition": "Integers; runs that differ only in it are repetitions, equal except for timed"
    " computation",
    **OF_TRAINING,
}
"""Keys of [[runs]], besides keys of the fabric and placeholders in program arguments."""

OTHERS: Mapping[str, str] = {
    "TABLE.KEY": "Values of a key of the fabric, as for `--set`; those of a key of the fault file"
    " with `fault.KEY` (in each `[[fault]]` table that it belongs to) and `recovery.KEY`; with"
    " `model`, those of a key of the training file with `model.KEY`, `parallel.KEY`, `batch.KEY`"
    " and `train.KEY`",
    "any other": "Placeholder in the arguments of a program of the table",
}

RULES: Mapping[str, str] = {
    "repetitions": "Number of repetitions of each run, for programs whose computation is timed:"
    " `repetition` is 1, 2 …",
    "zip": 'Lists of keys that vary together, `[["ranks", "ppn"]]`: the first value of each, the'
    " second of each",
    "leave_out": "Tables; combinations that match all keys of a table are left out",
}
"""Keys of [[runs]] that control the combination of values."""
