# SPDX-License-Identifier: LGPL-2.1-only
"""The allocator of simulations while its own libraries are being loaded."""

import os
import subprocess
from pathlib import Path

from weft.base import paths

EARLY = """
#include <stdlib.h>
#include <stdio.h>
#include <sys/auxv.h>
static int finding;
static void find(void)
{
  if (finding++)
    abort();
  void* const own = calloc(1, 32);
  if (!own)
    abort();
  free(own);
  --finding;
}
long syscall(long number, long a, long b, long c, long d, long e, long f)
{
  register long fourth __asm__("r10") = d, fifth __asm__("r8") = e, sixth __asm__("r9") = f;
  find();
  long result = number;
  __asm__ volatile("syscall"
                   : "+a"(result)
                   : "D"(a), "S"(b), "d"(c), "r"(fourth), "r"(fifth), "r"(sixth)
                   : "rcx", "r11", "memory");
  return result;
}
long sysconf(int name)
{
  find();
  return name == 30 ? (long)getauxval(AT_PAGESZ) : -1;
}
"""


def test_system_calls_may_allocate_before_mimalloc_is_there(tmp_path: Path) -> None:
    """So do libweft.so's replacements of them, by their first dlsym() before glibc 2.34."""
    (tmp_path / "early.c").write_text(EARLY)
    command = ["gcc", "-shared", "-fPIC", "-O1", "early.c", "-o", "early.so"]
    subprocess.run(command, cwd=tmp_path, check=True)
    libraries = f"{tmp_path}/early.so:{paths.installed('weft-malloc.so')}"
    done = subprocess.run(
        ["/bin/echo", "there"],
        env={**os.environ, "LD_PRELOAD": libraries},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, "there\n"), done.stderr
