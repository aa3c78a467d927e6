# SPDX-License-Identifier: GPL-2.0-only
"""Pictures of runs and campaigns, with means and 95 % bands over seeds."""

import os

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as pyplot  # noqa: E402
import numpy  # noqa: E402
import pandas  # noqa: E402

from . import Mistake  # noqa: E402
from .statistics import mean_interval  # noqa: E402

# The colors of Okabe and Ito, which color-blind people can tell apart, the light yellow last.
COLORS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#000000", "#f0e442"]
MARKS = ["o", "s", "^", "D", "v", "P", "X", "*"]
NAMES = {
    "round": "round",
    "time_s": "simulated time (s)",
    "test_accuracy": "test accuracy (%)",
    "train_loss": "training loss",
    "lost_fraction": "lost fragments (%)",
    "mean_snr_db": "mean SNR (dB)",
    "bit_budget": "bit budget B (bits a coordinate)",
    "distance_m": "distance to the center (m)",
}
PERCENT = {"test_accuracy", "lost_fraction"}
FORMATS = (".png", ".svg", ".pdf")
STYLE = {
    "font.size": 8,
    "axes.titlesize": 8,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#e4e4e4",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "lines.linewidth": 1.3,
    "lines.markersize": 3.5,
    "legend.frameon": False,
    "savefig.dpi": 200,
    "svg.hashsalt": "federated",  # the same picture has the same bytes
}


def check_output(path):
    """Refuse a picture that cannot be written, before any work."""
    if not path.endswith(FORMATS):
        raise Mistake(f"--output={path} does not end with {', '.join(FORMATS)}.")
    folder = os.path.dirname(path) or "."
    if not os.path.isdir(folder) or not os.access(folder, os.W_OK):
        raise Mistake(f"--output={path} is in a folder that does not exist or cannot be written.")


def read_table(path, columns):
    """A table that has certain columns."""
    try:
        table = pandas.read_csv(path, na_values=["inf", "-inf"])
    except FileNotFoundError:
        raise Mistake(f"There is no {path}.") from None
    except (OSError, ValueError) as error:
        raise Mistake(f"{path} is not a table: {str(error).strip()}.") from None
    for column in columns:
        if column not in table:
            raise Mistake(f"{path} has no column {column}.")
    return table


def scaled(table, column):
    """A column as it is drawn: shares in percent."""
    values = pandas.to_numeric(table[column], errors="coerce")
    return 100 * values if column in PERCENT else values


def bands(table, x, y):
    """Mean, low and high of a column at each place of another: a table over runs."""
    # Rounds of several runs end at different times: they are drawn at their mean time.
    place = "round" if x == "time_s" else x
    rows = []
    for value, group in table.groupby(place, sort=True):
        known = group[scaled(group, y).notna()]
        if not known.empty:
            at = float(known[x].mean()) if x == "time_s" else value
            rows.append((at, *mean_interval(scaled(known, y))))
    return pandas.DataFrame(rows, columns=["x", "mean", "low", "high"])


def draw_band(axes, table, index, label, points=False):
    """A line with its band, or points with bars."""
    color, mark = COLORS[index % len(COLORS)], MARKS[index % len(MARKS)]
    if points:
        bars = [table["mean"] - table["low"], table["high"] - table["mean"]]
        bars = numpy.nan_to_num(numpy.array(bars))
        axes.errorbar(table["x"], table["mean"], bars, fmt=mark, color=color, label=label, capsize=2)
        return
    axes.plot(table["x"], table["mean"], marker=mark, color=color, label=label)
    axes.fill_between(
        table["x"].astype(float), table["low"], table["high"], color=color, alpha=0.18, linewidth=0
    )


def save(figure, path):
    """Write a picture, complete or not at all."""
    scratch = f"{path[:-4]}.{os.getpid()}{path[-4:]}"
    metadata = {".png": {"Software": None}, ".svg": {"Date": None}, ".pdf": {"CreationDate": None}}
    try:
        figure.savefig(scratch, metadata=metadata[path[-4:]])
        os.replace(scratch, path)
    except OSError as error:
        raise Mistake(f"Cannot write {path}: {error.strerror}.") from None
    finally:
        if os.path.exists(scratch):
            os.remove(scratch)
    pyplot.close(figure)


# Runs


