# SPDX-License-Identifier: GPL-2.0-only
"""Tests of tools/campaign --engine=slurm, on a cluster that they start and stop."""

import subprocess

import pytest
from conftest import call, count_runs, write_study
from slurm_cluster import find_lack, run_cluster

GRID = "runs = 2\n[options]\nrounds = 2\n[grid]\nradius = [20, 40]\nalgorithm = ['a', 'b']\n"


@pytest.fixture(name="cluster", scope="module")
def make_cluster():
    """A cluster whose arrays have at most 4 jobs."""
    lack = find_lack()
    if lack:
        pytest.skip(lack)
    with run_cluster(array=5) as settings:
        yield settings


def test_slurm_makes_every_run_once_in_arrays_of_the_allowed_size(place, cluster, monkeypatch):
    monkeypatch.setenv("SLURM_CONF", str(cluster))
    study = write_study(place, GRID)
    # Submitted without waiting, and again: what is in the queue is not submitted twice.
    subprocess.run(["scontrol", "update", "partition=trial", "state=down"], check=True)
    answer = call("campaign", study, "--output=out", "--engine=slurm")
    assert answer.returncode == 0, answer.stderr
    assert "8 runs submitted to Slurm, 0 were there already" in answer.stderr
    assert len(list((place / "out" / "slurm").glob("*.job"))) == 2
    answer = call("campaign", study, "--output=out", "--engine=slurm")
    assert "0 runs submitted to Slurm, 8 were there already" in answer.stderr
    assert count_runs(place) == 0
    subprocess.run(["scontrol", "update", "partition=trial", "state=up"], check=True)
    answer = call("campaign", study, "--output=out", "--engine=slurm", "--wait")
    assert answer.returncode == 0, answer.stderr
    assert "8/8 done, 0 running, 0 failed" in answer.stderr
    assert count_runs(place) == 8
    assert "8 rows" in call("campaign", "collect", "out").stdout


def test_what_sbatch_refuses_is_one_sentence(place, cluster, monkeypatch):
    monkeypatch.setenv("SLURM_CONF", str(cluster))
    study = write_study(place, GRID)
    answer = call("campaign", study, "--output=out", "--engine=slurm", "--sbatch=--partition=none")
    assert answer.returncode == 1
    assert "campaign: sbatch refused the jobs: " in answer.stderr.splitlines()[-1]
