"""What all charts of the page share. A chart is Plotly's `data` and `layout` as plain dictionaries; static/charts.js adds the
colours of the page (light or dark) and hides the traces that a filter leaves out."""

from __future__ import annotations

import math

_DECADES = 50  # below this ratio of the ends of an axis
SYMBOLS = {"published": "circle", "reworked": "diamond", "original": "square-open", "own": "triangle-up", "ablation": "x-thin-open"}


def axis(title: str, log: bool = False, values=(), **more) -> dict:
    """Of a logarithmic axis over `values` the decades are named, and 2 and 5 between them where there are few. Numbers with a unit have
    SI prefixes (20 µs), and so have counts; factors below 1 are written out (0.5)."""
    made = {"title": {"text": title, "standoff": 8}, "automargin": True, "zeroline": False, **more}
    positive = [value for value in values if value and value > 0]
    if log:
        few = bool(positive) and max(positive) < _DECADES * min(positive)
        made |= {"type": "log", "dtick": "D2" if few else 1}
    if more.get("ticksuffix") or (log and positive and min(positive) >= 1):
        made |= {"tickformat": "~s", "hoverformat": ".3~s"}
    elif log:
        made |= {"tickformat": ",~r", "hoverformat": ",.3~r"}
    return made


def layout(height: int, **more) -> dict:
    return {
        "height": height,
        "margin": {"l": 10, "r": 10, "t": 24, "b": 10},
        "hovermode": "closest",
        "showlegend": False,
        "font": {"size": 12},
        **more,
    }


def about(entry: dict) -> dict:
    """What filters ask of a trace."""
    return {"allocator": entry["id"], "form": entry["form"], "family": entry["family"]}


def finite(values) -> list:
    """JSON has no NaN."""
    return [None if value is None or (isinstance(value, float) and not math.isfinite(value)) else value for value in values]
