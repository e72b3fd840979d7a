"""What speed costs: time, memory and registers of every allocator, and the front of those that nothing beats in all three; then set-up."""

from __future__ import annotations

import math

from plots import forms, quantity
from plots.webpage import charts, heat

_PLACES = ("top center", "bottom center", "top right", "bottom right")
_RING, _EDGE = {"width": 3, "color": "#d81b60"}, {"width": 0.5, "color": "#888888"}


def chart(table: dict) -> dict | None:
    points = [(entry, *_numbers(table, entry)) for entry in table["allocators"]]
    points = [(entry, slower, memory) for entry, slower, memory in points if slower is not None and memory is not None]
    if not points:
        return None
    front = _front(points)
    # Neighbours on the front have their names at different sides.
    named = [entry["id"] for entry, _, _ in sorted(points, key=lambda point: point[1]) if entry["id"] in front]
    places = {name: _PLACES[place % len(_PLACES)] for place, name in enumerate(named)}
    data = [
        _mark(entry, slower, memory, _size(entry["registers"]), _hover(entry, slower, memory), places.get(entry["id"]))
        for entry, slower, memory in points
    ]
    x = charts.axis("time over the best (geometric mean)", True, [slower for _, slower, _ in points])
    y = charts.axis("bytes of memory per requested byte", True, [memory for _, _, memory in points])
    return {"data": data, "layout": charts.layout(430, xaxis=x, yaxis=y)}


def setup_chart(table: dict) -> dict | None:
    """Set-up against registers: what is paid once, and what every kernel pays."""
    points = [entry for entry in table["allocators"] if entry["setup"] and entry["registers"]]
    if not points:
        return None
    data = [_mark(entry, entry["setup"], entry["registers"], 11, _hover(entry, None, None), None) for entry in points]
    x = charts.axis("set-up of a heap of 1 GiB", True, [entry["setup"] for entry in points], ticksuffix="s")
    y = charts.axis("registers of the malloc kernel", rangemode="tozero")
    return {"data": data, "layout": charts.layout(340, xaxis=x, yaxis=y)}


def _numbers(table: dict, entry: dict) -> tuple[float | None, float | None]:
    slower, _, _ = heat.slowdowns(table, entry)
    factors = [factor for _, factor in entry["memory"]]
    return slower, math.exp(sum(map(math.log, factors)) / len(factors)) if factors else None


def _survives(entry: dict) -> bool:
    """In nine of ten cells: a grid that reaches a full pool leaves nobody without a failure."""
    ok, asked = entry["survived"]
    return ok >= 0.9 * asked


def _front(points: list) -> set[str]:
    known = {
        entry["id"]: (slower, memory, entry["registers"])
        for entry, slower, memory in points
        if entry["registers"] is not None and _survives(entry) and entry["frees"]
    }
    return {
        name for name, own in known.items() if not any(other != own and all(a <= b for a, b in zip(other, own)) for other in known.values())
    }


def _mark(entry: dict, x: float, y: float, size: float, hover: str, place: str | None) -> dict:
    """Ringed, with its name at `place`, where there is one."""
    return {
        "type": "scatter",
        "mode": "markers+text" if place else "markers",
        "x": [x],
        "y": [y],
        "name": forms.titled(entry),
        "meta": charts.about(entry),
        "text": [forms.titled(entry)],
        "textposition": place or "top center",
        "hovertext": [hover],
        "hovertemplate": "%{hovertext}<extra></extra>",
        "marker": {
            "symbol": charts.SYMBOLS.get(entry["form"], "circle"),
            "size": size,
            "color": entry["colour"],
            "opacity": 0.9 if _survives(entry) else 0.45,
            "line": _RING if place else _EDGE,
        },
    }


def _size(registers: int | None) -> float:
    return 9 if registers is None else 6 + registers / 6


def _hover(entry: dict, slower: float | None, memory: float | None) -> str:
    lines = [f"<b>{forms.titled(entry)}</b>"]
    if slower is not None and memory is not None:
        lines += [f"time over the best: {quantity.factor(slower)}", f"memory: {memory:.2f} B per requested byte"]
    lines += [
        f"registers of malloc: {entry['registers'] or 'not measured'}",
        f"metadata: {'not measured' if entry['metadata'] is None else quantity.in_bytes(entry['metadata'])}",
        f"set-up: {'not measured' if entry['setup'] is None else quantity.in_si(entry['setup'], 's')}",
        "survived {} of {} cells".format(*entry["survived"]),
        *entry["restrictions"],
    ]
    return "<br>".join(lines)
