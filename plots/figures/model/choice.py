"""This module selects what a figure shows of a run, as its plot says.

The plot can leave out cells, split phases or a setting into series, and add speed-ups.
"""

from __future__ import annotations

from dataclasses import replace

import pandas

from allocbench.errors import UsageError
from plots.figures.model import series, unfolded
from plots.runs import derived, labels
from plots.runs.results import Run
from plots.sheet import quantity


def shown(run: Run) -> Run:
    run = cells_of(_with_phases_as_series(run))
    if "speed_up" in labels.listed(run.plot.get("metric", "time")):
        run = _with_speed_up(run)
    return _evenly(run)


def cells_of(run: Run) -> Run:
    """Returns the run with the cells that the plot shows, split by parity if the plot says so."""
    return _by_parity(_without(_of_allocators(run)))


def _evenly(run: Run) -> Run:
    """Lists all values of x in `evenly`, if the plot has this key, so that panels with fewer values have the same columns.

    Raises UsageError if the plot also has a key that needs the numbers of x.
    """
    if "evenly" not in run.plot:
        return run
    x, wrong = run.plot["x"], [key for key in ("theory", "positions") if key in run.plot]
    if wrong or "x" in run.plot.get("log", "") or "speed_up" in labels.listed(run.plot.get("metric", "time")):
        raise UsageError(f"{run.folder}: the plot has `evenly`, which takes the scale from {quantity.axis_name(x)}. Remove "
                         f"{f'`{wrong[0]}`' if wrong else 'x from `log`, and speed_up from `metric`'}, or `evenly`.")
    return replace(run, config={**run.config, "plot": {**run.plot, "evenly": sorted(run.column(x).dropna().unique().tolist())}})


def _with_phases_as_series(run: Run) -> Run:
    """Puts the timed phases of the plot into one panel, if the plot has `"phases": "series"`.

    Each cell becomes one cell per phase, and the phase becomes a swept setting.
    """
    if run.plot.get("phases") != "series":
        return run
    made = unfolded.by(run, "phase", {phase: run.values[run.values["phase"] == phase].assign(phase="") for phase in labels.listed(run.plot.get("y", "total"))})
    own = made.settings["phase"]
    details = {cell: {**entry, "phases": [{**each, "name": ""} for each in entry.get("phases", []) if each["name"] == own[cell]]}
               for cell, entry in made.details.items()}
    plot = {**run.plot, "y": "", "marks": [{**mark, "phase": ""} for mark in run.plot.get("marks", [])]}
    return replace(made, details=details, config={**run.config, "plot": plot})


def _of_allocators(run: Run) -> Run:
    """Keeps the allocators that `allocators` names."""
    wanted = run.plot.get("allocators")
    return run.part(run.cells.index[run.cells["allocator"].isin(wanted)]) if wanted else run


def _without(run: Run) -> Run:
    """Leaves out cells with the settings that `without` names."""
    gone = pandas.Series(False, index=run.cells.index)
    for wanted in run.plot.get("without", []):
        gone |= run.matching(wanted)
    return run.part(run.cells.index[~gone]) if gone.any() else run


def _by_parity(run: Run) -> Run:
    """Splits the odd and the even values of the swept count that `parity` names into separate series, or into separate
    panels if `panels` names this count.
    """
    setting = run.plot.get("parity")
    if not setting or setting not in run.settings:
        return run
    words = run.settings[setting].map(lambda value: ("even" if value % 2 == 0 else "odd") + " " + labels.setting_name(run, setting))
    name = f"{setting} parity"
    cells = run.cells.assign(axes=[{**axes, name: word} for axes, word in zip(run.cells["axes"], words)])
    config = run.config
    if run.plot.get("panels") == setting:
        both = [word for start in ("odd", "even") for word in words.unique() if word.startswith(start)]
        config = {**config, "plot": {**run.plot, "panels": name, "panel_names": both}, "sweep": {**config.get("sweep", {}), name: both}}
    return replace(run, cells=cells, settings=run.settings.assign(**{name: words}), config=config)


def _with_speed_up(run: Run) -> Run:
    x = run.plot["x"]
    groups = pandas.Series({cell: number for number, each in enumerate(series.group(run, x)) for cell in each.cells})
    return run.with_values([derived.speed_up(run.values, groups, run.column(x))])
