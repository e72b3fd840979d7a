"""This module implements `python3 -m plots survival`. It shows how the cells of each allocator ended in each workload,
over all given runs.

Each field of the picture is a bar with the shares of the statuses, and letters for the statuses that are not ok. A
field without cells is empty. The Markdown table has words, counts and reasons. The CSV file has one row per allocator,
workload and status.
"""

from __future__ import annotations

import csv
import io
from collections import Counter
from dataclasses import dataclass, field
from typing import Sequence

import matplotlib
from matplotlib.patches import Patch

from allocbench.errors import NothingToDraw
from plots.runs import labels, origin
from plots.runs.results import Run
from plots.sheet import grid, quantity, rows, style, ticks
from plots.sheet.page import BODY_WIDTH, Drawing, Heading, Page
from plots.studies import reasons

# The worst status comes first, because readers must see it in a field with several statuses.
SEVERITY = ("crashed", "device_fault", "incorrect", "timeout", "oom", "skipped", style.NOT_MEASURED, "unsupported", "ok")
_ROW = 0.16
_ROW_OF_MANY = 0.135
_FEW = 24  # largest number of rows with full height
_FAIL_ON_PURPOSE = "saboteur_"  # prefix of allocators that test the harness
_MOST_REASONS = 3  # most reasons that are listed for a status of a field, the most frequent first


@dataclass
class Field:
    """A field has the cells of one allocator in one workload."""

    statuses: Counter = field(default_factory=Counter)
    reasons: dict[str, Counter] = field(default_factory=dict)  # reasons, by status
    causes: dict[str, Counter] = field(default_factory=dict)   # rules (None if no rule fits), by status

    def worst(self) -> str:
        return next(word for word in SEVERITY if self.statuses[word])

    def words(self) -> str:
        counted = [f"{self.statuses[word]} {word}" for word in reversed(SEVERITY) if self.statuses[word]]
        return counted[0].split(" ", 1)[1] if len(counted) == 1 else ", ".join(counted)

    def letters(self) -> str:
        return "".join(style.STATUS_LETTERS[word] for word in SEVERITY if self.statuses[word] and word in style.STATUS_LETTERS)


@dataclass
class Matrix:
    """A matrix has all cells of one back end."""

    back_end: str
    allocators: dict[str, str]  # names, by id
    workloads: list[str]
    fields: dict[tuple[str, str], Field]
    told: list[str]             # description of the results
    not_measured: int = 0  # number of planned cells without a result

    def counts(self) -> Counter:
        return sum((each.statuses for each in self.fields.values()), Counter())


def matrices(runs: Sequence[Run]) -> list[Matrix]:
    """Returns one matrix per back end, sorted by name.

    If several runs of a config on one device, with the same options of the executor, have a cell, the latest run counts.
    A cell of several configs counts once for each config. Allocators that fail on purpose are left out.
    """
    made = [_matrix(back_end, [run for run in runs if run.backend == back_end]) for back_end in sorted({run.backend for run in runs})]
    if not any(matrix.fields for matrix in made):
        raise NothingToDraw("these runs contain only allocators that fail on purpose. Name other runs.")
    return [matrix for matrix in made if matrix.fields]


def _matrix(back_end: str, runs: Sequence[Run]) -> Matrix:
    latest: dict[tuple[str, ...], tuple[Run, str]] = {}
    for run in sorted(runs, key=lambda each: each.run.get("time") or each.date):
        of_run = (run.device.get("name", ""), run.run.get("executor") or "", run.name)
        for cell in run.cells.index[~run.cells["allocator"].str.startswith(_FAIL_ON_PURPOSE)]:
            latest[*of_run, cell] = (run, cell)
    names: dict[str, str] = {}
    fields: dict[tuple[str, str], Field] = {}
    for run, cell in latest.values():
        allocator, workload, status, left_out, reason, revision = run.cells.loc[
            cell, ["allocator", "workload", "status", "left_out", "reason", "revision"]]
        names.setdefault(allocator, labels.allocator(run, allocator))
        there = fields.setdefault((allocator, workload), Field())
        word = style.NOT_MEASURED if left_out else status
        there.statuses[word] += 1
        if status != "ok":
            told = reason or "no reason recorded"
            there.reasons.setdefault(word, Counter())[told] += 1
            there.causes.setdefault(word, Counter())[reasons.why(allocator, workload, word, told, revision)] += 1
    return Matrix(back_end, dict(sorted(names.items())), sorted({workload for _, workload in fields}), fields, _told(runs),
                  sum(run.not_measured for run in runs))


