# SPDX-License-Identifier: GPL-2.0-only
"""Tests of tools/plot: what it prints, what it draws, and what it refuses."""

import contextlib
import importlib.machinery
import importlib.util
import io
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy
import pytest
from scipy import stats

TOOLS = Path(__file__).resolve().parents[2] / "tools"
sys.path.insert(0, str(TOOLS))

from federated_tools import Mistake, plot  # noqa: E402

LOADER = importlib.machinery.SourceFileLoader("plot_command", str(TOOLS / "plot"))
COMMAND = importlib.util.module_from_spec(importlib.util.spec_from_loader("plot_command", LOADER))
LOADER.exec_module(COMMAND)

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
    """tools/plot in this process, which has imported matplotlib already."""
    out, error, code = io.StringIO(), "", 0
    with contextlib.redirect_stdout(out):
        try:
            code = COMMAND.main(list(words))
        except Mistake as mistake:
            error, code = f"plot: {mistake}", 1
    return SimpleNamespace(returncode=code, stdout=out.getvalue(), stderr=error)


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


@pytest.fixture(name="campaign")
def make_campaign(place):
    """A campaign of a program that is not ours."""
    program = place / "program"
    program.write_text(
        "#!/bin/sh\n"
        'for word; do case $word in --*=*) name=${word%%=*}; eval "${name#--}=${word#*=}" ;; esac; done\n'
        'printf "round,time_s,score\\n1,1,$radius\\n2,2,$(($radius + $RngRun + 5 * $bonus))\\n"'
        ' > "$output-rounds.csv"\n'
        'echo "result score=$(($radius + $RngRun + 5 * $bonus))"\n'
    )
    program.chmod(0o755)
    Path("study.toml").write_text(
        f'program = "{program}"\nruns = 3\n[grid]\nradius = [10, 20]\nbonus = [0, 1]\n'
    )
    command = [TOOLS / "campaign", "study.toml", "--output=out"]
    subprocess.run(command, check=True, timeout=120, stderr=subprocess.DEVNULL)
    return "--campaign=out"


@pytest.mark.parametrize(
    "words",
    [
        ["--by=bonus", "--x=radius", "--y=score", "--mark=stated=12"],
        ["--by=bonus", "--x=radius", "--y=score", "--kind=points"],
        ["--by=bonus", "--x=radius", "--y=score", "--kind=heat"],
        ["--by=radius,bonus", "--x=round", "--y=score", "--title=scores", "--size=7x4"],
        ["--by=radius", "--x=time_s", "--y=score", "--where=bonus=1", "--log"],
        ["--by=radius", "--x=round", "--y=score", "--against=bonus=0"],
    ],
)
def test_draws_the_campaign_of_any_program(campaign, words):
    answer = call(campaign, "--output=c.png", *words)
    assert answer.returncode == 0 and answer.stderr == "" and answer.stdout == ""
    assert Path("c.png").read_bytes().startswith(STARTS[".png"])


def test_differences_are_paired_by_options_and_seed(campaign):
    assert call(campaign, "--output=c.png", "--y=score").returncode == 0
    table = plot.read_table("out/rounds.csv", [])
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
        (["--campaign=out", "run 0"], "Name runs"),
        (["--campaign=out"], "is not a campaign"),
        (["--campaign=out", "--kind=heat"], "--kind=heat needs one column"),
    ],
)
def test_a_mistake_is_one_sentence(words, part):
    Path("bad-rounds.csv").write_text("round,time_s\n1,2\n")
    Path("empty-rounds.csv").write_text(ROUNDS.splitlines()[0] + "\n")
    Path("binary-rounds.csv").write_bytes(bytes(range(256)))
    answer = call(*words)
    assert answer.returncode == 1 and answer.stdout == ""
    assert len(answer.stderr.splitlines()) == 1 and answer.stderr.startswith("plot: ")
    assert part in answer.stderr
    assert not Path("plot.png").exists()


@pytest.mark.parametrize(
    "words, part",
    [
        (["--y=none"], "has no column none"),
        (["--y=score", "--where=none=1"], "no column none"),
        (["--y=score", "--where=bonus=7"], "no run has this value"),
        (["--y=score", "--against=bonus=7"], "no run has this value"),
        (["--y=score", "--mark=stated"], "does not end with a number"),
    ],
)
def test_a_mistake_about_a_campaign_is_one_sentence(campaign, words, part):
    answer = call(campaign, *words)
    assert answer.returncode == 1
    assert len(answer.stderr.splitlines()) == 1 and part in answer.stderr
