"""Tests the table of how many cells each study measured, and in how many minutes."""

import json

from plots.runs import kept
from plots.texts import blocks

STUDY = {"command": "study papers", "date": "2026-01-02", "minutes": 18.4, "commands": 2, "cards": 1, "device": "TEST", "cells": 10793, "values": 7721,
         "with_three_rounds": 5879, "kept": 9149, "of_kept": 7357, "of_kept_with_three_rounds": 5694, "configs": 84, "configs_with_values": 83, "revision": "abc"}


def test_a_row_per_study(tmp_path, monkeypatch):
    monkeypatch.setattr(kept, "REFERENCE", tmp_path)
    (tmp_path / "h200").mkdir()
    studies = [STUDY, {**STUDY, "command": "study guide", "commands": 1, "cards": 2}]
    (tmp_path / "h200/studies.json").write_text(json.dumps(studies))
    lines = blocks.table("studies h200").splitlines()
    assert [cell.strip() for cell in lines[2].split("|")[1:-1]] == [
        "`study papers` in 2 commands", "1 × TEST", "18.4", "7,721 of 10,793", "5,879", "7,357 of 9,149", "83 of 84", "2026-01-02, abc"]
    assert lines[3].startswith("| `study guide` |") and "2 × TEST" in lines[3]
