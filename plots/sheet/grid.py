"""A grid is a table of texts. This module draws grids on a page and writes them as Markdown.

A table that is too wide for a readable size continues below, with its first columns repeated.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, field, replace
from typing import Sequence

from plots.sheet import style, ticks
from plots.sheet.page import BODY_WIDTH, Heading, Page

_ROWS = (0.155, 0.135, 0.118, 0.105)  # heights of a row in inches; the largest that fits is used
_TALLEST = 7.3                 # greatest height of the body, for a page of 9 inches with heading and caption
_BETWEEN = 0.08                # gap between lines of grids
_BESIDE = 0.2                  # gap between grids of a line
_TITLE = 0.17
_MORE = 0.115  # height of each further line of a row
_PADDING = 0.1
_LARGEST = 7.5
_LONGEST = 1.2   # longest line of a row name, in inches
_UPRIGHT = 3    # most lines of an upright column name
_TURNED = (0.86, 1.2, 1.6, 2.4)  # lengths of a line of a turned column name; the shortest that fits is used


@dataclass
class Grid:
    """A grid is a table whose cells are texts: words, or numbers with their units. `muted` has the (row, column) of
    cells in grey, such as words instead of numbers.
    """

    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    title: str = ""
    muted: set[tuple[int, int]] = field(default_factory=set)
    aligned_left: int = 1  # number of text columns at the left; the other columns are numbers, flush right
    turned: bool = False   # whether column names may be turned, so that many columns fit


def words(header: Sequence[str], rows: Sequence[Sequence[str]]) -> Grid:
    """Returns a table without numbers."""
    return Grid(header, rows, aligned_left=len(header))


def draw(heading: Heading, grids: Sequence[Grid]) -> Page:
    """Draws grids one below the other on a page, in the largest type that fits the width.

    If the grids are taller than a page, grids with the same rows are side by side.
    """
    grids = [part for grid in grids for part in _fitting(_filled(grid))]
    lines = [[grid] for grid in grids]
    row = _row_height(lines)
    if _total_height(lines, row) > _TALLEST:
        lines = _beside(grids)
        row = _row_height(lines)
    points = min(_LARGEST, *(_fitting_points(line[0]) if len(line) == 1 and row > _ROWS[-1] else style.LEAST for line in lines))
    page = Page(heading, _total_height(lines, row))
    top = page.body_height
    for line in lines:
        height = _height_of_line(line, row)
        spare = (BODY_WIDTH - _width_of_line(line)) / len(line)
        left = 0.0
        for grid in line:
            width = BODY_WIDTH if len(line) == 1 else _breadth(grid) + spare
            axes = page.axes(left, top - height, width, height)
            axes.set_axis_off()
            axes.set_xlim(0, width)
            axes.set_ylim(height, 0)
            _draw_grid(axes, grid, points, width, row)
            left += width + _BESIDE
        top -= height + _BETWEEN
    return page


def _beside(grids: Sequence[Grid]) -> list[list[Grid]]:
    """Returns lines of neighbouring grids with the same rows, as many as fit the width. The first grid of a line has
    the row names.
    """
    lines: list[list[Grid]] = []
    names: list[list[str]] = []
    for grid in grids:
        own = [row[: grid.aligned_left] for row in grid.rows]
        if lines and own == names and not grid.turned and _width_of_line([*lines[-1], _without_names(grid)]) <= BODY_WIDTH:
            lines[-1].append(_without_names(grid))
        else:
            lines.append([grid])
            names = own
    return lines


def _without_names(grid: Grid) -> Grid:
    fixed = grid.aligned_left
    muted = {(row, column - fixed) for row, column in grid.muted}
    return replace(grid, header=grid.header[fixed:], rows=[row[fixed:] for row in grid.rows], muted=muted, aligned_left=0)


def _breadth(grid: Grid) -> float:
    return max(sum(_widths(grid, style.LEAST)), ticks.text_width(grid.title, _LARGEST, bold=True))


def _width_of_line(line: Sequence[Grid]) -> float:
    return sum(_breadth(grid) for grid in line) + _BESIDE * (len(line) - 1)


def _height_of_line(line: Sequence[Grid], row: float) -> float:
    return max(_height(grid, row) for grid in line)


def _total_height(lines: Sequence[Sequence[Grid]], row: float) -> float:
    return sum(_height_of_line(line, row) for line in lines) + _BETWEEN * (len(lines) - 1)


def _row_height(lines: Sequence[Sequence[Grid]]) -> float:
    return next((row for row in _ROWS if _total_height(lines, row) <= _TALLEST), _ROWS[-1])


def swapped(grid: Grid) -> Grid:
    """Turns columns into rows, for a table with more columns than fit on a page."""
    grid = _filled(grid)
    rows = [["\n".join(ticks.wrapped(name, style.LEAST, _LONGEST)), *(row[place] for row in grid.rows)] for place, name in enumerate(grid.header) if place > 0]
    return Grid(["", *(row[0] for row in grid.rows)], rows, grid.title, {(column - 1, number + 1) for number, column in grid.muted}, turned=True)


def _filled(grid: Grid) -> Grid:
    """Fills up short rows with empty cells."""
    return replace(grid, rows=[[*row, *[""] * (len(grid.header) - len(row))] for row in grid.rows])


def _fitting(grid: Grid) -> list[Grid]:
    """Returns the grid, with wrapped cells if one column alone is too wide, or parts that each fit the page's width.
    The parts have equally many columns, or some have one more.
    """
    widths, fixed = _widths(grid, style.LEAST), grid.aligned_left
    room = BODY_WIDTH - sum(widths[:fixed])
    if sum(widths) <= BODY_WIDTH or fixed >= len(widths) or max(widths[fixed:]) > room:
        return [_wrapped(grid)]
    count = math.ceil(sum(widths[fixed:]) / room)
    while True:
        bounds = [fixed + round(number * (len(widths) - fixed) / count) for number in range(count + 1)]
        if all(sum(widths[a:b]) <= room for a, b in itertools.pairwise(bounds)):
            break
        count += 1
    made = []
    for number, (first, last) in enumerate(itertools.pairwise(bounds)):
        kept = [*range(fixed), *range(first, last)]
        place = {old: new for new, old in enumerate(kept)}
        part = Grid([grid.header[i] for i in kept], [[row[i] if i < len(row) else "" for i in kept] for row in grid.rows],
                    grid.title if number == 0 else "", {(row, place[column]) for row, column in grid.muted if column in place}, fixed, grid.turned)
        _repeat_words(grid, part)
        made.append(part)
    return made


def _repeat_words(grid: Grid, part: Grid) -> None:
    """Writes the only word of a row, such as one status for all columns, into this part if the row is empty in this part."""
    for number, (row, own) in enumerate(zip(grid.rows, part.rows)):
        word = next((row[column] for line, column in sorted(grid.muted) if line == number), "")
        if word and not any(own[part.aligned_left:]):
            own[part.aligned_left] = word
            part.muted.add((number, part.aligned_left))


def _wrapped(grid: Grid) -> Grid:
    """Breaks lines in the widest columns of a table that is too wide."""
    if grid.turned:
        upright = replace(grid, header=[name.replace(" ", "\n") for name in grid.header], turned=False)
        if sum(_widths(upright, style.LEAST)) <= BODY_WIDTH and _lines(upright.header) <= _UPRIGHT:
            return upright
        made = [replace(grid, header=["\n".join(ticks.wrapped(name, style.LEAST, length, bold=True)) for name in grid.header]) for length in _TURNED]
        return next((each for each in made if sum(_widths(each, style.LEAST)) <= BODY_WIDTH), made[-1])
    columns = [list(column) for column in zip(grid.header, *grid.rows)]
    while True:
        made = Grid([column[0] for column in columns], [list(row) for row in zip(*(column[1:] for column in columns))], grid.title, grid.muted,
                    grid.aligned_left)
        widths = _widths(made, style.LEAST)
        if sum(widths) <= BODY_WIDTH:
            return made
        for widest in sorted(range(len(widths)), key=lambda index: -widths[index]):
            room = widths[widest] - _PADDING - 0.05
            narrower = ["\n".join(ticks.wrapped(cell.replace("\n", " "), style.LEAST, room)) for cell in columns[widest]]
            if narrower != columns[widest]:
                columns[widest] = narrower
                break
        else:
            return made  # nothing is left to wrap


def markdown(grid: Grid) -> str:
    def line(cells: Sequence[str]) -> str:
        return "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"

    rule = ["---" if column < grid.aligned_left else "---:" for column in range(len(grid.header))]
    lines = [f"### {grid.title}", ""] if grid.title else []
    lines += [line(grid.header), "|" + "|".join(rule) + "|"]
    return "\n".join(lines + [line(row) for row in grid.rows]) + "\n"


def _lines(row: Sequence[str]) -> int:
    return max(cell.count("\n") + 1 for cell in row)


def _height(grid: Grid, row: float) -> float:
    return (_TITLE if grid.title else 0) + _height_of_header(grid, row) + sum(row + _MORE * (_lines(each) - 1) for each in grid.rows) + 0.05


def _height_of_header(grid: Grid, row: float) -> float:
    if not grid.turned:
        return row + _MORE * (_lines(grid.header) - 1)
    return max(ticks.text_width(line, _LARGEST, bold=True) for name in grid.header for line in name.split("\n")) + 0.06


def _widths(grid: Grid, points: float) -> list[float]:
    return [max(_width_of(cell, points, row == 0, grid.turned) for row, cell in enumerate(column)) + _PADDING for column in zip(grid.header, *grid.rows)]


def _width_of(cell: str, points: float, is_name: bool, turned: bool) -> float:
    lines = cell.split("\n")
    return _MORE * len(lines) if is_name and turned else max(ticks.text_width(line, points, bold=is_name) for line in lines)


def _fitting_points(grid: Grid) -> float:
    return next((points for points in (_LARGEST, 7.2) if sum(_widths(grid, points)) <= BODY_WIDTH), style.LEAST)


def _draw_grid(axes, grid: Grid, points: float, width: float, row_height: float) -> None:
    widths = _widths(grid, points)
    spare = max(0.0, width - sum(widths)) / len(widths)
    widths = [each + min(spare, 0.35) for each in widths]
    top = 0.0
    if grid.title:
        axes.text(0, 0.03, grid.title, fontsize=_LARGEST, weight="bold", va="top")
        top = _TITLE
    for index, row in enumerate((grid.header, *grid.rows)):
        height = _height_of_header(grid, row_height) if index == 0 else row_height + _MORE * (_lines(row) - 1)
        if index > 0 and index % 2 == 0:
            axes.fill_between([0, sum(widths)], top, top + height, color="#f5f5f5", linewidth=0)
        left = 0.0
        for column, (cell, cell_width) in enumerate(zip(row, widths)):
            is_text = column < grid.aligned_left
            # Headings are aligned at the bottom, because they differ in their number of lines.
            place, side = (top + height - 0.03, "bottom") if index == 0 else (top + height / 2, "center")
            axes.text(left + (0.04 if is_text else cell_width - 0.08), place, cell, fontsize=points,
                      ha="left" if is_text else "right", va=side,
                      weight="bold" if index == 0 else "normal", rotation=90 if index == 0 and grid.turned else 0, linespacing=1.0,
                      color=style.GREY if (index - 1, column) in grid.muted else style.BLACK)
            left += cell_width
        top += height
        if index == 0:
            axes.plot([0, sum(widths)], [top, top], color=style.GREY, linewidth=0.8)
