"""Figure kind `status_matrix`: the status word of every cell, allocators down, swept values across.

With nothing swept there is one column, and the room beside it holds the reason that the harness recorded. Drawn on its own
where a config asks for it, and beside every other figure as soon as one cell is not ok. Of many series the picture leaves
out those without anything to see; the Markdown table has all.
"""

from __future__ import annotations

import textwrap
from dataclasses import dataclass, replace

import matplotlib

from plots import grid, origin, quantity, style, ticks
from plots.page import BODY_WIDTH, Drawing, Page
from plots.results import Cell, Run
from plots.series import group

_ROW = 0.26
_LINE = 0.12
_REASON_POINTS = 7
_SMALLEST_WORD = 4.5
_ROWS_WITHOUT_WORRY = 24


@dataclass(frozen=True)
class MatrixRow:
    label: str
    cells: tuple[Cell | None, ...]  # one per column; None where the config excluded the combination


@dataclass(frozen=True)
class Matrix:
    columns: tuple[str, ...]
    column_title: str
    rows: tuple[MatrixRow, ...]


def make(run: Run, stem: str) -> Drawing:
    matrix = matrix_of(run)
    with matplotlib.rc_context(style.RC):
        page = _draw(run, noteworthy(matrix))
    return Drawing(stem, page, _markdown(run, matrix))


def matrix_of(run: Run) -> Matrix:
    axes = list(dict.fromkeys(name for cell in run.cells for name in cell.axes))
    if run.plot.get("x") in axes:
        axes = [run.plot["x"]]  # as in the figure: other axes make series
    writers = [quantity.formatter(name) for name in axes]

    def place(cell: Cell) -> tuple:
        return tuple(cell.axes.get(name) for name in axes)

    def label(values: tuple) -> str:
        return ", ".join(write(value) if isinstance(value, (int, float)) else str(value)
                         for write, value in zip(writers, values))

    places = sorted({place(cell) for cell in run.cells},
                    key=lambda values: [(0, v, "") if isinstance(v, (int, float)) else (1, 0, str(v)) for v in values])
    rows: dict[str, dict[tuple, Cell]] = {}
    for _, _, name, cells in group(run, axes[0] if len(axes) == 1 else None):
        # More than one axis: group() splits an allocator by the axes, which here are columns already.
        name = name if len(axes) <= 1 else style.display_name(cells[0].allocator)
        rows.setdefault(name, {}).update({place(cell): cell for cell in cells})
    title = ", ".join(quantity.axis_name(name) for name in axes)
    return Matrix(tuple(label(values) for values in places), title,
                  tuple(MatrixRow(name, tuple(cells.get(values) for values in places)) for name, cells in rows.items()))


def noteworthy(matrix: Matrix) -> Matrix:
    """The matrix itself, or of one with many rows those that are not all ok, and one row for the others."""
    good = [row for row in matrix.rows if all(cell is None or cell.status == "ok" for cell in row.cells)]
    if len(matrix.rows) <= _ROWS_WITHOUT_WORRY or len(good) < 2:
        return matrix
    others = tuple(next((cell for cell in column if cell), None) for column in zip(*(row.cells for row in good)))
    return replace(matrix, rows=(*(row for row in matrix.rows if row not in good),
                                 MatrixRow(f"{len(good)} other series", others)))


def stretches(row: MatrixRow) -> list[tuple[int, int, str]]:
    """(first column, columns, word) of neighbouring cells with the same status; gaps have the word ''."""
    made: list[tuple[int, int, str]] = []
    for column, cell in enumerate(row.cells):
        word = cell.status if cell else ""
        if made and made[-1][2] == word:
            made[-1] = (made[-1][0], made[-1][1] + 1, word)
        else:
            made.append((column, 1, word))
    return made


