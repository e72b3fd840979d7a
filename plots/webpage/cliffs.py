"""Where an allocator falls off: its time per request against threads by size, against the fill of the pool, and its slowest mallocs."""

from __future__ import annotations

from plots import quantity
from plots.webpage import charts

_SHARES = ("50 %", "90 %", "99 %", "99.9 %")
_COLOURS = ("#1f77b4", "#2a9d8f", "#e9a100", "#e76f51", "#8e24aa")
_SIZED = ("guide/small", "guide/large")


def charts_of(table: dict) -> dict[str, dict]:
    """By allocator; those without any number are left out."""
    made = {entry["id"]: _chart(table, entry) for entry in table["allocators"]}
    return {name: chart for name, chart in made.items() if chart}


def _chart(table: dict, entry: dict) -> dict | None:
    cells = [(case, result) for case, result in zip(table["cases"], entry["results"]) if case["job"] and isinstance(result, dict)]
    threads = _by_threads(cells)
    fills = _by_fill(cells)
    if not threads and not fills:
        return None
    tails, unit = _latency(entry), "cycles of a malloc"
    if not tails:
        tails, unit = _steps(cells), "steps of a malloc"
    axes = {
        "xaxis": charts.axis("threads", True, _all(threads, "x"), domain=[0, 0.27]),
        "yaxis": charts.axis("time per request, malloc and free", True, _all(threads, "y"), ticksuffix="s"),
        "xaxis2": charts.axis("pool in use", domain=[0.37, 0.62], anchor="y2", tickformat=".0%"),
        "yaxis2": charts.axis("time per request", True, _all(fills, "y"), anchor="x2", ticksuffix="s"),
        "xaxis3": charts.axis("threads", True, _all(tails, "x"), domain=[0.72, 1], anchor="y3"),
        "yaxis3": charts.axis(unit, True, _all(tails, "y"), anchor="x3"),
    }
    return {"data": threads + fills + tails, "layout": charts.layout(400, showlegend=True, legend={"orientation": "h", "y": -0.25}, **axes)}


def _all(traces: list[dict], key: str) -> list[float]:
    return [value for trace in traces for value in trace[key]]


def _line(name: str, points: list, axes: str, colour: str, dash: str = "solid") -> dict:
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
    }


def _per_request(case: dict, result: dict) -> float | None:
    time = result.get(case["time"])
    return time[0] / result["n"] if time and result.get("n") else None


def _by_threads(cells: list) -> list[dict]:
    sizes: dict[int, list] = {}
    for case, result in cells:
        value = _per_request(case, result)
        if case["figure"] in _SIZED and value is not None:
            sizes.setdefault(case["job"]["sizes"][0], []).append((case["job"]["threads"], value))
    return [
        _line(quantity.in_bytes(size), points, "", _COLOURS[number % len(_COLOURS)]) for number, (size, points) in enumerate(sorted(sizes.items()))
    ]


def _by_fill(cells: list) -> list[dict]:
    made = []
    for figure, name, colour in (("guide/fill", "256 B, by fill", "#555555"), ("guide/fill_mixed", "4 B to 8 KiB, by fill", "#b5651d")):
        points = [
            (case["job"]["fill"], value) for case, result in cells if case["figure"] == figure if (value := _per_request(case, result)) is not None
        ]
        if points:
            made.append(_line(name, points, "2", colour, "dot"))
    return made


def _latency(entry: dict) -> list[dict]:
    return [
        _line(f"{share} of mallocs, 64 B", [(row[0], row[1 + number]) for row in entry["latency"]], "3", _COLOURS[number], "dash")
        for number, share in enumerate(_SHARES)
        if entry["latency"]
    ]


def _steps(cells: list) -> list[dict]:
    """Of the smallest size: the share of mallocs that stay within so many steps on shared words."""
    own = [
        (case["job"]["sizes"][0], case["job"]["threads"], result["steps"])
        for case, result in cells
        if case["figure"] == "guide/small" and len(result.get("steps", [])) == len(_SHARES)
    ]
    if not own:
        return []
    least = min(size for size, _, _ in own)
    return [
        _line(
            f"{share} of mallocs, {quantity.in_bytes(least)}",
            [(threads, steps[number]) for size, threads, steps in own if size == least],
            "3",
            _COLOURS[number],
            "dash",
        )
        for number, share in enumerate(_SHARES)
    ]
