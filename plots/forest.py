"""The ledger of a paper as a forest plot: one line per claim about a ratio, with what the paper states, the original, the
published form and the reworked form on one axis of factors."""

from __future__ import annotations

import math
from typing import Sequence

import matplotlib
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from plots import claims, origin, style, ticks
from plots.claims import Judged
from plots.page import BODY_WIDTH, Drawing, Heading, Page
from plots.results import Run

_ROW = 0.30
_TEXT = 3.55  # inches of sentences
_AXIS = 0.42
_LEGEND = 0.22
_KINDS = ("ratio", "step")
_BAND = "#cfe0f3"
_VERDICTS = {claims.HOLDS: "#1b7837", claims.FAILS: style.WARNING, claims.OPEN: style.GREY}
_FORMS = (("original", "D", "none"), ("published", "o", "full"), ("reworked", "s", "left"))


def drawings(ledger: claims.Ledger) -> list[Drawing]:
    """One per paper that has claims about ratios; papers are the first parts of the names of runs."""
    papers = dict.fromkeys(run.name.split("/")[0] for run, _ in ledger.runs)
    with matplotlib.rc_context(style.RC):
        made = [_drawing(paper, [(run, judged) for run, judged in ledger.runs if run.name.split("/")[0] == paper]) for paper in papers]
    return [each for each in made if each]


def _drawing(paper: str, runs: Sequence[tuple[Run, list[Judged]]]) -> Drawing | None:
    rows = [(run, each) for run, judged in runs for each in judged if each.kind in _KINDS]
    if not rows:
        return None
    run = rows[0][0]
    caption = ["Dark symbols: published form, which the verdict is about, with its 95 % interval. Half-filled: reworked form. Hollow: the authors' code, "
               "measured separately where it stands without an interval. Shaded: what the paper states. No symbol: no number.",
               "The place that decides is shown: of several, the one nearest to the other verdict."]
    page = Page(Heading(f"Claims of {run.config.get('paper', paper).split(',')[0]} about ratios", f"{len(rows)} sentences", caption, origin.lines(run)[:1]),
                _AXIS + _LEGEND + _ROW * len(rows))
    axes = page.axes(_TEXT, _AXIS, BODY_WIDTH - _TEXT - 0.1, _ROW * len(rows))
    low, high = _limits(rows)
    axes.set_xscale("log")
    axes.set_xlim(low, high)
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.axvline(1, color=style.GREY, linewidth=0.7, zorder=1)
    for number, (each_run, each) in enumerate(rows):
        _draw_row(axes, number, each, (low, high))
        words = ticks.wrapped(f"{each.says} ({each_run.name.split('/')[-1]})", style.LEAST, _TEXT - 0.75)
        left, middle = page.point(0, _AXIS + _ROW * (len(rows) - number - 0.5))
        page.figure.text(left, middle, "\n".join(words[:2] if len(words) < 3 else [words[0], words[1][:-1] + "…"]), fontsize=style.LEAST, va="center", linespacing=1.05)
        left, _ = page.point(_TEXT - 0.70, 0)
        page.figure.text(left, middle, each.verdict, fontsize=style.LEAST, va="center", color=_VERDICTS[each.verdict])
    axes.set_yticks([])
    axes.spines["left"].set_visible(False)
    axes.set_xlabel("factor")
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:,g}")
    handles = [Line2D([], [], color=style.BLACK, marker=marker, fillstyle=fill, linestyle="none", label=name) for name, marker, fill in _FORMS]
    page.figure.legend(handles=[Patch(color=_BAND, label="paper"), *handles], loc="upper left", ncols=4, borderaxespad=0,
                       bbox_to_anchor=page.point(_TEXT, page.body_height))
    markdown = f"# Claims of {paper} about ratios\n\n{claims.table([each for _, each in rows])}\n"
    return Drawing(f"claims_{paper}", page, markdown)


def _draw_row(axes, number: int, each: Judged, limits: tuple[float, float]) -> None:
    least, most = each.bounds
    if least is not None or most is not None:
        start, end = (limits[0] if least is None else least), (limits[1] if most is None else most)
        axes.barh(number, end - start, left=start, height=0.72, color=_BAND, zorder=0)
    for shift, (form, marker, fill) in zip((-0.22, 0.0, 0.22), _FORMS):
        estimate = getattr(each, form).estimate
        if estimate is None or estimate.number <= 0:
            continue
        at = min(max(estimate.number, limits[0]), limits[1])
        if estimate.low is not None and estimate.high is not None and estimate.low > 0:
            axes.plot([estimate.low, estimate.high], [number + shift] * 2, color=style.BLACK, linewidth=0.9, zorder=2)
        axes.plot(at, number + shift, marker=marker, fillstyle=fill, color=style.BLACK, markersize=4, zorder=3)


def _limits(rows) -> tuple[float, float]:
    """Decades around all numbers and what the paper states."""
    numbers = [1.0]
    for _, each in rows:
        numbers += [bound for bound in each.bounds if bound]
        numbers += [value.estimate.number for value in (each.original, each.published, each.reworked) if value.estimate and value.estimate.number > 0]
    return 10 ** math.floor(math.log10(min(numbers)) - 0.05), 10 ** math.ceil(math.log10(max(numbers)) + 0.05)
