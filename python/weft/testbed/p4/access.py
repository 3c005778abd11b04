# SPDX-License-Identifier: LGPL-2.1-only
"""Access to P4Runtime servers: addresses that other machines reach, and mutual TLS.

A directory with `ca.pem`, `cert.pem` and `key.pem` authenticates either side: a server lets in the
controllers whose certificate the authority has signed, and a controller connects to such servers.
"""

import ipaddress
import re
from pathlib import Path
from typing import TYPE_CHECKING

from weft.base.errors import WeftError, named

if TYPE_CHECKING:
    import grpc

AUTHORITY, CERTIFICATE, KEY = FILES = ("ca.pem", "cert.pem", "key.pem")


def check_listen(listen: str, tls: Path | None, *, insecure: bool) -> str:
    """Prove that nobody is let in unmeant; return a warning, or nothing.

    Raises `WeftError` where other machines could control the switch without a certificate.
    """
    if tls is not None:
        read(tls)
        return ""
    if _is_local(listen):
        return ""
    exposed = f"other machines reach {listen}, and who does controls a server that runs as root"
    if not insecure:
        raise WeftError(
            f"{named('listen')}: {exposed}; give {named('tls')} a directory with certificates,"
            f" listen at 127.0.0.1, or allow it with {named('insecure')}"
        )
    return f"{exposed}: there is no authentication"


def _is_local(listen: str) -> bool:
    """Return whether an address is this machine's alone, which names but localhost are not."""
    if listen.startswith("unix:"):
        return True
    host = re.sub(r"^(ipv[46]|dns):(///?)?", "", listen).rpartition(":")[0].strip("[]")
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def read(directory: Path) -> tuple[bytes, bytes, bytes]:
    """Return authority, certificate and key of a directory."""
    contents = []
    for name in FILES:
        try:
            contents.append((directory / name).read_bytes())
        except OSError as error:
            raise WeftError(
                f"{named('tls')}: {directory / name}: {error.strerror}; the directory has"
                f" {', '.join(FILES)}"
            ) from None
    authority, certificate, key = contents
    return authority, certificate, key


def server_credentials(directory: Path) -> "grpc.ServerCredentials":
    """Return the credentials of a server that asks its controllers for theirs."""
    import grpc

    authority, certificate, key = read(directory)
    return grpc.ssl_server_credentials(
        [(key, certificate)], root_certificates=authority, require_client_auth=True
    )


def channel(address: str, directory: Path | None) -> "grpc.Channel":
    """Return a channel to a server, authenticated where a directory is given."""
    import grpc

    if directory is None:
        return grpc.insecure_channel(address)
    authority, certificate, key = read(directory)
    return grpc.secure_channel(address, grpc.ssl_channel_credentials(authority, key, certificate))
