# SPDX-License-Identifier: LGPL-2.1-only
"""Debian source packages, from the archive that this machine uses."""

import hashlib
import os
import subprocess
from pathlib import Path

from studies.study import OPTION, run_command
from weft.base.errors import WeftError


def download(path: str, sha256: str) -> Path:
    """Return a file of Debian's archive, stored next to the set-up's SimGrid."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "weft"
    target = cache / path.rpartition("/")[2]
    if not (target.exists() and _sha256(target) == sha256):
        cache.mkdir(parents=True, exist_ok=True)
        unfinished = target.with_name(f".{target.name}.{os.getpid()}")
        where = f"{_archive()}/{path}"
        run_command(["/usr/lib/apt/apt-helper", "download-file", where, str(unfinished)])
        if _sha256(unfinished) != sha256:
            raise WeftError(f"{OPTION}: {where} has another checksum than expected")
        unfinished.rename(target)
    return target


def _archive() -> str:
    """Return the archive from which this machine installs packages."""
    command = ["apt-get", "indextargets", "--format", "$(SITE)", "Created-By: Packages"]
    result = subprocess.run(command, text=True, capture_output=True, check=True)
    return result.stdout.split()[0]


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
