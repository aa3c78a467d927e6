# SPDX-License-Identifier: GPL-2.0-only
"""Tests of tools/campaign, with a program that keeps the contract of the examples and does nothing
else. Run by ctest; by hand: /usr/bin/python3 -m pytest test/tools."""

import csv
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy
import pandas
import pytest
from scipy import stats

TOOLS = Path(__file__).resolve().parents[2] / "tools"
sys.path.insert(0, str(TOOLS))

from federated_tools.statistics import mean_interval, paired_differences, summarize  # noqa: E402

PROGRAM = """#!/bin/sh
# Accuracy is radius / 100 + RngRun / 1000.
for word; do case $word in
    --radius=*) radius=${word#*=} ;;
    --RngRun=*) run=${word#*=} ;;
    --output=*) output=${word#*=} ;;
    --sleep=*) sleep "${word#*=}" ;;
    --fail=true) echo "The radius $radius is too large." >&2; exit 3 ;;
esac; done
echo "round,time_s,test_accuracy" > "$output-rounds.csv"
echo "1,0.5,0.1" >> "$output-rounds.csv"
echo "2,1.0,0.2" >> "$output-rounds.csv"
echo x >> "$COUNTER"
echo "result version=1 rounds=2 test_accuracy=$(awk "BEGIN { print $radius / 100 + $run / 1000 }")"
"""


@pytest.fixture(name="place")
def make_place(tmp_path, monkeypatch):
    """A folder with the program; the program counts its runs there."""
    program = tmp_path / "program"
    program.write_text(PROGRAM)
    program.chmod(0o755)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COUNTER", str(tmp_path / "counter"))
    return tmp_path


def write_study(place, text):
    """A study file of the program."""
    path = place / "study.toml"
    path.write_text(f'program = "{place}/program"\n{text}')
    return path


GRID = "runs = 2\n[options]\nrounds = 2\n[grid]\nradius = [20, 40]\nalgorithm = ['a', 'b']\n"


def call(*words):
    """tools/campaign, finished."""
    return subprocess.run(
        [TOOLS / "campaign", *words], capture_output=True, text=True, timeout=60, check=False
    )


def read(path):
    """The rows of a table."""
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def count_runs(place):
    """How often the program has come to its end."""
    counter = place / "counter"
    return len(counter.read_text().splitlines()) if counter.exists() else 0


def test_lists_the_commands_and_writes_nothing(place):
    answer = call(write_study(place, GRID), "--engine=list", "--output=out")
    assert answer.returncode == 0
    lines = answer.stdout.splitlines()
    assert len(lines) == len(set(lines)) == 8
    assert f"{place}/program --rounds=2 --radius=20 --algorithm=a --RngRun=1" in lines[0]
    assert not (place / "out").exists()


def test_makes_every_run_once_and_collects_every_parameter(place):
    study = write_study(place, GRID)
    assert call(study, "--output=out").returncode == 0
    assert call(study, "--output=out").returncode == 0
    assert count_runs(place) == 8
    assert call("collect", "out").returncode == 0
    rows = read("out/runs.csv")
    assert len(rows) == 8
    assert len({(row["radius"], row["algorithm"], row["RngRun"]) for row in rows}) == 8
    for row in rows:
        assert row["rounds"] == "2" and row["version"] == "1"
        wanted = int(row["radius"]) / 100 + int(row["RngRun"]) / 1000
        assert float(row["test_accuracy"]) == pytest.approx(wanted)
    rounds = read("out/rounds.csv")
    assert len(rounds) == 16
    assert {row["round"] for row in rounds} == {"1", "2"}
    assert all(row["radius"] and row["algorithm"] and row["RngRun"] for row in rounds)


def test_a_larger_grid_keeps_the_runs_that_are_complete(place):
    assert call(write_study(place, GRID), "--output=out").returncode == 0
    larger = GRID.replace("[20, 40]", "[20, 40, 60]").replace("runs = 2", "runs = 3")
    assert call(write_study(place, larger), "--output=out").returncode == 0
    assert count_runs(place) == 18
    assert call("collect", "out").returncode == 0
    assert len(read("out/runs.csv")) == 18


def test_another_build_of_the_program_is_another_run(place):
    study = write_study(place, "runs = 2\n[options]\nradius = 1\n")
    assert call(study, "--output=out").returncode == 0
    with open(place / "program", "a", encoding="utf-8") as program:
        program.write("# another build\n")
    answer = call(study, "--output=out")
    assert "2 runs were made by another build" in answer.stderr
    assert count_runs(place) == 4
    assert call("collect", "out").returncode == 0
    assert len(read("out/runs.csv")) == 2


