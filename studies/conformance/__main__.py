# SPDX-License-Identifier: LGPL-2.1-only
"""`make conformance`: MPICH's test programs, under stock SMPI and under weft.

Runs the suites mpich-3 and mpich-4, or one of them. Prints a table for each suite, and writes it to
docs/ (a row per directory) and build/conformance/results-mpich-4.csv (a row per test, with the
output of failed tests). Exits with status 1 if a test passes under stock SMPI but not under weft.
"""

import argparse
import csv
import sys
from collections.abc import Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from studies.conformance.mpich_3 import MPICH_3
from studies.conformance.mpich_4 import MPICH_4
from studies.conformance.runs import FABRIC, Outcome, Runner, make_runner
from studies.conformance.suite import BUILD, CannotBuild, Suite, Test, Under
from studies.study import ROOT
from weft import _core
from weft.base.output import whole_file
from weft.base.process import raise_on_signals
from weft.base.tables import console, new_table, print_table, print_title

SUITES = (MPICH_3, MPICH_4)
JOBS = 2
COLUMNS = {
    Under.STOCK: "passed under stock SMPI",
    Under.WEFT: "passed under weft",
    Under.HOSTS: "passed on its hosts",
    Under.MPICH: "passed on its hosts as MPICH",
}
T = TypeVar("T")


@dataclass(frozen=True)
class Result:
    """Results of one test."""

    test: Test
    outcomes: dict[Under, Outcome]

    def passed(self, under: Under) -> bool:
        """Return true if the test passed under this simulator."""
        return self.outcomes[under].passed

    @property
    def lost(self) -> bool:
        """True if the test passes under stock SMPI but fails under weft."""
        return self.passed(Under.STOCK) and not all(map(self.passed, self.outcomes))


def main() -> int:
    """Build and run the tests, and print and write the results."""
    options = _parse()
    raise_on_signals()
    BUILD.mkdir(parents=True, exist_ok=True)
    runner = make_runner(BUILD)
    suites = [suite for suite in SUITES if options.suite in (None, suite.name)]
    are_lost = [_is_any_lost(suite, options.directories, runner) for suite in suites]
    return 1 if any(are_lost) else 0


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    names = [suite.name for suite in SUITES]
    parser.add_argument("suite", nargs="?", choices=names, help="default: both")
    parser.add_argument("directories", nargs="*", help="only these, such as coll; default: all")
    return parser.parse_args()


def _is_any_lost(suite: Suite, directories: Sequence[str], runner: Runner) -> bool:
    """Run a suite; write the table in docs only if all directories were run."""
    results = _all_results(suite, _chosen(suite.tests(), directories), runner)
    rows = _rows(results)
    _print(suite, rows)
    _write_results(suite, results)
    if not directories:
        _write_summary(suite, rows)
    return any(result.lost for result in results)


def _chosen(tests: Sequence[Test], directories: Sequence[str]) -> list[Test]:
    known = {test.directory for test in tests}
    for directory in directories:
        if directory not in known:
            sys.exit(f"conformance: found '{directory}'; directories: {', '.join(sorted(known))}")
    wanted = set(directories) or known
    return [test for test in tests if test.directory in wanted]


def _all_results(suite: Suite, tests: Sequence[Test], runner: Runner) -> list[Result]:
    builders = [suite.make_builder(runner.simgrid, by_weft) for by_weft in (False, True)]
    programs = list(dict.fromkeys((test.directory, test.program) for test in tests))
    with ThreadPoolExecutor(JOBS) as pool:
        try:
            paths = [
                pool.submit(builder.build, *program) for program in programs for builder in builders
            ]
            found = _finished("programs built", paths)
            built = dict(zip(programs, zip(found[::2], found[1::2], strict=True), strict=True))
            runs = [
                pool.submit(_result, suite.ways, test, *built[test.directory, test.program], runner)
                for test in tests
            ]
            return _finished("tests run", runs)
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise


def _finished(what: str, futures: Sequence[Future[T]]) -> list[T]:
    """Wait for all futures, and show progress."""
    for number, future in enumerate(as_completed(futures), 1):
        future.result()
        if number % 50 == 0 or number == len(futures):
            print(f"conformance: {number} of {len(futures)} {what}", file=sys.stderr, flush=True)
    return [future.result() for future in futures]


Built = Path | CannotBuild


def _result(ways: Sequence[Under], test: Test, stock: Built, weft: Built, runner: Runner) -> Result:
    """Run a test: SimGrid's build of the program under stock SMPI, else weft's build."""
    outcomes = {}
    for under in ways:
        program = stock if under is Under.STOCK else weft
        if isinstance(program, CannotBuild):
            outcomes[under] = Outcome(passed=False, status=None, output=program.said)
        else:
            outcomes[under] = runner.run(test, program, under)
    return Result(test, outcomes)


Row = tuple[str | int, ...]


def _head(suite: Suite) -> list[str]:
    return ["directory", "programs", *(COLUMNS[under] for under in suite.ways), "lost"]


def _rows(results: Sequence[Result]) -> list[Row]:
    """Return a row per directory, and a row for the total."""
    directories = dict.fromkeys(result.test.directory for result in results)
    rows = [
        _row(name, [result for result in results if result.test.directory == name])
        for name in directories
    ]
    return [*rows, _row("all", results)]


def _row(name: str, results: Sequence[Result]) -> Row:
    lost = ", ".join(result.test.name for result in results if result.lost)
    passed = (sum(result.passed(under) for result in results) for under in results[0].outcomes)
    return name, len(results), *passed, lost or "none"


def _print(suite: Suite, rows: Iterable[Row]) -> None:
    out = console()
    print_title(f"Programs of {suite.name}", out)
    table = new_table(_head(suite), left=("directory", "lost"))
    for row in rows:
        table.add_row(*map(str, row))
    print_table(table, out)


def _write_summary(suite: Suite, rows: Iterable[Row]) -> None:
    provenance = (
        f"{suite.origin}, by `make conformance` with SimGrid {_core.simgrid_version} on",
        f"{FABRIC.relative_to(ROOT)}: weft offloads all that the switches do; 'on its hosts'"
        " nothing (by openmpi-5.0, and by mpich-4). A program counts once for each line of its"
        " directory's testlist.",
    )
    with whole_file("conformance", suite.summary) as file:
        file.writelines(f"# {line}\n" for line in provenance)
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow([column.replace(" ", "_") for column in _head(suite)])
        writer.writerows(rows)


def _write_results(suite: Suite, results: Iterable[Result]) -> None:
    with whole_file("conformance", BUILD / f"results-{suite.name}.csv") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["directory", "test", "under", "passed", "status", "output"])
        for result in results:
            for under, outcome in result.outcomes.items():
                output = "" if outcome.passed else outcome.output
                writer.writerow(
                    [
                        *(result.test.directory, result.test.name, under),
                        *(outcome.passed, outcome.status, output),
                    ]
                )


if __name__ == "__main__":
    sys.exit(main())
