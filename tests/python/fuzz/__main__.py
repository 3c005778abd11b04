# SPDX-License-Identifier: LGPL-2.1-only
"""The long run: `make fuzz`, `make fuzz COUNT=1000000 SEED=1`; findings go to build/fuzz."""

import sys
import time
from pathlib import Path

from tests.python.fuzz.driver import NAMES, fuzz
from weft.base.units import format_duration

OUT = Path("build/fuzz")
# Weights of the targets: more for complex formats, fewer for slow ones.
_SHARES = {
    **{"options": 2, "fabric": 6, "inventory": 8, "plan": 4, "manifest": 6, "actions": 6},
    **{"calls": 8, "selection": 3, "rules": 3, "campaign": 10, "runs": 8, "cluster": 8},
    **{"pingpong": 6, "probe": 6, "swf": 6, "platform": 6, "words": 8},
}


def main() -> int:
    """Fuzz all targets; return exit status 1 if there are findings."""
    count, seed = int(sys.argv[1]), int(sys.argv[2])
    names = sys.argv[3:] or NAMES
    total = sum(_SHARES.get(name, 4) for name in names)
    OUT.mkdir(parents=True, exist_ok=True)
    found = tried = 0
    begun = time.monotonic()
    for name in names:
        start = time.monotonic()
        done, findings = fuzz(name, count * _SHARES.get(name, 4) // total, seed)
        tried += done
        for finding in findings:
            path = OUT / f"{name}-{found}"
            path.write_bytes(finding.content)
            path.with_suffix(".txt").write_text(finding.problem)
            found += 1
        seconds = time.monotonic() - start
        spent_s = time.monotonic() - begun
        left = format_duration(spent_s * max(0, count - tried) / tried)
        print(
            f"{name}: {done:,} inputs, {len(findings)} findings, {seconds:.0f} s;"
            f" {tried / count:.0%} of all, about {left} left at this rate",
            flush=True,
        )
    print(f"{tried:,} inputs, {found} findings" + (f", in {OUT}" if found else ""))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
