"""This module finds the results of the guide (the config group `guide`) for an answer: the named results, or else the
newest ones that the repository keeps.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Sequence

from allocbench import stored
from allocbench.errors import NothingToDraw, UsageError
from plots.advice import table
from plots.figures import drawing, inputs
from plots.runs import kept, origin
from plots.runs.results import Run

FOLDER = "guide"


def kept_guide() -> Path:
    """Returns the folder with the newest results of the guide below results/reference. Results of a GPU come before those
    of the CPU executor.
    """
    found = [path for path in kept.REFERENCE.glob(f"*/{FOLDER}") if stored.find_runs(path)]
    if not found:
        raise NothingToDraw(
            "the repository contains no results of the guide. Measure it (allocbench study guide), then pass --results results/guide"
        )
    return max(found, key=lambda path: (path.parent.name != "cpu", _date(path), path.name))


def _date(folder: Path) -> str:
    return str(stored.read_document(stored.find_runs(folder)[0]).get("run", {}).get("time", ""))


def read(paths: Sequence[str], overrides: inputs.Overrides = inputs.Overrides()) -> tuple[list[Run], list[Exception]]:
    """Returns the runs of these paths, and one error for each path or run that cannot be read. Raises the first error
    if no path has a run.

    Of several runs of the same config of the guide on one device, only the newest is returned. Each older run becomes
    an error. The plots of the configs in `overrides` replace the stored plots.
    """
    runs, failures, folders = [], [], []
    for path in paths:
        try:
            folders += inputs.find([path]).folders
        except (NothingToDraw, UsageError) as error:
            failures.append(error)
    if failures and not folders:
        raise failures[0]
    for folder in dict.fromkeys(folders):
        try:
            runs.append(drawing.read(folder, overrides))
        except (NothingToDraw, UsageError) as error:
            failures.append(error)
    return _newest_of_each(runs, failures), failures


def _newest_of_each(runs: list[Run], failures: list[Exception]) -> list[Run]:
    """Drops all but the newest run of each config of the guide on each device, because otherwise a config would count
    twice. Adds an error to `failures` for each dropped run.
    """
    newest: dict[tuple, Run] = {}
    for run in sorted(runs, key=lambda run: str(run.run.get("time", ""))):
        older = newest.get(_measured(run)) if run.name.startswith("guide/") else None
        if older:
            failures.append(UsageError(f"{older.folder} is left out: it also contains results of {run.name}, which are not newer than those of "
                                       f"{run.folder}. Name one folder."))
        newest[_measured(run)] = run
    return [run for run in runs if newest[_measured(run)] is run or not run.name.startswith("guide/")]


def _measured(run: Run) -> tuple:
    return run.name, *origin.device_of(run)


def table_of(paths: Sequence[str]) -> tuple[dict, list[Exception]]:
    """Returns the table of the guide's results at these paths. A single path may also be a .json file with such a
    table. Without paths, the newest kept results count.
    """
    if len(paths) == 1 and Path(paths[0]).is_file() and paths[0].endswith(".json") and Path(paths[0]).name != "results.json":
        return _stored_table(Path(paths[0])), []
    runs, failures = read(paths or [str(kept_guide())])
    if not runs and failures:
        raise failures[0]
    return table.of(runs), failures


def _stored_table(path: Path) -> dict:
    try:
        made = json.loads(path.read_text(encoding="utf-8"))
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        line = getattr(error, "lineno", 1)
        raise UsageError(f"{path}:{line} is not JSON ({error}). Give a folder of results of the guide.") from None
    if not isinstance(made, dict) or made.get("format") != table.FORMAT or "cases" not in made:
        raise UsageError(f"{path}:1 is not a table of the guide. Give a folder of results of the guide.")
    return made
