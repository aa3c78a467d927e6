# SPDX-License-Identifier: GPL-2.0-only
"""Tests of tools/get-mathjax, in a copy of the folders that it knows."""

import shutil
import subprocess

import pytest
from conftest import TOOLS


@pytest.fixture(name="place")
def make_place(tmp_path):
    """A checkout of nothing but the tool, and a folder for a program called npm."""
    for folder in ("tools", "doc/static", "bin"):
        (tmp_path / folder).mkdir(parents=True)
    shutil.copy(TOOLS / "get-mathjax", tmp_path / "tools")
    return tmp_path


@pytest.mark.parametrize(
    "npm, part",
    [
        ("exit 1", "npm could not download mathjax@"),
        ("mkdir -p package/es5 && echo other >package/es5/tex-svg.js && tar czf mathjax-1.tgz package",
         "is not the one with the known SHA-256"),
    ],
)
def test_without_a_copy_of_its_own_the_documentation_uses_that_of_the_network(place, npm, part):
    (place / "bin" / "npm").write_text(f"#!/bin/sh\n{npm}\n")
    (place / "bin" / "npm").chmod(0o755)
    (place / "doc" / "static" / "mathjax.js").write_text("a half of it")
    answer = subprocess.run([place / "tools" / "get-mathjax"], capture_output=True, text=True, check=False,
                            env={"PATH": f"{place}/bin:/usr/bin:/bin"})
    assert answer.returncode == 0 and answer.stdout == ""
    assert len(answer.stderr.splitlines()) == 1 and part in answer.stderr
    assert "the browser will load the formulas" in answer.stderr
    assert not list((place / "doc" / "static").iterdir())
