# SPDX-License-Identifier: GPL-2.0-only
"""A study: a TOML file that names a program, its options, a grid and seeds.

    program = "build/examples/federated-wifi"  # found from the folder that the campaign starts in
    runs = 5                                   # RngRun 1 to 5; or seeds = [3, 7]
    collect = ["rounds", "links"]              # tables PREFIX-rounds.csv ...; "table": PREFIX.csv
    output = true                              # false: the program has no option --output

    [options]                                  # the same in every run
    rounds = 3

    [grid]                                     # every combination
    radius = [20, 40]
    algorithm = ["alg1", "fwo"]

An entry of a list in the grid may be a table: it sets several options, and its `label` is the value
of the column. `[[grid]]`, several times, makes the union of several grids.

    [quick]                                    # a look at the study: --quick replaces these keys
    runs = 1
    options.rounds = 1                         # in [options] and in tables of the grid
    grid.radius = [20]                         # in every grid that has the name
"""

import itertools
import math
import re
import tomllib
from dataclasses import dataclass
from pathlib import Path

from . import Mistake

KEYS = {"program", "runs", "seeds", "options", "grid", "collect", "output", "title", "quick"}
QUICK_KEYS = {"runs", "seeds", "options", "grid"}
MAX_RUNS = 1_000_000
KINDS = {str: "text", int: "a whole number", bool: "true or false", list: "a list", dict: "a table"}


@dataclass(frozen=True)
class Job:
    """One run of a study."""

    words: tuple  # of the command, the program first, without --output
    values: tuple  # (column, value) of every option and of the grid, RngRun last


