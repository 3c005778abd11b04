# SPDX-License-Identifier: LGPL-2.1-only
"""Headers of packets, for both sides of a comparison of bytes.

A run counts the headers of multicast chunks. For a point-to-point message, it counts only payload
and SMPI's envelope, as the bandwidth factor includes packet headers. This module adds the headers
of a message's packets, both for the baselines and for the protocol's own messages.
"""

PACKET = 4096
"""Payload of a packet: InfiniBand's largest MTU."""
RELIABLE = 26
"""Header bytes of a packet on a reliable connection: LRH 8, BTH 12, ICRC 4, VCRC 2 B (InfiniBand
Architecture Specification, volume 1).
"""
DATAGRAM = 78
"""Header bytes of a multicast chunk: `packet_overhead` of [multicast], for datagrams."""
ENVELOPE = 16
"""Bytes that SMPI adds to a message; the protocol's signals consist only of them."""


def messages(port_bytes: float) -> float:
    """Return the bytes of messages with headers, for full packets, the smallest possible number."""
    return port_bytes * (1 + RELIABLE / PACKET)


def multicast(port_bytes: float, data: float) -> float:
    """Return the bytes of a multicast collective with headers.

    Args:
        port_bytes: Counted bytes, without any headers.
        data: Bytes of chunks among the counted bytes; all other bytes are single-packet signals.
    """
    signals = (port_bytes - data) / ENVELOPE
    return data * (1 + DATAGRAM / PACKET) + signals * (ENVELOPE + RELIABLE)
