"""This module draws the figure kind `scene_table`: an application with several inputs. The Markdown has one column per
input. The image has one row per input.

The figure shows what the application requests from its allocator, and the time relative to a reference allocator. The
Markdown also shows the part of each time that exceeds the reference's time, in percent. An image has no room for it.
The tables of the paper itself follow below.
"""

from __future__ import annotations

import math
import textwrap
from typing import Sequence

import matplotlib
import pandas

from allocbench.errors import NothingToDraw
from plots.figures.model import caption, series
from plots.runs import labels, origin
from plots.runs.results import Run
from plots.sheet import grid, provisional, quantity, style
from plots.sheet.page import Drawing

Column = tuple  # values of the settings that the config's `columns` names
_WIDE = 0.25    # half-width of an interval, relative to its value, above which a number is uncertain
_UNCERTAIN = "*"  # mark after such a number in an image


def make(run: Run, stem: str) -> Drawing:
    written, drawn = grids_of(run, True), [_in_image(each) for each in grids_of(run, False)]
    heading = origin.heading(run, origin.title(run), _caption(run, drawn))
    with matplotlib.rc_context(style.RC):
        page = grid.draw(heading, drawn)
    return Drawing(stem, page, heading.markdown([grid.markdown(each) for each in written], run.config.get("assumed", [])))


def grids_of(run: Run, whole: bool) -> list[grid.Grid]:
    """Returns the tables. `whole` adds intervals and shares, for which an image has no room."""
    phase, reference = run.plot.get("y", "total"), run.plot["reference"]
    columns = columns_of(run)
    made = [_facts(run, columns), _times(run, columns, phase, reference, whole)]
    made = [each for each in (*made, *([_shares(run, columns, phase, reference)] if whole else [])) if each.rows]
    if not made or (phase, "time") not in run.known():
        raise NothingToDraw(f"{run.folder}: no cell of this table is ok; its status table says why.")
    for printed in run.plot.get("printed", []):
        made.append(grid.Grid(printed["columns"], printed["rows"], printed.get("title", "")))
    return made


def _in_image(each: grid.Grid) -> grid.Grid:
    """Puts the inputs into rows and the allocators into columns, with short status words. A page has room for more rows
    than columns.
    """
    made = grid.swapped(each)
    for number, row in enumerate(made.rows):
        for place, word in enumerate(row):
            if (number, place) in made.muted:
                row[place] = style.STATUS_SHORT.get(word, word)
    return made


def columns_of(run: Run) -> list[Column]:
    """Returns the columns in the order of the config's `zip`, or sorted by their texts if there is none. The order of the
    cells does not count, because the measurement shuffles it.
    """
    settings = run.plot["columns"]
    present = list(dict.fromkeys(_column(run)))
    for zipped in run.config.get("zip", []):
        if settings[0] not in zipped:
            continue
        count = len(zipped[settings[0]])
        listed = [tuple(zipped[name][i] if name in zipped else None for name in settings) for i in range(count)]
        listed = list(dict.fromkeys(listed))
        return sorted(present, key=lambda column: next(
            (i for i, wanted in enumerate(listed)
             if all(w is None or w == c for w, c in zip(wanted, column))), len(listed)))
    return sorted(present, key=str)


def _column(run: Run) -> pandas.Series:
    """Returns the column of each cell."""
    return pandas.Series(list(zip(*(run.column(name) for name in run.plot["columns"]))), index=run.cells.index)


def _names(run: Run, columns: Sequence[Column]) -> list[str]:
    """Returns names such as `dragon\n100k\n(2)`: the first setting, then the settings that are neither 0 nor absent."""
    names = []
    for column in columns:
        extra = [str(value) for value in column[1:] if value]
        first = labels.value_of(run, run.plot["columns"][0], column[0])
        names.append("\n".join([*textwrap.wrap(first.replace("_", " "), 10, break_long_words=False), *([f"({', '.join(extra)})"] if extra else [])]))
    return names


def _facts(run: Run, columns: Sequence[Column]) -> grid.Grid:
    """Returns the counters that do not depend on the allocator. Each value comes from the first cell of the column that
    has this counter.
    """
    place = _column(run)
    rows = []
    for metric in run.plot.get("facts", []):
        values = run.at("", metric)["value"]
        values = values.loc[[cell for cell in run.cells.index if cell in values.index]]
        first = values.groupby(place.loc[values.index], sort=False).first()
        rows.append([quantity.metric_name(metric), *(_plain(first[column]) if column in first.index else "–" for column in columns)])
    return grid.Grid(["", *_names(run, columns)], rows, "What the allocator is asked for")


