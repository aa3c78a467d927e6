# SPDX-License-Identifier: GPL-2.0-only
"""Reads captures with the tables of doc/messages.rst, and fuses the updates of each round to the model
of the next one as that page says; compares the columns of doc/output.rst with what is written. Run by
ctest (test/tools/documents)."""

import csv
import math
import re
import struct
import subprocess
from collections import defaultdict
from pathlib import Path

import pytest
from captures import messages_of

ROOT = Path(__file__).resolve().parents[2]
GRANT, MODEL, UPDATE = 3, 5, 6
KINDS = {"number": {1: "B", 2: "H", 4: "I", 8: "Q"}, "float": {4: "f"}, "text": {2: "2s"}}
EPSILON = 1e-6  # of the examples, --epsilon


# Pages --------------------------------------------------------------------------------------------


def table_of(page, label):
    """The rows of the csv-table behind a label of a page."""
    text = (ROOT / "doc" / f"{page}.rst").read_text(encoding="ascii")
    found = re.search(rf"^\.\. _{label}:\n\n\.\. csv-table::.*\n(?:   :.*\n)+\n((?:   .*\n)+)", text, re.M)
    assert found, f"doc/{page}.rst has no table {label}"
    return list(csv.reader(found.group(1).splitlines(), skipinitialspace=True))


class Layout:
    """Fields of a header or body, as doc/messages.rst has them."""

    def __init__(self, label):
        self.names, self.format, self.size = [], ">", 0
        for offset, size, kind, name, _ in table_of("messages", label):
            assert int(offset) == self.size, f"{label}: {name} is not behind the field before it"
            self.names.append(name)
            self.format += KINDS[kind.strip()][int(size)]
            self.size += int(size)

    def read(self, data):
        """A dictionary of the fields at the begin of some bytes."""
        return dict(zip(self.names, struct.unpack(self.format, data[:self.size])))


HEADER, INTERVAL = Layout("layout-header"), Layout("layout-interval")
BODIES = {number: Layout(f"layout-{name}") for number, name in
          ((1, "join"), (3, "grant"), (4, "ack"), (7, "repair"), (8, "done"))}


def columns_of(label):
    """The columns that doc/output.rst lists."""
    return [row[0].strip().strip("`") for row in table_of("output", f"columns-{label}")]


# Messages -----------------------------------------------------------------------------------------


def make_crc_table():
    """CRC-32C: the polynomial 1edc6f41, reflected."""
    polynomial = int(f"{0x1EDC6F41:032b}"[::-1], 2)
    table = []
    for byte in range(256):
        for _ in range(8):
            byte = byte >> 1 ^ (polynomial if byte & 1 else 0)
        table.append(byte)
    return table


CRC_TABLE = make_crc_table()


def crc_of(data):
    """The checksum of some bytes."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc = crc >> 8 ^ CRC_TABLE[(crc ^ byte) & 255]
    return crc ^ 0xFFFFFFFF


def read_message(data):
    """Header, intervals with their begins, body and coordinates of a message."""
    message = HEADER.read(data)
    assert message["magic"] == b"FL" and message["version"] == 2
    assert crc_of(data[:40] + bytes(4) + data[44:]) == message["checksum"]
    begin, intervals = message["first"], []
    for index in range(message["intervals"]):
        interval = INTERVAL.read(data[HEADER.size + index * INTERVAL.size:])
        intervals.append((begin, interval["end"], interval["low"], interval["high"]))
        begin = interval["end"]
    message["intervals"] = intervals
    payload = data[HEADER.size + len(intervals) * INTERVAL.size:]
    assert len(payload) == message["length"]
    if message["type"] in BODIES:
        message["body"] = BODIES[message["type"]].read(payload)
    if message["type"] in (MODEL, UPDATE):
        assert not intervals or begin == message["first"] + message["coordinates"], "ends are absolute"
        message["values"] = values_of(message, payload)
    return message


def values_of(message, payload):
    """The coordinates of a fragment."""
    bits, count = message["bits"] & 127, message["coordinates"]
    if bits == 32:
        return struct.unpack(f"<{count}f", payload)
    number = int.from_bytes(payload, "little")
    levels = [number >> k * bits & 2**bits - 1 for k in range(count)]
    values = []
    for begin, end, low, high in message["intervals"]:
        step = (high - low) / (2**bits - 1)
        values += [low + levels[j - message["first"]] * step for j in range(begin, end)]
    return values


def score_of(rule, message):
    """theta of a fragment's update."""
    if rule == "uniform":
        return 1
    bits = message["bits"]
    if rule == "resolution":
        return 2**bits - 1
    _, _, low, high = message["intervals"][0]
    step = (high - low) / (2**bits - 1)
    distortion = step**2 / 12 * (math.exp(EPSILON) + 7) / (math.exp(EPSILON) + 1)
    return 1 / distortion  # effective-snr, without link noise


def fuse(model, fragments, rule):
    """The next model."""
    sums, scores = [0.0] * len(model), [0.0] * len(model)
    for fragment in fragments:
        theta = score_of(rule, fragment)
        for j, value in enumerate(fragment["values"], fragment["first"]):
            sums[j] += theta * value
            scores[j] += theta
    return [w + (total / score if score else 0) for w, total, score in zip(model, sums, scores)]


# Runs ---------------------------------------------------------------------------------------------

