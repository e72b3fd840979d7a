"""This module draws the strip above a panel. It shows cells that the panel cannot show, as marks at their x with a
word. The word is the status or another reason for the lack of a value, or 0 for series of zeros on a logarithmic axis.

Each series with such cells has a row. Neighbouring cells with the same word share one word over a thin line.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Sequence

from plots.figures.model.series import Series
from plots.sheet import style, ticks

_NAME_POINTS = style.LEAST
_NAME_WIDTH = 1.35  # width in inches above which a name takes two lines
_WORD_POINTS = style.LEAST
_MARK_HEIGHT = 0.11   # height in inches of the marks of a row
_LANE_HEIGHT = 0.115  # height in inches of a lane of words above the marks


@dataclass(frozen=True)
class Stretch:
    """A stretch is a group of neighbouring cells of one series that share a word."""

    word: str
    positions: tuple[float, ...]


@dataclass(frozen=True)
class Row:
    series: Series
    stretches: tuple[Stretch, ...]
    lanes: tuple[int, ...]     # lane of each stretch's word; words in one lane do not touch
    centres: tuple[float, ...]  # middle of each word, in inches from the left end
    least_lanes: int = 0        # most lanes that the same row needs in any panel

    @property
    def lanes_shown(self) -> int:
        return max((lane + 1 for lane in self.lanes), default=0)

    @property
    def height(self) -> float:
        return _MARK_HEIGHT + _LANE_HEIGHT * max(self.lanes_shown, self.least_lanes)


def stretches_of(series: Series) -> tuple[Stretch, ...]:
    made: list[Stretch] = []
    previous = ""
    for x, word in zip(series.points["x"], series.points["word"]):
        if word and word == previous:
            made[-1] = Stretch(word, made[-1].positions + (x,))
        elif word:
            made.append(Stretch(word, (x,)))
        previous = word
    return tuple(made)


def rows_of(all_series: Sequence[Series], bounds: tuple[float, float], log: bool, width: float) -> list[Row]:
    """Returns the rows of the series that have failed cells, for a strip `width` inches wide."""
    rows = []
    for series in all_series:
        stretches = stretches_of(series)
        if not stretches:
            continue
        lanes, centres = [], []
        ends: list[float] = []  # right end of the last word in each lane
        for stretch in stretches:
            places = [ticks.position(x, bounds, log) * width for x in stretch.positions]
            half = ticks.text_width(stretch.word, _WORD_POINTS) / 2
            centre = min(max((places[0] + places[-1]) / 2, half), width - half)
            lane = next((i for i, end in enumerate(ends) if centre - half > end + 0.04), len(ends))
            ends[lane:lane + 1] = [centre + half]
            lanes.append(lane)
            centres.append(centre)
        rows.append(Row(series, stretches, tuple(lanes), tuple(centres)))
    return rows


def rows_of_panels(panels: Sequence[Sequence[Series]], bounds: tuple[float, float], log: bool,
                   width: float) -> list[list[Row]]:
    """Returns the rows of panels that are side by side. If a series has failed cells in one panel, it has a row in
    every panel. These rows have the same place and the same height.
    """
    made = [rows_of(all_series, bounds, log, width) for all_series in panels]
    series = {each.label: each for all_series in panels for each in all_series}
    rooms = {label: max((row.lanes_shown for rows in made for row in rows if row.series.label == label), default=0)
             for label in series}
    aligned = []
    for rows in made:
        own = {row.series.label: row for row in rows}
        aligned.append([replace(own.get(label) or Row(series[label], (), (), ()), least_lanes=room) for label, room in rooms.items() if room])
    return aligned


def width_of(name: str) -> float:
    """Returns the width of a name beside the strip, in inches."""
    return max(ticks.text_width(line, _NAME_POINTS) for line in _lines_of(name))


def _lines_of(name: str) -> list[str]:
    width = ticks.text_width(name, _NAME_POINTS)
    if width <= _NAME_WIDTH:
        return [name]
    made = (ticks.wrapped(name, _NAME_POINTS, share * width) for share in (0.55, 0.65, 0.75, 1))
    return next(lines for lines in made if len(lines) <= 2)


def height_of(rows: Sequence[Row]) -> float:
    return sum(row.height for row in rows)


def draw(axes, rows: Sequence[Row], bounds: tuple[float, float], log: bool, width: float, named: bool) -> None:
    """Draws the rows from the top down, with y in inches. `named` adds the allocators' names on the left."""
    axes.set_xscale("log" if log else "linear")
    axes.set_xlim(*bounds)
    axes.set_ylim(height_of(rows), 0)
    axes.tick_params(length=0, which="both", labelbottom=False, bottom=False)
    axes.set_facecolor("#f7f7f7")
    for side in axes.spines.values():
        side.set_visible(False)

    top = 0.0
    name_heights = []
    for row in rows:
        look = row.series.look
        marks = top + row.height - _MARK_HEIGHT / 2
        name_heights.append(marks if len(_lines_of(row.series.label)) == 1 else top + row.height / 2)
        for stretch, lane, centre in zip(row.stretches, row.lanes, row.centres):
            axes.plot(stretch.positions, [marks] * len(stretch.positions), linestyle="-", linewidth=0.8,
                      color=look.colour, marker="x", markersize=3.8, markeredgewidth=1.2,
                      gid=f"failed {row.series.label}")
            axes.text(centre / width, marks - _MARK_HEIGHT / 2 - _LANE_HEIGHT * lane, stretch.word, fontsize=_WORD_POINTS,
                      transform=axes.get_yaxis_transform(), ha="center", va="bottom", color=style.BLACK)
        top += row.height
        axes.axhline(top, color="white", linewidth=1.5)
    axes.set_yticks(name_heights if named else [])
    if named:
        axes.set_yticklabels(["\n".join(_lines_of(row.series.label)) for row in rows], fontsize=_NAME_POINTS, linespacing=0.95)
