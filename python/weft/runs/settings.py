# SPDX-License-Identifier: LGPL-2.1-only
"""Settings of a run: weft's own, passed to libweft.so in the environment, and SimGrid's.

Invalid SimGrid settings are found before a run. SimGrid itself rejects unknown keys at startup, but
accepts any value until it is used; it then aborts midway, which looks like a crash of the program.
"""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields

from weft.base.errors import WeftError, named, suggestion
from weft.runs.simgrid import SimGrid

_PREFIX = "WEFT_"
FOR_TESTS = ("WEFT_HOST_FLOWS", "WEFT_RANK_FLOWS", "WEFT_STACK_GUARDS")
"""Variables set by tests, which affect how messages and stacks are created, but not times."""


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Settings that libweft.so reads, each from the variable WEFT_… with its name.

    `src/binding/settings/settings.hpp` documents them. Options that the library reads as they are
    have no field (`RunOption.library`). WEFT_PARENT is not listed because `base/process.py` sets
    it.
    """

    fabric: str = ""
    fabric_changes: Sequence[str] = ()
    platform: str = ""
    hostfile: str = ""
    ppn: str = ""
    routes: str = ""
    fallback: str = ""
    jobs: str = ""
    faults: str = ""
    traffic: str = ""
    program: str = ""
    private_libraries: Sequence[str] = ()
    spawn: Sequence[str] = ()
    cxx_streams: bool = False
    record: str = ""
    events: bool = False
    calls: str = ""
    durations: str = ""
    progress: str = ""
    messages: str = ""
    files: str = ""
    refusal: str = ""
    options: Mapping[str, bool | str] = field(default_factory=dict)
    """Options of the run by field name."""

    def variables(self) -> dict[str, str]:
        """Return the variables of settings that differ from libweft.so's defaults."""
        own = {
            one.name: value
            for one in fields(self)
            if one.name != "options" and (value := getattr(self, one.name)) != one.default
        }
        return {variable(name): _text(value) for name, value in {**self.options, **own}.items()}


def variable(name: str) -> str:
    """Return the environment variable of a setting."""
    return f"{_PREFIX}{name.upper()}"


def _text(value: bool | str | Sequence[str]) -> str:
    if isinstance(value, bool):
        return "1" if value else "no"
    return value if isinstance(value, str) else "\n".join(value)


def without_own(environment: Mapping[str, str]) -> dict[str, str]:
    """Return an environment without inherited weft variables, since each run sets its own."""
    return {
        name: value
        for name, value in environment.items()
        if not name.startswith(_PREFIX) or name in FOR_TESTS
    }


_OWN = {
    "smpi/np": named("ranks"),
    "smpi/hostfile": named("ppn"),
    "smpi/tmpdir": "the environment variable TMPDIR",
    "smpi/replay": "weft replay",
    "smpi/host-speed": named("host_speed"),
    "smpi/simulate-computation": named("host_speed"),
    "tracing": named("timeline"),
    "tracing/filename": named("timeline"),
    "tracing/smpi": named("timeline"),
}
# Stack size in KiB, guard size in pages.
_MOST = {"contexts/stack-size": 1 << 24, "contexts/guard-size": 1 << 16}
# Values that SimGrid checks only after the start of a run, from its sources (EngineImpl, SmpiHost).
_FACTORY = "contexts/factory"
_COSTS = ("smpi/os", "smpi/or", "smpi/ois")
_COST = re.compile(r"[0-9]+(:[0-9.]+(e[-+]?[0-9]+)?)+(;[0-9]+(:[0-9.]+(e[-+]?[0-9]+)?)+)*", re.I)
_SPEED = re.compile(r"([-+]?)(inf|nan|[0-9.]+(?:e[-+]?[0-9]+)?)(.*)", re.IGNORECASE | re.DOTALL)


def check(host_speed: str | None, config: Sequence[str], simgrid: SimGrid) -> None:
    """Check that SimGrid accepts the settings."""
    if host_speed:
        check_speed(host_speed)
        if reason := simgrid.rejects([f"smpi/host-speed:{host_speed}"]):
            raise _odd_speed(host_speed, f", which SimGrid does not accept ({reason})")
    for setting in config:
        check_form(setting)
        _check_factory(setting, simgrid)
    if config and (reason := simgrid.rejects(list(config))):
        raise _rejected(config, simgrid, reason)


def check_speed(speed: str) -> None:
    """Check that a speed is positive and finite."""
    match = _SPEED.fullmatch(speed)
    if speed == "auto" or match is None:  # SimGrid itself reports all other errors
        return
    try:
        number = float(match[1] + match[2])
    except ValueError:
        number = math.nan
    if not 0 < number < math.inf:
        raise _odd_speed(speed, "")


def _odd_speed(speed: str, reason: str) -> WeftError:
    return WeftError(
        f"{named('host_speed')}:"
        f" found '{speed}'{reason}; allowed is a number above zero with a unit, such"
        " as 10Gf (10^10 operations a second), or auto to measure it"
    )


def check_form(setting: str) -> None:
    """Check the form KEY:VALUE, that weft does not control the key, and that numbers are valid."""
    key, colon, value = setting.partition(":")
    if not (key and colon and value) or not setting.isprintable() or set(setting) & set(" ,"):
        raise WeftError(
            f"{named('config')}: found '{setting}'; write KEY:VALUE without spaces and commas, for"
            f" example {named('config')} contexts/stack-size:16384"
        )
    if key in _OWN:
        raise WeftError(f"{named('config')}: weft sets {key} itself; use {_OWN[key]}")
    if key in _COSTS and not _COST.fullmatch(value):
        raise WeftError(
            f"{named('config')}:"
            f" found {key}:{value}; write SIZE:SECONDS[:SECONDS A BYTE][;…], rising sizes,"
            " such as 0:1e-6:0;4096:2e-6:1e-10"
        )
    if key == "contexts/nthreads" and value != "1":
        raise WeftError(
            f"{named('config')}: found {setting}; SMPI crashes if ranks run in parallel, so only 1"
            " is allowed. To use several cores, run several simulations at a time (weft campaign)"
        )
    most = _MOST.get(key)
    if most is not None and not (re.fullmatch("[0-9]{1,9}", value) and int(value) <= most):
        raise WeftError(
            f"{named('config')}: found {key}:{value}; allowed is a whole number from 0 to {most}"
        )


def _check_factory(setting: str, simgrid: SimGrid) -> None:
    """Check that SimGrid was compiled with this context factory."""
    key, _, value = setting.partition(":")
    known = simgrid.factories() if key == _FACTORY else []
    if known and value not in known:
        raise WeftError(
            f"{named('config')}: found {setting};"
            f" the SimGrid that weft uses has {' and '.join(known)}"
        )


def _rejected(config: Sequence[str], simgrid: SimGrid, reason: str) -> WeftError:
    known = simgrid.options()
    for setting in config:
        key = setting.partition(":")[0]
        if key not in known:
            return WeftError(
                f"{named('config')}:"
                f" found '{key}', which is not a SimGrid option; {suggestion(key, known)}"
            )
    return WeftError(f"{named('config')}: SimGrid does not accept {' '.join(config)}: {reason}")
