# SPDX-License-Identifier: GPL-2.0-only
"""Pictures of runs and campaigns, with means and 95 % bands over seeds."""

import math
import os
from dataclasses import dataclass, field

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as pyplot  # noqa: E402
import numpy  # noqa: E402
import pandas  # noqa: E402
from matplotlib.ticker import MaxNLocator  # noqa: E402

from . import Mistake  # noqa: E402
from .statistics import as_text, groups, mean_interval  # noqa: E402
from .tables import PERCENT, read_table  # noqa: E402

# The colors of Okabe and Ito, which color-blind people can tell apart, the light yellow last.
COLORS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#000000", "#f0e442"]
MARKS = ["o", "s", "^", "D", "v", "P", "X", "*"]
LINES = ["-", "--", ":", "-."]  # the next one when all colors are in use
NAMES = {
    "round": "round",
    "time_s": "simulated time (s)",
    "test_accuracy": "test accuracy (%)",
    "train_loss": "training loss",
    "lost_fraction": "lost fragments (%)",
    "mean_snr_db": "mean SNR (dB)",
    "bit_budget": "bit budget B (bits a coordinate)",
    "distance_m": "distance to the center (m)",
    "epsilon": "epsilon of a coordinate",
    "radius": "radius of the cell (m)",
    "joined": "devices that joined",
}
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
    table = pandas.DataFrame(rows, columns=["x", "mean", "low", "high"])
    return table.astype({"mean": float, "low": float, "high": float})


