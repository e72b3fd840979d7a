"""Kept results come from one revision, one card, one driver, and from sources that a commit holds."""

import pathlib

import pytest

from allocbench import stored

ROOT = pathlib.Path(__file__).resolve().parents[3]
KEPT = stored.find_runs(ROOT / "results" / "reference")


@pytest.mark.parametrize("run", KEPT, ids=lambda run: str(run.relative_to(ROOT)))
def test_one_origin(run):
    provenance = stored.read_document(run)["provenance"]
    assert not provenance["dirty"], "measured with changes that no commit holds"
    assert not provenance["mixed"], "cells of several revisions, cards or drivers"
    assert len(provenance["measured_revisions"]) == 1
