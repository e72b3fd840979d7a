"""This module prints where the numbers of each group and of all groups come from, and how the cells ended (`python3 -m plots
provenance`).
"""

from __future__ import annotations

from collections import Counter
from typing import Sequence

from allocbench import stored
from plots.reference.origins import ENOUGH, HOLES, Origin, by_study, shown, union
from plots.sheet import grid, quantity

_ORIGIN = ("group", "configs", "measured revisions", "commits", "cards", "models", "drivers", "SM clock, MHz", "measured on", "with changes")
_TOTAL = "all"


def tables(found: Sequence[Origin]) -> str:
    parts = []
    for study, groups in by_study(found).items():
        rows = {**groups, _TOTAL: [run for group in groups.values() for run in group]}
        origin = grid.Grid(_ORIGIN, [_origin(name, group) for name, group in rows.items()], aligned_left=len(_ORIGIN))
        parts += [f"## {shown(study)}", grid.markdown(origin), _ended(rows)]
    return "\n\n".join(part.rstrip() for part in parts) + "\n"


def _origin(name: str, group: Sequence[Origin]) -> list[str]:
    cards, dirty = union(group, "cards"), sum(run.is_dirty for run in group)
    return [name, str(len({run.name for run in group})), _counted(group, "revisions"), ", ".join(union(group, "commits")), str(len(cards)) if cards else "–",
            ", ".join(union(group, "models")), ", ".join(union(group, "drivers")) or "–", ", ".join(union(group, "clocks")) or "–", _dates(group),
            quantity.counted(dirty, "run") if dirty else "none"]


def _counted(group: Sequence[Origin], values: str) -> str:
    counts = Counter(value for run in group for value in getattr(run, values))
    return ", ".join(f"{value} ({count})" if len(counts) > 1 else value for value, count in counts.most_common())


def _dates(group: Sequence[Origin]) -> str:
    dates = union(group, "dates")
    return " to ".join(dict.fromkeys((dates[0], dates[-1]))) if dates else "unknown"


def _ended(rows: dict[str, list[Origin]]) -> str:
    words = [word for word in stored.STATUSES if any(run.statuses[word] for run in rows[_TOTAL])]
    header = ["group", "cells", *words, f"share of {', '.join(HOLES)}", "deadline in verification", "left out", f"fewer than {ENOUGH} rounds"]
    return grid.markdown(grid.Grid(header, [_counts(name, group, words) for name, group in rows.items()]))


def _counts(name: str, group: Sequence[Origin], words: Sequence[str]) -> list[str]:
    cells, holes = sum(len(run.cells) for run in group), sum(run.holes for run in group)
    numbers = [cells, *(sum(run.statuses[word] for run in group) for word in words)]
    more = [sum(getattr(run, what) for run in group) for what in ("late_verifications", "left_out", "few_rounds")]
    return [name, *(f"{number:,}" for number in numbers), f"{100 * holes / cells:.1f} %", *(f"{number:,}" for number in more)]


def summary(problems: Sequence[str]) -> str:
    """Lists the problems that keep the runs from being one reference study."""
    return "\n".join([*(f"- {problem}" for problem in problems), "", f"{quantity.counted(len(problems), 'problem')}: not yet one study. {_WANTED}"])


_WANTED = (f"One study has one measured revision without uncommitted changes, one card per config, one model per group, results of every config, {ENOUGH} rounds where "
           f"sentences or points are judged, and at most 3 % of cells that end with {', '.join(HOLES[:-1])} or {HOLES[-1]}.")
