# SPDX-License-Identifier: GPL-2.0-only
"""Tests of tools/figures: the studies of the repository, and tables from runs whose values are known."""

import re
from types import SimpleNamespace

import numpy
import pandas
import pytest
from conftest import TOOLS, call
from federated_tools import figures, plot, tables
from federated_tools.study import Study
from scipy import stats

ROOT = TOOLS.parent
STUDIES = sorted((ROOT / "studies").glob("*.toml"))


class FakeSource:
    """Tables that were made by hand."""

    def __init__(self, **tables_by_name):
        self.tables = tables_by_name

    @staticmethod
    def title(text):
        """A title with a note."""
        return text + " - QUICK"

    def table(self, name="runs"):
        """A copy of a table."""
        return self.tables[name].copy()


@pytest.mark.parametrize("path", STUDIES, ids=lambda path: path.stem)
def test_every_study_is_right_and_quick_is_not_larger(path):
    study, quick = Study(path), Study(path, quick=True)
    assert len(quick.jobs) <= len(study.jobs)
    source = ROOT / "examples" / f"{study.program.split('/')[-1]}.cc"
    assert study.program.startswith("build/examples/") and source.exists()


def test_every_figure_has_a_study_and_a_name_of_its_own():
    names = [figure.name for figure in figures.FIGURES]
    assert len(set(names)) == len(names)
    for figure in figures.FIGURES:
        assert (ROOT / "studies" / f"{figure.study}.toml").exists()
        assert figure.draw or figure.rows


def test_every_figure_of_the_documentation_is_made():
    names = {figure.name for figure in figures.FIGURES if figure.draw}
    for page in (ROOT / "doc").glob("*.rst"):
        shown = re.findall(r"figure:: figures/([\w-]+)", page.read_text(encoding="utf-8"))
        assert set(shown) <= names | {"report"}, page  # a screenshot of tools/report


def test_an_unknown_figure_is_one_sentence():
    answer = call("figures", "fig9")
    assert answer.returncode == 1 and answer.stderr.startswith("figures: There is no figure fig9, only fig2a")
    assert call("figures", "--formats=jpg").returncode == 1
    assert call("figures", "--jobs=-1").returncode == 1


def make_paper():
    """Runs of the paper: FWO gains 5, 6 and 7 points, CSO nothing."""
    rows = [
        {"profile": profile, "sigma2": sigma2, "epsilon": epsilon, "algorithm": algorithm, "RngRun": run,
         "test_accuracy": 0.7 + 0.01 * run + gain * (0.04 + 0.01 * run), "train_loss": 1.0, "round": t}
        for profile in ("fitted", "sound") for sigma2 in (0.125, 0.0125) for epsilon in (1e-6, 2e-6)
        for algorithm, gain in (("alg1", 0), ("fwo", 1), ("fwo-cso", 1), ("laplacesq", -1))
        for run in (1, 2, 3) for t in (1, 2)
    ]
    table = pandas.DataFrame(rows)
    return FakeSource(runs=table[table["round"] == 2].drop(columns="round"), rounds=table)


def test_the_table_of_the_paper_has_stated_and_measured_accuracy():
    head, lines = figures.list_accuracies(make_paper())
    assert head == ["sigma2", "algorithm", "paper", "fitted", "sound"]
    half = stats.t.ppf(0.975, 2) * 1 / numpy.sqrt(3)
    assert lines[0] == ["0.125", "alg1", "70", f"72.0 +- {half:.1f}", f"72.0 +- {half:.1f}"]
    assert lines[4][:3] == ["0.0125", "alg1", "about 90"] and lines[7][2] == ""


def test_gains_are_paired_by_the_seed():
    head, lines = figures.list_gains(make_paper())
    assert head == ["difference", "profile", "sigma2", "points", "positive"]
    interval = stats.ttest_1samp([5, 6, 7], 0).confidence_interval(0.95)
    wanted = f"+6.0 +- {(interval.high - interval.low) / 2:.1f} *"
    assert lines[0] == ["fwo - alg1", "fitted", "0.125", wanted, "3 of 3"]
    assert lines[4] == ["fwo-cso - fwo", "fitted", "0.125", "+0.0 +- 0.0", "0 of 3"]