def _times(run: Run, columns: Sequence[Column], phase: str, reference: str, intervals: bool) -> grid.Grid:
    rows, muted = [], set()
    kernels = run.plot.get("kernels", [])
    times, factors = run.at(phase, "time"), run.at(phase, "relative_time")
    for number, (allocator, label, by_column) in enumerate(_rows(run)):
        words = [label]
        for kernel in kernels:
            registers = run.at(kernel, "registers")["value"]
            found = [registers[cell] for cell in by_column.values() if cell in registers.index]
            words.append(f"{max(found):.0f}" if found and run.backend == "cuda" else "–")
        statuses = {run.cells.at[by_column[column], "status"] if column in by_column else "" for column in columns}
        # If all cells of a row have the same status, a table with intervals shows it once, because its columns are wide.
        if intervals and len(statuses) == 1 and statuses != {"ok"}:
            muted.add((number, len(words)))
            rows.append([*words, *statuses, *[""] * (len(columns) - 1)])
            continue
        for column in columns:
            cell = by_column.get(column)
            if cell is None or run.cells.at[cell, "status"] != "ok":
                muted.add((number, len(words)))
                words.append(run.cells.at[cell, "status"] if cell else "–")
            elif cell not in times.index:
                muted.add((number, len(words)))
                words.append("no value")
            elif allocator == reference:
                words.append(_with_doubt(quantity.in_si(times.at[cell, "value"], "s"), times.loc[cell], intervals))
            elif cell in factors.index:
                words.append(_with_doubt(_factor(factors.at[cell, "value"]), factors.loc[cell], intervals))
            else:
                words.append("no reference")
        rows.append(words)
    header = [f"{phase} time", *("registers\n" + "\n".join(textwrap.wrap(kernel.replace("_", " "), 10)) for kernel in kernels),
              *_names(run, columns)]
    return grid.Grid(header, rows, f"Time of phase {phase} with {labels.allocator(run, reference)}, and the times of the others divided by it", muted)


def _factor(value: float) -> str:
    return f"{value:.2f}" if value < 10 else f"{value:.1f}" if value < 100 else f"{value:,.0f}"


def _with_doubt(text: str, value: pandas.Series, intervals: bool) -> str:
    if provisional.FLAG in value["flags"]:
        return provisional.marked(text, True)
    if intervals:
        return quantity.with_interval(text, value["value"], value["low"], value["high"])
    return f"{text}{_UNCERTAIN}" if _is_wide(value) else text


def _is_wide(value: pandas.Series) -> bool:
    away = max(value["high"] - value["value"], value["value"] - value["low"])
    return not math.isnan(away) and away > _WIDE * value["value"]


def _shares(run: Run, columns: Sequence[Column], phase: str, reference: str) -> grid.Grid:
    shares = run.at(phase, "beyond_reference")
    told = {cell: provisional.marked(f"{100 * share:z.0f} %", is_provisional)
            for cell, share, is_provisional in zip(shares.index, shares["value"], provisional.among(shares["flags"]))}
    rows = []
    for allocator, label, by_column in _rows(run):
        cells = [by_column.get(column) for column in columns]
        if allocator != reference and any(cell in told for cell in cells):
            rows.append([label, *(told.get(cell, "–") for cell in cells)])
    return grid.Grid(["share of time", *_names(run, columns)], rows,
                     f"Share of the {phase} time that exceeds the time with {labels.allocator(run, reference)}: the cost of allocation")


def _rows(run: Run) -> list[tuple[str, str, dict[Column, str]]]:
    """Returns the allocator, the label and the cell of each column for each row. A row is an allocator with one set of
    parameters.
    """
    place = _column(run)
    rows: dict[tuple, list[str]] = {}
    for each in series.group(run, None):
        parameters = run.cells.at[each.cells[0], "allocator_parameters"]
        rows.setdefault((each.allocator, tuple(sorted(parameters.items(), key=str))), []).extend(each.cells)
    made = []
    for (allocator, parameters), cells in rows.items():
        sets = [dict(other) for name, other in rows if name == allocator]
        label = labels.with_parameters(run, allocator, dict(parameters), sets)
        made.append((allocator, label, {place[cell]: cell for cell in cells}))
    return made


def _plain(value: float) -> str:
    """Writes a whole number in full, and any other number with two decimals below 20 and with one from 20 on."""
    return f"{value:,.0f}" if float(value).is_integer() else f"{value:,.2f}" if value < 20 else f"{value:,.1f}"


def _caption(run: Run, drawn: Sequence[grid.Grid]) -> list[str]:
    shown = {word for each in drawn for row in each.rows for word in row}
    told = [f"{short} = {word}" for word, short in style.STATUS_SHORT.items() if short in shown and short != word]
    sentences = [", ".join(told) + "."] if told else []
    times = run.at(run.plot.get("y", "total"), "time")
    if any(word.endswith(_UNCERTAIN) for word in shown) and any(_is_wide(value) for _, value in times.iterrows()):
        sentences.append(f"{_UNCERTAIN}: one end of the {caption.INTERVAL} is more than {100 * _WIDE:.0f} % away from the number (the page of "
                         "numbers beside this image has all intervals).")
    return caption.of_table(run, [(run.plot.get("y", "total"), "time")], sentences, intervals=False)
