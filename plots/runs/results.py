"""This module reads the results of one run as three tables.

`cells` has one row per cell. `settings` has the same rows, with every setting as a column. `values` has one row per
cell, phase and metric. A cell whose status is not `ok` has no values, whatever results.json contains, so no figure can
show a number for it.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Collection, Iterable, Sequence

import pandas

from allocbench import frames, stored
from plots.runs import configs, derived, forms

KEY = ["phase", "metric"]
TIMES = ("s", "op/s", "B/s", "cycles", "ticks")  # units of times and rates
VALUE_COLUMNS = ["cell", *KEY, "value", "low", "high", "unit", "statistic", "samples", "flags"]


@dataclass
class Run:
    """A run has all cells of one config that a folder of results contains.

    The index of `cells` is the id of the cell. The columns of `cells` are frames.ABOUT, `revision`, and the dictionaries
    `axes`, `workload_parameters` and `allocator_parameters`. `settings` has the same index and a column for every swept or
    fixed setting, with None if a cell lacks it. `values` has the columns VALUE_COLUMNS. Metrics of a whole cell have
    the phase ''.
    """

    folder: Path
    cells: pandas.DataFrame
    settings: pandas.DataFrame
    values: pandas.DataFrame
    config: dict
    run: dict
    device: dict
    date: str = ""
    unfinished: int = 0  # planned cells that have not ended, because the run was cut off or still goes on
    not_measured: int = 0  # planned cells of the whole run without numbers or a status; a cell that has not ended may already have numbers
    provenance: dict = field(default_factory=dict)  # revisions, cards, drivers and options of the executor of all cells; results.csv lacks the drivers
    details: dict[str, dict] = field(default_factory=dict)  # entries of results.json by cell

    @property
    def name(self) -> str:
        return self.config.get("name", self.folder.name)

    @property
    def not_finished(self) -> int:
        """Returns the number of cells that have numbers but fewer rounds than planned."""
        return len(self.stored_ids(cell for cell in self.cells.index if _is_unfinished(self.details.get(cell, {}))))

    @property
    def provisional(self) -> int:
        """Returns the number of cells with provisional numbers."""
        return len(self.stored_ids(self.cells.index[self.cells["provisional"].astype(bool)]))

    def stored_ids(self, cells: Iterable[str]) -> set[str]:
        """Returns the ids that these cells have in the results. Cells that a figure makes of one stored cell share its id."""
        return {self.details.get(cell, {}).get("id", cell) for cell in cells}

    @property
    def kept_as(self) -> str:
        """Returns the name of the run. If a packed run is kept in a folder of another name, the folder's name replaces
        the last part.
        """
        first, slash, last = self.name.rpartition("/")
        packed = stored.is_packed(stored.file_of(self.folder, "results.json"))
        return f"{first}{slash}{self.folder.name}" if packed and self.folder.name != last else self.name

    @property
    def backend(self) -> str:
        return self.cells["backend"].iloc[0]

    @property
    def plot(self) -> dict:
        return self.config.get("plot", {})

    @cached_property
    def computed(self) -> dict:
        """Holds tables that were computed from this run, so that each is computed once."""
        return {}

    @cached_property
    def got_null(self) -> pandas.Series:
        """Returns for each cell whether some of its requests got null. A null return is quick, so the cell's times may be
        too short.
        """
        return self.at("", "null_returns")["value"].reindex(self.cells.index).gt(0)

    @cached_property
    def axes(self) -> list[str]:
        """Returns the names of the swept settings."""
        return list(dict.fromkeys(name for axes in self.cells["axes"] for name in axes))

    @cached_property
    def names(self) -> dict[str, str]:
        """Returns the display names of the allocators in the results."""
        told = {entry.get("allocator"): entry.get("display_name") for entry in self.details.values()}
        return {allocator: name for allocator, name in told.items() if allocator and name}

    @cached_property
    def forms(self) -> dict[str, str]:
        """Returns the form of each allocator in the results."""
        return {entry["allocator"]: entry["form"] for entry in self.details.values() if entry.get("form")}

    @cached_property
    def differing_parameters(self) -> dict[str, list[str]]:
        """Returns the parameters in which the cells of an allocator differ although nothing sweeps them.

        Such cells exist if the config names the allocator several times.
        """
        swept = {name.removeprefix("allocator.") for name in self.axes}
        differing = {}
        for allocator, own in self.cells.groupby("allocator", sort=False)["allocator_parameters"]:
            names = dict.fromkeys(name for parameters in own for name in parameters)
            differing[allocator] = [name for name in names if name not in swept and len({str(parameters.get(name)) for parameters in own}) > 1]
        return differing

    def column(self, setting: str) -> pandas.Series:
        """Returns a swept or fixed setting of all cells, with None if a cell lacks it."""
        if setting in self.settings:
            return self.settings[setting]
        return pandas.Series([None] * len(self.cells), index=self.cells.index, dtype=object)

    def moving_with(self, x: str) -> set[str]:
        """Returns the axes that change along a series: x and the axes that the config zips with x."""
        return next((set(group) for group in self.config.get("zip", []) if x in group), {x})

    def matching(self, where: dict) -> pandas.Series:
        """Returns which cells have the wanted settings. A wanted setting is a value, a list of values, or a range."""
        def fits(value, wanted) -> bool:
            if isinstance(wanted, dict):
                return value is not None and wanted.get("from", -math.inf) <= value <= wanted.get("to", math.inf)
            return value in wanted if isinstance(wanted, list) else value == wanted

        chosen = pandas.Series(True, index=self.cells.index)
        for name, wanted in where.items():
            chosen &= pandas.Series([fits(value, wanted) for value in self.column(name)], index=self.cells.index)
        return chosen

    def at(self, phase: str, metric: str) -> pandas.DataFrame:
        """Returns the values of one metric of one phase, by cell."""
        chosen = self.values[(self.values["phase"] == phase) & (self.values["metric"] == metric)]
        return chosen.set_index("cell")

    def known(self) -> set[tuple[str, str]]:
        """Returns every (phase, metric) that a cell has."""
        return set(self.values[KEY].drop_duplicates().itertuples(index=False, name=None))

    def unit_of(self, phase: str, metric: str) -> str:
        units = self.at(phase, metric)["unit"]
        return units.iloc[0] if len(units) else ""

    def part(self, cells: Collection[str]) -> Run:
        """Returns the same run with these cells only."""
        kept = self.cells.index.isin(list(cells))
        return replace(self, cells=self.cells[kept], settings=self.settings[kept],
                       values=self.values[self.values["cell"].isin(self.cells.index[kept])])

    def with_values(self, added: Sequence[pandas.DataFrame]) -> Run:
        return replace(self, values=_all([self.values, *added]))

    def allocators(self) -> list[str]:
        """Returns the allocator ids in the order of the config, and after them those that the config chose by a pattern or with
        `all`, by name. The cells themselves are measured in a shuffled order.
        """
        present = sorted(set(self.cells["allocator"]))
        named = [entry["id"] if isinstance(entry, dict) else entry for entry in self.config.get("allocators", [])]
        return [name for name in dict.fromkeys(named) if name in present] + [n for n in present if n not in named]

    def never_frees(self, cell: str) -> bool:
        """Returns whether the allocator of a cell never frees, according to its leak check."""
        return self.details.get(cell, {}).get("checks", {}).get("leak", "").endswith("never frees")

    def label(self, cell: str) -> str:
        """Returns the label that the config gives the allocator of a cell, or an empty text if it gives none."""
        allocator, parameters = self.cells.at[cell, "allocator"], self.cells.at[cell, "allocator_parameters"]
        for entry in self.config.get("allocators", []):
            if isinstance(entry, dict) and entry["id"] == allocator and "label" in entry:
                if all(parameters.get(name) == value for name, value in entry.get("parameters", {}).items()):
                    return entry["label"]
        return ""


def read_run(folder: Path) -> Run:
    """Returns the run stored in `folder`."""
    return run_of(stored.read_document(folder), folder)


def run_of(ours: dict, folder: Path, plot: dict | None = None) -> Run:
    """Returns the run of a document that was read from `folder`. If `plot` is given, it replaces the stored plot. The check
    of a document is slow, so it is not repeated.
    """
    entries = {entry["id"]: entry for entry in ours["cells"]}
    return of_tables(frames.cells_of(ours), frames.values_of(ours), folder, ours, entries, plot)


def of_tables(cells: pandas.DataFrame, values: pandas.DataFrame, folder: Path, ours: dict, entries: dict[str, dict], plot: dict | None = None) -> Run:
    """Returns the run of tables in the form of frames. `ours` describes the whole run, and `entries` describes each
    cell.
    """
    cells = cells[[*frames.ABOUT, *frames.OBJECTS]].copy()
    cells["revision"] = [entries[cell].get("revision", "") for cell in cells.index]
    settings = frames.settings_of(cells)
    values = values[VALUE_COLUMNS].copy()
    values["flags"] = values["flags"].str.replace(";", " ").str.split()
    run = ours.get("run", {})
    config = json.loads(configs.without_queries(json.dumps(run.get("config", {}), ensure_ascii=False)))
    if plot is not None:
        config["plot"] = plot
    if "reference" in config.get("plot", {}):
        config["plot"] = {**config["plot"], "reference": _present(config["plot"]["reference"], set(cells["allocator"]))}
    unfinished = ours.get("unfinished") or 0
    made = Run(folder, cells, settings, _all([values, *derived.metrics(cells, values)]), config, run, ours.get("device") or {},
               str(run.get("time") or "")[:10], unfinished, unfinished - sum(map(_is_unfinished, entries.values())), ours.get("provenance") or {}, entries)
    if "reference" in made.plot:
        made = made.with_values(derived.relative(made.cells, made.values, made.plot["reference"]))
    return made


def _is_unfinished(entry: dict) -> bool:
    return entry.get("stop") == "not finished"


def _present(allocator: str, known: Collection[str]) -> str:
    """Returns the allocator, or the form of it that was measured instead."""
    candidates = [allocator, *(forms.in_form(allocator, form) for form in (forms.REWORKED, forms.ORIGINAL))]
    return next((name for name in candidates if name in known), allocator)


def _all(frames: Sequence[pandas.DataFrame]) -> pandas.DataFrame:
    filled = [frame[VALUE_COLUMNS] for frame in frames if len(frame)]
    return pandas.concat(filled, ignore_index=True) if filled else frames[0]
