# SPDX-License-Identifier: LGPL-2.1-only
"""Access control of P4Runtime servers: addresses reachable from other machines, and mutual TLS.

A directory with `ca.pem`, `cert.pem` and `key.pem` authenticates either side: a server admits the
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
    """Refuse unintended access; return a warning, or an empty text.

    Raises `WeftError` if other machines could control the switch without a certificate.
    """
    if tls is not None:
        read(tls)
        return ""
    if _is_local(listen):
        return ""
    exposed = f"other machines can reach {listen} and would control a server that runs as root"
    if not insecure:
        raise WeftError(
            f"{named('listen')}: {exposed}; give {named('tls')} a directory with certificates,"
            f" listen at 127.0.0.1, or allow it with {named('insecure')}"
        )
    return f"{exposed}: there is no authentication"


def _is_local(listen: str) -> bool:
    """Return true for addresses only this machine can reach; of names, only localhost counts."""
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
    """Return the credentials of a server that requires client certificates."""
    import grpc

    authority, certificate, key = read(directory)
    return grpc.ssl_server_credentials(
        [(key, certificate)], root_certificates=authority, require_client_auth=True
    )


def channel(address: str, directory: Path | None) -> "grpc.Channel":
    """Return a channel to a server, authenticated if a directory is given."""
    import grpc

    if directory is None:
        return grpc.insecure_channel(address)
    authority, certificate, key = read(directory)
    return grpc.secure_channel(address, grpc.ssl_channel_credentials(authority, key, certificate))
