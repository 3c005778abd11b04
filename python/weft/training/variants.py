# SPDX-License-Identifier: LGPL-2.1-only
"""Devices that may reduce and copy in an iteration, as changes to the fabric file."""

from collections.abc import Mapping
from dataclasses import dataclass

GPUS_ALONE = ("nccl.NCCL_ALGO=ring,tree,pat",)
"""Changes to the fabric that let only GPUs reduce and copy."""


@dataclass(frozen=True)
class Executors:
    """Devices that may reduce and copy; NCCL chooses the fastest permitted algorithm."""

    meaning: str
    changes: tuple[str, ...]
    """Changes to the fabric file."""
    multicast: bool = False
    """True if switches multicast the blocks of Allgathers between nodes, which NCCL does not
    support.
    """


MULTICAST = "multicast Allgather"
NOT_NCCL = (
    f"{MULTICAST}: Allgathers between nodes by the switches' multicast. NCCL cannot do this today."
)
"""Note for answers that include this variant."""

VARIANTS: Mapping[str, Executors] = {
    "rings and trees": Executors("GPUs alone", GPUS_ALONE),
    "NVLS": Executors("NVSwitches too", ("nccl.NCCL_ALGO=^collnetdirect,collnetchain",)),
    "SHARP": Executors("the network's switches too", ("nccl.collnet=yes",)),
    MULTICAST: Executors(
        "GPUs alone, but the network's switches multicast Allgathers, which NCCL cannot do",
        GPUS_ALONE,
        multicast=True,
    ),
}
"""Variants of an iteration by name; the first is the base of the factors."""
