# SPDX-License-Identifier: GPL-2.0-only
"""Tests of tools/plot: what it prints, what it draws, and what it refuses."""

import subprocess
from pathlib import Path

import numpy
import pytest
from conftest import TOOLS
from conftest import call as call_tool
from federated_tools import plot
from scipy import stats

ROUNDS = """round,time_s,train_loss,test_accuracy,lost_fraction
1,4.5,2,0.1,0.5
2,8.5,1,{accuracy},0.5
3,9.5,,,
"""
LINKS = """round,device,group,bits,snr_db,sigma,sent_fragments,received_fragments,weight,distance_m
1,0,0,2,10,,10,5,0.5,7
1,1,1,4,,,10,0,,9
2,0,0,2,20,,10,10,0.7,7
2,1,1,4,nan,,,0,,9
"""
STARTS = {".png": b"\x89PNG", ".svg": b"<?xml", ".pdf": b"%PDF"}


@pytest.fixture(name="place", autouse=True)
def make_place(tmp_path, monkeypatch):
    """A folder with three runs, one of them with links."""
    monkeypatch.chdir(tmp_path)
    for number, accuracy in enumerate((0.8, 0.7, 0.9)):
        Path(f"run {number}-rounds.csv").write_text(ROUNDS.format(accuracy=accuracy))
    Path("run 0-links.csv").write_text(LINKS)
    return tmp_path


def call(*words):
    """tools/plot in this process."""
    return call_tool("plot", *words)


def test_the_command_itself_draws_and_refuses():
    command = [TOOLS / "plot", "--output=p.png"]
    assert subprocess.run([*command, "run 0"], capture_output=True, check=True).stderr == b""
    answer = subprocess.run([*command, "nothing"], capture_output=True, check=False)
    assert answer.returncode == 1 and answer.stdout == b""
    assert answer.stderr == b"plot: There is no nothing-rounds.csv.\n"


@pytest.mark.parametrize("ending", STARTS)
def test_prints_how_runs_ended_and_draws_them(ending):
    answer = call(f"--output=p{ending}", "--title=it's", "it's=run 0", "run 1")
    assert answer.returncode == 0 and answer.stderr == ""
    lines = [line.split() for line in answer.stdout.splitlines()]
    assert lines[1] == ["it's", "3", "80.0", "1", "9.5", "50.0"]
    assert lines[2] == ["run", "1", "3", "70.0", "1", "9.5", "50.0"]
    assert Path(f"p{ending}").read_bytes().startswith(STARTS[ending])
    assert not list(Path(".").glob(f"p.*{ending}"))


def test_the_same_picture_has_the_same_bytes():
    for name in ("a.svg", "b.svg"):
        assert call(f"--output={name}", "run 0").returncode == 0
    assert Path("a.svg").read_bytes() == Path("b.svg").read_bytes()


def test_bands_are_student_intervals_over_the_runs_of_a_label():
    runs = plot.Runs("all", ["run 0", "run 1", "run 2"])
    table = plot.bands(runs.rounds, "round", "test_accuracy")
    assert list(table["x"]) == [1, 2]
    half = stats.t.ppf(0.975, 2) * 10 / numpy.sqrt(3)
    assert list(table.iloc[1])[1:] == pytest.approx([80, 80 - half, 80 + half])
    assert list(plot.bands(runs.rounds, "time_s", "test_accuracy")["x"]) == [4.5, 8.5]


def test_snr_is_averaged_as_a_ratio_and_loss_over_fragments():
    devices = plot.Runs("one", ["run 0"]).devices.set_index("device")
    assert devices.loc[0, "snr_db"] == pytest.approx(17.403627)
    assert numpy.isnan(devices.loc[1, "snr_db"])
    assert list(devices["lost"]) == pytest.approx([25, 100])
    assert devices.loc[0, "weight"] == pytest.approx(0.6)


@pytest.fixture(name="campaign", scope="module")
def make_campaign(tmp_path_factory):
    """A campaign of a program that is not ours."""
    place = tmp_path_factory.mktemp("campaign")
    program = place / "program"
    program.write_text(
        "#!/bin/sh\n"
        'for word; do case $word in --*=*) name=${word%%=*}; eval "${name#--}=${word#*=}" ;; esac; done\n'
        'printf "round,time_s,score\\n1,1,$radius\\n2,2,$(($radius + $RngRun + 5 * $bonus))\\n"'
        ' > "$output-rounds.csv"\n'
        'echo "result score=$(($radius + $RngRun + 5 * $bonus))"\n'
    )
    program.chmod(0o755)
    study = place / "study.toml"
    study.write_text(f'program = "{program}"\nruns = 3\n[grid]\nradius = [10, 20]\nbonus = [0, 1]\n')
    assert call_tool("campaign", study, f"--output={place}/out").returncode == 0
    return f"--campaign={place}/out"