@pytest.mark.parametrize("draw", [figures.draw_losses, figures.draw_accuracies])
def test_figures_of_the_paper_have_three_panels_for_each_profile(draw):
    picture = draw(make_paper())
    assert picture._suptitle.get_text().endswith("last one - QUICK")
    titles = [axes.get_title() for axes in picture.axes]
    assert [title[:9] for title in titles] == ["a) fitted", "b) fitted", "c) fitted",
                                               "a) sound,", "b) sound,", "c) sound,"]
    stars = [line for line in picture.axes[0].lines if line.get_marker() == "*"]
    wanted = [70, 75, 80, 41] if draw is figures.draw_accuracies else []
    assert [star.get_ydata()[0] for star in stars] == wanted
    plot.pyplot.close(picture)


def make_distance():
    """Runs of 3 rounds; at 40 m one run does not reach 80 %."""
    runs, rounds = [], []
    for radius in (20, 40):
        for algorithm in figures.PROPOSED:
            for run in (1, 2):
                key = f"{radius}-{algorithm}-{run}"
                point = {"loss-policy": "renormalize", "radius": radius, "algorithm": algorithm,
                         "RngRun": run, "run": key}
                last = 0.85 if radius == 20 or run == 1 else 0.7
                runs.append({**point, "test_accuracy": last, "train_loss": 1, "time_s": 9.5,
                             "lost_fraction": 0.25, "mean_snr_db": 5, "bit_budget": 5})
                rounds += [
                    {**point, "round": 1, "time_s": 4.5, "test_accuracy": 0.1, "bit_budget": 99,
                     "granted_bits": 30, "delivered_bits": 12, "joined": 40, "mean_snr_db": 10},
                    {**point, "round": 2, "time_s": 8.5, "test_accuracy": last, "bit_budget": 30 + run,
                     "granted_bits": 10, "delivered_bits": 8, "joined": 30, "mean_snr_db": 20},
                    {**point, "round": 3, "time_s": 9.5, "mean_snr_db": numpy.nan},
                ]
    return FakeSource(runs=pandas.DataFrame(runs), rounds=pandas.DataFrame(rounds))


def test_rounds_give_time_to_80_percent_missing_bits_snr_and_budget():
    table = figures.distance_table(make_distance()).set_index("run")
    row = table.loc["20-alg1-2"]
    assert row["time_to_80_s"] == 8.5 and row["joined"] == 35 and row["bit_budget"] == 32
    assert row["missing_fraction"] == pytest.approx(0.5)
    assert row["mean_snr_db"] == pytest.approx(17.403627)
    # Drawn where every run reached it.
    assert row["drawn_time_s"] == 8.5 and table.loc["40-alg1-1", "time_to_80_s"] == 8.5
    assert numpy.isnan(table.loc["40-alg1-1", "drawn_time_s"])


def test_the_tables_of_the_distance_say_how_many_runs_reached_80_percent():
    head, lines = figures.list_distance_links(make_distance())
    assert [line[head.index("80 % alg1, s")] for line in lines] == ["8.5 +- 0.0", "8.5 (1/2)"]
    head, lines = figures.list_distance(make_distance())
    assert head[2:] == ["alg1", "fwo", "fwo-cso", "fwo - alg1", "fwo-cso - alg1"]
    assert lines[0] == ["renormalize", "20"] + ["85.0 +- 0.0"] * 3 + ["+0.00 +- 0.00"] * 2
    picture = figures.draw_distance(make_distance())
    assert len(picture.axes) == 9
    accuracy, time = picture.axes[0], picture.axes[2]
    assert time.get_title() == "Time to 80 %, renormalize"
    assert max(max(line.get_xdata()) for line in time.lines if len(line.get_xdata())) < 25, "only 20 m is drawn"
    assert time.get_xlim() == pytest.approx(accuracy.get_xlim(), abs=0.5), "panels can be compared"
    plot.pyplot.close(picture)


def test_a_rise_of_accuracy_with_the_radius_is_told():
    source = make_distance()
    _, lines = figures.list_distance_rises(source)
    assert lines == [["pairs in all", "", "3", "", ""]]
    runs = source.tables["runs"]
    better = (runs["radius"] == 40) & (runs["algorithm"] == "fwo")
    runs.loc[better, "test_accuracy"] = [0.93, 0.95]
    _, lines = figures.list_distance_rises(source)
    assert lines[0] == ["renormalize", "fwo", "20 to 40", "+9.0", "9.0"]


