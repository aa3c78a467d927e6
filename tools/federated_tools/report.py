# SPDX-License-Identifier: GPL-2.0-only
"""One HTML page about runs, which needs no network: the template report.html with the data in it."""

import base64
import hashlib
import html
import json
import os
import re
from pathlib import Path

import pandas

from . import Mistake, replace_file
from .tables import read_csv

TEMPLATE = Path(__file__).with_name("report.html")
SCHEMA = 1  # of PREFIX-run.json
MOST_LINKS = 200_000  # rows: more would make a page that no browser opens gladly

ROUNDS = ["time_s", "train_loss", "test_accuracy", "lost_fraction", "mean_snr_db", "bit_budget",
          "granted_bits", "delivered_bits", "same_cell_epsilon", "true_epsilon", "zcdp_epsilon",
          "sampled_epsilon", "clamped_fraction", "mean_burst", "repair_s", "awake_fraction", "selected",
          "received", "skipped"]
LINKS = ["group", "bits", "snr_db", "sent_fragments", "received_fragments", "weight", "distance_m",
         "uplink_s", "energy_j"]
DEVICES = ["group", "bits", "samples", "x_m", "y_m"]
# What the page expects of PREFIX-run.json, where it is not null.
MEMBERS = {"version": str, "program": str, "command": list, "options": dict, "settings": dict,
           "rng_seed": int, "rng_run": int, "facts": dict, "attributes": dict, "tables": list,
           "result": dict, "privacy": list}


def check_output(path):
    """Refuse a page that cannot be written, before any work."""
    if not path.endswith(".html"):
        raise Mistake(f"--output={path} does not end with .html.")
    folder = os.path.dirname(path) or "."
    if not os.path.isdir(folder) or not os.access(folder, os.W_OK):
        raise Mistake(f"--output={path} is in a folder that does not exist or cannot be written.")


def _sentence(path, text):
    """A mistake in a file: one line, whatever it contains."""
    return Mistake(f"{path} {' '.join(str(text).split()).rstrip('.')}.")


def _read_table(path, needed, optional):
    """A table as texts, and its columns of numbers: those that must be there, and those that may be."""
    table = read_csv(path, dtype=str, keep_default_na=False)
    for name in needed:
        if name not in table:
            raise _sentence(path, f"has no column {name}")
    numbers = pandas.DataFrame(index=table.index)
    for name in [*needed, *optional]:
        if name in table:
            try:
                numbers[name] = pandas.to_numeric(table[name].where(~table[name].isin(["", "nan"])))
            except ValueError as error:
                raise _sentence(path, f"has a column {name} that is not of numbers: {error}") from None
    return table, numbers


def _whole(path, column):
    """A column of whole numbers, such as the round."""
    if column.isna().any() or (column % 1 != 0).any() or (column < 0).any():
        raise _sentence(path, f"has a column {column.name} that is not of whole numbers")
    return [int(value) for value in column]


def _column(values):
    """Numbers for the page: six digits are enough to draw; unknown and infinite ones are null."""
    return [float(f"{value:.6g}") if abs(value) < float("inf") else None for value in values]


def _columns(numbers, names):
    return {name: _column(numbers[name]) for name in names
            if name in numbers and numbers[name].notna().any()}


def read_description(path):
    """PREFIX-run.json, or None."""
    def refuse(name):
        raise ValueError(f"{name} is not JSON")

    try:
        with open(path, encoding="utf-8") as stream:
            run = json.load(stream, parse_constant=refuse)
    except FileNotFoundError:
        return None
    except (OSError, ValueError, RecursionError) as error:
        raise _sentence(path, f"is not JSON: {error}") from None
    if not isinstance(run, dict) or run.get("schema") != SCHEMA:
        found = run.get("schema") if isinstance(run, dict) else None
        raise _sentence(path, f"does not describe a run: its schema is {json.dumps(found)}, not {SCHEMA}")
    for name, kind in MEMBERS.items():
        if not isinstance(run.get(name), (kind, type(None))):
            raise _sentence(path, f"does not describe a run: {name} is wrong")
    return {name: run.get(name) for name in MEMBERS}


