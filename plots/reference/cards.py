"""This module compares two models of cards: how alike they rank allocators, how much faster one is, and which cells change most.

It compares the times of the same cells. A *place* is one phase of a config at equal settings, and its allocators are
ranked. One model may be faster as a whole, so a change is a ratio divided by the median ratio of its config.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Sequence

import pandas

from allocbench.errors import NothingToDraw
from plots.reference import origins
from plots.runs import kept, labels, ranking
from plots.runs.results import Run
from plots.sheet import grid, quantity

NAME = "cards.md"
_FEWEST = 3  # least number of allocators at a place that is ranked
_SHOWN = 20  # number of changes that are listed
_LARGE = 1.5  # factor, in either direction, above which a change is large
_QUARTILES = (0.25, 0.5, 0.75)


@dataclass(frozen=True)
class Comparison:
    """A comparison has the runs of two sides.

    `times` has a row per cell and phase with a time on both sides. `ended` has the cells that are ok on one side only,
    without cells that a side left out.
    `alone` has the configs of one side only.
    """

    sides: tuple[list[Run], list[Run]]
    times: pandas.DataFrame
    ended: pandas.DataFrame
    alone: tuple[list[str], list[str]]


def compare(one: Sequence[Run], other: Sequence[Run]) -> Comparison:
    by_name = [_by_name(runs) for runs in (one, other)]
    shared = [name for name in by_name[0] if name in by_name[1]]
    if not shared:
        raise NothingToDraw("the two folders share no config. Name folders of one group or more that were measured on both models.")
    pairs = [(by_name[0][name], by_name[1][name]) for name in shared]
    times = pandas.concat([_times(*pair) for pair in pairs], ignore_index=True)
    if times.empty:
        raise NothingToDraw("the two folders share no cell with a time. Were the same configs measured with the same seed?")
    times["change"] = times["ratio"] / times.groupby("config")["ratio"].transform("median")
    ended = pandas.concat([_ended(*pair) for pair in pairs], ignore_index=True)
    alone = tuple([name for name in names if name not in shared] for names in by_name)
    return Comparison((list(one), list(other)), times, ended, alone)


def read(folder: Path) -> list[Run]:
    return [kept.read(each.folder) for each in origins.read([str(folder)])]


def _by_name(runs: Sequence[Run]) -> dict[str, Run]:
    """Returns the runs by name. If a config was measured several times, the first run counts."""
    made: dict[str, Run] = {}
    for run in runs:
        made.setdefault(run.name, run)
    return made


def _times(one: Run, other: Run) -> pandas.DataFrame:
    """Returns the times of all phases, for cells that are ok, not provisional and without null returns on both sides.

    The total of several phases is left out, because it follows from them.
    """
    sides = [_of_side(run) for run in (one, other)]
    both = sides[0].join(sides[1], how="inner", lsuffix="_a", rsuffix="_b").reset_index()
    phases = both.groupby("cell")["phase"].transform("nunique")
    both = both[(both["phase"] != "total") | (phases == 1)]
    cells = one.cells.loc[both["cell"]]
    settings = [f"{axes}{parameters}{pool}" for axes, parameters, pool in zip(cells["axes"], cells["workload_parameters"], cells["pool_bytes"])]
    return pandas.DataFrame({
        "group": one.name.partition("/")[0], "config": one.name, "cell": both["cell"], "phase": both["phase"], "place": settings,
        "allocator": cells["allocator"].to_numpy(), "a": both["value_a"], "b": both["value_b"], "ratio": both["value_b"] / both["value_a"],
        "known": (both[["low_a", "high_a", "low_b", "high_b"]].notna().all(axis=1)),
        "told": [_told(one, cell) for cell in both["cell"]]})


def _of_side(run: Run) -> pandas.DataFrame:
    cells = run.cells.index[ranking.rankable(run)]
    values = run.values[(run.values["metric"] == "time") & (run.values["value"] > 0) & run.values["cell"].isin(cells)]
    return values.set_index(["cell", "phase"])[["value", "low", "high"]]


def _told(run: Run, cell: str) -> str:
    """Describes a cell by its allocator and its swept settings."""
    axes = run.cells.at[cell, "axes"]
    settings = [labels.setting_of(run, name, value) for name, value in axes.items()]
    return ", ".join([labels.allocator(run, run.cells.at[cell, "allocator"]), *settings])


def _ended(one: Run, other: Run) -> pandas.DataFrame:
    both = one.cells[["status", "left_out"]].join(other.cells[["status", "left_out"]], how="inner", lsuffix="_a", rsuffix="_b")
    left_out = both["left_out_a"].astype(bool) | both["left_out_b"].astype(bool)
    differ = both[((both["status_a"] == "ok") != (both["status_b"] == "ok")) & ~left_out]
    return pandas.DataFrame({"config": one.name, "a": differ["status_a"].to_numpy(), "b": differ["status_b"].to_numpy(),
                             "told": [_told(one, cell) for cell in differ.index]})


def correlations(times: pandas.DataFrame) -> pandas.DataFrame:
    """Returns Spearman's rank correlation at each place with enough allocators, and whether the same allocator is fastest
    on both sides.
    """
    rows = []
    for (group, config, phase, place), found in times.groupby(["group", "config", "phase", "place"], sort=False):
        if found["allocator"].nunique() < _FEWEST:
            continue
        rank = ranking.correlation(found[["a", "b"]])
        same = found.loc[found["a"].idxmin(), "cell"] == found.loc[found["b"].idxmin(), "cell"]
        rows.append((group, config, phase, len(found), rank, same))
    return pandas.DataFrame(rows, columns=["group", "config", "phase", "allocators", "rank", "same"])


def markdown(found: Comparison) -> str:
    names = [_name(runs) for runs in found.sides]
    ranks = correlations(found.times)
    parts = [f"# What changes between cards: {names[0]} and {names[1]}", _sources(found), "## By group", _groups(found, ranks),
             "## Configs that rank least alike", _least(ranks), "## Largest changes", _EXPLAINED.format(names[1], names[0]), _changes(found.times, names), "## Cells that are ok on one only", _endings(found.ended, names)]
    return "\n\n".join(part.rstrip() for part in parts) + "\n"


_EXPLAINED = ("Ratio: time on {} over time on {}. Change: that ratio divided by the median ratio of the config. Only cells with an interval "
              "on both sides are listed.")


def _name(runs: Sequence[Run]) -> str:
    return ", ".join(sorted({str(run.device.get("name") or "device unknown") for run in runs}))


def _sources(found: Comparison) -> str:
    revisions = [_recorded(runs, "measured_revisions") for runs in found.sides]
    told = [f"{_name(runs)}: measured revision {', '.join(each) or 'unknown'}, cards: {len(_recorded(runs, 'cards')) or 'unknown'}."
            for runs, each in zip(found.sides, revisions)]
    if revisions[0] != revisions[1]:
        told.append("**The measured revisions differ, so a change may come from the sources instead of the card.**")
    told += [f"Only on {_name(runs)}: {', '.join(names)}." for runs, names in zip(found.sides, found.alone) if names]
    return " ".join(told)


def _recorded(runs: Sequence[Run], what: str) -> list[str]:
    return sorted({str(value) for run in runs for value in run.provenance.get(what, [])})


def _groups(found: Comparison, ranks: pandas.DataFrame) -> str:
    rows = []
    for group, times in found.times.groupby("group", sort=False):
        own = ranks[ranks["group"] == group]
        quartiles = [_factor(value) for value in times["ratio"].quantile(list(_QUARTILES))]
        moved = (times["change"].map(math.log).abs() > math.log(_LARGE)).mean()
        rows.append([group, f"{len(times):,}", str(len(own)), _rank(own["rank"].median()), _rank(own["rank"].min()), f"{own['same'].sum()} of {len(own)}",
                     quartiles[1], f"{quartiles[0]} to {quartiles[2]}", f"{100 * moved:.1f} %"])
    return grid.markdown(grid.Grid(("group", "times on both", "places", "rank correlation, median", "least", "same allocator is fastest", "median ratio", "quartiles",
                                    f"change by more than {_LARGE}"), rows))


def _rank(value: float) -> str:
    return "–" if math.isnan(value) else f"{value:.2f}"


def _factor(value: float) -> str:
    return f"{value:.3g}"


def _least(ranks: pandas.DataFrame) -> str:
    by = ranks.groupby(["config", "phase"], sort=False).agg(rank=("rank", "median"), places=("rank", "size"), allocators=("allocators", "max"))
    rows = [[config, phase, _rank(row["rank"]), str(int(row["places"])), str(int(row["allocators"]))]
            for (config, phase), row in by.sort_values("rank", kind="stable").head(_SHOWN // 2).iterrows()]
    return grid.markdown(grid.Grid(("config", "phase", "rank correlation, median", "places", "allocators"), rows, aligned_left=2))


def _changes(times: pandas.DataFrame, names: Sequence[str]) -> str:
    known = times[times["known"]]
    order = known["change"].map(lambda change: -abs(math.log(change))).sort_values(kind="stable").index[:_SHOWN]
    rows = [[row["config"], row["told"], row["phase"], quantity.in_si(row["a"], "s"), quantity.in_si(row["b"], "s"), _factor(row["ratio"]), _factor(row["change"])]
            for _, row in known.loc[order].iterrows()]
    return grid.markdown(grid.Grid(("config", "cell", "phase", *names, "ratio", "change"), rows, aligned_left=3))


def _endings(ended: pandas.DataFrame, names: Sequence[str]) -> str:
    if ended.empty:
        return "None."
    counts = ended.groupby(["config", "a", "b"], sort=False)["told"].agg(["size", "first"])
    rows = [[config, a, b, str(row["size"]), row["first"]] for (config, a, b), row in counts.sort_values("size", ascending=False, kind="stable").iterrows()]
    return grid.markdown(grid.Grid(("config", *names, "cells", "one of them"), rows, aligned_left=3))
