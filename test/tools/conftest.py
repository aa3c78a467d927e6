# SPDX-License-Identifier: GPL-2.0-only
"""What the tests of the tools share."""

import contextlib
import importlib.machinery
import importlib.util
import io
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

TOOLS = Path(__file__).resolve().parents[2] / "tools"
sys.path.insert(0, str(TOOLS))

from federated_tools import run_tool  # noqa: E402


def pytest_addoption(parser):
    """Options of the tests that run examples; test/tools/decode passes them."""
    parser.addoption("--star", help="the example federated-star")
    parser.addoption("--csma", help="the example federated-csma")
    parser.addoption("--data", help="the folder with MNIST")
    parser.addoption("--build", help="a build folder; test/tools/documents passes it")


def load(name):
    """A tool as a module."""
    loader = importlib.machinery.SourceFileLoader(f"{name}_command", str(TOOLS / name))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    return module


def call(name, *words):
    """A tool, called in this process: what it printed, and its exit code."""
    out, error = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(error):
        code = run_tool(name, load(name).main, [str(word) for word in words])
    return SimpleNamespace(returncode=code, stdout=out.getvalue(), stderr=error.getvalue())


PROGRAM = """#!/bin/sh
# Keeps the contract of the examples; its accuracy is radius / 100 + RngRun / 1000.
for word; do case $word in
    --radius=*) radius=${word#*=} ;;
    --RngRun=*) run=${word#*=} ;;
    --output=*) output=${word#*=} ;;
    --hold=true) trap "" TERM; echo x >> "$COUNTER.held"; while [ -e hold ]; do sleep 0.05; done ;;
    --fail=true) [ -e mended ] || { echo "The radius $radius is too large." >&2; exit 3; } ;;
esac; done
echo "round,time_s,test_accuracy" > "$output-rounds.csv"
echo "1,0.5,0.1" >> "$output-rounds.csv"
echo "2,1.0,0.2" >> "$output-rounds.csv"
echo x >> "$COUNTER"
echo "result version=1 rounds=2 test_accuracy=$(awk "BEGIN { print $radius / 100 + $run / 1000 }")"
"""


@pytest.fixture(name="place")
def make_place(tmp_path, monkeypatch):
    """A folder with the program, which counts its runs there."""
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


def _count_lines(path):
    return len(path.read_text().splitlines()) if path.exists() else 0


def count_runs(place):
    """How often the program has come to its end."""
    return _count_lines(place / "counter")


def count_held(place):
    """How often the program was told to wait until there is no file hold."""
    return _count_lines(place / "counter.held")
