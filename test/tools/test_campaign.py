# SPDX-License-Identifier: GPL-2.0-only
"""Tests of tools/campaign, with a program that keeps the contract of the examples and does nothing
else. Run by ctest; by hand: /usr/bin/python3 -m pytest test/tools."""

import contextlib
import csv
import os
import shlex
import shutil
import signal
import subprocess
import time
from pathlib import Path

import numpy
import pandas
import pytest
from scipy import stats

from conftest import TOOLS, call, count_held, count_runs, write_study
from federated_tools import Mistake
from federated_tools.statistics import mean_interval, paired_differences, summarize

GRID = "runs = 2\n[options]\nrounds = 2\n[grid]\nradius = [20, 40]\nalgorithm = ['a', 'b']\n"


def read(path):
    """The rows of a table."""
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def wait_for(condition, seconds=60):
    """Wait until something is so."""
    limit = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < limit
        time.sleep(0.05)


def test_lists_the_commands_and_writes_nothing(place):
    answer = call("campaign", write_study(place, GRID), "--engine=list", "--output=out")
    assert answer.returncode == 0
    lines = answer.stdout.splitlines()
    assert len(lines) == len(set(lines)) == 8
    assert f"{place}/program --rounds=2 --radius=20 --algorithm=a --RngRun=1" in lines[0]
    assert not (place / "out").exists()


def test_makes_every_run_once_and_collects_every_parameter(place):
    study = write_study(place, GRID)
    assert call("campaign", study, "--output=out").returncode == 0
    assert call("campaign", study, "--output=out").returncode == 0
    assert count_runs(place) == 8
    assert call("campaign", "collect", "out").returncode == 0
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
    assert call("campaign", write_study(place, GRID), "--output=out").returncode == 0
    larger = GRID.replace("[20, 40]", "[20, 40, 60]").replace("runs = 2", "runs = 3")
    assert call("campaign", write_study(place, larger), "--output=out").returncode == 0
    assert count_runs(place) == 18
    assert call("campaign", "collect", "out").returncode == 0
    assert len(read("out/runs.csv")) == 18


def test_another_build_of_the_program_is_another_run(place):
    study = write_study(place, "runs = 2\n[options]\nradius = 1\n")
    assert call("campaign", study, "--output=out").returncode == 0
    with open(place / "program", "a", encoding="utf-8") as program:
        program.write("# another build\n")
    answer = call("campaign", study, "--output=out")
    assert "2 runs were made by another build" in answer.stderr
    assert count_runs(place) == 4
    assert call("campaign", "collect", "out").returncode == 0
    assert len(read("out/runs.csv")) == 2


def test_a_changed_command_is_another_run_and_says_so(place):
    assert call("campaign", write_study(place, GRID), "--output=out").returncode == 0
    answer = call("campaign", write_study(place, GRID.replace("rounds = 2", "rounds = 3")), "--output=out")
    assert "8 complete runs have other commands than this study" in answer.stderr
    assert count_runs(place) == 16
    assert call("campaign", "collect", "out").returncode == 0
    assert {row["rounds"] for row in read("out/runs.csv")} == {"3"}
    answer = call("campaign", write_study(place, GRID), "--output=out")
    assert "8 complete, 0 to make" in answer.stderr


HELD = "runs = 2\n[grid]\nradius = [20, {label = 'late', radius = 40, hold = true}]\nalgorithm = ['a', 'b']\n"


def start_and_hold(place):
    """A driver of which 4 runs of 8 are complete, and 2 wait until the file hold is removed."""
    study = write_study(place, HELD)
    (place / "hold").touch()
    driver = subprocess.Popen(
        [TOOLS / "campaign", study, "--output=out", "--jobs=2"], stderr=subprocess.PIPE, text=True
    )
    wait_for(lambda: count_held(place) == 2 and len(complete(place)) == 4)
    return study, driver