class Runs:
    """The runs of one label: their rounds, and what is known of their devices."""

    def __init__(self, label, prefixes):
        self.label = label
        rounds = []
        links = []
        for number, prefix in enumerate(prefixes):
            table = read_table(
                f"{prefix}-rounds.csv",
                ["round", "time_s", "train_loss", "test_accuracy", "lost_fraction"],
            )
            if table["test_accuracy"].isna().all():
                raise Mistake(f"{prefix}-rounds.csv has no round with a test accuracy.")
            rounds.append(table.assign(run=number))
            if os.path.exists(f"{prefix}-links.csv"):
                needed = ["device", "bits", "snr_db", "sent_fragments", "received_fragments"]
                table = read_table(f"{prefix}-links.csv", [*needed, "weight", "distance_m"])
                links.append(table.assign(run=number))
        self.rounds = pandas.concat(rounds)
        self.devices = self._summarize(pandas.concat(links)) if links else pandas.DataFrame()
        self.lost = self._lost_fraction(pandas.concat(links) if links else None)

    @staticmethod
    def _summarize(links):
        """A row a device: SNR is averaged as a linear ratio, loss over all fragments."""
        rows = []
        for (_, device), group in links.groupby(["run", "device"]):
            sent = group[group["sent_fragments"].notna()]
            total = sent["sent_fragments"].sum()
            ratio = (10 ** (group["snr_db"] / 10)).mean()
            rows.append(
                {
                    "device": device,
                    "bits": group["bits"].iloc[0],
                    "distance_m": group["distance_m"].mean(),
                    "snr_db": 10 * numpy.log10(ratio) if ratio > 0 else numpy.nan,
                    "lost": 100 * (1 - sent["received_fragments"].sum() / total)
                    if total
                    else numpy.nan,
                    "weight": group["weight"].mean(),
                }
            )
        table = pandas.DataFrame(rows)
        return table[table["distance_m"].notna()]

    def _lost_fraction(self, links):
        if links is not None:
            sent = links[links["sent_fragments"].notna()]
            total = sent["sent_fragments"].sum()
            return 1 - sent["received_fragments"].sum() / total if total else numpy.nan
        return self.rounds["lost_fraction"].mean()

    def describe(self):
        """What the printed table says of these runs."""
        last = self.rounds.groupby("run").last()
        known = self.rounds[self.rounds["test_accuracy"].notna()].groupby("run").last()
        return [
            self.label,
            int(last["round"].max()),
            100 * known["test_accuracy"].mean(),
            known["train_loss"].mean(),
            last["time_s"].mean(),
            100 * self.lost,
        ]


def print_table(runs):
    """How the runs ended."""
    width = max(9, *(len(run.label) for run in runs))
    print(f"{'run':{width}} rounds  accuracy, %  train loss  time, s  lost, %")
    for run in runs:
        label, rounds, accuracy, loss, seconds, lost = run.describe()
        texts = [
            "-" if numpy.isnan(value) else form % value
            for form, value in (("%.1f", accuracy), ("%.4g", loss), ("%.1f", seconds), ("%.1f", lost))
        ]
        print(f"{label:{width}} {rounds:6d} {texts[0]:>12} {texts[1]:>11} {texts[2]:>8} {texts[3]:>7}")


def _draw_devices(axes, runs, column, title, label, bits):
    several = len(runs) > 1
    drawn = False
    for number, run in enumerate(runs):
        for place, resolution in enumerate(bits):
            if run.devices.empty:
                continue
            some = run.devices[(run.devices["bits"] == resolution) & run.devices[column].notna()]
            drawn = drawn or not some.empty
            color = COLORS[(number if several else place) % len(COLORS)]
            axes.scatter(
                some["distance_m"], some[column], s=14, alpha=0.75, linewidths=1,
                marker=MARKS[place % len(MARKS)], edgecolors=color,
                facecolors="none" if place % 2 else color,
            )
    if not drawn:
        axes.text(0.5, 0.5, "unknown on these links", ha="center", transform=axes.transAxes)
    axes.set(title=title, xlabel=NAMES["distance_m"], ylabel=label)
    axes.set_xlim(left=0)


