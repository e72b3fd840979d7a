"""What speed costs: time, memory and registers of every allocator, and the front of those that nothing beats in all three."""

from __future__ import annotations

import math

from plots import quantity
from plots.webpage import charts, heat


def chart(table: dict) -> dict | None:
    points = [(entry, *_numbers(table, entry)) for entry in table["allocators"]]
    points = [(entry, slower, memory, ok, asked) for entry, slower, memory, ok, asked in points if slower is not None and memory is not None]
    if not points:
        return None
    front = _front(points)
    data = [
        {
            "type": "scatter",
            "mode": "markers+text" if entry["id"] in front else "markers",
            "x": [slower],
            "y": [memory],
            "name": charts.name(entry),
            "meta": charts.about(entry),
            "text": [charts.name(entry)],
            "textposition": "top center",
            "hovertext": [_hover(entry, slower, memory, ok, asked)],
            "hovertemplate": "%{hovertext}<extra></extra>",
            "marker": {
                "symbol": charts.SYMBOLS.get(entry["form"], "circle"),
                "size": _size(entry["registers"]),
                "color": entry["colour"],
                "opacity": 0.9 if ok == asked else 0.45,
                "line": {"width": 3 if entry["id"] in front else 0.5, "color": "#d81b60" if entry["id"] in front else "#888888"},
            },
        }
        for entry, slower, memory, ok, asked in points
    ]
    return {
        "data": data,
        "layout": charts.layout(
            430,
            xaxis=charts.axis("time over the best (geometric mean)", True, [x for trace in data for x in trace["x"]]),
            yaxis=charts.axis("bytes of memory per requested byte", True, [y for trace in data for y in trace["y"]]),
        ),
    }


def _numbers(table: dict, entry: dict) -> tuple[float | None, float | None, int, int]:
    slower, ok, asked = heat.slowdowns(table, entry)
    factors = [factor for _, factor in entry["memory"]]
    memory = math.exp(sum(map(math.log, factors)) / len(factors)) if factors else None
    return slower, memory, ok, asked


def _front(points: list) -> set[str]:
    known = {
        entry["id"]: (slower, memory, entry["registers"])
        for entry, slower, memory, ok, asked in points
        if entry["registers"] is not None and ok == asked and entry["frees"]
    }
    return {name for name, own in known.items() if not any(other != own and all(a <= b for a, b in zip(other, own)) for other in known.values())}


def _size(registers: int | None) -> float:
    return 9 if registers is None else 6 + registers / 6


def _hover(entry: dict, slower: float, memory: float, ok: int, asked: int) -> str:
    lines = [
        f"<b>{charts.name(entry)}</b>",
        f"time over the best: {quantity.factor(slower)}",
        f"memory: {memory:.2f} B per requested byte",
        f"registers of malloc: {entry['registers'] or 'not measured'}",
        f"metadata: {'not measured' if entry['metadata'] is None else quantity.in_bytes(entry['metadata'])}",
        f"set-up: {'not measured' if entry['setup'] is None else quantity.in_si(entry['setup'], 's')}",
        f"cells ok: {ok} of {asked}",
    ]
    return "<br>".join(lines)
