"""This module draws the figure kind `heatmap`.

Rows are allocators. Each column is a value of one or two swept settings, or a metric. Each cell shows the value divided
by a reference value, or the status word. The row of a reference allocator shows the values themselves. This form suits
many series with few points.

The reference is one of the following:

* An allocator: its value in the same column.
* `best`: the smallest value above 0 in the same column.
* `baseline`: the phase of this name in the same cell.
* `baselines`: the median of the phase `baseline` over all cells of the column.

The colour shows the logarithm of the factor: a factor below 1 is blue, and one above 1 is red. A factor is grey if its
interval includes 1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Sequence

import matplotlib
import pandas
from matplotlib import colormaps
from matplotlib.colors import to_hex

from allocbench.errors import NothingToDraw
from plots.figures import heatmap_page, table
from plots.figures.heatmap_blocks import BLANK, Block, Cell
from plots.figures.model import caption, chart, choice, unfolded
from plots.figures.model.chart import Chart
from plots.figures.model.series import group, parts
from plots.runs import labels
from plots.runs.results import Run
from plots.sheet import provisional, quantity, rows, style
from plots.sheet.page import Drawing, Heading

_STRONGEST = 30  # factor with the strongest colour
_SAME = "#eeeeee"
_CLOSE = 2  # if all factors of a map are below this number, they have three digits
_MANY = 24  # number of rows of the largest block above which all blocks have their rows grouped by family


@dataclass(frozen=True)
class Map:
    """The content of one heat map, made from a run."""

    source: str  # folder of the run, for errors
    heading: Heading
    blocks: list[Block]
    across: str  # name of the setting of the columns, empty if the columns have words
    numbers: Chart


def make(run: Run, stem: str) -> Drawing:
    return draw(resolve(run), stem)


def resolve(run: Run) -> Map:
    run = metrics_across(choice.shown(run))
    blocks, lined, x = blocks_of(run), _lined(run), labels.listed(run.plot["x"])[-1]
    numbers = chart.of(lined)
    heading = replace(numbers.heading, caption=(_legend(run), *caption.of_map(run, numbers.wanted())))
    return Map(str(run.folder), heading, blocks, "" if x not in run.axes or labels.words_of(run, x) else labels.setting_name(run, x), numbers)


def draw(shown: Map, stem: str) -> Drawing:
    cells = [cell for block in shown.blocks for _, row in block.rows for cell in row]
    if not any(cell and not cell.word for cell in cells):
        raise NothingToDraw(f"{shown.source}: no cell of this figure is ok; its status table says why.")
    layout = heatmap_page.layout(shown.blocks, shown.across)
    words = {cell.text: heatmap_page.written(cell, layout.room) for cell in cells if cell and cell.word}
    first, *rest = shown.heading.caption
    if words:
        first += " Hatched: no value, with the status."
    if any(cell is None for cell in cells):
        first += " Empty: not measured."
    if short := [f"{words[text]} = {word}" for word in style.STATUS_LETTERS if (text := style.STATUS_SHORT.get(word, word)) in words and words[text] != word]:
        first += " " + ", ".join(short) + "."
    with matplotlib.rc_context(style.RC):
        page = heatmap_page.draw(replace(shown.heading, caption=(first, *rest)), layout)
    return Drawing(stem, page, table.markdown(shown.numbers))


def metrics_across(run: Run) -> Run:
    """Turns several metrics of a plot into the values of a second setting of the columns. Each cell becomes one cell
    per metric.
    """
    metrics = labels.listed(run.plot.get("metric", "time"))
    if len(metrics) == 1:
        return replace(run, config={**run.config, "plot": {**run.plot, "metric": metrics[0]}})
    own = {metric: run.values["metric"].map({metric: "value", f"relative_{metric}": "relative_value"}) for metric in metrics}
    made = unfolded.by(run, "metric", {metric: run.values.assign(metric=names)[names.notna()] for metric, names in own.items()})
    xs = labels.listed(run.plot["x"])
    names = {**{metric: quantity.metric_name(metric) for metric in metrics}, **run.plot.get("names", {})}
    plot = {**run.plot, "metric": "value", "x": [xs[-1], "metric"], "names": names, **({"panels": xs[0]} if len(xs) > 1 else {})}
    sweep = {**run.config.get("sweep", {}), "metric": metrics}  # this list gives the metrics their order
    return replace(made, config={**run.config, "plot": plot, "sweep": sweep})


def _lined(run: Run) -> Run:
    """Returns the run for the table of numbers. If two settings make the columns of the map, the first one makes the
    panels of the table. The values of `panels` then make rows of panels.
    """
    xs = labels.listed(run.plot["x"])
    plot = {**run.plot, "x": xs[-1]}
    if len(xs) > 1:
        plot["panels"] = xs[0]
        plot["rows"] = run.plot.get("panels", "")
        plot.pop("panel_names", None)
    return replace(run, config={**run.config, "plot": plot})


def blocks_of(run: Run) -> list[Block]:
    """Returns one block per phase and value of `panels`. The run's plot must have only one metric
    (`metrics_across()`).
    """
    reference = run.plot["reference"]
    phases = labels.listed(run.plot.get("y", "total"))
    metric = run.plot.get("metric", "time")
    xs = labels.listed(run.plot["x"])
    many = max((len({_row_key(run, cell) for cell in cells}) for _, cells in parts(run, "panels")), default=0) > _MANY
    factors = [value for phase in phases for value in run.at(phase, f"relative_{metric}")["value"]]
    digits = 3 if max(factors, default=_CLOSE) < _CLOSE else 2
    made = []
    for phase in phases:
        for name, cells in parts(run, "panels"):
            part = run.part(cells)
            title = ", ".join(text for text in (quantity.phase_name(phase) if len(phases) > 1 else "", name) if text)
            made.append(_block(part, title, xs, phase, metric, reference, many, digits))
    return made


def _row_key(run: Run, cell: str) -> tuple:
    """Returns what the cells of a row have in common: the allocator, and its parameters without those that are axes."""
    return run.cells.at[cell, "allocator"], tuple(sorted((name, str(value)) for name, value in run.cells.at[cell, "allocator_parameters"].items()
                                                         if f"allocator.{name}" not in run.axes))


def _block(run: Run, title: str, xs: Sequence[str], phase: str, metric: str, reference: str, many: bool,
           digits: int) -> Block:
    places = pandas.Series(list(zip(*(run.column(x) for x in xs))), index=run.cells.index)
    ordered = [labels.in_config_order(run, x, list(dict.fromkeys(run.column(x)))) for x in xs]
    columns = sorted(dict.fromkeys(places), key=lambda place: [values.index(value) for values, value in zip(ordered, place)])
    factors = run.at(phase, f"relative_{metric}")
    own = run.at(phase, metric)
    unit = _unit(own.loc[own.index.isin(run.cells.index[run.cells["allocator"] == reference])])
    made = []
    taken: dict[tuple, list[str]] = {}
    for each in group(run, None):  # group() splits by all axes, but here the axes make columns
        taken.setdefault(_row_key(run, each.cells[0]), []).extend(each.cells)
    if many:
        names = rows.by_family(list(dict.fromkeys(name for name, _ in taken)), lambda name: labels.allocator(run, name))
        taken = dict(sorted(taken.items(), key=lambda item: names.index(item[0][0])))
    for (allocator, parameters), cells in taken.items():
        at = {places[cell]: cell for cell in cells}
        label = run.label(cells[0]) or labels.allocator(run, allocator)
        others = [dict(each) for name, each in taken if name == allocator]
        told = [labels.told(run, name, run.cells.at[cells[0], "allocator_parameters"][name]) for name, value in parameters
                if len({other.get(name) for other in others}) > 1]
        label = labels.distinguished(label, told)
        made.append((f"{label}, {unit[1]}" if allocator == reference and unit[1] else label,
                     [_cell(run, at.get(column), factors, own, unit, allocator == reference, digits) for column in columns]))
    return Block(title, [(_group_name(run, xs[0], column[0]) if len(xs) > 1 else "", _column_name(run, xs[-1], column[-1], ordered[-1]))
                         for column in columns], made, [rows.family_of(name) for name, _ in taken] if many else [])


def _group_name(run: Run, setting: str, value) -> str:
    """Returns a value in words. A number gets the name of its setting."""
    return labels.value_of(run, setting, value) if isinstance(value, str) else labels.setting_of(run, setting, value)


def _column_name(run: Run, setting: str, value, values: Sequence) -> str:
    """Shortens numbers as an axis does."""
    return quantity.on_axis(setting, values)(value) if all(map(quantity.is_number, values)) else labels.value_of(run, setting, value)


def _cell(run: Run, cell: str | None, factors: pandas.DataFrame, own: pandas.DataFrame, unit: tuple[float, str],
          is_reference: bool, digits: int) -> Cell | None:
    if cell is None:
        return None
    status = run.cells.at[cell, "status"]
    if status != "ok" or cell not in own.index:
        word = status if status != "ok" else "no value"
        return Cell(style.STATUS_SHORT.get(word, word), BLANK, True)
    if is_reference:
        return Cell(quantity.factor(own.at[cell, "value"] / unit[0]), BLANK, False, *provisional.among([own.at[cell, "flags"]]))
    if cell not in factors.index:
        return Cell("–", BLANK, True)
    value, low, high, flags = factors.loc[cell, ["value", "low", "high", "flags"]]
    same = low <= 1 <= high
    return Cell(quantity.factor(value, digits), _SAME if same else _colour(value), False, *provisional.among([flags]))


def _unit(values: pandas.DataFrame) -> tuple[float, str]:
    """Returns the unit in which the smallest positive value is at least 1, and its name."""
    smallest = values.loc[values["value"] > 0, "value"].min() if len(values) else math.nan
    if math.isnan(smallest):
        return 1.0, ""
    written = quantity.in_si(smallest, values["unit"].iloc[0])
    return smallest / float(written.split(" ")[0]), written.split(" ")[1] if " " in written else ""


def _colour(factor: float) -> str:
    strength = max(-1.0, min(1.0, math.log(factor) / math.log(_STRONGEST))) if factor > 0 else -1.0
    return to_hex(colormaps["RdBu_r"](0.5 + 0.42 * strength))


def _legend(run: Run) -> str:
    reference, metric = run.plot["reference"], quantity.metric_name(run.plot.get("metric", "time"))
    compared = run.values[run.values["metric"] == f"relative_{run.plot.get('metric', 'time')}"]
    grey = "; grey: the 95 % interval contains 1" if compared["low"].notna().any() else ""
    if reference == "best":
        zeros = " above 0" if (compared["value"] == 0).any() else ""
        blue = "; blue: 0" if zeros else ""
        return f"Factors: {metric} over the smallest of the column{zeros}. Red: larger{blue}{grey}."
    if reference in ("baseline", "baselines"):
        whose = " (the median of all cells of the column)" if reference == "baselines" else ""
        return f"Factors: {metric} over that of the {run.plot.get('names', {}).get('baseline', 'baseline')}{whose}. Red: larger; blue: smaller{grey}."
    name = labels.allocator(run, reference)
    return f"Row {name}: {metric}. Other rows: {metric} over that of {name}. Red: more; blue: less{grey}."
