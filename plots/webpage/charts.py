"""This module makes the parts that all charts of the page share.

A chart consists of Plotly's `data` and `layout` as plain dictionaries. static/charts.js adds the colours of the page
(light or dark) and hides the traces that a filter leaves out.
"""

from __future__ import annotations

import html
import math

from plots.runs import forms
from plots.sheet import provisional, quantity, style

_DECADES = 50  # ratio of the ends of an axis below which 2 and 5 are labelled too
_CLOSE = 4     # ratio below which every digit is labelled
SYMBOLS = {"published": "circle", "reworked": "diamond", "original": "square-open", "own": "triangle-up", "ablation": "x-thin-open"}

HOVER = "%{text}"  # Plotly adds the name of the line to this hover text

_SHAPES = {"circle": "circle", "diamond": "diamond", "square-open": "open square", "triangle-up": "triangle", "x-thin-open": "thin cross"}


def escaped(text: str) -> str:
    """Escapes a text of a chart. Quotes stay, because Plotly shows `&quot;` literally."""
    return html.escape(text, quote=False)


def marks() -> str:
    """Returns the key of the markers as one sentence."""
    return "The mark shows the form: " + ", ".join(f"{_SHAPES[symbol]} {forms.shown(form)}" for form, symbol in SYMBOLS.items()) + f". Hollow with a dot: {provisional.MEANT}."


def markers(symbol: str, hollow: list[bool]) -> str | list[str]:
    """Returns the markers of points in their order. A provisional point has a hollow mark with a dot, because originals
    are hollow too.
    """
    dotted = f"{symbol.removesuffix('-open').removesuffix('-thin')}-open-dot"
    return [dotted if each else symbol for each in hollow] if any(hollow) else symbol


def axis(title: str, log: bool = False, values=(), factors: bool = False, unit: str = "", **more) -> dict:
    """Returns the layout of an axis.

    A logarithmic axis over `values` labels the decades, and also 2 and 5 if the ends differ by less than the factor
    _DECADES. Times and counts that differ by less than the factor _CLOSE have a label at every digit. The labels of
    times and counts have SI prefixes (20 µs, 100 k). Those of factors are written in full (0.5, 1,000).
    """
    made = {"title": {"text": title, "standoff": 8}, "automargin": True, "zeroline": False}
    positive = [value for value in values if value and value > 0]
    if log:
        made |= {"type": "log", "dtick": 1, "tickformat": ",~r"}
        if positive and (unit or (not factors and min(positive) >= 1)):  # Plotly would write 20µs
            made |= _named(min(positive), max(positive), unit)
        elif positive and max(positive) < _DECADES * min(positive):
            made["dtick"] = "D2"
    else:
        made |= {"separatethousands": True, "exponentformat": "none"}
    return made | more


def _named(low: float, high: float, unit: str) -> dict:
    """Returns labels on a logarithmic axis with their unit: the decades, also 2 and 5 below a factor of _DECADES, or every
    digit below a factor of _CLOSE.
    """
    digits = range(1, 10) if high < _CLOSE * low else (1, 2, 5) if high < _DECADES * low else (1,)
    decades = range(math.floor(math.log10(low)) - 1, math.ceil(math.log10(high)) + 2)
    places = [float(f"{digit}e{decade}") for decade in decades for digit in digits]
    return {"tickvals": places, "ticktext": [quantity.in_si(place, unit) for place in places]}


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
    """Returns the data by which filters select a trace."""
    return {"allocator": entry["id"], "form": entry["form"], "family": entry["family"]}


def in_families(data: list[dict]) -> list[dict]:
    """Colours marks by family, with one legend entry per family, because there are too many allocators for distinct
    colours.
    """
    names, key = style.family_names(), {}
    for trace in data:
        if "meta" not in trace:
            continue
        family = trace["meta"]["family"]
        trace["marker"]["color"] = style.family_colour(family, style.GREY)
        trace |= {"legendgroup": f"family {family}", "showlegend": False}
        key[family] = {**trace, "name": names.get(family, "others"), "x": [None], "y": [None], "showlegend": True, "hoverinfo": "skip",
                       "marker": {"color": trace["marker"]["color"], "symbol": "circle", "size": 9}}
        for own in ("meta", "text", "hovertext", "hovertemplate"):
            key[family].pop(own, None)
    return data + [key[family] for family in (*names, "") if family in key]


def legend(below: float) -> dict:
    """Returns a legend for a layout. `below` is the distance below the axes, as a share of their height."""
    return {"showlegend": True, "legend": {"orientation": "h", "y": -below, "yanchor": "top"}}


def finite(values) -> list:
    """Replaces NaN and infinity by None, because JSON has neither."""
    return [None if value is None or (isinstance(value, float) and not math.isfinite(value)) else value for value in values]
