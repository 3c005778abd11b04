# SPDX-License-Identifier: LGPL-2.1-only
"""msgspec for Spack, which lacks this package."""

from spack_repo.builtin.build_systems.python import PythonPackage

from spack.package import *


class PyMsgspec(PythonPackage):
    """Serialization and validation of JSON by declared types."""

    pypi = "msgspec/msgspec-0.22.0.tar.gz"

    version("0.22.0", sha256="0a13624a4969159fe35d8c2a3d377b2b61bbd8585e327440d5e52725affcce38")

    depends_on("c", type="build")
    depends_on("python@3.10:", type=("build", "run"))
    depends_on("py-setuptools", type="build")
    depends_on("py-setuptools-scm", type="build")