def _told(runs: Sequence[Run]) -> list[str]:
    devices = sorted({run.device.get("name") or "device unknown" for run in runs})
    dates = sorted({run.date for run in runs if run.date})
    revisions = sorted({origin.revision(run) for run in runs})
    mixed = [f"{len(revisions)} revisions"] if len(revisions) > 1 else revisions
    period = dates[:1] if len(dates) < 2 else [f"{dates[0]} to {dates[-1]}"]
    return [" · ".join([*devices, quantity.counted(len(runs), "run"), *period, *mixed])]


def drawings(runs: Sequence[Run]) -> list[Drawing]:
    return [drawing(matrix) for matrix in matrices(runs)]


def drawing(matrix: Matrix) -> Drawing:
    with matplotlib.rc_context(style.RC):
        page = _draw(matrix)
    return Drawing(f"survival_{matrix.back_end}", page, markdown(matrix), csv=table(matrix))


def _heading(matrix: Matrix) -> Heading:
    counts = matrix.counts()
    counted = ", ".join(f"{counts[word]} {word}" for word in reversed(SEVERITY) if counts[word])
    sentences = [f"{quantity.counted(counts.total(), 'cell')}: {counted}. A bar shows the shares of the statuses of its cells. An empty field has no cell in "
                 "these runs. Letters: " + ", ".join(f"{letter} = {word}" for word, letter in style.STATUS_LETTERS.items()) + "."]
    if any(len(forms) > 1 for _, forms in _lines(matrix)):
        sentences[0] += " If a field has two halves, the published form is at the left and the reworked form at the right."
    if counts[style.NOT_MEASURED]:
        sentences.append(f"{style.NOT_MEASURED.capitalize()}: {style.WHY_NOT_MEASURED}.")
    if matrix.not_measured:
        sentences.append(f"{matrix.not_measured} more planned cells were not begun.")
    return Heading("Survival: how the cells of every allocator ended in every workload", "", sentences, matrix.told,
                   origin.CPU_BANNER if matrix.back_end == "cpu" else "")


def _draw(matrix: Matrix) -> Page:
    lines = _lines(matrix)
    full = [name for name, _ in lines]
    names = [ticks.cut(rest or name, style.LEAST, style.NAME) for name, rest in zip(full, rows.below(full))]
    left = max(ticks.text_width(name, style.LEAST) for name in names) + 0.08
    head = max(ticks.text_width(workload, style.LEAST) for workload in matrix.workloads) + 0.08
    legend = 0.22
    room = (BODY_WIDTH - left) / len(matrix.workloads)
    row = _ROW if len(lines) <= _FEW else _ROW_OF_MANY
    height = row * len(lines)
    page = Page(_heading(matrix), height + head + legend)
    axes = page.axes(left, legend, BODY_WIDTH - left, height)
    axes.set_xlim(0, len(matrix.workloads))
    axes.set_ylim(height, 0)
    for side in axes.spines.values():
        side.set_visible(False)
    axes.tick_params(length=0)
    for number, (_, forms) in enumerate(lines):
        width = 1 / len(forms)
        for column, workload in enumerate(matrix.workloads):
            for place, allocator in enumerate(forms):
                if there := matrix.fields.get((allocator, workload)):
                    _draw_field(axes, there, column + width * place, row * number, width, row, room)
    axes.set_yticks([row * (number + 0.5) for number in range(len(lines))])
    for label, name, own in zip(axes.set_yticklabels(names, fontsize=style.LEAST), names, full):
        label.set_color(style.BLACK if name == own else style.GREY)
    axes.set_xticks([column + 0.5 for column in range(len(matrix.workloads))])
    axes.xaxis.tick_top()
    axes.set_xticklabels(matrix.workloads, fontsize=style.LEAST, rotation=90)
    present = [word for word in reversed(SEVERITY) if matrix.counts()[word]]
    page.figure.legend(handles=[Patch(color=_colour(word), label=word) for word in present], ncols=len(present),
                       loc="lower left", bbox_to_anchor=page.point(0, 0), borderaxespad=0, handlelength=1.2, columnspacing=1.2)
    return page


def _lines(matrix: Matrix) -> list[tuple[str, list[str]]]:
    """Returns the rows: a name, and the allocators whose fields are in the row. An allocator shares its row with its
    reworked form.
    """
    ordered = rows.by_family(list(matrix.allocators), matrix.allocators.__getitem__)
    forms = {each: [each] + [f"{each}_reworked"] * (f"{each}_reworked" in matrix.allocators) for each in ordered}
    shared = {each for members in forms.values() for each in members[1:]}
    return [(matrix.allocators[each], forms[each]) for each in ordered if each not in shared]


