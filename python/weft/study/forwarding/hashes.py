# SPDX-License-Identifier: LGPL-2.1-only
"""Hashes of forwarding caches: addresses, tags and proofs, behind `weft cache hash`.

src/fabric/topology/forwarding_hash.hpp defines the hashes and proves their correctness.
"""

import csv
import difflib
from dataclasses import dataclass
from pathlib import Path

from weft import _core
from weft.base.errors import WeftError, named
from weft.base.output import whole_file

_MOST_PAIRS = 1 << 25
_ADDRESS_BITS = 24


@dataclass(frozen=True)
class Cube:
    """Cube of `size` switches along each dimension, with one host per switch."""

    size: int
    dimensions: int
    wraps: bool = True

    @property
    def name(self) -> str:
        """Conventional name of the topology."""
        kind = "cube" if self.wraps else "mesh"
        return f"{self.size}-ary {self.dimensions}-{kind}"


@dataclass(frozen=True)
class FabricHash:
    """Hash on a fabric, and the result of its proof."""

    fabric: _core.Fabric
    name: str
    text: str

    def tags(self, switch: str) -> list["_core.ForwardingTag"]:
        """Return the tags of a switch."""
        names = [one["name"] for one in self.fabric.switches]
        if switch not in names:
            near = difflib.get_close_matches(switch, names, n=1)
            raise WeftError(
                f"{named('switch')}: found '{switch}', which is not a switch of {self.fabric.name};"
                + (f" did you mean '{near[0]}'?" if near else f" its first is '{names[0]}'")
            )
        return _core.forwarding_tags(self.fabric, self.name, names.index(switch))

    def write_csv(self, option: str, target: Path) -> None:
        """Write the hash's address of each host."""
        addresses = _core.forwarding_addresses(self.fabric, self.name)
        with whole_file(option, target) as file:
            file.write(f"# Addresses of {self.fabric.name}, hash {self.name}\n")
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(("host", "address"))
            writer.writerows(zip(self.fabric.hosts, map(hex, addresses), strict=True))


def of_fabric(fabric: str, hash_name: str) -> FabricHash:
    """Prove a hash on a fabric. Raises `WeftError` if the hash is invalid."""
    loaded = _core.load_fabric(fabric)
    name = _core.forwarding_hash_name(loaded, hash_name)
    hosts, switches = len(loaded.hosts), len(loaded.switches)
    step = 1 + hosts * switches // _MOST_PAIRS
    proof = _core.prove_hash(loaded, name, step)
    bits = max(_core.forwarding_addresses(loaded, name)).bit_length()
    own = name != "crc"
    text = _proven(f"{loaded.name}: hash {name}", bits, proof, own=own)
    if step > 1:
        text += f" (every {step}th of {switches:,} switches)"
    return FabricHash(loaded, name, text)


def prove_cube(cube: Cube) -> str:
    """Prove the hash of a cube without building its fabric; return the result as text."""
    proof = _core.prove_cube_hash(cube.size, cube.dimensions, cube.wraps)
    bits = cube.dimensions * (cube.size - 1).bit_length()
    return _proven(f"{cube.name}, {cube.size**cube.dimensions:,} hosts: hash cube", bits, proof)


def _proven(what: str, bits: int, proof: "_core.HashProof", *, own: bool = True) -> str:
    if proof["misroutes"] or (own and proof["crowded"]):
        wrong = "equal tags leave by two ports" if proof["misroutes"] else "more tags than ports"
        raise WeftError(f"{what}: proof failed: a switch has {wrong}")
    return (
        f"{what}, addresses of {max(bits, 1)} of {_ADDRESS_BITS} bits\n"
        f"{proof['pairs']:,} pairs of a switch and a host: equal tags leave by the same port; at"
        f" most {proof['most_tags']:,} tags at a switch"
        + (", no more than it has ports" if own else ", one for each host")
    )
