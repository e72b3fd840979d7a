"""Tests the origin of kept numbers: every mix is reported with its file and the next step, and study.json agrees with
the logs.
"""

import json
import lzma

import pytest

import measured
from plots.commands import cli
from plots.reference import mixes, origins, study_file
from plots.runs import kept

TIMES = [measured.ok("comb", 1e-6), measured.ok("halloc", 2e-6)]


@pytest.fixture
def study(tmp_path):
    """Makes two groups of one study without a mix. No config has their names."""
    folder = tmp_path / "model"
    for name in ("one/small", "one/large", "two/small"):
        measured.run(folder, name, TIMES)
    return folder


def written(study):
    assert cli.main(["provenance", str(study), "--write"]) == 0
    return study / "study.json"


def check(study, capsys, *options):
    capsys.readouterr()
    code = cli.main(["provenance", str(study), "--check", *options])
    return code, capsys.readouterr().err


def test_one_study_is_green(study, capsys, monkeypatch):
    monkeypatch.setattr(mixes, "_unknown_commits", lambda found: ())
    written(study)
    assert check(study, capsys) == (0, "")
    code, told = check(study, capsys, "--revision", measured.SECOND)
    assert code == 1 and f"all must have {measured.SECOND}" in told


@pytest.mark.parametrize("place, change, told", [
    ("one/large", {"revision": measured.SECOND}, "one: measured revision 0123456789ab (1 of 2 runs), ba9876543210 (1 of 2 runs); all must have"),
    ("one/large", {"dirty": True}, "one/large: measured with changes that no commit holds. Commit them and measure again"),
    ("one/large", {"of_cells": {1: {"device_uuid": "card-2"}}}, "one/large: 2 cards within one config: card-1, card-2"),
    ("one/large", {"of_cells": {1: {"driver_version": "580.2"}}}, "one/large: 2 drivers within one config: 570.1, 580.2"),
    ("one/large", {"of_cells": {1: {"measured_revision": measured.SECOND}}}, "one/large: 2 measured revisions within one config"),
    ("one/large", {"of_cells": {1: {"measured_revision": measured.SECOND}}}, f"its cells have measured revision {measured.SECOND}, the log has {measured.FIRST}"),
    ("one/large", {"model": "Other GPU"}, "one: 2 models of device in one group (Other GPU: one/large; Test GPU: one/small)"),
    ("two/small", {"model": "Other GPU"}, "groups of several models of device (Test GPU: one; Other GPU: two)"),
    ("one/large", {"card": "card-2"}, "study.json: one/large: cards card-1, the kept log has card-2. Write it again: python3 -m plots provenance"),
])
def test_a_mix_is_named(study, capsys, place, change, told):
    written(study)
    measured.run(study, place, TIMES, **change)
    code, said = check(study, capsys)
    assert code == 1 and told in said
    line, = [each for each in said.splitlines() if told in each]
    assert str(study) in line and line.count(". ") >= 1, "file and next step"


def test_holes_are_counted(study, capsys):
    cells = [*TIMES, measured.failed("kma", "timeout", "used its deadline of 5 s in verification"), measured.failed("kma", "unsupported", "one size only", 2),
             measured.failed("kma", "skipped", "put off until all others were measured (x); then the time of --minutes was used up", 3)]
    cells.append(measured.ok("comb", 1e-6, 4))
    measured.run(study, "two/small", cells, of_cells={len(cells) - 1: {"checks": {"content": "not finished: no answer after 5 s"}}})
    assert cli.main(["provenance", str(study)]) == 0
    row, = [line for line in capsys.readouterr().out.splitlines() if line.startswith("| two | 6 |")]
    assert row == "| two | 6 | 3 | 1 | 1 | 1 | 33.3 % | 2 | 1 | 0 |"
    told = check(study, capsys)[1]
    assert "2 of 10 cells (20.0 %) failed or were skipped (1 timeout, 1 skipped); at most 3 % are allowed. Runs with the most: two/small (2)." in told
    assert "cells that used up their deadline in verification: 2; none is allowed." in told and "cells that were left out for lack of time or device memory: 1; none is allowed." in told


@pytest.mark.parametrize("claims, told", [([{"says": "x", "value": {"of": "comb"}}], True), ([{"says": "x", "value": {"of": "comb"}, "metric": "steps"}], False), ([], False),
                                          ([{"says": "x", "value": {"of": "comb"}, "backend": "cpu"}], False)])
