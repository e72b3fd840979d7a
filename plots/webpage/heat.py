"""This module draws survival and slowdown as a coloured table, because failures are words. Rows are allocators, and
columns are the cells of the guide (the config group `guide`).

A family with several members has its own row. static/heat.js fills this row with the best of the members, and opens the
row to show the members.
"""

from __future__ import annotations

import html
import math
import statistics
from itertools import groupby

from plots.runs import forms
from plots.sheet import provisional, quantity, style

_STRONGEST = 100  # factor with the strongest colour


def section(table: dict) -> str:
    if not table["cases"]:
        return '<p class="none">Not measured: no cell of the guide.</p>'
    best, rows = best_of(table), []
    for family, members in groupby(table["allocators"], key=lambda entry: entry["family"]):
        group = list(members)
        if family and len(group) > 1:
            rows.append(_family_row(family, len(table["cases"])))
        rows += [_row(table, entry, best) for entry in group]
    figures = [(figure, len(list(group))) for figure, group in groupby(table["cases"], key=lambda case: case["figure"])]
    head = "".join(
        f'<th colspan="{count}" title="{html.escape(_about(table, figure))}">{html.escape(figure.removeprefix("guide/"))}</th>'
        for figure, count in figures
    )
    labels = "".join(f'<th class="case"><span>{html.escape(case["label"])}</span></th>' for case in table["cases"])
    return (
        f'<div class="scroll high" tabindex="0" role="region" aria-label="Survival and slowdown"><table class="heat"><thead><tr><th rowspan="2">allocator</th><th rowspan="2">mean</th>'
        f'<th rowspan="2">ok</th>{head}</tr><tr>{labels}</tr></thead><tbody>{"".join(rows)}</tbody></table></div>'
    )


def best_of(table: dict) -> list[float | None]:
    """Returns the best time of each case."""
    return [_best(table, number, case["time"]) for number, case in enumerate(table["cases"])]


def slowdowns(table: dict, entry: dict, best: list) -> tuple[float | None, int, int]:
    """Returns three numbers: the geometric mean of the time over the best time in the cells that are ok (None without
    such cells), the number of these cells, and the number of cells with a result or a status. `best` comes from best_of().
    """
    return _mean(_factors(table, entry, best))


def _mean(factors: list) -> tuple[float | None, int, int]:
    known = [value for value in factors if isinstance(value, float)]
    asked = sum(value is not None for value in factors)
    return (statistics.geometric_mean(known) if known else None), len(known), asked


def _best(table: dict, number: int, phase: str) -> float | None:
    """Returns the best time of an allocator that frees, or None if there is none. Allocators that never free do less
    work, so they do not count.
    """
    times = [
        result[phase][0]
        for entry in table["allocators"]
        if entry["frees"]
        if isinstance(result := entry["results"][number], dict) and phase in result
    ]
    return min(times, default=None)


def _factors(table: dict, entry: dict, best: list) -> list:
    """Returns for each case a factor or the status word. It returns None for a case without a time of the allocator, or
    of any allocator that frees.
    """
    made: list = []
    for case, result, least in zip(table["cases"], entry["results"], best):
        if isinstance(result, list):
            made.append(result[0])
        elif isinstance(result, dict) and case["time"] in result and least is not None:
            made.append((result[case["time"]][0] + table["floor"]) / (least + table["floor"]))
        else:
            made.append(None)
    return made


def _family_row(family: str, cases: int) -> str:
    name = html.escape(style.family_names()[family])
    return f'<tr class="family" data-group="{family}"><th><button type="button" aria-expanded="false">{name}</button></th>{"<td></td>" * (cases + 2)}</tr>'


def _row(table: dict, entry: dict, best: list) -> str:
    factors = _factors(table, entry, best)
    mean, ok, asked = _mean(factors)
    cells = "".join(_cell(value, case, result) for value, case, result in zip(factors, table["cases"], entry["results"]))
    told = _told(entry["results"], ok, asked)
    return (
        f'<tr data-allocator="{entry["id"]}" data-form="{entry["form"]}" data-family="{entry["family"]}"><th>{html.escape(forms.titled(entry))}</th>'
        f'{_mean_cell(mean, ok, len(factors))}<td data-f="{-ok}" title="{told}">{ok}/{asked}</td>{cells}</tr>'
    )


def _told(results: list, ok: int, asked: int) -> str:
    """Describes the count of the column `ok` in words."""
    late = sum(isinstance(result, list) and result[0] == style.NOT_MEASURED for result in results)
    missing = len(results) - asked
    return f"{ok} of {asked} ok" + (f"; {late} of these not measured: {style.WHY_NOT_MEASURED}" if late else "") + (f"; {missing} more not measured" if missing else "")


def _mean_cell(mean: float | None, ok: int, cases: int) -> str:
    """Returns the table field of the mean. It has no colour and no rank if fewer than half of the cells are ok, because
    such means cannot be compared.
    """
    if mean is None:
        return '<td class="unknown" title="no cell is ok">–</td>'
    if 2 * ok < cases:
        return f'<td class="few" title="over {ok} of {cases} cells: not to be compared with the others">{quantity.factor(mean)}</td>'
    return f'<td{_colour(mean)} title="over {ok} of {cases} cells">{quantity.factor(mean)}</td>'


def _cell(value, case: dict, result) -> str:
    if value is None:
        return '<td class="unknown" title="not measured">·</td>'
    if value == style.NOT_MEASURED:
        return f'<td class="unknown" title="not measured: {html.escape(style.WHY_NOT_MEASURED)} ({html.escape(result[1])})">·</td>'
    if isinstance(value, str):
        reason = f"{value}: {result[1]}" if result[1] else value
        return f'<td class="failed" title="{html.escape(reason)}">{style.STATUS_SHORT.get(value, value)}</td>'
    time = result[case["time"]]
    told = quantity.in_si(time[0], "s")
    if time[1] is not None and time[2] is not None:
        told += f" (95 %: {quantity.in_si(time[1], 's')} to {quantity.in_si(time[2], 's')})"
    is_provisional = result.get("provisional", False)
    if is_provisional:
        told += f", {provisional.MEANT}"
    return f'<td{_colour(value)} title="{told}">{provisional.marked(quantity.factor(value), is_provisional)}</td>'


def _colour(factor: float | None) -> str:
    """Returns HTML attributes: the factor for scripts, the class, and the strength of the colour in percent. The text
    is empty without a factor. The page mixes the colour with its background.
    """
    if factor is None:
        return ""
    strength = max(-1.0, min(1.0, math.log(factor) / math.log(_STRONGEST)))
    return f' data-f="{factor:.4g}" class="{"slow" if strength >= 0 else "quick"}" style="--strength:{round(100 * abs(strength))}%"'


def _about(table: dict, figure: str) -> str:
    return next(case["about"] for case in table["cases"] if case["figure"] == figure)
