# SPDX-License-Identifier: GPL-2.0-only
"""Follows doc/tutorial.rst and README.md to the letter: every command is run, in order, in a folder that
looks like a fresh clone, and what the page shows must be printed. Only `make` is not the real one: the
scripts were built with the library (build/tutorial, build/examples), and it puts them where `make build`
would. Run by ctest (test/tools/documents)."""

import os
import re
import shutil
import subprocess
import textwrap
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "doc" / "tutorial.rst").read_text(encoding="ascii")
README = (ROOT / "README.md").read_text(encoding="utf-8")
SCRIPTS = sorted((ROOT / "doc" / "tutorial").glob("*.cc"))

MAKE = r"""#!/bin/sh
# Instead of make: checks the targets, and puts scripts that are built elsewhere into build/scratch.
for target; do
    case $target in
    *=*) ;;
    *) grep -q "^$target:" Makefile || { echo "make: no target $target" >&2; exit 2; } ;;
    esac
done
mkdir -p build/scratch
for script in scratch/*.cc; do
    [ -e "$script" ] || continue
    found=
    for source in doc/tutorial/*.cc examples/*.cc; do
        if cmp -s "$script" "$source"; then
            found=$(echo "$source" | sed 's|^doc/||; s|\.cc$||')
        fi
    done
    [ "$found" ] || { echo "make: the tests do not compile $script" >&2; exit 2; }
    ln -sf "../$found" "build/scratch/$(basename "$script" .cc)"
done
"""


def console_blocks(page):
    """The commands of a page in reStructuredText, each with the lines that it shows."""
    commands = []
    for block in re.findall(r"^\.\. code-block:: console\n\n((?:   .*\n|\n)+)", page, re.M):
        for line in textwrap.dedent(block).splitlines():
            if line.startswith("$ "):
                commands.append((line[2:], []))
            elif line:
                commands[-1][1].append(line)
    return commands


def fenced_blocks(page, language):
    """The blocks of a page in Markdown."""
    return re.findall(rf"^```{language}\n(.*?)^```", page, re.M | re.S)


def without_numbers(line):
    """A line whose numbers are replaced: they depend on processor and clock."""
    return re.sub(r"[-+]?\d+(\.\d+)*(e[-+]?\d+)?", "#", " ".join(line.split()))


def check_result(command, shown, printed):
    """A result line is nearly that of another processor."""
    words = [dict(word.split("=", 1) for word in line.split()[1:]) for line in (shown, printed)]
    for key, most in (("time_s", 0.05), ("test_accuracy", 0.05)):
        if not all(key in word for word in words):
            continue
        old, new = (float(word[key]) for word in words)
        assert abs(new - old) <= most * old, f"{command}\nhas {key}={new}, and the page {old}"


def check_output(command, shown, printed):
    """Every line that is shown was printed, in this order."""
    results = [[line for line in text if line.startswith("result ")]
               for text in (shown, printed.splitlines())]
    for pair in zip(*results):
        check_result(command, *pair)
    lines = iter([without_numbers(line) for line in printed.splitlines()])
    for line in shown:
        if line != "...":
            wanted = without_numbers(line)
            assert wanted in lines, f"{command}\ndid not print a line like\n{line}\nbut\n{printed}"


@pytest.fixture(name="clone")
def make_clone(request, tmp_path):
    """A folder like a fresh clone with a build, and a function that runs a command there."""
    build = request.config.getoption("--build")
    if not build:
        pytest.skip("test/tools/documents says where the programs are")
    for entry in ROOT.iterdir():
        if not entry.name.startswith((".", "build", "results", "scratch")):
            (tmp_path / entry.name).symlink_to(entry)
    (tmp_path / "scratch").mkdir()
    (tmp_path / "build").mkdir()
    for entry in Path(build).resolve().iterdir():
        if entry.name != "scratch":
            (tmp_path / "build" / entry.name).symlink_to(entry)
    tools = tmp_path / ".bin"
    tools.mkdir()
    (tools / "make").write_text(MAKE)
    (tools / "make").chmod(0o755)
    environment = dict(os.environ, PATH=f"{tools}:{os.environ['PATH']}")

    def run(command):
        return subprocess.run(command, shell=True, cwd=tmp_path, env=environment, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)

    return run


