# SPDX-License-Identifier: LGPL-2.1-only
"""Routing policies: tables of docs/routing.md.

Random permutations on a fat tree, random pairs on the Clos network of Geoffray and Hoefler (HOTI
2008), and traffic between groups of a Dragonfly. Times are simulated and the same on every machine.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import mean

from studies.study import DOCS, OPTION, Study, markdown, read_table, write_table
from weft.base.errors import WeftError
from weft.base.process import work_directory
from weft.runs import launch
from weft.runs.request import Request
from weft.runs.toolchain import compile_c

HERE = Path(__file__).parent
BYTES = 1 << 20
TABLE = DOCS / "routing.csv"
POLICIES = ("static", "ecmp", "ecmp-message", "adaptive", "spray")


@dataclass(frozen=True)
class Case:
    """Exchanges on a fabric."""

    fabric: str
    ranks: int
    pattern: str
    patterns: int
    arguments: tuple[str, ...] = ()
    changes: tuple[str, ...] = ()
    policies: tuple[str, ...] = POLICIES


CASES = {
    "fat tree": Case("fat-tree-1024", 1024, "permutation", 5),
    "Clos": Case(
        "fat-tree-1024",
        512,
        "pairs",
        20,
        changes=("topology.down=[16, 32]", "topology.up=[1, 16]"),
    ),
    "Dragonfly": Case(
        *("dragonfly-16x16", 256, "shift", 1, ("16",)),
        policies=("static", "ecmp", "adaptive", "adaptive-global"),
    ),
}


@dataclass(frozen=True)
class Row:
    """Result of one pattern: times of the ranks, and the mean of their rates."""

    case: str
    policy: str
    pattern: int
    mean_seconds: float
    last_seconds: float
    mean_rate: float


def measure() -> list[Row]:
    """Run all cases with all policies, and an isolated pair on each fabric."""
    with work_directory() as work:
        program = work / "routing"
        compile_c(HERE / "routing.c", program)
        rows = [row for name in CASES for row in run(program, name, "alone")]
        for name, case in CASES.items():
            for policy in case.policies:
                rows += run(program, name, policy)
        return rows


def run(program: Path, name: str, policy: str) -> list[Row]:
    """Return a row per pattern. The policy "alone" runs a single pair, as far apart as possible."""
    case = CASES[name]
    alone = policy == "alone"
    lines: list[str] = []
    request = Request.of(
        fabric=case.fabric,
        changes=(*case.changes, f"routing.policy={'static' if alone else policy}"),
        ranks=case.ranks,
        program=str(program),
        arguments=("alone", str(BYTES), "1")
        if alone
        else (case.pattern, str(BYTES), str(case.patterns), *case.arguments),
        offload="off",
    )
    record = launch.run(launch.prepare(request), lines.append)
    if record.failed:
        raise WeftError(f"{OPTION}: routing: {record.outcome.message}")
    return [
        Row(name, policy, number, *map(float, line.split())) for number, line in enumerate(lines)
    ]


def of(rows: Sequence[Row], case: str, policy: str) -> list[Row]:
    """Return the patterns of a case with a policy."""
    return [row for row in rows if (row.case, row.policy) == (case, policy)]


def times(rows: Sequence[Row], case: str) -> str:
    """Return the table of times of a case, relative to an isolated pair."""
    (alone,) = of(rows, case, "alone")
    lines = []
    for policy in CASES[case].policies:
        found = of(rows, case, policy)
        means = mean(row.mean_seconds for row in found)
        lasts = mean(row.last_seconds for row in found)
        lines.append(
            (
                f"`{policy}`",
                f"{means * 1e6:.0f} µs",
                f"{lasts * 1e6:.0f} µs",
                f"{lasts / alone.last_seconds:.1f}",
            )
        )
    heads = ("policy", "mean completion", "last completion", "last / a pair alone")
    return markdown(heads, lines)


def rates(rows: Sequence[Row], case: str) -> str:
    """Return the table of mean rates of a case, relative to an isolated pair."""
    (alone,) = of(rows, case, "alone")
    lines = []
    for policy in CASES[case].policies:
        found = [row.mean_rate / alone.mean_rate for row in of(rows, case, policy)]
        lines.append((f"`{policy}`", f"{mean(found):.0%}", f"{min(found):.0%} to {max(found):.0%}"))
    return markdown(("policy", "mean rate", "over the patterns"), lines)


def write() -> None:
    """Measure, and write the table."""
    write_table(TABLE, [asdict(row) for row in measure()])


def read() -> list[Row]:
    """Read the table."""
    return [
        Row(
            row["case"],
            row["policy"],
            int(row["pattern"]),
            *(float(row[key]) for key in ("mean_seconds", "last_seconds", "mean_rate")),
        )
        for row in read_table(TABLE)
    ]


def texts() -> dict[str, str]:
    """Return the tables of the page."""
    rows = read()
    return {
        "table: permutations": times(rows, "fat tree"),
        "table: pairs": rates(rows, "Clos"),
        "table: groups": times(rows, "Dragonfly"),
    }


STUDY = Study(
    "routing",
    "permutations, pairs and group traffic by routing policy",
    measure=write,
    page=DOCS / "routing.md",
    texts=texts,
)
