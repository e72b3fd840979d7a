"""This module arranges the maps of a figure on its page.

layout() takes the first arrangement that fits. The maps are one below the other, or side by side with one column of
names. If the rows are grouped by family, they may be split into two or three columns, but the forms of an allocator stay
below it.
"""

from __future__ import annotations

import os.path
from dataclasses import dataclass
from typing import Sequence

from plots.figures.heatmap_blocks import Block, Cell
from plots.sheet import quantity, rows, style, ticks
from plots.sheet.page import BODY_WIDTH, Heading, Page

_ROWS = (0.16, 0.135, 0.118)  # heights of a row in inches; the largest that fits is used
_TALLEST = 7.4                # greatest height of the body, for a page of 9 inches with heading and caption
# The arrangements are pairs: whether maps are side by side, and the number of columns of rows.
_SHAPES = ((False, 1), (True, 1), (True, 2), (True, 3), (False, 2))
_LEAST_ROOM = 0.22            # least width of a cell, enough for three characters
_WIDEST = 1.0
_TITLE = 0.19
_GROUP = 0.15                 # height of a line of group names
_GAP = 0.02                   # gap before a group of columns, taken from its first cell
_ASIDE = 0.06                 # least gap between the names of neighbouring groups
_BETWEEN = 0.10
_APART = 0.06                 # gap between maps that are side by side
_GUTTER = 0.18                # gap between columns of rows


@dataclass(frozen=True)
class Layout:
    """A layout has `bands` one below the other. The maps of a band have the same rows and share the row names."""

    bands: list[list[Block]]
    title: str   # name of the setting across
    parts: int   # number of columns of rows
    row: float   # height of a row; this and all sizes below are in inches
    left: float
    room: float
    head: float  # height of the column names
    turned: bool

    def stretches(self, band: list[Block]) -> list[tuple[int, int]]:
        return rows.split(_groups(band[0]), self.parts)

    def height(self, band: list[Block]) -> float:
        return _named(band) + self.head + self.row * max(end - first for first, end in self.stretches(band))

    def body(self) -> float:
        return sum(self.height(band) for band in self.bands) + _BETWEEN * (len(self.bands) - 1) + 0.05


def layout(blocks: Sequence[Block], title: str) -> Layout:
    """Returns the arrangement with the largest rows that fits a page. If none fits, it returns the one with the least
    height.
    """
    same = all([label for label, _ in block.rows] == [label for label, _ in blocks[0].rows] for block in blocks)
    shapes = [(beside, parts) for beside, parts in _SHAPES if (same or not beside) and (parts == 1 or blocks[0].families)]
    made = [_shaped(blocks, title, beside, parts, row) for row in _ROWS for beside, parts in shapes]
    readable = [each for each in made if each.room >= _LEAST_ROOM] or made[:1]
    return next((each for each in readable if each.body() <= _TALLEST), None) or min(readable, key=Layout.body)


def _shaped(blocks: Sequence[Block], title: str, beside: bool, parts: int, row: float) -> Layout:
    bands = [list(blocks)] if beside else [[block] for block in blocks]
    left = max(ticks.text_width(label, style.LEAST) for label in [title, *(label for block in blocks for label, _ in _labels(block))]) + 0.06
    widest = max(sum(len(block.columns) for block in band) for band in bands)
    free = (BODY_WIDTH - _GUTTER * (parts - 1)) / parts - left - _APART * (max(map(len, bands)) - 1)
    longest = max(ticks.text_width(value, style.LEAST) for block in blocks for _, value in block.columns)
    room = min(free / widest, max(_WIDEST, longest + 0.06))
    turned = longest + 0.04 > room
    head = (longest + 0.04 if turned else 0.14) + (_GROUP if any(group for block in blocks for group, _ in block.columns) else 0)
    return Layout(bands, title, parts, row, left, room, head, turned)


def _labels(block: Block) -> list[tuple[str, bool]]:
    """Returns the names of the rows, and whether each row is a form of the allocator above it."""
    full = [label for label, _ in block.rows]
    names = [(rest or label, bool(rest)) for label, rest in zip(full, rows.below(full))] if block.families else [(label, False) for label in full]
    return [(ticks.cut(name, style.LEAST, style.NAME), is_form) for name, is_form in names]


def _told_once(block: Block, room: float) -> tuple[str, dict[str, str]]:
    """Returns the words that all group names share at their beginning or at their end, and the names without these
    words.

    The first result is empty if all names fit into the width of their columns.
    """
    groups = [group for group, _ in block.columns]
    names = {name: name for name in groups}
    if len(names) < 2 or all(ticks.text_width(name, style.LEAST, bold=True) <= room * groups.count(name) for name in names):
        return "", names
    split = {name: name.split(" ") for name in names}
    if words := os.path.commonprefix(list(split.values())):
        return " ".join(words), {name: " ".join(each[len(words):]) for name, each in split.items()}
    plural = [each for each in split.values() if each[0] != "1"]  # of a singular, only the number is left
    words = os.path.commonprefix([each[::-1] for each in plural or split.values()])
    return " ".join(words[::-1]), {name: " ".join(each[:len(each) - len(words)]) for name, each in split.items()}


