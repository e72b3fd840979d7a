"""Tests tools/lacking-values.py, which lists the values of kept results that a study lacks."""

import json
import pathlib
import subprocess
import sys

import synthetic

TOOL = pathlib.Path(__file__).resolve().parents[2] / "tools" / "lacking-values.py"


def _run(folder, *statuses, name="test/fig", provisional=()):
    cells = [synthetic.cell("halloc", {"threads": number}, status=status, values={("alloc", "time"): 1e-6}, provisional=number in provisional)
             for number, status in enumerate(statuses)]
    return synthetic.write(folder, {"name": name, "allocators": ["halloc"], "sweep": {"threads": list(range(len(statuses)))}}, cells)


def _lacking(*arguments):
    return subprocess.run([sys.executable, "-B", TOOL, *arguments], capture_output=True, text=True)


def test_ids_of_values_that_are_lacking(tmp_path):
    _run(tmp_path / "kept/fig", "ok", "ok", "ok", "timeout")
    _run(tmp_path / "kept/other", "ok", "ok", name="test/other")
    _run(tmp_path / "study/fig", "ok", "skipped", "ok", "ok", provisional=[0])
    told = _lacking(tmp_path / "study", tmp_path / "kept")
    assert told.returncode == 1
    line, = told.stdout.splitlines()
    assert line.endswith("test/fig halloc: skipped")
    assert told.stderr == f"2 of 3 values of {tmp_path / 'kept'} are there, 1 with three rounds or all that the config has.\n"


def test_configs_of_which_most_is_lacking_and_a_study_that_has_all(tmp_path):
    _run(tmp_path / "kept", "ok", "ok", "ok")
    _run(tmp_path / "study", "oom", "skipped", "ok")
    assert "test/fig: 2 of 3 are lacking.\n" in _lacking(tmp_path / "study", tmp_path / "kept").stderr
    assert _lacking(tmp_path / "kept", tmp_path / "kept").returncode == 0


def test_row_of_a_study(tmp_path):
    _run(tmp_path / "kept", "ok", "ok", "ok")
    _run(tmp_path / "study", "ok", "skipped", "ok", provisional=[0])
    events = [("run", "10:00:00"), ("run", "10:00:20"), ("end", "10:06:00"), ("run", "11:00:00"), ("end", "11:03:30")]
    (tmp_path / "study/events.jsonl").write_text("".join(json.dumps({"event": event, "time": f"2026-01-02T{time}.000Z"}) + "\n" for event, time in events))
    for _ in range(2):
        _lacking(tmp_path / "study", tmp_path / "kept", "--append", tmp_path / "studies.json", "study papers")
    rows = json.loads((tmp_path / "studies.json").read_text())
    assert len(rows) == 2 and rows[0] == rows[1]
    expected = {"command": "study papers", "date": "2026-01-02", "minutes": 9.5, "commands": 2, "cells": 3, "values": 2, "with_three_rounds": 1,
                "kept": 3, "of_kept": 2, "of_kept_with_three_rounds": 1, "configs": 1, "configs_with_values": 1}
    assert expected.items() <= rows[0].items()


def test_wrong_paths(tmp_path):
    for arguments in ((), (tmp_path,), (tmp_path / "none", tmp_path), (tmp_path, tmp_path, "--all")):
        told = _lacking(*arguments)
        assert told.returncode == 2 and told.stderr and not told.stdout and "Traceback" not in told.stderr
