"""Reads the results of one run: values from results.csv, what the run was from results.json; either may be packed (.gz).

The status word comes before any number: a cell that is not `ok` in all its rows has no values here, whatever its rows
hold, so nothing that draws can show a number for it.
"""

from __future__ import annotations

import csv
import gzip
import json
import math
from dataclasses import dataclass, field
from pathlib import Path

from plots import derived
from plots.errors import NothingToDraw, UsageError

STATUSES = ("ok", "skipped", "unsupported", "oom", "incorrect", "timeout", "device_fault", "crashed")

COLUMNS = ("figure", "cell", "series", "allocator", "allocator_parameters", "workload", "workload_parameters", "axes",
           "pool_bytes", "backend", "device", "seed", "state", "status", "reason", "phase", "metric", "unit",
           "statistic", "value", "low", "high", "samples", "flags")


@dataclass(frozen=True)
class Value:
    """One metric of one phase of one cell, with its 95 % bootstrap interval where there is one."""

    value: float
    low: float | None
    high: float | None
    unit: str
    statistic: str
    samples: int | None
    flags: frozenset[str] = frozenset()


@dataclass
class Cell:
    """The unit that was measured once. `values` maps (phase, metric) to a Value; cell-wide metrics have phase ''."""

    id: str
    allocator: str
    allocator_parameters: dict
    workload: str
    workload_parameters: dict
    axes: dict
    pool_bytes: int | None
    backend: str
    status: str
    reason: str
    values: dict[tuple[str, str], Value] = field(default_factory=dict)
    histograms: dict[str, dict[int, int]] = field(default_factory=dict)  # counted in untimed passes: bin -> count
    revision: str = ""  # of the program that measured it

    def setting(self, name: str):
        """A swept or fixed value by its name, wherever the cell keeps it; None when it has none of that name."""
        if name in self.axes:
            return self.axes[name]
        if name in ("allocator", "pool_bytes"):
            return getattr(self, name)
        return self.workload_parameters.get(name, self.allocator_parameters.get(name))


@dataclass
class Run:
    """All cells of one config on one device."""

    folder: Path
    cells: list[Cell]
    config: dict
    run: dict
    device: dict
    date: str = ""
    unfinished: int = 0  # planned cells that have not ended: the run was cut off or goes on

    @property
    def name(self) -> str:
        return self.config.get("name", self.folder.name)

    @property
    def backend(self) -> str:
        return self.cells[0].backend

    @property
    def plot(self) -> dict:
        return self.config.get("plot", {})

    def allocators(self) -> list[str]:
        """Allocator ids in the order of the config; measuring order is shuffled and means nothing to a reader."""
        present = list(dict.fromkeys(cell.allocator for cell in self.cells))
        named = [entry["id"] if isinstance(entry, dict) else entry for entry in self.config.get("allocators", [])]
        return [name for name in dict.fromkeys(named) if name in present] + [n for n in present if n not in named]

    def label(self, cell: Cell) -> str:
        """What the config calls the allocator of a cell; empty where it leaves that to the allocator's own name."""
        for entry in self.config.get("allocators", []):
            if isinstance(entry, dict) and entry["id"] == cell.allocator and "label" in entry:
                if entry.get("parameters", {}).items() <= cell.allocator_parameters.items():
                    return entry["label"]
        return ""


def read_run(folder: Path) -> Run:
    """The run stored in `folder`."""
    document = _read_json(_stored(folder / "results.json"))
    ours = document.get("allocbench", {})
    csv_path = _stored(folder / "results.csv")
    cells = _read_cells(csv_path)
    if not cells:
        raise NothingToDraw(f"{csv_path} holds no cell. Look at events.jsonl beside it, or run the config "
                            "again with --resume.")
    entries = {entry["id"]: entry for entry in ours.get("cells", [])}
    for cell in cells:
        entry = entries.get(cell.id, {})
        cell.revision = entry.get("revision", "")
        if cell.status == "ok":
            cell.histograms = {name: {first: count for first, count in bins}
                               for name, bins in entry.get("counted", {}).get("histograms", {}).items()}
    run = ours.get("run", {})
    started = run.get("time") or document.get("context", {}).get("date") or ""
    made = Run(folder, cells, run.get("config", {}), run, ours.get("device") or {}, str(started)[:10],
               ours.get("unfinished") or 0)
    if "reference" in made.plot:
        derived.add_relative(made, made.plot["reference"])
    return made


