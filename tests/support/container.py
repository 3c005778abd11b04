# SPDX-License-Identifier: LGPL-2.1-only
"""Builds containers/Containerfile with buildah or Podman, and runs commands in its image.

Apptainer's recipe is executed step by step on the same base, following Apptainer's manual: Debian
12 has no Apptainer.
"""

import ast
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.support.places import ROOT

RECIPE = ROOT / "containers" / "Containerfile"
RECIPE_OF_APPTAINER = ROOT / "containers" / "weft.def"
IMAGE = "localhost/weft-test"
# Time limit in seconds: a first build downloads 250 MB of compilers and packages, and slow networks
# must not block tests.
SECONDS = 150
UNREACHABLE = re.compile("No matching distribution|Temporary failure|Unable to fetch some archives")
PIP_SETTINGS = ("index-url", "extra-index-url", "trusted-host", "proxy", "timeout")


def builder() -> str:
    """Return buildah or Podman; skip the test without one of them or the base image."""
    found = shutil.which("buildah") or shutil.which("podman")
    if not found:
        pytest.skip("neither buildah nor podman is here: containers/Containerfile is not built")
    base = _base()
    here = subprocess.run([found, "inspect", "--type", "image", base], capture_output=True)
    if here.returncode != 0:
        pytest.skip(f"the image {base} is not here, and no test downloads it: {found} pull {base}")
    return found


def _base() -> str:
    return RECIPE.read_text().partition("\nFROM ")[2].partition("\n")[0]


def build(tool: str, wheels: Path, folder: Path) -> None:
    """Build the image of a folder's wheel, with cached layers for unchanged parts."""
    options = ["--isolation", "chroot", "--layers", "--force-rm", *_settings_of_pip(folder)]
    _download([tool, "build", *options, "--file", str(RECIPE), "--tag", IMAGE, str(wheels)])


def _download(command: list[str]) -> None:
    done = subprocess.run(
        ["timeout", str(SECONDS), *command], text=True, capture_output=True, check=False
    )
    said = done.stdout + done.stderr
    if done.returncode == 124:
        pytest.skip(
            f"the image takes more than {SECONDS} s; built by hand once, most of it is kept"
        )
    if done.returncode != 0 and (why := UNREACHABLE.search(said)):
        pytest.skip(f"no packages from the network for the image: {why[0]}")
    assert done.returncode == 0, said


@dataclass(frozen=True)
class Apptainer:
    """Container built from Apptainer's recipe, with the recipe's run-time settings."""

    name: str
    environment: str
    runscript: str

    def command(self, *arguments: str) -> str:
        """Return the shell command equivalent to `./weft.sif ARGUMENTS`, run from /here."""
        script = shlex.quote(self.runscript)
        return f"cd /here && {self.environment}\nsh -c {script} weft.sif {shlex.join(arguments)}"

    def run(self, script: str, here: Path) -> str:
        """Run shell commands in the container, with a folder as /here; return their output."""
        isolated = ["buildah", "run", "--isolation", "chroot", "--volume", f"{here}:/here"]
        return _output([*isolated, self.name, "--", "sh", "-c", script])


@contextmanager
def apptainer(checkout: Path, folder: Path) -> Iterator[Apptainer]:
    """Execute containers/weft.def, with its %files from a folder instead of the checkout."""
    if Path(builder()).name != "buildah":
        pytest.skip("buildah is not here: containers/weft.def is not carried out")
    recipe = _sections(RECIPE_OF_APPTAINER.read_text())
    header = dict(line.split(": ") for line in recipe[""].splitlines() if line[:1] not in ("#", ""))
    assert (header["Bootstrap"], f"docker.io/library/{header['From']}") == ("docker", _base())
    made = Apptainer(
        _output(["buildah", "from", _base()]).strip(),
        recipe["environment"].strip(),
        recipe["runscript"].strip(),
    )
    try:
        for line in recipe["files"].strip().splitlines():
            source, target = line.split()
            _output(["buildah", "copy", made.name, str(checkout / source), target])
        isolated = ["buildah", "run", "--isolation", "chroot"]
        settings = _settings_of_pip(folder)
        _download([*isolated, *settings, made.name, "--", "sh", "-ex", "-c", recipe["post"]])
        made.run(recipe["test"], folder)
        yield made
    finally:
        _output(["buildah", "rm", made.name])


def _sections(recipe: str) -> dict[str, str]:
    """Return the text below each %name of a recipe; the text above them has an empty name."""
    above, *others = re.split(r"^%(\w+)\n", recipe, flags=re.MULTILINE)
    return {"": above, **dict(zip(others[::2], others[1::2], strict=True))}


def run(tool: str, script: str, here: Path) -> str:
    """Run shell commands in a container, with a folder mounted as /here; return their output."""
    mount = ["--volume", f"{here}:/here"]
    if Path(tool).name == "podman":
        return _output([tool, "run", "--rm", *mount, "--entrypoint", "sh", IMAGE, "-c", script])
    container = _output([tool, "from", IMAGE]).strip()
    try:
        isolated = [tool, "run", "--isolation", "chroot", *mount, container]
        return _output([*isolated, "--", "sh", "-c", script])
    finally:
        _output([tool, "rm", container])


def _output(command: list[str]) -> str:
    done = subprocess.run(command, text=True, capture_output=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def _settings_of_pip(folder: Path) -> list[str]:
    """Return options that pass this machine's package index to the build, if it has one."""
    listed = _output([sys.executable, "-m", "pip", "config", "list"])
    found = dict(re.findall(r"^\S*?\.?([a-z-]+)=('.*')$", listed, re.MULTILINE))
    settings = {name: ast.literal_eval(found[name]) for name in PIP_SETTINGS if name in found}
    mounts = []
    if "cert" in found:
        certificate = os.path.realpath(ast.literal_eval(found["cert"]))
        settings["cert"] = "/run/certificate"
        mounts = ["--volume", f"{certificate}:/run/certificate:ro"]
    lines = (f"{name} = {value}\n" for name, value in settings.items())
    (folder / "pip.conf").write_text("[global]\n" + "".join(lines))
    return [*mounts, "--volume", f"{folder}/pip.conf:/etc/pip.conf:ro"]
