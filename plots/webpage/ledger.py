"""This module shows the claims of the papers: a forest plot of the claims about ratios, and every sentence with its verdict."""

from __future__ import annotations

import html
import math
import re
import textwrap
from dataclasses import dataclass
from typing import Sequence

from plots.ledger import claims
from plots.ledger.claims import Judged
from plots.runs.results import Run
from plots.sheet import quantity
from plots.webpage import charts

_RATIOS = ("ratio", "step")
_FORMS = (("original", "square-open", -0.6), ("published", "circle", 0.0), ("reworked", "diamond", 0.6))
_COLOURS = {claims.HOLDS: "#1b7837", claims.FAILS: "#c62828", claims.DIFFERS: "#888888", claims.OPEN: "#888888"}
_BESIDE, _ABOVE = 60, 52  # characters of a line of a sentence: beside the axis, and above the numbers on a phone
_LINE, _ROOM, _GAP = 13, 2, 0.6  # pixels of a line; room for the numbers of a claim and the gap below it, in lines


def paper_of(run: Run) -> str:
    return run.name.split("/")[0]


def titled(run: Run) -> str:
    """Returns the paper's name for readers, such as `Winter et al. 2021`.

    The year comes from the folder `survey2021`, and the authors from the config's "Winter et al., PPoPP'21, Fig. 9".
    """
    authors = run.config.get("paper", "").removeprefix("after ").split(",")[0]
    year = re.search(r"(?:19|20)\d\d$", paper_of(run))
    if not authors:
        return f"Beyond the papers: {paper_of(run)}"
    return authors if year is None or year[0] in authors else f"{authors} {year[0]}"


def charts_of(ledger: claims.Ledger) -> dict[str, dict]:
    """Returns the chart of each paper that has a number for a claim about a ratio."""
    made = {}
    for paper in dict.fromkeys(titled(run) for run, _ in ledger.runs):
        rows = [(run, each) for run, judged in ledger.runs if titled(run) == paper for each in judged if each.kind in _RATIOS]
        if any(_estimates(each) for _, each in rows):
            made[paper] = _chart([(run, each) for run, each in rows if _estimates(each)])
    return made


def _estimates(each: Judged) -> list:
    return [(form, value.estimate) for form, _, _ in _FORMS if (value := getattr(each, form)).estimate and value.estimate.number > 0]


def _chart(rows: Sequence[tuple[Run, Judged]]) -> dict:
    """Returns the chart with sentences beside the axis, and a narrow form for phones with sentences above their
    numbers.
    """
    return {**_drawn(_placed(rows, _BESIDE, 0), False), "narrow": _drawn(_placed(rows, _ABOVE, _ROOM), True)}


@dataclass(frozen=True)
class _Row:
    """A row is a claim in the plot. Positions are in lines of text from the top."""

    each: Judged
    lines: list[str]
    top: float
    middle: float


def _placed(rows: Sequence[tuple[Run, Judged]], longest: int, room: float) -> list[_Row]:
    """Places the claims.

    `room` is the number of lines for the numbers below a sentence, 0 if they are beside it. Each text begins with the
    figure, because sentences repeat.
    """
    made, top = [], 0.0
    for run, each in rows:
        lines = _wrapped(f"{run.name.split('/')[-1]}: {each.says}", longest)
        height = len(lines) + room if room else max(_ROOM, len(lines))
        made.append(_Row(each, lines, top, top + height - room / 2 if room else top + height / 2))
        top += height + _GAP
    return made


def _drawn(rows: list[_Row], above: bool) -> dict:
    data = []
    for form, symbol, shift in _FORMS:
        points = [(row.middle + shift, row.each, estimate) for row in rows for name, estimate in _estimates(row.each) if name == form]
        if points:
            data.append(_trace(form, symbol, points))
    end = rows[-1].middle + _ROOM / 2 + _GAP
    numbers = [x for trace in data for x in trace["x"]]
    stated = [bound for row in rows for bound in row.each.bounds if bound]
    shapes = [_stated(row) for row in rows if row.each.bounds != (None, None)]
    shapes.append({"type": "line", "x0": 1, "x1": 1, "y0": -_GAP, "y1": end, "line": {"width": 1, "color": "#888888"}})
    sentences = ["<br>".join(row.lines) for row in rows]
    layout = charts.layout(
        round(110 + _LINE * end),
        shapes=shapes,
        showlegend=True,
        legend={"orientation": "h", "y": 1, "yanchor": "bottom"},
        xaxis=charts.axis("factor", True, [*numbers, *stated], factors=True, range=_limits([*numbers, *stated])),
        yaxis=charts.axis("", tickfont={"size": 10}, range=[end, -_GAP], showgrid=False, tickvals=[] if above else [row.middle for row in rows], ticktext=sentences),
    )
    if above:
        layout["annotations"] = [_above(row, sentence) for row, sentence in zip(rows, sentences)]
    return {"data": data, "layout": layout}