class Run:
    """What the page shows of a run."""

    def __init__(self, prefix):
        self.prefix = prefix
        self.notes = []
        self.description = read_description(f"{prefix}-run.json")
        if self.description is None:
            self.notes.append(f"There is no {prefix}-run.json: command, options and privacy are unknown.")
        elif self.description["result"] is None:
            self.notes.append("The run has not ended, or was interrupted: it has no result.")
        self.rounds = self._read_rounds(f"{prefix}-rounds.csv")
        self.center, self.devices = self._read_devices(f"{prefix}-devices.csv")
        self.links = self._read_links(f"{prefix}-links.csv")

    def _belongs(self, table, path, loss):
        """Whether a table is there and of this run, not of an earlier one with this prefix."""
        if not os.path.exists(path):
            self.notes.append(f"There is no {path}: {loss}")
        elif self.description and table not in (self.description["tables"] or []):
            self.notes.append(f"{path} is not of this run: {loss}")
        else:
            return True
        return False

    @staticmethod
    def _read_rounds(path):
        if not os.path.exists(path):
            raise Mistake(f"There is no {path}.")
        _, numbers = _read_table(path, ["round"], ROUNDS)
        return {"round": _whole(path, numbers["round"]), **_columns(numbers, ROUNDS)}

    def _read_devices(self, path):
        if not self._belongs("devices", path, "there is no map."):
            return None, None
        table, numbers = _read_table(path, [], DEVICES)
        if "device" not in table:
            raise _sentence(path, "has no column device")
        is_center = table["device"] == "center"
        ids = pandas.to_numeric(table["device"][~is_center], errors="coerce")
        devices = {"device": _whole(path, ids), **_columns(numbers[~is_center], DEVICES)}
        if len(set(devices["device"])) < len(devices["device"]):
            raise _sentence(path, "has a device twice")
        center = _columns(numbers[is_center][:1], ["x_m", "y_m"])
        if "x_m" not in devices or "y_m" not in devices:
            self.notes.append(f"{path} has no places of devices: there is no map.")
        return {name: values[0] for name, values in center.items()} or None, devices

    def _read_links(self, path):
        if not self._belongs("links", path, "nothing is known of the participants of a round."):
            return None
        table, numbers = _read_table(path, ["round", "device"], LINKS)
        if len(table) > MOST_LINKS:
            self.notes.append(f"{path} has {len(table)} rows, more than the {MOST_LINKS} that a page holds: "
                              "it is left out.")
            return None
        links = {"round": _whole(path, numbers["round"]), "device": _whole(path, numbers["device"]),
                 **_columns(numbers, LINKS)}
        if "state" in table:
            links["states"] = sorted(set(table["state"]))
            links["state"] = [links["states"].index(state) for state in table["state"]]
        if numbers.get("energy_j") is not None and numbers["energy_j"].notna().any():
            spent = numbers.groupby("round")["energy_j"].sum(min_count=1)
            joules = spent.reindex(self.rounds["round"]).fillna(0).cumsum()
            self.rounds["energy_j"] = _column(joules)
        return links

    def to_json(self, name):
        """The data of the page."""
        return {"name": name, "prefix": self.prefix, "notes": self.notes, "run": self.description,
                "rounds": self.rounds, "center": self.center, "devices": self.devices,
                "links": self.links}


def name_runs(prefixes):
    """Short names that differ: the last parts of the paths, or else the paths."""
    names = [os.path.basename(prefix) or prefix for prefix in prefixes]
    return names if len(set(names)) == len(names) else prefixes


def render(prefixes):
    """The page."""
    if len(set(prefixes)) < len(prefixes):
        raise Mistake("A prefix was given twice.")
    names = [os.fsencode(name).decode("utf-8", "replace") for name in name_runs(prefixes)]
    runs = [Run(prefix).to_json(name) for prefix, name in zip(prefixes, names)]
    data = json.dumps({"runs": runs}, allow_nan=False, separators=(",", ":"))
    # Inside <script> only "<" could end the data; the page builds texts, never markup, from them.
    data = data.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
    page = TEMPLATE.read_text(encoding="utf-8")
    head, _, rest = page.partition("<script>")
    code, _, tail = rest.partition("</script>")
    # The browser runs this script and no other, wherever a text of a user might end up.
    digest = base64.b64encode(hashlib.sha256(code.encode()).digest()).decode()
    parts = {"@TITLE@": html.escape(", ".join(names)), "@HASH@": digest, "@DATA@": data}
    head = re.sub("@[A-Z]+@", lambda match: parts[match.group()], head)  # in one pass
    return f"{head}<script>{code}</script>{tail}"


def save(page, path):
    """Write a page, complete or not at all."""
    with replace_file(path) as stream:
        stream.write(page)
