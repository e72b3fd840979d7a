"""This module draws line figures in an interactive form, with the panels, series, stated values and curves of theory of the
static figure.
"""

from __future__ import annotations

import math
from typing import Callable, Iterable

from plots.advice import question
from plots.figures import lines
from plots.figures.model.chart import Chart, Panel
from plots.figures.model.series import Series
from plots.figures.panel import failures
from plots.sheet import provisional, quantity, style, ticks
from plots.webpage import charts

_UNITS = ("s", "op/s", "B", "B/s")
# These are the width of a row of panels and of a panel on a phone, in inches, and the size of the labels in points.
_WIDE, _NARROW, _POINTS = 9, 2.8, 9
_DASHES = {"full": "solid", "left": "dash", "none": "dot", "top": "dashdot", "right": "longdash", "bottom": "longdashdot"}


def chart(shown: Chart) -> dict | None:
    """Returns one subplot per panel, in its row and column. The result is None if no series has a value."""
    panels = lines.panels_of(shown)
    rows, columns = 1 + max(panel.row for panel in panels), 1 + max(panel.column for panel in panels)
    data, axes, notes = [], {}, []
    known: set[str] = set()
    for number, (panel, scale) in enumerate(zip(panels, lines.scales_of(shown, panels)), start=1):
        suffix = "" if number == 1 else str(number)
        notes.append(_title(panel, suffix))
        axes |= _axes(shown, panel, scale.log, suffix, (rows, columns))
        data += _bands(panel, suffix, known)
        for each, curve in zip(panel.series, panel.curves):
            if len(each.drawn()):
                data += _curve(each, curve, suffix)
                data.append(_series(each, shown.forms.get(each.allocator, ""), suffix, each.label not in known, bool(curve[0]) or bool(shown.x.words) or not shown.joined))
                data[-1] |= _told(shown, panel, each.drawn()[["x", "value", "low", "high", provisional.FLAG]].itertuples(index=False, name=None))
                known.add(each.label)
        for each, curve in panel.lent:
            data += _curve(each, curve, suffix)
        data += _stated(shown, panel, suffix, known)
        data += _positions(panel, suffix, known)
        if (unit := _unit(panel)) and not scale.log and (largest := max(_values(panel, "value"), default=0)):
            axes[f"yaxis{suffix}"]["ticksuffix"] = f" {_scale(data, suffix, largest)}{unit}"
    if not data:
        return None
    return {
        "data": data,
        "layout": charts.layout(
            120 + 300 * rows,
            showlegend=True,
            legend={"orientation": "h", "y": -0.12 / rows, "yanchor": "top"},
            annotations=[note for note in notes if note["text"]],
            **axes,
        ),
    }


def _axes(shown: Chart, panel: Panel, log_y: bool, suffix: str, size: tuple[int, int]) -> dict:
    rows, columns = size
    width, height = 1 / columns, 1 / rows
    left, top = panel.column * width, 1 - panel.row * height
    place = [left + 0.16 * width * (columns > 1), left + width * (0.98 if columns > 1 else 1)]
    xs, log_x = sorted(set(_values(panel, "x"))), shown.x.log
    x_axis = charts.axis(shown.x.title, log_x and not shown.x.words, xs, domain=place, anchor=f"y{suffix}")
    if shown.x.words:
        x_axis |= {"tickvals": list(range(len(shown.x.words))), "ticktext": shown.x.words}
    elif xs and (xs[0] > 0 or not log_x):
        x_axis |= _named(xs, log_x, quantity.on_axis(shown.x.setting, xs), columns)
    before = [each for each in shown.panels if each.row == panel.row and each.column < panel.column]
    y_axis = charts.axis(
        panel.title if not before or before[-1].metric != panel.metric else "",
        log_y,
        _values(panel, "value"),
        domain=[top - 0.8 * height, top - 0.06 * height],
        anchor=f"x{suffix}",
        unit=_unit(panel) if log_y else "",
    )
    return {f"xaxis{suffix}": x_axis, f"yaxis{suffix}": y_axis}


