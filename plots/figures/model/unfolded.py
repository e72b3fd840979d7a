"""This module turns each cell of a run into several cells: one per word of a new swept setting. So phases become series, and metrics
become columns.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Mapping

import pandas

from plots.runs.results import Run


def by(run: Run, setting: str, values: Mapping[str, pandas.DataFrame]) -> Run:
    """Returns the run with one cell per cell and word. `values` has the words, with the values that their cells show.

    A new cell also keeps the counters of the old cell (metrics without a phase) and its entry of results.json.
    """
    counters = run.values[run.values["phase"] == ""]
    cells, settings, shown, details = [], [], [], {}
    for word, own in values.items():
        ids = {cell: f"{cell} {word}" for cell in run.cells.index}
        cells.append(run.cells.assign(axes=[{**axes, setting: word} for axes in run.cells["axes"]]).rename(index=ids))
        settings.append(run.settings.assign(**{setting: word}).rename(index=ids))
        shown += [each.assign(cell=each["cell"].map(ids)) for each in (own, counters)]
        details |= {ids[cell]: run.details[cell] for cell in run.cells.index if cell in run.details}
    return replace(run, cells=pandas.concat(cells), settings=pandas.concat(settings), values=pandas.concat(shown, ignore_index=True), details=details)