def make_fading():
    """Runs of 2 rounds: interleaving gains 1, a rotation loses 2 points."""
    runs, rounds = [], []
    for fading in figures.FADES:
        for way, gain in (("own order", 0), ("interleaved", 0.01), ("rotated", -0.02)):
            for run in (1, 2, 3):
                point = {"fading": fading, "way": way, "RngRun": run, "run": f"{fading}-{way}-{run}"}
                runs.append({**point, "test_accuracy": 0.7 + 0.01 * run + gain, "lost_fraction": 0.25})
                rounds += [{**point, "round": t, "time_s": 3.0 * t, "untouched_fraction": 0.02 * t,
                            "received": t, "repair_s": 0.1 * t, "mean_burst": numpy.nan if t == 1 else 7}
                           for t in (1, 2)]
    return FakeSource(runs=pandas.DataFrame(runs), rounds=pandas.DataFrame(rounds))


def test_the_table_of_fading_has_means_over_rounds_and_gains_paired_by_run():
    head, lines = figures.list_fading(make_fading())
    rows = {(line[0], line[1]): dict(zip(head, line)) for line in lines}
    assert len(rows) == 12
    row = rows["5 Hz", "interleaved"]
    assert row["lost, %"].startswith("25.0") and row["burst"].startswith("7.0")
    assert row["heard of 4"].startswith("1.5") and row["untouched, %"].startswith("3.0")
    assert row["repairs, ms"].startswith("150")
    assert row["round, s"].startswith("3.00") and row["to own order"] == "+1.0 +- 0.0 *"
    assert rows["each frame", "rotated"]["to own order"] == "-2.0 +- 0.0 *"
    assert rows["1 Hz", "own order"]["to own order"] == rows["each frame", "rotated"]["to each frame"] == ""
    assert rows["1 Hz", "rotated"]["to each frame"] == "+0.0 +- 0.0"
    picture = figures.draw_fading(make_fading())
    assert len(picture.axes) == 6
    plot.pyplot.close(picture)


def test_the_table_of_the_rotation_has_losses_and_the_gain_with_a_clip_of_its_own():
    accuracy = {"plain": 0.8, "rotated": 0.7, "plain, C = 300": 0.81, "rotated, C = 300": 0.83}
    runs = [{"loss-policy": "zero", "radius": radius, "way": way, "RngRun": run, "lost_fraction": radius / 200,
             "test_accuracy": value + 0.01 * run}
            for radius in (60, 100) for way, value in accuracy.items() for run in (1, 2, 3)]
    head, lines = figures.list_rotation(FakeSource(runs=pandas.DataFrame(runs)))
    assert head == ["loss-policy", "radius", "lost, %", *accuracy, "gain at C = 300"]
    assert lines[1][:3] == ["zero", "100", "50.0 +- 0.0"] and lines[0][4].startswith("72.0 +- ")
    assert [line[-1] for line in lines] == ["+2.0 +- 0.0 *"] * 2


def make_insiders(runs=(1, 2)):
    """An attack costs 10 points, another one the whole model; both double the time."""
    rows = []
    for attack, accuracy in (("none", 0.8), ("flip", 0.7), ("nan-floats", numpy.nan)):
        for aggregator in ("mean", "median"):
            rows += [{"setting": "levels", "attack": attack, "aggregator": aggregator, "RngRun": run,
                      "test_accuracy": accuracy + 0.01 * run, "time_s": 1 if attack == "none" else 2,
                      "rounds": 20, "honest_updates": 0.5, "finite": int(attack != "nan-floats")}
                     for run in runs]
    return FakeSource(runs=pandas.DataFrame(rows))


def test_attacks_of_insiders_are_compared_with_the_same_runs_without_them():
    head, lines = figures.list_insider(make_insiders())
    assert head == ["setting", "attack", "mean", "median", "honest updates", "rounds", "time"]
    assert lines[0] == ["levels", "flip", "-10.0 +- 0.0 *", "-10.0 +- 0.0 *", "0.50", "20", "2.00"]
    # A model that is not finite is no missing value: all of its accuracy is lost.
    half = 0.5 * stats.t.ppf(0.975, 1)
    assert lines[1][2] == f"-81.5 +- {half:.1f} * (not finite)" and len(lines) == 2
    assert figures.list_insider(make_insiders(runs=(1,)))[1][0][2] == "-10.0", "one run has no interval"


def test_the_study_of_insiders_compares_every_attack_with_runs_without_it():
    study = Study(ROOT / "studies" / "insider.toml")
    assert study.seeds == [1, 2, 3, 4, 5]
    rows = {tuple(dict(job.values)[name] for name in ("setting", "aggregator", "attack"))
            for job in study.jobs}
    for setting, aggregator, _ in rows:
        assert (setting, aggregator, "none") in rows
    assert len({attack for _, _, attack in rows} - {"none"}) >= 14


