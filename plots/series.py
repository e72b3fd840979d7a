"""Groups the cells of a run into series: what one line, or one row of a table, consists of.

A series is one allocator with one set of parameters, at fixed values of all swept axes but the x axis.
"""

from __future__ import annotations

import json
from dataclasses import dataclass

from plots import style
from plots.errors import NothingToDraw
from plots.results import Cell, Run, Value


@dataclass(frozen=True)
class Point:
    """Either a value or, where the cell has none, the word that stands in its place."""

    x: float
    cell: Cell
    value: Value | None
    word: str


@dataclass(frozen=True)
class Series:
    allocator: str
    variant: int  # counts the series of one allocator, so that they can share a colour and differ in line style
    label: str
    points: tuple[Point, ...]

    def drawn(self) -> list[Point]:
        return [point for point in self.points if point.value is not None]

    def failed(self) -> list[Point]:
        return [point for point in self.points if point.value is None]


def wanted_of(plot: dict) -> list[tuple[str, str]]:
    """(phase, metric) of each panel or block that a config's `plot` asks for: every phase with every metric."""
    phases, metrics = plot.get("y", "total"), plot.get("metric", "time")
    return [(phase, metric) for metric in ([metrics] if isinstance(metrics, str) else metrics)
            for phase in ([phases] if isinstance(phases, str) else phases)]


def group(run: Run, x: str | None) -> list[tuple[str, int, str, list[Cell]]]:
    """(allocator, variant, label, cells) of each series, in config order, cells in growing x."""
    fixed_axes = sorted({name for cell in run.cells for name in cell.axes} - {x})
    groups: dict[tuple, list[Cell]] = {}
    for cell in run.cells:
        key = (cell.allocator, _text(cell.allocator_parameters, without=(x or "").removeprefix("allocator.")),
               tuple(_text(cell.axes.get(name)) for name in fixed_axes))
        groups.setdefault(key, []).append(cell)

    grouped = []
    for allocator in run.allocators():
        own = [cells for key, cells in groups.items() if key[0] == allocator]
        own.sort(key=lambda cells: [_order(cells[0].axes.get(name)) for name in fixed_axes])
        for variant, cells in enumerate(own):
            if x is not None:
                cells = sorted(cells, key=lambda cell: _order(cell.setting(x)))
            grouped.append((allocator, variant, _label(allocator, cells[0], own, fixed_axes), cells))
    return grouped


def series_of(run: Run, x: str, phase: str, metric: str) -> list[Series]:
    """The series of one panel. Raises NothingToDraw when no ok cell has that metric, saying which there are."""
    made = []
    for allocator, variant, label, cells in group(run, x):
        points = []
        for cell in cells:
            position = cell.setting(x)
            if isinstance(position, bool) or not isinstance(position, (int, float)):
                raise NothingToDraw(f"{run.folder}: cell {cell.id} has no number called {x!r} for the x axis. Its axes "
                                    f"are: {', '.join(cell.axes) or 'none'}.")
            value = cell.values.get((phase, metric))
            word = "" if value else (cell.status if cell.status != "ok" else "no value")
            points.append(Point(float(position), cell, value, word))
        made.append(Series(allocator, variant, label, tuple(points)))
    _require_known(run, phase, metric)
    return made


def _require_known(run: Run, phase: str, metric: str) -> None:
    known = {key for cell in run.cells for key in cell.values}
    if known and (phase, metric) not in known:
        listed = ", ".join(sorted(f"{p or '(cell)'}/{m}" for p, m in known))
        raise NothingToDraw(f"{run.folder}: no cell has the metric {metric!r} of phase {phase!r}. "
                            f"Recorded are: {listed}.")


def _label(allocator: str, cell: Cell, siblings: list[list[Cell]], fixed_axes: list[str]) -> str:
    """The display name, followed by whatever tells this series from the allocator's other ones."""
    label = style.display_name(allocator)
    differing = [name for name in cell.allocator_parameters
                 if len({_text(other[0].allocator_parameters.get(name)) for other in siblings}) > 1]
    differing += [name for name in fixed_axes if name.removeprefix("allocator.") not in differing
                  and len({_text(other[0].axes.get(name)) for other in siblings}) > 1]
    if not differing:
        return label
    return f"{label} ({', '.join(_told_apart(name, cell.setting(name)) for name in differing)})"


def _told_apart(name: str, value) -> str:
    return f"{name} {'on' if value else 'off'}" if isinstance(value, bool) else f"{name}={value}"


def _text(value, without: str | None = None) -> str:
    if isinstance(value, dict):
        value = {name: each for name, each in value.items() if name != without}
    return json.dumps(value, sort_keys=True)


def _order(value) -> tuple:
    """Numbers by size, then everything else by its text."""
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return (0, value, "") if is_number else (1, 0, str(value))
