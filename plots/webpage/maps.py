"""This module draws heat maps in an interactive form: the blocks of the static figure, with factors as colours and failures
as words.
"""

from __future__ import annotations

import math

from plots.figures.heatmap import Map
from plots.figures.heatmap_blocks import BLANK, Block, Cell
from plots.sheet import provisional
from plots.webpage import charts

_STRONGEST = 1.5  # number of decades from a factor of 1 to the strongest colour
_ROW, _NAME = 18, 22  # pixels of a row, and of the name above a block
_COLOURS = [[0, "#2166ac"], [0.5, "#e8e8e8"], [1, "#b2182b"]]


def chart(shown: Map) -> dict | None:
    blocks = shown.blocks
    count, longest = len(blocks), max(len(block.rows) for block in blocks)
    data, layout, names = [], {}, []
    for number, block in enumerate(blocks):
        suffix = "" if number == 0 else str(number + 1)
        top = 1 - number / count
        data += [_factors(block, suffix), *_words(block, suffix)]
        # A block has no column names if the block below has the same columns.
        named = number + 1 == count or _columns(block) != _columns(blocks[number + 1])
        layout[f"xaxis{suffix}"] = charts.axis(
            "", anchor=f"y{suffix}", type="category", tickangle=-40, tickfont={"size": 10}, showgrid=False, showticklabels=named, dtick=1
        )
        place = [top - 0.9 / count, top - (_NAME / (_ROW * longest + 100) + 0.02) / count]
        layout[f"yaxis{suffix}"] = charts.axis(
            "", anchor=f"x{suffix}", type="category", autorange="reversed", domain=place, tickfont={"size": 10}, dtick=1, showgrid=False
        )
        if block.title:
            names.append(_name(block.title, top))
    if not any(value is not None for trace in data if trace["type"] == "heatmap" for row in trace["z"] for value in row):
        return None
    return {"data": data, "layout": charts.layout((100 + _ROW * longest) * count, annotations=names, **layout)}


def _columns(block: Block) -> list[str]:
    return [" ".join(part for part in column if part) for column in block.columns]


def _factors(block: Block, suffix: str) -> dict:
    return {
        "type": "heatmap",
        "x": _columns(block),
        "y": [label for label, _ in block.rows],
        "z": [[_decades(cell) for cell in cells] for _, cells in block.rows],
        "text": [["" if cell is None else f"{cell.text}, {provisional.WORD}" if cell.provisional else cell.text for cell in cells] for _, cells in block.rows],
        "hovertemplate": "%{y}<br>%{x}: %{text}<extra></extra>",
        "zmin": -_STRONGEST,
        "zmax": _STRONGEST,
        "colorscale": _COLOURS,
        "showscale": False,
        "xgap": 1,
        "ygap": 1,
        "xaxis": f"x{suffix}",
        "yaxis": f"y{suffix}",
    }


def _decades(cell: Cell | None) -> float | None:
    """Returns the logarithm of the factor, or None for a cell without a factor. The row of a reference has values on a
    white background instead of factors.
    """
    if cell is None or cell.word or cell.colour == BLANK:
        return None
    try:
        value = float(cell.text.replace(",", ""))
    except ValueError:
        return None
    return math.log10(value) if value > 0 else None


def _words(block: Block, suffix: str) -> list[dict]:
    """Returns the text of fields without a colour: the status of a failed cell, or the value of a reference."""
    columns = _columns(block)
    words = [
        (columns[number], label, cell.text)
        for label, cells in block.rows
        for number, cell in enumerate(cells)
        if cell is not None and _decades(cell) is None
    ]
    if not words:
        return []
    return [
        {
            "type": "scatter",
            "mode": "text",
            "x": [x for x, _, _ in words],
            "y": [y for _, y, _ in words],
            "text": [word for _, _, word in words],
            "textfont": {"size": 9},
            "hoverinfo": "text",
            "xaxis": f"x{suffix}",
            "yaxis": f"y{suffix}",
        }
    ]


def _name(title: str, top: float) -> dict:
    return {
        "text": f"<b>{charts.escaped(title)}</b>",
        "showarrow": False,
        "xref": "paper",
        "yref": "paper",
        "x": 0,
        "y": top,
        "xanchor": "left",
        "yanchor": "top",
    }