def test_the_table_of_the_audit_joins_resolutions_and_intervals_with_one_outcome():
    columns = ["quantizer", "bits", "interval", "clip", "epsilon_claimed", "epsilon_exact", "epsilon_lower",
               "verdict", "rho_claimed", "rho_exact", "rho_lower"]
    unknown = [numpy.nan] * 3
    rows = [
        ["dp", 1, "fixed", "l1:4", "1", "1", 0.93, "not-falsified", *unknown],
        ["dp", 2, "fixed", "l1:4", "1", "infinite", 7.4, "falsified", *unknown],
        ["dp", 4, "fixed", "l1:4", "1", "infinite", 7.4, "falsified", *unknown],
        ["dp", 2, "max-abs", "l1:4", "1", "infinite", 7.4, "falsified", *unknown],
        ["dp", 2, "min-max", "l1:4", "1", "infinite", 7.3, "falsified", *unknown],
        ["laplace", 1, "fixed", "l1:4", "1.08", "1.05", 0.9, "not-falsified", *unknown],
        ["laplace", 2, "fixed", "l1:4", "1.04", "1.01", 0.9, "not-falsified", *unknown],
        ["rr", 1, "fixed", "l2:2", "none", "none", 0.9, "not-falsified", 2, 1.848, 1.265],
    ]
    head, lines = figures.list_audit(FakeSource(table=pandas.DataFrame(rows, columns=columns)))
    assert len(head) == len(lines[0])
    assert [line[:3] for line in lines] == [
        ["dp", "1", "fixed"], ["dp", "2, 4", "fixed"], ["dp", "2", "max-abs, min-max"],
        ["laplace", "1", "fixed"], ["laplace", "2", "fixed"], ["rr, l2 clip", "1", "fixed"]]
    assert lines[1][3:] == ["1.000", "infinite", "7.400", "none", "none", "none", "falsified"]
    assert lines[2][5] == "7.300 to 7.400"
    assert lines[5][3:] == ["none", "none", "0.900", "2.000", "1.848", "1.265", "not-falsified"]


def test_the_way_of_an_attack_is_a_table_of_medians_and_quartiles():
    rows = [{"attack": "dlg", "update": name, "ssim_0": 0, "ssim_20": value / 10, "ssim_40": 0.5, "ssim": 1}
            for name in figures.WAY for value in range(5)]
    head, lines = figures.list_way(FakeSource(table=pandas.DataFrame(rows)))
    assert head[1:4] == ["iteration 0", "20", "40"]
    assert lines[0] == [figures.WAY[0], "0.00 (0.00 to 0.00)", "0.20 (0.10 to 0.30)", "0.50 (0.50 to 0.50)",
                        "1.00 (1.00 to 1.00)", "5"]


def test_rows_of_a_contact_sheet_are_those_of_the_first_net(tmp_path):
    # 2 nets with 5 rows of images of 4 pixels, a line of one pixel between them; gray tells the row.
    sheet = numpy.repeat(numpy.arange(51).reshape(-1, 1) // 5 / 20, 41, axis=1)
    plot.pyplot.imsave(tmp_path / "run.png", sheet, cmap="gray", vmin=0, vmax=1)
    runs = pandas.DataFrame([{"update": "u", "attack": "dlg", "nets": 2, "run": "key"}])
    source = SimpleNamespace(table=lambda: runs, prefix=lambda key: tmp_path / "run")
    image = figures._sheet(source, "u", "dlg", (0, 4), 5, 8)
    assert image.shape[:2] == (11, 41)
    assert image[2, 2, 0] == pytest.approx(0, abs=0.01) and image[7, 2, 0] == pytest.approx(0.2, abs=0.01)


def test_empty_cells_survive_in_restructured_text():
    text = tables.to_rst(["a", "b"], [["1", ""], ["22", "x"]])
    assert text == "== ==\na  b\n== ==\n1  \\\n22 x\n== ==\n"


def test_a_mean_that_is_rounded_to_zero_has_no_minus():
    assert tables.cell(-0.004, -0.01, 0.01, signed=True) == "+0.0 +- 0.0"
    assert tables.cell(-0.06, numpy.nan, numpy.nan, signed=True) == "-0.1"
