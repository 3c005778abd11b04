# SPDX-License-Identifier: LGPL-2.1-only
"""A teacher's question: what a collective does, step by step.

Eight processes have one number each and need the sum of all. Two algorithms are shown message by
message: a ring, and recursive doubling. After each round, the script prints the numbers whose sum
each process has, derived from the messages themselves.

    python teacher.py

Prints the rounds, draws teacher_ring.png and teacher_recursive_doubling.png, and reports which
algorithm is faster on eight simulated hosts with 100 Gb/s, for small and large messages, and why.
"""

import weft

RANKS = 8
PARTS = {"recursive_doubling": 1, "ring": RANKS}
"""Number of parts of the vector: a ring sends one part at a time."""
BYTES = 1024 * RANKS


def whole_vector(schedule: weft.Schedule) -> None:
    """Print the numbers that are in each process's sum after each round."""
    known = [{rank} for rank in range(RANKS)]
    for number, messages in schedule.frame().group_by("round", maintain_order=True):
        before = [set(one) for one in known]
        for message in messages.iter_rows(named=True):
            known[message["receiver"]] |= before[message["sender"]]
        sums = "  ".join(f"{rank}: {_range(one)}" for rank, one in enumerate(known))
        print(f"  after round {int(str(number[0])) + 1}  {sums}")


def _range(numbers: set[int]) -> str:
    low, high = min(numbers), max(numbers)
    complete = high - low + 1 == len(numbers)
    return f"{low}-{high}" if complete and low < high else "+".join(map(str, sorted(numbers)))


def in_parts(schedule: weft.Schedule) -> None:
    """Print the rounds of a ring: the first half adds up, the second half distributes."""
    messages = schedule.frame()
    sizes = messages["bytes"].unique().to_list()
    ways = messages.select("sender", "receiver").unique().sort("sender").head(2).rows()
    pairs = ", ".join(f"{one} to {other}" for one, other in ways)
    for first, last, what in (
        (1, RANKS - 1, "it adds them to its own part"),
        (RANKS, schedule.rounds, "it keeps them: they are the sum of all"),
    ):
        print(
            f"  rounds {first} to {last}: each process sends {sizes[0]:,} bytes, an eighth, to the"
            f" next one ({pairs}, ...), and {what}"
        )


def main() -> None:
    """Show and time both algorithms."""
    for algorithm, parts in PARTS.items():
        schedule = weft.collective_schedule(
            "allreduce", RANKS, BYTES, algorithm=algorithm, element=8
        )
        print(f"{schedule.title}: {schedule.rounds} rounds")
        (whole_vector if parts == 1 else in_parts)(schedule)
        print(
            f"  {len(schedule.frame())} messages; a process sends {schedule.busiest_bytes:,} bytes"
        )
        schedule.plot(f"teacher_{algorithm}.png")
    times = weft.bench(
        "allreduce", "tofino-16", RANKS, sizes=["64B", "1MiB"], modes=list(PARTS)
    ).pivot("mode", index="bytes", values="latency_us")
    print("On hosts with 100 Gb/s, simulated:")
    for row in times.iter_rows(named=True):
        faster = min(PARTS, key=lambda one: row[one])
        why = "it has fewer rounds" if faster != "ring" else "each process sends fewer bytes"
        own = ", ".join(f"{one} {row[one]:.1f} us" for one in PARTS)
        print(f"  {row['bytes']:>9,} bytes: {own}; {faster} is faster: {why}")


if __name__ == "__main__":
    main()
