"""This module draws the A/A figure: runs of the same config on one card, compared with each other.

Every difference between these runs is an error of the measurement. For each phase of a cell, the figure compares the
intervals of every two runs and counts the pairs that are disjoint. If few pairs are disjoint, a difference between two
allocators with disjoint intervals is credible. The figure may have several configs, and runs of several cards of one
model. Pairs of runs on different cards are counted apart.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from dataclasses import dataclass, replace
from statistics import median
from typing import Iterator, Sequence

import matplotlib
from matplotlib.lines import Line2D

from allocbench.errors import NothingToDraw, UsageError
from plots.runs import forms, labels, origin
from plots.runs.results import Run
from plots.sheet import quantity, style, ticks
from plots.sheet.page import BODY_WIDTH, Drawing, Heading, Page

PRECISION = 0.013  # wanted half-width of an interval as a share of the time, the default of the stopping rule

_ROW = 0.155
_BESIDE = 0.12  # inches between the names and the axis
_AXIS = 0.32
_TITLE = 0.18   # height of a line above the panels
_GAP = 0.15
_WIDEST = 0.2   # largest distance from the median on the x axis, as a share of the median; longer lines are cut off
_SHORT = 1e-4   # seconds; the start of the kernel is a large share of a shorter time


@dataclass(frozen=True)
class Time:
    """A time is the value of a cell in a run, with its interval and the run's card."""

    value: float
    low: float
    high: float
    card: str

    def is_apart_from(self, other: Time) -> bool:
        return self.high < other.low or other.high < self.low


@dataclass(frozen=True)
class Place:
    """A place is a phase of a cell, with the time of each run that has an interval there."""

    label: str     # label of the allocator
    values: tuple  # values of the config's axes
    name: str      # label and values, as shown
    workload: str
    phase: str
    times: list[Time]

    @property
    def pairs(self) -> list[tuple[Time, Time]]:
        return [(one, other) for one, other in itertools.combinations(self.times, 2) if one.card == other.card]

    @property
    def disjoint(self) -> int:
        return sum(one.is_apart_from(other) for one, other in self.pairs)

    @property
    def pairs_of_cards(self) -> list[tuple[Time, Time]]:
        return [(one, other) for one, other in itertools.combinations(self.times, 2) if one.card != other.card]

    @property
    def precise(self) -> Place:
        """Returns the place with only the runs that reached the wanted precision there."""
        return replace(self, times=[each for each in self.times if (each.high - each.low) / 2 <= PRECISION * each.value])


def make(runs: Sequence[Run], stem: str = "aa") -> Drawing:
    places = find(runs)
    columns = list(dict.fromkeys((place.workload, place.phase) for place in places))
    names = _rows(places)
    by_config = _by_config(runs)
    caption = [f"Each line is the 95 % interval of a run, as a distance from the median of the runs. It is red if it is disjoint from the interval of another run "
               f"on the same card. {_counts(places)}", _measured(by_config)]
    about = origin.title(runs[0]) if len(by_config) == 1 else " · ".join(by_config)
    lines = list(dict.fromkeys(line for group in by_config.values() for line in origin.lines(group[0])))
    above = _TITLE * (2 if len(by_config) > 1 else 1)  # the workload has a line of its own
    with matplotlib.rc_context(style.RC):
        page = Page(Heading(_title(by_config), about, caption, lines), _AXIS + _ROW * len(names) + above)
        shown = [ticks.cut(name, style.LEAST, style.NAME) for name in names]
        left = max(ticks.text_width(name, style.LEAST) for name in shown) + _BESIDE
        width = (BODY_WIDTH - left - _GAP * (len(columns) - 1)) / len(columns)
        limit = _limit(places)
        for number, (workload, phase) in enumerate(columns):
            axes = page.axes(left + number * (width + _GAP), _AXIS, width, _ROW * len(names))
            _draw(axes, [place for place in places if (place.workload, place.phase) == (workload, phase)], names, limit)
            axes.set_title(f"{workload}\n{phase}" if len(by_config) > 1 else phase, fontsize=style.LEAST, pad=2)
            axes.set_yticks(range(len(names)), shown if number == 0 else [], fontsize=style.LEAST)
    return Drawing(stem, page, _markdown(by_config, places, lines))


