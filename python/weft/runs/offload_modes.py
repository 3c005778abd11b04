# SPDX-License-Identifier: LGPL-2.1-only
"""Offload modes of runs (mechanisms, `auto`, `off`), and reasons why a call is not offloaded."""

from collections.abc import Mapping

from weft import _core

OFF = "off"
DEFAULT = _core.mechanisms()[0]["name"]
MECHANISMS = tuple(row["name"] for row in _core.mechanisms())
OFFLOADS = tuple(_core.offload_modes())
WAYS = tuple(mode for mode in OFFLOADS if mode != OFF)
"""All modes that offload calls."""
SWITCHES = tuple(row["name"] for row in _core.mechanisms() if not row["rest"])
"""Mechanisms that never pass a collective on to another mechanism."""
REASONS: Mapping[str, str] = {
    "datatype": "the switch does not support this datatype",
    "op": "the switch does not support this operation",
    "collective": "the switch does not support this collective",
    "policy": "the fabric's [[policy]] selects the hosts",
    "one host": "all ranks of the communicator are on one host",
    "one rank": "the communicator has one rank",
    "zero count": "the call moves no data",
    "no free channel": "the switch has no free channel",
    "job quota": "the job holds as many channels of a switch as it may",
    "locked by another job": "another job has a switch for itself",
    "reserved by other jobs": "other jobs have reserved all channels of a switch",
    "no NIC memory": "the multicast state of this call does not fit into the NIC's memory",
    "host is faster": "the hosts are predicted to be faster (--offload auto)",
    "network of packets": "packets carry only streams of Allreduce, Reduce, Bcast and Barrier to"
    " switches: Allreduce and Barrier where links lose packets, none where links or switches fail",
    "communicator not on the tree": "no smart switch connects all hosts of the communicator",
    "tree gains nothing": "the tree does not reduce traffic: one link would still carry all"
    " contributions",
}
"""Meanings of the reasons in a record why a call was not offloaded."""
_MEANINGS = {
    "auto": "the fastest by prediction, hosts included, unless [[policy]] decides",
    OFF: "no offloading",
}


def meanings() -> dict[str, str]:
    """Return a one-line description of each mode."""
    return {row["name"]: row["meaning"] for row in _core.mechanisms()} | _MEANINGS


def listed(names: tuple[str, ...], last: str = "or") -> str:
    """Return names as an enumeration, such as "stream, message or auto"."""
    *first, final = names
    return f"{', '.join(first)} {last} {final}" if first else final