def find_runs(path: Path) -> list[Path]:
    """Folders at or below `path` that hold a results.csv or results.csv.gz, in a stable order."""
    if path.name.removesuffix(".gz") in ("results.csv", "results.json"):
        path = path.parent
    return sorted({found.parent for pattern in ("results.csv", "results.csv.gz") for found in path.rglob(pattern)})


def _stored(path: Path) -> Path:
    """`path`, or its packed form where only that exists."""
    packed = path.with_name(path.name + ".gz")
    return packed if packed.exists() and not path.exists() else path


def _open(path: Path):
    if path.suffix == ".gz":
        return gzip.open(path, "rt", encoding="utf-8", newline="")
    return path.open(encoding="utf-8", newline="")


def _read_json(path: Path) -> dict:
    try:
        with _open(path) as text:
            return json.load(text)
    except FileNotFoundError:
        raise UsageError(f"{path} is missing. Write it again with: allocbench report {path.parent}") from None
    except (json.JSONDecodeError, UnicodeDecodeError, gzip.BadGzipFile, EOFError) as error:
        raise UsageError(f"{path} is not JSON ({error}). Write it again with: allocbench report {path.parent}") from None


def _read_cells(path: Path) -> list[Cell]:
    cells: dict[str, Cell] = {}
    with _open(path) as lines:
        rows = csv.DictReader(lines)
        lacking = [name for name in COLUMNS if name not in (rows.fieldnames or [])]
        if lacking:
            raise UsageError(f"{path}:1 lacks the column {lacking[0]!r}. Write it again with: "
                             f"allocbench report {path.parent}")
        for row in rows:
            where = f"{path}:{rows.line_num}"
            cell = cells.setdefault(row["cell"], _cell_of(row, where))
            if row["status"] != "ok":
                cell.status, cell.reason = row["status"], row["reason"]
            elif row["metric"]:
                cell.values[row["phase"], row["metric"]] = _value_of(row, where)
    for cell in cells.values():
        if cell.status != "ok":
            cell.values.clear()
        derived.add_to(cell)
    return list(cells.values())


def _cell_of(row: dict, where: str) -> Cell:
    if row["status"] not in STATUSES:
        raise UsageError(f"{where} has the unknown status {row['status']!r}. Known are: {', '.join(STATUSES)}. "
                         "Write the file again with: allocbench report DIR")
    return Cell(id=row["cell"], allocator=row["allocator"],
                allocator_parameters=_parse_object(row, "allocator_parameters", where), workload=row["workload"],
                workload_parameters=_parse_object(row, "workload_parameters", where),
                axes=_parse_object(row, "axes", where),
                pool_bytes=int(row["pool_bytes"]) if row["pool_bytes"] else None, backend=row["backend"],
                status=row["status"], reason=row["reason"])


def _parse_object(row: dict, column: str, where: str) -> dict:
    try:
        return json.loads(row[column] or "{}")
    except json.JSONDecodeError as error:
        raise UsageError(f"{where} column {column} is not JSON ({error}). The file was edited or cut; write it again "
                         "with: allocbench report DIR") from None


def _value_of(row: dict, where: str) -> Value:
    def number(column: str) -> float | None:
        text = row[column]
        if not text:
            return None
        try:
            parsed = float(text)
        except ValueError:
            parsed = math.nan
        if not math.isfinite(parsed):
            raise UsageError(f"{where} column {column} holds {text!r}, which is no finite number. The file was edited "
                             "or cut; write it again with: allocbench report DIR")
        return parsed

    value = number("value")
    if value is None:
        raise UsageError(f"{where} is ok and names the metric {row['metric']!r} but has no value. Write the file again "
                         "with: allocbench report DIR")
    samples = number("samples")
    return Value(value, number("low"), number("high"), row["unit"], row["statistic"],
                 None if samples is None else int(samples), frozenset(row["flags"].replace(";", " ").split()))
