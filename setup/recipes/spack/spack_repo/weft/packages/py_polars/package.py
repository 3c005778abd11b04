# SPDX-License-Identifier: LGPL-2.1-only
"""polars for Spack, which lacks the version that weft requires.

This package is a wheel, since the sources need a nightly Rust.
"""

from spack_repo.builtin.build_systems.python import PythonPackage

from spack.package import *


class PyPolars(PythonPackage):
    """Data frames."""

    url = "https://files.pythonhosted.org/packages/cp39/p/polars/polars-1.30.0-cp39-abi3-manylinux_2_17_x86_64.manylinux2014_x86_64.whl"

    version(
        "1.30.0",
        sha256="1a52af3862082b868c1febeae650af8ae8a2105d2cb28f0449179a7b44f54ccf",
        expand=False,
    )

    requires("target=x86_64:", msg="the wheel is for x86-64")
    depends_on("python@3.9:", type=("build", "run"))
