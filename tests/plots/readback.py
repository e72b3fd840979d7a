"""Reads back what a figure draws, so that tests compare data and not images."""

from __future__ import annotations

import math


def _lines(drawing, prefix: str):
    return [line for axes in drawing.page.figure.axes for line in axes.get_lines()
            if (line.get_gid() or "").startswith(prefix)]


def medians(drawing) -> dict[str, dict[float, float]]:
    """Returns {x: y} of the points that a line or its markers show, by label."""
    return {line.get_gid().removeprefix("median "): {float(x): float(y) for x, y in zip(*line.get_data())
                                                     if not math.isnan(y)} for line in _lines(drawing, "median ")}


def failures(drawing) -> dict[str, set[float]]:
    """Returns the x of the crosses in the strip, by label."""
    found: dict[str, set[float]] = {}
    for line in _lines(drawing, "failed "):
        found.setdefault(line.get_gid().removeprefix("failed "), set()).update(float(x) for x in line.get_xdata())
    return found


def interval_xs(drawing, label: str) -> set[float]:
    """Returns every x at which a label has a bar for its interval."""
    return {float(x) for axes in drawing.page.figure.axes for collection in axes.collections
            if collection.get_gid() == f"interval {label}"
            for path in collection.get_paths() for x, _ in path.vertices}


def texts(drawing) -> list[str]:
    """Returns all words of the figure, tick labels included."""
    figure = drawing.page.figure
    return [text.get_text() for axes in figure.axes for text in (*axes.texts, *axes.get_xticklabels(),
                                                                 *axes.get_yticklabels())] + \
           [text.get_text() for text in figure.texts]


def value_of(run, number: int, phase: str, metric: str):
    """Returns the stored or derived value of the cell with this number as a row, or None if it has none."""
    values = run.at(phase, metric)
    cell = run.cells.index[number]
    return values.loc[cell] if cell in values.index else None


def has_values(run, number: int) -> bool:
    return run.cells.index[number] in set(run.values["cell"])
