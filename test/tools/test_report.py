# SPDX-License-Identifier: GPL-2.0-only
"""Tests of tools/report: what a page holds, what it says is missing, and what it refuses."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import made_up_runs
import pytest

TOOLS = Path(__file__).resolve().parents[2] / "tools"
sys.path.insert(0, str(TOOLS))

from federated_tools import Mistake, report  # noqa: E402


@pytest.fixture(name="place", autouse=True)
def make_place(tmp_path, monkeypatch):
    """A folder with a cell and a run over ideal links."""
    monkeypatch.chdir(tmp_path)
    made_up_runs.write_cell(Path("cell"))
    made_up_runs.write_ideal(Path("ideal"))
    return tmp_path


def read_data(page):
    """The data in a page."""
    found = re.findall(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
    assert len(found) == 1
    return json.loads(found[0])["runs"]


def refuse(*prefixes):
    """The sentence that refuses them."""
    with pytest.raises(Mistake) as caught:
        report.render(list(prefixes))
    sentence = str(caught.value)
    assert sentence.endswith(".") and "\n" not in sentence
    return sentence


def change(path, old, new):
    text = Path(path).read_text()
    assert old in text
    Path(path).write_text(text.replace(old, new, 1))


def test_the_command_writes_a_page_and_refuses_a_missing_run(place):
    command = [TOOLS / "report", "--output=r.html"]
    answer = subprocess.run([*command, "cell", "ideal"], capture_output=True, check=True)
    assert answer.stdout == b"r.html\n" and answer.stderr == b""
    before = Path("r.html").read_bytes()
    answer = subprocess.run([*command, "nothing"], capture_output=True, check=False)
    assert answer.returncode == 1 and answer.stdout == b""
    assert answer.stderr == b"report: There is no nothing-rounds.csv.\n"
    assert Path("r.html").read_bytes() == before, "the earlier page stays"
    answer = subprocess.run([TOOLS / "report"], capture_output=True, check=False)
    assert answer.returncode == 1 and answer.stderr.count(b"\n") == 1
    assert not list(place.glob("r.html.*"))


def test_a_page_needs_nothing_from_elsewhere():
    page = report.render(["cell"])
    assert not re.search(r"(src|href|url|import)\s*[=(]", page.partition("<script")[0])
    links = set(re.findall(r"https?://[^\"' ]*", page))
    assert links == {"http://www.w3.org/2000/svg"}, "only the name of a namespace"


def test_the_data_are_those_of_the_files():
    run, ideal = read_data(report.render(["cell", "ideal"]))
    assert run["name"] == "cell" and run["notes"] == []
    assert run["rounds"]["round"] == [1, 2, 3]
    assert run["rounds"]["test_accuracy"] == [0.4, None, 0.733333]
    assert "true_epsilon" not in run["rounds"], "an empty column is not measured"
    assert run["rounds"]["energy_j"] == [0.75, 2.25, 4.5], "summed over devices and rounds"
    assert run["rounds"]["clamped_fraction"] == [0.01, 0.02, 0.03]
    assert run["rounds"]["mean_burst"] == [2, None, 4] and run["rounds"]["repair_s"] == [0.25, 0.5, 0.75]
    assert run["rounds"]["awake_fraction"] == [0.375] * 3
    assert "awake_fraction" not in ideal["rounds"], "radios do not sleep there"
    assert run["center"] == {"x_m": 0, "y_m": 0}
    assert run["devices"]["device"] == list(range(6)) and run["devices"]["x_m"][0] == 10
    links = run["links"]
    assert links["round"][:4] == [1, 1, 1, 2] and links["device"][:4] == [1, 3, 5, 0]
    assert [links["states"][i] for i in links["state"][3:6]] == ["complete", "partial", "unreachable"]
    assert links["snr_db"][5] is None and links["weight"][3] == 0.1
    assert run["run"]["rng_run"] == 3 and run["run"]["privacy"][0] == "privacy: no claim: plain"
    assert ideal["links"] is None and ideal["center"] is None and len(ideal["notes"]) == 2


def test_every_measured_column_has_a_curve():
    curves = re.findall(r'{name: "(\w+)", title', report.TEMPLATE.read_text(encoding="utf-8"))
    not_curves = {"time_s", "granted_bits", "selected", "skipped"}
    assert set(curves) == set(report.ROUNDS) - not_curves | {"energy_j"}


def test_a_table_of_rounds_is_enough():
    for name in ("run.json", "devices.csv", "links.csv"):
        Path(f"cell-{name}").unlink()
    (run,) = read_data(report.render(["cell"]))
    assert [note.partition(":")[0] for note in run["notes"]] == [
        "There is no cell-run.json", "There is no cell-devices.csv", "There is no cell-links.csv"]


def test_a_table_of_an_earlier_run_is_not_mixed_in():
    Path("cell-run.json").write_text(made_up_runs.describe(tables=["rounds", "devices"], result=None))
    (run,) = read_data(report.render(["cell"]))
    assert run["links"] is None
    assert run["notes"][0].startswith("The run has not ended")
    assert run["notes"][1].startswith("cell-links.csv is not of this run")


def test_a_run_without_rounds_yet_has_a_page():
    Path("cell-rounds.csv").write_text(made_up_runs.ROUNDS)
    Path("cell-links.csv").write_text(made_up_runs.LINKS)
    (run,) = read_data(report.render(["cell"]))
    assert run["rounds"] == {"round": []} and run["links"]["device"] == []


def test_unknown_and_infinite_values_are_null():
    change("cell-rounds.csv", "30,12", "inf,12")
    change("cell-rounds.csv", "30,12", "nan,12")
    change("cell-rounds.csv", "30,12", "-inf,12")
    (run,) = read_data(report.render(["cell"]))
    assert run["rounds"].get("bit_budget") in (None, [None, None, None])


def test_texts_of_others_cannot_end_the_data_or_become_markup():
    evil = "</script><script>alert(1)</script><!--\u2028&amp;"
    Path("cell-run.json").write_text(made_up_runs.describe(evil))
    name = made_up_runs.HOSTILE
    made_up_runs.write_cell(Path(name), text=evil)
    page = report.render(["cell", name])
    assert page.count("<script") == 2 and page.count("</script>") == 2 and "<!--" not in page[200:]
    first, second = read_data(page)
    assert first["run"]["options"]["note"] == evil and second["name"] == name
    assert second["links"]["states"] == [evil]
    title = page.partition("<title>")[2].partition("</title>")[0]
    assert "<" not in title and ">" not in title


def test_only_the_script_of_the_page_may_run():
    page = report.render(["cell"])
    policy = re.search(r'content="(default-src[^"]*)"', page).group(1)
    assert "default-src 'none'" in policy and re.search(r"script-src 'sha256-[\w+/]{43}='$", policy)


def test_placeholders_in_data_stay_as_they_are():
    Path("cell-run.json").write_text(made_up_runs.describe("@HASH@ @TITLE@ @DATA@"))
    (run,) = read_data(report.render(["cell"]))
    assert run["run"]["options"]["note"] == "@HASH@ @TITLE@ @DATA@"
    made_up_runs.write_cell(Path("@DATA@"))
    assert "<title>@DATA@ - federated</title>" in report.render(["@DATA@"])


def test_paths_that_are_not_utf8_are_shown():
    name = os.fsdecode(b"\xffrun")
    made_up_runs.write_cell(Path(name))
    report.save(report.render([name]), "r.html")
    assert "<title>\ufffdrun" in Path("r.html").read_text(encoding="utf-8")


def test_runs_of_equal_names_are_told_apart():
    os.mkdir("other")
    made_up_runs.write_cell(Path("other/cell"))
    names = [run["name"] for run in read_data(report.render(["cell", "other/cell"]))]
    assert names == ["cell", "other/cell"]
    assert refuse("cell", "cell") == "A prefix was given twice."


@pytest.mark.parametrize("name, content, sentence", [
    ("rounds.csv", "", "is empty"),
    ("rounds.csv", "a,b\n1,2\n", "has no column round"),
    ("rounds.csv", "round,time_s\n1,2\n2,3,4,5\n", "is not a table"),
    ("rounds.csv", "round,time_s\n1,soon\n", "has a column time_s that is not of numbers"),
    ("rounds.csv", "round\n1.5\n", "has a column round that is not of whole numbers"),
    ("rounds.csv", "round\n\"\"\n", "has a column round that is not of whole numbers"),
    ("links.csv", "round\n1\n", "has no column device"),
    ("links.csv", "round,device,snr_db\n1,2,<b>\n", "has a column snr_db"),
    ("devices.csv", "x_m\n1\n", "has no column device"),
    ("devices.csv", "device\nx\n", "has a column device that is not of whole numbers"),
    ("devices.csv", "device\n1\n1\n", "has a device twice"),
    ("run.json", "{", "is not JSON: Expecting property name"),
    ("run.json", "[" * 100000, "is not JSON"),
    ("run.json", '{"schema": NaN}', "is not JSON: NaN is not JSON"),
    ("run.json", "[]", "does not describe a run"),
    ("run.json", '{"schema": 2}', "its schema is 2, not 1"),
    ("run.json", '{"schema": 1, "options": []}', "does not describe a run: options is wrong"),
])
def test_refuses_a_broken_file_with_one_sentence(name, content, sentence):
    Path(f"cell-{name}").write_text(content)
    answer = refuse("cell")
    assert answer.startswith(f"cell-{name} ") and sentence in answer


def test_refuses_bytes_that_are_no_text():
    Path("cell-links.csv").write_bytes(b"\x00\xff\xfe,\x80\n1,2\n")
    assert refuse("cell").startswith("cell-links.csv ")
    made_up_runs.write_cell(Path("cell"))
    Path("cell-run.json").write_bytes(b'{"schema": "\xff"}')
    assert refuse("cell").startswith("cell-run.json is not JSON")


def test_refuses_pages_that_cannot_be_written(place):
    for path in ("r.txt", "none/r.html"):
        with pytest.raises(Mistake):
            report.check_output(path)
    os.mkdir("r.html")
    with pytest.raises(Mistake, match="Cannot write r.html: Is a directory."):
        report.save("page", "r.html")
    assert not list(place.glob("r.html.*"))


def test_a_page_of_many_rounds_is_small():
    made_up_runs.write_cell(Path("large"), rounds=100, devices=80)  # 40 participants a round
    assert len(report.render(["large"])) < 1_000_000


def test_leaves_out_more_links_than_a_page_can_hold(monkeypatch):
    monkeypatch.setattr(report, "MOST_LINKS", 3)
    (run,) = read_data(report.render(["cell"]))
    assert run["links"] is None and "more than the 3" in run["notes"][0]
