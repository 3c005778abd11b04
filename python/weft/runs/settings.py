# SPDX-License-Identifier: LGPL-2.1-only
"""Settings of a run: weft's own, which libweft.so reads in its environment, and SimGrid's.

What is wrong with SimGrid's is found before a run. SimGrid itself refuses unknown keys at its
start, and takes any value until it needs it: then it dies in the middle, which looks like a crash
of the program.
"""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields

from weft.base.errors import WeftError, named, suggestion
from weft.runs.simgrid import SimGrid

_PREFIX = "WEFT_"
FOR_TESTS = ("WEFT_HOST_FLOWS", "WEFT_RANK_FLOWS", "WEFT_STACK_GUARDS")
"""Variables that tests set: they change how messages and stacks are made, and no time."""


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Settings that libweft.so reads, each in the variable WEFT_… of its name.

    `src/binding/settings/settings.hpp` says what each means. `base/process.py` sets the one that is
    missing here, WEFT_PARENT.
    """

    fabric: str = ""
    fabric_changes: Sequence[str] = ()
    platform: str = ""
    hostfile: str = ""
    ppn: str = ""
    contention: bool = True
    routes: str = ""
    offload: str = ""
    fallback: str = ""
    program: str = ""
    private_libraries: Sequence[str] = ()
    cxx_streams: bool = False
    record: str = ""
    events: bool = False
    calls: str = ""
    messages: str = ""
    refusal: str = ""

    def variables(self) -> dict[str, str]:
        """Return the variables of those that are not as libweft.so takes them anyway."""
        given = {one.name: getattr(self, one.name) for one in fields(self)}
        changed = {one.name for one in fields(self) if given[one.name] != one.default}
        return {f"{_PREFIX}{name.upper()}": _text(given[name]) for name in given if name in changed}


def _text(value: bool | str | Sequence[str]) -> str:
    if isinstance(value, bool):
        return "1" if value else "no"
    return value if isinstance(value, str) else "\n".join(value)


def without_own(environment: Mapping[str, str]) -> dict[str, str]:
    """Return an environment without variables of weft's, of which a run has its own."""
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
# KiB of a stack, pages.
_MOST = {"contexts/stack-size": 1 << 24, "contexts/guard-size": 1 << 16}
# What SimGrid looks at only when a run has begun, from its sources (EngineImpl, SmpiHost).
_FACTORY = "contexts/factory"
_COSTS = ("smpi/os", "smpi/or", "smpi/ois")
_COST = re.compile(r"[0-9]+(:[0-9.]+(e[-+]?[0-9]+)?)+(;[0-9]+(:[0-9.]+(e[-+]?[0-9]+)?)+)*", re.I)
_SPEED = re.compile(r"([-+]?)(inf|nan|[0-9.]+(?:e[-+]?[0-9]+)?)(.*)", re.IGNORECASE | re.DOTALL)


def check(host_speed: str | None, config: Sequence[str], simgrid: SimGrid) -> None:
    """Prove that SimGrid takes them."""
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
    """Prove that it is one that a machine can have."""
    match = _SPEED.fullmatch(speed)
    if speed == "auto" or match is None:  # SimGrid says what is wrong with other words
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
    """Prove that it is KEY:VALUE, of a key that is not weft's, with a number where one belongs."""
    key, colon, value = setting.partition(":")
    if not (key and colon and value) or not setting.isprintable() or set(setting) & set(" ,"):
        raise WeftError(
            f"{named('config')}: found '{setting}'; write KEY:VALUE without blanks and commas,"
            f" for example {named('config')} contexts/stack-size:16384"
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
            f"{named('config')}: found {setting}; SimGrid's MPI crashes where ranks run side by"
            " side, so only 1 is allowed. Several runs at a time use several cores (weft campaign)"
        )
    most = _MOST.get(key)
    if most is not None and not (re.fullmatch("[0-9]{1,9}", value) and int(value) <= most):
        raise WeftError(
            f"{named('config')}: found {key}:{value}; allowed is a whole number from 0 to {most}"
        )


def _check_factory(setting: str, simgrid: SimGrid) -> None:
    """Prove that ranks can be switched between this way; which ways there are is compiled in."""
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
                f" found '{key}', which is no option of SimGrid; {suggestion(key, known)}"
            )
    return WeftError(f"{named('config')}: SimGrid does not accept {' '.join(config)}: {reason}")
