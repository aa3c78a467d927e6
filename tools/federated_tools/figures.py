# SPDX-License-Identifier: GPL-2.0-only
"""The figures and tables of the paper and of the documentation, each from the campaign of a study.

FIGURES names them all. A function draws from a Source, the collected tables of a campaign; most of them
only say which columns stand in which panel. The paper's pictures are not available as numbers: marks are
the values that its text states.
"""

import itertools
from dataclasses import dataclass

import numpy
import pandas

from . import plot
from .campaign import PREFIX
from .plot import Mark, Panel, draw_panels, draw_sheets
from .statistics import mean_interval
from .tables import cell, fixed, make_table

PROPOSED = ["alg1", "fwo", "fwo-cso"]
STATED = "stated in the paper"
PAPER_ACCURACY = {"alg1": 70, "fwo": 75, "fwo-cso": 80, "laplacesq": 41}  # epsilon 1e-6, sigma2 0.125
PAPER_ABOUT = 90  # of the proposed ones, sigma2 0.0125
PAPER_ORDERS = 2.5  # LaplaceSQ over the paper's quantizer, b = 6, epsilon 0.1


class Source:
    """The tables of a campaign."""

    def __init__(self, campaign, note=""):
        self.campaign = campaign
        self.note = note  # ends every title

    def title(self, text):
        """The title of a picture."""
        return text + self.note

    def table(self, name="runs"):
        """A collected table."""
        table = plot.read_table(self.campaign.folder / f"{name}.csv", [])
        table.attrs["options"] = self.campaign.option_names()
        return table

    def prefix(self, key):
        """What the files of a run begin with."""
        return str(self.campaign.runs / key / PREFIX)


def where(table, **values):
    """The rows with certain values; __ in a name stands for a hyphen."""
    for name, value in values.items():
        column = table[name.replace("__", "-")]
        table = table[column.isin(value) if isinstance(value, list) else column == value]
    return table


# The paper


def draw_distortion(source):
    """Fig. 2a: a panel for each resolution."""
    names = {"dp": "paper's (same-cell epsilon)", "sq": "SQ (no epsilon)",
             "laplace": "LaplaceSQ, sensitivity 20", "optimal_dp": "least for a true epsilon"}
    table = source.table("table")
    long = table.melt(["bits", "epsilon"], list(names), "quantizer", "distortion")
    long["quantizer"] = long["quantizer"].map(names)
    panels = []
    for bits, part in long.groupby("bits"):
        stated = table[(table["bits"] == 6) & (table["epsilon"] == 0.1)]["laplace"].iloc[0]
        marks = [Mark(f"{PAPER_ORDERS} orders below LaplaceSQ, as stated", stated / 10**PAPER_ORDERS, 0.1)]
        panels.append(Panel(part, "epsilon", "distortion", ["quantizer"], log="y", limits=(5e-3, 5e5),
                            title=f"b = {bits}", names=("epsilon", "E|Q(a) - a|^2, a in [-10, 10]"),
                            marks=marks if bits == 6 else []))
    return draw_panels(panels, source.title("Expected distortion of one coordinate"), 3, (2.4, 2.3))


def list_distortion(source):
    """Fig. 2a as a table."""
    table = source.table("table")
    table = table[table["epsilon"].round(6).isin([0.1, 0.5, 1, 1.5])]
    table = table[["bits", "epsilon", "dp", "dp_mc", "sq", "laplace", "optimal_dp"]]
    head = ["b", "epsilon", "paper's", "measured", "SQ", "LaplaceSQ", "least for a true epsilon"]
    return head, [[f"{row[0]:.0f}", *(f"{value:.4g}" for value in row[1:])] for row in table.values]


