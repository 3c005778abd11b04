# SPDX-License-Identifier: LGPL-2.1-only
"""P4Runtime servers for tests, with switches that record their history of states."""

import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from weft_testbed.running import p4_server
from weft_testbed.tables.tables import Entry

Served = tuple[str, list[list[Entry]]]
"""Address, and the states of the server's switch."""
Serve = Callable[[], Served]


def free_address() -> str:
    """Return a local address without a listener."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return f"127.0.0.1:{free.getsockname()[1]}"


@contextmanager
def serving() -> Iterator[Serve]:
    """Yield a function that starts a server; all servers end afterwards."""
    servers = []

    def start() -> Served:
        address = free_address()
        history: list[list[Entry]] = []
        switch = p4_server.Switch(lambda entries: history.append([*entries]))
        servers.append(p4_server.serve(switch, [address]))
        return address, history

    try:
        yield start
    finally:
        for server in servers:
            server.stop(None).wait()
