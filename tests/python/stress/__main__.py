# SPDX-License-Identifier: LGPL-2.1-only
"""The long run: `make stress COUNT=5000 SEED=1`; `make stress SEED=1 ONLY=17` repeats a case.

Findings stay in build/stress, each with its command, files and output. `summary.txt` groups them
and counts the drawn features, also after Ctrl-C. Results are also stored in a file, so that
`RESUME=1` skips completed cases.
"""

import argparse
import json
import signal
import sys
import time
from collections import Counter, defaultdict
from contextlib import suppress
from pathlib import Path

from tests.python.stress.driver import OUT, REFUSED, Judged, run_cases


def main() -> int:
    """Run the cases; return exit status 1 if there are findings."""
    parser = argparse.ArgumentParser()
    parser.add_argument("count", type=int)
    parser.add_argument("seed", type=int)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--only", type=int)
    parser.add_argument("--plain", action="store_true", help="without sanitizers")
    parser.add_argument("--packets", action="store_true", help="messages are packets")
    parser.add_argument("--at-once", type=int, default=2, help="cases that run at the same time")
    parser.add_argument("--resume", action="store_true", help="skip the cases that have run")
    given = parser.parse_args()
    numbers = range(given.first, given.first + given.count)
    if given.only is not None:
        numbers = range(given.only, given.only + 1)
    name = "plain" if given.plain else "sanitized"
    name += "-packets" if given.packets else ""
    kept = OUT / f"results-{given.seed}-{name}{'' if given.only is None else '-only'}.jsonl"
    if not given.resume:
        kept.unlink(missing_ok=True)
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # as Ctrl-C: the summary is written
    start = time.monotonic()
    results = read_results(kept)
    ran = {judged.number for judged in results}

    def told(judged: Judged) -> None:
        results.append(judged)
        kept.parent.mkdir(parents=True, exist_ok=True)
        with kept.open("a") as file:
            file.write(json.dumps(judged.__dict__) + "\n")
        if judged.problems:
            print(f"{given.seed}-{judged.number}: {judged.signature}", flush=True)

    with suppress(KeyboardInterrupt):
        left = [number for number in numbers if number not in ran]
        run_cases(given.seed, left, not given.plain, given.at_once, told, given.packets)
    text = summary(given.seed, results, time.monotonic() - start)
    if given.only is None:
        kept.with_name("summary.txt").write_text(text)
    print(text if given.only is None else text.splitlines()[0])
    return 1 if any(judged.problems for judged in results) else 0


def read_results(path: Path) -> list[Judged]:
    """Return the results of an earlier run."""
    if not path.exists():
        return []
    return [Judged(**json.loads(line)) for line in path.read_text().splitlines()]


def summary(seed: int, results: list[Judged], seconds: float) -> str:
    """Return the findings by signature, the outcomes, and the histogram of drawn features."""
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