def _epsilon_panels(source, profile, y, names):
    """Panels a, b and c of Figs. 3 and 4."""
    algorithms = [*PROPOSED, "laplacesq"]
    rounds = where(source.table("rounds"), profile=profile, sigma2=0.125, epsilon=1e-6, algorithm=algorithms)
    last = where(source.table("runs"), profile=profile, algorithm=algorithms)
    is_accuracy = y == "test_accuracy"

    def stars(x):
        return [Mark(STATED, PAPER_ACCURACY[name], x, name) for name in algorithms] if is_accuracy else []

    limits = (0, 100) if is_accuracy else (0, 3)
    about = [Mark(f"stated: about {PAPER_ABOUT} %", PAPER_ABOUT)] if is_accuracy else []
    last = last.assign(epsilon=last["epsilon"] * 1e6)
    axis = ("epsilon of a coordinate (1e-6)", names)
    title = f"{profile}, sigma2 = "
    return [
        Panel(rounds, "round", y, ["algorithm"], title=f"a) {title}0.125", limits=limits,
              marks=stars(rounds["round"].max()), names=("round (epsilon = 1e-6)", names)),
        Panel(where(last, sigma2=0.125), "epsilon", y, ["algorithm"], "points", title=f"b) {title}0.125",
              marks=stars(1), log="x", limits=limits, names=axis),
        Panel(where(last, sigma2=0.0125), "epsilon", y, ["algorithm"], "points", title=f"c) {title}0.0125",
              marks=about, log="x", limits=limits, names=axis),
    ]


def draw_losses(source):
    """Fig. 3 in both profiles."""
    panels = [panel for profile in ("fitted", "sound")
              for panel in _epsilon_panels(source, profile, "train_loss", "training loss")]
    title = source.title("Training loss after each round and after the last one")
    return draw_panels(panels, title, 3, (2.4, 2.2))


def draw_accuracies(source):
    """Fig. 4 in both profiles."""
    panels = [panel for profile in ("fitted", "sound")
              for panel in _epsilon_panels(source, profile, "test_accuracy", "test accuracy (%)")]
    title = source.title("Test accuracy after each round and after the last one")
    return draw_panels(panels, title, 3, (2.4, 2.2))


def draw_paper_overview(source):
    """Accuracy of the profile sound against round and time."""
    table = where(source.table(), profile="sound", sigma2=0.125, epsilon=1e-6,
                  algorithm=["fwo-cso", "alg1", "laplacesq"])
    return _overview(source, table, source.title("Profile sound, sigma2 = 0.125, epsilon = 1e-6"))


def _overview(source, table, title):
    runs = [plot.Runs(name, [source.prefix(key) for key in part["run"]])
            for name, part in table.groupby("algorithm", sort=False)]
    return plot.draw_overview(runs, title)


def list_accuracies(source):
    """Accuracy at epsilon = 1e-6: what the paper states, and a column for each profile."""
    table = where(source.table(), epsilon=1e-6)
    head, lines = make_table(table, ["sigma2", "algorithm"], "test_accuracy", "profile")
    stated = {("0.125", name): f"{value}" for name, value in PAPER_ACCURACY.items()}
    stated |= {("0.0125", name): f"about {PAPER_ABOUT}" for name in PROPOSED}
    lines = [[*line[:2], stated.get(tuple(line[:2]), ""), *line[2:]] for line in lines]
    return [*head[:2], "paper", *head[2:]], sorted(lines, key=lambda line: line[0], reverse=True)


def list_gains(source):
    """Differences to Algorithm 1 and to FWO at epsilon = 1e-6, in points, paired by RngRun."""
    table = where(source.table(), epsilon=1e-6, profile=["fitted", "sound"])
    lines = []
    for name, base in (("fwo", "alg1"), ("fwo-cso", "fwo")):
        some = where(table, algorithm=[name, base])
        head, part = make_table(some, ["profile", "sigma2"], "test_accuracy", None, f"algorithm={base}")
        wide = some.pivot_table(index=["profile", "sigma2", "RngRun"], columns="algorithm",
                                values="test_accuracy", sort=False)
        gains = (wide[name] - wide[base]).groupby(["profile", "sigma2"], sort=False)
        lines += [[f"{name} - {base}", *line, f"{(gain > 0).sum()} of {gain.size}"]
                  for line, (_, gain) in zip(part, gains)]
    return ["difference", *head[:2], "points", "positive"], lines