def _stated(row: _Row) -> dict:
    """Draws the bounds of a claim. A missing bound is drawn beyond every number."""
    least, most = row.each.bounds
    return {
        "type": "rect",
        "x0": least or 1e-6,
        "x1": most or 1e6,
        "y0": row.middle - _ROOM / 2,
        "y1": row.middle + _ROOM / 2,
        "layer": "below",
        "fillcolor": "#7fb3e6",
        "opacity": 0.35,
        "line": {"width": 3 if least is not None and least == most else 0, "color": "#7fb3e6"},  # one value has no area
    }


def _above(row: _Row, sentence: str) -> dict:
    place = {"x": 0, "xref": "paper", "xanchor": "left", "y": row.top, "yanchor": "top", "align": "left"}
    return {"text": sentence, "showarrow": False, "font": {"size": 10}, "borderpad": 0, **place}


def _trace(form: str, symbol: str, points: list) -> dict:
    bounded = [estimate if estimate.low is not None and estimate.high is not None else None for _, _, estimate in points]
    return {
        "type": "scatter",
        "mode": "markers",
        "name": form,
        "meta": {"form": form},
        "x": [estimate.number for _, _, estimate in points],
        "y": [y for y, _, _ in points],
        "error_x": {
            "type": "data",
            "symmetric": False,
            "thickness": 1.2,
            "width": 3,
            "color": "#808080",
            "visible": any(bounded),
            "array": [each.high - each.number if each else 0 for each in bounded],
            "arrayminus": [each.number - each.low if each else 0 for each in bounded],
        },
        "marker": {"symbol": charts.markers(symbol, [estimate.provisional for _, _, estimate in points]), "size": 8, "color": [_COLOURS[each.verdict] if form == "published" else "#5f7d95" for _, each, _ in points]},
        "text": [
            f"{'<br>'.join(_wrapped(each.says))}<br>{form}: {getattr(each, form)}<br>paper: {charts.escaped(each.paper)}<br>{each.verdict}{f' ({each.few})' if each.few else ''}" for _, each, _ in points
        ],
        "hovertemplate": "%{text}<extra></extra>",
    }


def _limits(numbers: list[float]) -> list[float]:
    return [math.log10(min([0.5, *numbers])) - 0.15, math.log10(max([2, *numbers])) + 0.15]


def _wrapped(text: str, width: int = _BESIDE) -> list[str]:
    return [charts.escaped(line) for line in textwrap.wrap(text, width)]


def tables(ledger: claims.Ledger) -> str:
    """Lists every sentence, by paper and figure."""
    if not ledger.runs:
        return '<p class="none">Not measured: no run of a paper with claims.</p>'
    verdicts = [each.verdict for _, judged in ledger.runs for each in judged]
    told = "; ".join(f"{verdict}: {verdicts.count(verdict)}" for verdict in claims.VERDICTS)
    head = "".join(f"<th>{html.escape(name)}</th>" for name in claims.HEADER)
    parts = [f"<p>{quantity.counted(len(verdicts), 'sentence')}. {told[0].upper()}{told[1:]}. The verdict is about the published form alone.</p>"]
    for run, judged in ledger.runs:
        rows = "".join(
            f'<tr class="verdict-{each.verdict.replace(" ", "-")}">' + "".join(f"<td>{html.escape(cell)}</td>" for cell in each.row()) + "</tr>"
            for each in judged
        )
        parts.append(
            f'<details><summary>{html.escape(run.name)}: {html.escape(run.config.get("paper", ""))}, {quantity.counted(len(judged), "sentence")}</summary>'
            f'<div class="scroll"><table class="plain"><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div></details>'
        )
    return "".join(parts)
