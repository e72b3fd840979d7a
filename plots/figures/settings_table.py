"""This module draws the figure kind `settings_table`: the settings of a paper's tests as the paper states them, beside
the settings of our configs.

The configs alone are enough to draw the table. With results, the rows of our configs also show how many cells are ok.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Sequence

import matplotlib

from allocbench.errors import UsageError
from plots.figures.model import stated
from plots.runs import configs, origin
from plots.runs.results import Run
from plots.sheet import grid, quantity, style
from plots.sheet.page import Drawing, Heading

_HEADER = ("figure", "settings of", "test", "iterations", "blocks", "pool", "payload", "runs", "allocators", "cells")
_BACK_ENDS = (("cuda", "CUDA"), ("cpu", "CPU executor"))


@dataclass(frozen=True)
class Table:
    """A table has the config of a settings table, and the configs that it lists, by name."""

    config: dict
    figures: dict[str, dict]


def read(path: Path) -> Table:
    """Reads the table config at `path` and the configs that it lists. Their paths are relative to the table config."""
    config = configs.read(path)
    figures = {}
    for name in config["plot"].get("configs", []):
        figure = configs.read(path.parent / name)
        figures[figure["name"]] = figure
    if not figures:
        raise UsageError(f"{path}: plot.configs is empty. List the configs whose settings the table shows.")
    return Table(config, figures)


def make_of_config(path: Path, runs: Sequence[Run], stem: str) -> Drawing:
    table = read(path)
    rows = rows_of(table, runs)
    used = [run for run in runs if run.name in table.figures]
    sources = dict.fromkeys(f"{run.device.get('name', 'device unknown')}, {run.date or 'date unknown'}, allocbench "
                            f"{origin.revision(run)}" for run in used)
    made_of = [f"Outcomes from {quantity.counted(len(used), 'run')}: {'; '.join(sources)}"] if used else ["From the configs alone."]
    caption = [*table.config["plot"].get("notes", []),
               *(f"{run.name} ({run.backend}): {sentence}" for run in used for sentence in stated.sentences(run, []))]
    heading = Heading(table.config.get("description", table.config["name"]),
                      f"{table.config.get('paper', '')} · {table.config['name']}".strip(" ·"), tuple(caption),
                      tuple(made_of))
    shown = grid.Grid(_HEADER, rows, aligned_left=len(_HEADER))
    with matplotlib.rc_context(style.RC):
        page = grid.draw(heading, [shown])
    return Drawing(stem, page, heading.markdown([grid.markdown(shown)], _assumed(table)))


def rows_of(table: Table, runs: Sequence[Run]) -> list[list[str]]:
    """Returns for each figure the row of the paper, if it has one, then one row per back end. A figure without a config
    has only the paper's row.
    """
    printed = table.config["plot"].get("printed", {})
    by_short_name = {name.rsplit("/", 1)[-1]: name for name in table.figures}
    rows = []
    for short in dict.fromkeys([*printed, *by_short_name]):
        if short in printed:
            outcome = "" if short in by_short_name else "no config yet"
            rows.append([short, "paper", *(printed[short].get(column, "–") for column in _HEADER[2:-1]), outcome])
        if short not in by_short_name:
            continue
        name = by_short_name[short]
        figure = table.figures[name]
        for back_end, shown in _BACK_ENDS:
            config = configs.effective(figure, back_end)
            rows.append([short, shown, *_settings(config),
                         _outcome([run for run in runs if run.name == name and run.backend == back_end])])
    return rows


def _settings(config: dict) -> list[str]:
    workload, sweep = config["workload"], config.get("sweep", {})

    def setting(*names: str) -> str:
        """Returns a swept setting as `first – last`, and a fixed one as written. If the config does not set it, the
        result is 1 for iterations and launches, else `default`.
        """
        for name in names:
            write = quantity.formatter(name)
            if name in sweep:
                first, last = ends(sweep[name])
                return f"{write(first)} – {write(last)}"
            value = workload.get(name, config.get(name))
            if value is not None:
                return write(quantity.parse_bytes(value)) if name.endswith("_bytes") else str(value)
        return "default" if names[0] not in ("iterations", "launches") else "1"

    return [workload["id"], setting("iterations", "launches"), setting("blocks", "threads"), setting("pool_bytes"),
            setting("request_bytes"), str(config.get("repetitions", "default")), _number_of_allocators(config)]


def _number_of_allocators(config: dict) -> str:
    return "all" if "all" in config["allocators"] else str(len(config["allocators"]))


def ends(axis) -> tuple[float, float]:
    """Returns the first and last value of a sweep axis. The axis is a list, or a range whose first two numbers are its
    ends.
    """
    values = axis if isinstance(axis, list) else next(iter(axis.values()))
    numbers = [quantity.parse_bytes(value) for value in values]
    return (numbers[0], numbers[-1]) if isinstance(axis, list) else (numbers[0], numbers[1])


def _outcome(runs: Sequence[Run]) -> str:
    if not runs:
        return "not run"
    return f"{sum(int((run.cells['status'] == 'ok').sum()) for run in runs)} of {sum(len(run.cells) for run in runs)} ok"


def _assumed(table: Table) -> list[str]:
    return [f"{name.rsplit('/', 1)[-1]}: {each}" for name, figure in table.figures.items() for each in figure.get("assumed", [])]