# Attacks

WAY = ["SQ, min-max", "paper's, min-max", "paper's, [-10, 10]"]
SHOWN = ["no quantizer", "SQ, min-max", "paper's, min-max", "paper's, [-0.01, 0.01]", "paper's, [-10, 10]",
         "randomized response, epsilon 8"]


def _sheet(source, update, attack, rows, of, images=8):
    """Rows of the first net of a contact sheet that has `of` rows a net, without the last images."""
    run = where(source.table(), update=update, attack=attack).iloc[0]
    image = plot.pyplot.imread(f"{source.prefix(run['run'])}.png")
    pitch = (image.shape[0] - 1) // (int(run["nets"]) * of)
    lines = [image[row * pitch : (row + 1) * pitch] for row in rows] + [image[:1]]
    return numpy.concatenate(lines)[:, : images * pitch + 1]


def draw_way(source):
    """Fig. 2b and c: what DLG has after 0, 20 and 40 iterations, below the true images."""
    names = ["b) SQ, interval of the update", "c) the paper's, interval of the update",
             "the paper's, interval [-10, 10]"]
    sheets = [(name, _sheet(source, update, "dlg", range(4), 5, 4)) for name, update in zip(names, WAY)]
    return draw_sheets(sheets, source.title("What DLG found after some iterations, 6 bits"), 3,
                       ["true", "start", "20", "40"])


def draw_attacks(source):
    """True and found images of two attacks."""
    sheets = [(f"{update}: {name}", _sheet(source, update, attack, (0, rows - 1), rows))
              for update in SHOWN for name, attack, rows in (("DLG", "dlg", 5), ("cosine", "cosine", 2))]
    return draw_sheets(sheets, source.title("What two attacks found"), 2, ["true", "found"])


def list_way(source):
    """Table I: medians and quartiles of the SSIM on DLG's way, and how many attacks that are."""
    table = where(source.table("table"), attack="dlg", update=WAY)
    lines = []
    for name in WAY:
        part = where(table, update=name)
        cells = []
        for column in ("ssim_0", "ssim_20", "ssim_40", "ssim"):
            low, middle, high = part[column].quantile([0.25, 0.5, 0.75])
            cells.append(" ".join([fixed(middle, 2), f"({fixed(low, 2)} to {fixed(high, 2)})"]))
        lines.append([name, *cells, str(len(part))])
    return ["DLG on", "iteration 0", "20", "40", "100", "attacks"], lines


def list_attacks(source):
    """Median SSIM and labels found of every attack on every quantizer."""
    lines = []
    for name, part in source.table().groupby("update", sort=False):
        runs = part.set_index("attack")
        snr = runs.loc["dlg", "update_snr_db"]
        lines.append([name, "inf" if numpy.isnan(snr) else f"{snr:.1f}"] + [
            f"{fixed(runs.loc[attack, 'median_ssim'], 2)} ({100 * runs.loc[attack, 'label_accuracy']:.0f})"
            for attack in ("dlg", "idlg", "cosine", "linear")])
    return ["update", "SNR, dB", "DLG", "iDLG", "cosine", "linear"], lines


# The eavesdropper


def _verdict(row):
    if row["claim"] == "none":
        return "no claim"
    kind = "same-cell" if row["claim"] == "same-cell" else "true"
    return f"{kind} epsilon {row['epsilon_update']:.{3 if row['epsilon_update'] < 1000 else 6}g} an update"