def test_a_killed_driver_loses_nothing_and_repeats_nothing_that_is_complete(place):
    study, driver = start_and_hold(place)
    driver.send_signal(signal.SIGKILL)
    driver.communicate()
    done = {path.name: path.stat().st_mtime_ns for path in complete(place)}
    assert len(done) == 4
    (place / "hold").unlink()
    # Its jobs may be at work still; both do no harm to each other.
    assert call("campaign", study, "--output=out", "--jobs=2").returncode == 0
    for path in complete(place):
        assert done.get(path.name, path.stat().st_mtime_ns) == path.stat().st_mtime_ns
    assert call("campaign", "collect", "out").returncode == 0
    rows = read("out/runs.csv")
    assert len(rows) == 8
    assert len({(row["radius"], row["algorithm"], row["RngRun"]) for row in rows}) == 8
    wait_for(lambda: not processes(place))


def complete(place):
    """The folders of complete runs."""
    runs = place / "out" / "runs"
    return [path for path in runs.iterdir() if "." not in path.name] if runs.exists() else []


def processes(place):
    """The commands at work that name something in a folder."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):  # it has ended meanwhile
            words = path.read_bytes().split(b"\0")
            found += [words] if any(word.startswith(bytes(place)) for word in words) else []
    return found


def test_what_a_killed_run_left_is_removed_and_the_run_is_made(place):
    study = write_study(place, "[options]\nradius = 1\n")
    half = place / "out" / "runs" / f"{'0' * 12}.{os.uname().nodename}.999999999"
    other = place / "out" / "runs" / f"{'0' * 12}.another-host.999999999"
    for folder in (half, other):
        folder.mkdir(parents=True)
    assert call("campaign", study, "--output=out").returncode == 0
    assert not half.exists() and other.exists()
    assert len(complete(place)) == 1


def test_a_failed_run_is_reported_with_its_log_and_repeated_alone(place):
    text = "runs = 1\n[grid]\nradius = [1, {label = 'bad', radius = 2, fail = true}]\n"
    study = write_study(place, text)
    answer = call("campaign", study, "--output=out")
    assert answer.returncode == 1
    assert "failed with exit code 3: The radius 2 is too large." in answer.stderr
    lines = dict(line.strip().split(": ", 1) for line in answer.stderr.splitlines() if ": " in line)
    assert Path(lines["log"]).read_text() == "The radius 2 is too large.\n"
    assert call("campaign", "collect", "out").returncode == 0
    assert [row["radius"] for row in read("out/runs.csv")] == ["1"]
    assert call("campaign", study, "--output=out").returncode == 1
    assert count_runs(place) == 1, "only the failed run was tried again"
    (place / "mended").touch()
    words = shlex.split(lines["again"])
    assert call("campaign", *words[1:]).returncode == 0
    assert count_runs(place) == 2
    assert "2 complete, 0 to make" in call("campaign", study, "--output=out").stderr
    assert call("campaign", "run", "out").returncode == 1


def test_many_failures_are_told_in_a_few_lines(place):
    text = "runs = 5\n[options]\nradius = 1\nfail = true\n"
    answer = call("campaign", write_study(place, text), "--output=out")
    assert answer.stderr.count("failed with exit code 3") == 3
    assert f"and 2 more: {place}/out/runs/*.failed/log" in answer.stderr


def test_a_program_that_was_built_anew_meanwhile_is_not_run_under_the_old_key(place):
    study = write_study(place, "runs = 1\n[options]\nradius = 1\n")
    assert call("campaign", study, "--output=out").returncode == 0
    (key,) = [path.name for path in complete(place)]
    shutil.rmtree(place / "out" / "runs" / key)
    with open(place / "program", "a", encoding="utf-8") as program:
        program.write("# another build\n")
    assert call("campaign", "run", "out", key).returncode == 1
    log = place / "out" / "runs" / f"{key}.failed" / "log"
    assert "has changed since" in log.read_text()
    assert count_runs(place) == 1


def test_control_c_stops_the_jobs_and_leaves_a_campaign_that_continues(place):
    study, driver = start_and_hold(place)
    assert processes(place)
    driver.send_signal(signal.SIGINT)
    _, error = driver.communicate()
    assert driver.returncode == 1
    assert error.endswith("campaign: Interrupted; the same command continues with the missing runs.\n")
    assert "4/8 done, " in error and "running," in error and "0 failed" in error
    assert not processes(place), "nothing runs any more when the driver has ended"
    (place / "hold").unlink()
    assert count_runs(place) == 4
    assert call("campaign", study, "--output=out").returncode == 0
    assert count_runs(place) == len(complete(place)) == 8, "what was complete is not repeated"


def test_hosts_come_from_a_file_and_are_reached_by_ssh(place, monkeypatch):
    # A program that stands for ssh: it notes the host and runs the command here, with the variable
    # that sshd sets. Here it is unset, as in a job of cron.
    monkeypatch.delenv("SHELL", raising=False)
    (place / "ssh").write_text(
        '#!/bin/sh\nwhile [ "${1#-}" != "$1" ]; do shift; done\n'
        f'echo "$1" >> {place}/hosts-used\nshift\n[ "$1" != -- ] || shift\nSHELL=/bin/sh exec sh -c "$*"\n')
    (place / "ssh").chmod(0o755)
    monkeypatch.setenv("PARALLEL_SSH", str(place / "ssh"))
    (place / "hosts").write_text("2/first.example\n2/second.example\n")
    answer = call("campaign", write_study(place, GRID), "--output=out", "--sshloginfile=hosts", "--jobs=2")
    assert answer.returncode == 0, answer.stderr
    assert count_runs(place) == 8
    assert {"first.example", "second.example"} <= set((place / "hosts-used").read_text().split())


def test_what_gnu_parallel_says_is_told_when_runs_are_missing(place, monkeypatch):
    (place / "ssh").write_text("#!/bin/sh\necho no route to host >&2\nexit 255\n")
    (place / "ssh").chmod(0o755)
    monkeypatch.setenv("PARALLEL_SSH", str(place / "ssh"))
    (place / "hosts").write_text("1/first.example\n")
    answer = call("campaign", write_study(place, ""), "--output=out", "--sshloginfile=hosts", "--jobs=1")
    assert answer.returncode == 1
    assert "1 runs were not made; the same command makes them. GNU parallel says: " in answer.stderr


def test_quick_replaces_seeds_options_and_lists_of_the_grid(place):
    text = GRID + "[quick]\nseeds = [7]\noptions.rounds = 1\ngrid.radius = [30]\n"
    study = write_study(place, text)
    assert len(call("campaign", study, "--engine=list", "--output=o").stdout.splitlines()) == 8
    lines = call("campaign", study, "--quick", "--engine=list", "--output=o").stdout.splitlines()
    words = [line.split()[1:-1] for line in lines]
    assert words == [["--rounds=1", "--radius=30", f"--algorithm={name}", "--RngRun=7"] for name in "ab"]
    text = "[grid]\ntask = [{label = 'x', rounds = 9, bits = 2}]\n[quick]\noptions.rounds = 1\n"
    answer = call("campaign", write_study(place, text), "--quick", "--engine=list", "--output=o")
    assert answer.stdout.split()[1:4] == ["--rounds=1", "--bits=2", "--RngRun=1"]


def test_a_program_without_a_result_line_has_failed(place):
    (place / "program").write_text("#!/bin/sh\necho done\n")
    answer = call("campaign", write_study(place, ""), "--output=out")
    assert answer.returncode == 1
    assert "exit code 0: it printed no result line" in answer.stderr


def test_a_table_in_the_grid_sets_several_options_under_one_label(place):
    text = "[grid]\nmechanism = [{label = 'fine', radius = 3, bits = 4}, {label = 'raw', radius = 5}]"
    assert call("campaign", write_study(place, text), "--output=out").returncode == 0
    assert call("campaign", "collect", "out").returncode == 0
    rows = read("out/runs.csv")
    found = [(row["mechanism"], row["radius"], row["bits"]) for row in rows]
    assert found == [("fine", "3", "4"), ("raw", "5", "")]


def test_several_grids_are_united_without_doubles(place):
    text = "[[grid]]\nradius = [1, 2]\n[[grid]]\nradius = [2, 3]\n"
    answer = call("campaign", write_study(place, text), "--output=out", "--engine=list")
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
        ("options.radius = nan", "options.radius"),
        ("options.radius = 2020-01-01", "options.radius"),
        ('options.radius = "a\\nb"', "options.radius"),
        ('options."--radius" = 3', "options.--radius"),
        ('options."a b" = 3', "options.a b"),
        ('options."" = 3', "options."),
        ("grid = []", "grid"),
        ("grid = [3]", "grid"),
        ("[grid]\nradius = [nan]", "grid.radius"),
        ("[grid]\nRngRun = [{label = 'a', radius = 1}]", "grid.RngRun"),
        ("[grid]\nradius = [1]\nsize = [{label = 'a', radius = 2}]", "grid.size"),
        ("runs = 600_000\n[[grid]]\nradius = [1]\n[[grid]]\nradius = [2]", "grid"),
        ("program = 3", "program"),
        ("collect = 'rounds'", "collect"),
        ("collect = ['../rounds']", "collect"),
        ("collect = ['runs']", "collect"),
        ("collect = [3]", "collect"),
        ("output = 1", "output"),
        ("quick = 1", "quick"),
        ("quick.title = 'x'", "quick.title"),
        ("quick.options = 'x'", "quick.options"),
        ("quick.grid = [1]", "quick.grid"),
    ],
)
def test_a_mistake_in_a_study_is_one_sentence_with_file_and_key(place, text, key):
    study = write_study(place, text)
    if text.startswith("program"):
        study.write_text(text)
    answer = call("campaign", study, "--output=out")
    assert answer.returncode == 1 and answer.stdout == ""
    assert len(answer.stderr.splitlines()) == 1
    assert f"study.toml: the key '{key}' " in answer.stderr
    assert "NoneType" not in answer.stderr and " a int" not in answer.stderr
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
        (["study.toml", "--output=out", "--sshloginfile=none"], "There is no file none"),
        (["collect", "none"], "is not a campaign"),
        (["study.toml", "--output="], "The name of the folder of the campaign is empty"),
        (["study.toml", "--output=out", "--engine=slurm", "--sbatch='"], "--sbatch cannot be read"),
    ],
)
def test_a_wrong_command_line_is_one_sentence(place, words, part):
    write_study(place, "")
    (place / "bad.toml").write_text("runs = = 2")
    answer = call("campaign", *words)
    assert answer.returncode == 1 and answer.stdout == ""
    assert len(answer.stderr.splitlines()) == 1
    assert part in answer.stderr


def test_a_missing_program_is_one_sentence(place):
    shutil.move(place / "program", place / "elsewhere")
    answer = call("campaign", write_study(place, ""), "--output=out")
    assert answer.returncode == 1
    assert "does not exist" in answer.stderr and len(answer.stderr.splitlines()) == 1


PLAN = ('{"title": "", "folder": "/", "fingerprint": "", "output": true, "collect": [], "jobs": {%s}}')


@pytest.mark.parametrize(
    "name, content, part",
    [
        ("campaign.json", b"{}", "campaign.json is broken"),
        ("campaign.json", b"[1]", "campaign.json is broken"),
        ("campaign.json", b"\xff{", "campaign.json is broken"),
        ("campaign.json", b"[" * 100_000, "campaign.json is broken"),
        ("campaign.json", (PLAN % '"0": 3').encode(), "campaign.json is broken: it has jobs"),
        ("runs/KEY/run.json", b"{", "run.json is broken"),
        ("runs/KEY/run.json", b'{"result": 3}', "run.json is broken"),
        ("runs/KEY/run-rounds.csv", b"round\n\xff\n", "run-rounds.csv is not a table"),
        ("runs/KEY/run-rounds.csv", b'a\n"' + b"x" * 200_000, "run-rounds.csv is not a table"),
        ("runs/KEY/run-rounds.csv", None, "run-rounds.csv: Is a directory"),
        ("runs.csv", None, "Cannot write"),
    ],
    ids=range(11),
)
def test_a_broken_campaign_is_one_sentence_with_the_file(place, name, content, part):
    assert call("campaign", write_study(place, ""), "--output=out").returncode == 0
    (run,) = complete(place)
    path = place / "out" / name.replace("KEY", run.name)
    path.unlink(missing_ok=True)
    path.mkdir() if content is None else path.write_bytes(content)
    answer = call("campaign", "collect", "out")
    assert answer.returncode == 1 and answer.stdout == ""
    assert len(answer.stderr.splitlines()) == 1 and part in answer.stderr
    assert not [path for path in (place / "out").iterdir() if path.suffix.strip(".").isdigit()]


def test_an_option_or_a_result_called_seconds_stays(place):
    text = '#!/bin/sh\necho "result host=mine"\n'
    (place / "program").write_text(text)
    study = write_study(place, "output = false\n[grid]\nseconds = [70, 80]\n")
    assert call("campaign", study, "--output=out").returncode == 0
    assert call("campaign", "collect", "out").returncode == 0
    rows = read("out/runs.csv")
    assert [row["seconds"] for row in rows] == ["70", "80"]
    assert [row["host"] for row in rows] == ["mine", "mine"]


def test_who_reads_only_the_beginning_of_a_list_sees_no_error(place):
    study = write_study(place, "runs = 20_000\n")
    command = f"{TOOLS}/campaign {study} --engine=list --output=out | head -n 1"
    answer = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=False)
    assert len(answer.stdout.splitlines()) == 1 and answer.stderr == ""


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


def test_a_pair_that_is_not_unique_is_refused():
    table = pandas.DataFrame({"RngRun": [1, 1, 1], "algorithm": ["a", "b", "b"], "accuracy": [1, 2, 3]})
    with pytest.raises(Mistake, match="same RngRun"):
        paired_differences(table, [], "accuracy", "algorithm", "a")


def test_the_summary_of_a_campaign_is_a_table_in_three_formats(place):
    assert call("campaign", write_study(place, GRID), "--output=out").returncode == 0
    answer = call("campaign", "summary", "out", "--by=radius")
    assert answer.returncode == 0 and answer.stderr == ""
    half = stats.t.ppf(0.975, 3) * numpy.std([20.1, 20.2, 20.1, 20.2], ddof=1) / 2
    lines = [line.split() for line in answer.stdout.splitlines()]
    assert lines[0] == ["radius", "test_accuracy", "n"]
    assert lines[2:] == [["20", "20.2", "+-", f"{half:.1f}", "4"], ["40", "40.2", "+-", f"{half:.1f}", "4"]]
    words = ["--by=algorithm", "--across=radius", "--against=radius=20", "--digits=2"]
    answer = call("campaign", "summary", "out", *words, "--format=csv")
    assert answer.stdout == "algorithm,40 - 20\na,+20.00 +- 0.00 *\nb,+20.00 +- 0.00 *\n"
    answer = call("campaign", "summary", "out", *words, "--format=rst")
    rule = "========= ================"
    assert answer.stdout.splitlines()[::2] == [rule, rule, "b         +20.00 +- 0.00 *"]
    assert call("campaign", "summary", "out", "--by=none").returncode == 1
    assert call("campaign", "summary", "out", "--by=radius", "--against=algorithm=a").returncode == 0
    assert call("campaign", "summary", "out", "--by=radius,radius").returncode == 0
    for words, part in (
        (["--against=algorithm=c"], "has no value c"),
        (["--against==c"], "--against is COLUMN=VALUE"),
        (["--of=host"], "has a column host that is not of numbers"),
        (["--of="], "has no column ."),
        (["--digits=-1"], "--digits must be"),
        (["--by=radius", "--across=radius"], "not in both"),
    ):
        answer = call("campaign", "summary", "out", *words)
        assert answer.returncode == 1 and answer.stdout == ""
        assert len(answer.stderr.splitlines()) == 1 and part in answer.stderr


def test_a_summary_of_no_run_is_one_sentence(place):
    assert call("campaign", write_study(place, ""), "--output=out").returncode == 0
    shutil.rmtree(place / "out" / "runs")
    answer = call("campaign", "summary", "out")
    assert answer.returncode == 1 and answer.stderr == f"campaign: {place}/out/runs.csv is empty.\n"
