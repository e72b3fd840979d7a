"""This module finds the runs and configs that paths name. A path is a folder, a file or a shell pattern, and a run may be
packed.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Sequence

from allocbench import paths as paths_of_runs, stored
from allocbench.errors import UsageError
from plots.figures.kinds import OF_CONFIGS
from plots.runs import configs, csv_run


@dataclass(frozen=True)
class Inputs:
    tables: list[Path]   # configs whose figure needs no results
    folders: list[Path]  # folders of runs
    csvs: list[Path]     # folders with results.csv but neither results.json nor a log


def find(paths: Sequence[str]) -> Inputs:
    found = Inputs([], [], [])
    for path in paths_of_runs.expanded(paths):
        if path.suffix == ".json" and path.name not in paths_of_runs.RUN_FILES:
            if configs.read(path).get("plot", {}).get("kind") not in OF_CONFIGS:
                raise UsageError(f"{path} is a config whose figure needs results. Run it first: allocbench --config {path}. To draw "
                                 f"stored results with this config, name their folder and add --config {path}")
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


@dataclass(frozen=True)
class Overrides:
    """Overrides are the configs that `--config` names. Their plots replace the stored ones."""

    path: Path | None = None

    def plot_for(self, name: str) -> dict | None:
        """Returns the plot for the run of this config name, or None to keep the stored plot."""
        config = self.config_for(name)
        return None if config is None else config["plot"]

    def config_for(self, name: str, backend: str = "") -> dict | None:
        """Returns the config for a run, or None if `--config` has none for it. With `backend`, the part of the config for
        this back end is applied.
        """
        if self.path is None:
            return None
        file = self.path / f"{name}.json" if self.path.is_dir() else self.path
        if self.path.is_dir() and not file.is_file():
            return None
        config = configs.read(file)
        if "plot" not in config:
            raise UsageError(f"{file} has no plot. Add one, or leave out --config.")
        if not self.path.is_dir() and config.get("name") != name:
            raise UsageError(f"{file} is the config {config.get('name')!r}, but the run is of the config {name!r}. Give the config of the run.")
        return configs.effective(config, backend) if backend else config
