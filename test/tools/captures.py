# SPDX-License-Identifier: GPL-2.0-only
"""Reads the messages of captures that ns-3 wrote, with the standard library alone."""

import struct
from collections import defaultdict

ETHERNET, PPP = 1, 9  # link types of pcap


def packets_of(path):
    """The IPv4 packets of a capture of Ethernet or PPP."""
    data = path.read_bytes()
    magic, link = struct.unpack("<I", data[:4])[0], struct.unpack("<I", data[20:24])[0]
    assert magic in (0xA1B2C3D4, 0xA1B23C4D) and link in (ETHERNET, PPP)
    at = 24
    while at < len(data):
        size = struct.unpack("<I", data[at + 8:at + 12])[0]
        frame = data[at + 16:at + 16 + size]
        at += 16 + size
        head, proto = (frame[:14], frame[12:14]) if link == ETHERNET else (frame[:2], frame[:2])
        if proto in (b"\x08\x00", b"\x00\x21"):
            yield frame[len(head):]


def messages_of(path):
    """All messages over UDP, then those of each direction of each TCP connection."""
    streams = defaultdict(dict)
    for ip in packets_of(path):
        start, total = 4 * (ip[0] & 15), struct.unpack(">H", ip[2:4])[0]
        segment = ip[start:total]
        if ip[9] == 17:
            yield segment[8:]
        elif ip[9] == 6:
            data = segment[4 * (segment[12] >> 4):]
            number = struct.unpack(">I", segment[4:8])[0]
            if data:
                streams[ip[12:20] + segment[:4]][number] = data
    for parts in streams.values():
        begin = min(parts)
        stream = bytearray()
        for number in sorted(parts):  # a retransmission may overlap
            stream[number - begin:] = parts[number]
        while stream:
            size = struct.unpack(">I", stream[:4])[0]
            yield bytes(stream[4:4 + size])
            del stream[:4 + size]
