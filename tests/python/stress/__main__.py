# SPDX-License-Identifier: LGPL-2.1-only
"""The long run: `make stress COUNT=5000 SEED=1`; `make stress SEED=1 ONLY=17` repeats a case.

Findings stay in build/stress, each with its command, its files and what was said; `summary.txt`
groups them and counts what was drawn, also after Ctrl-C.
"""

import argparse
import signal
import sys
import time
from collections import Counter, defaultdict
from contextlib import suppress

from tests.python.stress.driver import OUT, REFUSED, Judged, run_cases


def main() -> int:
    """Run the cases; return exit status 1 if there are findings."""
    parser = argparse.ArgumentParser()
    parser.add_argument("count", type=int)
    parser.add_argument("seed", type=int)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--only", type=int)
    parser.add_argument("--plain", action="store_true", help="without sanitizers")
    parser.add_argument("--at-once", type=int, default=2)
    given = parser.parse_args()
    numbers = range(given.first, given.first + given.count)
    if given.only is not None:
        numbers = range(given.only, given.only + 1)
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # as Ctrl-C: the summary is written
    start = time.monotonic()
    results = list[Judged]()

    def told(judged: Judged) -> None:
        results.append(judged)
        if judged.problems:
            print(f"{given.seed}-{judged.number}: {judged.signature}", flush=True)

    with suppress(KeyboardInterrupt):
        run_cases(given.seed, numbers, not given.plain, given.at_once, told)
    text = summary(given.seed, results, time.monotonic() - start)
    (OUT / "summary.txt").write_text(text)
    print(text if given.only is None else text.splitlines()[0])
    return 1 if any(judged.problems for judged in results) else 0


def summary(seed: int, results: list[Judged], seconds: float) -> str:
    """Return the findings by signature, the ends, and the histogram of what was drawn."""
    groups = defaultdict[str, list[int]](list)
    for judged in results:
        if judged.problems:
            groups[judged.signature].append(judged.number)
    runs = sum(judged.runs for judged in results)
    found = sum(map(len, groups.values()))
    refused = sum(any(end.startswith(REFUSED) for end in judged.ends) for judged in results)
    lines = [
        f"{len(results)} cases, {runs} runs, {found} findings, {refused} cases refused,"
        f" {seconds:.0f} s"
    ]
    for signature, numbers in sorted(groups.items(), key=lambda one: -len(one[1])):
        lines.append(f"\n{len(numbers)} x {signature}")
        lines += [f"  make stress SEED={seed} ONLY={number}" for number in numbers[:5]]
    lines.append("\nends")
    ends = Counter(end for judged in results for end in judged.ends)
    lines += [f"{count:7} {end}" for end, count in ends.most_common()]
    lines.append("\ndrawn")
    drawn = Counter(feature for judged in results for feature in set(judged.drawn))
    lines += [f"{count:7} {feature}" for feature, count in sorted(drawn.items())]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.exit(main())
