"""This module reads a run from results.csv and a given config, if the folder has neither results.json nor a log.

The table has the cells and their values. It lacks single rounds, the planned cells, the driver and the date. Figures call the driver and the date unknown.
"""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pandas

from allocbench import frames, stored
from allocbench.errors import NothingToDraw, UsageError
from plots.runs import results

NAME = "results.csv"
_TEXTS = ("series", "allocator", "label", "display_name", "form", "workload", "backend", "device", "state", "status")
_NEEDED = ("figure", "cell", *_TEXTS, *frames.OBJECTS, "pool_bytes", "uuid", "revision", "seed", "reason", *frames.VALUE_COLUMNS[1:])
_AGAIN = "Make the file again from the log of its run: allocbench report RUN. Then draw RUN."


def is_alone(folder: Path) -> bool:
    """Returns whether a folder has the table but neither results.json nor a log."""
    return (folder / NAME).is_file() and not any(stored.file_of(folder, name).exists() for name in ("results.json", "events.jsonl"))


def about(folder: Path) -> tuple[str, str]:
    """Returns the figure and the back end."""
    first = _rows(folder / NAME)[0]
    return first["figure"], first["backend"]


def read(folder: Path, config: dict) -> results.Run:
    """Reads the run. `config` is the config of the figure with the part of the run's back end applied."""
    rows = _rows(folder / NAME)
    first = {row["cell"]: row for row in reversed(rows)}
    order = dict.fromkeys(row["cell"] for row in rows)
    provisional = {row["cell"] for row in rows if "provisional" in row["flags"].split()}
    cells = pandas.DataFrame([_cell(first[cell], cell in provisional) for cell in order], dtype=object).set_index("cell")
    of_values = [row for row in rows if row["metric"]]
    values = pandas.DataFrame([[row[name] for name in frames.VALUE_COLUMNS] for row in of_values], columns=list(frames.VALUE_COLUMNS))
    for name in frames.NUMBERS:
        values[name] = pandas.to_numeric(values[name]).astype(float)
    entries = {cell: {"id": cell, **{name: first[cell][name] for name in ("allocator", "display_name", "form", "status", "revision")},
                      "counted": {"histograms": first[cell]["histograms"]}} for cell in order}
    provenance = {key: list(dict.fromkeys(first[cell][column] for cell in order)) for key, column in
                  (("measured_revisions", "revision"), ("cards", "uuid"), ("executors", "executor"))}
    run = {"backend": rows[0]["backend"], "seed": cells["seed"].iloc[0], "config": config, "executor": provenance["executors"][0]}
    return results.of_tables(cells, values, folder, {"run": run, "device": {"name": rows[0]["device"]}, "provenance": provenance}, entries)


def _rows(path: Path) -> list[dict]:
    """Reads all rows and checks that their numbers and objects can be read."""
    with path.open(newline="", encoding="utf-8") as file:
        table = csv.DictReader(file)
        missing = [name for name in _NEEDED if name not in (table.fieldnames or ())]
        if missing:
            raise UsageError(f"{path}:1 lacks the column {missing[0]!r} (harness/README.md lists all columns). {_AGAIN}")
        rows = []
        for row in table:
            try:
                for name in frames.OBJECTS:
                    row[name] = json.loads(row[name])
                row["histograms"] = json.loads(row.get("histograms") or "{}")  # older tables have no histograms and no options of the executor
                row["executor"] = row.get("executor") or ""
                for name in frames.NUMBERS:
                    float(row[name] or 0)
                row["pool_bytes"], row["seed"] = int(row["pool_bytes"]), int(row["seed"] or 0)
            except (TypeError, ValueError, AttributeError) as error:
                raise UsageError(f"{path}:{table.line_num} is damaged ({error}). {_AGAIN}") from None
            rows.append(row)
    if not rows:
        raise NothingToDraw(f"{path} contains no cell. Name a run with finished cells.")
    return rows


def _cell(row: dict, provisional: bool) -> dict:
    """Returns a cell in the form of frames.cells_of."""
    entry = {name: row[name] for name in ("cell", "figure", *_TEXTS, "pool_bytes", "uuid", "revision", "seed", "reason")}
    objects = {name: {key: tuple(value) if isinstance(value, list) else value for key, value in row[name].items()} for name in frames.OBJECTS}
    return {**entry, **objects, "left_out": frames.was_left_out(row), "provisional": provisional and row["status"] == "ok"}
