"""This module makes a figure of the page from a run: a static picture, the numbers, and the commands that make the figure. Line
figures and heatmaps also get an interactive chart.
"""

from __future__ import annotations

import base64
import html
import shlex
from dataclasses import dataclass
from typing import Any, Callable, NamedTuple

import markdown

from plots.figures import drawing, heatmap, lines, status_matrix
from plots.figures.kinds import KINDS
from plots.runs import origin, schema
from plots.runs.results import Run
from plots.sheet import page, style
from plots.webpage import graphs, maps

@dataclass(frozen=True)
class Figure:
    """One figure of the page. `body` is HTML. `chart` is None if the figure has no interactive form."""

    stem: str
    body: str
    chart: dict | None


class Resolved(NamedTuple):
    """A resolved kind makes its static and interactive figures from one model."""

    resolve: Callable[[Run], Any]
    draw: Callable[[Any, str], page.Drawing]
    chart: Callable[[Any], dict | None]  # function that returns None if no cell has a value


INTERACTIVE = {"lines": Resolved(lines.resolve, lines.draw, graphs.chart), "heatmap": Resolved(heatmap.resolve, heatmap.draw, maps.chart)}


def figure_of(run: Run) -> Figure:
    """Makes the figure of a run. It raises the same errors as drawing the run."""
    stem = f"{drawing.stem_of(run.kept_as)}_{run.backend}"
    kind = run.plot.get("kind", "status_matrix")
    if run.plot:
        schema.check(run.plot, run.folder)
    shown = INTERACTIVE[kind].resolve(run) if kind in INTERACTIVE else None
    chart = INTERACTIVE[kind].chart(shown) if shown else None
    made = INTERACTIVE[kind].draw(shown, stem) if shown else KINDS.get(kind, status_matrix.make)(run, stem)
    parts = [f"<p>{html.escape(origin.lines(run)[0])} · {html.escape(run.date)} · {html.escape(origin.revision(run))}</p>", _command(run)]
    if run.backend == "cpu":
        parts.insert(0, f'<p class="warning">{html.escape(origin.CPU_BANNER)}</p>')
    if chart:
        parts.append(f'<div class="chart" data-chart="{stem}"></div>')
        missing = graphs.without_a_value(shown) if kind == "lines" else []
        parts += [f"<p><small>Not in the chart. {html.escape(' '.join(missing))}</small></p>"] if missing else []
    parts.append(
        f'<details class="static" open><summary>static figure</summary><img loading="lazy" alt="{html.escape(origin.title(run))}" src="{_image(run, made)}"></details>'
    )
    numbers = f'<div class="scroll">{markdown.markdown(html.escape(made.markdown, quote=False), extensions=["tables"])}</div>'
    parts.append(f'<details{"" if chart else " open"}><summary>numbers</summary>{numbers}</details>')
    return Figure(stem, "".join(parts), chart)


def _command(run: Run) -> str:
    """Returns the commands that make this figure again: measure, then draw."""
    config = run.run.get("config_path") or f"configs/{run.name}.json"
    if not config.startswith("configs/"):
        config = f"configs/{run.name}.json"
    out = f"results/{run.name.replace('/', '_')}-{run.backend}"
    commands = [
        f"build/bin/allocbench --config {shlex.quote(config)} --backend {run.backend} --out {shlex.quote(out)}",
        f"python3 -m plots {shlex.quote(out)}",
    ]
    return f'<pre class="command">{html.escape(chr(10).join(commands))}</pre>'


def _image(run: Run, made: page.Drawing) -> str:
    """Returns the kept PNG, or draws it if there is none."""
    kept = run.folder / "figures" / f"{made.stem}.png"
    if kept.is_file():
        content = kept.read_bytes()
    else:
        content = made.image("png", style.PNG_DPI // 2).getvalue()
    return f"data:image/png;base64,{base64.b64encode(content).decode()}"
