"""Every figure of every paper: interactive, beside the static one, with the paper's own values and the commands that make it again."""

from __future__ import annotations

import base64
import html
import io
import shlex
from dataclasses import dataclass

import markdown
import matplotlib

from plots import choice, drawing, labels, origin, page, quantity, schema, series, stated, status_matrix, style
from plots.kinds import KINDS
from plots.results import Run
from plots.webpage import charts, maps

_DASHES = {"full": "solid", "left": "dash", "none": "dot", "top": "dashdot", "right": "longdash", "bottom": "longdashdot"}


@dataclass(frozen=True)
class Figure:
    """One figure: `body` is HTML; `chart` is None where it is a table of words."""

    run: Run
    stem: str
    body: str
    chart: dict | None


def figure_of(run: Run) -> Figure:
    """Raises what drawing the run raises."""
    stem = f"{drawing.stem_of(run.kept_as)}_{run.backend}"
    kind = run.plot.get("kind", "status_matrix")
    if run.plot:
        schema.check(run.plot, run.folder)
    shown = choice.shown(run)
    chart = _lines(shown) if kind == "lines" else maps.chart(shown) if kind == "heatmap" else None
    made = (KINDS[kind] if kind in KINDS else status_matrix.make)(run, stem)
    parts = [f"<p>{html.escape(origin.lines(run)[0])} · {html.escape(run.date)} · {html.escape(origin.revision(run))}</p>", _command(run)]
    if run.backend == "cpu":
        parts.insert(0, f'<p class="warning">{html.escape(origin.CPU_BANNER)}</p>')
    if chart:
        parts.append(f'<div class="chart" data-chart="{stem}"></div>')
    parts.append(
        f'<details class="static" open><summary>static figure</summary><img loading="lazy" alt="{html.escape(origin.title(run))}" src="{_image(run, made)}"></details>'
    )
    numbers = f'<div class="scroll">{markdown.markdown(html.escape(made.markdown, quote=False), extensions=["tables"])}</div>'
    parts.append(f'<details{"" if chart else " open"}><summary>numbers</summary>{numbers}</details>')
    return Figure(run, stem, "".join(parts), chart)


def _command(run: Run) -> str:
    """What a reader types to make this figure again: measure, then draw."""
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
    """The kept PNG where there is one, else drawn now."""
    kept = run.folder / "figures" / f"{made.stem}.png"
    if kept.is_file():
        content = kept.read_bytes()
    else:
        file = io.BytesIO()
        with matplotlib.rc_context(style.RC):
            made.page.figure.savefig(file, format="png", dpi=style.PNG_DPI // 2)
        content = file.getvalue()
    return f"data:image/png;base64,{base64.b64encode(content).decode()}"


def _lines(run: Run) -> dict | None:
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
        for each in drawn:
            if len(each.drawn()):
                data.append(_series(run, each, suffix, each.label not in known, bool(words) or not plot.get("joined", True)))
                known.add(each.label)
        data += _stated(panel, x, suffix, known)
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
    x_axis = charts.axis(labels.setting_name(run, run.plot["x"]), "x" in log and not words, _values(drawn, "x"), domain=place, anchor=f"y{suffix}")
    if words:
        x_axis |= {"tickvals": list(range(len(words))), "ticktext": words}
    unit = panel.run.unit_of(panel.phase, panel.metric)
    y_axis = charts.axis(
        quantity.metric_name(panel.metric) if panel.column == 0 else "",
        "y" in log,
        _values(drawn, "value"),
        domain=[top - 0.8 * height, top - 0.06 * height],
        anchor=f"x{suffix}",
        ticksuffix=unit if unit in ("s", "op/s") else "",
        exponentformat="SI",
    )
    return {f"xaxis{suffix}": x_axis, f"yaxis{suffix}": y_axis}


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
        "meta": {"allocator": each.allocator, "form": form, "family": style.family(each.allocator)},
        "x": charts.finite(points["x"]),
        "y": charts.finite(points["value"]),
        "xaxis": f"x{suffix}",
        "yaxis": f"y{suffix}",
        "line": {"color": each.look.colour, "dash": _DASHES.get(each.look.fill, "solid"), "width": 1.6},
        "marker": {"color": each.look.colour, "symbol": charts.SYMBOLS.get(form, "circle"), "size": 6},
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


def _stated(panel: series.Panel, x: str, suffix: str, known: set[str]) -> list[dict]:
    """The paper's own values, as stars."""
    made = []
    for mark in stated.marks(panel.run, x, panel.phase, panel.metric):
        name = f"paper: {mark.source}"
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
            }
        )
        known.add(name)
    return made
