# SPDX-License-Identifier: LGPL-2.1-only
"""Random files of background traffic."""

import random
from pathlib import Path

PATTERNS = ("uniform", "permutation", "incast", "hot-spot")
LOADS = (("256B", 0.05), ("4KiB", 0.5), ("64KiB", 5), ("1MiB", 20))
"""Sizes of background messages, and loads in per cent."""


def random_traffic(draw: random.Random, folder: Path, small: bool = False) -> str:
    """Write a file with one or two patterns of small load.

    On small fabrics all hosts send, as the hosts without ranks may be too few.
    """
    text = ""
    for number in range(draw.randint(1, 2)):
        start = draw.choice([0, draw.randint(1, 300)])
        size, load = draw.choice(LOADS)
        text += f"""
[[traffic]]
name = "traffic-{number}"
pattern = "{draw.choice(PATTERNS)}"
load = "{load}%"
bytes = "{size}"
hosts = "{"all" if small else draw.choice(["idle", "all"])}"
part = "{100 if small else draw.choice([10, 50, 100])}%"
window = {draw.randint(1, 4)}
seed = {draw.randint(0, 99)}
"""
        text += f'start = "{start}us"\n' if start else ""
        if draw.random() < 0.3:
            text += f'end = "{start + draw.randint(1, 1000)}us"\n'
    file = folder / f"traffic-{draw.randint(0, 10**9)}.toml"
    file.write_text(text)
    return str(file)
