# SPDX-License-Identifier: LGPL-2.1-only
"""Access control of a testbed's switch: remotely reachable addresses, and certificates."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.in_process import run
from tests.support.p4_servers import free_address
from weft.base.errors import WeftError
from weft_testbed.hardware import inventory
from weft_testbed.p4 import access
from weft_testbed.p4 import client as p4_client
from weft_testbed.p4.client import Client, pipeline
from weft_testbed.plan import file as plan_file
from weft_testbed.plan import plan, wanted_topology
from weft_testbed.running import namespaces as netns
from weft_testbed.running import p4_server
from weft_testbed.tables import tables

LOCAL = ("127.0.0.1:9559", "127.8.8.8:1", "localhost:9559", "[::1]:9559", "ipv6:[::1]:9559",
         "unix:/tmp/socket", "dns:///localhost:9559")  # fmt: skip
EXPOSED = ("0.0.0.0:9559", "[::]:9559", "10.1.1.1:9559", "host.example.org:9559", ":9559", "*:9559",
           "ipv4:0.0.0.0:9559", "127.0.0.1.example.org:1", "localhost.example.org:1")  # fmt: skip


@pytest.mark.parametrize("address", LOCAL)
def test_this_machines_own_addresses_are_free(address: str) -> None:
    assert access.check_listen(address, None, insecure=False) == ""


@pytest.mark.parametrize("address", EXPOSED)
def test_what_others_reach_is_refused_or_warned_of(address: str) -> None:
    with pytest.raises(WeftError, match=r"other machines can reach .* runs as root; give tls"):
        access.check_listen(address, None, insecure=False)
    warning = access.check_listen(address, None, insecure=True)
    assert warning.endswith("runs as root: there is no authentication")


def test_the_command_refuses_before_anything_is_made(tmp_path: Path) -> None:
    path = tmp_path / "plan.json"
    made = plan.make(inventory.read("topocloud-64"), [wanted_topology.read("star-8")])
    plan_file.write(made, path)
    words = ["testbed", "up", "--netns", str(path), "--name", "no-such"]
    status, _, said = run([*words, "--listen", "0.0.0.0:9559"])
    assert status == 2
    assert said == (
        "weft: --listen: other machines can reach 0.0.0.0:9559 and would control a server that"
        " runs as root; give --tls a directory with certificates, listen at 127.0.0.1, or allow it"
        " with --insecure\n"
    )
    status, _, said = run([*words, "--insecure"])
    assert (status, said) == (2, "weft: --insecure: requires --listen\n")
    status, _, said = run([*words, "--listen", "0.0.0.0:9559", "--tls", str(tmp_path)])
    assert status == 2
    assert said.startswith(f"weft: --tls: {tmp_path}/ca.pem: No such file or directory; the dir")


# ---- Certificates --------------------------------------------------------------------------------


def openssl(*words: object) -> None:
    subprocess.run(["openssl", *map(str, words)], check=True, capture_output=True, timeout=60)


def certify(folder: Path, authority: str) -> Path:
    """Return a directory of certificates for this machine, with its own authority."""
    folder.mkdir()
    key, certificate = folder / "key.pem", folder / "cert.pem"
    root, secret = folder / "ca.pem", folder / "ca.key"
    curve = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes")
    openssl("req", "-x509", *curve, "-subj", f"/CN={authority}", "-keyout", secret, "-out", root)
    request, names = folder / "request", folder / "names"
    names.write_text("subjectAltName=IP:127.0.0.1\n")
    openssl("req", *curve, "-subj", "/CN=switch", "-keyout", key, "-out", request)
    openssl("x509", "-req", "-in", request, "-CA", root, "-CAkey", secret, "-CAcreateserial",
            "-extfile", names, "-out", certificate)  # fmt: skip
    return folder


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    if shutil.which("openssl") is None:
        pytest.skip("there is no openssl; install it")
    return certify(tmp_path / "ours", "ours")


@pytest.fixture
def secured(folder: Path) -> Iterator[tuple[str, Path]]:
    """Start a server that requires certificates; yield its address and a directory of them."""
    address = free_address()
    server = p4_server.serve(p4_server.Switch(lambda _: None), [address], folder)
    yield address, folder
    server.stop(None).wait()


def test_controllers_with_a_certificate_are_let_in(
    secured: tuple[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    address, folder = secured
    with Client(address, pipeline(), tls=folder) as switch:
        switch.fill([])
        assert switch.read() == []
    monkeypatch.setattr(p4_client, "_PATIENCE_S", 1.0)
    theirs = certify(tmp_path / "theirs", "theirs")
    half = tmp_path / "half"  # the server's authority, but another one's certificate
    shutil.copytree(theirs, half)
    shutil.copy(folder / "ca.pem", half)
    refused: tuple[Any, ...] = (None, theirs, half)
    for tls in refused:
        with pytest.raises(WeftError, match=r"P4Runtime: "):
            Client(address, pipeline(), tls=tls).__enter__()


@pytest.mark.skipif(netns.missing() is not None, reason=f"weft testbed up: {netns.missing()}")
def test_a_testbed_takes_controllers_with_a_certificate(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = plan.make(inventory.read("topocloud-64"), [wanted_topology.read("star-8")])
    address, name = free_address(), f"tls-{os.getpid()}"
    try:
        assert netns.up(made, name, address, tls=folder) == ""
        with Client(address, pipeline(), tls=folder) as switch:
            assert {*switch.read()} == {*tables.entries(made)}
        monkeypatch.setattr(p4_client, "_PATIENCE_S", 1.0)
        with pytest.raises(WeftError, match="does it accept connections without TLS"):
            Client(address, pipeline()).__enter__()
    finally:
        netns.down(name)
