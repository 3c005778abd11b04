# SPDX-License-Identifier: LGPL-2.1-only
"""Libraries of the wheel that are changed to require an older version of a symbol."""

import ctypes
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.places import ROOT

SCRIPT = ROOT / "setup" / "older_versions.py"
WAIT = """
#include <condition_variable>
extern "C" bool waits()
{
  std::mutex mutex;
  std::unique_lock<std::mutex> lock(mutex);
  std::condition_variable changed;
  for (volatile bool never = false; never;)
    changed.wait(lock);
  return true;
}
"""
# Makes the library require the new version for another symbol, too, which the old version lacks.
ASSERTION = """
namespace std { void __glibcxx_assert_fail(const char*, int, const char*, const char*) noexcept; }
void fails() { std::__glibcxx_assert_fail("", 0, "", ""); }
"""


def made(folder: Path, source: str) -> Path:
    (folder / "library.cpp").write_text(source)
    library = folder / "library.so"
    command = ["c++", "-std=c++20", "-shared", "-fPIC", "library.cpp", "-o", library.name]
    subprocess.run(command, cwd=folder, check=True)
    if "GLIBCXX_3.4.30" not in needs(library):
        pytest.skip("this compiler's libstdc++ is older than GCC 12's")
    return library


def needs(library: Path) -> str:
    return subprocess.check_output(["readelf", "-V", library], text=True)


def test_a_library_that_only_waits_does_with_the_older_version(tmp_path: Path) -> None:
    library = made(tmp_path, WAIT)
    subprocess.run([sys.executable, SCRIPT, library], check=True)
    assert "GLIBCXX_3.4.30" not in needs(library)
    assert ctypes.CDLL(str(library), ctypes.RTLD_GLOBAL).waits() == 1


def test_a_library_that_needs_more_of_the_new_version_stays(tmp_path: Path) -> None:
    library = made(tmp_path, WAIT + ASSERTION)
    before = library.read_bytes()
    subprocess.run([sys.executable, SCRIPT, library], check=True)
    assert library.read_bytes() == before
