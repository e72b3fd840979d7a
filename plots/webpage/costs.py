"""This module draws time, memory and registers of the allocators, and the Pareto fronts of these costs. A second
chart shows the set-up time.

There are two fronts: one of all allocators, and one of allocators that serve any size. A member of a front frees its
blocks, is ok in at least nine of ten cells, is safe (advice/findings.py), has a known number of registers, and is not an
ablation.
"""

from __future__ import annotations

import html
import statistics
from dataclasses import dataclass

from plots.advice import engine
from plots.advice.table import ONE_SIZE
from plots.runs import forms
from plots.sheet import quantity
from plots.webpage import charts, heat

_ALL, _ANY_SIZE = {"width": 3, "color": "#d81b60"}, {"width": 3, "color": "#1e88e5"}
_EDGE = {"width": 0.5, "color": "#888888"}
_HEADER = ("", "allocator", "time over the best", "memory", "registers", "set-up", "metadata, of the pool", "ok", "serves")


@dataclass(frozen=True)
class Point:
    entry: dict
    slower: float
    memory: float

    @property
    def any_size(self) -> bool:
        return ONE_SIZE not in self.entry["restrictions"]

    def costs(self) -> tuple[float, float, int]:
        return self.slower, self.memory, self.entry["registers"]


def points_of(table: dict) -> list[Point]:
    """Returns the allocators whose memory is measured and that have a time in at least half of the cells."""
    made, best = [], heat.best_of(table)
    for entry in table["allocators"]:
        slower, ok, _ = heat.slowdowns(table, entry, best)
        factors = [factor for _, factor in entry["memory"]]
        if slower is not None and 2 * ok >= len(table["cases"]) and factors:
            made.append(Point(entry, slower, statistics.geometric_mean(factors)))
    return made


def numbered(points: list[Point]) -> dict[str, int]:
    """Numbers the members of both fronts, by time."""
    members = front(points) | front([point for point in points if point.any_size])
    ordered = sorted((point for point in points if point.entry["id"] in members), key=lambda point: point.slower)
    return {point.entry["id"]: number for number, point in enumerate(ordered, start=1)}


def front(points: list[Point]) -> set[str]:
    return engine.pareto({point.entry["id"]: point.costs() for point in points if _is_rival(point.entry)})


def _is_rival(entry: dict) -> bool:
    return entry["registers"] is not None and entry["frees"] and not entry["finding"] and entry["form"] != forms.ABLATION and _survives(entry)


def chart(table: dict) -> dict | None:
    points = points_of(table)
    if not points:
        return None
    numbers, of_all = numbered(points), front(points)
    data = []
    for point in points:
        entry, number = point.entry, numbers.get(point.entry["id"])
        ring = _EDGE if number is None else _ALL if entry["id"] in of_all else _ANY_SIZE
        data.append(_mark(entry, point.slower, point.memory, _size(entry["registers"]), _hover(entry, point.slower, point.memory), number, ring))
    x = charts.axis("time over the best (geometric mean)", True, [point.slower for point in points], factors=True)
    y = charts.axis("bytes of memory per requested byte", True, [point.memory for point in points], factors=True)
    return {"data": charts.in_families(data), "layout": charts.layout(500, xaxis=x, yaxis=y, **charts.legend(0.18))}


def front_table(table: dict) -> str:
    """Lists the members of the fronts with their numbers, because the marks are too close for names."""
    points = {point.entry["id"]: point for point in points_of(table)}
    rows = []
    for name, number in numbered(list(points.values())).items():
        point, entry = points[name], points[name].entry
        cells = (
            str(number),
            forms.titled(entry),
            quantity.factor(point.slower),
            f"{point.memory:.2f} B/B",
            str(entry["registers"]),
            "not measured" if entry["setup"] is None else quantity.in_si(entry["setup"], "s"),
            _metadata(entry),
            "{}/{}".format(*entry["survived"]),
            "any size" if point.any_size else "one size of block",
        )
        about = " ".join(f'data-{name}="{value}"' for name, value in charts.about(entry).items())
        rows.append(f"<tr {about}>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in cells) + "</tr>")
    if not rows:
        return ""
    head = "".join(f"<th>{name}</th>" for name in _HEADER)
    return f'<div class="scroll"><table class="plain numbered"><thead><tr>{head}</tr></thead><tbody>{"".join(rows)}</tbody></table></div>'


def setup_chart(table: dict) -> dict | None:
    """Draws the set-up time of a heap against the registers of its malloc kernel."""
    points = [entry for entry in table["allocators"] if entry["setup"] and entry["registers"]]
    if not points:
        return None
    data = [_mark(entry, entry["setup"], entry["registers"], 11, _hover(entry, None, None), None, _EDGE) for entry in points]
    x = charts.axis("set-up of a heap of 1 GiB", True, [entry["setup"] for entry in points], unit="s")
    y = charts.axis("registers of the malloc kernel", rangemode="tozero")
    return {"data": charts.in_families(data), "layout": charts.layout(420, xaxis=x, yaxis=y, **charts.legend(0.22))}


def _survives(entry: dict) -> bool:
    """Returns whether at least nine of ten cells are ok. Some may fail, because the guide also fills the pool."""
    ok, asked = entry["survived"]
    return ok >= 0.9 * asked


def _mark(entry: dict, x: float, y: float, size: float, hover: str, number: int | None, ring: dict) -> dict:
    """Returns a mark. If it has a number in the table below, static/numbers.js writes this number beside it."""
    return {
        "type": "scatter",
        "mode": "markers",
        "x": [x],
        "y": [y],
        "name": forms.titled(entry),
        "meta": charts.about(entry) | ({"number": number} if number else {}),
        "hovertext": [hover],
        "hovertemplate": "%{hovertext}<extra></extra>",
        "marker": {
            "symbol": charts.SYMBOLS.get(entry["form"], "circle"),
            "size": size,
            "opacity": 0.9 if _survives(entry) else 0.45,
            "line": ring,
        },
    }


def _metadata(entry: dict) -> str:
    return "not measured" if entry["metadata"] is None else f"{100 * entry['metadata']:.2g} %"


def _size(registers: int | None) -> float:
    return 9 if registers is None else 6 + registers / 6


def _hover(entry: dict, slower: float | None, memory: float | None) -> str:
    lines = [f"<b>{forms.titled(entry)}</b>"]
    if slower is not None and memory is not None:
        lines += [f"time over the best: {quantity.factor(slower)}", f"memory: {memory:.2f} B per requested byte"]
    lines += [
        f"registers of malloc: {entry['registers'] or 'not measured'}",
        f"metadata, of the pool: {_metadata(entry)}",
        f"set-up: {'not measured' if entry['setup'] is None else quantity.in_si(entry['setup'], 's')}",
        "survived {} of {} cells".format(*entry["survived"]),
        *entry["restrictions"],
    ]
    return "<br>".join(lines)
