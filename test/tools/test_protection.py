# SPDX-License-Identifier: GPL-2.0-only
"""Decrypts and decodes captures of protected messages, as doc/trust.rst describes them: an
independent reader of the protocol. Run by ctest (test/tools/decode)."""

import csv
import math
import re
import struct
import subprocess
from collections import Counter, defaultdict

import pytest

pytest.importorskip("cryptography")

from captures import messages_of  # noqa: E402
from cryptography.exceptions import InvalidSignature, InvalidTag  # noqa: E402
from cryptography.hazmat.primitives import hashes  # noqa: E402
from cryptography.hazmat.primitives.asymmetric.ed25519 import (  # noqa: E402
    Ed25519PrivateKey,
)
from cryptography.hazmat.primitives.ciphers.aead import AESGCM  # noqa: E402
from cryptography.hazmat.primitives.kdf.hkdf import HKDF  # noqa: E402

KEY = b"known to the federation only"  # of --encrypt
RUN = 5
ALL = 2**32 - 1
UP, DOWN, GROUP = 253, 254, 255
JOIN, LEAVE, GRANT, ACK, MODEL, UPDATE, REPAIR, DONE, REJOIN = range(1, 10)
FROM_DEVICE = {JOIN, LEAVE, ACK, UPDATE, REPAIR, DONE}
FROM_CENTER = {GRANT, ACK, MODEL, REJOIN}


def hkdf(secret, salt, info):
    return HKDF(algorithm=hashes.SHA256(), length=32, salt=salt, info=info).derive(secret)


class Reader:
    """Somebody who knows the key, Federation, RngSeed and RngRun."""

    def __init__(self, key=KEY, federation=0, seed=1, run=RUN):
        self.key, self.federation = key, struct.pack(">I", federation)
        self.run = struct.pack(">IQ", seed, run)
        seed = self.secret(b"sign")
        self.verifier = Ed25519PrivateKey.from_private_bytes(seed).public_key()
        self.ciphers = {}

    def secret(self, purpose, more=b""):
        return hkdf(self.key, b"ns-3 federated", purpose + self.federation + more)

    def cipher(self, kind, device):
        if (kind, device) not in self.ciphers:
            if kind == GROUP:
                key = hkdf(self.secret(b"group"), self.run, b"group")
            else:
                secret = self.secret(b"device", struct.pack(">I", device))
                key = hkdf(secret, self.run, b"up" if kind == UP else b"down")
            self.ciphers[kind, device] = AESGCM(key)
        return self.ciphers[kind, device]

    def open(self, message):
        """The kind, the device, the counter and the message inside; raises if it is not authentic."""
        magic, version, kind, device, counter = struct.unpack(">2sBBIQ", message[:16])
        assert magic == b"FL" and version == 2 and kind in (UP, DOWN, GROUP)
        if kind == GROUP:
            assert device == ALL
            self.verifier.verify(message[-64:], message[:-64])
            message = message[:-64]
        nonce = struct.pack(">IQ", 0, counter)
        inner = self.cipher(kind, device).decrypt(nonce, message[16:], message[:16])
        return kind, device, counter, inner


def parse(inner):
    """The header as a dictionary, with its intervals and the payload."""
    names = ("magic version type sequence round device fragment fragments first coordinates bits "
             "intervals length distortion checksum").split()
    header = dict(zip(names, struct.unpack(">2sBBIIIIIIIBBHfI", inner[:44])))
    assert header["magic"] == b"FL" and header["version"] == 2 and header["checksum"] == 0
    count, at = header["intervals"], 44
    header["intervals"] = [struct.unpack(">Iff", inner[at + 12 * i:at + 12 * i + 12])
                           for i in range(count)]
    header["payload"] = inner[at + 12 * count:]
    assert len(header["payload"]) == header["length"]
    return header


def levels_of(header):
    """The levels of an update: level k is in bits k*b to k*b + b - 1, least significant first."""
    number = int.from_bytes(header["payload"], "little")
    bits = header["bits"]
    return [number >> k * bits & 2**bits - 1 for k in range(header["coordinates"])]


