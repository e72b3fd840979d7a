"""Makes the tables that users of the package get. Only cells that are ok have numbers."""

from __future__ import annotations

import math
from pathlib import Path

import pandas

from allocbench import frames, paths, stored
from allocbench.errors import NothingToDraw

_OF_VALUES = list(frames.VALUE_COLUMNS[1:])


def read(*runs: str | Path) -> pandas.DataFrame:
    """Returns a row per cell, phase and metric. A cell that is not ok has one row without a number, with its `status`
    and `reason`.

    Each setting is a column with the setting's name. A column gets a `_` after its name if another column has this
    name, or if pandas has an attribute of this name (`mode_`, `flags_`). `attrs["axes"]` lists the columns that a run
    sweeps. `attrs["settings"]` lists the columns of all settings.
    """
    def rows_of(folder: Path, document: dict, cells: pandas.DataFrame) -> pandas.DataFrame:
        values = frames.values_of(document).set_index("cell")
        failed = pandas.DataFrame({name: math.nan if name in frames.NUMBERS else "" for name in _OF_VALUES}, index=cells.index[cells["status"] != "ok"])
        return pandas.concat([values, failed]) if len(failed) else values

    return _joined(runs, rows_of)


def cells(*runs: str | Path) -> pandas.DataFrame:
    """Returns a row per cell, with its settings, `status` and `reason`. The columns are those of read() that describe cells."""
    return _joined(runs, lambda folder, document, cells: pandas.DataFrame(index=cells.index))


def samples(*runs: str | Path) -> pandas.DataFrame:
    """Returns a row per sample of the cells that are ok: `phase`, `round_` and `sample_` (both from 0) and `seconds`.

    The other columns describe the cell, as in cells(). The function raises NothingToDraw for a run that was kept
    without samples.
    """
    def rows_of(folder: Path, document: dict, cells: pandas.DataFrame) -> pandas.DataFrame:
        made = []
        for cell in document["cells"]:
            if cell["status"] != "ok":
                continue
            for phase in cell.get("phases", []):
                if "samples" not in phase:
                    raise NothingToDraw(f"{folder} was kept without its samples. If its log has the samples, unpack events.jsonl into another folder, and write the results there with: allocbench report")
                numbers = [number for number, count in enumerate(phase.get("rounds", [len(phase["samples"])])) for _ in range(count)]
                made += [(cell["id"], phase["name"], number, index, seconds)
                         for index, (number, seconds) in enumerate(zip(numbers, phase["samples"]))]
        return pandas.DataFrame(made, columns=["cell", "phase", "round", "sample", "seconds"]).set_index("cell")

    return _joined(runs, rows_of)


def _joined(runs, rows_of) -> pandas.DataFrame:
    """Joins the rows of all runs with the facts and settings of their cells."""
    parts, settings_names, axes_names = [], {}, {}
    for folder in paths.folders(paths.expanded(runs)):
        document = stored.read_document(folder)
        cells = frames.cells_of(document)
        settings = frames.settings_of(cells).drop(columns=["allocator", "pool_bytes"])
        made = rows_of(folder, document, cells)
        about = cells.drop(columns=list(frames.OBJECTS))
        taken = {"run", "cell", *about.columns, *made.columns}
        names = {name: _column(name, taken) for name in settings.columns}
        joined = about.join(settings.rename(columns=names)).join(made, how="right").rename_axis("cell")
        # copy() joins the parts of the frame in memory, because pandas 3 warns if columns are added to many parts.
        parts.append(joined.copy().reset_index().assign(run=str(folder)))
        settings_names |= dict.fromkeys(names.values())
        axes_names |= dict.fromkeys(names.get(axis, axis) for axes in cells["axes"] for axis in axes)
    table = _stacked(parts)
    table.attrs = {"axes": list(axes_names), "settings": list(settings_names)}
    return table


def _stacked(parts: list[pandas.DataFrame]) -> pandas.DataFrame:
    """Stacks the rows of all parts, with the column `run` first.

    It does not use concat(), because versions of pandas treat missing and empty columns of a part differently.
    """
    columns = dict.fromkeys(["run", *(name for part in parts for name in part.columns)])
    values = {name: [value for part in parts for value in (part[name] if name in part else [math.nan] * len(part))] for name in columns}
    return pandas.DataFrame({_column(name, set()): pandas.Series(held, dtype=object).infer_objects() for name, held in values.items()})


def _column(setting: str, taken: set[str]) -> str:
    """Returns the name of a setting's column. This name must not hide an attribute of pandas, such as `table.size`."""
    name = setting.replace(".", "_")
    return f"{name}_" if name in taken or hasattr(pandas.DataFrame, name) else name