def test_few_rounds_matter_where_times_are_judged(tmp_path, capsys, claims, told):
    few = measured.ok("comb", 1e-6, phases=[{"name": "alloc", "no_interval": "3 of the 6 rounds that an interval needs"}], counted={"values": {"steps": [1]}})
    measured.run(tmp_path, "one/small", [few], config={"claims": claims}, of_cells={0: {"counted": {"values": {"steps": [1]}}}})
    assert ("1 cell has fewer than 6 rounds in configs whose times claims" in check(tmp_path, capsys)[1]) is told


def test_a_cell_that_was_left_out_has_no_origin(tmp_path):
    left_out = measured.failed("kma", "skipped", "put off until all others were measured (x); then the time of --minutes was used up")
    run = measured.run(tmp_path, "one/small", [measured.ok("comb", 1e-6), left_out], of_cells={1: {"measured_revision": measured.SECOND, "device_uuid": "card-2"}})
    found = origins.read_run(run)
    assert (found.revisions, found.cards) == ([measured.FIRST], ["card-1"])


def test_a_config_without_results_is_named(tmp_path, capsys):
    for group in mixes.GROUPS[:-3]:
        measured.run(tmp_path, f"{group}/of_this_test", TIMES)
    told = check(tmp_path, capsys)[1]
    assert "no kept results of delay/frames, delay/graph, delay/graph_frees, delay/index, delay/strings, delay/strings_frees. Measure: build/bin/allocbench study delay" in told
    assert "/aa: no kept results of aa. Measure: tools/record-aa.sh" in told


def test_study_json_says_what_the_logs_say(study):
    stored = json.loads(written(study).read_text())
    assert stored["measured_revisions"] == [measured.FIRST] and stored["models"] == ["Test GPU"] and stored["sm_clock_max_mhz"] == ["1980"]
    assert stored["groups"]["two"]["command"] == f"build/bin/allocbench study two --configs . --backend cuda --out results/{study.name}"
    assert list(stored["groups"]["one"]["runs"]) == ["one/large", "one/small"]
    assert stored["groups"]["one"]["runs"]["one/small"] == {"measured_revisions": [measured.FIRST], "commits": ["abc1234"], "models": ["Test GPU"], "cards": ["card-1"],
                                                             "drivers": ["570.1"], "sm_clock_max_mhz": ["1980"], "dates": ["2026-01-02"], "dirty": False, "cells": 2}


@pytest.mark.parametrize("change, told", [
    (lambda file: file.unlink(), "does not exist"),
    (lambda file: file.write_text(file.read_text().replace('"models": ["Test GPU"]', '"models": ["Other"]', 1)), "its summary does not follow from its runs"),
    (lambda file: file.write_text(file.read_text().replace("one/small", "one/gone")), "one/gone has no log")])
def test_another_study_json_is_named(study, capsys, change, told):
    change(written(study))
    assert told in check(study, capsys)[1]


def test_a_damaged_study_json_is_refused(study, capsys):
    written(study).write_text("{")
    assert cli.main(["provenance", str(study), "--check"]) == 2
    assert "Write it again" in capsys.readouterr().err


def test_a_run_without_its_log_is_refused(study, capsys):
    (study / "one/small/events.jsonl.xz").unlink()
    assert cli.main(["provenance", str(study)]) == 2
    assert "has no log" in capsys.readouterr().err


def test_a_log_without_a_start_is_named(study, capsys):
    (study / "one/small/events.jsonl.xz").write_bytes(lzma.compress(b""))
    assert "the log names no revision" in check(study, capsys)[1]


STUDIES = [folder for folder in sorted(kept.REFERENCE.iterdir()) if folder.is_dir()]


@pytest.mark.parametrize("folder", STUDIES, ids=lambda folder: folder.name)
def test_the_kept_study_json_agrees_with_every_kept_log(folder):
    groups = origins.by_study(origins.read([str(folder)]))[folder]
    assert study_file.disagreements(groups, whole=True) == []


def test_the_kept_results_of_the_cpu_executor_are_one_study(capsys, monkeypatch):
    monkeypatch.setattr(mixes, "_unknown_commits", lambda found: ())  # a copy of the sources may lack the history
    assert check(kept.REFERENCE / "cpu", capsys) == (0, "")