def draw_eavesdropper(source):
    """What a listener captures and rebuilds, with the verdict beside each name."""
    table = source.table("table")
    table["update"] = table["update"] + ": " + table.apply(_verdict, axis=1)
    frames = table[table["update"].str.startswith("floats: ")]
    frames = frames.assign(update="frames that its radio decoded", captured=1 - frames["frame_loss"])
    axis = "distance of the listener (m)"
    panels = [
        Panel(pandas.concat([table, frames]), "distance_m", "captured", ["update"], title="Coordinates of updates captured",
              names=(axis, "fraction"), limits=(-0.03, 1.03)),
        Panel(table, "distance_m", "ssim_median", ["update"], title="Rebuilt images, one image a device",
              names=(axis, "SSIM, median and quartiles"), limits=(-0.1, 1.03), band=("ssim_q1", "ssim_q3")),
        Panel(table.assign(labels=table["label_accuracy"]), "distance_m", "labels", ["update"],
              title="Labels found", names=(axis, "fraction"), limits=(-0.03, 1.03)),
    ]
    title = source.title("What a listener in the wifi cell rebuilds, and what is claimed")
    return draw_panels(panels, title, 3, (2.4, 2.3))


def list_eavesdropper(source):
    """Captured coordinates with floats, and the median SSIM and labels of each update."""
    table = source.table("table")
    names = [name for name in dict.fromkeys(table["update"]) if "encrypted" not in name]
    floats = where(table, update="floats")
    lines = []
    for row in floats.itertuples():
        found = [where(table, update=name, distance_m=row.distance_m).iloc[0] for name in names]
        lines.append([f"{row.distance_m:g}", f"{row.captured:.3f}", f"{row.captured_model:.3f}"] + [
            f"{fixed(one['ssim_median'], 3)} ({100 * one['label_accuracy']:.0f})" for one in found])
    return ["m", "captured", "model", *names], lines


# The wifi cell


def draw_wifi(source):
    """The cell of make run."""
    return _overview(source, source.table(), source.title("A wifi cell of 40 devices within 60 m"))


def distance_table(source):
    """The runs, with what their rounds have: time to 80 %, missing bits, joined devices, SNR and budget.
    The mean SNR is that of the linear ratio; the first round has no measured budget."""
    rounds = source.table("rounds")
    rounds["ratio"] = 10 ** (rounds["mean_snr_db"] / 10)
    runs = source.table().drop(columns=["mean_snr_db", "bit_budget"]).set_index("run", drop=False)
    groups = rounds.groupby("run")
    good = rounds[rounds["test_accuracy"] >= 0.8]
    runs["time_to_80_s"] = good.groupby("run")["time_s"].first()
    runs["missing_fraction"] = 1 - groups["delivered_bits"].sum() / groups["granted_bits"].sum()
    runs["joined"] = groups["joined"].mean()
    runs["mean_snr_db"] = 10 * numpy.log10(groups["ratio"].mean())
    runs["bit_budget"] = rounds[rounds["round"] > 1].groupby("run")["bit_budget"].mean()
    # The mean of those that reached 80 % would flatter: it is drawn where all did.
    point = [runs["loss-policy"], runs["radius"], runs["algorithm"]]
    all_reached = runs["time_to_80_s"].notna().groupby(point).transform("all")
    runs["drawn_time_s"] = runs["time_to_80_s"].where(all_reached)
    return runs


def draw_distance(source):
    """A row of panels for each policy; the others hardly depend on it and are those of the first one."""
    table = distance_table(source)
    policies = list(dict.fromkeys(table["loss-policy"]))
    largest = 1.05 * table["train_loss"].max()
    longest = 1.1 * table["drawn_time_s"].max()
    panels = []

    def add(policy, y, title, name, limits=None):
        panels.append(Panel(where(table, loss__policy=policy), "radius", y, ["algorithm"], "points",
                            title=title, names=("radius of the cell (m)", name), limits=limits,
                            remark="not reached by every run"))

    for policy in policies:
        add(policy, "test_accuracy", f"Accuracy, {policy}", "test accuracy (%)", (0, 100))
        add(policy, "train_loss", f"Training loss, {policy}", "training loss", (0, largest))
        add(policy, "drawn_time_s", f"Time to 80 %, {policy}", "simulated time (s)",
            None if numpy.isnan(longest) else (0, longest))
    add(policies[0], "lost_fraction", "Lost fragments", "of those sent (%)", (-3, 103))
    add(policies[0], "missing_fraction", "Missing bits", "of those granted (%)", (-3, 103))
    add(policies[0], "joined", "Devices that joined", "devices", (0, 1.1 * table["joined"].max()))
    add(policies[0], "mean_snr_db", "SNR of what was received", "mean SNR (dB)")
    add(policies[0], "bit_budget", "Bit budget", "B (bits a coordinate)")
    add(policies[0], "time_s", "Time of all rounds", "simulated time (s)")
    return draw_panels(panels, source.title("Against the radius of a wifi cell of 16 devices"), 3, (2.4, 2.0))


