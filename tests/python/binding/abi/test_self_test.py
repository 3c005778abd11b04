# SPDX-License-Identifier: LGPL-2.1-only
"""A SimGrid with an unknown version or object layout is refused before any rank starts."""

import os
import subprocess
from pathlib import Path

import pytest

from tests.support import simulated
from tests.support.simulated import Program

WITHOUT_A_FUNCTION = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <string.h>
void* dlsym(void* handle, const char* name)
{
  void* (*theirs)(void*, const char*) = dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.34");
  return strcmp(name, "_ZN7simgrid4smpi7Request5startEv") ? theirs(handle, name) : 0;
}
"""
VERSIONS = "GLIBC_2.34 { dlsym; };\n"
"""Version script: weft looks up dlsym by the version of the C library's symbol."""
OTHERS = {
    "void sg_version_get(int* a, int* b, int* c) { *a = 4; *b = 2; *c = 0; }": (
        "SimGrid: version 4.2 runs, which weft has not been checked with"
    ),
    "void sg_version_get(int* a, int* b, int* c) { *a = 4; *b = 0; *c = 0; }": (
        "SimGrid: version 4.0 runs, and weft was built for 4.1"
    ),
    WITHOUT_A_FUNCTION: (
        "SimGrid: it has no function _ZN7simgrid4smpi7Request5startEv, which weft replaces"
    ),
    "int PMPI_Type_size(void* type, int* size) { *size = 8; return 0; }": (
        "SimGrid: the fields of a datatype lie elsewhere than in versions 4.0 and 4.1"
    ),
}


@pytest.mark.parametrize(("function", "said"), OTHERS.items())
def test_another_simgrid_is_refused(
    program: Program, tmp_path: Path, function: str, said: str
) -> None:
    source, library, versions = (tmp_path / f"other.{suffix}" for suffix in ("c", "so", "map"))
    source.write_text(function)
    versions.write_text(VERSIONS)
    flags = ["-shared", "-fPIC", f"-Wl,--version-script={versions}"]
    subprocess.run(["gcc", *flags, str(source), "-o", str(library)], check=True)
    result = simulated.run_command(
        simulated.weft_command(program("calls.c")),
        environment={**os.environ, "LD_PRELOAD": str(library)},
    )
    assert result.status == 2
    assert result.stderr.startswith(f"weft: {said}; weft works with SimGrid 4.0 and 4.1")
    assert result.stderr.count("\n") == 1