def _groups(block: Block) -> list[int]:
    """Returns the sizes of groups of rows that stay together: an allocator and its forms."""
    made: list[int] = []
    for _, is_form in _labels(block):
        if is_form:
            made[-1] += 1
        else:
            made.append(1)
    return made


def _named(band: list[Block]) -> float:
    return _TITLE if any(block.title for block in band) else 0.0


def written(cell: Cell, room: float) -> str:
    """Returns the longest form of the text that fits, or the shortest form if none fits."""
    letters = {style.STATUS_SHORT.get(word, word): letter for word, letter in style.STATUS_LETTERS.items()}
    ways = (cell.text, letters.get(cell.text, "–")) if cell.word else (cell.text, narrow(cell.text, 2), narrow(cell.text))
    return next((way for way in ways if ticks.text_width(way, style.LEAST) + 0.03 <= room), ways[-1])


def narrow(text: str, digits: int = 1) -> str:
    """Shortens a number: `.12` for 0.12, `2k` for 2,400, `24k` for 24,200, `240k` for 240,000.

    `digits` is the number of digits of a number from 1,000 to 9,999: with two, 2,400 becomes `2.4k`.
    """
    number = text.replace(",", "")
    if not number.replace(".", "").isdigit():
        return text
    value = float(number)
    if value >= 1000:
        return quantity.in_si(float(f"{value:.{digits if value < 10_000 else 2}g}"), "").replace(" ", "")
    return text if value >= 1 else "<.01" if value < 0.005 else f"{value:.2f}".removeprefix("0")


def draw(heading: Heading, made: Layout) -> Page:
    page = Page(heading, made.body())
    top = page.body_height
    width = (BODY_WIDTH + _GUTTER) / made.parts - _GUTTER
    for band in made.bands:
        height = made.height(band)
        for number, (first, end) in enumerate(made.stretches(band)):
            axes = page.axes((width + _GUTTER) * number, top - height, width, height)
            axes.set_axis_off()
            axes.set_xlim(0, width)
            axes.set_ylim(height, 0)
            axes.set_gid("heatmap")
            _draw_names(axes, made, band, first, end)
            left = made.left
            for block in band:
                _draw_map(axes, made, block, first, end, left, _named(band), beside=len(band) > 1, first_of_band=block is band[0])
                left += made.room * len(block.columns) + _APART
        top -= height + _BETWEEN
    return page


def _draw_names(axes, made: Layout, band: list[Block], first: int, end: int) -> None:
    start = _named(band) + made.head
    axes.text(made.left - 0.05, start - 0.02, made.title, fontsize=style.LEAST, color=style.GREY, ha="right", va="bottom")
    families = band[0].families
    for line, (label, is_form) in enumerate(_labels(band[0])[first:end]):
        axes.text(made.left - 0.05, start + made.row * (line + 0.5), label, fontsize=style.LEAST, ha="right", va="center",
                  color=style.GREY if is_form else style.BLACK)
        if line and families and families[first + line] != families[first + line - 1]:
            axes.plot([0, made.left], [start + made.row * line] * 2, color=style.LIGHT, linewidth=0.5)


def _draw_map(axes, made: Layout, block: Block, first: int, end: int, left: float, start: float, beside: bool,
              first_of_band: bool) -> None:
    if block.title:
        axes.text(left if beside else 0, 0.02, block.title, fontsize=7.5, weight="bold", va="top")
    room, base = made.room, start + made.head
    common, names = _told_once(block, room)
    if common and first_of_band:
        axes.text(made.left - 0.05, start + 0.01, common, fontsize=style.LEAST, color=style.GREY, ha="right", va="top")
    groups = [group for group, _ in block.columns]
    apart = all(ticks.text_width(short, style.LEAST, bold=True) <= room * groups.count(name) - _ASIDE for name, short in names.items() if short)
    weight = "bold" if apart else "normal"  # names in normal weight are narrower
    for number, (name, value) in enumerate(block.columns):
        axes.text(left + room * (number + 0.5), base - 0.02, value, fontsize=style.LEAST, ha="center", va="bottom",
                  rotation=90 if made.turned else 0)
        if name and (number == 0 or groups[number - 1] != name):
            axes.text(left + room * (number + groups.count(name) / 2), start + 0.01, names[name], fontsize=style.LEAST, weight=weight, ha="center", va="top")
    for line, (_, cells) in enumerate(block.rows[first:end]):
        top = base + made.row * line
        for number, cell in enumerate(cells):
            if cell is None:
                continue
            gap = _GAP if groups[0] and number and groups[number - 1] != groups[number] else 0.0
            axes.fill_between([left + room * number + gap, left + room * (number + 1)], top, top + made.row,
                              facecolor=cell.colour, edgecolor="#c8c8c8" if cell.word else "white", linewidth=0.6,
                              hatch="/////" if cell.word else None, gid="word" if cell.word else "factor")
            axes.text(left + room * (number + 0.5) + gap / 2, top + made.row / 2, written(cell, room), fontsize=style.LEAST, ha="center", va="center",
                      color=style.text_on(cell.colour), style="italic" if cell.provisional else "normal")
