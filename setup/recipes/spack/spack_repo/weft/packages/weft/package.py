# SPDX-License-Identifier: LGPL-2.1-only
"""weft for Spack. The source is the checkout that contains this file."""

from pathlib import Path

from spack_repo.builtin.build_systems.python import PythonPackage

from spack.package import *

_CHECKOUT = Path(__file__).resolve().parents[7]


class Weft(PythonPackage):
    """Simulates MPI programs on clusters whose switches compute."""

    git = f"file://{_CHECKOUT}"

    license("LGPL-2.1-only")

    version("main", branch="main")
    version("0.1.0", tag="v0.1.0")

    variant("calibrate", default=False, description="Fit fabric files to measurements")
    variant("notebook", default=False, description="Show records and progress in Jupyter")
    variant("report", default=False, description="Reports and pictures, weft demo among them")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("fortran", type="build")
    depends_on("cmake@3.24:", type="build")
    depends_on("ninja", type="build")
    depends_on("boost", type="build")
    depends_on("nlohmann-json", type="build")
    depends_on("tomlplusplus", type="build")
    depends_on("mimalloc@2 libs=shared", type=("build", "link", "run"))
    depends_on("simgrid@4.0:4.1 +smpi", type=("build", "link", "run"))

    depends_on("python@3.11:", type=("build", "run"))
    depends_on("py-scikit-build-core@0.10:", type="build")
    depends_on("py-pybind11@2.12:", type="build")

    depends_on("py-click@8.4:", type="run")
    depends_on("py-msgspec@0.20:", type="run")
    depends_on("py-numpy@1.26:", type="run")
    depends_on("py-polars@1.30:", type="run")
    depends_on("py-pyelftools@0.31:", type="run")
    depends_on("py-rich@13:", type="run")
    depends_on("py-tomlkit@0.13:", type="run")

    with when("+calibrate"):
        depends_on("py-scipy@1.13:", type="run")
    with when("+notebook"):
        depends_on("py-ipykernel@6.29:", type="run")
        depends_on("py-ipython@8:", type="run")
    with when("+report"):
        depends_on("py-altair@6:", type="run")
        depends_on("py-matplotlib@3.8:", type="run")
        depends_on("py-pillow@10:", type="run")
        depends_on("py-vl-convert-python@1.8:", type="run")

    def setup_build_environment(self, env):
        """Name the SimGrid that weft extends."""
        env.set("SIMGRID_PREFIX", self.spec["simgrid"].prefix)
