"""This module draws the loads at which an allocator becomes slow.

The upper charts show its time per operation, against the threads (a line per size) and against the fill of the pool.
The lower charts show percentiles of the cycles of its mallocs, against the same two loads. If no cycles are measured,
the chart against the threads shows steps on shared words. The colour shows the size, and the kind of line and mark
shows the percentile. Times against the fill have a line and a mark of their own. Lines of different request sizes are moved sideways, and each percentile has a mark of another
size, so that lines that coincide stay visible.
"""

from __future__ import annotations

from typing import Callable, Collection

from plots.sheet import provisional, quantity
from plots.webpage import charts

_SHARES = {  # line, mark and size of the mark, by share of the mallocs
    "50 %": ("solid", "circle", 5),
    "90 %": ("dash", "circle-open", 9),
    "99 %": ("dashdot", "diamond-open", 13),
    "99.9 %": ("dot", "square-open", 14),
}
_BY_FILL = ("longdash", "triangle-up", 8)  # line, mark and its size, because the legend has the same sizes against the threads
_COLOURS = ("#1f77b4", "#2a9d8f", "#e9a100", "#e76f51", "#8e24aa")
_MIXED = "#b5651d"
_BESIDE = 1.1  # factor between the x positions of two sizes
_SIZED = ("guide/small", "guide/large")
_PERCENT = {"tickvals": [number / 10 for number in range(11)], "ticktext": [f"{10 * number} %" for number in range(11)]}
_LEFT, _RIGHT, _ABOVE, _BELOW = [0, 0.44], [0.57, 1], [0.58, 1], [0.06, 0.44]  # domains of the four panels


def charts_of(table: dict) -> dict[str, dict]:
    """Returns a chart for each allocator that has a time per operation."""
    made = {entry["id"]: _chart(table, entry) for entry in table["allocators"]}
    return {name: chart for name, chart in made.items() if chart}


def _chart(table: dict, entry: dict) -> dict | None:
    cells = [(case, result) for case, result in zip(table["cases"], entry["results"]) if case["job"] and isinstance(result, dict)]
    colours = _colours(table)
    threads, fills = _by_threads(cells, colours), _by_fill(cells, colours)
    if not threads and not fills:
        return None
    tails, unit = _tails_by_threads(entry["latency"], colours), "cycles of a malloc"
    if not tails:
        tails, unit = _steps(cells, colours), "steps of a malloc"
    filled = _tails_by_fill(entry["latency_by_fill"], colours)
    axes = {
        "xaxis": charts.axis("threads", True, _all(threads, "x"), domain=_LEFT, anchor="y"),
        "yaxis": charts.axis("time per operation, malloc or free", True, _all(threads, "y"), unit="s", domain=_ABOVE),
        "xaxis2": charts.axis("pool in use", **_PERCENT, domain=_RIGHT, anchor="y2"),
        "yaxis2": charts.axis("time per operation", True, _all(fills, "y"), unit="s", domain=_ABOVE, anchor="x2"),
        "xaxis3": charts.axis("threads", True, _all(tails, "x"), domain=_LEFT, anchor="y3"),
        "yaxis3": charts.axis(unit, True, _all(tails, "y"), domain=_BELOW, anchor="x3"),
    }
    if filled:
        axes["xaxis4"] = charts.axis("pool in use at the end", **_PERCENT, domain=_RIGHT, anchor="y4")
        axes["yaxis4"] = charts.axis("cycles of a malloc", True, _all(filled, "y"), domain=_BELOW, anchor="x4")
    key = [_key(share) for share in _SHARES] if tails or filled else []
    return {"data": threads + fills + tails + filled + key, "layout": charts.layout(680, showlegend=True, legend={"orientation": "h", "y": -0.04}, **axes)}


def _colours(table: dict) -> dict[int, str]:
    """Returns the colour of each request size, the same for all allocators."""
    sizes = sorted({case["job"]["sizes"][0] for case in table["cases"] if case["figure"] in _SIZED and case["job"]})
    return {size: _COLOURS[number % len(_COLOURS)] for number, size in enumerate(sizes)}


def _all(traces: list[dict], key: str) -> list[float]:
    return [value for trace in traces for value in trace[key]]


def _line(name: str, points: list, axes: str, colour: str, told: Callable[[float, float], str], look: tuple = _SHARES["50 %"], beside: float = 1,
          hollow: Collection[float] = (), **more) -> dict:
    """Returns a line through points (x, y), drawn at `beside` times their x. `told` describes the points, and points
    with an x in `hollow` are provisional.
    """
    points = sorted(points)
    dash, symbol, size = look
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "name": name,
        "x": [x * beside for x, _ in points],
        "y": [y for _, y in points],
        "text": [told(x, y) + (f", {provisional.WORD}" if x in hollow else "") for x, y in points],
        "hovertemplate": charts.HOVER,
        "xaxis": f"x{axes}",
        "yaxis": f"y{axes}",
        "line": {"color": colour, "dash": dash, "width": 1.5},
        "marker": {"symbol": charts.markers(symbol, [x in hollow for x, _ in points]), "size": size},
        **more,
    }