def _colour(word: str) -> str:
    return style.NOT_MEASURED_COLOUR if word == style.NOT_MEASURED else style.STATUS_COLOURS[word]


def _draw_field(axes, there: Field, left: float, top: float, width: float, row: float, room: float) -> None:
    gap = 0.03
    begin = left + gap
    for word in reversed(SEVERITY):
        share = there.statuses[word] / there.statuses.total() * (width - 2 * gap)
        if share:
            axes.fill_between([begin, begin + share], top + 0.01, top + row - 0.01, color=_colour(word), linewidth=0,
                              gid=f"status {word}")
            begin += share
    letters = there.letters()
    ways = (letters, f"{letters[:1]}…", letters[:1])  # the worst status comes first
    letters = next((way for way in ways if ticks.text_width(way, style.LEAST) + 0.03 <= room * width), ways[-1])
    axes.text(left + width / 2, top + row / 2, letters, fontsize=style.LEAST, ha="center", va="center",
              color=style.text_on(_colour(there.worst())) if len(there.statuses) == 1 else style.BLACK)


def markdown(matrix: Matrix) -> str:
    heading = _heading(matrix)
    rows = []
    for allocator, name in matrix.allocators.items():
        fields = [matrix.fields.get((allocator, workload)) for workload in matrix.workloads]
        rows.append([name, *(each.words() if each else "–" for each in fields)])
    header = ["allocator", *matrix.workloads]
    return heading.markdown([grid.markdown(grid.Grid(header, rows, aligned_left=len(header))), _reasons(matrix), _causes(matrix)], caption_first=True)


def _reasons(matrix: Matrix) -> str:
    """Lists the most frequent reasons of every field that is not all ok, by status."""
    lines = []
    for (allocator, workload), there in sorted(matrix.fields.items()):
        for word in SEVERITY:
            found = there.reasons.get(word, Counter()).most_common()
            lines += [f"- {matrix.allocators[allocator]}, {workload}: {word} ({count}): {reason}" for reason, count in found[:_MOST_REASONS]]
            more = sum(count for _, count in found[_MOST_REASONS:])
            if more:
                lines.append(f"- {matrix.allocators[allocator]}, {workload}: {word} ({more}): other reasons")
    return "Reasons (first lines, with the number of cells):\n\n" + "\n".join(lines) if lines else ""


def _causes(matrix: Matrix) -> str:
    """Lists the known causes of the cells that are not ok, by rule, and the cells that no rule explains."""
    fields: dict[reasons.Rule | None, dict[tuple[str, str], list[str]]] = {}
    for (allocator, workload), there in sorted(matrix.fields.items()):
        for status, found in there.causes.items():
            for rule in found:
                workloads = fields.setdefault(rule, {}).setdefault((status, matrix.allocators[allocator]), [])
                if workload not in workloads:
                    workloads.append(workload)
    lines = [_cause(rule, fields[rule]) for rule in (*reasons.rules(), None) if rule in fields]
    return "Causes:\n\n" + "\n".join(lines) if lines else ""


def _cause(rule: reasons.Rule | None, cells: dict[tuple[str, str], list[str]]) -> str:
    words = dict.fromkeys(status for status, _ in cells)
    told = "; ".join(f"{allocator} ({', '.join(workloads)})" for (_, allocator), workloads in cells.items())
    because = "**No explanation yet.**" if rule is None else f"**Open.** {rule.because}" if rule.open else rule.because
    see = f" See {rule.see}." if rule and rule.see else ""
    return f"- {', '.join(words)}: {because}{see} {told}."


def table(matrix: Matrix) -> str:
    """Returns the matrix as CSV."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["backend", "allocator", "display_name", "workload", "status", "cells", "reason", "because"])
    for (allocator, workload), there in sorted(matrix.fields.items()):
        for word in reversed(SEVERITY):
            if there.statuses[word]:
                reason = there.reasons[word].most_common(1)[0][0] if word in there.reasons else ""
                rule = there.causes[word].most_common(1)[0][0] if word in there.causes else None
                writer.writerow([matrix.back_end, allocator, matrix.allocators[allocator], workload, word, there.statuses[word], reason,
                                 rule.because if rule else ""])
    return text.getvalue()
