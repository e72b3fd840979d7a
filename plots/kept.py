"""The runs that the repository keeps, each read once."""

from __future__ import annotations

import functools
from pathlib import Path

from allocbench.errors import UsageError
from plots import results

ROOT = Path(__file__).resolve().parents[1]
REFERENCE = ROOT / "results" / "reference"


@functools.lru_cache(maxsize=None)
def run(name: str) -> results.Run:
    """The run in that folder below results/reference."""
    folder = REFERENCE / name
    if not folder.is_dir():
        raise UsageError(f"there is no run {name!r} below results/reference. Correct the first word of the query.")
    return results.read_run(folder)