def _draw(run: Run, matrix: Matrix) -> Page:
    with_reasons = len(matrix.columns) == 1
    left = max(ticks.text_width(row.label, 8.5) for row in matrix.rows) + 0.15
    width = 1.1 if with_reasons else BODY_WIDTH - left
    reasons = [_wrapped_reason(row, BODY_WIDTH - left - width - 0.15) if with_reasons else [] for row in matrix.rows]
    heights = [max(_ROW, _LINE * len(lines) + 0.1) for lines in reasons]
    header = 0.1 if with_reasons else 0.42

    page = Page(origin.heading(run, _title(run), [_counts(run)]), sum(heights) + header)
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
                _draw_stretch(axes, first, columns, word, top, height, width / len(matrix.columns))
        for number, line in enumerate(lines):
            axes.text(1 + 0.12 / width, top + height / 2 + _LINE * (number - (len(lines) - 1) / 2), line,
                      fontsize=_REASON_POINTS, va="center", color=style.GREY)
        middles.append(top + height / 2)
        top += height
    axes.set_yticks(middles)
    axes.set_yticklabels([row.label for row in matrix.rows], fontsize=8.5)
    _label_columns(axes, matrix, width)
    return page


def _draw_stretch(axes, first: int, columns: int, word: str, top: float, height: float, column_width: float) -> None:
    colour = style.STATUS_COLOURS[word]
    axes.fill_between([first, first + columns], top + 0.015, top + height - 0.015, color=colour, edgecolor="white",
                      linewidth=0.8, gid=f"status {word}")
    points = 8.0
    while points > _SMALLEST_WORD and ticks.text_width(word, points) > columns * column_width - 0.02:
        points -= 0.5
    upright = ticks.text_width(word, points) > columns * column_width + 0.1
    axes.text(first + columns / 2, top + height / 2, word, fontsize=points, ha="center", va="center",
              rotation=25 if upright else 0, color=style.text_on(colour))


def _label_columns(axes, matrix: Matrix, width: float) -> None:
    if len(matrix.columns) == 1:
        axes.set_xticks([])
        return
    room = width / len(matrix.columns)
    step = 1
    while step < len(matrix.columns) and max(ticks.text_width(c, 7.5) for c in matrix.columns) + 0.06 > room * step:
        step += 1
    axes.set_xticks([column + 0.5 for column in range(0, len(matrix.columns), step)])
    axes.set_xticklabels(matrix.columns[::step], fontsize=7.5)
    axes.set_xlabel(matrix.column_title, fontsize=8.5)


def _title(run: Run) -> str:
    return origin.title(run) if run.plot.get("kind") == "status_matrix" else f"Status of every cell: {run.name}"


def _counts(run: Run) -> str:
    words = [cell.status for cell in run.cells]
    counted = ", ".join(f"{words.count(word)} {word}" for word in style.STATUS_COLOURS if word in words)
    return f"{len(words)} cells: {counted}."


def _wrapped_reason(row: MatrixRow, width: float) -> list[str]:
    cell = row.cells[0]
    if cell is None or not cell.reason:
        return []
    characters = int(width / ticks.text_width("m", _REASON_POINTS))
    return textwrap.wrap(_first_line(cell.reason), characters, max_lines=3, placeholder=" …")


def _first_line(reason: str) -> str:
    """Reasons may go on with a table of lanes, which only the stored results have room for."""
    return reason.strip().split("\n")[0]


def _markdown(run: Run, matrix: Matrix) -> str:
    heading = origin.heading(run, _title(run), [_counts(run)])
    columns = matrix.columns if len(matrix.columns) > 1 else ("status",)
    rows = [[row.label, *(cell.status if cell else "–" for cell in row.cells)] for row in matrix.rows]
    parts = [f"# {heading.title}", heading.subtitle, *heading.caption]
    if heading.banner:
        parts.append(f"**{heading.banner}**")
    header = [matrix.column_title or "allocator", *columns]
    parts.append(grid.markdown(grid.Grid(header, rows, aligned_left=len(header))))
    parts += _reasons(matrix)
    parts.append("  \n".join(heading.origin))
    return "\n\n".join(part.rstrip() for part in parts if part) + "\n"


def _reasons(matrix: Matrix) -> list[str]:
    """Each distinct reason once per row, with the columns it holds for."""
    lines = []
    for row in matrix.rows:
        found: dict[tuple[str, str], list[str]] = {}
        for column, cell in zip(matrix.columns, row.cells):
            if cell and cell.status != "ok":
                found.setdefault((cell.status, cell.reason), []).append(column)
        for (status, reason), columns in found.items():
            where = f" at {'; '.join(columns)}" if any(columns) else ""
            lines.append(f"- {row.label}{where}: {status}: {_first_line(reason) or 'no reason recorded'}")
    return ["Reasons (first lines; results.json holds the whole texts):\n\n" + "\n".join(lines)] if lines else []
