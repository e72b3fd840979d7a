"""This module says which kept results come from older code of an allocator, by the revisions of their cells.

older_code.json lists revisions of kept results, and allocators whose code changed after them so that their numbers may
differ.
"""

from __future__ import annotations

import functools
import json
from pathlib import Path
from typing import Collection, Iterable

from plots.runs.results import Run

_FILE = Path(__file__).with_suffix(".json")


@functools.lru_cache(maxsize=None)
def known() -> list[dict]:
    return json.loads(_FILE.read_text(encoding="utf-8"))


def words(allocator: str, revisions: Collection[str]) -> str:
    """Returns which of these revisions measure older code of the allocator, and what changed since if the file says it, or
    an empty text.
    """
    entry = next((each for each in known() if allocator in each["allocators"]), {"revisions": []})
    older = [revision for revision in entry["revisions"] if revision in revisions]
    because = f", {entry['because']}" if "because" in entry else ""
    return f"an older version was measured ({' and '.join(older)}){because}" if older else ""


def measured_by(runs: Iterable[Run], allocator: str) -> list[bool]:
    """Returns for each run with cells of the allocator whether it measures older code."""
    by_run = [set(run.cells.loc[run.cells["allocator"] == allocator, "revision"]) for run in runs]
    return [bool(words(allocator, revisions)) for revisions in by_run if revisions]