def test_a_killed_driver_loses_nothing_and_repeats_nothing_that_is_complete(place):
    study = write_study(place, GRID.replace("rounds = 2", "rounds = 2\nsleep = 0.2"))
    driver = subprocess.Popen(
        [TOOLS / "campaign", study, "--output=out", "--jobs=2"], stderr=subprocess.DEVNULL
    )
    limit = time.monotonic() + 30
    while count_runs(place) < 3 and time.monotonic() < limit:
        time.sleep(0.05)
    driver.send_signal(signal.SIGKILL)
    driver.wait()
    done = {path.name: path.stat().st_mtime_ns for path in complete(place)}
    assert 2 <= len(done) < 8
    # Its jobs may be at work still; both do no harm to each other.
    assert call(study, "--output=out", "--jobs=2").returncode == 0
    for path in complete(place):
        assert done.get(path.name, path.stat().st_mtime_ns) == path.stat().st_mtime_ns
    assert call("collect", "out").returncode == 0
    rows = read("out/runs.csv")
    assert len(rows) == 8
    assert len({(row["radius"], row["algorithm"], row["RngRun"]) for row in rows}) == 8


def complete(place):
    """The folders of complete runs."""
    return [path for path in (place / "out" / "runs").iterdir() if "." not in path.name]


def test_what_a_killed_run_left_is_removed_and_the_run_is_made(place):
    study = write_study(place, "[options]\nradius = 1\n")
    half = place / "out" / "runs" / f"{'0' * 12}.{os.uname().nodename}.999999999"
    other = place / "out" / "runs" / f"{'0' * 12}.another-host.999999999"
    for folder in (half, other):
        folder.mkdir(parents=True)
    assert call(study, "--output=out").returncode == 0
    assert not half.exists() and other.exists()
    assert len(complete(place)) == 1


def test_a_failed_run_is_reported_with_its_log_and_repeated_alone(place):
    text = "runs = 1\n[grid]\nradius = [1, {label = 'bad', radius = 2, fail = true}]\n"
    answer = call(write_study(place, text), "--output=out")
    assert answer.returncode == 1
    assert "failed with exit code 3: The radius 2 is too large." in answer.stderr
    log = [line.split("log: ")[1] for line in answer.stderr.splitlines() if "log: " in line]
    assert Path(log[0]).read_text() == "The radius 2 is too large.\n"
    assert call("collect", "out").returncode == 0
    assert [row["radius"] for row in read("out/runs.csv")] == ["1"]
    assert call(write_study(place, text), "--output=out").returncode == 1
    assert count_runs(place) == 1, "only the failed run was tried again"


def test_a_program_without_a_result_line_has_failed(place):
    (place / "program").write_text("#!/bin/sh\necho done\n")
    answer = call(write_study(place, ""), "--output=out")
    assert answer.returncode == 1
    assert "exit code 0: it printed no result line" in answer.stderr


def test_a_table_in_the_grid_sets_several_options_under_one_label(place):
    text = "[grid]\nmechanism = [{label = 'fine', radius = 3, bits = 4}, {label = 'raw', radius = 5}]"
    assert call(write_study(place, text), "--output=out").returncode == 0
    assert call("collect", "out").returncode == 0
    rows = read("out/runs.csv")
    found = [(row["mechanism"], row["radius"], row["bits"]) for row in rows]
    assert found == [("fine", "3", "4"), ("raw", "5", "")]


def test_several_grids_are_united_without_doubles(place):
    text = "[[grid]]\nradius = [1, 2]\n[[grid]]\nradius = [2, 3]\n"
    answer = call(write_study(place, text), "--output=out", "--engine=list")
    assert len(answer.stdout.splitlines()) == 3