def _text(value):
    """A value as an option of the command line has it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


class Study:
    """A study file, read and checked."""

    def __init__(self, path, quick=False):
        self.path = Path(path)
        try:
            with open(self.path, "rb") as file:
                self._data = tomllib.load(file)
        except OSError as error:
            raise Mistake(f"Cannot read the study {path}: {error.strerror}.") from None
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise Mistake(f"{path} is not TOML: {error}.") from None
        unknown = sorted(set(self._data) - KEYS)
        if unknown:
            self._fail(unknown[0], f"is unknown; there are {', '.join(sorted(KEYS))}")
        self._quick_options = {}  # replace those of tables in the grid
        self._read_quick(quick)
        self.program = self._get("program", str, None)
        if not self.program:
            self._fail("program", "is missing: the path of the program to run")
        self.title = self._get("title", str, self.path.stem)
        self.has_output = self._get("output", bool, True)
        self.collect = self._get("collect", list, ["rounds"] if self.has_output else [])
        if not all(isinstance(name, str) and re.fullmatch(r"[\w-]+", name) for name in self.collect):
            self._fail("collect", 'must be a list of names of tables, as ["rounds", "links"]')
        if "runs" in self.collect:
            self._fail("collect", "must not have 'runs', the table that the campaign itself writes")
        self.seeds = self._read_seeds()
        self.options = self._read_options()
        self.jobs = self._expand()

    def _fail(self, key, what):
        raise Mistake(f"{self.path}: the key '{key}' {what}.")

    def _get(self, key, kind, default):
        value = self._data.get(key, default)
        if key in self._data and type(value) is not kind:
            self._fail(key, f"must be {KINDS[kind]}, not {value!r}")
        return value

    def _read_quick(self, quick):
        changes = self._get("quick", dict, {})
        for key, value in changes.items():
            if key not in QUICK_KEYS:
                self._fail(f"quick.{key}", f"is unknown; there are {', '.join(sorted(QUICK_KEYS))}")
            if key in ("options", "grid") and not isinstance(value, dict):
                self._fail(f"quick.{key}", "must be a table")
        if not quick:
            return
        grids = self._data.get("grid", {})
        grids = [grid for grid in (grids if isinstance(grids, list) else [grids]) if type(grid) is dict]
        for name, entries in changes.get("grid", {}).items():
            if not any(name in grid for grid in grids):
                self._fail(f"quick.grid.{name}", "has no counterpart in the grid")
            for grid in grids:
                grid |= {name: entries} if name in grid else {}
        if "options" in changes:
            self._quick_options = changes["options"]
            self._data["options"] = {**self._get("options", dict, {}), **changes["options"]}
        if "runs" in changes or "seeds" in changes:
            self._data.pop("runs", None)
            self._data.pop("seeds", None)
            self._data |= {key: changes[key] for key in ("runs", "seeds") if key in changes}

    def _read_seeds(self):
        if "runs" in self._data and "seeds" in self._data:
            self._fail("seeds", "cannot stand beside 'runs'")
        if "seeds" not in self._data:
            runs = self._get("runs", int, 1)
            if not 1 <= runs <= MAX_RUNS:
                self._fail("runs", f"must be from 1 to {MAX_RUNS}, not {runs}")
            return list(range(1, runs + 1))
        seeds = self._get("seeds", list, None)
        if not seeds or any(type(seed) is not int or seed < 1 for seed in seeds):
            self._fail("seeds", "must be a list of whole numbers from 1 on")
        if len(set(seeds)) < len(seeds):
            self._fail("seeds", "has a number twice")
        return seeds

    def _check_option(self, place, name, value):
        if name in ("RngRun", "output"):
            self._fail(f"{place}.{name}", "is set by the campaign itself")
        if not re.fullmatch(r"[^\s=-][^\s=]*", name):
            self._fail(f"{place}.{name}", "must be the name of an option without dashes, spaces and '='")
        if type(value) not in (str, int, float, bool) or value != value:
            self._fail(f"{place}.{name}", f"must have text, numbers or booleans, not {value!r}")
        if isinstance(value, str) and re.search(r"[\x00-\x1f]", value):
            self._fail(f"{place}.{name}", f"must have text of one line, not {value!r}")

    def _read_options(self):
        options = self._get("options", dict, {})
        for name, value in options.items():
            self._check_option("options", name, value)
        return options

    def _read_axis(self, name, entries):
        """The values of a name of the grid: pairs of what the column has, and options."""
        if not isinstance(entries, list) or not entries:
            self._fail(f"grid.{name}", "must be a list of values that is not empty")
        axis = []
        for entry in entries:
            if isinstance(entry, dict):
                options = {key: self._quick_options.get(key, value)
                           for key, value in entry.items() if key != "label"}
                if not isinstance(entry.get("label"), str) or not options:
                    self._fail(f"grid.{name}", "has a table without a label, or without options")
                for key, value in options.items():
                    self._check_option(f"grid.{name}", key, value)
                axis.append((entry["label"], options))
            else:
                self._check_option("grid", name, entry)
                axis.append((entry, {name: entry}))
        if name in ("RngRun", "output"):
            self._fail(f"grid.{name}", "is set by the campaign itself")
        labels = [_text(label) for label, _ in axis]
        if len(set(labels)) < len(labels):
            self._fail(f"grid.{name}", "has a value twice")
        return axis

    def _expand(self):
        grids = self._data.get("grid", {})
        grids = grids if isinstance(grids, list) else [grids]
        if not grids or not all(isinstance(grid, dict) for grid in grids):
            self._fail("grid", "must be a table of lists")
        jobs = {}
        count = 0
        for grid in grids:
            axes = [(name, self._read_axis(name, entries)) for name, entries in grid.items()]
            self._check_overlap(axes)
            count += math.prod((len(axis) for _, axis in axes), start=len(self.seeds))
            if count > MAX_RUNS:
                self._fail("grid", f"has {count} runs, more than {MAX_RUNS}")
            for choice in itertools.product(*(axis for _, axis in axes)):
                self._add(jobs, [name for name, _ in axes], choice)
        return list(jobs.values())

    def _check_overlap(self, axes):
        """Refuse a table that sets an option whose values are a column of their own: that column would
        say what was not run."""
        columns = {name for name, axis in axes if any(settings == {name: label} for label, settings in axis)}
        for name, axis in axes:
            for option in {option for _, settings in axis for option in settings} - {name}:
                if option in columns:
                    self._fail(f"grid.{name}", f"sets the option {option}, as 'grid.{option}' does")

    def _add(self, jobs, names, choice):
        options = dict(self.options)
        columns = {}
        for name, (label, settings) in zip(names, choice):
            columns[name] = label
            options.update(settings)
        words = [f"--{name}={_text(value)}" for name, value in options.items()]
        for seed in self.seeds:
            command = (self.program, *words, f"--RngRun={seed}")
            if command not in jobs:
                values = {**options, **columns, "RngRun": seed}
                jobs[command] = Job(command, tuple(values.items()))
