"""This module draws the ledger of a paper as a forest plot.

Each line is a claim about a ratio or a step. It shows the paper's bounds, the original, the published form and the
reworked form on an axis of factors. An original that was measured separately had another load, so only the ledger's table
has it.
"""

from __future__ import annotations

import functools
import math
from typing import Sequence

import matplotlib
from matplotlib.patches import Patch
from matplotlib.ticker import LogFormatter

from plots.ledger import claims
from plots.ledger.claims import Judged
from plots.ledger.effects import Estimate
from plots.runs import few_rounds, origin
from plots.runs.results import Run
from plots.sheet import marks, provisional, quantity, style, ticks
from plots.sheet.page import Drawing, Heading

_ROW = 0.28      # height in inches of a row with up to two lines
_LINE = 0.115    # height of each further line
_SENTENCE = 2.72
_VERDICT = 1.12
_TEXT = _SENTENCE + _VERDICT + 0.08
_KINDS = ("ratio", "step")
_BAND = "#cfe0f3"
_OURS = 0.4  # opacity of the band if the bounds are ours
_DECADES = 5
_VERDICTS = {claims.HOLDS: "#1b7837", claims.FAILS: style.WARNING, claims.DIFFERS: style.GREY, claims.OPEN: style.GREY}
_FORMS = (("original", "D", "none"), ("published", "o", "full"), ("reworked", "s", "left"))


def drawings(ledger: claims.Ledger) -> list[Drawing]:
    """Returns one drawing per paper that has claims about ratios. The name of a run begins with its paper."""
    papers = dict.fromkeys(run.name.split("/")[0] for run, _ in ledger.runs)
    with matplotlib.rc_context(style.RC):
        made = [_drawing(paper, [(run, judged) for run, judged in ledger.runs if run.name.split("/")[0] == paper]) for paper in papers]
    return [each for each in made if each]


def _drawing(paper: str, runs: Sequence[tuple[Run, list[Judged]]]) -> Drawing | None:
    rows = [(run, each) for run, judged in runs for each in judged if each.kind in _KINDS]
    if not rows:
        return None
    run = rows[0][0]
    forms = {form for _, each in rows for form, *_ in _FORMS if _estimate(each, form)}
    authors = "Hollow: the authors' code in the same run. " if "original" in forms else ""
    caption = ["Filled: published form, which the verdict is about, with its 95 % interval, in the colour of the verdict. Half-filled: reworked form. "
               f"{authors}Shaded: what the paper states; lightly: our bounds, where it states no number. No symbol: no number. Triangle: beyond the axis.",
               "The place that decides is shown: the worst of those with the verdict, the best for a sentence about some place, or the mean.",
               *(["Faint line: a mean times and divided by the geometric standard deviation of its places."] if any(estimate.spread for _, each in rows for estimate in _estimates(each)) else []),
               *([few_rounds.MARKED] if any(each.marked != each.verdict for _, each in rows) else []),
               *([provisional.HOLLOW] if any(estimate.provisional for _, each in rows for estimate in _estimates(each)) else [])]
    sentences = [ticks.wrapped(f"{each.says} ({each_run.name.split('/')[-1]})", style.LEAST, _SENTENCE) for each_run, each in rows]
    verdicts = [[f"{each.verdict} {few_rounds.MARK}" if each.marked != each.verdict else each.verdict, *ticks.wrapped(_beside(each), style.LEAST, _VERDICT)] for _, each in rows]
    heights = [_ROW + _LINE * (max(2, len(lines), len(told)) - 2) for lines, told in zip(sentences, verdicts)]
    heading = Heading(f"Claims of {run.config.get('paper', paper).split(',')[0]} about ratios", quantity.counted(len(rows), 'sentence'), caption, origin.lines(run)[:1])
    drawn = [marks.Row(height, ((0, "\n".join(lines), style.BLACK), (_SENTENCE + 0.06, "\n".join(told), _VERDICTS[each.verdict])), functools.partial(_draw_row, each=each, height=height))
             for (_, each), lines, told, height in zip(rows, sentences, verdicts, heights)]
    handles = [Patch(color=_BAND, label="paper"), *(marks.handle(style.Look("", style.BLACK, marker, fill=fill), name, None) for name, marker, fill in _FORMS if name in forms)]
    page, axes = marks.page(heading, drawn, _TEXT, _limits(rows), "factor", handles)
    axes.xaxis.set_minor_formatter(LogFormatter())  # matplotlib's own formatter writes mathematical notation
    return Drawing(f"claims_{paper}", page, "")  # the ledger contains the numbers


def _beside(each: Judged) -> str:
    """Returns the text below the verdict: the number that it is about, or the reason why there is no number."""
    if each.why:
        return each.why.removeprefix("published form ").removeprefix("published: ")
    estimate = each.published.estimate
    why = provisional.WORD if estimate and estimate.provisional else "no interval"
    return f"{each.published}, {why}" if each.published.interval == "none" else str(each.published)


def _estimates(each: Judged) -> list[Estimate]:
    return [estimate for form, *_ in _FORMS if (estimate := _estimate(each, form))]


def _estimate(each: Judged, form: str) -> Estimate | None:
    estimate = getattr(each, form).estimate
    return None if form == "original" and estimate and estimate.low is None else estimate


def _draw_row(axes, top: float, each: Judged, height: float) -> None:
    (least, most), middle, limits = each.bounds, top + height / 2, axes.get_xlim()
    if least is not None or most is not None:
        start, end = (limits[0] if least is None else least), (limits[1] if most is None else most)
        if start == end:  # a bar for a single value would have no width
            axes.vlines(start, middle - height / 2 + 0.03, middle + height / 2 - 0.03, color=_BAND, linewidth=3, zorder=0)
        axes.barh(middle, end - start, left=start, height=height - 0.06, color=_BAND, alpha=_OURS if each.ours else 1, zorder=0)
    for shift, (form, marker, fill) in zip((-0.075, 0.0, 0.075), _FORMS):
        estimate = _estimate(each, form)
        if estimate is None or estimate.number <= 0:
            continue
        look = style.Look("", _VERDICTS[each.verdict] if form == "published" else style.BLACK, marker, fill=fill)
        marks.draw(axes, middle + shift, estimate, look, 4, 0.9, beyond=True)
        if estimate.spread:
            ends = [min(max(estimate.number * factor, limits[0]), limits[1]) for factor in (1 / estimate.spread, estimate.spread)]
            axes.plot(ends, [middle + shift] * 2, color=look.colour, linewidth=2.6, alpha=0.25, solid_capstyle="butt", zorder=1)


def _limits(rows) -> tuple[float, float]:
    """Returns whole decades around all numbers and bounds, but at most five decades on either side of 1."""
    numbers = [1.0]
    for _, each in rows:
        numbers += [bound for bound in each.bounds if bound and bound > 0]
        numbers += [estimate.number for estimate in _estimates(each) if estimate.number > 0]
    low, high = math.floor(math.log10(min(numbers)) - 0.05), math.ceil(math.log10(max(numbers)) + 0.05)
    return 10.0 ** max(low, -_DECADES), 10.0 ** min(high, _DECADES)
