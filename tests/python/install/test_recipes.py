# SPDX-License-Identifier: LGPL-2.1-only
"""The recipes for Spack and conda name the version and the packages of pyproject.toml."""

import re
import sys
import tomllib
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.version import Version
from rattler_build import Stage0Recipe

from tests.support.places import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
RECIPES = ROOT / "setup" / "recipes"
PACKAGES = RECIPES / "spack" / "spack_repo" / "weft" / "packages"
NOT_IN_SPACK = {"cluster", "testbed", "traces", "all"}
"""Extras with packages that Spack lacks."""
CONDA_NAMES = {"matplotlib": "matplotlib-base", "ortools": "ortools-python"}


def declared(requirements: list[str]) -> dict[str, str]:
    """Return the minimum version of each package in pyproject.toml."""
    found = {}
    for requirement in map(Requirement, requirements):
        (bound,) = requirement.specifier
        assert bound.operator == ">="
        found[requirement.name] = bound.version
    return found


def of_testbed() -> list[str]:
    """Return what the distribution of the extra `testbed` needs besides weft."""
    file = ROOT / "testbed" / "pyproject.toml"
    project = tomllib.loads(file.read_text(encoding="utf-8"))["project"]
    needed: list[str] = project["dependencies"]
    own, *others = needed
    assert own == f"{PROJECT['project']['name']}=={PROJECT['project']['version']}"
    return others


EXTRAS = {
    name: declared(of_testbed() if name == "testbed" else packages)
    for name, packages in PROJECT["project"]["optional-dependencies"].items()
    if name != "all"
}
NEEDED = declared(PROJECT["project"]["dependencies"])
BUILD = declared(PROJECT["build-system"]["requires"])


class SpackRecipe:
    """Directives of a recipe, executed by stand-ins for Spack's."""

    def __init__(self) -> None:
        self.versions: dict[str, dict[str, Any]] = {}
        self.variants: set[str] = set()
        self.depends: defaultdict[str, list[tuple[str, Any]]] = defaultdict(list)
        self._when = ""

    @contextmanager
    def when(self, condition: str) -> Iterator[None]:
        self._when = condition
        yield
        self._when = ""

    def depends_on(self, spec: str, *, type: Any) -> None:
        self.depends[self._when].append((spec, type))

    def python_packages(self, when: str, type: str) -> dict[str, str]:
        found = {}
        for spec, its in self.depends[when]:
            match = re.fullmatch(r"py-([a-z0-9-]+)@([0-9.]+):", spec)
            if match and its == type:
                found[match[1]] = match[2]
        return found


def spack_recipe(name: str, monkeypatch: pytest.MonkeyPatch) -> SpackRecipe:
    """Execute a recipe of the Spack repository."""
    seen = SpackRecipe()
    package, system = ModuleType("spack.package"), ModuleType("python")
    vars(package).update(
        depends_on=seen.depends_on,
        license=lambda _name: None,
        requires=lambda _spec, msg: None,
        variant=lambda name, default, description: seen.variants.add(name),
        version=lambda number, **source: seen.versions.update({number: source}),
        when=seen.when,
    )
    vars(system).update(PythonPackage=type("PythonPackage", (), {}))
    monkeypatch.setitem(sys.modules, "spack", ModuleType("spack"))
    monkeypatch.setitem(sys.modules, "spack.package", package)
    for part in ("spack_repo", "spack_repo.builtin", "spack_repo.builtin.build_systems"):
        monkeypatch.setitem(sys.modules, part, ModuleType(part))
    monkeypatch.setitem(sys.modules, "spack_repo.builtin.build_systems.python", system)
    file = PACKAGES / name / "package.py"
    exec(compile(file.read_text(encoding="utf-8"), file, "exec"), {"__file__": str(file)})
    return seen


def test_spack_has_the_version_and_the_dependencies(monkeypatch: pytest.MonkeyPatch) -> None:
    recipe = spack_recipe("weft", monkeypatch)
    assert set(recipe.versions) == {"main", PROJECT["project"]["version"]}
    assert recipe.python_packages("", "build") == BUILD
    assert recipe.python_packages("", "run") == NEEDED
    least = PROJECT["project"]["requires-python"].removeprefix(">=")
    assert (f"python@{least}:", ("build", "run")) in recipe.depends[""]


def test_variants_of_spack_are_extras(monkeypatch: pytest.MonkeyPatch) -> None:
    recipe = spack_recipe("weft", monkeypatch)
    assert recipe.variants == set(EXTRAS) - NOT_IN_SPACK
    for extra in recipe.variants:
        assert recipe.python_packages(f"+{extra}", "run") == EXTRAS[extra]


@pytest.mark.parametrize("folder", sorted(PACKAGES.glob("py_*")), ids=lambda path: path.name)
def test_packages_that_spack_lacks_are_new_enough(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = folder.name.removeprefix("py_")
    least = {**NEEDED, **EXTRAS["report"]}[name]
    versions = spack_recipe(folder.name, monkeypatch).versions
    assert versions and all(Version(version) >= Version(least) for version in versions)
    assert all(re.fullmatch("[0-9a-f]{64}", one["sha256"]) for one in versions.values())


def test_spack_builds_the_checkout(monkeypatch: pytest.MonkeyPatch) -> None:
    text = (PACKAGES / "weft" / "package.py").read_text(encoding="utf-8")
    parents = re.search(r"parents\[(\d+)\]", text)
    assert parents and (PACKAGES / "weft" / "package.py").parents[int(parents[1])] == ROOT


def conda(part: str) -> list[str]:
    (rendered,) = Stage0Recipe.from_file(RECIPES / "conda" / "recipe.yaml").render()
    requirements: dict[str, list[str]] = rendered.recipe.to_dict()["requirements"]
    return requirements[part]


def in_conda(packages: dict[str, str]) -> list[str]:
    return [f"{CONDA_NAMES.get(name, name)} >={version}" for name, version in packages.items()]


def test_conda_has_the_version_and_the_dependencies() -> None:
    (rendered,) = Stage0Recipe.from_file(RECIPES / "conda" / "recipe.yaml").render()
    package = rendered.recipe.to_dict()["package"]
    assert package == {"name": "weft", "version": PROJECT["project"]["version"]}
    python, glibc, *packages = conda("run")
    assert packages == in_conda(NEEDED)
    assert python in conda("host")
    assert glibc.startswith("__glibc >=")


def test_conda_limits_the_packages_of_extras() -> None:
    extras = {name: version for extra in EXTRAS.values() for name, version in extra.items()}
    assert conda("run_constraints") == sorted(in_conda(extras))
