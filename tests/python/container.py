# SPDX-License-Identifier: LGPL-2.1-only
"""Builds containers/Containerfile with buildah or Podman, and runs commands in its image."""

import ast
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
RECIPE = ROOT / "containers" / "Containerfile"
IMAGE = "localhost/weft-test"
# A first build downloads 250 MB of compilers and packages: no test should wait for a slow network.
SECONDS = 150
UNREACHABLE = re.compile("No matching distribution|Temporary failure|Unable to fetch some archives")
PIP_SETTINGS = ("index-url", "extra-index-url", "trusted-host", "proxy", "timeout")


def builder() -> str:
    """Return buildah or Podman, or skip the test: they and the base image have to be here."""
    found = shutil.which("buildah") or shutil.which("podman")
    if not found:
        pytest.skip("neither buildah nor podman is here: containers/Containerfile is not built")
    (base,) = re.findall("^FROM (.+)$", RECIPE.read_text(), re.MULTILINE)
    here = subprocess.run([found, "inspect", "--type", "image", base], capture_output=True)
    if here.returncode != 0:
        pytest.skip(f"the image {base} is not here, and no test downloads it: {found} pull {base}")
    return found


def build(tool: str, wheels: Path, folder: Path) -> None:
    """Build the image of a folder's wheel; what did not change since the last time is kept."""
    options = ["--isolation", "chroot", "--layers", "--force-rm", *_settings_of_pip(folder)]
    command = [tool, "build", *options, "--file", str(RECIPE), "--tag", IMAGE, str(wheels)]
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


def run(tool: str, script: str, here: Path) -> str:
    """Run a shell's commands in a container, whose /here is a folder, and return what they say."""
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
    """Return what gives the build this machine's index of packages, if it has one of its own."""
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
