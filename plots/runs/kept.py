"""The runs that the repository keeps, each read once."""

from __future__ import annotations

import functools
from pathlib import Path

from allocbench import stored
from allocbench.errors import UsageError
from plots import ROOT
from plots.runs import results

REFERENCE = ROOT / "results" / "reference"
DRAWN = ROOT / "build" / "drawn"


def outside(folder: Path) -> Path:
    """Where files go that belong to this folder and that no --out places: there, or for folders of kept runs to the same path below
    build/drawn, as kept results change only on demand."""
    here = folder.resolve()
    return DRAWN / here.relative_to(REFERENCE) if here.is_relative_to(REFERENCE) else folder


def run(name: str) -> results.Run:
    """The run in that folder below results/reference."""
    folder = REFERENCE / name
    if not folder.is_dir():
        raise UsageError(f"there is no run {name!r} below results/reference. Correct the first word of the query.")
    return read(folder)


def read(folder: Path) -> results.Run:
    """The run of a folder; one that the repository keeps is read once."""
    path, file = folder.resolve(), stored.file_of(folder, "results.json")
    if not path.is_relative_to(REFERENCE) or not file.exists():
        return results.read_run(folder)
    return _once(folder, file.stat().st_mtime_ns)


@functools.lru_cache(maxsize=None)
def _once(folder: Path, changed: int) -> results.Run:
    return results.read_run(folder)
