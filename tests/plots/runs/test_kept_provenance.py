"""Checks that kept results come from one revision, one card and one driver, and from committed sources."""

import pytest

from allocbench import stored
from plots.runs import kept

KEPT = [str(folder.relative_to(kept.REFERENCE)) for folder in stored.find_runs(kept.REFERENCE)]


@pytest.mark.full
@pytest.mark.parametrize("name", KEPT)
def test_one_origin(name):
    provenance = kept.run(name).provenance
    assert not provenance["dirty"], "measured with changes that no commit holds"
    assert not provenance["mixed"], "cells of several revisions, cards or drivers"
    assert len(provenance["measured_revisions"]) == 1