def list_distance(source):
    """Accuracy and differences to Algorithm 1, paired by RngRun."""
    table = source.table()
    by = ["loss-policy", "radius"]
    head, lines = make_table(table, by, "test_accuracy", "algorithm")
    more, gains = make_table(table, by, "test_accuracy", None, "algorithm=alg1", 2)
    return head + more[2:], [line + gain[2:] for line, gain in zip(lines, gains)]


def list_distance_links(source):
    """Losses, SNR, budget and time to 80 % with renormalize."""
    table = where(distance_table(source), loss__policy="renormalize")
    lines = []
    for radius, part in table.groupby("radius"):
        fwo = where(part, algorithm="fwo")
        _, lost = make_table(fwo, ["radius"], "lost_fraction")
        line = [str(radius), lost[0][1]]
        line += [f"{fwo[column].mean():.1f}" for column in ("mean_snr_db", "bit_budget")]
        for name in PROPOSED:
            one = where(part, algorithm=name)
            _, time = make_table(one, ["radius"], "time_to_80_s")
            reached = one["time_to_80_s"].notna().sum()
            line.append((time[0][1] or "none")
                        + ("" if reached == len(one) else f" ({reached}/{len(one)})"))
        line += [f"{where(part, algorithm=name)['train_loss'].mean():.3f}" for name in PROPOSED]
        lines.append(line)
    return ["radius, m", "lost, %", "SNR, dB", "B", *(f"80 % {name}, s" for name in PROPOSED),
            *(f"loss {name}" for name in PROPOSED)], lines


def list_distance_rises(source):
    """Where accuracy rises with the radius by more than two standard errors, of all pairs of radii."""
    table = source.table()
    pairs, lines = 0, []
    for (policy, name), part in table.groupby(["loss-policy", "algorithm"], sort=False):
        points = part.groupby("radius")["test_accuracy"].agg(["mean", "sem"])
        for near, far in itertools.combinations(points.index, 2):
            gain = points.loc[far, "mean"] - points.loc[near, "mean"]
            error = numpy.hypot(points.loc[far, "sem"], points.loc[near, "sem"])
            pairs += 1
            if gain > 2 * error + 1e-9:  # not by rounding
                lines.append([policy, name, f"{near:g} to {far:g}", f"{100 * gain:+.1f}",
                              f"{gain / error:.1f}"])
    lines.append(["pairs in all", "", str(pairs), "", ""])
    return ["loss-policy", "algorithm", "radii, m", "points", "standard errors"], lines


# Fading

FADES = {"rayleigh": ("each frame", 2), "block:1,20": ("20 Hz", 21), "block:1,5": ("5 Hz", 85),
         "block:1,1": ("1 Hz", 423)}  # how long a fade lasts in ms; a frame takes about 2


def fading_table(source):
    """The runs, with means over their rounds: bursts, devices of which anything was received, untouched
    coordinates, repairs, length of a round."""
    rounds = source.table("rounds")
    groups = rounds.groupby("run")
    runs = source.table().set_index("run", drop=False)
    runs["mean_burst"] = groups["mean_burst"].mean()
    runs["heard"] = groups["received"].mean()
    runs["untouched"] = 100 * groups["untouched_fraction"].mean()
    runs["repair_ms"] = 1000 * groups["repair_s"].mean()
    runs["round_s"] = groups["time_s"].max() / groups.size()
    runs["fades"] = runs["fading"].map(lambda name: FADES[name][0])
    runs["fade_ms"] = runs["fading"].map(lambda name: FADES[name][1])
    return runs


