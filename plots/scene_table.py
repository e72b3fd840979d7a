"""Figure kind `scene_table`: an application on several inputs, one column each. What it asked of its allocator, its time
relative to that with a reference allocator, and the share of its time that goes beyond the reference's; the paper's own
table below.
"""

from __future__ import annotations

import textwrap
from typing import Sequence

import matplotlib

from plots import caption, grid, origin, quantity, style
from plots.errors import NothingToDraw
from plots.page import Drawing
from plots.results import Cell, Run
from plots.series import group

Column = tuple  # values of the settings that the config's `columns` names


def make(run: Run, stem: str) -> Drawing:
    grids = grids_of(run)
    heading = origin.heading(run, origin.title(run), _caption(run))
    with matplotlib.rc_context(style.RC):
        page = grid.draw(heading, grids)
    parts = [f"# {heading.title}", heading.subtitle]
    if heading.banner:
        parts.append(f"**{heading.banner}**")
    parts += [grid.markdown(each) for each in grids] + list(heading.caption)
    assumed = run.config.get("assumed", [])
    if assumed:
        parts.append("Settings the paper does not print, chosen here:\n\n" + "\n".join(f"- {each}" for each in assumed))
    parts.append("  \n".join(heading.origin))
    return Drawing(stem, page, "\n\n".join(part.rstrip() for part in parts if part) + "\n")


def grids_of(run: Run) -> list[grid.Grid]:
    phase, reference = run.plot.get("y", "total"), run.plot["reference"]
    columns = columns_of(run)
    made = [_facts(run, columns), _times(run, columns, phase, reference), _shares(run, columns, phase, reference)]
    made = [each for each in made if each.rows]
    if not made or not any((phase, "time") in cell.values for cell in run.cells):
        raise NothingToDraw(f"{run.folder}: no cell of this table is ok; its status table says why.")
    for printed in run.plot.get("printed", []):
        made.append(grid.Grid(printed["columns"], printed["rows"], printed.get("title", "")))
    return made


def columns_of(run: Run) -> list[Column]:
    """In the order of the config, which a reader knows; measuring order is shuffled."""
    settings = run.plot["columns"]
    present = list(dict.fromkeys(_column(run, cell) for cell in run.cells))
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


def _column(run: Run, cell: Cell) -> Column:
    return tuple(cell.setting(name) for name in run.plot["columns"])


def _names(run: Run, columns: Sequence[Column]) -> list[str]:
    """`dragon\n100k\n(2)`: the first setting, then those that are neither 0 nor absent."""
    names = []
    for column in columns:
        extra = [str(value) for value in column[1:] if value]
        names.append("\n".join(str(column[0]).split("_") + ([f"({', '.join(extra)})"] if extra else [])))
    return names


def _facts(run: Run, columns: Sequence[Column]) -> grid.Grid:
    """Counters that do not depend on the allocator: from the first cell of a column that has them."""
    rows = []
    for metric in run.plot.get("facts", []):
        words = [quantity.metric_name(metric)]
        for column in columns:
            value = next((cell.values["", metric] for cell in run.cells
                          if _column(run, cell) == column and ("", metric) in cell.values), None)
            words.append(_plain(value.value) if value else "–")
        rows.append(words)
    return grid.Grid(["", *_names(run, columns)], rows, "What the allocator is asked for")


def _times(run: Run, columns: Sequence[Column], phase: str, reference: str) -> grid.Grid:
    rows, muted = [], set()
    kernels = run.plot.get("kernels", [])
    for number, (allocator, label, cells) in enumerate(_rows(run)):
        by_column = {_column(run, cell): cell for cell in cells}
        words = [label]
        for kernel in kernels:
            found = [cell.values[kernel, "registers"].value for cell in cells if (kernel, "registers") in cell.values]
            words.append(f"{max(found):.0f}" if found and run.backend == "cuda" else "–")
        statuses = {by_column[column].status if column in by_column else "" for column in columns}
        if len(statuses) == 1 and statuses != {"ok"}:  # once for the whole row
            muted.add((number, len(words)))
            rows.append([*words, *statuses, *[""] * (len(columns) - 1)])
            continue
        for column in columns:
            cell = by_column.get(column)
            words.append(_time_word(cell, phase, allocator == reference))
            if cell is None or cell.status != "ok":
                muted.add((number, len(words) - 1))
        rows.append(words)
    header = [f"{phase} time", *("registers\n" + "\n".join(textwrap.wrap(kernel.replace("_", " "), 10)) for kernel in kernels), *_names(run, columns)]
    return grid.Grid(header, rows, f"Time of phase {phase}: that with {style.display_name(reference)}, and the others over it",
                     muted)


def _time_word(cell: Cell | None, phase: str, absolute: bool) -> str:
    if cell is None:
        return "–"
    if cell.status != "ok":
        return cell.status
    if absolute:
        return quantity.in_si(cell.values[phase, "time"].value, "s")
    relative = cell.values.get((phase, "relative_time"))
    return f"{relative.value:.2f}" if relative else "no reference"


def _shares(run: Run, columns: Sequence[Column], phase: str, reference: str) -> grid.Grid:
    rows = []
    for allocator, label, cells in _rows(run):
        by_column = {_column(run, cell): cell for cell in cells}
        shares = [by_column[column].values.get((phase, "beyond_reference")) if column in by_column else None
                  for column in columns]
        if allocator != reference and any(shares):
            rows.append([label, *(f"{100 * share.value:z.0f} %" if share else "–" for share in shares)])
    return grid.Grid(["share of time", *_names(run, columns)], rows,
                     f"Share of the {phase} time beyond that with {style.display_name(reference)}: what allocation costs")


def _rows(run: Run) -> list[tuple[str, str, list[Cell]]]:
    """Allocator, label and cells of each row: an allocator with one set of parameters."""
    rows: dict[tuple, tuple[str, str, list[Cell]]] = {}
    for allocator, _, _, cells in group(run, None):
        parameters = tuple(sorted((name, str(value)) for name, value in cells[0].allocator_parameters.items()))
        rows.setdefault((allocator, parameters), (allocator, "", []))[2].extend(cells)
    made = []
    for (allocator, parameters), (_, _, cells) in rows.items():
        others = [dict(other) for name, other in rows if name == allocator]
        told = [f"{quantity.axis_name(name)} {quantity.formatter(name)(float(value)) if value.isdigit() else value}"
                for name, value in parameters if len({str(other.get(name)) for other in others}) > 1]
        made.append((allocator, style.display_name(allocator) + (f" ({', '.join(told)})" if told else ""), cells))
    return made


def _plain(value: float) -> str:
    """A count in full, anything else with as many digits as the paper prints."""
    return f"{value:,.0f}" if float(value).is_integer() else f"{value:,.2f}" if value < 20 else f"{value:,.1f}"


def _caption(run: Run) -> list[str]:
    phase = run.plot.get("y", "total")
    return caption.of_table(run, [(phase, "time")]) + list(run.plot.get("notes", []))
