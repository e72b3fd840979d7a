"""This module draws the figure kind `status_matrix`: the status word of every cell, with allocators as rows and swept values as
columns.

If nothing is swept, there is one column, and the recorded reason of each status is beside it. A config can ask for this
figure. Any other figure gets it as a second figure if a cell is not ok. The picture of a long matrix has one row for
all rows without a problem, but the Markdown table contains every row.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Sequence

import matplotlib

from plots.figures.model import choice
from plots.figures.model.series import Group, group
from plots.runs import labels, origin
from plots.runs.results import Run
from plots.sheet import grid, quantity, style, ticks
from plots.sheet.page import BODY_WIDTH, Drawing, Heading, Page

_ROW = 0.19
_ROW_OF_MANY = 0.13
_LINE = 0.115
_ROWS_WITHOUT_WORRY = 24


@dataclass(frozen=True)
class Status:
    word: str
    reason: str


@dataclass(frozen=True)
class MatrixRow:
    label: str
    cells: tuple[Status | None, ...]  # one status per column, None if the run has no such cell


@dataclass(frozen=True)
class Matrix:
    columns: tuple[str, ...]
    column_title: str
    rows: tuple[MatrixRow, ...]


def make(run: Run, stem: str) -> Drawing:
    run = choice.cells_of(run)
    matrix, heading = matrix_of(run), origin.heading(run, _title(run), [_counts(run)])
    with matplotlib.rc_context(style.RC):
        page = _draw(heading, noteworthy(matrix))
    return Drawing(stem, page, _markdown(heading, matrix))


def matrix_of(run: Run) -> Matrix:
    axes = run.axes
    if run.plot.get("x") in axes:
        axes = [run.plot["x"]]  # other axes make series, as in the figure
    place = {cell: tuple(values.get(name) for name in axes) for cell, values in run.cells["axes"].items()}
    # Words have the order of the figure, and numbers are sorted by size.
    words = {name: labels.words_of(run, name) for name in axes}
    places = sorted(set(place.values()), key=lambda values: [
        (0, words[name].index(value), "") if value in words[name] else labels.order(value) for name, value in zip(axes, values)])
    rows: dict[str, dict[tuple, Status]] = {}
    for each in group(_without_panels(run), axes[0] if len(axes) == 1 else None):
        # group() splits an allocator by all axes, but with several axes they make columns here.
        name = each.label if len(axes) <= 1 else _name(run, each, axes)
        statuses = run.cells.loc[each.cells, ["status", "reason"]].itertuples(name=None)
        rows.setdefault(name, {}).update({place[cell]: Status(status, reason) for cell, status, reason in statuses})
    title = ", ".join(labels.setting_name(run, name) for name in axes)
    return Matrix(tuple(", ".join(labels.value_of(run, name, value) for name, value in zip(axes, values)) for values in places), title,
                  tuple(MatrixRow(name, tuple(cells.get(values) for values in places)) for name, cells in rows.items()))


def _name(run: Run, each: Group, axes: Sequence[str]) -> str:
    """Returns the name of a row. An allocator has a row for each set of its parameters. Parameters that make columns do
    not count.
    """
    def kept(parameters: dict) -> dict:
        return {name: value for name, value in parameters.items() if f"allocator.{name}" not in axes}

    sets = [kept(parameters) for parameters in run.cells.loc[run.cells["allocator"] == each.allocator, "allocator_parameters"]]
    return labels.with_parameters(run, each.allocator, kept(run.cells.at[each.cells[0], "allocator_parameters"]), sets)


def _without_panels(run: Run) -> Run:
    """Drops the panels. All rows are in one table, so each needs the name of its allocator."""
    plot = {key: value for key, value in run.plot.items() if key not in ("panels", "rows")}
    return replace(run, config={**run.config, "plot": plot})


def noteworthy(matrix: Matrix) -> Matrix:
    """Returns the matrix, or a shorter one if it has many rows. The shorter one has the rows that are not all ok, and
    one row for the others.
    """
    good = [row for row in matrix.rows if all(cell is None or cell.word == "ok" for cell in row.cells)]
    if len(matrix.rows) <= _ROWS_WITHOUT_WORRY or len(good) < 2:
        return matrix
    others = tuple(next((cell for cell in column if cell), None) for column in zip(*(row.cells for row in good)))
    return replace(matrix, rows=(*(row for row in matrix.rows if row not in good),
                                 MatrixRow(f"{len(good)} other series", others)))


def stretches(row: MatrixRow) -> list[tuple[int, int, str]]:
    """Returns (first column, columns, word) for neighbouring cells with the same status. A gap has the word ''."""
    made: list[tuple[int, int, str]] = []
    for column, cell in enumerate(row.cells):
        word = cell.word if cell else ""
        if made and made[-1][2] == word:
            made[-1] = (made[-1][0], made[-1][1] + 1, word)
        else:
            made.append((column, 1, word))
    return made


def _draw(heading: Heading, matrix: Matrix) -> Page:
    with_reasons = len(matrix.columns) == 1
    names = [ticks.cut(row.label, style.LEAST, style.NAME) for row in matrix.rows]
    left = max(ticks.text_width(name, style.LEAST) for name in names) + 0.12
    width = 0.8 if with_reasons else BODY_WIDTH - left - 0.05
    reasons = [_wrapped_reason(row, BODY_WIDTH - left - width - 0.15) if with_reasons else [] for row in matrix.rows]
    row = _ROW if len(matrix.rows) <= _ROWS_WITHOUT_WORRY else _ROW_OF_MANY
    heights = [max(row, _LINE * len(lines) + 0.08) for lines in reasons]
    room = width / len(matrix.columns)
    turned = not with_reasons and any(ticks.text_width(column, style.LEAST) + 0.06 > room for column in matrix.columns)
    longest = max(ticks.text_width(column, style.LEAST) for column in matrix.columns)
    header = 0.08 if with_reasons else 0.24 + (longest if turned else 0.14)
    # A word that is too long for its column becomes a letter, which the caption explains.
    words = {word for row in matrix.rows for _, columns, word in stretches(row)
             if word and word != "ok" and ticks.text_width(word, style.LEAST) > columns * room - 0.03}
    short = {word: style.STATUS_LETTERS[word] for word in style.STATUS_COLOURS if word in words}

    told = " Narrow cells: " + ", ".join(f"{letter} = {word}" for word, letter in short.items()) + "." if short else ""
    page = Page(replace(heading, caption=(heading.caption[0] + told,)), sum(heights) + header)
    axes = page.axes(left, header, width, sum(heights))
    axes.set_xlim(0, len(matrix.columns))
    axes.set_ylim(sum(heights), 0)
    for side in axes.spines.values():
        side.set_visible(False)
    axes.tick_params(length=0)
    top, middles = 0.0, []
    for row, lines, height in zip(matrix.rows, reasons, heights):
        for first, columns, word in stretches(row):
            if word:
                _draw_stretch(axes, first, columns, word, short, top, height, room)
        for number, line in enumerate(lines):
            axes.text(1 + 0.1 / width, top + height / 2 + _LINE * (number - (len(lines) - 1) / 2), line,
                      fontsize=style.LEAST, va="center", color=style.GREY)
        middles.append(top + height / 2)
        top += height
    axes.set_yticks(middles)
    axes.set_yticklabels(names, fontsize=style.LEAST)
    axes.set_xticks([] if with_reasons else [column + 0.5 for column in range(len(matrix.columns))])
    if not with_reasons:
        axes.set_xticklabels(matrix.columns, fontsize=style.LEAST, rotation=90 if turned else 0)
        axes.set_xlabel(matrix.column_title, fontsize=7.5, labelpad=2)
    return page


def _draw_stretch(axes, first: int, columns: int, word: str, short: dict[str, str], top: float, height: float, room: float) -> None:
    colour = style.STATUS_COLOURS[word]
    axes.fill_between([first, first + columns], top + 0.012, top + height - 0.012, color=colour, edgecolor="white",
                      linewidth=0.8, gid=f"status {word}")
    fits = ticks.text_width(word, style.LEAST) <= columns * room - 0.03
    text = word if fits else short.get(word, "")
    axes.text(first + columns / 2, top + height / 2, text, fontsize=style.LEAST, ha="center", va="center", color=style.text_on(colour))


def _title(run: Run) -> str:
    return origin.title(run) if run.plot.get("kind") == "status_matrix" else f"Status of every cell: {run.kept_as}"


def _counts(run: Run) -> str:
    counts = run.cells["status"].value_counts()
    counted = ", ".join(f"{counts[word]} {word}" for word in style.STATUS_COLOURS if word in counts)
    doubtful = f" {run.provisional} of the cells that are ok are provisional: they have fewer than three rounds." if run.provisional else ""
    return f"{quantity.counted(len(run.cells), 'cell')}: {counted}.{doubtful}"


def _wrapped_reason(row: MatrixRow, width: float) -> list[str]:
    cell = row.cells[0]
    if cell is None or not cell.reason:
        return []
    lines = ticks.wrapped(cell.reason, style.LEAST, width - 0.12)
    return [*lines[:2], f"{lines[2]} …"] if len(lines) > 3 else lines


def _markdown(heading: Heading, matrix: Matrix) -> str:
    columns = matrix.columns if len(matrix.columns) > 1 else ("status",)
    rows = [[row.label, *(cell.word if cell else "–" for cell in row.cells)] for row in matrix.rows]
    header = [matrix.column_title or "allocator", *columns]
    return heading.markdown([grid.markdown(grid.Grid(header, rows, aligned_left=len(header))), *_reasons(matrix)], caption_first=True)


def _reasons(matrix: Matrix) -> list[str]:
    """Lists each distinct reason once per row, with its columns."""
    lines = []
    for row in matrix.rows:
        found: dict[Status, list[str]] = {}
        for column, cell in zip(matrix.columns, row.cells):
            if cell and cell.word != "ok":
                found.setdefault(cell, []).append(column)
        for cell, columns in found.items():
            where = f" at {'; '.join(columns)}" if any(columns) else ""
            lines.append(f"- {row.label}{where}: {cell.word}: {cell.reason or 'no reason recorded'}")
    return ["Reasons (first lines; results.json holds the whole texts):\n\n" + "\n".join(lines)] if lines else []