def draw_fading(source):
    """Against how long a fade lasts, a line for each way to send updates."""
    table = fading_table(source)

    def panel(y, title, name, limits=None):
        return Panel(table, "fade_ms", y, ["way"], "points", title=title, log="x", limits=limits,
                     names=("a fade lasts (ms); 2: one frame", name))

    panels = [
        panel("lost_fraction", "Lost fragments", "of those sent (%)", (0, 70)),
        panel("mean_burst", "Length of a burst", "lost fragments in a row"),
        panel("untouched", "Untouched coordinates", "of an update (%)"),
        panel("repair_ms", "Repairs of the model", "sending time (ms a round)"),
        panel("round_s", "Length of a round", "simulated time (s)", (0, 4.1)),
        panel("test_accuracy", "Accuracy", "test accuracy (%)"),
    ]
    return draw_panels(panels, source.title("Fades that last, at equal mean loss"), 3, (2.4, 2.0))


def list_fading(source):
    """What the panels show, and the accuracy gained over updates in their own order and over fading of each
    frame, paired by RngRun."""
    table = fading_table(source)
    columns = {"lost_fraction": ("lost, %", 1), "mean_burst": ("burst", 1), "heard": ("heard of 4", 1),
               "untouched": ("untouched, %", 1), "repair_ms": ("repairs, ms", 0), "round_s": ("round, s", 2),
               "test_accuracy": ("accuracy, %", 1)}
    parts = [{tuple(line[:2]): line[2] for line in make_table(table, ["fades", "way"], name, digits=digits)[1]}
             for name, (_, digits) in columns.items()]

    def gains(by, base):
        """Differences of accuracy, by group and by what is compared with the base."""
        value = base.partition("=")[2]
        head, lines = make_table(table, [by], "test_accuracy", None, base)
        names = [name.removesuffix(f" - {value}") for name in head[1:]]
        return {(line[0], name): cell for line in lines for name, cell in zip(names, line[1:])}

    of_way = gains("fades", "way=own order")
    of_fades = gains("way", "fades=each frame")
    lines = [[fades, way, *(part[fades, way] for part in parts), of_way.get((fades, way), ""),
              of_fades.get((way, fades), "")] for fades, way in parts[0]]
    return ["fades", "updates", *(name for name, _ in columns.values()), "to own order", "to each frame"], lines


# Rotation


def list_rotation(source):
    """Accuracy with and without a rotation, the fragments lost, and what the rotation gains with a clip and an
    interval of its own, paired by RngRun."""
    table = source.table()
    by = ["loss-policy", "radius"]
    plain, rotated = ("plain, C = 300", "rotated, C = 300")
    _, lost = make_table(where(table, way=plain), by, "lost_fraction")
    head, lines = make_table(table, by, "test_accuracy", "way")
    pair = where(table, way=[plain, rotated])
    _, gains = make_table(pair, [*by, "way"], "test_accuracy", None, f"way={plain}")
    return [*by, "lost, %", *head[2:], "gain at C = 300"], [
        [*line[:2], share[2], *line[2:], gain[2]] for line, share, gain in zip(lines, lost, gains)]


# Cells and a cloud

MULTICELL_SECONDS = 16.5  # simulated; rounds of the cloud that ended by then count


