"""The claims of the papers: a forest plot of those about ratios, and every sentence with its verdict."""

from __future__ import annotations

import html
import math
import re
from typing import Sequence

from plots import claims
from plots.claims import Judged
from plots.results import Run
from plots.webpage import charts

_RATIOS = ("ratio", "step")
_FORMS = (("original", "square-open", -0.25), ("published", "circle", 0.0), ("reworked", "diamond", 0.25))
_COLOURS = {claims.HOLDS: "#1b7837", claims.FAILS: "#c62828", claims.OPEN: "#888888"}
_LONGEST = 60  # characters of a sentence beside the axis


def paper_of(run: Run) -> str:
    return run.name.split("/")[0]


def titled(run: Run) -> str:
    """The paper as readers know it, from the folder `survey2021` and the config's "Winter et al., PPoPP'21, Fig. 9": Winter et al. 2021."""
    authors = run.config.get("paper", "").removeprefix("after ").split(",")[0]
    year = re.search(r"(?:19|20)\d\d$", paper_of(run))
    if not authors:
        return f"Beyond the papers: {paper_of(run)}"
    return authors if year is None or year[0] in authors else f"{authors} {year[0]}"


def charts_of(ledger: claims.Ledger) -> dict[str, dict]:
    """By paper."""
    made = {}
    for paper in dict.fromkeys(titled(run) for run, _ in ledger.runs):
        rows = [(run, each) for run, judged in ledger.runs if titled(run) == paper for each in judged if each.kind in _RATIOS]
        if any(_estimates(each) for _, each in rows):
            made[paper] = _chart([(run, each) for run, each in rows if _estimates(each)])
    return made


def _estimates(each: Judged) -> list:
    return [(form, value.estimate) for form, _, _ in _FORMS if (value := getattr(each, form)).estimate and value.estimate.number > 0]


def _chart(rows: Sequence[tuple[Run, Judged]]) -> dict:
    data, shapes = [], []
    for form, symbol, shift in _FORMS:
        points = [(number + shift, each, estimate) for number, (_, each) in enumerate(rows) for name, estimate in _estimates(each) if name == form]
        if points:
            data.append(_trace(form, symbol, points))
    for number, (_, each) in enumerate(rows):
        least, most = each.bounds
        if least is not None or most is not None:
            # Beyond every number where the paper states one side only.
            shapes.append(
                {
                    "type": "rect",
                    "x0": least or 1e-6,
                    "x1": most or 1e6,
                    "y0": number - 0.4,
                    "y1": number + 0.4,
                    "layer": "below",
                    "fillcolor": "#7fb3e6",
                    "opacity": 0.35,
                    "line": {"width": 3 if least is not None and least == most else 0, "color": "#7fb3e6"},  # one value has no area
                }
            )
    shapes.append({"type": "line", "x0": 1, "x1": 1, "y0": -0.6, "y1": len(rows) - 0.4, "line": {"width": 1, "color": "#888888"}})
    numbers = [x for trace in data for x in trace["x"]]
    stated = [bound for _, each in rows for bound in each.bounds if bound]
    ticks = {"tickvals": list(range(len(rows))), "ticktext": [_sentence(run, each) for run, each in rows], "range": [len(rows) - 0.4, -0.6]}
    return {
        "data": data,
        "layout": charts.layout(
            110 + 34 * len(rows),
            shapes=shapes,
            showlegend=True,
            legend={"orientation": "h", "y": 1.02, "yanchor": "bottom"},
            xaxis=charts.axis("factor", True, [*numbers, *stated], factors=True, range=_limits([*numbers, *stated])),
            yaxis=charts.axis("", tickfont={"size": 10}, **ticks),
        ),
    }


def _trace(form: str, symbol: str, points: list) -> dict:
    bounded = [estimate if estimate.low is not None and estimate.high is not None else None for _, _, estimate in points]
    return {
        "type": "scatter",
        "mode": "markers",
        "name": form,
        "x": [estimate.number for _, _, estimate in points],
        "y": [y for y, _, _ in points],
        "error_x": {
            "type": "data",
            "symmetric": False,
            "thickness": 1.2,
            "width": 3,
            "visible": any(bounded),
            "array": [each.high - each.number if each else 0 for each in bounded],
            "arrayminus": [each.number - each.low if each else 0 for each in bounded],
        },
        "marker": {"symbol": symbol, "size": 8, "color": [_COLOURS[each.verdict] if form == "published" else "#5f7d95" for _, each, _ in points]},
        "text": [
            f"{_wrapped(each.says)}<br>{form}: {getattr(each, form)}<br>paper: {html.escape(each.paper)}<br>{each.verdict}{f' ({each.few})' if each.few else ''}" for _, each, _ in points
        ],
        "hovertemplate": "%{text}<extra></extra>",
    }


def _limits(numbers: list[float]) -> list[float]:
    return [math.log10(min([0.5, *numbers])) - 0.15, math.log10(max([2, *numbers])) + 0.15]


def _sentence(run: Run, each: Judged) -> str:
    """Two lines beside the axis, the figure first, as sentences repeat; the whole is in the table and under the pointer."""
    words = f"{run.name.split('/')[-1]}: {each.says}"
    lines = _wrapped(words, _LONGEST).split("<br>")
    return "<br>".join(lines[:2]) + (" …" if len(lines) > 2 else "")


def _wrapped(text: str, width: int = _LONGEST) -> str:
    lines = [""]
    for word in text.split():
        if len(lines[-1]) + len(word) > width:
            lines.append("")
        lines[-1] = f"{lines[-1]} {word}".strip()
    return "<br>".join(html.escape(line) for line in lines)


def _sentences(count: int) -> str:
    return f"{count} sentence{'' if count == 1 else 's'}"


def tables(ledger: claims.Ledger) -> str:
    """Every sentence, by paper and figure."""
    if not ledger.runs:
        return '<p class="none">Not measured: no run of a paper with claims.</p>'
    verdicts = [each.verdict for _, judged in ledger.runs for each in judged]
    told = "; ".join(f"{verdict}: {verdicts.count(verdict)}" for verdict in (claims.HOLDS, claims.FAILS, claims.OPEN))
    head = "".join(f"<th>{html.escape(name)}</th>" for name in claims.HEADER)
    parts = [f"<p>{_sentences(len(verdicts))}. {told[0].upper()}{told[1:]}. The verdict is about the published form alone.</p>"]
    for run, judged in ledger.runs:
        rows = "".join(
            f'<tr class="verdict-{each.verdict.replace(" ", "-")}">' + "".join(f"<td>{html.escape(cell)}</td>" for cell in each.row()) + "</tr>"
            for each in judged
        )
        parts.append(
            f'<details><summary>{html.escape(run.name)}: {html.escape(run.config.get("paper", ""))}, {_sentences(len(judged))}</summary>'
            f'<div class="scroll"><table class="plain"><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div></details>'
        )
    return "".join(parts)
