# SPDX-License-Identifier: LGPL-2.1-only
"""The measurement behind presets/switch/tofino-fixed.toml is repeatable: it builds and runs."""

import os
import re
import subprocess

from tests.support import compiled
from tests.support.places import ROOT

SOURCE = ROOT / "benchmarks" / "fixed_point.cpp"
FLAGS = ("-std=c++20", "-O3", "-march=native", "-ffast-math")


def test_the_measurement_of_fixed_point_says_a_rate_and_converts_right() -> None:
    command = [os.environ.get("CXX", "c++"), *FLAGS, str(SOURCE)]
    program = compiled.made("fixed_point", [SOURCE], command)
    said = subprocess.run([program], text=True, capture_output=True, check=True).stdout
    found = re.fullmatch(r"(\S+) GB/s \(first element off by (\S+)\)\n", said)
    assert found, said
    assert float(found[1]) > 0.01
    # With 16 ranks, 27 bits remain for a number below one.
    assert abs(float(found[2])) < 2**-26