@pytest.mark.parametrize(
    "words",
    [
        ["--by=bonus", "--x=radius", "--y=score", "--mark=stated=12"],
        ["--by=bonus", "--x=radius", "--y=score", "--kind=points"],
        ["--by=bonus", "--x=radius", "--y=score", "--kind=heat"],
        ["--by=radius,bonus", "--x=round", "--y=score", "--title=scores", "--size=7x4"],
        ["--by=radius", "--x=time_s", "--y=score", "--where=bonus=1", "--log=x"],
        ["--by=radius", "--x=round", "--y=score", "--against=bonus=0"],
        ["--by=bonus", "--x=radius", "--y=score", "--kind=scatter", "--table=rounds", "--log=xy"],
    ],
)
def test_draws_the_campaign_of_any_program(campaign, words):
    answer = call(campaign, "--output=c.png", *words)
    assert answer.returncode == 0 and answer.stderr == "" and answer.stdout == ""
    assert Path("c.png").read_bytes().startswith(STARTS[".png"])


def test_differences_are_paired_by_options_and_seed(campaign):
    assert call(campaign, "--output=c.png", "--y=score").returncode == 0
    table = plot.read_table(f"{campaign.partition('=')[2]}/rounds.csv", [])
    table.attrs["options"] = ["radius", "bonus", "RngRun"]
    differences = plot._subtract(table, "round", "score", "bonus=0")
    assert list(differences[differences["round"] == 2]["score"]) == [5] * 6
    assert list(differences[differences["round"] == 1]["score"]) == [0] * 6


@pytest.mark.parametrize(
    "words, part",
    [
        (["nothing"], "There is no nothing-rounds.csv"),
        ([], "Name runs"),
        (["--x"], "expected one argument"),
        (["--width=3", "run 0"], "Unrecognized arguments: --width=3"),
        (["--output=p.jpg", "run 0"], "does not end with .png, .svg, .pdf"),
        (["--output=no/p.png", "run 0"], "folder that does not exist"),
        (["--size=3", "run 0"], "--size is two numbers"),
        (["--size=3xnan", "run 0"], "--size is two numbers"),
        (["bad"], "bad-rounds.csv has no column train_loss"),
        (["empty"], "has no round with a test accuracy"),
        (["binary"], "binary-rounds.csv is not a table"),
        (["row"], "row-rounds.csv is not a table"),
        (["nothing-inside"], "nothing-inside-rounds.csv is empty"),
        (["text"], "text-rounds.csv has a column test_accuracy that is not of numbers"),
        (["no round"], "no round-rounds.csv has a row without a round"),
        (["bad links"], "bad links-links.csv has a column snr_db that is not of numbers"),
        (["folder"], "Cannot read folder-rounds.csv: Is a directory"),
        (["run 0", "--x=radius"], "--x is an option for campaigns"),
        (["run 0", "--mark=a=3"], "--mark is an option for campaigns"),
        (["run 0", "--title=" + "x" * 3000], "Cannot draw plot.png"),
        (["run 0", "--title=$x^$"], "Cannot draw plot.png"),
        (["--campaign=out", "run 0"], "Name runs"),
        (["--campaign=out"], "is not a campaign"),
        (["--campaign=out", "--kind=heat"], "--kind=heat needs one column"),
    ],
)
def test_a_mistake_is_one_sentence(words, part):
    Path("bad-rounds.csv").write_text("round,time_s\n1,2\n")
    Path("empty-rounds.csv").write_text(ROUNDS.splitlines()[0] + "\n")
    Path("binary-rounds.csv").write_bytes(bytes(range(256)))
    Path("row-rounds.csv").write_text(ROUNDS.splitlines()[0] + "\n1,1,2,0.1,0,7,8\n2,1,2,0.1,0\n")
    Path("nothing-inside-rounds.csv").touch()
    Path("text-rounds.csv").write_text(ROUNDS.format(accuracy="high"))
    Path("no round-rounds.csv").write_text(ROUNDS.format(accuracy=0.8) + ",1,2,0.1,0\n")
    Path("bad links-rounds.csv").write_text(ROUNDS.format(accuracy=0.8))
    Path("bad links-links.csv").write_text(LINKS.replace(",20,,", ",high,,"))
    Path("folder-rounds.csv").mkdir()
    answer = call(*words)
    assert answer.returncode == 1
    assert answer.stdout == "" or "Cannot draw" in part  # the table of the runs is printed before
    assert len(answer.stderr.splitlines()) == 1 and answer.stderr.startswith("plot: ")
    assert part in answer.stderr
    assert not Path("plot.png").exists()


