"""This module writes a table of times, with allocators as rows and chosen cells of runs as columns.

    <!--table times h200/current2026/sizes:alloc:threads=1048576,request_bytes=128 h200/current2026/index:build:keys=524288,keys_per_bucket=14-->

Each word names a run, a phase and settings that leave one cell per allocator. A cell without a time shows its status. A
provisional time has a `~`.
"""

from __future__ import annotations

from allocbench.errors import UsageError
from plots.runs import kept, labels, results
from plots.sheet import grid, provisional, quantity, style


def table(*columns: str) -> grid.Grid:
    heads: list[str] = []
    rows: dict[tuple[str, str], dict[int, str]] = {}
    for number, column in enumerate(columns):
        run, phase, settings = _parsed(column)
        heads.append(f"{run.name.split('/')[-1]}: {phase}, " + ", ".join(labels.setting_of(run, *each) for each in settings.items()))
        texts = _column(run, phase, settings, column)
        for allocator in run.allocators():
            if allocator in texts:
                rows.setdefault((allocator, labels.allocator(run, allocator)), {})[number] = texts[allocator]
    if not rows:
        raise UsageError("table times needs at least one column: RUN:PHASE:SETTING=VALUE,...")
    return grid.Grid(["allocator", *heads], [[name, *(texts.get(number, "–") for number in range(len(heads)))] for (_, name), texts in rows.items()])


def _parsed(column: str) -> tuple[results.Run, str, dict[str, float]]:
    parts = column.split(":")
    if len(parts) != 3 or not all("=" in each for each in parts[2].split(",")):
        raise UsageError(f"{column} is not a column of table times. Allowed: RUN:PHASE:SETTING=NUMBER,...")
    run = kept.run(parts[0])
    settings = dict(each.split("=", 1) for each in parts[2].split(","))
    for name in settings:
        if name not in run.settings:
            raise UsageError(f"the run {run.name} has no setting {name!r}. It has: {', '.join(sorted(run.settings))}.")
    try:
        return run, parts[1], {name: float(value) for name, value in settings.items()}
    except ValueError:
        raise UsageError(f"{column} is not a column of table times: a setting has no number. Allowed: RUN:PHASE:SETTING=NUMBER,...") from None


def _column(run: results.Run, phase: str, settings: dict[str, float], column: str) -> dict[str, str]:
    chosen = run.cells.loc[run.matching(settings)]
    if chosen.empty or chosen["allocator"].duplicated().any():
        raise UsageError(f"{column}: {len(chosen)} cells have these settings; a table needs one for each allocator.")
    times = run.at(phase, "time")["value"]
    return {about["allocator"]: provisional.marked(quantity.in_si(float(f"{times[cell]:.2g}"), "s"), about["provisional"]) if cell in times.index
            else style.NOT_MEASURED if about["left_out"] else about["status"] for cell, about in chosen.iterrows()}