def draw_overview(runs, title):
    """Accuracy against the round and against time; SNR, loss and weight against the distance."""
    bits = sorted({value for run in runs if not run.devices.empty for value in run.devices["bits"]})
    handles, labels = [], []
    entries = len(runs) + len(bits)
    legend = 0.2 * -(-entries // 4) + (0.25 if title else 0.05)
    height = (5.0 if bits else 2.6) + legend
    figure = pyplot.figure(figsize=(7.2, height))
    parts = figure.add_gridspec(2 if bits else 1, 6, left=0.08, right=0.985, wspace=2.2, hspace=0.45,
                                bottom=0.45 / height, top=1 - (legend + 0.25) / height)
    for spot, x, name in ((parts[0, :3], "round", "Accuracy after each round"),
                          (parts[0, 3:], "time_s", "Accuracy against time")):
        axes = figure.add_subplot(spot)
        for number, run in enumerate(runs):
            draw_band(axes, bands(run.rounds, x, "test_accuracy"), number, run.label)
        axes.set(title=name, xlabel=NAMES[x], ylabel=NAMES["test_accuracy"], ylim=(0, 100))
        axes.set_xlim(left=0)
    handles, labels = axes.get_legend_handles_labels()
    for place, value in enumerate(bits):
        color = "#555555" if len(runs) > 1 else COLORS[place % len(COLORS)]
        handles.append(pyplot.Line2D([], [], linestyle="", marker=MARKS[place % len(MARKS)],
                                     color=color, fillstyle="none" if place % 2 else "full"))
        labels.append(f"{value:g}-bit device")
    if bits:
        rows = (("snr_db", "SNR of each device", "mean SNR (dB)"),
                ("lost", "Loss of each device", "lost fragments (%)"),
                ("weight", "Weight of each device", "mean weight"))
        for place, (column, name, label) in enumerate(rows):
            axes = figure.add_subplot(parts[1, 2 * place : 2 * place + 2])
            _draw_devices(axes, runs, column, name, label, bits)
    figure.legend(handles, labels, loc="upper center", ncol=min(entries, 4), fontsize=7,
                  bbox_to_anchor=(0.5, 1 - (0.2 if title else 0) / height))
    if title:
        figure.suptitle(title, y=1 - 0.05 / height, va="top", fontsize=9)
    return figure


# Campaigns


def select(table, conditions):
    """The rows that meet conditions COLUMN=VALUE."""
    for condition in conditions:
        column, _, value = condition.partition("=")
        if column not in table:
            raise Mistake(f"--where={condition}: the tables have no column {column}.")
        texts = table[column].map(lambda item: f"{item:g}" if isinstance(item, float) else str(item))
        table = table[texts == value]
        if table.empty:
            raise Mistake(f"--where={condition}: no run has this value.")
    return table


def _labels(table, by):
    if not by:
        return [("", table)]
    parts = table.groupby(by if len(by) > 1 else by[0], sort=False)
    return [
        (", ".join(f"{item}" for item in (key if isinstance(key, tuple) else (key,))), part)
        for key, part in parts
    ]


def _subtract(table, x, y, against):
    """The rows of all runs but the reference, with differences to it, paired by RngRun."""
    column, _, base = against.partition("=")
    if column not in table or base not in set(table[column].astype(str)):
        raise Mistake(f"--against={against}: no run has this value.")
    place = ["round"] if x == "time_s" else [x]
    is_base = table[column].astype(str) == base
    # Everything that the study varied pairs the runs, not only the seed.
    varied = [name for name in table.attrs["options"] if name in table and name != column]
    keys = list(dict.fromkeys([*varied, *place]))
    reference = table[is_base][[*keys, y]].rename(columns={y: "reference"})
    merged = table[~is_base].merge(reference, on=keys)
    merged[y] = merged[y] - merged["reference"]
    return merged


def draw_campaign(table, options):
    """One panel of a campaign's table."""
    x, y, by = options.x, options.y, options.by
    if options.against:
        table = _subtract(table, x, y, options.against)
    width, height = options.size
    parts = _labels(table, by)
    legend = 0.18 * -(-len(parts) // 3) if by and options.kind != "heat" else 0
    height += legend
    figure, axes = pyplot.subplots(figsize=(width, height))
    figure.subplots_adjust(left=0.6 / width, right=1 - 0.12 / width, bottom=0.45 / height,
                           top=1 - (legend + (0.3 if options.title else 0.12)) / height)
    name = NAMES.get(y, y)
    if options.kind == "heat":
        _draw_heat(axes, table, x, by[0], y)
    else:
        for number, (label, part) in enumerate(parts):
            draw_band(axes, bands(part, x, y), number, label, points=options.kind == "points")
        for number, mark in enumerate(options.marks):
            label, _, value = mark.rpartition("=")
            axes.axhline(value_of(mark, value), color="#777777", linestyle=(0, (4 - number % 3, 2)))
            axes.annotate(label, (1, value_of(mark, value)), xycoords=("axes fraction", "data"),
                          ha="right", va="bottom", fontsize=6, color="#555555")
        axes.set(xlabel=NAMES.get(x, x), ylabel=f"difference of {name}" if options.against else name)
        if options.log:
            axes.set_xscale("log")
        if options.against:
            axes.axhline(0, color="#777777", linewidth=0.8)
        if by:
            figure.legend(*axes.get_legend_handles_labels(), loc="upper center", fontsize=7,
                          ncol=min(len(parts), 3),
                          bbox_to_anchor=(0.5, 1 - (0.2 if options.title else 0) / height))
    if options.title:
        figure.suptitle(options.title, y=1 - 0.05 / height, va="top", fontsize=9)
    return figure


def value_of(mark, text):
    """The number of a mark LABEL=NUMBER."""
    try:
        return float(text)
    except ValueError:
        raise Mistake(f"--mark={mark} does not end with a number, as in LABEL=70.") from None


def _draw_heat(axes, table, x, row, y):
    grid = table.assign(value=scaled(table, y)).pivot_table(index=row, columns=x, values="value")
    picture = axes.pcolormesh(grid.to_numpy(), cmap="cividis", edgecolors="white", linewidth=0.5)
    axes.figure.colorbar(picture, label=NAMES.get(y, y))
    axes.set_xticks(numpy.arange(grid.shape[1]) + 0.5, [f"{item}" for item in grid.columns])
    axes.set_yticks(numpy.arange(grid.shape[0]) + 0.5, [f"{item}" for item in grid.index])
    middle = (numpy.nanmin(grid.to_numpy()) + numpy.nanmax(grid.to_numpy())) / 2
    for (i, j), value in numpy.ndenumerate(grid.to_numpy()):
        if not numpy.isnan(value):
            axes.text(j + 0.5, i + 0.5, f"{value:.3g}", ha="center", va="center", fontsize=6,
                      color="white" if value < middle else "black")
    axes.grid(False)
    axes.set(xlabel=NAMES.get(x, x), ylabel=NAMES.get(row, row))
