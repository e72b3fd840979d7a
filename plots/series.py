"""Groups the cells of a run into panels and series: what one line, or one row of a table, consists of.

A series is one allocator with one set of parameters, at fixed values of all swept axes but the x axis. A panel holds the
series of one timed phase, or of one value of the axis that the config's `panels` names.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace

from plots import quantity, style
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
    shades: int = 0  # where one allocator has all series of a figure: how many, so that shades tell them apart

    @property
    def look(self) -> style.Look:
        return style.shade(self.variant, self.shades) if self.shades else style.look(self.allocator, self.variant)

    def drawn(self) -> list[Point]:
        return [point for point in self.points if point.value is not None]

    def failed(self) -> list[Point]:
        return [point for point in self.points if point.value is None]


@dataclass(frozen=True)
class Panel:
    name: str  # empty where there is nothing to tell apart
    run: Run   # the cells of the panel
    phase: str
    metric: str


def panels_of(run: Run) -> list[Panel]:
    """One panel or block per metric, timed phase (`y`) and value of the setting that `panels` names."""
    phases, metrics = _listed(run.plot.get("y", "total")), _listed(run.plot.get("metric", "time"))
    parts = _parts(run)
    made = []
    for metric in metrics:
        for phase in phases:
            for name, part in parts:
                told = [name] if len(parts) > 1 else []
                if len(phases) > 1:
                    told.append(phase.replace("_", " "))
                made.append(Panel(", ".join(told), part, phase, metric))
    return made


def wanted_of(panels: Sequence[Panel]) -> list[tuple[str, str]]:
    """Their (phase, metric), once each."""
    return list(dict.fromkeys((panel.phase, panel.metric) for panel in panels))


def _listed(value) -> list[str]:
    return [value] if isinstance(value, str) else value


def _parts(run: Run) -> list[tuple[str, Run]]:
    setting = run.plot.get("panels")
    if setting is None:
        return [("", run)]
    values = sorted({cell.setting(setting) for cell in run.cells if cell.setting(setting) is not None}, key=_order)
    names = run.plot.get("panel_names", [])
    if len(names) != len(values):
        names = [f"{quantity.axis_name(setting)} {_written(setting, value)}" for value in values]
    return [(name, replace(run, cells=[cell for cell in run.cells if cell.setting(setting) == value]))
            for name, value in zip(names, values)]


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
    if len(made) > 2 and len({series.allocator for series in made}) == 1:
        made = [replace(series, shades=len(made)) for series in made]
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
    told = ", ".join(_told(name, cell.setting(name)) for name in differing)
    return f"{label[:-1]}, {told})" if label.endswith(")") else f"{label} ({told})"


def _told(name: str, value) -> str:
    """A setting in a label: a word stands for itself, anything else needs its name."""
    if isinstance(value, bool):
        return f"{name} {'on' if value else 'off'}"
    return value if isinstance(value, str) else f"{name}={_written(name, value)}"


def _written(name: str, value) -> str:
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return quantity.formatter(name)(value) if is_number else str(value)


def _text(value, without: str | None = None) -> str:
    if isinstance(value, dict):
        value = {name: each for name, each in value.items() if name != without}
    return json.dumps(value, sort_keys=True)


def _order(value) -> tuple:
    """Numbers by size, then everything else by its text."""
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return (0, value, "") if is_number else (1, 0, str(value))
