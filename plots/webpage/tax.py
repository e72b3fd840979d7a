"""The allocation tax: applications with every allocator, over a bump pointer that never frees and over no allocation at all; then what to
use when."""

from __future__ import annotations

import html

from plots import forms, quantity
from plots.advice import engine, question
from plots.webpage import charts

_APPLICATIONS = {
    "guide/hash_join": "hash join",
    "guide/group_by": "group-by",
    "guide/kd_tree": "kd-tree",
    "guide/graph": "graph of arrays",
    "guide/graph_build": "graph build",
    "guide/prefix_sum": "malloc and fill",
}
_BUMP = "atomic_malloc"
_JOBS = (
    ("many small requests at once", {"sizes": "16", "threads": "1M", "pool": "1GiB"}),
    ("few small requests", {"sizes": "64", "threads": "1k", "pool": "1GiB"}),
    ("one lane of each warp", {"sizes": "16", "threads": "100k", "pool": "1GiB", "lanes": "1"}),
    ("pages of 4 KiB", {"sizes": "4096", "threads": "100k", "pool": "1GiB"}),
    ("mixed sizes", {"sizes": "16-4096", "threads": "100k", "pool": "1GiB"}),
    ("mixed sizes in a pool 90 % full", {"sizes": "16-4096", "threads": "100k", "pool": "1GiB", "fill": "90%"}),
    ("blocks freed at once", {"sizes": "16", "threads": "100k", "pool": "1GiB", "lifetime": "moment"}),
    ("blocks of any age", {"sizes": "64", "threads": "10k", "pool": "1GiB", "lifetime": "any"}),
)
_SHOWN = 4


def chart(table: dict) -> dict | None:
    bump = next((entry for entry in table["allocators"] if entry["id"] == _BUMP), None)
    places = [
        (number, case, bump["results"][number])
        for number, case in enumerate(table["cases"])
        if bump and case["figure"] in _APPLICATIONS and isinstance(bump["results"][number], dict)
    ]
    if not places:
        return None
    data = []
    for entry in table["allocators"]:
        points = [
            (_APPLICATIONS[case["figure"]], result[case["time"]][0] / base[case["time"]][0], result[case["time"]][0])
            for number, case, base in places
            if isinstance(result := entry["results"][number], dict) and case["time"] in result
        ]
        if points and entry["id"] != _BUMP:
            data.append(
                {
                    "type": "scatter",
                    "mode": "markers",
                    "name": forms.titled(entry),
                    "meta": charts.about(entry),
                    "y": [name for name, _, _ in points],
                    "x": [factor for _, factor, _ in points],
                    "text": [
                        f"<b>{forms.titled(entry)}</b><br>{name}: {quantity.factor(factor)} times the bump pointer, {quantity.in_si(time, 's')}"
                        for name, factor, time in points
                    ],
                    "hovertemplate": "%{text}<extra></extra>",
                    "marker": {"symbol": charts.SYMBOLS.get(entry["form"], "circle"), "size": 9, "color": entry["colour"], "opacity": 0.75},
                }
            )
    data += _without(table, places)
    shapes = [{"type": "line", "x0": 1, "x1": 1, "yref": "paper", "y0": 0, "y1": 1, "line": {"width": 1, "dash": "dot", "color": "#888888"}}]
    return {
        "data": data,
        "layout": charts.layout(
            120 + 60 * len(places),
            shapes=shapes,
            xaxis=charts.axis("time over AtomicMalloc's", True, [x for trace in data for x in trace["x"]]),
            yaxis=charts.axis("", type="category"),
        ),
    }


def _without(table: dict, places: list) -> list[dict]:
    """The same work without an allocator: a black cross."""
    points = []
    for number, case, base in places:
        time = table["without"].get(case["figure"])
        if case["figure"] == "guide/prefix_sum" and "prefix_sum" in base:
            time = base["prefix_sum"][0]
        if time is not None:
            points.append((_APPLICATIONS[case["figure"]], time / base[case["time"]][0], time))
    if not points:
        return []
    return [
        {
            "type": "scatter",
            "mode": "markers",
            "name": "no allocation",
            "y": [name for name, _, _ in points],
            "x": [factor for _, factor, _ in points],
            "text": [
                f"<b>no allocation at all</b><br>{name}: {quantity.factor(factor)} times the bump pointer, {quantity.in_si(time, 's')}"
                for name, factor, time in points
            ],
            "hovertemplate": "%{text}<extra></extra>",
            "marker": {"symbol": "cross", "size": 12, "color": "#d81b60"},
        }
    ]


def what_to_use_when(table: dict) -> str:
    rows = []
    for title, words in _JOBS:
        asked = question.ask(**words)
        found = engine.answer(table, asked.data())
        rows.append(f"<tr><th>{html.escape(title)}</th><td>{html.escape(question.sentence(asked))}</td><td>{_names(found)}</td></tr>")
    return (
        '<h3>What to use when</h3><div class="scroll"><table class="plain"><thead><tr><th>job</th><th>as asked</th><th>served every cell near it; time over the best</th></tr>'
        f'</thead><tbody>{"".join(rows)}</tbody></table></div>'
    )


def _names(found: engine.Answer) -> str:
    if not found.near:
        return '<span class="none">not measured</span>'
    if not found.ranked:
        return '<span class="none">none</span>'
    shown = [f"{html.escape(forms.titled(each.entry))} <b>{quantity.factor(each.slower)}</b>" for each in found.ranked[:_SHOWN]]
    return ", ".join(shown) + f" · nearest cell {found.near[0].distance:.1f} steps away"
