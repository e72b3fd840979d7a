"""Kept results of format 2 come from one revision, one card, one driver, and from sources that a commit holds."""

import gzip
import json
import pathlib

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
KEPT = sorted((ROOT / "results" / "reference").rglob("results.json.gz"))


@pytest.mark.parametrize("path", KEPT, ids=lambda path: str(path.parent.relative_to(ROOT)))
def test_one_origin(path):
    with gzip.open(path, "rt", encoding="utf-8") as text:
        document = json.load(text)["allocbench"]
    provenance = document.get("provenance", {})
    if document["format"] == 1 or not provenance.get("measured_revisions"):
        pytest.skip("measured by a program that did not record its revision, also where it was converted since")
    assert not provenance["dirty"], "measured with changes that no commit holds"
    assert not provenance["mixed"], "cells of several revisions, cards or drivers"
    assert len(provenance["measured_revisions"]) == 1