def line_style(index):
    """Color, mark and line of a series."""
    return {"color": COLORS[index % len(COLORS)], "marker": MARKS[index % len(MARKS)],
            "linestyle": LINES[index // len(COLORS) % len(LINES)]}


def draw_band(axes, table, index, label, points=False):
    """A line with its band, or points with bars."""
    if points:
        bars = [table["mean"] - table["low"], table["high"] - table["mean"]]
        axes.errorbar(table["x"], table["mean"], numpy.nan_to_num(numpy.array(bars)), label=label,
                      capsize=2, linewidth=0.8, elinewidth=0.8, **line_style(index))
        return
    axes.plot(table["x"], table["mean"], label=label, **line_style(index))
    axes.fill_between(table["x"].astype(float), table["low"], table["high"],
                      color=COLORS[index % len(COLORS)], alpha=0.18, linewidth=0)


def save(figure, paths):
    """Write a picture to each of the paths, complete or not at all."""
    metadata = {".png": {"Software": None}, ".svg": {"Date": None}, ".pdf": {"CreationDate": None}}
    for path in paths:
        scratch = f"{path[:-4]}.{os.getpid()}{path[-4:]}"
        try:
            figure.savefig(scratch, metadata=metadata[path[-4:]])
            os.replace(scratch, path)
        except OSError as error:
            raise Mistake(f"Cannot write {path}: {error.strerror}.") from None
        except (ValueError, RuntimeError) as error:  # a title of a page, or one that is not mathematics
            raise Mistake(f"Cannot draw {path}: {str(error).strip().rstrip('.')}.") from None
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
            needed = ["round", "time_s", "train_loss", "test_accuracy", "lost_fraction"]
            table = read_table(f"{prefix}-rounds.csv", [], needed)
            if table["round"].isna().any():
                raise Mistake(f"{prefix}-rounds.csv has a row without a round.")
            if table["test_accuracy"].isna().all():
                raise Mistake(f"{prefix}-rounds.csv has no round with a test accuracy.")
            rounds.append(table.assign(run=number))
            if os.path.exists(f"{prefix}-links.csv"):
                needed = ["device", "bits", "snr_db", "sent_fragments", "received_fragments", "weight"]
                table = read_table(f"{prefix}-links.csv", [], [*needed, "distance_m"])
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
        table = pandas.DataFrame(rows, columns=["device", "bits", "distance_m", "snr_db", "lost", "weight"])
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


def _legend_columns(labels, width):
    """The largest number of columns of a legend that fits into a width in inches."""
    for count in range(len(labels), 1, -1):
        columns = numpy.array_split([len(label) for label in labels], count)
        if sum(0.5 + 0.058 * max(column) for column in columns) < width:
            return count
    return 1


def draw_overview(runs, title):
    """Accuracy against the round and against time; SNR, loss and weight against the distance."""
    bits = sorted({value for run in runs if not run.devices.empty for value in run.devices["bits"]})
    names = [run.label for run in runs] + [f"{value:g}-bit device" for value in bits]
    per_row = _legend_columns(names, 7.2)
    legend = 0.125 * -(-len(names) // per_row) + (0.3 if title else 0.1)
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
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    handles, _ = axes.get_legend_handles_labels()
    for place in range(len(bits)):
        color = "#555555" if len(runs) > 1 else COLORS[place % len(COLORS)]
        handles.append(pyplot.Line2D([], [], linestyle="", marker=MARKS[place % len(MARKS)],
                                     color=color, fillstyle="none" if place % 2 else "full"))
    if bits:
        rows = (("snr_db", "SNR of each device", "mean SNR (dB)"),
                ("lost", "Loss of each device", "lost fragments (%)"),
                ("weight", "Weight of each device", "mean weight"))
        for place, (column, name, label) in enumerate(rows):
            axes = figure.add_subplot(parts[1, 2 * place : 2 * place + 2])
            _draw_devices(axes, runs, column, name, label, bits)
    figure.legend(handles, names, loc="upper center", ncol=per_row, fontsize=7, labelspacing=0.25,
                  borderaxespad=0.1, bbox_to_anchor=(0.5, 1 - (0.25 if title else 0.03) / height))
    if title:
        figure.suptitle(title, y=1 - 0.05 / height, va="top", fontsize=9)
    return figure


# Campaigns


@dataclass
class Mark:
    """A stated value: a line across, or a star at a place, in the color of a series if that is named."""

    label: str
    y: float
    x: float | None = None
    series: str | None = None


@dataclass
class Panel:
    """One coordinate system: which columns of a table are drawn, and how."""

    table: pandas.DataFrame
    x: str
    y: str
    by: list = field(default_factory=list)  # columns that make the series
    kind: str = "lines"  # lines with bands, points with bars, scatter (every row), or heat
    band: tuple = ()  # columns with the low and the high end, instead of an interval over runs
    against: str = ""  # COLUMN=VALUE: differences to these runs
    marks: list = field(default_factory=list)
    title: str = ""
    names: tuple = ("", "")  # of the axes
    log: str = ""  # logarithmic axes: x, y or xy
    limits: tuple | None = None  # of y
    remark: str = "unknown"  # stands where nothing can be drawn

    def axis_names(self):
        """What the axes are called."""
        name = NAMES.get(self.y, self.y)
        if self.against:
            name = f"difference of {name}".replace("(%)", "(points)")
        return self.names[0] or NAMES.get(self.x, self.x), self.names[1] or name


def select(table, conditions):
    """The rows that meet conditions COLUMN=VALUE."""
    for condition in conditions:
        column, _, value = condition.partition("=")
        if column not in table:
            raise Mistake(f"--where={condition}: the tables have no column {column}.")
        table = table[table[column].map(as_text) == value]
        if table.empty:
            raise Mistake(f"--where={condition}: no run has this value.")
    return table


def series_of(table, by):
    """The parts of a table with equal values in some columns, each with its label."""
    return [(", ".join(map(as_text, key)), part) for key, part in groups(table, by)]


def _subtract(table, x, y, against):
    """The rows of all runs but the reference, with differences to it, paired by RngRun."""
    column, _, base = against.partition("=")
    if column not in table or base not in set(table[column].map(as_text)):
        raise Mistake(f"--against={against}: no run has this value.")
    place = ["round"] if x == "time_s" else [x]
    is_base = table[column].map(as_text) == base
    # Everything that the study varied pairs the runs, not only the seed.
    varied = [name for name in table.attrs["options"] if name in table and name != column]
    keys = list(dict.fromkeys([*varied, *place]))
    reference = table[is_base][[*keys, y]].rename(columns={y: "reference"})
    merged = table[~is_base].merge(reference, on=keys)
    merged[y] = merged[y] - merged["reference"]
    return merged


def _draw_panel(axes, panel, order):
    """Draw one panel; `order` has the labels of all panels, which give the colors."""
    if panel.kind == "heat":
        _draw_heat(axes, panel.table, panel.x, panel.by[0], panel.y)
    else:
        if panel.table[panel.x].dtype == object:  # names stand side by side
            names = list(dict.fromkeys(panel.table[panel.x]))
            panel.table = panel.table.assign(**{panel.x: panel.table[panel.x].map(names.index)})
            axes.set_xticks(range(len(names)), names)
        _draw_series(axes, panel, order)
        _draw_marks(axes, panel.marks, order)
        if panel.against:
            axes.axhline(0, color="#777777", linewidth=0.8)
        if "x" in panel.log:
            axes.set_xscale("log")
        if "y" in panel.log:
            axes.set_yscale("log")
        if panel.x == "round":
            axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        places = sorted(set(panel.table[panel.x].dropna())) if panel.kind == "points" else []
        if places:  # also those of which nothing can be drawn, so that panels can be compared
            axes.update_datalim([(place, 0) for place in (places[0], places[-1])], updatey=False)
            axes.autoscale_view(scaley=False)
        if "x" in panel.log and 0 < len(places) <= 8:
            axes.set_xticks(places, [as_text(place) for place in places])
            axes.minorticks_off()
        axes.set_ylim(panel.limits)
    x_name, y_name = panel.axis_names()
    axes.set(xlabel=x_name, title=panel.title)
    if panel.kind != "heat":
        axes.set_ylabel(y_name)


def _draw_series(axes, panel, order):
    drawn = False
    beyond = []
    for label, part in series_of(panel.table, panel.by):
        index = order.index(label)
        if panel.kind == "scatter":
            axes.scatter(part[panel.x], scaled(part, panel.y), s=9, alpha=0.6, linewidths=0,
                         color=COLORS[index % len(COLORS)], marker=MARKS[index % len(MARKS)])
            drawn = drawn or part[panel.y].notna().any()
            continue
        if panel.band:
            table = part[[panel.x, panel.y, *panel.band]].sort_values(panel.x)
            table.columns = ["x", "mean", "low", "high"]
        else:
            table = bands(part, panel.x, panel.y)
        if panel.limits:  # a band around a mean that is not shown would cover the others
            table.loc[table["mean"] > panel.limits[1], ["low", "high"]] = numpy.nan
        if panel.kind == "points":
            shift = (index - (len(order) - 1) / 2) * 0.012
            low, high = panel.table[panel.x].min(), panel.table[panel.x].max()
            step = shift * (high - low)
            table["x"] = table["x"] * (1 + shift) if "x" in panel.log else table["x"] + step
        draw_band(axes, table, index, label, points=panel.kind == "points")
        drawn = drawn or not table.empty
        if panel.limits and not table.empty and table["mean"].iloc[-1] > panel.limits[1]:
            beyond.append(f"{label} ends at {table['mean'].iloc[-1]:.1e}")
    axes.text(0.97, 0.97, "\n".join(beyond), ha="right", va="top", fontsize=6, color="#555555",
              transform=axes.transAxes)
    if not drawn:
        axes.text(0.5, 0.5, panel.remark, ha="center", color="#777777", transform=axes.transAxes)
        axes.set(xticks=[], yticks=[])


def _draw_marks(axes, marks, order):
    for number, mark in enumerate(marks):
        if mark.x is None:
            axes.axhline(mark.y, color="#777777", linestyle=(0, (4 - number % 3, 2)))
            axes.annotate(mark.label, (1, mark.y), xycoords=("axes fraction", "data"), ha="right",
                          va="bottom", fontsize=6, color="#555555")
        else:
            color = COLORS[order.index(mark.series) % len(COLORS)] if mark.series else "white"
            axes.plot(mark.x, mark.y, marker="*", markersize=9, color=color, linestyle="",
                      markeredgecolor="black", markeredgewidth=0.6, zorder=5)


def _legend_entries(panels, order):
    handles = []
    lines = {} if any(panel.kind != "scatter" for panel in panels) else {"linestyle": ""}
    for index, label in enumerate(order):
        handles.append(pyplot.Line2D([], [], label=label, **{**line_style(index), **lines}))
    stars = dict.fromkeys(m.label for panel in panels for m in panel.marks if m.x is not None)
    handles += [pyplot.Line2D([], [], color="white", marker="*", markersize=8, linestyle="",
                              markeredgecolor="black", label=label) for label in stars]
    return [handle for handle in handles if handle.get_label()]


def draw_panels(panels, title="", columns=1, size=(3.5, 2.4)):
    """A picture of panels of one size in inches, row by row below one legend."""
    for panel in panels:
        if panel.against:
            panel.table = _subtract(panel.table, panel.x, panel.y, panel.against)
    order = list(dict.fromkeys(
        label for panel in panels if panel.kind != "heat"
        for label, _ in series_of(panel.table, panel.by)))
    handles = _legend_entries(panels, order)
    width, rows = size[0] * columns, -(-len(panels) // columns)
    per_row = _legend_columns([handle.get_label() for handle in handles], width)
    head = 0.125 * -(-len(handles) // per_row) + (0.08 if handles else 0) + (0.22 if title else 0)
    height = size[1] * rows + head
    figure, grid = pyplot.subplots(rows, columns, figsize=(width, height), squeeze=False)
    above = 0.2 if any(panel.title for panel in panels) else 0.1
    figure.subplots_adjust(
        left=0.62 / width, right=1 - 0.1 / width, bottom=0.42 / height,
        top=1 - (head + above) / height, wspace=0.66 / max(size[0] - 0.66, 0.3),
        hspace=(0.46 + above) / max(size[1] - 0.46 - above, 0.3))
    if any(panel.kind == "heat" for panel in panels):  # names of rows, and the label of the colors
        longest = max(len(as_text(name)) for panel in panels for name in panel.table[panel.by[0]])
        figure.subplots_adjust(left=(0.4 + 0.06 * longest) / width, right=1 - 0.6 / width)
    for place in grid.flat[len(panels):]:
        place.axis("off")
    for axes, panel in zip(grid.flat, panels):
        _draw_panel(axes, panel, order)
    if handles:
        figure.legend(handles=handles, loc="upper center", ncol=per_row, fontsize=7,
                      handlelength=1.8, borderaxespad=0.1, columnspacing=1.2, labelspacing=0.25,
                      bbox_to_anchor=(0.5, 1 - (0.24 if title else 0.03) / height))
    if title:
        figure.suptitle(title, y=1 - 0.05 / height, va="top", fontsize=9)
    return figure


def draw_sheets(sheets, title, columns, sides=()):
    """Contact sheets of images, pairs of a name and an array of one size, beside each other; `sides` names
    the rows of images of the sheets in the first column."""
    rows, width, left = -(-len(sheets) // columns), 7.2, 0.55 if sides else 0.1
    side = (width - left) / columns
    tall = (side - 0.1) * sheets[0][1].shape[0] / sheets[0][1].shape[1]
    top = 0.3 if title else 0.05
    height = rows * (tall + 0.24) + top + 0.05
    figure = pyplot.figure(figsize=(width, height))
    for place, (name, image) in enumerate(sheets):
        row, column = divmod(place, columns)
        below = height - top - (row + 1) * (tall + 0.24)
        axes = figure.add_axes([(left + column * side) / width, below / height,
                                (side - 0.1) / width, tall / height])
        axes.imshow(image, cmap="gray", interpolation="nearest", aspect="auto")
        axes.set_title(name, fontsize=7, pad=2)
        axes.axis("off")
        for number, text in enumerate(sides if column == 0 else ()):
            axes.text(-0.03, 1 - (number + 0.5) / len(sides), text, ha="right", va="center", fontsize=7,
                      transform=axes.transAxes)
    if title:
        figure.suptitle(title, y=1 - 0.05 / height, va="top", fontsize=9)
    return figure


def read_mark(text):
    """The mark LABEL=NUMBER."""
    label, _, value = text.rpartition("=")
    try:
        if math.isfinite(float(value)):
            return Mark(label, float(value))
        raise ValueError
    except ValueError:
        raise Mistake(f"--mark={text} does not end with a number, as in LABEL=70.") from None


def _draw_heat(axes, table, x, row, y):
    grid = table.assign(value=scaled(table, y)).pivot_table(index=row, columns=x, values="value")
    if grid.empty:
        axes.text(0.5, 0.5, "unknown", ha="center", color="#777777", transform=axes.transAxes)
        return
    picture = axes.pcolormesh(grid.to_numpy(), cmap="cividis", edgecolors="white", linewidth=0.5)
    axes.figure.colorbar(picture, ax=axes, label=NAMES.get(y, y))
    axes.set_xticks(numpy.arange(grid.shape[1]) + 0.5, [as_text(item) for item in grid.columns])
    axes.set_yticks(numpy.arange(grid.shape[0]) + 0.5, [as_text(item) for item in grid.index])
    middle = (numpy.nanmin(grid.to_numpy()) + numpy.nanmax(grid.to_numpy())) / 2
    for (i, j), value in numpy.ndenumerate(grid.to_numpy()):
        if not numpy.isnan(value):
            axes.text(j + 0.5, i + 0.5, f"{value:.3g}", ha="center", va="center", fontsize=6,
                      color="white" if value < middle else "black")
    axes.grid(False)
    axes.set_ylabel(NAMES.get(row, row))