@pytest.mark.parametrize(
    "words, part",
    [
        (["--y=none"], "has no column none"),
        (["--y=score", "--table=links"], "links.csv"),
        (["--y=score", "--where=none=1"], "no column none"),
        (["--y=score", "--where=bonus=7"], "no run has this value"),
        (["--y=score", "--against=bonus=7"], "no run has this value"),
        (["--y=score", "--mark=stated"], "does not end with a number"),
        (["--y=score", "--mark=stated=nan"], "does not end with a number"),
        (["--y=host", "--table=runs", "--x=radius"], "has a column host that is not of numbers"),
        (["--y=score", "--x=radius", "--by=radius", "--kind=heat"], "and another one in --x"),
    ],
)
def test_a_mistake_about_a_campaign_is_one_sentence(campaign, words, part):
    answer = call(campaign, *words)
    assert answer.returncode == 1
    assert len(answer.stderr.splitlines()) == 1 and part in answer.stderr


def test_links_without_rows_are_links_of_which_nothing_is_known():
    Path("run 0-links.csv").write_text(LINKS.splitlines()[0] + "\n")
    answer = call("--output=p.png", "run 0")
    assert answer.returncode == 0 and answer.stderr == ""


def test_a_legend_never_covers_a_panel(campaign):
    table = plot.read_table(f"{campaign.partition('=')[2]}/runs.csv", [])
    names = {label: f"a rather long name of a series, number {label}" for label in range(9)}
    table = table.merge(plot.pandas.DataFrame({"number": range(9)}), how="cross")
    table["name"] = table["number"].map(names)
    panels = [plot.Panel(table, "radius", "score", ["name"], title="scores") for _ in range(3)]
    with plot.pyplot.rc_context(plot.STYLE):
        figure = plot.draw_panels(panels, "A title", 2)
        figure.canvas.draw()
        legend = figure.legends[0].get_window_extent()
        assert legend.x0 >= 0 and legend.x1 <= figure.bbox.width
        assert legend.y1 < figure._suptitle.get_window_extent().y0 + 1
        for axes in figure.axes[:3]:
            assert axes.get_tightbbox().y1 < legend.y0
        plot.pyplot.close(figure)


@pytest.mark.parametrize("kind", ["lines", "points", "scatter"])
def test_names_stand_side_by_side_on_the_axis(campaign, kind):
    table = plot.read_table(f"{campaign.partition('=')[2]}/runs.csv", [])
    table["name"] = table["bonus"].map({0: "without", 1: "with"})
    figure = plot.draw_panels([plot.Panel(table, "name", "score", ["radius"], kind)])
    assert [text.get_text() for text in figure.axes[0].get_xticklabels()] == ["without", "with"]
    plot.pyplot.close(figure)


def test_colors_follow_the_label_through_all_panels(campaign):
    table = plot.read_table(f"{campaign.partition('=')[2]}/runs.csv", [])
    panels = [plot.Panel(table, "radius", "score", ["bonus"]),
              plot.Panel(table[table["bonus"] == 1], "radius", "score", ["bonus"])]
    figure = plot.draw_panels(panels, columns=2)
    assert figure.axes[1].lines[0].get_color() == figure.axes[0].lines[1].get_color() == plot.COLORS[1]
    plot.pyplot.close(figure)


def test_a_panel_says_what_it_does_not_show(campaign):
    table = plot.read_table(f"{campaign.partition('=')[2]}/runs.csv", [])
    unknown = table.assign(score=numpy.nan)
    panels = [plot.Panel(table, "radius", "score", ["bonus"], limits=(0, 20)),
              plot.Panel(unknown, "radius", "score", ["bonus"], remark="never reached")]
    figure = plot.draw_panels(panels, columns=2)
    texts = [[text.get_text() for text in axes.texts] for axes in figure.axes]
    assert texts[0] == ["0 ends at 2.2e+01\n1 ends at 2.7e+01"]
    assert "never reached" in texts[1] and not figure.axes[1].get_xticks().size
    plot.pyplot.close(figure)
