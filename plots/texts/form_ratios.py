"""This module writes tables that compare our forms with the authors' code: the time of a form divided by that of its original, by
phase.

* `<!--table forms RUN-->` uses originals of the same run (`<id>_original`; for ScatterAlloc its maintained successor).
* `<!--table forms RUN,RUN FILE-->` uses originals that were measured separately, from data/originals/FILE. It shows
  only cells with the settings of this file.

Values outside of the wanted range are bold. A published form should take 0.67 to 1.5 times the original's time. A
reworked form should take at most the original's time. If the original takes less than 15 us, the limit is 1/0.97 times
its time. A `~` marks a ratio of a provisional time, which is not judged.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Callable, Iterator

from allocbench.errors import UsageError
from plots.ledger import originals
from plots.runs import forms, kept, labels
from plots.runs.results import Run
from plots.sheet import grid, provisional, quantity

_BAND = (0.67, 1.5)
_SHORT = 15e-6
# These pairs run the same few instructions, so their ratio shows how the two ways of measuring differ.
_YARDSTICKS = {"atomic_malloc": "bump"}
# These forms are compared with adapters of mallocMC, the maintained successor of the original.
_HEIRS = {"scatteralloc": "mallocmc", "scatteralloc_no_coalescing": "mallocmc_no_coalescing"}
_PHASES = ("alloc", "free")


@dataclass(frozen=True)
class _Cell:
    status: str
    provisional: bool
    seconds: dict[str, float]  # seconds, by phase


@dataclass(frozen=True)
class _Time:
    seconds: float
    provisional: bool


# Returns the time of an allocator's original in a phase at a point, or None if it has no time.
_Theirs = Callable[[str, str, str], _Time | None]


def table(runs: str, data: str = "") -> grid.Grid:
    ours: dict[str, dict[str, _Cell]] = {}
    table_of_file = originals.read(data) if data else None
    order = []
    for name in runs.split(","):
        run = kept.run(name)
        order += [allocator for allocator in run.allocators() if allocator not in order]
        for allocator, point, cell in _cells(run, table_of_file):
            ours.setdefault(allocator, {})[point] = cell
    theirs = _separate(table_of_file) if table_of_file else _beside(ours)
    return _written({name: ours[name] for name in order if name in ours}, theirs)


def _cells(run: Run, data: dict | None) -> Iterator[tuple[str, str, _Cell]]:
    where = {**data["settings"], "request_bytes": data["request_bytes"]} if data else {}
    chosen = run.cells.loc[run.matching(where)]
    seconds = {phase: run.at(phase, "time")["value"] for phase in _PHASES}
    for cell, about in chosen.iterrows():
        point = quantity.in_bytes(run.settings.at[cell, "request_bytes"]) if data else _point(run, about["axes"])
        yield about["allocator"], point, _Cell(about["status"], about["provisional"], {phase: times[cell] for phase, times in seconds.items() if cell in times.index})


def _point(run: Run, axes: dict) -> str:
    return ", ".join(quantity.in_bytes(value) if name.endswith("_bytes") else f"{labels.setting_name(run, name)} {value}"
                     for name, value in axes.items())


def _beside(ours: dict[str, dict[str, _Cell]]) -> _Theirs:
    """Returns the function that finds the times of originals in the same runs. An original has no parameters, so it
    applies to all labels of an id.
    """

    def time(name: str, point: str, phase: str) -> _Time | None:
        base = name.partition("(")[0]
        original = forms.in_form(_HEIRS.get(base, base), forms.ORIGINAL)
        cell = ours.get(original, {}).get(point, _Cell("", False, {}))
        return _Time(cell.seconds[phase], cell.provisional) if phase in cell.seconds else None

    return time


def _separate(data: dict) -> _Theirs:
    places = {quantity.in_bytes(size): place for place, size in enumerate(data["request_bytes"])}

    def time(name: str, point: str, phase: str) -> _Time | None:
        times = data["allocators"].get(_YARDSTICKS.get(name, name), {}).get(phase)
        return None if times is None or times[places[point]] is None else _Time(times[places[point]] * 1e-6, False)

    return time


def _written(ours: dict[str, dict[str, _Cell]], theirs: _Theirs) -> grid.Grid:
    points = list(dict.fromkeys(point for cells in ours.values() for point in cells))
    columns = [(phase, point) for phase in _PHASES for point in points]
    rows = []
    for allocator, cells in ours.items():
        form = forms.form_of(allocator)
        base = allocator.removesuffix("_reworked") if form == forms.REWORKED else allocator
        if form == forms.ORIGINAL or not any(cell.status != "skipped" and theirs(base, point, phase) is not None
                                             for phase in _PHASES for point, cell in cells.items()):
            continue
        rows.append([f"`{allocator}`", *(_compared(form, cells.get(point), phase, theirs(base, point, phase)) for phase, point in columns)])
    if not rows:
        raise UsageError("these runs have no form whose original was measured.")
    return grid.Grid(["form", *(f"{phase} {point}" for phase, point in columns)], rows)


def _compared(form: str, cell: _Cell | None, phase: str, original: _Time | None) -> str:
    if original is None:
        return "–"
    if cell is None:
        return "not measured"
    if phase not in cell.seconds:
        return cell.status
    ratio = cell.seconds[phase] / original.seconds
    asked = _BAND if form == forms.PUBLISHED else (0, 1 / 0.97 if original.seconds < _SHORT else 1)
    # The rounded value is judged, because readers see this value.
    written = f"{ratio:.2f}" if ratio >= 0.01 else "<0.01"
    if cell.provisional or original.provisional:
        return provisional.marked(written, True)
    return written if asked[0] <= float(f"{ratio:.2f}") <= float(f"{asked[1]:.2f}") else f"**{written}**"
