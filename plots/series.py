"""Groups the cells of a run into panels and series: what one line, or one row of a table, consists of.

A series is one allocator with one set of parameters, at fixed values of all swept axes but the x axis. A panel holds the
series of one timed phase, metric, and value of the axes that the config's `panels` and `rows` name.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, replace
from typing import Callable, Collection, Sequence

from plots import quantity, style
from plots.errors import NothingToDraw
from plots.results import Cell, Run, Value


_MOST_BESIDE = 4  # panels


@dataclass(frozen=True)
class Point:
    """Either a value or, where the cell has none, the word that stands in its place. Where x sweeps words, x is the place
    of the word in words_of()."""

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
    name: str        # of the value of `panels`; empty where there is nothing to tell apart
    row_name: str    # the same of `rows`
    phase_name: str  # empty where all panels have the same phase
    run: Run         # the cells of the panel
    phase: str
    metric: str
    row: int
    column: int


def panels_of(run: Run) -> list[Panel]:
    """One panel or block per metric, timed phase (`y`) and value of the settings that `rows` and `panels` name. The values
    of `panels` lie beside each other, those of `rows` below each other; phases and metrics take what is left. Where x sweeps
    words, which need room, they lie below each other."""
    shown = _shown(run)
    several_phases = len({phase for phase, _ in shown if phase}) > 1
    columns, rows = parts(run, "panels"), parts(run, "rows")
    across = len(columns)
    if len(columns) == 1 and len(rows) == 1:
        across = 1 if words_of(run, run.plot.get("x", "")) else len(shown)
    elif len(rows) * len(shown) == 1:  # many panels of one row go on below
        across = math.ceil(len(columns) / math.ceil(len(columns) / _MOST_BESIDE))
    made = []
    for phase, metric in shown:
        for row_name, in_row in rows:
            for name, in_column in columns:
                part = replace(run, cells=[cell for cell in run.cells if in_row(cell) and in_column(cell)])
                told = phase.replace("_", " ") if several_phases else ""
                made.append(Panel(name, row_name, told, part, phase, metric, *divmod(len(made), across)))
    return [panel for panel in made if panel.run.cells]


def _shown(run: Run) -> list[tuple[str, str]]:
    """Every (phase, metric) of the plot. A metric of whole cells stands once beside those of phases."""
    known = {key for cell in run.cells for key in cell.values}
    pairs = [(phase, metric) for metric in _listed(run.plot.get("metric", "time"))
             for phase in _listed(run.plot.get("y", "total"))]
    return list(dict.fromkeys(("", metric) if (phase, metric) not in known and ("", metric) in known else (phase, metric)
                              for phase, metric in pairs))


def wanted_of(panels: Sequence[Panel]) -> list[tuple[str, str]]:
    """Their (phase, metric), once each."""
    return list(dict.fromkeys((panel.phase, panel.metric) for panel in panels))


def _listed(value) -> list[str]:
    return [value] if isinstance(value, str) else value


def parts(run: Run, key: str) -> list[tuple[str, Callable[[Cell], bool]]]:
    """Name and test of the cells for each value of the setting that the plot's `panels` or `rows` names, in the order of the
    config, which is that of `panel_names`; by size where the config writes them otherwise (sizes as "2MiB")."""
    setting = run.plot.get(key)
    values = {cell.setting(setting) for cell in run.cells} - {None} if setting else set()
    if len(values) < 2:
        return [("", lambda cell: True)]
    written = run.allocators() + [value for axes in (run.config.get("sweep", {}), *run.config.get("zip", []))
                                  for value in _listed(axes.get(setting, []))]
    ordered = sorted(values, key=written.index if values <= set(written) else _order)
    names = run.plot.get(f"{key.removesuffix('s')}_names", [])
    if len(names) != len(ordered):
        names = [_written(setting, value) if setting == "allocator" else f"{quantity.axis_name(setting)} {_written(setting, value)}"
                 for value in ordered]
    return [(name, lambda cell, value=value: cell.setting(setting) == value) for name, value in zip(names, ordered)]


def group(run: Run, x: str | None) -> list[tuple[str, int, str, list[Cell]]]:
    """(allocator, variant, label, cells) of each series, in config order, cells in growing x."""
    moving = moving_with(run, x) if x is not None else set()
    fixed_axes = sorted({name for cell in run.cells for name in cell.axes} - moving)
    parameters = {name.removeprefix("allocator.") for name in moving}
    groups: dict[tuple, list[Cell]] = {}
    for cell in run.cells:
        key = (cell.allocator, _text(cell.allocator_parameters, without=parameters),
               tuple(_text(cell.axes.get(name)) for name in fixed_axes))
        groups.setdefault(key, []).append(cell)

    named = "allocator" not in (run.plot.get("panels"), run.plot.get("rows"))
    grouped = []
    for allocator in run.allocators():
        own = [cells for key, cells in groups.items() if key[0] == allocator]
        own.sort(key=lambda cells: [_order(cells[0].axes.get(name)) for name in fixed_axes])
        # Several series of KMA take the looks that "KMA (published)" would begin with.
        taken = sum(1 for each, *_ in grouped if each == style.base_of(allocator))
        for variant, cells in enumerate(own, start=max(taken - 1, 0)):
            if x is not None:
                cells = sorted(cells, key=lambda cell: _order(cell.setting(x)))
            grouped.append((allocator, variant, _label(run, cells[0], own, fixed_axes, named), cells))
    return grouped


def moving_with(run: Run, x: str) -> set[str]:
    """The axes that change from point to point of a series: x and those that the config zips with it."""
    return next((set(group) for group in run.config.get("zip", []) if x in group), {x})


def words_of(run: Run, x: str) -> list[str]:
    """The words that x sweeps, in the order of the config: a word's place in the list is where it stands on the axis. Empty
    where x sweeps numbers."""
    present = {cell.setting(x) for cell in run.cells if isinstance(cell.setting(x), str)}
    written = [value for axes in (run.config.get("sweep", {}), *run.config.get("zip", []))
               for value in _listed(axes.get(x, [])) if isinstance(value, str)]
    return list(dict.fromkeys([*written, *sorted(present)])) if present else []


def series_of(run: Run, x: str, phase: str, metric: str) -> list[Series]:
    """The series of one panel. Raises NothingToDraw when no ok cell has that metric, saying which there are."""
    made = []
    words = words_of(run, x)
    for allocator, variant, label, cells in group(run, x):
        points = []
        for cell in cells:
            position = cell.setting(x)
            if position in words:
                position = words.index(position)
            if isinstance(position, bool) or not isinstance(position, (int, float)):
                raise NothingToDraw(f"{run.folder}: cell {cell.id} has no number called {x!r} for the x axis. Its axes "
                                    f"are: {', '.join(cell.axes) or 'none'}.")
            value = cell.values.get((phase, metric))
            word = "" if value else (cell.status if cell.status != "ok" else "no value")
            points.append(Point(float(position), cell, value, word))
        made.append(Series(allocator, variant, label, tuple(sorted(points, key=lambda point: point.x))))
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


def _label(run: Run, cell: Cell, siblings: list[list[Cell]], fixed_axes: list[str], named: bool) -> str:
    """The config's label, or the display name (`named`: unless a panel bears it), followed by whatever tells this series from
    the allocator's other ones."""
    label = run.label(cell) or style.display_name(cell.allocator)
    differing = [name for name in cell.allocator_parameters
                 if len({_text(other[0].allocator_parameters.get(name)) for other in siblings}) > 1]
    differing += [name for name in fixed_axes if name.removeprefix("allocator.") not in differing
                  and len({_text(other[0].axes.get(name)) for other in siblings}) > 1]
    if not differing:
        return label
    told = ", ".join(_told(name, cell.setting(name)) for name in differing)
    if not named:
        return told
    return f"{label[:-1]}, {told})" if label.endswith(")") else f"{label} ({told})"


def _told(name: str, value) -> str:
    """A setting in a label: a word stands for itself, anything else needs its name."""
    if isinstance(value, bool):
        return f"{name} {'on' if value else 'off'}"
    return value if isinstance(value, str) else f"{name}={_written(name, value)}"


def _written(name: str, value) -> str:
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return quantity.formatter(name)(value) if is_number else style.display_name(value) if name == "allocator" else str(value)


def _text(value, without: Collection[str] = ()) -> str:
    if isinstance(value, dict):
        value = {name: each for name, each in value.items() if name not in without}
    return json.dumps(value, sort_keys=True)


def _order(value) -> tuple:
    """Numbers by size, then everything else by its text."""
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return (0, value, "") if is_number else (1, 0, str(value))