def find(runs: Sequence[Run]) -> list[Place]:
    models = sorted({run.device.get("name") or "unknown" for run in runs})
    if len(models) > 1:
        raise UsageError(f"The runs come from {len(models)} models of cards ({', '.join(models)}), but an A/A figure needs one model. Leave some runs out.")
    by_config = _by_config(runs)
    if single := [name for name, group in by_config.items() if len(group) < 2]:
        raise UsageError(f"An A/A figure needs at least two runs of each config. Measure these again, or leave their runs out: {', '.join(single)}.")
    places = [place for group in by_config.values() for place in _places(group)]
    if not places:
        raise NothingToDraw("no cell has an interval in two runs: an interval needs six rounds.")
    return places


def _by_config(runs: Sequence[Run]) -> dict[str, list[Run]]:
    made: dict[str, list[Run]] = {}
    for run in runs:
        made.setdefault(run.name, []).append(run)
    return made


def _places(runs: Sequence[Run]) -> Iterator[Place]:
    first = runs[0]
    phases = [phase for phase, metric in first.values[["phase", "metric"]].drop_duplicates().itertuples(index=False) if metric == "time"]
    for phase in [phase for phase in phases if phase != "total"] or phases:  # the total follows from the other phases
        tables = [(run.at(phase, "time"), _card(run)) for run in runs]
        for cell in first.cells.index:
            times = [Time(*table.loc[cell, ["value", "low", "high"]], card) for table, card in tables if cell in table.index]
            times = [each for each in times if each.low == each.low]
            if len(times) > 1:
                label = first.label(cell) or labels.allocator(first, first.cells.at[cell, "allocator"])
                axes = first.cells.at[cell, "axes"]
                shown = [quantity.written(name, value) for name, value in axes.items()]
                yield Place(label, tuple(axes.values()), " ".join([label, *shown]), first.cells.at[cell, "workload"], phase, times)


def _rows(places: Sequence[Place]) -> list[str]:
    """Returns the names of all cells. The allocators keep their order, and the values of each are in growing order."""
    found = list(dict.fromkeys(place.label for place in places))
    ordered = sorted(places, key=lambda place: (found.index(place.label), [(isinstance(value, str), value) for value in place.values]))
    return list(dict.fromkeys(place.name for place in ordered))


def _card(run: Run) -> str:
    return str(run.device.get("uuid") or run.device.get("name"))


def _counts(places: Sequence[Place]) -> str:
    def share(pairs: Sequence[tuple[Time, Time]]) -> str:
        disjoint = sum(one.is_apart_from(other) for one, other in pairs)
        return f"{disjoint} of {len(pairs)} pairs ({100 * disjoint / len(pairs):.1f} %)" if pairs else "no pair"

    all_pairs = [pair for place in places for pair in place.pairs]
    precise = [pair for place in places for pair in place.precise.pairs]
    told = f"Disjoint: {share(all_pairs)}; of intervals within ±{100 * PRECISION:g} %: {share(precise)}."
    if between := [pair for place in places for pair in place.pairs_of_cards]:
        told += f" Between different cards: {share(between)}; the median ratio of the slower to the faster time is {_ratio(between):.4f}."
        if long := [(one, other) for one, other in between if min(one.value, other.value) >= _SHORT]:
            told += f" For times of at least {quantity.in_si(_SHORT, 's')} it is {_ratio(long):.4f}."
        if short := [abs(one.value - other.value) for one, other in between if min(one.value, other.value) < _SHORT]:
            told += f" Shorter times differ by a median of {quantity.in_si(median(short), 's')}."
    return told


def _by_cards(places: Sequence[Place]) -> str:
    """Returns the median difference of short times for each pair of cards. The text is empty for fewer than three
    cards. The differences show which card, or its host, differs from the others.
    """
    cards = list(dict.fromkeys(each.card for place in places for each in place.times))
    short = [pair for place in places for pair in place.pairs_of_cards if min(each.value for each in pair) < _SHORT]
    told = []
    for one, other in itertools.combinations(cards, 2):
        differences = [abs(pair[0].value - pair[1].value) for pair in short if {each.card for each in pair} == {one, other}]
        if differences:
            told.append(f"{cards.index(one) + 1} and {cards.index(other) + 1}: {quantity.in_si(median(differences), 's')}")
    return f"Median difference of these shorter times for each pair of cards, numbered in the order of their first runs: {'; '.join(told)}." if len(cards) > 2 and told else ""


