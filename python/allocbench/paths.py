"""Finds the runs that paths name. A path is a folder, a file or a pattern, and files may be packed."""

from __future__ import annotations

import glob
from pathlib import Path
from typing import Sequence

from allocbench import stored
from allocbench.errors import NothingToDraw, UsageError

RUN_FILES = ("results.csv", "results.json", "events.jsonl")


def expanded(paths: Sequence[str | Path]) -> list[Path]:
    """Expands patterns that the shell left unchanged, because it does not know them (`**`) or found nothing."""
    made = []
    for path in map(str, paths):
        if Path(path).exists():
            made.append(Path(path))
            continue
        matches = sorted(Path(each) for each in glob.glob(path, recursive=True)) if glob.has_magic(path) else []
        # A pattern may also match other files beside a run. Only folders, configs and files of a run count.
        matches = [each for each in matches if each.is_dir() or each.suffix == ".json" or is_file_of_run(each)]
        if not matches:
            what = "matches nothing" if glob.has_magic(path) else "does not exist"
            raise UsageError(f"{path} {what}. Give the folder that allocbench --out wrote, such as results/smoke.")
        made += matches
    return made


def is_file_of_run(path: Path) -> bool:
    return stored.unpacked_name(path) in RUN_FILES


def folders(paths: Sequence[Path]) -> list[Path]:
    """Returns the distinct folders of the runs at or below existing paths."""
    found: list[Path] = []
    for path in paths:
        if path.is_file() and is_file_of_run(path):
            path = path.parent
        below = stored.find_runs(path)
        if not below:
            raise NothingToDraw(stored.without_results(path))
        found += [folder for folder in below if folder not in found]
    return found
