"""Line figures of the papers, interactive: the panels, series, stated values and derived curves of the static figure."""

from __future__ import annotations

import html
import math
from typing import Callable, Iterable

from plots import curves, failures, labels, lines, provisional, quantity, series, stated, style, ticks
from plots.advice import question
from plots.results import Run
from plots.webpage import charts

_UNITS = ("s", "op/s", "B", "B/s")
_WIDE, _NARROW, _POINTS = 9, 2.8, 9  # inches of all panels of a row, and of one on a phone; size of the labels
_DASHES = {"full": "solid", "left": "dash", "none": "dot", "top": "dashdot", "right": "longdash", "bottom": "longdashdot"}


def chart(run: Run) -> dict | None:
    """One subplot per panel, in its row and column."""
    plot, x = run.plot, run.plot["x"]
    panels = series.panels_of(run)
    rows, columns = 1 + max(panel.row for panel in panels), 1 + max(panel.column for panel in panels)
    words = [labels.value_of(run, x, word) for word in labels.words_of(run, x)]
    data, axes, notes = [], {}, []
    known: set[str] = set()
    for number, panel in enumerate(panels, start=1):
        suffix = "" if number == 1 else str(number)
        notes.append(_title(panel, suffix))
        drawn = series.series_of(panel.run, x, panel.phase, panel.metric)
        axes |= _axes(run, panel, suffix, (rows, columns), words, drawn)
        data += _bands(panel, drawn, suffix, known)
        for each in drawn:
            if len(each.drawn()):
                curve = _curve(run, each, panel.metric, suffix)
                data += curve
                data.append(_series(run, each, suffix, each.label not in known, bool(curve) or bool(words) or not plot.get("joined", True)))
                data[-1] |= _told(panel, x, words, each.drawn()[["x", "value", "low", "high", provisional.FLAG]].itertuples(index=False, name=None))
                known.add(each.label)
        data += _stated(panel, x, suffix, known, words)
        data += _positions(panel, drawn, suffix, known)
        if (unit := _unit(panel)) and "y" not in plot.get("log", "") and (values := _values(drawn, "value")):
            axes[f"yaxis{suffix}"]["ticksuffix"] = f" {_scale(data, suffix, max(values))}{unit}"
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


def _axes(run: Run, panel: series.Panel, suffix: str, size: tuple[int, int], words: list[str], drawn: list[series.Series]) -> dict:
    rows, columns = size
    width, height = 1 / columns, 1 / rows
    left, top = panel.column * width, 1 - panel.row * height
    log = run.plot.get("log", "")
    place = [left + 0.16 * width * (columns > 1), left + width * (0.98 if columns > 1 else 1)]
    xs = sorted(set(_values(drawn, "x")))
    x_axis = charts.axis(run.plot.get("xlabel") or labels.setting_name(run, run.plot["x"]), "x" in log and not words, xs, domain=place, anchor=f"y{suffix}")
    if words:
        x_axis |= {"tickvals": list(range(len(words))), "ticktext": words}
    elif xs and (xs[0] > 0 or "x" not in log):
        x_axis |= _named(xs, "x" in log, quantity.on_axis(run.plot["x"]), columns)
    before = [each for each in series.panels_of(run) if each.row == panel.row and each.column < panel.column]
    y_axis = charts.axis(
        lines.y_label(run, panel.metric, _unit(panel)) if not before or before[-1].metric != panel.metric else "",
        "y" in log,
        _values(drawn, "value"),
        domain=[top - 0.8 * height, top - 0.06 * height],
        anchor=f"x{suffix}",
        unit=_unit(panel) if "y" in log else "",
    )
    return {f"xaxis{suffix}": x_axis, f"yaxis{suffix}": y_axis}


def _named(xs: list[float], log: bool, write: Callable[[float], str], columns: int) -> dict:
    """The values of x that have room for their label, on a phone, too."""
    places = ticks.named(xs, (xs[0], xs[-1]), log, min(_NARROW, _WIDE / columns), _POINTS, write) if len(xs) > 1 else xs
    return {"tickvals": places, "ticktext": [write(place) for place in places]}


def _unit(panel: series.Panel) -> str:
    """What stands behind the numbers of the axis; ratios, shares and counts have none."""
    unit = panel.run.unit_of(panel.phase, panel.metric)
    return unit if unit in _UNITS and not quantity.is_ratio(panel.metric) else ""


def _scale(data: list[dict], suffix: str, largest: float) -> str:
    """Brings the values of a panel to the SI prefix of the largest and gives it back: Plotly's own ticks have no space before a prefix."""
    scale, prefix = quantity.prefix_of(largest)
    for trace in data:
        if trace["yaxis"] == f"y{suffix}":
            for holder, name in ((trace, "y"), *((trace["error_y"], each) for each in ("array", "arrayminus") if "error_y" in trace)):
                holder[name] = [None if value is None else value / scale for value in holder[name]]
    return prefix