@pytest.mark.parametrize(
    "text, key",
    [
        ("run = 3", "run"),
        ("runs = 0", "runs"),
        ("runs = '3'", "runs"),
        ("runs = true", "runs"),
        ("runs = 2\nseeds = [1]", "seeds"),
        ("seeds = [1, 1]", "seeds"),
        ("seeds = [0]", "seeds"),
        ("options = 3", "options"),
        ("[options]\nRngRun = 3", "options.RngRun"),
        ("[options]\noutput = 'x'", "options.output"),
        ("[options]\nradius = [1]", "options.radius"),
        ("[grid]\nradius = 3", "grid.radius"),
        ("[grid]\nradius = []", "grid.radius"),
        ("[grid]\nradius = [1, 1]", "grid.radius"),
        ("[grid]\nradius = [[1]]", "grid.radius"),
        ("[grid]\nradius = [{bits = 3}]", "grid.radius"),
        ("collect = [3]", "collect"),
        ("output = 1", "output"),
    ],
)
def test_a_mistake_in_a_study_is_one_sentence_with_file_and_key(place, text, key):
    answer = call(write_study(place, text), "--output=out")
    assert answer.returncode == 1 and answer.stdout == ""
    assert len(answer.stderr.splitlines()) == 1
    assert f"study.toml: the key '{key}' " in answer.stderr
    assert not (place / "out").exists()


@pytest.mark.parametrize(
    "words, part",
    [
        (["none.toml", "--output=out"], "Cannot read the study none.toml"),
        (["bad.toml", "--output=out"], "bad.toml is not TOML"),
        (["study.toml"], "required: --output"),
        (["study.toml", "--output=out", "--engine=grid"], "invalid choice: 'grid'"),
        (["study.toml", "--output=out", "--jobs=2x"], "invalid int value"),
        (["study.toml", "--output=out", "--jobs=-1"], "--jobs must be"),
        (["study.toml", "--output=/dev/null/x"], "Cannot write into"),
        (["collect", "none"], "is not a campaign"),
    ],
)
def test_a_wrong_command_line_is_one_sentence(place, words, part):
    write_study(place, "")
    (place / "bad.toml").write_text("runs = = 2")
    answer = call(*words)
    assert answer.returncode == 1 and answer.stdout == ""
    assert len(answer.stderr.splitlines()) == 1
    assert part in answer.stderr


def test_a_missing_program_is_one_sentence(place):
    shutil.move(place / "program", place / "elsewhere")
    answer = call(write_study(place, ""), "--output=out")
    assert answer.returncode == 1
    assert "does not exist" in answer.stderr and len(answer.stderr.splitlines()) == 1


def test_intervals_are_those_of_student():
    random = numpy.random.default_rng(1)
    for size in (2, 3, 5, 22):
        values = random.normal(size=size)
        mean, low, high = mean_interval(values)
        half = stats.t.ppf(0.975, size - 1) * values.std(ddof=1) / numpy.sqrt(size)
        assert (mean, low, high) == pytest.approx((values.mean(), mean - half, mean + half))
    assert mean_interval([3.0, 3.0, 3.0]) == (3, 3, 3)
    assert mean_interval([3.0, numpy.nan])[0] == 3
    assert numpy.isnan(mean_interval([3.0])[1:]).all()
    assert numpy.isnan(mean_interval([])).all()


def test_differences_are_paired_by_the_seed():
    table = pandas.DataFrame(
        {
            "RngRun": [1, 2, 3, 3, 2, 1],
            "algorithm": ["a", "a", "a", "b", "b", "b"],
            "accuracy": [0.1, 0.5, 0.9, 0.95, 0.53, 0.14],
        }
    )
    columns, rows = paired_differences(table, [], "accuracy", "algorithm", "a")
    assert columns == ["algorithm", "accuracy", "low", "high", "n"]
    wanted = stats.ttest_1samp([0.04, 0.03, 0.05], 0).confidence_interval(0.95)
    assert rows[0][0] == "b - a" and rows[0][4] == 3
    assert rows[0][1:4] == pytest.approx([0.04, wanted.low, wanted.high])
    _, rows = summarize(table, ["algorithm"], "accuracy")
    assert [row[0] for row in rows] == ["a", "b"] and rows[0][1] == pytest.approx(0.5)


def test_the_summary_of_a_campaign_names_groups_and_their_size(place):
    assert call(write_study(place, GRID), "--output=out").returncode == 0
    answer = call("summary", "out", "--by=radius")
    assert answer.returncode == 0 and answer.stderr == ""
    lines = [line.split() for line in answer.stdout.splitlines()]
    assert lines[0] == ["radius", "test_accuracy", "low", "high", "n"]
    assert [line[0] for line in lines[1:]] == ["20", "40"]
    assert [line[4] for line in lines[1:]] == ["4", "4"]
    assert call("summary", "out", "--by=none").returncode == 1
