"""This module groups the cells of a run into panels and series. A series is one line of a figure, or one row of a table.

A series has one allocator with one set of parameters. Its cells differ only in the value of x and in settings that
change with x. A panel holds the series of one timed phase, one metric and one value of each setting in `panels` and
`rows`.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import Collection, Sequence

import pandas

from allocbench.errors import NothingToDraw
from plots.runs import labels
from plots.runs.results import Run
from plots.sheet import provisional, quantity, style

NO_SPEED_UP = "no speed-up"  # word of a cell whose series has no value at the first x
_MOST_BESIDE = 4  # most panels side by side


@dataclass(frozen=True)
class Group:
    """A group has the cells of one series, sorted by x."""

    allocator: str
    variant: int  # index of the series among those of the allocator; it decides the shade and the marker
    label: str
    told: str     # words that distinguish the series from others of the allocator
    cells: list[str]


@dataclass(frozen=True)
class Series:
    """A series has its points, sorted by x.

    The columns of `points` are x, cell, value, low, high, provisional and word. A cell without a value has NaN and a
    word that says why. If x sweeps words, x is the index of the word in labels.columns_of().
    """

    allocator: str
    label: str
    look: style.Look
    points: pandas.DataFrame

    def drawn(self) -> pandas.DataFrame:
        return self.points[self.points["value"].notna()]

    def failed(self) -> bool:
        return bool(self.points["value"].isna().any())


@dataclass(frozen=True)
class Place:
    """A place says what a panel shows, and where the panel is in the figure."""

    name: str        # value of `panels` in words, empty if there is only one
    row_name: str    # value of `rows` in words, empty if there is only one
    phase_name: str  # empty if all panels have the same phase
    phase: str
    metric: str
    row: int
    column: int


@dataclass(frozen=True)
class Cut(Place):
    """A cut has the cells of one panel."""

    run: Run


def panels_of(run: Run) -> list[Cut]:
    """Returns one panel per metric, timed phase (`y`) and value of the settings in `rows` and `panels`.

    Values of `panels` are side by side, and values of `rows` are one below the other. Without both, phases and metrics
    are side by side, or one below the other if x sweeps words, because words need room. A single row of more than four
    values of `panels` continues below.

    Raises NothingToDraw if no cell of the run has a metric of the plot. The error lists the phases or metrics that exist.
    """
    shown = _shown(run)
    for phase, metric in shown:
        _require_known(run, phase, metric)
    several_phases = len({phase for phase, _ in shown if phase}) > 1
    columns, rows = parts(run, "panels"), parts(run, "rows")
    across = len(columns)
    if len(columns) == 1 and len(rows) == 1:
        across = 1 if labels.columns_of(run, run.plot.get("x", "")) else len(shown)
    elif len(rows) * len(shown) == 1:  # a row of many panels continues below
        across = math.ceil(len(columns) / math.ceil(len(columns) / _MOST_BESIDE))
    made = []
    for phase, metric in shown:
        for row_name, in_row in rows:
            for name, in_column in columns:
                part = run.part(in_row & in_column)
                told = quantity.phase_name(phase) if several_phases else ""
                made.append(Cut(name, row_name, told, phase, metric, *divmod(len(made), across), part))
    return [panel for panel in made if len(panel.run.cells)]


def _shown(run: Run) -> list[tuple[str, str]]:
    """Returns every (phase, metric) of the plot. A metric of whole cells appears once, without a phase."""
    known = run.known()
    pairs = [(phase, metric) for metric in labels.listed(run.plot.get("metric", "time"))
             for phase in labels.listed(run.plot.get("y", "total"))]
    return list(dict.fromkeys(("", metric) if (phase, metric) not in known and ("", metric) in known else (phase, metric)
                              for phase, metric in pairs))


def parts(run: Run, key: str) -> list[tuple[str, set[str]]]:
    """Returns name and cells of each value of the setting that the plot's `panels` or `rows` names.

    The order is that of the config, as in `panel_names`. If the config writes values in another form (sizes as "2MiB"),
    the order is by size.
    """
    setting = run.plot.get(key)
    column = run.column(setting).dropna() if setting else pandas.Series(dtype=object)
    values = list(column.unique())
    if len(values) < 2:
        return [("", set(run.cells.index))]
    ordered = labels.in_config_order(run, setting, values)
    names = run.plot.get(f"{key.removesuffix('s')}_names", [])
    if len(names) != len(ordered):
        names = [labels.value_of(run, setting, value) if setting == "allocator" else labels.setting_of(run, setting, value)
                 for value in ordered]
    return [(name, set(column.index[[each == value for each in column]])) for name, value in zip(names, ordered)]


def group(run: Run, x: str | None) -> list[Group]:
    """Returns the cells of each series. The allocators have the order of the config. The series of one allocator are sorted by
    the values of the other axes: numbers by size, words in the order of the config.
    """
    moving = run.moving_with(x) if x is not None else set()
    fixed_axes = sorted(set(run.axes) - moving)
    parameters = {name.removeprefix("allocator.") for name in moving}
    keys = pandas.Series({cell: (row.allocator, _text(row.allocator_parameters, parameters),
                                 tuple(_text(row.axes.get(name)) for name in fixed_axes))
                          for cell, row in zip(run.cells.index, run.cells.itertuples())}, dtype=object)
    grouped = {key: list(cells) for key, cells in keys.groupby(keys, sort=False).groups.items()}

    named = "allocator" not in (run.plot.get("panels"), run.plot.get("rows"))
    words = {name: labels.words_of(run, name) for name in fixed_axes}
    made: list[Group] = []
    for allocator in run.allocators():
        own = [cells for key, cells in grouped.items() if key[0] == allocator]
        own.sort(key=lambda cells: [_rank(run.cells.at[cells[0], "axes"].get(name), words[name]) for name in fixed_axes])
        for variant, cells in enumerate(own):
            if x is not None:
                position = run.column(x)
                cells = sorted(cells, key=lambda cell: labels.order(position[cell]))
            told = _told(run, cells[0], own, fixed_axes)
            made.append(Group(allocator, variant, _label(run, cells[0], told, named), told, cells))
    return made


def _rank(value, words: Sequence[str]) -> tuple:
    return labels.order(words.index(value) if value in words else value)


def is_alone(run: Run) -> bool:
    """Returns whether a single allocator makes all series. The result is false if the plot has rivals, because the
    allocator then needs its name.
    """
    return run.cells["allocator"].nunique() == 1 and not run.plot.get("rivals")


def series_of(run: Run, x: str, phase: str, metric: str) -> list[Series]:
    """Returns the series of one panel. Raises NothingToDraw if a cell has no number or word for x. The error lists the axes
    that exist.
    """
    groups = group(run, x)
    columns = labels.columns_of(run, x)
    values = run.at(phase, metric)[["value", "low", "high", "flags"]]
    table = run.cells[["status"]].join(values)
    table[provisional.FLAG] = provisional.among(table["flags"])
    table["x"] = [float(columns.index(position)) if position in columns else position for position in run.column(x)]
    for cell, position in table["x"].items():
        if not quantity.is_number(position):
            raise NothingToDraw(f"{run.folder}: cell {cell} has no number called {x!r} for the x axis. Its axes "
                                f"are: {', '.join(run.cells.at[cell, 'axes']) or 'none'}.")
    table["x"] = table["x"].astype(float)
    absent = NO_SPEED_UP if metric == "speed_up" else "no value"
    table["word"] = ["" if not math.isnan(row.value) else row.status if row.status != "ok" else absent
                     for row in table.itertuples()]
    table = table.rename_axis("cell").reset_index()
    by_cell = table.set_index("cell", drop=False)
    alone = len(groups) > 2 and is_alone(run)
    renamed, rivals = run.plot.get("names", {}), run.plot.get("rivals", [])
    made = []
    for each in groups:
        points = by_cell.loc[each.cells, ["x", "cell", "value", "low", "high", provisional.FLAG, "word"]]
        look = style.shade(each.variant, len(groups)) if alone else style.look(each.allocator, each.variant)
        label = each.told if each.told in rivals else renamed.get(each.label, each.label)
        if label in rivals:
            look = style.rival(rivals.index(label))
        made.append(Series(each.allocator, label, look, points.sort_values("x", kind="stable").reset_index(drop=True)))
    return made


def _require_known(run: Run, phase: str, metric: str) -> None:
    known = run.known()
    if known and (phase, metric) not in known:
        phases = sorted(p for p, m in known if m == metric)
        listed = (f"Phases that have it: {', '.join(p or '(cell)' for p in phases)}" if phases else
                  f"Metrics of that phase: {', '.join(sorted(m for p, m in known if p == phase)) or 'none'}")
        raise NothingToDraw(f"{run.folder}: no cell has the metric {metric!r} of phase {phase!r}. {listed}.")


def _told(run: Run, cell: str, siblings: list[list[str]], fixed_axes: list[str]) -> str:
    """Returns the words that distinguish a series from others of its allocator."""
    first = [run.cells.loc[cells[0]] for cells in siblings]
    differing = [name for name in run.cells.at[cell, "allocator_parameters"]
                 if len({_text(row["allocator_parameters"].get(name)) for row in first}) > 1]
    differing += [name for name in fixed_axes if name.removeprefix("allocator.") not in differing
                  and len({_text(row["axes"].get(name)) for row in first}) > 1]
    return ", ".join(labels.told(run, name, run.settings.at[cell, name]) for name in differing)


def _label(run: Run, cell: str, told: str, named: bool) -> str:
    """Returns the label of a series: the config's label or the display name, and the words that distinguish the series.

    `named` is false if a panel already has the name.
    """
    label = run.label(cell) or labels.allocator(run, run.cells.at[cell, "allocator"])
    if not told:
        return label
    if not named or is_alone(run):  # a panel or the legend's title has the name
        return told
    return labels.distinguished(label, told.split(", "))


def _text(value, without: Collection[str] = ()) -> str:
    if isinstance(value, dict):
        value = {name: each for name, each in value.items() if name not in without}
    return json.dumps(value, sort_keys=True)