def _named(xs: list[float], log: bool, write: Callable[[float], str], columns: int) -> dict:
    """Returns the x values whose labels have room, even on a phone."""
    places = ticks.named(xs, (xs[0], xs[-1]), log, min(_NARROW, _WIDE / columns), _POINTS, write) if len(xs) > 1 else xs
    return {"tickvals": places, "ticktext": [write(place) for place in places]}


def _unit(panel: Panel) -> str:
    """Returns the unit after the numbers of the axis. Ratios, shares and counts have none."""
    return panel.unit if panel.unit in _UNITS and not quantity.is_ratio(panel.metric) else ""


def _scale(data: list[dict], suffix: str, largest: float) -> str:
    """Scales the values of a panel to the SI prefix of the largest, and returns the prefix. Plotly's own ticks have no
    space before a prefix.
    """
    scale, prefix = quantity.prefix_of(largest)
    for trace in data:
        if trace["yaxis"] == f"y{suffix}":
            for holder, name in ((trace, "y"), *((trace["error_y"], each) for each in ("array", "arrayminus") if "error_y" in trace)):
                holder[name] = [None if value is None else value / scale for value in holder[name]]
    return prefix


def _values(panel: Panel, column: str) -> list[float]:
    return [value for each in panel.series for value in each.drawn()[column]]


def _title(panel: Panel, suffix: str) -> dict:
    text = ", ".join(text for text in (panel.row_name, panel.phase_name, panel.name) if text)
    return {
        "text": f"<b>{charts.escaped(text)}</b>" if text else "",
        "showarrow": False,
        "xref": f"x{suffix} domain",
        "yref": f"y{suffix} domain",
        "x": 0,
        "y": 1.02,
        "xanchor": "left",
        "yanchor": "bottom",
    }


def _series(each: Series, form: str, suffix: str, first: bool, only_markers: bool) -> dict:
    points = each.drawn()
    bounded = points["low"].notna() & points["high"].notna()
    return {
        "type": "scatter",
        "mode": "markers" if only_markers else "lines+markers",
        "name": each.label,
        "legendgroup": each.label,
        "showlegend": first,
        # The checkboxes leave ablations and delayed forms out of answers, but must not hide them in figures about them.
        "meta": {"allocator": each.allocator, "form": form if form in question.USUAL_FORMS else "", "family": style.family(each.allocator)},
        "x": charts.finite(points["x"]),
        "y": charts.finite(points["value"]),
        "xaxis": f"x{suffix}",
        "yaxis": f"y{suffix}",
        "line": {"color": each.look.colour, "dash": _DASHES.get(each.look.fill, "solid"), "width": 1.6},
        "marker": {"color": each.look.colour, "symbol": charts.markers(charts.SYMBOLS.get(form, "circle"), list(points[provisional.FLAG])), "size": 6},
        "error_y": {
            "type": "data",
            "symmetric": False,
            "thickness": 1,
            "width": 2,
            "visible": bool(bounded.any()),
            "array": charts.finite((points["high"] - points["value"]).where(bounded, 0)),
            "arrayminus": charts.finite((points["value"] - points["low"]).where(bounded, 0)),
        },
    }


def _told(shown: Chart, panel: Panel, points: Iterable[tuple[float, float, float, float, bool]]) -> dict:
    """Returns the texts that points (x, value, low, high, whether provisional) show under the pointer."""
    write = quantity.formatter(panel.metric, panel.unit)
    texts = [
        f"{shown.x.written(place)}: {quantity.with_interval(write(value), value, low, high)}{f', {provisional.WORD}' if hollow else ''}"
        for place, value, low, high, hollow in points
    ]
    return {"text": texts, "hovertemplate": charts.HOVER}


