"""Where an allocator falls off: its time per request against threads by size and against the fill of the pool, and below these its slowest
mallocs against the same. The size is the colour, the percentile the kind of line."""

from __future__ import annotations

from plots import quantity
from plots.webpage import charts

_SHARES = {"50 %": "solid", "90 %": "dash", "99 %": "dashdot", "99.9 %": "dot"}  # of mallocs
_COLOURS = ("#1f77b4", "#2a9d8f", "#e9a100", "#e76f51", "#8e24aa")
_MIXED = "#b5651d"
_SIZED = ("guide/small", "guide/large")
_LEFT, _RIGHT, _ABOVE, _BELOW = [0, 0.44], [0.57, 1], [0.58, 1], [0.06, 0.44]  # of the four panels


def charts_of(table: dict) -> dict[str, dict]:
    """By allocator; those without any number are left out."""
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
        "yaxis": charts.axis("time per request, malloc and free", True, _all(threads, "y"), domain=_ABOVE, ticksuffix="s"),
        "xaxis2": charts.axis("pool in use", domain=_RIGHT, anchor="y2", tickformat=".0%"),
        "yaxis2": charts.axis("time per request", True, _all(fills, "y"), domain=_ABOVE, anchor="x2", ticksuffix="s"),
        "xaxis3": charts.axis("threads", True, _all(tails, "x"), domain=_LEFT, anchor="y3"),
        "yaxis3": charts.axis(unit, True, _all(tails, "y"), domain=_BELOW, anchor="x3"),
    }
    if filled:
        axes["xaxis4"] = charts.axis("pool in use at the end", domain=_RIGHT, anchor="y4", tickformat=".0%")
        axes["yaxis4"] = charts.axis("cycles of a malloc", True, _all(filled, "y"), domain=_BELOW, anchor="x4")
    key = [_key(share) for share in _SHARES] if tails or filled else []
    return {"data": threads + fills + tails + filled + key, "layout": charts.layout(680, showlegend=True, legend={"orientation": "h", "y": -0.04}, **axes)}


def _colours(table: dict) -> dict[int, str]:
    """By request size; the same for all allocators."""
    sizes = sorted({case["job"]["sizes"][0] for case in table["cases"] if case["figure"] in _SIZED and case["job"]})
    return {size: _COLOURS[number % len(_COLOURS)] for number, size in enumerate(sizes)}


def _all(traces: list[dict], key: str) -> list[float]:
    return [value for trace in traces for value in trace[key]]


def _line(name: str, points: list, axes: str, colour: str, dash: str = "solid", **more) -> dict:
    points = sorted(points)
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "name": name,
        "x": [x for x, _ in points],
        "y": [y for _, y in points],
        "xaxis": f"x{axes}",
        "yaxis": f"y{axes}",
        "line": {"color": colour, "dash": dash},
        **more,
    }


def _key(share: str) -> dict:
    """The entry of a percentile in the legend: a line without points."""
    return {"type": "scatter", "mode": "lines", "name": f"{share} of mallocs", "x": [None], "y": [None], "xaxis": "x", "yaxis": "y", "line": {"color": "#888888", "dash": _SHARES[share]}}


def _per_request(case: dict, result: dict) -> float | None:
    time = result.get(case["time"])
    return time[0] / result["n"] if time and result.get("n") else None


def _by_threads(cells: list, colours: dict[int, str]) -> list[dict]:
    sizes: dict[int, list] = {}
    for case, result in cells:
        value = _per_request(case, result)
        if case["figure"] in _SIZED and value is not None:
            sizes.setdefault(case["job"]["sizes"][0], []).append((case["job"]["threads"], value))
    return [_line(quantity.in_bytes(size), points, "", colours[size]) for size, points in sorted(sizes.items())]


def _by_fill(cells: list, colours: dict[int, str]) -> list[dict]:
    made = []
    for figure, name, colour in (("guide/fill", "256 B, by fill", colours.get(256, "#555555")), ("guide/fill_mixed", "4 B to 8 KiB, by fill", _MIXED)):
        points = [
            (case["job"]["fill"], value) for case, result in cells if case["figure"] == figure if (value := _per_request(case, result)) is not None
        ]
        if points:
            made.append(_line(name, points, "2", colour))
    return made


def _tails(rows: list[tuple[int, float, list[float]]], axes: str, colours: dict[int, str]) -> list[dict]:
    """Of (size, x, one value per percentile): a line for each size and percentile, named where one points at it."""
    return [
        _line(f"{quantity.in_bytes(size)}, {share} of mallocs", [(x, tail[number]) for other, x, tail in rows if other == size], axes,
              colours.get(size, "#555555"), dash, showlegend=False)
        for size in sorted({size for size, _, _ in rows})
        for number, (share, dash) in enumerate(_SHARES.items())
    ]


def _tails_by_threads(latency: list[list], colours: dict[int, str]) -> list[dict]:
    return _tails([(size, threads, tail) for size, threads, *tail in latency], "3", colours)


def _tails_by_fill(latency: list[list], colours: dict[int, str]) -> list[dict]:
    """The same number of threads in pools of several sizes."""
    return _tails([(size, fill, tail) for size, _, fill, *tail in latency], "4", colours)


def _steps(cells: list, colours: dict[int, str]) -> list[dict]:
    """The share of mallocs that stay within so many steps on shared words."""
    return _tails([
        (case["job"]["sizes"][0], case["job"]["threads"], result["steps"])
        for case, result in cells
        if case["figure"] == "guide/small" and len(result.get("steps", [])) == len(_SHARES)
    ], "3", colours)
