# SPDX-License-Identifier: GPL-2.0-only
"""Tests of tools/insider-table and of its study, with a program that only prints a result line."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TOOLS = ROOT / "tools"
sys.path.insert(0, str(TOOLS))

from federated_tools.study import Study  # noqa: E402

PROGRAM = """#!/bin/sh
# An attack costs 10 points, nan-floats the model, and doubles the time.
for word; do case $word in
    --attack=*) attack=${word#*=} ;;
    --RngRun=*) run=${word#*=} ;;
esac; done
accuracy=0.8$run time=1 finite=1
case $attack in
    flip) accuracy=0.7$run time=2 ;;
    nan-floats) accuracy= finite=0 ;;
esac
echo "result version=1 rounds=20 time_s=$time test_accuracy=$accuracy finite=$finite honest_updates=0.5"
"""

STUDY = """
runs = 2
output = false
[grid]
setting = ["levels"]
attack = ["none", "flip", "nan-floats"]
aggregator = ["mean", "median"]
"""


def call(tool, *words):
    """A tool, finished."""
    return subprocess.run(
        [TOOLS / tool, *words], capture_output=True, text=True, timeout=60, check=False
    )


@pytest.fixture(name="campaign")
def make_campaign(tmp_path, monkeypatch):
    """The folder of a campaign that was run."""
    program = tmp_path / "program"
    program.write_text(PROGRAM)
    program.chmod(0o755)
    monkeypatch.chdir(tmp_path)
    study = tmp_path / "study.toml"
    study.write_text(f'program = "{program}"\n{STUDY}')
    answer = call("campaign", study, "--output=out")
    assert answer.returncode == 0, answer.stderr
    return tmp_path / "out"


def test_prints_paired_differences_and_the_factor_of_time(campaign):
    answer = call("insider-table", campaign)
    assert answer.returncode == 0, answer.stderr
    lines = answer.stdout.splitlines()
    assert lines[1].split()[:2] == ["setting", "attack"]
    flip = next(line for line in lines if " flip " in line)
    assert flip.count("-10.0 [-10.0, -10.0]") == 2
    assert flip.split()[-3:] == ["0.50", "20", "2.00"]
    assert lines[0] == lines[2] == lines[-1]


def test_a_model_that_is_not_finite_is_no_missing_value(campaign):
    line = next(x for x in call("insider-table", campaign).stdout.splitlines() if "nan-floats" in x)
    assert "-81.5" in line and "(not finite)" in line


def test_mistakes_are_sentences(campaign):
    assert call("insider-table").returncode == 1
    assert "is not a campaign" in call("insider-table", campaign.parent).stderr


def test_the_study_compares_every_attack_with_runs_without_it():
    study = Study(ROOT / "studies" / "insider.toml")
    assert study.seeds == [1, 2, 3, 4, 5]
    rows = {tuple(dict(job.values)[name] for name in ("setting", "aggregator", "attack"))
            for job in study.jobs}
    for setting, aggregator, _ in rows:
        assert (setting, aggregator, "none") in rows
    assert len({attack for _, _, attack in rows} - {"none"}) >= 14