def _stated(shown: Chart, panel: Panel, suffix: str, known: set[str]) -> list[dict]:
    """Draws the paper's own values as stars."""
    made = []
    for mark in panel.marks:
        name = mark.source if "paper" in mark.source.lower() else f"paper: {mark.source}"
        made.append(
            {
                "type": "scatter",
                "mode": "markers",
                "name": name,
                "legendgroup": name,
                "showlegend": name not in known,
                "x": [mark.x],
                "y": [mark.y],
                "xaxis": f"x{suffix}",
                "yaxis": f"y{suffix}",
                "marker": {
                    "symbol": "star",
                    "size": 13,
                    "color": style.look(mark.allocator).colour if mark.allocator else "#d81b60",
                    "line": {"width": 1, "color": "#888888"},
                },
                **_told(shown, panel, [(mark.x, mark.y, math.nan, math.nan, False)]),
            }
        )
        known.add(name)
    return made


def _bands(panel: Panel, suffix: str, known: set[str]) -> list[dict]:
    """Draws the ranges that a paper states: two dotted lines, and the area between them."""
    made = []
    for band in panel.bands:
        shared = {"type": "scatter", "mode": "lines", "name": band.source, "legendgroup": band.source, "hoverinfo": "skip", "x": band.xs}
        shared |= {"xaxis": f"x{suffix}", "yaxis": f"y{suffix}", "line": {"width": 0.8, "color": "#888888", "dash": "dot"}}
        made.append({**shared, "y": band.low, "showlegend": False})
        made.append({**shared, "y": band.high, "fill": "tonexty", "fillcolor": "rgba(128,128,128,0.25)", "showlegend": band.source not in known})
        known.add(band.source)
    return made


def _positions(panel: Panel, suffix: str, known: set[str]) -> list[dict]:
    """Draws a vertical line at each value of x that the paper names. The line spans the drawn values."""
    ys = _values(panel, "value")
    made = []
    for position in panel.positions if ys else []:
        made.append({
            "type": "scatter",
            "mode": "lines",
            "name": position.source,
            "legendgroup": position.source,
            "showlegend": position.source not in known,
            "x": [position.x, position.x],
            "y": [min(ys), max(ys)],
            "xaxis": f"x{suffix}",
            "yaxis": f"y{suffix}",
            "line": {"width": 1.2, "color": "#888888", "dash": "dash"},
        })
        known.add(position.source)
    return made


def _curve(each: Series, curve: tuple[list[float], list[float]], suffix: str) -> list[dict]:
    """Draws the curve that the paper derives for the series, if the plot asks for it."""
    xs, ys = curve
    if not xs:
        return []
    line = {"color": each.look.colour, "dash": "dash", "width": 1.2}
    return [
        {
            "type": "scatter",
            "mode": "lines",
            "name": f"{each.label}, as the paper derives it",
            "legendgroup": each.label,
            "showlegend": False,
            "hoverinfo": "name",
            "x": xs,
            "y": ys,
            "xaxis": f"x{suffix}",
            "yaxis": f"y{suffix}",
            "line": line,
        }
    ]


def without_a_value(shown: Chart) -> list[str]:
    """Lists the points without a place in the chart: their status words, or 0 on a logarithmic axis, with their places, by series
    and panel.
    """
    told: dict[str, list[str]] = {}
    for panel in lines.panels_of(shown):
        place = ", ".join(text for text in (panel.row_name, panel.name) if text)
        for each in panel.series:
            for stretch in failures.stretches_of(each):
                ends = [shown.x.written(end) for end in (stretch.positions[0], stretch.positions[-1])]
                where = ends[0] if len(stretch.positions) == 1 else f"{ends[0]} to {ends[1]}"
                sentence = f"{stretch.word} at {where}{f' ({place})' if place else ''}"
                if sentence not in told.setdefault(each.label, []):  # the phases of a cell have the same status
                    told[each.label].append(sentence)
    return [f"{label}: {'; '.join(sentences)}." for label, sentences in told.items()]
