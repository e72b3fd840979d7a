"""This module reads the runs that the repository keeps, each only once."""

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
    """Returns the default folder of output: this folder. For a folder below results/reference, the result is the same
    path below build/drawn.

    So a command with this default changes kept results only if the user names their folder with --out.
    """
    here = folder.resolve()
    return DRAWN / here.relative_to(REFERENCE) if here.is_relative_to(REFERENCE) else folder


def folder_of(first: str) -> Path:
    """Returns the folder that a path names, or that contains the file or the runs of a pattern. A folder of kept runs
    becomes its folder below build/drawn.
    """
    path = Path(first)
    return outside(path if path.is_dir() else next(folder for folder in path.parents if folder.is_dir()))


def run(name: str) -> results.Run:
    """Returns the run in this folder below results/reference."""
    folder = REFERENCE / name
    if not folder.is_dir():
        raise UsageError(f"there is no run {name!r} below results/reference. Correct the first word of the query.")
    return read(folder)


def read(folder: Path) -> results.Run:
    """Returns the run of a folder. A run that the repository keeps is read only once."""
    path, file = folder.resolve(), stored.file_of(folder, "results.json")
    if not path.is_relative_to(REFERENCE) or not file.exists():
        return results.read_run(folder)
    return _once(folder, file.stat().st_mtime_ns)


def forget() -> None:
    """Makes read() read all runs anew, because a config changed."""
    _once.cache_clear()


@functools.lru_cache(maxsize=None)
def _once(folder: Path, changed: int) -> results.Run:
    return results.read_run(folder)