def list_multicell(source):
    """Accuracy of the last model of the cloud at equal simulated time, and how many rounds that took."""
    rounds = source.table("rounds")
    last = rounds[rounds["time_s"] <= MULTICELL_SECONDS].sort_values("round").groupby("run").last()
    table = source.table().set_index("run", drop=False)
    table["ended"] = last["round"]
    table["cell_rounds"] = last["round"] * table["edge_rounds"]
    table["test_accuracy"] = last["test_accuracy"]
    table["time_s"] = last["time_s"]
    lines = []
    for case, part in table.groupby("case", sort=False):
        rate, _, kappa = case.partition(", ")
        _, accuracy = make_table(part, ["case"], "test_accuracy")
        lines.append([rate, kappa, *(f"{part[name].mean():.{digits}f}" for name, digits in
                                     (("ended", 1), ("cell_rounds", 1), ("time_s", 1))), accuracy[0][1]])
    return ["backhaul", "rounds of a cell", "rounds of the cloud", "of a cell", "time, s", "accuracy, %"], lines


# Insiders


def _compare(attacked, base):
    """What an attack changes, from its runs and those without an attack: the accuracy in points, the
    fraction of the honest updates that were received, the rounds and the time."""
    pairs = attacked.join(base, rsuffix="_base", how="inner")
    # The accuracy of a model that is not finite is unknown; such a model is useless.
    points = 100 * (pairs["test_accuracy"].fillna(0) - pairs["test_accuracy_base"])
    text = cell(*mean_interval(points), signed=True)
    if (pairs["finite"] == 0).any():
        text += " (not finite)"
    return [text, f"{pairs['honest_updates'].mean():.2f}", f"{pairs['rounds'].min():.0f}",
            f"{(pairs['time_s'] / pairs['time_s_base']).mean():.2f}"]


def list_insider(source):
    """What every attack does to every aggregator, against the same runs without it, paired by RngRun."""
    table = source.table()
    aggregators = list(dict.fromkeys(table["aggregator"]))
    lines = []
    for (setting, attack), part in table.groupby(["setting", "attack"], sort=False):
        if attack == "none":
            continue
        cells = [_compare(where(part, aggregator=name).set_index("RngRun"),
                          where(table, setting=setting, attack="none", aggregator=name).set_index("RngRun"))
                 for name in aggregators]
        # The aggregator changes neither messages nor time.
        lines.append([setting, attack, *(text for text, *_ in cells), *cells[0][1:]])
    return ["setting", "attack", *aggregators, "honest updates", "rounds", "time"], lines


# The audit


def _span(values):
    """The smallest and the largest of some epsilons: 1.002 to 1.297; none: the column has no value."""
    texts = [f"{value:.3f}" if numpy.isfinite(value) else "infinite" for value in sorted(values.dropna())]
    if values.isna().any():
        texts = ["none", *texts]
    return " to ".join(dict.fromkeys([texts[0], texts[-1]]))


def list_audit(source):
    """What the audit found, a line for all resolutions and intervals with the same outcome."""
    table = source.table("table").astype({"bits": str})
    numbers = ["epsilon_claimed", "epsilon_exact", "epsilon_lower", "rho_claimed", "rho_exact", "rho_lower"]
    for name in numbers:  # some are words: none, infinite
        table[name] = pandas.to_numeric(table[name].replace("infinite", "inf"), errors="coerce")
    is_fixed = table["interval"] == "fixed"
    table["claims"] = table["epsilon_claimed"].where(is_fixed, 0).fillna(-1)  # those of levels differ
    table["place"] = is_fixed
    table["norm"] = table["clip"].str.partition(":")[0]
    by = ["quantizer", "norm", "place", "claims", "verdict"]
    lines = []
    for (quantizer, norm, _, _, verdict), part in table.groupby(by, sort=False):
        lines.append([quantizer + (f", {norm} clip" if norm == "l2" else ""),
                      *(", ".join(dict.fromkeys(part[name])) for name in ("bits", "interval")),
                      *(_span(part[name]) for name in numbers), verdict])
    return ["quantizer", "b", "interval", "epsilon claimed", "exact", "at least", "rho claimed", "exact",
            "at least", "verdict"], lines


# True epsilons


def _private(source):
    table = source.table()
    kind = table["loss"].str.split(" ", n=1, expand=True)
    return table.assign(kind=kind[0], budget=pandas.to_numeric(kind[1], errors="coerce"))


