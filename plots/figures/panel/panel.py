"""This module draws the inside of one panel of a line figure: its y axis, its series, and the statements of the paper."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import Sequence

from matplotlib.colors import to_rgba
from matplotlib.transforms import offset_copy

from plots.figures.model.chart import Axis, Chart, Panel
from plots.figures.model.series import Series
from plots.figures.panel import apart, edge
from plots.sheet import provisional, quantity, style, ticks

_SPREAD = 0.8  # share of a word's room on the x axis that the marks of all series take


@dataclass(frozen=True)
class Scale:
    """A scale is the y axis of one or more panels of a metric. Points beyond the plot's `limits` are drawn at the edge."""

    metric: str
    unit: str
    log: bool
    covered: tuple[float, float]
    clipped: int  # number of values beyond the limits

    @staticmethod
    def of(chart: Chart, metric: str, contents: Sequence[Panel]) -> Scale:
        numbers = [number for content in contents for number in _covered(content)]
        # A logarithmic axis has no place for zero. A share needs a linear axis, which shows it as a part of the whole.
        log = chart.log_y and min(numbers, default=0) > 0 and not quantity.is_share(metric)
        least, most = chart.limits.get(metric, (-math.inf, math.inf))
        inside = [number for number in numbers if least <= number <= most] or numbers or [1.0]  # a picture may have a panel without curves
        clipped = sum(not least <= value <= most for content in contents for series in content.series
                      for value in series.drawn()["value"])
        if quantity.is_ratio(metric) and log:
            inside.append(1.0)
        return Scale(metric, chart.units.get(metric, ""), log, (min(inside), max(inside)), clipped)

    def set_y(self, axes) -> None:
        ticks.set_y(axes, self.covered, self.log, self._write, self._binary)

    @property
    def _write(self):
        return quantity.formatter(self.metric, self.unit)

    @property
    def _binary(self) -> bool:
        return self.unit in ("B", "B/s")

    def label_width(self) -> float:
        """Returns the width of the widest tick label, in inches."""
        marks = ticks.y_marks(self.bounds(), self.log, self._binary)
        return max(ticks.text_width(self._write(mark), style.LEAST) for mark in marks)

    def bounds(self) -> tuple[float, float]:
        return ticks.y_bounds(self.covered, self.log)

    def moves(self, content: Panel, x: Axis, height: float, spacing: float, joined: bool) -> list[apart.Move]:
        if x.words and not x.even:  # each series has its own place beside the others
            return [apart.Move()] * len(content.series)
        if x.even:  # markers may use the whole column of a value
            return apart.of_markers(content.series, self.bounds(), self.log, height, spacing, math.inf)
        return (apart.moves if content.has_lines(joined) else apart.of_markers)(content.series, self.bounds(), self.log, height, spacing)

    def written(self, value: float) -> str:
        """Returns the text of a number inside the panel. A ratio has fewer digits there than at the ticks."""
        return f"{quantity.factor(value)}×" if quantity.is_ratio(self.metric) else self._write(value)

    def sentence(self) -> str:
        if not self.clipped:
            return ""
        values, numbers = ("value lies", "the number") if self.clipped == 1 else ("values lie", "their numbers or range")
        return f"{self.clipped} {values} beyond the axis of {quantity.metric_name(self.metric)}: triangles at its edge, with {numbers}."


def draw_panel(axes, chart: Chart, content: Panel, scale: Scale, moves: Sequence[apart.Move]) -> None:
    for band in content.bands:
        if band.low == band.high:
            axes.plot(band.xs, band.low, color=style.GREY, linestyle=(0, (1, 1.5)), linewidth=1.2, zorder=0.5, label=band.source, gid="band")
            continue
        axes.fill_between(band.xs, band.low, band.high, facecolor=to_rgba(style.NOISE, 0.32), edgecolor=to_rgba(style.GREY, 0.75), linewidth=0.5, zorder=0.5,
                          label=band.source, gid="band")
    sources = list(dict.fromkeys(position.source for position in content.positions))
    for position in content.positions:
        colour = (style.BLACK, style.GREY)[sources.index(position.source) % 2]
        axes.axvline(position.x, color=colour, linestyle=style.POSITION_DASH, linewidth=0.8, zorder=0.9, label=position.source, gid="position")
    _draw_noise(axes, chart, content, scale)
    beyond: list[edge.Number] = []
    xs = sorted({x for series in content.series for x in series.points["x"]})
    for index, (series, curve) in enumerate(zip(content.series, content.curves)):
        aside = _SPREAD * ((index + 0.5) / len(content.series) - 0.5) if chart.x.words and not chart.x.even else 0.0
        joined = not chart.x.words and not curve[0] and chart.joined
        _draw_series(axes, series, aside, moves[index], joined, chart.faint, xs, content.ringed, scale.clipped > 0)
        edge.draw(axes, series, aside, scale.bounds(), scale.written, beyond)
    for series, curve in content.theory():  # below the markers
        axes.plot(*curve, color=series.look.colour, linestyle=series.look.dash, linewidth=0.9, zorder=1.5, gid=f"theory {series.label}", label=content.equations[series.allocator])
    for mark in content.marks:
        colour = style.look(mark.allocator).colour if mark.allocator else style.BLACK
        axes.plot([mark.x], [mark.y], linestyle="none", marker="*", markersize=9, markerfacecolor="none",
                  color=colour, gid="stated", label=mark.source)


