"""This module assembles the page. The page shows all results of one device that can be read and drawn. It lists the
other results at its top.
"""

from __future__ import annotations

import base64
import functools
import gzip
import html
import json
import os
import string
from dataclasses import dataclass
from pathlib import Path
from typing import Callable, Sequence

from plotly.offline import get_plotlyjs

from allocbench.errors import NothingToDraw, UsageError
from plots.advice import cases, differences, engine, question, table, text
from plots.figures import drawing
from plots.ledger import claims
from plots.runs import forms, origin
from plots.runs.results import Run
from plots.sheet import quantity, style
from plots.webpage import charts as page_charts, cliffs, costs, figures, heat, ledger, tax

_STATIC = Path(__file__).with_name("static")
_SCRIPTS = ("rank.js", "question.js", "heat.js", "decision.js", "numbers.js", "charts.js")
_OF_THE_GUIDE = ("survival", "costs", "cliffs", "tax")
_SECTIONS = ("answer", *_OF_THE_GUIDE, "claims", "figures")
_AGAIN = ", then make the page of that folder: allocbench report results/mine --html"
_EACH = "Each figure names its device, date and revision."
_FIGURES_PER_LINE = 20  # a page of all papers takes minutes, so its progress has some lines
_EMPTY = {"cases": [], "allocators": [], "floor": 0.0, "band": None, "without": {}, "backend": "", "device": "", "date": "", "revisions": {}}


@dataclass(frozen=True)
class Page:
    text: str
    problems: list[str]  # errors about results that the page does not show


def page_of(runs: Sequence[Run], failures: Sequence[Exception], tell: Callable[[str], None] = lambda progress: None) -> Page:
    """Makes the page. Calls `tell` with a line about each part that takes long."""
    problems = [str(error) for error in failures]
    kept = _of_one_device(runs, problems)
    if not kept:
        raise NothingToDraw("; ".join(problems) or "there is no run to show")
    try:
        guide = table.of(kept)
    except NothingToDraw:
        guide = _EMPTY
    charts: dict[str, dict] = {}
    of_papers = [run for run in kept if not run.name.startswith("guide/")]
    tell(f"judging the claims of {quantity.counted(len(of_papers), 'run')}")
    parts = {
        "answer": _answer(guide),
        "evidence": _evidence(guide, charts),
        "claims": _claims(of_papers, charts),
        "figures": _figures(of_papers, charts, problems, tell),
    }
    return Page(_fill(guide, kept, parts, charts, problems), problems)


def _of_one_device(runs: Sequence[Run], problems: list[str]) -> list[Run]:
    """Returns the runs of one device, because times of different devices cannot be compared.

    It prefers a device with results of the guide, then a GPU, then the device with the most runs. A run without a
    measured cell has no device, and belongs to each device of its back end.
    """
    groups: dict[tuple[str, str], list[Run]] = {}
    for run in runs:
        groups.setdefault(origin.device_of(run), []).append(run)
    if not groups:
        return []
    for key in [key for key in groups if key[1] == origin.NO_DEVICE]:
        of_back_end = [other for other in groups if other[0] == key[0] and other != key]
        for other in of_back_end:
            groups[other] = [run for run in runs if origin.device_of(run) in (key, other)]
        if of_back_end:
            del groups[key]
    first = max(groups, key=lambda key: (any(run.name.startswith("guide/") for run in groups[key]), key[0] == "cuda", len(groups[key])))
    for key, others in groups.items():
        if key != first:
            where = _common_folder(others)
            runs_there = f"{where}: measured" if len(others) == 1 else f"{where}: {len(others)} runs measured"
            problems.append(f"{runs_there} on {key[1]} ({key[0]}), while this page is about {first[1]} ({first[0]}). Left out: give the results of one device.")
    return groups[first]


def _common_folder(runs: Sequence[Run]) -> str:
    folders = [run.folder for run in runs]
    if any(folder.is_absolute() for folder in folders):
        folders = [folder.absolute() for folder in folders]
    return os.path.commonpath(folders)


def _answer(guide: dict) -> str:
    if not guide["cases"]:
        return (
            '<p class="none">Not measured: these results contain no results of the guide. Measure it with <code>allocbench study guide</code> and '
            "make the page again.</p>"
        )
    lines = "".join(f'<p class="none">{html.escape(line + _AGAIN)}</p>' for line in text.other_cards(guide))
    return (_STATIC / "question.html").read_text(encoding="utf-8") + lines


def _evidence(guide: dict, charts: dict) -> str:
    if not guide["cases"]:
        return '<p class="none">Not measured: survival, costs, cliffs and the allocation tax, which need results of the guide.</p>'
    first = max((entry for entry in guide["allocators"] if entry["frees"]), key=lambda entry: entry["survived"][0], default=None)
    options = "".join(f'<option value="{entry["id"]}"{" selected" if entry is first else ""}>{html.escape(entry["name"])}</option>' for entry in guide["allocators"])
    charts |= {f"cliff {name}": chart for name, chart in cliffs.charts_of(guide).items()}
    tax_chart = tax.chart(guide)
    texts = string.Template((_STATIC / "evidence.html").read_text(encoding="utf-8"))
    return texts.substitute(
        heat=heat.section(guide),
        words=", ".join(f"{short}: {word}" for word, short in style.STATUS_SHORT.items()),
        costs=_chart("costs", costs.chart(guide), charts),
        front=costs.front_table(guide),
        setup=_chart("setup", costs.setup_chart(guide), charts),
        options=options,
        tax=_chart("tax", tax_chart, charts),
        taxes=tax.summary(guide),
        when=tax.what_to_use_when(guide),
        letters=forms.lettered(),
        marks=page_charts.marks(),
        floor=f"{guide['floor'] * 1e6:.2g} µs" if guide["floor"] else "not measured",
        band="These results have no intervals (fewer than six rounds)."
        if guide["band"] is None
        else f"Noise band: half of all 95 % intervals are within ±{100 * guide['band']:.2g} %.",
    )


