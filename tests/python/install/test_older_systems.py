# SPDX-License-Identifier: LGPL-2.1-only
"""Libraries that are made to run on older systems than the one that has built them."""

import ctypes
import shutil
import subprocess
from pathlib import Path

import older_systems
import pytest

SOURCE = """
#include <charconv>
#include <cmath>
#include <condition_variable>
#include <cstring>
#include <filesystem>
#include <pthread.h>
#include <sstream>
#include <sys/stat.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static int count = 0;

extern "C" double found(const char* path, double value)
{
  std::mutex mutex;
  std::unique_lock<std::mutex> lock(mutex);
  std::condition_variable changed;
  for (volatile bool never = false; never;)
    changed.wait(lock);
  pthread_once(&once, [] { ++count; });
  struct stat about;
  const bool same = stat(path, &about) == 0;
  if (std::filesystem::file_size(path) != std::uintmax_t(about.st_size))
    return -1;
  std::ostringstream text;
  text << std::exp(std::log(value));
  const std::string digits = text.str();
  double read = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), read);
  return same && count == 1 && std::strcmp(sigabbrev_np(9), "KILL") == 0 ? read : -1;
}
"""
PROGRAM = """
#include <cstdio>
#include <cstdlib>
struct Late { int value = std::rand(); ~Late() { std::puts("late"); } };
static Late late;
int main() { return late.value == 0; }
"""
WAITING = """
#include <pthread.h>
#include <time.h>
extern "C" int wait_for(pthread_cond_t* condition, pthread_mutex_t* mutex, const timespec* until)
{
  return pthread_cond_clockwait(condition, mutex, CLOCK_MONOTONIC, until);
}
"""


def compiled(folder: Path, source: str, *options: str) -> Path:
    package = folder / "package"
    (package / "inner").mkdir(parents=True, exist_ok=True)
    (folder / "source.cpp").write_text(source)
    target = package / "inner" / "made"
    command = ["g++", "-std=c++20", "-O1", "source.cpp", "-o", str(target), *options]
    subprocess.run(command, cwd=folder, check=True)
    return target


@pytest.fixture
def library(tmp_path: Path) -> Path:
    made = compiled(tmp_path, SOURCE, "-shared", "-fPIC")
    if not {"stat", "sigabbrev_np"} <= set(older_systems.Image(made).too_new):
        pytest.skip("this system is old enough")
    return made


def test_a_library_requires_nothing_new_and_works(library: Path) -> None:
    package = library.parent.parent
    before = ctypes.CDLL(str(shutil.copy(library, package.with_name("before"))))
    older_systems.adapt(package, package)
    images = list(older_systems.images(package))
    assert {image.path.name for image in images} == {"made", older_systems.LIBRARY}
    assert all(not image.too_new for image in images)
    after = ctypes.CDLL(str(library))
    for one in (before, after):
        one.found.restype = ctypes.c_double
        assert one.found(str(library).encode(), ctypes.c_double(2.5)) == 2.5


def test_what_older_systems_lack_works_without_the_systems(library: Path) -> None:
    """Call the functions of the wheel's own library, which here come after the system's."""
    package = library.parent.parent
    older_systems.adapt(package, package)
    own = ctypes.CDLL(str(package / older_systems.LIBRARY))
    own.sigabbrev_np.restype = ctypes.c_char_p
    names = [own.sigabbrev_np(number) for number in (0, 1, 11, 31, 32)]
    assert names == [None, b"HUP", b"SEGV", b"SYS", None]
    found = ctypes.create_string_buffer(512)
    assert own.stat(b"/", found) == 0
    assert own.stat(b"/nowhere", found) == -1


def test_its_own_library_takes_only_what_is_lacking(library: Path) -> None:
    """All else is the system's: two copies of locales or of exceptions' state would not fit."""
    package = library.parent.parent
    older_systems.adapt(package, package)
    its = package / older_systems.LIBRARY
    printed = subprocess.check_output(["nm", "-D", str(its)], text=True)
    assert " U _ZNSt6localeD1Ev@" in printed
    assert "libstdc++.so.6" in subprocess.check_output(["readelf", "-d", str(its)], text=True)
    assert its.stat().st_size < 1e6


def test_nobody_else_is_bound_to_its_own_library(library: Path) -> None:
    """Other libraries bring or find what their own compiler needs, whose types differ inside."""
    package = library.parent.parent
    older_systems.adapt(package, package)
    command = ["nm", "-D", "--defined-only", "--format=posix", str(package / older_systems.LIBRARY)]
    printed = subprocess.check_output(command, text=True)
    names = {line.split()[0] for line in printed.splitlines()}
    of_cxx = {name for name in names if name.startswith("_Z")}
    assert len(of_cxx) > 3
    assert {name for name in of_cxx if not name.endswith(older_systems.PRIVATE)} == set()
    assert {"stat", "sigabbrev_np"} <= names - of_cxx


def test_programs_with_constructors_are_refused(tmp_path: Path) -> None:
    made = compiled(tmp_path, PROGRAM)
    if "__libc_start_main" not in older_systems.Image(made).too_new:
        pytest.skip("this system is old enough")
    with pytest.raises(ValueError, match="made has constructors, which older systems would not"):
        older_systems.adapt(made.parent.parent, made.parent.parent)


def test_functions_that_nobody_has_are_named(tmp_path: Path) -> None:
    """glibc 2.30 added this one, which has then moved into libc like older ones."""
    made = compiled(tmp_path, WAITING, "-shared", "-fPIC")
    if "pthread_cond_clockwait" not in older_systems.Image(made).too_new:
        pytest.skip("this system is old enough")
    with pytest.raises(ValueError, match="older systems lack pthread_cond_clockwait, and so do"):
        older_systems.adapt(made.parent.parent, made.parent.parent)


def test_timers_are_refused(tmp_path: Path) -> None:
    """The loader would take their first version, with timers of another type."""
    source = (
        '#include <time.h>\nextern "C" int ended(timer_t timer) { return timer_delete(timer); }\n'
    )
    made = compiled(tmp_path, source, "-shared", "-fPIC")
    if "timer_delete" not in older_systems.Image(made).too_new:
        pytest.skip("this system is old enough")
    with pytest.raises(ValueError, match="timer_delete"):
        older_systems.adapt(made.parent.parent, made.parent.parent)


@pytest.mark.parametrize(
    ("version", "too_new"),
    [
        ("GLIBC_2.28", False),
        ("GLIBC_2.29", True),
        ("GLIBC_2.2.5", False),
        ("GLIBC_PRIVATE", False),
        ("GLIBCXX_3.4.25", False),
        ("GLIBCXX_3.4.26", True),
        ("CXXABI_1.3.13", True),
        ("CXXABI_TM_1", False),
        ("CXXABI_FLOAT128", False),
        ("GFORTRAN_8", False),
    ],
)
def test_versions_are_compared_by_number(version: str, too_new: bool) -> None:
    assert older_systems.is_too_new(version) == too_new
