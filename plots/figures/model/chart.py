"""A chart holds what a line figure or a table shows of a run: panels of series.

lines.py, table.py and the HTML page draw the chart and need no access to the run.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass, field, replace
from typing import Callable, Mapping, Sequence

from plots.figures.model import caption, curves, parts, samples, series, stated
from plots.figures.model.series import Series
from plots.runs import formulas, labels, origin
from plots.runs.results import Run
from plots.sheet import quantity
from plots.sheet.page import Heading


@dataclass(frozen=True)
class Axis:
    """The x axis of a figure. The axis shows one swept setting."""

    setting: str
    name: str
    title: str        # title below the axis
    words: list[str]  # words at the positions 0, 1, ...; empty if the axis has a scale
    log: bool         # whether the plot asks for a logarithmic axis
    even: bool = False  # whether the words are numbers, which the plot wants at equal distances

    def written(self, position: float) -> str:
        return self.words[int(position)] if self.words else quantity.formatter(self.setting)(position)


@dataclass(frozen=True)
class Panel(series.Place):
    unit: str
    title: str       # title of the y axis
    series: list[Series]
    curves: list[tuple[list[float], list[float]]] = field(default_factory=list)  # curves of theory, by series
    # Curves of theory whose series only other panels have.
    lent: list[tuple[Series, tuple[list[float], list[float]]]] = field(default_factory=list)
    equations: dict[str, str] = field(default_factory=dict)  # equations of the curves, by allocator
    marks: list[stated.Mark] = field(default_factory=list)
    bands: list[stated.Band] = field(default_factory=list)
    positions: list[stated.Position] = field(default_factory=list)
    ringed: set[str] = field(default_factory=set)  # cells with a mean that few samples dominate

    def sources(self) -> list[str]:
        return [*(self.equations[each.allocator] for each, _ in self.theory()), *(each.source for each in (*self.marks, *self.bands, *self.positions))]

    def theory(self) -> list[tuple[Series, tuple[list[float], list[float]]]]:
        """Returns the drawn curves, each with the series whose colour it has."""
        return [(each, curve) for each, curve in (*zip(self.series, self.curves), *self.lent) if curve[0]]

    def of(self, names: Sequence[str]) -> Panel:
        """Returns the panel with only the series of these labels. Stated values of other allocators are left out."""
        kept = [index for index, each in enumerate(self.series) if each.label in names]
        shown = {self.series[index].allocator for index in kept}
        owners = {"", *shown}
        marks, bands, positions = ([each for each in stated_ones if each.allocator in owners] for stated_ones in (self.marks, self.bands, self.positions))
        return replace(self, series=[self.series[index] for index in kept], curves=[self.curves[index] for index in kept],
                       lent=[each for each in self.lent if each[0].label in names], marks=marks,
                       bands=[each for each in bands if stated.concerns(each.about, shown)],
                       positions=positions)

    def has_lines(self, wanted: bool) -> bool:
        """Returns whether lines join the points. They do not if the panel has curves of theory."""
        return wanted and not any(xs for xs, _ in self.curves)


@dataclass(frozen=True)
class Chart:
    source: str             # folder of the run, for errors
    heading: Heading        # heading of all cells, without a caption
    of_picture: Callable[[Sequence[str]], Heading]  # makes the heading of a picture from the labels of its curves
    of_table: list[str]     # caption of the table
    assumed: list[str]
    x: Axis
    panels: list[Panel]
    log_y: bool
    joined: bool
    faint: bool             # whether lines are faint over positions that a series skips
    most: int               # largest number of curves in a panel of one picture
    of_paper: bool
    owner: str              # allocator of all series, or empty if there are several
    reference: str
    noise: str              # name of the interval of the reference
    limits: Mapping[str, Sequence[float]]  # limits of the axis, by metric
    units: Mapping[str, str]               # unit, by metric
    forms: Mapping[str, str]               # form, by allocator

    def wanted(self) -> list[tuple[str, str]]:
        """Returns the distinct (phase, metric) pairs of the panels."""
        return list(dict.fromkeys((panel.phase, panel.metric) for panel in self.panels))

    def references(self) -> set[str]:
        """Returns the allocators that other series are compared with: the reference of the plot, and the owners of bands."""
        return {self.reference, *(band.allocator for panel in self.panels for band in panel.bands)} - {""}

    def has_value(self) -> bool:
        return any(len(each.drawn()) for panel in self.panels for each in panel.series)


def of(run: Run) -> Chart:
    """Returns the chart of a run that choice.shown() has prepared."""
    plot, x = run.plot, run.plot["x"]
    log, reference = plot.get("log", ""), plot.get("reference", "")
    cuts = series.panels_of(run)
    wanted = list(dict.fromkeys((cut.phase, cut.metric) for cut in cuts))
    units = {metric: unit for metric, unit in zip(run.values["metric"][::-1], run.values["unit"][::-1])}
    ringed = {(each.cell, each.phase) for each in samples.outliers(run, wanted)}
    axis = Axis(x, labels.setting_name(run, x), plot.get("xlabel") or labels.setting_name(run, x),
                [labels.value_of(run, x, value) for value in labels.columns_of(run, x)], "x" in log, not labels.words_of(run, x) and plot.get("evenly", False))
    panels = [_panel(cut, axis, y_title(run, cut.metric, units.get(cut.metric, "")), {cell for cell, phase in ringed if phase == cut.phase}) for cut in cuts]
    panels = [_with_lent(cut, panel, panels, axis) for cut, panel in zip(cuts, panels)]
    return Chart(str(run.folder), origin.heading(run, origin.title(run), []), functools.partial(_of_picture, run, panels, wanted, axis),
                 [*caption.of_table(run, wanted), *_without_speed_up(run, panels, axis, [each.label for panel in panels for each in panel.series])],
                 run.config.get("assumed", []), axis, panels, "y" in log, plot.get("joined", True), "parity" not in plot, plot.get("curves", parts.MOST),
                 "paper" in run.config, labels.allocator(run, run.allocators()[0]) if series.is_alone(run) else "", reference,
                 f"{labels.allocator(run, reference)}'s own interval" if reference else "", plot.get("limits", {}), units, run.forms)


def _panel(cut: series.Cut, x: Axis, title: str, ringed: set[str]) -> Panel:
    run, phase, metric = cut.run, cut.phase, cut.metric
    all_series = series.series_of(run, x.setting, phase, metric)
    equations = {each.allocator: curves.told(formulas.equation(run, name)) for each in all_series if (name := curves.formula(run, each.allocator, metric))}
    return Panel(cut.name, cut.row_name, cut.phase_name, phase, metric, cut.row, cut.column, run.unit_of(phase, metric), title, all_series,
                 [curves.of_series(run, each, x.setting, metric, x.log) for each in all_series], [], equations, stated.marks(run, x.setting, phase, metric),
                 stated.bands(run, x.setting, phase, metric, all_series), stated.positions(run, phase, metric), ringed)


def _with_lent(cut: series.Cut, panel: Panel, panels: Sequence[Panel], x: Axis) -> Panel:
    """Returns the panel with the curves of theory that only other panels of its metric have, one per equation."""
    drawn, lent = set(panel.equations[each.allocator] for each, (xs, _) in zip(panel.series, panel.curves) if xs), {}
    for other in panels:
        for each, (xs, _) in zip(other.series, other.curves):
            equation = other.equations.get(each.allocator, "")
            if xs and other.metric == panel.metric and equation not in drawn | set(lent):
                lent[equation] = (each, curves.lent(cut.run, panel.series, each, x.setting, panel.metric, x.log))
    return replace(panel, lent=list(lent.values()), equations={**panel.equations, **{each.allocator: equation for equation, (each, _) in lent.items()}})


def _of_picture(run: Run, panels: Sequence[Panel], wanted: Sequence[tuple[str, str]], x: Axis, names: Sequence[str]) -> Heading:
    """Returns caption and foot for the cells of these curves only."""
    cells = {cell for panel in panels for each in panel.series if each.label in names for cell in each.points["cell"]}
    own = run.part(cells)
    told = caption.of_lines(own, wanted, bool(x.words), set(run.cells["allocator"]) - set(own.cells["allocator"]))
    return origin.heading(own, origin.title(run), [*told, *_without_speed_up(run, panels, x, names)])


def _without_speed_up(run: Run, panels: Sequence[Panel], x: Axis, names: Sequence[str]) -> list[str]:
    """Returns the sentence about curves without a value at the first point, if there are any. All speed-ups refer to this
    point.
    """
    drawn = [each for panel in panels if panel.metric == "speed_up" for each in panel.series]
    lacking = [each.label for each in drawn if each.label in names and (each.points["word"] == series.NO_SPEED_UP).any()]
    if not lacking:
        return []
    first = min(position for each in drawn for position in each.drawn()["x"])
    return [f"No speed-up, because there is no value at {labels.setting_of(run, x.setting, first)}: {'; '.join(dict.fromkeys(lacking))}. A speed-up over a later "
            "point would not compare with the others."]


def y_title(run: Run, metric: str, unit: str) -> str:
    if given := run.plot.get("ylabel"):
        return given
    name = quantity.metric_name(metric)
    if metric.startswith("relative_"):
        reference = run.plot["reference"]
        return f"{name}, over that of {f'the {reference}' if reference in ('best', 'baseline', 'baselines') else labels.allocator(run, reference)}"
    if metric == "speed_up":
        return "speed-up over the first point"
    if run.backend == "cpu" and unit in ("s", "op/s", "B/s"):
        name = f"{name} (CPU executor)"
    return name