# Captures -----------------------------------------------------------------------------------------


@pytest.fixture(name="capture", params=["udp", "tcp", "multicast"], scope="module")
def make_capture(request, tmp_path_factory):
    """A run of an example: its messages, its result line and its table of rounds."""
    program = request.config.getoption("--csma" if request.param == "multicast" else "--star")
    if not program:
        pytest.skip("test/tools/decode says where the examples are")
    prefix = tmp_path_factory.mktemp("run") / "run"
    options = [] if request.param == "multicast" else [f"--transport={request.param}"]
    out = subprocess.run(
        [program, "--encrypt", "--pcap", "--devices=6", "--participants=4", "--rounds=2",
         "--model=logistic", f"--RngRun={RUN}", f"--output={prefix}",
         f"--data={request.config.getoption('--data')}", *options],
        check=True, capture_output=True, text=True).stdout
    messages = [message for path in sorted(prefix.parent.glob("*.pcap"))
                for message in messages_of(path)]
    with open(f"{prefix}-rounds.csv", encoding="ascii") as table:
        rounds = list(csv.DictReader(table))
    return request.param, messages, dict(re.findall(r"(\w+)=(\S+)", out)), rounds


# Tests --------------------------------------------------------------------------------------------


def test_reads_every_message_and_finds_what_the_tables_say(capture):
    kind_of_run, messages, result, rounds = capture
    reader = Reader()
    types, kinds, nonces = Counter(), Counter(), set()
    bits, models = defaultdict(set), defaultdict(dict)
    for message in messages:
        kind, device, counter, inner = reader.open(message)
        header = parse(inner)
        assert (kind, device, counter) not in nonces, "no two messages share a nonce"
        nonces.add((kind, device, counter))
        assert header["type"] in (FROM_DEVICE if kind == UP else FROM_CENTER)
        if header["type"] != MODEL:
            assert header["device"] == device
        types[header["type"]] += 1
        kinds[kind] += 1
        if header["type"] == UPDATE:
            levels = levels_of(header)
            assert len(levels) == header["coordinates"] and max(levels) < 2 ** header["bits"]
            assert header["intervals"][-1][0] == header["first"] + header["coordinates"]
            assert all(low < high for _, low, high in header["intervals"])
            bits[header["round"]].add((device, header["bits"]))
        if header["type"] == MODEL:
            values = struct.unpack(f"<{header['coordinates']}f", header["payload"])
            assert all(map(math.isfinite, values))
            models[header["round"]][header["fragment"]] = header["coordinates"]
    assert types[UPDATE] == int(result["received_fragments"])
    assert types[JOIN] >= 6 and types[GRANT] >= 8 and types[DONE] >= 6, "the last may be late"
    assert (kinds[GROUP] > 0) == (kind_of_run == "multicast")
    assert [int(row["round"]) for row in rounds] == sorted(models) == [1, 2]
    for row in rounds:
        number = int(row["round"])
        assert len(bits[number]) == int(row["received"])
        assert sum(b for _, b in bits[number]) == pytest.approx(float(row["delivered_bits"]))
        assert sum(models[number].values()) == 7850, "the whole model, once"


@pytest.mark.parametrize("wrong", [{"key": KEY + b"."}, {"federation": 1}, {"seed": 2}, {"run": 6}])
def test_reads_nothing_with_another_key_federation_seed_or_run(capture, wrong):
    reader = Reader(**wrong)
    for message in capture[1][:50]:
        with pytest.raises((InvalidTag, InvalidSignature)):
            reader.open(message)


def test_notices_a_flipped_bit_anywhere(capture):
    reader = Reader()
    first = {message[3]: message for message in capture[1] if len(message) < 300}
    assert UP in first and DOWN in first
    for message in first.values():
        for at in range(4, len(message)):
            changed = message[:at] + bytes([message[at] ^ 4]) + message[at + 1:]
            with pytest.raises((InvalidTag, InvalidSignature, AssertionError)):
                reader.open(changed)
