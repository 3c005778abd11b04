"""The compiled core: fabric files, presets and what the build knows about SimGrid."""

from typing import Any

version: str
simgrid_version: str
simgrid_prefix: str

class UserError(Exception):
    """A mistake in the user's input; its text is the complete message."""

class Fabric:
    name: str
    description: str
    file: str
    topology: str
    hosts: list[str]
    cores_per_host: int
    switches: list[dict[str, Any]]
    links: int
    def describe(self) -> str: ...
    def check(self) -> str: ...

def load_fabric(name_or_path: str) -> Fabric: ...
def list_presets(kind: str) -> list[str]: ...
def list_fabrics() -> list[str]: ...
def fabric_schema() -> list[dict[str, Any]]: ...