RUNS = {  # options of federated-csma or federated-star, and the rule of the weights
    "uniform": ("csma", ["--algorithm=alg1"], "uniform"),
    "lost fragments": ("csma", ["--algorithm=sq", "--loss=0.2", "--weights=resolution"], "resolution"),
    "effective SNR": ("csma", ["--algorithm=fwo", "--loss=0.2"], "effective-snr"),
    "TCP": ("star", ["--algorithm=fwo", "--transport=tcp", "--fragment-size=700"], "effective-snr"),
    "floats": ("csma", ["--algorithm=fedavg", "--budget=200"], "uniform"),
}


@pytest.fixture(name="run", params=RUNS, scope="module")
def make_run(request, tmp_path_factory):
    """A run of an example: its messages, its rule, and the start of its files."""
    build = request.config.getoption("--build")
    if not build:
        pytest.skip("test/tools/documents says where the examples are")
    kind, options, rule = RUNS[request.param]
    prefix = tmp_path_factory.mktemp("run") / "run"
    subprocess.run(
        [f"{build}/examples/federated-{kind}", "--pcap", "--devices=8", "--participants=6", "--rounds=3",
         "--model=logistic", "--interval=0.05", f"--output={prefix}", f"--data={ROOT}/data/mnist",
         *options], check=True, capture_output=True)
    messages = [read_message(message) for path in sorted(prefix.parent.glob("*.pcap"))
                for message in messages_of(path)]
    return messages, rule, prefix


def read_rows(path):
    """The rows of a table as dictionaries."""
    with open(path, encoding="ascii") as table:
        return list(csv.DictReader(table))


def test_fuses_the_updates_of_a_round_to_the_next_model(run):
    messages, rule, prefix = run
    models, updates, ends = defaultdict(dict), defaultdict(list), {}
    for message in messages:
        if message["type"] == MODEL:
            for j, value in enumerate(message["values"], message["first"]):
                models[message["round"]][j] = value
        elif message["type"] == UPDATE:
            updates[message["round"]].append(message)
        elif message["type"] == GRANT:
            ends[message["round"]] = message["body"]["deadline"]
            assert message["coordinates"] == 7850
    assert sorted(models) == sorted(updates) == sorted(ends) == [1, 2, 3]
    rounds = read_rows(f"{prefix}-rounds.csv")
    for number in (1, 2):
        model = [models[number][j] for j in range(7850)]
        fused = fuse(model, updates[number], rule)
        assert max(abs(a - b) for a, b in zip(model, fused)) > 1e-3, "something was learned"
        for j, value in enumerate(fused):
            assert abs(value - models[number + 1][j]) < 1e-6
        # The tables say the same.
        row = rounds[number - 1]
        assert int(row["received"]) == len({update["device"] for update in updates[number]})
        bits = sum((update["bits"] & 127) * update["coordinates"] for update in updates[number]) / 7850
        assert bits == pytest.approx(float(row["delivered_bits"]))


def test_sequence_numbers_count_as_the_page_says(run):
    messages, _, _ = run
    fragments, grants = defaultdict(list), defaultdict(list)
    for message in messages:
        if message["type"] == UPDATE:
            fragments[message["device"]].append(message["sequence"])
        elif message["type"] == GRANT:
            grants[message["round"]].append((message["device"], message["sequence"]))
    for numbers in fragments.values():
        assert sorted(set(numbers)) == sorted(numbers), "no two fragments of a device share one"
    for number, pairs in grants.items():
        pairs = sorted(set(pairs))
        last = pairs[-1][1]
        assert [sequence for _, sequence in pairs] == list(range(last - len(pairs) + 1, last + 1))
        for message in messages:
            if message["type"] == MODEL and message["round"] == number:
                assert message["sequence"] == last + 1 + message["fragment"]


def test_tables_have_the_columns_of_the_page(run):
    prefix = run[2]
    for name in ("rounds", "links", "devices"):
        path = Path(f"{prefix}-{name}.csv")
        if path.exists():
            written = path.read_text(encoding="ascii").splitlines()[0].split(",")
            assert written == columns_of(name), f"doc/output.rst, PREFIX-{name}.csv"


def test_weights_of_links_are_those_of_the_page(run):
    messages, rule, prefix = run
    if not Path(f"{prefix}-links.csv").exists():
        pytest.skip("federated-star writes no links")
    weights = defaultdict(float)
    for number in (1, 2, 3):
        updates = [message for message in messages
                   if message["type"] == UPDATE and message["round"] == number]
        scores = [0.0] * 7850
        for update in updates:
            for j in range(update["first"], update["first"] + update["coordinates"]):
                scores[j] += score_of(rule, update)
        for update in updates:
            for j in range(update["first"], update["first"] + update["coordinates"]):
                weights[number, update["device"]] += score_of(rule, update) / scores[j] / 7850
    for row in read_rows(f"{prefix}-links.csv"):
        weight = weights[int(row["round"]), int(row["device"])]
        assert float(row["weight"]) == pytest.approx(weight, abs=1e-6)


@pytest.mark.parametrize("name", ["federated-distortion", "federated-audit", "federated-audit-coins",
                                  "federated-attack", "federated-eavesdropper"])
def test_examples_write_the_columns_of_the_page(name):
    source = (ROOT / "examples" / f"{name.replace('-coins', '')}.cc").read_text(encoding="ascii")
    source = re.sub(r'"\s*"', "", source)  # joined string literals
    header = ",".join(columns_of(name))
    assert re.search(rf'"{header}(\\n)?"', source), f"doc/output.rst, columns-{name}"


def test_the_checksum_is_that_of_the_page():
    page = (ROOT / "doc" / "messages.rst").read_text(encoding="ascii")
    text, crc = re.search(r"that of the text ``(\w+)`` is (\w+)", page).groups()
    assert crc_of(text.encode()) == int(crc, 16)
