"""Finds the runs and configs that paths name: folders, single files, shell patterns, packed or not."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Sequence

from allocbench import paths as paths_of_runs, stored
from allocbench.errors import UsageError
from plots.runs import csv_run

WITHOUT_RESULTS = ("settings_table", "printed_table")


@dataclass(frozen=True)
class Inputs:
    tables: list[Path]   # configs that are drawn without results
    folders: list[Path]  # of runs
    csvs: list[Path]     # folders with results.csv alone


def find(paths: Sequence[str]) -> Inputs:
    found = Inputs([], [], [])
    for path in paths_of_runs.expanded(paths):
        if path.suffix == ".json" and path.name not in paths_of_runs.RUN_FILES:
            if read_config(path).get("plot", {}).get("kind") not in WITHOUT_RESULTS:
                raise UsageError(f"{path} needs results. Run it first: allocbench --config {path}. To draw stored results with this "
                                 f"config: --config {path}")
            found.tables.append(path)
            continue
        alone = [folder for folder in _with_tables(path) if csv_run.is_alone(folder)]
        found.csvs.extend(folder for folder in alone if folder not in found.csvs)
        if alone and not stored.find_runs(path):
            continue
        found.folders.extend(folder for folder in paths_of_runs.folders([path]) if folder not in found.folders)
    return found


def _with_tables(path: Path) -> list[Path]:
    return [path.parent] if path.is_file() else sorted(each.parent for each in path.rglob(csv_run.NAME))


def read_config(path: Path) -> dict:
    try:
        config = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise UsageError(f"{path} does not exist. Check the path.") from None
    except json.JSONDecodeError as error:
        raise UsageError(f"{path}:{error.lineno} is not JSON ({error.msg}). Check it with: allocbench --config {path} --dry-run") from None
    except UnicodeDecodeError as error:
        raise UsageError(f"{path} is not JSON ({error}). Check it with: allocbench --config {path} --dry-run") from None
    if not isinstance(config, dict):
        raise UsageError(f"{path}:1 is not a config: its JSON is not an object.")
    return config


# What of a config says nothing about the numbers of its cells: texts, what other runs take, how long a cell may take and how its pool finds room.
_BESIDE = ("$schema", "paper", "description", "assumed", "notes", "claims", "plot", "cpu", "cuda", "full", "pool", "deadline_s")


def measures_the_same(stored: dict, today: dict, backend: str) -> bool:
    """Whether a config measures on this back end what the one stored with a run did; what they draw, claim and tell may differ."""
    return _measured(stored) == _measured(_merged(today, today.get(backend, {})))


def _measured(config: dict) -> dict:
    overrides = {name: {key: value for key, value in own.items() if key not in _BESIDE} for name, own in config.get("overrides", {}).items()}
    return {**{key: value for key, value in config.items() if key not in _BESIDE}, "overrides": {name: own for name, own in overrides.items() if own}}


def _merged(base: dict, changes: dict) -> dict:
    """As harness/front/config/config_merge.cpp does: objects key by key, null removes a key, an axis is replaced as a whole."""
    made = dict(base)
    for key, value in changes.items():
        nested = all(isinstance(each, dict) and not {"range", "log2"} & each.keys() for each in (value, base.get(key)))
        made[key] = _merged(base[key], value) if nested else value
    return {key: value for key, value in made.items() if value is not None}


@dataclass(frozen=True)
class Overrides:
    """The plots that `--config` gives in place of the stored ones."""

    path: Path | None = None

    def plot_for(self, name: str) -> dict | None:
        """The plot for the run of that config name; None where the stored one stays."""
        config = self.config_for(name)
        return None if config is None else config["plot"]

    def config_for(self, name: str, backend: str = "") -> dict | None:
        """The whole config for a run, with the part of its back end where one is named; None where there is none."""
        if self.path is None:
            return None
        file = self.path / f"{name}.json" if self.path.is_dir() else self.path
        if self.path.is_dir() and not file.is_file():
            return None
        config = read_config(file)
        if "plot" not in config:
            raise UsageError(f"{file} has no plot. Add one, or leave out --config.")
        if not self.path.is_dir() and config.get("name") != name:
            raise UsageError(f"{file} is the config {config.get('name')!r}, the run is {name!r}. Give the config of the run.")
        return {key: value for key, value in _merged(config, config.get(backend, {})).items() if key not in ("cpu", "cuda", "full")} if backend else config