def follow(run, commands):
    """Run the commands of a page."""
    for command, shown in commands:
        if command.startswith("tshark") and not shutil.which("tshark"):
            continue
        done = run(command)
        assert done.returncode == 0, f"{command}\nended with {done.returncode}:\n{done.stdout}"
        check_output(command, shown, done.stdout)


def test_the_tutorial_can_be_followed(clone):
    commands = console_blocks(PAGE)
    assert len(commands) > 20
    follow(clone, commands)


def test_the_commands_of_the_readme_work(clone):
    commands = [line for block in fenced_blocks(README, "sh") for line in block.splitlines()]
    commands = [re.sub(r"\s+#.*", "", line) for line in commands]
    # Names in capitals stand for something.
    commands = [line for line in commands if line and not re.search(r"\b[A-Z0-9_]*_DIR\b|PREFIX", line)]
    assert len(commands) > 5
    follow(clone, [(command, []) for command in commands])


def test_a_command_that_shows_something_else_is_noticed():
    check_output("x", ["a 1", "...", "c=2.5 d=1e-6"], "a 7\nb\nc=3 d=4\n")
    with pytest.raises(AssertionError):
        check_output("x", ["result key=1"], "result other=1\n")
    with pytest.raises(AssertionError):
        check_output("x", ["b", "a"], "a\nb\n")
    line = "result time_s={} test_accuracy=0.5\n"
    check_output("x", [line.format(10).strip()], line.format(10.4))
    with pytest.raises(AssertionError, match="has time_s=20.0, and the page 10.0"):
        check_output("x", [line.format(10).strip()], line.format(20))


def test_every_script_of_the_tutorial_is_shown_and_copied():
    shown = set(re.findall(r"^\.\. literalinclude:: tutorial/(\S+)", PAGE, re.M))
    copied = set(re.findall(r"^   \$ cp doc/tutorial/(\S+) scratch/$", PAGE, re.M))
    assert {script.name for script in SCRIPTS} == copied
    assert {script.name for script in SCRIPTS} <= shown
    assert "code-block:: cpp" not in PAGE and "::\n\n  #include" not in PAGE, "C++ comes from the files"


def test_parts_of_scripts_that_the_tutorial_shows_are_there():
    for name, options in re.findall(r"^\.\. literalinclude:: tutorial/(\S+)\n((?:   :.*\n)+)", PAGE, re.M):
        text = (ROOT / "doc" / "tutorial" / name).read_text(encoding="ascii")
        for mark in re.findall(r":(?:start|end)-(?:at|before|after): (.*)", options):
            assert mark in text, f"{name} has no '{mark}'"


@pytest.mark.parametrize("block", fenced_blocks(README, "cpp"))
def test_code_of_the_readme_is_part_of_a_script_that_is_compiled(block):
    sources = SCRIPTS + sorted((ROOT / "examples").glob("*.cc"))
    wanted = textwrap.dedent(block).strip()
    texts = [re.sub(r"(?m)^ {4}", "", source.read_text(encoding="ascii")) for source in sources]
    assert any(wanted in text for text in texts), f"no script has\n{wanted}"


def test_all_examples_are_listed_for_the_test_script_of_ns3():
    source = (ROOT / "test" / "examples-to-run.py").read_text(encoding="ascii")
    listed = eval(re.search(r"^cpp_examples = (\[.*?\])", source, re.M | re.S).group(1))  # as test.py
    lists = (ROOT / "cmake" / "sources.cmake").read_text(encoding="ascii")
    built = re.findall(r"^set\(federated_(?:\w+_)?examples$(.*?)^\)", lists, re.M | re.S)
    assert {words.split()[0] for words, _, _ in listed} == set(" ".join(built).split())


def test_one_version_is_named_everywhere():
    header = (ROOT / "model" / "base" / "federated-version.h").read_text(encoding="ascii")
    version = re.search(r'FEDERATED_VERSION "(.*)"', header).group(1)
    assert f"\nversion: {version}\n" in (ROOT / "CITATION.cff").read_text(encoding="ascii")
    changes = (ROOT / "CHANGES.md").read_text(encoding="ascii")
    assert re.search(r"^## (\S+)", changes, re.M).group(1) == version
    assert set(re.findall(r"^   result version=(\S+)", PAGE, re.M)) == {version}