def _values(drawn: list[series.Series], column: str) -> list[float]:
    return [value for each in drawn for value in each.drawn()[column]]


def _title(panel: series.Panel, suffix: str) -> dict:
    text = ", ".join(text for text in (panel.row_name, panel.phase_name, panel.name) if text)
    return {
        "text": f"<b>{html.escape(text)}</b>" if text else "",
        "showarrow": False,
        "xref": f"x{suffix} domain",
        "yref": f"y{suffix} domain",
        "x": 0,
        "y": 1.02,
        "xanchor": "left",
        "yanchor": "bottom",
    }


def _series(run: Run, each: series.Series, suffix: str, first: bool, only_markers: bool) -> dict:
    points = each.drawn()
    form = next((run.details.get(cell, {}).get("form") for cell in points["cell"] if run.details.get(cell, {}).get("form")), "")
    bounded = points["low"].notna() & points["high"].notna()
    return {
        "type": "scatter",
        "mode": "markers" if only_markers else "lines+markers",
        "name": each.label,
        "legendgroup": each.label,
        "showlegend": first,
        # A figure is about its ablations and delayed forms: the boxes, which leave them out of answers, do not hide them here.
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


def _told(panel: series.Panel, x: str, words: list[str], points: Iterable[tuple[float, float, float, float, bool]]) -> dict:
    """What points (x, value, low, high, whether provisional) say under the pointer."""
    write = quantity.formatter(panel.metric, panel.run.unit_of(panel.phase, panel.metric))
    texts = [
        f"{words[int(place)] if words else labels.value_of(panel.run, x, place)}: {quantity.with_interval(write(value), value, low, high)}{f', {provisional.WORD}' if hollow else ''}"
        for place, value, low, high, hollow in points
    ]
    return {"text": texts, "hovertemplate": charts.HOVER}


def _stated(panel: series.Panel, x: str, suffix: str, known: set[str], words: list[str]) -> list[dict]:
    """The paper's own values, as stars."""
    made = []
    for mark in stated.marks(panel.run, x, panel.phase, panel.metric):
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
                **_told(panel, x, words, [(mark.x, mark.y, math.nan, math.nan, False)]),
            }
        )
        known.add(name)
    return made


def _bands(panel: series.Panel, drawn: list[series.Series], suffix: str, known: set[str]) -> list[dict]:
    """The ranges that a paper states: a line without ink, and the area from it up to the next."""
    made = []
    for band in stated.bands(panel.run, panel.phase, panel.metric, drawn):
        shared = {"type": "scatter", "mode": "lines", "name": band.source, "legendgroup": band.source, "hoverinfo": "skip", "x": band.xs}
        shared |= {"xaxis": f"x{suffix}", "yaxis": f"y{suffix}", "line": {"width": 0.8, "color": "#888888", "dash": "dot"}}
        made.append({**shared, "y": band.low, "showlegend": False})
        made.append({**shared, "y": band.high, "fill": "tonexty", "fillcolor": "rgba(128,128,128,0.25)", "showlegend": band.source not in known})
        known.add(band.source)
    return made


def _positions(panel: series.Panel, drawn: list[series.Series], suffix: str, known: set[str]) -> list[dict]:
    """Values of x that the paper names: vertical lines as high as the values drawn."""
    ys = _values(drawn, "value")
    made = []
    for position in stated.positions(panel.run, panel.phase, panel.metric) if ys else []:
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


def _curve(run: Run, each: series.Series, metric: str, suffix: str) -> list[dict]:
    """What the paper derives for the series, where the plot asks for it."""
    xs, ys = curves.of_series(run, each, run.plot["x"], metric, "x" in run.plot.get("log", ""))
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


def without_a_value(run: Run) -> list[str]:
    """Where a line has no point: by series and panel the status words with their places."""
    x = run.plot["x"]
    words = [labels.value_of(run, x, word) for word in labels.words_of(run, x)]
    told: dict[str, list[str]] = {}
    for panel in series.panels_of(run):
        place = ", ".join(text for text in (panel.row_name, panel.name) if text)
        for each in series.series_of(panel.run, x, panel.phase, panel.metric):
            for stretch in failures.stretches_of(each):
                ends = [words[int(end)] if words else labels.value_of(run, x, end) for end in (stretch.positions[0], stretch.positions[-1])]
                where = ends[0] if len(stretch.positions) == 1 else f"{ends[0]} to {ends[1]}"
                sentence = f"{stretch.word} at {where}{f' ({place})' if place else ''}"
                if sentence not in told.setdefault(each.label, []):  # phases fail together
                    told[each.label].append(sentence)
    return [f"{label}: {'; '.join(sentences)}." for label, sentences in told.items()]