def _covered(content: Panel) -> list[float]:
    """Returns all numbers that the y axis must cover."""
    made = [number for series in content.series for column in ("value", "low", "high")
            for number in series.points[column] if not math.isnan(number)]
    made += [mark.y for mark in content.marks] + [y for _, (_, ys) in content.theory() for y in ys]
    return made + [y for band in content.bands for y in (*band.low, *band.high)]


def _draw_noise(axes, chart: Chart, content: Panel, scale: Scale) -> None:
    """Draws a line at 1 and the interval of the reference allocator, if values are relative to it. A difference within this
    interval is noise.
    """
    if not quantity.is_ratio(scale.metric) or not chart.reference:
        return
    axes.axhline(1, color=style.GREY, linewidth=0.8, zorder=0.9)
    own = next((series.drawn() for series in content.series if series.allocator == chart.reference), None)
    if own is not None and len(own) > 1 and own["low"].notna().all():
        axes.fill_between(own["x"], own["low"], own["high"], color=style.NOISE, alpha=0.35, linewidth=0, zorder=0.4, label=chart.noise,
                          gid="noise")


def _draw_series(axes, series: Series, aside: float, move: apart.Move, joined: bool,
                 fade: bool, all_xs: Sequence[float], ringed: set[str], cut: bool) -> None:
    """Draws a series. With `cut`, markers are cut off at the edges of the axes."""
    look, points = series.look, series.points
    xs = points["x"] + aside
    places = _places(axes, points["x"], move)
    hollow = points[provisional.FLAG].astype(bool)
    if joined and move.wider:
        axes.plot(xs, points["value"], color=look.colour, linewidth=style.RC["lines.linewidth"] + move.wider, zorder=1.99 - 0.01 * move.wider,
                  solid_capstyle="butt", gid=f"below {series.label}")
    _draw_values(axes, series, xs, hollow, joined, places, cut)
    if joined and fade:
        _fade_gaps(axes, points, all_xs, move.wider)
    only = series.label if hollow[points["value"].notna()].all() else ""
    for place, at in places:
        if (hollow & at).any():
            provisional.draw(axes, xs[hollow & at], points.loc[hollow & at, "value"], look, look.marker_size, gid=f"provisional {series.label}", label=only,
                             transform=place, clip_on=cut, zorder=2.02)
        rings = at & points["cell"].isin(ringed)
        axes.plot(xs[rings], points.loc[rings, "value"], linestyle="none", marker="o", markersize=9, markerfacecolor="none",
                  markeredgecolor=look.colour, markeredgewidth=0.8, gid=f"ring {series.label}", transform=place)
        # Bars are used instead of bands, because wide bands of many allocators would cover each other and the lines.
        bars = points[at & points["value"].notna() & points["low"].notna() & points["high"].notna()]
        axes.vlines(bars["x"] + aside, bars["low"], bars["high"], color=look.colour, linewidth=1.3, alpha=0.5, zorder=1.8,
                    gid=f"interval {series.label}", transform=place)


def _places(axes, xs, move: apart.Move) -> list:
    """Returns each transform that markers need to stand in their places, with the points that need it."""
    asides = xs.map(move.right)
    return [(offset_copy(axes.transData, fig=axes.figure, x=aside, units="points") if aside else axes.transData, asides == aside) for aside in dict.fromkeys(asides)]


def _draw_values(axes, series: Series, xs, hollow, joined: bool, places, cut: bool) -> None:
    """Draws the line and the markers. The markers are on the line, or beside each other at `places`."""
    look, values = series.look, series.points["value"]
    has_face = look.fill == "full" and look.marker not in "x+"
    outline = {"markeredgecolor": "white", "markeredgewidth": 0.4} if has_face else {"markeredgewidth": 0.9}
    marker = dict(color=look.colour, marker=look.marker, markersize=look.marker_size, fillstyle=look.fill, markerfacecoloralt="white", clip_on=cut, **outline)
    beside = any(place is not axes.transData for place, _ in places)
    marked = {"markevery": [] if beside else [index for index, each in enumerate(hollow) if not each]} if beside or hollow.any() else {}
    axes.plot(xs, values, linestyle="none" if not joined else look.dash, label=series.label, gid=f"median {series.label}", **marker, **marked)
    for place, at in places if beside else ():
        axes.plot(xs[at & ~hollow], values[at & ~hollow], linestyle="none", gid=f"marker {series.label}", transform=place, **marker)


def _fade_gaps(axes, points, all_xs: Sequence[float], wider: float) -> None:
    """Makes a line faint where the series skips positions of other series, because nothing was measured there."""
    for (x0, y0), (x1, y1) in gaps(points, all_xs):
        axes.plot([x0, x1], [y0, y1], color="white", linewidth=2.2 + wider, alpha=0.7, zorder=2.01, gid="gap")


def gaps(points, all_xs: Sequence[float]) -> list:
    """Returns the ends of each segment of a line over positions that its series skips."""
    own = points.loc[points["value"].notna(), ["x", "value"]].itertuples(index=False, name=None)
    return [(one, other) for one, other in itertools.pairwise(own)
            if any(one[0] < x < other[0] for x in all_xs) and not any(one[0] < x < other[0] for x in points["x"])]