def _key(share: str) -> dict:
    """Returns the legend entry of a percentile: a line without points."""
    return _line(f"{share} of mallocs", [], "", "#888888", str, _SHARES[share]) | {"x": [None], "y": [None]}


def _beside(colours: dict[int, str], size: int) -> float:
    """Returns the factor that moves a size on the x axis. Smaller sizes move left of the middle one, and larger sizes
    move right.
    """
    places = list(colours)
    return _BESIDE ** (places.index(size) - (len(places) - 1) / 2) if size in colours else 1


def _at_threads(threads: float, words: str) -> str:
    return f"{threads:,.0f} threads: {words}"


def _at_fill(fill: float, words: str) -> str:
    return f"{100 * fill:.3g} % in use: {words}"


def _per_operation(case: dict, result: dict) -> float | None:
    time, operations = result.get(case["time"]), result.get("n", {}).get(case["time"])
    return time[0] / operations if time and operations else None


def _by_threads(cells: list, colours: dict[int, str]) -> list[dict]:
    sizes: dict[int, list] = {}
    hollow: dict[int, set] = {}
    for case, result in cells:
        value, size = _per_operation(case, result), case["job"]["sizes"][0] if case["figure"] in _SIZED else 0
        if size and value is not None:
            sizes.setdefault(size, []).append((case["job"]["threads"], value))
            hollow.setdefault(size, set()).update([case["job"]["threads"]] if result.get("provisional") else [])
    return [
        _line(quantity.in_bytes(size), points, "", colours[size], lambda x, y: _at_threads(x, quantity.in_si(y, "s")), beside=_beside(colours, size),
              hollow=hollow[size])
        for size, points in sorted(sizes.items())
    ]


def _by_fill(cells: list, colours: dict[int, str]) -> list[dict]:
    made = []
    for figure, name, colour in (("guide/fill", "256 B, by fill", colours.get(256, "#555555")), ("guide/fill_mixed", "4 B to 8 KiB, by fill", _MIXED)):
        points = [
            (case["job"]["fill"], value) for case, result in cells if case["figure"] == figure if (value := _per_operation(case, result)) is not None
        ]
        if points:
            hollow = {case["job"]["fill"] for case, result in cells if case["figure"] == figure and result.get("provisional")}
            made.append(_line(name, points, "2", colour, lambda x, y: _at_fill(x, quantity.in_si(y, "s")), _BY_FILL, hollow=hollow))
    return made


def _tails_by_threads(latency: list[list], colours: dict[int, str]) -> list[dict]:
    return _tails([(size, threads, tail) for size, threads, *tail in latency], "3", colours, lambda x, y: _at_threads(x, f"{y:,.0f} cycles"))


def _tails_by_fill(latency: list[list], colours: dict[int, str]) -> list[dict]:
    """Draws percentiles of the cycles of mallocs against the share of the pool in use."""
    return _tails([(size, fill, tail) for size, _, fill, *tail in latency], "4", colours, lambda x, y: _at_fill(x, f"{y:,.0f} cycles"))


def _steps(cells: list, colours: dict[int, str]) -> list[dict]:
    """Draws percentiles of the steps on shared words that a malloc takes, for allocators without measured cycles."""
    rows = [
        (case["job"]["sizes"][0], case["job"]["threads"], result["steps"])
        for case, result in cells
        if case["figure"] == "guide/small" and len(result.get("steps", [])) == len(_SHARES)
    ]
    return _tails(rows, "3", colours, lambda x, y: _at_threads(x, f"{y:,.0f} steps"))


def _tails(rows: list[tuple[int, float, list[float]]], axes: str, colours: dict[int, str], told: Callable[[float, float], str]) -> list[dict]:
    """Returns a line for each size and percentile of rows (size, x, one value per percentile). The pointer shows the
    line's name.
    """
    sizes = sorted({size for size, _, _ in rows})
    return [
        _line(f"{quantity.in_bytes(size)}, {share} of mallocs", [(x, tail[number]) for other, x, tail in rows if other == size], axes,
              colours.get(size, "#555555"), told, _SHARES[share], _beside(colours, size) if len(sizes) > 1 else 1, showlegend=False)
        for size in sizes
        for number, share in enumerate(_SHARES)
    ]