def _ratio(pairs: Sequence[tuple[Time, Time]]) -> float:
    """Returns the median ratio of the slower to the faster time."""
    return median(max(one.value, other.value) / min(one.value, other.value) for one, other in pairs)


def _measured(by_config: dict[str, list[Run]]) -> str:
    """Returns the measured forms and workloads. The current configs may name others."""
    of_allocators = {name: group[0].forms.get(name, forms.form_of(name)) for group in by_config.values() for name in group[0].allocators()}
    counts = Counter(map(forms.shown, of_allocators.values()))
    workloads = dict.fromkeys(workload for group in by_config.values() for workload in group[0].cells["workload"])
    return f"Measured forms: {', '.join(f'{count} {form}' for form, count in counts.items())}. Workloads: {', '.join(workloads)}."


def _title(by_config: dict[str, list[Run]]) -> str:
    runs = [run for group in by_config.values() for run in group]
    cards = len({_card(run) for run in runs})
    on = "on one card" if cards == 1 else f"on {cards} cards of one model"
    counts = sorted({len(group) for group in by_config.values()})
    times = f"{counts[0]} times" if len(counts) == 1 else f"{counts[0]} to {counts[-1]} times"
    return f"One config, {times} {on}" if len(by_config) == 1 else f"{len(by_config)} configs, {times} each {on}"


def _limit(places: Sequence[Place]) -> float:
    farthest = max(max(abs(bound / _middle(place) - 1) for bound in (each.low, each.high)) for place in places for each in place.times)
    return min(farthest * 1.05, _WIDEST)


def _step(limit: float) -> float:
    """Returns the distance of the outer ticks from 0. It is 1, 2 or 5 times a power of ten, and at most 60 % of the
    limit, so that labels do not touch those of the next panel.
    """
    power = 10 ** math.floor(math.log10(0.6 * limit))
    return max(factor * power for factor in (1, 2, 5) if factor * power <= 0.6 * limit)


def _middle(place: Place) -> float:
    return median(each.value for each in place.times)


def _draw(axes, places: Sequence[Place], names: Sequence[str], limit: float) -> None:
    for place in places:
        middle = _middle(place)
        for number, each in enumerate(place.times):
            apart = any(each.card == other.card and each.is_apart_from(other) for other in place.times)
            colour = style.WARNING if apart else style.BLACK
            y = names.index(place.name) + 0.7 * ((number + 0.5) / len(place.times) - 0.5)
            axes.add_line(Line2D([each.low / middle - 1, each.high / middle - 1], [y, y], color=colour, linewidth=0.7))
            distance = each.value / middle - 1
            if abs(distance) <= limit:
                axes.plot(distance, y, marker="|", markersize=1.6, color=colour)
            else:  # the value lies outside, in the direction of the triangle
                axes.plot(math.copysign(limit, distance), y, marker=">" if distance > 0 else "<", markersize=2, color=colour, clip_on=False)
    axes.axvline(0, color=style.GREY, linewidth=0.5, zorder=0)
    axes.set_xlim(-limit, limit)
    axes.set_xticks([-_step(limit), 0, _step(limit)])
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.xaxis.set_major_formatter(lambda value, _: f"{100 * value:+.3g} %" if value else "0")
    axes.tick_params(axis="y", length=0)


def _markdown(by_config: dict[str, list[Run]], places: Sequence[Place], lines: Sequence[str]) -> str:
    rows = [f"| {place.workload} | {place.name} | {place.phase} | {min(each.value for each in place.times):.4g} to {max(each.value for each in place.times):.4g} "
            f"| {max((each.high - each.low) / 2 / each.value for each in place.times) * 100:.2f} % | {place.disjoint} of {len(place.pairs)} |" for place in places]
    head = "| workload | cell | phase | times of the runs in s | widest half interval | disjoint pairs |\n|---|---|---|---|---:|---:|"
    counts = " ".join(filter(None, [_counts(places), _by_cards(places)]))
    return "\n".join([f"# {_title(by_config)}", "", counts, "", _measured(by_config), "", head, *rows, "", *lines, ""])
