"""This module draws the allocation tax: the time of applications with every allocator, divided by the time with a bump pointer that
never frees.

It also draws the time without any allocation, divided by the bump pointer's time too, and lists the best allocators for
typical jobs.
"""

from __future__ import annotations

import html
from dataclasses import dataclass

from plots.advice import cases, engine, question
from plots.advice.table import ONE_SIZE
from plots.runs import forms
from plots.sheet import provisional, quantity
from plots.webpage import charts

_APPLICATIONS = {**{f"guide/{name}": words for name, words in cases.APPLICATIONS.items()}, "guide/prefix_sum": "malloc and fill"}
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


@dataclass(frozen=True)
class _Factor:
    """A factor is the time of an application divided by its time with the bump pointer."""

    value: float
    seconds: float
    provisional: bool

    def written(self) -> str:
        return provisional.marked(quantity.factor(self.value), self.provisional)


def _places(table: dict) -> list[tuple[int, dict, dict]]:
    """Returns the number, the case and the result of each application that the bump pointer ran."""
    bump = next((entry for entry in table["allocators"] if entry["id"] == _BUMP), None)
    return [
        (number, case, bump["results"][number])
        for number, case in enumerate(table["cases"])
        if bump and case["figure"] in _APPLICATIONS and isinstance(bump["results"][number], dict)
    ]


def _factor(result: dict | str | None, case: dict, base: dict) -> _Factor | None:
    """Returns the factor of an allocator's result, or None if the result has no time."""
    if not isinstance(result, dict) or case["time"] not in result:
        return None
    seconds = result[case["time"]][0]
    return _Factor(seconds / base[case["time"]][0], seconds, any(each.get("provisional", False) for each in (result, base)))


def _factors(table: dict, number: int, case: dict, base: dict) -> list[tuple[_Factor, dict]]:
    """Returns the factors of the other allocators in one application, the smallest first."""
    found = [(_factor(entry["results"][number], case, base), entry) for entry in table["allocators"] if entry["id"] != _BUMP]
    return sorted(((factor, entry) for factor, entry in found if factor), key=lambda pair: (pair[0].value, pair[1]["id"]))


def summary(table: dict) -> str:
    """Returns the chart as a table: which allocators slow each application down least and most."""
    rows = []
    for number, case, base in _places(table):
        factors = [(factor, entry) for factor, entry in _factors(table, number, case, base) if entry["form"] != forms.ABLATION]
        free = _time_without(table, case, base)
        none = "not measured" if free is None else quantity.factor(free / base[case["time"]][0])
        able = [(factor, entry) for factor, entry in factors if entry["frees"] and not entry["finding"] and ONE_SIZE not in entry["restrictions"]]
        least, most = ("<br>".join(f"{html.escape(forms.titled(entry))} <b>{factor.written()}</b>{_older(entry)}" for factor, entry in chosen)
                       for chosen in (able[:_SHOWN - 1], factors[-1:]))
        rows.append(f"<tr><th>{_APPLICATIONS[case['figure']]}</th><td>{least}</td><td>{most}</td><td>{none}</td></tr>")
    if not rows:
        return ""
    head = "<th>application</th><th>least, among allocators that free, serve any size and are safe</th><th>most</th><th>no allocation</th>"
    return f'<div class="scroll"><table class="plain roomy"><thead><tr>{head}</tr></thead><tbody>{"".join(rows)}</tbody></table></div>'