def draw_private(source):
    """Accuracy against the budget of an update."""
    table = _private(source)
    panels = []
    for task, kind in (("logistic", "epsilon"), ("mlp", "epsilon"), ("logistic", "rho")):
        floats = where(table, task=task, way="floats")["test_accuracy"].mean()
        panels.append(Panel(where(table, task=task, kind=kind), "budget", "test_accuracy", ["way"], "points",
                            title=f"{task}, {kind}", names=(f"{kind} of an update", "test accuracy (%)"),
                            log="x", limits=(0, 100), marks=[Mark("floats", 100 * floats)]))
    return draw_panels(panels, source.title("Accuracy at honest budgets"), 3, (2.4, 2.4))


def _list_private(source, kind, digits=1):
    """Accuracy of each mechanism; the task is in the head of a column."""
    table = _private(source)
    table = table[table["kind"].isin([kind, "no"])]
    table["case"] = table["task"] + ", " + table["loss"]
    return make_table(table, ["way"], "test_accuracy", "case", digits=digits)


def list_private(source):
    """At epsilon 1, 8 and 64 of an update."""
    return _list_private(source, "epsilon")


def list_private_rho(source):
    """At equal rho of an update, with the bytes of an update."""
    head, lines = _list_private(source, "rho")
    table = where(_private(source), kind="rho")
    size = table.groupby(["way", "task"])["update_bytes"].first()
    lines = [[*line, *(f"{size[line[0], task]:.0f}" for task in ("logistic", "mlp"))]
             for line in lines if line[0] != "floats"]
    keep = [i for i, name in enumerate(head) if "no privacy" not in name] + [len(head), len(head) + 1]
    head = [*head, "bytes, logistic", "bytes, mlp"]
    return [head[i] for i in keep], [[line[i] for i in keep] for line in lines]


def list_private_ledger(source):
    """The least valid epsilon of the device that answered most often, largest of the runs."""
    table = where(_private(source), kind="epsilon")
    table["case"] = table["task"] + ", " + table["loss"]
    most = table.pivot_table(index="way", columns="case", values="zcdp_epsilon", aggfunc="max", sort=False)
    most = most[list(dict.fromkeys(table["case"]))]
    return ["way", *most.columns], [
        [way, *("" if numpy.isnan(value) else f"{value:.4g}" for value in row)]
        for way, row in zip(most.index, most.values) if not numpy.isnan(row).all()]


@dataclass(frozen=True)
class Figure:
    """A picture, a table or both, from the campaign of a study."""

    name: str  # of the files
    study: str  # studies/STUDY.toml
    draw: object = None  # a function of a Source: a figure
    rows: object = None  # a function of a Source: the header and the lines of a table


FIGURES = [
    Figure("fig2a", "distortion", draw_distortion, list_distortion),
    Figure("fig2bc", "attack", draw_way),
    Figure("table1", "attack", None, list_way),
    Figure("fig3", "paper", draw_losses),
    Figure("fig4", "paper", draw_accuracies, list_accuracies),
    Figure("gains", "paper", None, list_gains),
    Figure("accuracy", "paper", draw_paper_overview),
    Figure("wifi", "wifi", draw_wifi),
    Figure("attack", "attack", draw_attacks, list_attacks),
    Figure("eavesdropper", "eavesdropper", draw_eavesdropper, list_eavesdropper),
    Figure("distance", "distance", draw_distance, list_distance),
    Figure("distance-links", "distance", None, list_distance_links),
    Figure("distance-rises", "distance", None, list_distance_rises),
    Figure("rotation", "rotation", None, list_rotation),
    Figure("fading", "fading", draw_fading, list_fading),
    Figure("multicell", "multicell", None, list_multicell),
    Figure("private", "private", draw_private, list_private),
    Figure("private-rho", "private", None, list_private_rho),
    Figure("private-ledger", "private", None, list_private_ledger),
    Figure("audit", "audit", None, list_audit),
    Figure("insider", "insider", None, list_insider),
]
