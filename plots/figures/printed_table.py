"""This module draws the figure kind `printed_table`: a table of facts that a paper states.

With `devices`, it also lists the devices of our own results. The config alone is enough to draw the table.
"""

from __future__ import annotations

from pathlib import Path
from typing import Sequence

import matplotlib

from plots.runs import configs
from plots.runs.results import Run
from plots.sheet import grid, quantity, style
from plots.sheet.page import Drawing, Heading


def make_of_config(path: Path, runs: Sequence[Run], stem: str) -> Drawing:
    config = configs.read(path)
    plot = config["plot"]
    own = _devices(runs) if plot.get("devices") else []
    rows = [list(row) for row in plot["rows"]] + own
    if plot.get("devices"):
        made_of = f"Below the paper's rows: {quantity.counted(len(own), 'device')} of {quantity.counted(len(runs), 'run')}."
    else:
        made_of = "Facts from the paper; nothing is measured."
    heading = Heading(config.get("description", config["name"]),
                      f"{config.get('paper', '')} · {config['name']}".strip(" ·"), tuple(plot.get("notes", [])),
                      (made_of,))
    shown = grid.Grid(plot["columns"], rows, aligned_left=len(plot["columns"]))
    with matplotlib.rc_context(style.RC):
        page = grid.draw(heading, [shown])
    return Drawing(stem, page, heading.markdown([grid.markdown(shown)]))


def _devices(runs: Sequence[Run]) -> list[list[str]]:
    """Returns one row per device and software, in the order of the runs."""
    return [list(row) for row in dict.fromkeys(_row(run) for run in runs)]


def _row(run: Run) -> tuple[str, ...]:
    device, host = run.device, run.run.get("host") or {}
    software = device.get("toolkit") or "unknown"
    if run.backend == "cuda":
        driver = device.get("driver_version") or device.get("driver")
        software += f", driver {driver}" if driver else ""
        multiprocessors = device.get("sm_count")
        cores = f"{multiprocessors} multiprocessors" if multiprocessors else "unknown"
        return "allocbench", device.get("name") or "unknown", "GPU", cores, software
    return ("allocbench", host.get("cpu") or device.get("name") or "unknown", "CPU", str(host.get("num_cpus", "unknown")),
            f"CPU executor, {software}")