def _chart(name: str, chart: dict | None, charts: dict) -> str:
    if chart is None:
        return '<p class="none">Not measured.</p>'
    charts[name] = chart
    return f'<div class="chart" data-chart="{name}"></div>'


def _claims(runs: Sequence[Run], charts: dict) -> str:
    found = claims.ledger(runs)
    parts = []
    for paper, chart in ledger.charts_of(found).items():
        parts.append(f"<h3>{html.escape(paper)}</h3>{_chart(f'claims {paper}', chart, charts)}")
    return "".join(parts) + ledger.tables(found)


def _figures(runs: Sequence[Run], charts: dict, problems: list[str], tell: Callable[[str], None]) -> str:
    parts: dict[str, list[str]] = {}
    for number, run in enumerate(runs):
        if number % _FIGURES_PER_LINE == 0:
            tell(f"drawing figure {number + 1} of {len(runs)}")
        try:
            made = _figure(run)
        except (NothingToDraw, UsageError) as error:
            problems.append(str(error))
            continue
        if made.chart:
            charts[made.stem] = made.chart
        title = html.escape(origin.title(run))
        parts.setdefault(ledger.titled(run), []).append(
            f'<details class="figure" id="{made.stem}"><summary><b>{html.escape(run.kept_as)}</b> {title}</summary>{made.body}</details>'
        )
    if not parts:
        return '<p class="none">Not measured: no run of a paper\'s figure.</p>'
    return "".join(
        f"<h3>{html.escape(paper)}</h3>{''.join(each)}" for paper, each in sorted(parts.items(), key=lambda part: part[0].startswith("Beyond"))
    )


def _figure(run: Run) -> figures.Figure:
    try:
        return figures.figure_of(run)
    except NothingToDraw:  # the results are older than the current plot of the config
        return figures.figure_of(drawing.read(run.folder))


def _measured(guide: dict, runs: Sequence[Run]) -> str:
    """Returns where and when the results were measured. If runs beside the guide have other dates or revisions, it says so."""
    device = next((name for run in runs if (name := run.device.get("name"))), origin.NO_DEVICE)
    others = [run for run in runs if not run.name.startswith("guide/")]
    dates = sorted({run.date for run in others if run.date})
    if not guide["cases"]:
        told = f"Measured on <b>{html.escape(device)}</b>, {html.escape(dates[0] if len(dates) == 1 else f'{dates[0]} to {dates[-1]}' if dates else 'date unknown')}"
        return f"{told}. {_EACH}" if len({origin.revision(run) for run in others}) > 1 else told
    told = f"Measured on <b>{html.escape(guide['device'])}</b>, {html.escape(guide['date'])}, allocbench {html.escape(table.revisions(guide, ()))}"
    is_alike = all(run.date == guide["date"] and origin.revision(run) in guide["revisions"].values() for run in others)
    return told if is_alike else f"The guide: {told[0].lower()}{told[1:]}. Other runs: {_EACH[0].lower()}{_EACH[1:]}"


def _fill(guide: dict, runs: Sequence[Run], parts: dict[str, str], charts: dict, problems: list[str]) -> str:
    listed = "".join(f"<li>{html.escape(problem)}</li>" for problem in problems)
    engine_numbers = {
        **engine.RULES,
        "as_asked": differences.AS_ASKED,
        "measure_others": text.MEASURE_OTHERS + _AGAIN,
        "step": text.STEP,
        "applications": cases.APPLICATIONS,
        "measure_application": text.MEASURE_APPLICATION + _AGAIN,
        "unsafe": text.UNSAFE,
        "fullest": cases.FULLEST,
        "rounded": question.ROUNDED,
        "lifetimes": cases.LIFETIMES,
        "usual_forms": question.USUAL_FORMS,
        "forms": forms.LETTERS,
        "form_names": {form: forms.shown(form) for form in forms.LETTERS},
        "most_threads": question.MOST_THREADS,
        "families": style.family_names(),
    }
    scripts = "\n".join((_STATIC / name).read_text(encoding="utf-8") for name in _SCRIPTS)
    return string.Template((_STATIC / "page.html").read_text(encoding="utf-8")).substitute(
        style=(_STATIC / "page.css").read_text(encoding="utf-8"),
        measured=_measured(guide, runs),
        nav=" ".join(f'<a href="#{name}">{name}</a>' for name in _SECTIONS if guide["cases"] or name not in _OF_THE_GUIDE),
        banner=f'<p class="warning">{html.escape(origin.CPU_BANNER)}</p>' if runs[0].backend == "cpu" else "",
        problems=f'<section class="problems"><h2>Not shown</h2><ul>{listed}</ul></section>' if listed else "",
        **parts,
        guide=_json(guide),
        settings=_json(engine_numbers),
        charts=_json(charts),
        plotly=_packed_plotly(),
        scripts=scripts,
    )


def _json(data) -> str:
    """Writes JSON without `<`, because `</script>` in a text would end the script element of the page."""
    return json.dumps(data, separators=(",", ":"), ensure_ascii=False, allow_nan=False).replace("<", "\\u003c")


@functools.lru_cache(maxsize=1)
def _packed_plotly() -> str:
    """Returns Plotly's own script in compressed form, so that the page is smaller. The browser decompresses the script
    (static/charts.js).
    """
    return base64.b64encode(gzip.compress(get_plotlyjs().encode(), 9, mtime=0)).decode()
