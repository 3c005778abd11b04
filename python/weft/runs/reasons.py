# SPDX-License-Identifier: LGPL-2.1-only
"""Meanings of a record's reasons why a call was not offloaded."""

from collections.abc import Mapping

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
    "communicator not on the tree": "no smart switch connects all hosts of the communicator",
    "tree gains nothing": "the tree does not reduce traffic: one link would still carry all"
    " contributions",
}
