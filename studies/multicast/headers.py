# SPDX-License-Identifier: LGPL-2.1-only
"""Headers of packets, for both sides of a comparison of bytes.

A run counts the headers of multicast chunks, but of a point-to-point message only its payload and
SMPI's envelope: the packets' headers are part of its bandwidth factor. Here they are added, by the
packets that a message needs, to the baselines' messages and to the protocol's own.
"""

PACKET = 4096
"""Payload of a packet: InfiniBand's largest MTU."""
RELIABLE = 26
"""Headers of a packet on a reliable connection: LRH 8, BTH 12, ICRC 4, VCRC 2 B (InfiniBand
Architecture Specification, volume 1).
"""
DATAGRAM = 78
"""Headers of a multicast chunk: `packet_overhead` of [multicast], for datagrams."""
ENVELOPE = 16
"""Bytes that SMPI adds to a message, and the protocol's signals consist of."""


def messages(port_bytes: float) -> float:
    """Return the bytes of messages with headers: those of full packets, the fewest possible."""
    return port_bytes * (1 + RELIABLE / PACKET)


def multicast(port_bytes: float, data: float) -> float:
    """Return the bytes of a multicast collective with headers.

    Args:
        port_bytes: Counted bytes, without any headers.
        data: Bytes of chunks among them; the others are signals of one packet.
    """
    signals = (port_bytes - data) / ENVELOPE
    return data * (1 + DATAGRAM / PACKET) + signals * (ENVELOPE + RELIABLE)
