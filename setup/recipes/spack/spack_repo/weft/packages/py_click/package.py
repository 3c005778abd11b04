# SPDX-License-Identifier: LGPL-2.1-only
"""click for Spack, which lacks the version that weft requires."""

from spack_repo.builtin.build_systems.python import PythonPackage

from spack.package import *


class PyClick(PythonPackage):
    """Command lines from functions."""

    pypi = "click/click-8.5.1.tar.gz"

    version("8.5.1", sha256="9bbfada76703fd1d784b83eea012e3e8c6a001a876543ef104fa56aaaeb072b4")

    depends_on("python@3.10:", type=("build", "run"))
    depends_on("py-flit-core@3.11:3", type="build")