def chart(table: dict) -> dict | None:
    places = _places(table)
    if not places:
        return None
    data = []
    for entry in table["allocators"]:
        points = [(_APPLICATIONS[case["figure"]], factor) for number, case, base in places if (factor := _factor(entry["results"][number], case, base))]
        if points and entry["id"] != _BUMP:
            name = forms.titled(entry)
            symbols = charts.markers(charts.SYMBOLS.get(entry["form"], "circle"), [factor.provisional for _, factor in points])
            marker = {"symbol": symbols, "size": 9, "opacity": 0.75}
            data.append({**_trace(name, name, points, marker), "meta": charts.about(entry)})
    data += _without(table, places)
    shapes = [{"type": "line", "x0": 1, "x1": 1, "yref": "paper", "y0": 0, "y1": 1, "line": {"width": 1, "dash": "dot", "color": "#888888"}}]
    return {
        "data": charts.in_families(data),
        "layout": charts.layout(
            200 + 60 * len(places),
            **charts.legend(0.12),
            shapes=shapes,
            xaxis=charts.axis("time over AtomicMalloc's", True, [x for trace in data for x in trace["x"]], factors=True),
            yaxis=charts.axis("", type="category"),
        ),
    }


def _without(table: dict, places: list) -> list[dict]:
    """Draws a cross for the time of the same work without an allocator."""
    points = []
    for _, case, base in places:
        time = _time_without(table, case, base)
        if time is not None:
            points.append((_APPLICATIONS[case["figure"]], _Factor(time / base[case["time"]][0], time, base.get("provisional", False))))
    if not points:
        return []
    return [_trace("no allocation", "no allocation at all", points, {"symbol": "cross", "size": 12, "color": "#d81b60"})]


def _trace(name: str, title: str, points: list[tuple[str, _Factor]], marker: dict) -> dict:
    """Draws points (application, factor)."""
    return {
        "type": "scatter",
        "mode": "markers",
        "name": name,
        "y": [application for application, _ in points],
        "x": [factor.value for _, factor in points],
        "text": [
            f"<b>{title}</b><br>{application}: {quantity.factor(factor.value)} times the bump pointer, {quantity.in_si(factor.seconds, 's')}"
            f"{f', {provisional.WORD}' if factor.provisional else ''}"
            for application, factor in points
        ],
        "hovertemplate": "%{text}<extra></extra>",
        "marker": marker,
    }


def _time_without(table: dict, case: dict, base: dict) -> float | None:
    """Returns the time of the same work without an allocator, or None if it is unknown. For the guide's prefix sums, the
    same cell has this time.
    """
    if case["figure"] == "guide/prefix_sum":
        return base["prefix_sum"][0] if "prefix_sum" in base else None
    return table["without"].get(case["figure"])


def what_to_use_when(table: dict) -> str:
    rows = []
    for title, words in _JOBS:
        asked = question.ask(**words)
        found = engine.answer(table, asked.data())
        rows.append(f"<tr><th>{html.escape(title)}<br><small>{html.escape(question.sentence(asked))}</small></th>{_answers(found)}</tr>")
    head = "<th>job</th><th>serve any size; time over the best</th><th>where one size of block will do</th><th>nearest cell</th>"
    return (
        "<h3>What to use when</h3><p>Allocators that served every cell near the job, the fastest first.</p>"
        f'<div class="scroll"><table class="plain roomy"><thead><tr>{head}</tr></thead><tbody>{"".join(rows)}</tbody></table></div>'
    )


def _answers(found: engine.Answer) -> str:
    if not found.near:
        return '<td class="none">not measured</td><td></td><td></td>'
    by_kind: dict[bool, list] = {False: [], True: []}
    for each in found.ranked:
        by_kind[ONE_SIZE in each.entry["restrictions"]].append(each)
    return f"<td>{_names(by_kind[False], _SHOWN)}</td><td>{_names(by_kind[True], _SHOWN // 2)}</td><td>{found.near[0].distance:.1f} steps away</td>"


def _older(entry: dict) -> str:
    return f' <small title="{html.escape(entry["older"])}">older version</small>' if entry["older"] else ""


def _names(ranked: list[engine.Ranked], most: int) -> str:
    shown = [f"{html.escape(forms.titled(each.entry))} <b>{quantity.factor(each.slower)}</b>{' provisional' if each.provisional else ''}{_older(each.entry)}" for each in ranked[:most]]
    return "<br>".join(shown) or '<span class="none">none</span>'
