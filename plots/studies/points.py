"""This module implements `python3 -m plots comb`. It compares one allocator with the best other one at each point of a list, and
decides whether the limit of the point is met.

The list is data (data/comb/points.json). Each point names the config of its cells and the limit. It may also name the
phase, the metric, and the reason why the limit is not met. The numbers come from stored results of one device. A point
without cells is "not measured". Points, like claims, are judged on three or more rounds (few_rounds.py).
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Callable, Sequence

from allocbench.errors import NothingToDraw, UsageError
from plots import ROOT
from plots.ledger import sides
from plots.ledger.effects import Estimate
from plots.runs import few_rounds, labels, origin
from plots.runs.results import TIMES, Run
from plots.sheet import provisional, quantity, style

COMB = ROOT / "data" / "comb" / "points.json"
MET, LOST, OPEN, UNMEASURED = "met", "lost", "cannot tell", "not measured"
_KEYS = {"name", "config", "phase", "limit", "where", "without", "metric", "better", "because"}
_LIMITS = ({"times", "of"}, {"at_most"}, {"at_least"})


@dataclass(frozen=True)
class Place:
    """A place is a point at one setting. `rival` is the best other allocator. `margin` is the value divided by its limit,
    or the inverse for `at_least`. So the limit is met if the interval of `margin` ends at 1 or below.
    """

    at: str
    own: Estimate | None
    rival: str
    theirs: Estimate | None
    margin: Estimate | None
    verdict: str
    why: str = ""

    @property
    def rounds(self) -> int:
        """Returns the fewest rounds of the t intervals behind the verdict, or 0 if there is none."""
        return self.margin.rounds if self.margin else 0

    @property
    def ratio(self) -> Estimate | None:
        return self.own.over(self.theirs) if self.own and self.theirs and self.theirs.number > 0 else None


@dataclass(frozen=True)
class Point:
    name: str
    wanted: str
    metric: str
    unit: str
    places: tuple[Place, ...]
    because: str
    higher: bool = False  # whether more is better

    @property
    def verdict(self) -> str:
        """Returns the first of `lost`, `cannot tell`, `met` and `not measured` that is the verdict of a place."""
        present = {place.verdict for place in self.places}
        return next(word for word in (LOST, OPEN, MET, UNMEASURED) if word in present)

    @property
    def few(self) -> str:
        """Returns how many places were judged on three to five rounds."""
        return few_rounds.sentence([place.rounds for place in self.places])

    def worst(self) -> Place:
        """Returns the place that decides: among the places with the point's verdict, one without a margin, or else the one
        with the largest margin.
        """
        def rank(place: Place):
            return (LOST, OPEN, MET, UNMEASURED).index(place.verdict), -(place.margin.number if place.margin else math.inf)
        return min(self.places, key=rank)

    def worse(self, place: Place) -> Estimate | None:
        """Returns the factor by which the allocator is worse than the best other one at a place, or None if there is no
        factor.
        """
        ratio = place.theirs.over(place.own) if self.higher and place.ratio and place.own.number > 0 else place.ratio
        return ratio if ratio and ratio.number > 0 else None

    def reason(self) -> str:
        return self.because or "Cause not known." if self.verdict == LOST else ""


def read(path: Path = COMB) -> dict:
    """Reads the list of points. Raises UsageError if the file or a point is wrong. The error names the file or the
    point.
    """
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"{path} cannot be read ({error.strerror}). Give a list of points like {COMB}.") from None
    except json.JSONDecodeError as error:
        raise UsageError(f"{path}:{error.lineno} is not JSON ({error.msg}).") from None
    for number, point in enumerate(data["points"]):
        unknown = set(point) - _KEYS
        missing = {"name", "config", "limit"} - set(point)
        if unknown or missing or set(point["limit"]) not in _LIMITS:
            raise UsageError(f"{path}: point {number} ({point.get('name', 'without a name')}) needs name, config and limit ({{times, of}}, "
                             f"{{at_most}} or {{at_least}}); it may have {', '.join(sorted(_KEYS))}.")
    return data


class _Source:
    """A source has the values of one phase and metric of a run. An allocator that never frees is not a rival. A time of a
    cell in which requests got null is no value, as in the ledger.
    """

    def __init__(self, run: Run, point: dict):
        self.run = run
        self.higher = point.get("better") == "higher"
        values = run.at(point.get("phase", ""), point.get("metric", "time"))
        self.unit = values["unit"].iloc[0] if len(values) else ""
        self.readings = {row.Index: _reading(row) for row in values.itertuples() if not (self.unit in TIMES and run.got_null[row.Index])}
        self._rivals = [(cell, run.cells.at[cell, "allocator"], run.cells.at[cell, "axes"]) for cell in self.readings if not run.never_frees(cell)]

    def best(self, axes: dict, wanted: Callable[[str], bool]) -> tuple[str, Estimate | None]:
        """Returns the wanted allocator with the best value at these settings, and this value. If there is no value, returns an
        empty text and None.
        """
        found = [(cell, allocator) for cell, allocator, own in self._rivals
                 if wanted(allocator) and all(own[name] == value for name, value in axes.items() if name in own)]
        if not found:
            return "", None
        choose = max if self.higher else min
        cell, allocator = choose(found, key=lambda pair: self.readings[pair[0]].number)
        return self.run.label(cell) or labels.allocator(self.run, allocator), self.readings[cell]


def _reading(row) -> Estimate:
    """Returns the value of a row with its interval (few_rounds.py)."""
    low, high = (None if math.isnan(bound) else float(bound) for bound in (row.low, row.high))
    return Estimate(float(row.value), low, high, "", sides.rounds_of(row), provisional.FLAG in row.flags, passes=sides.passes_of(row))


def configs_of(data: dict) -> set[str]:
    """Returns the configs of the points, and the configs that limits refer to."""
    others = (point["limit"].get("of") for point in data["points"])
    return {point["config"] for point in data["points"]} | {of["config"] for of in others if isinstance(of, dict) and "config" in of}


def judge(data: dict, runs: Sequence[Run]) -> list[Point]:
    """Returns all points, in the order of the list."""
    wanted = configs_of(data)
    used = [few_rounds.bounded(run) for run in runs if run.name in wanted]
    if not used:
        raise NothingToDraw(f"these runs contain none of the points. Measure them: allocbench study {sorted(wanted)[0].split('/')[0]}")
    origin.require_one_device(used)
    by_name: dict[str, Run] = {}
    for run in used:
        if run.name in by_name:
            raise UsageError(f"{by_name[run.name].folder} and {run.folder} are both runs of {run.name}. Name one of them.")
        by_name[run.name] = run
    return [_judged(point, data["allocator"], by_name) for point in data["points"]]


def _judged(point: dict, allocator: str, runs: dict[str, Run]) -> Point:
    run, unit = runs.get(point["config"]), ""
    places: list[Place] = []
    if run is not None:
        source = _Source(run, point)
        unit = source.unit
        of = point["limit"].get("of")
        elsewhere = runs.get(of["config"]) if isinstance(of, dict) and "config" in of else None
        other = _Source(elsewhere, point) if elsewhere is not None else None
        cells = run.cells.index[run.matching(point.get("where", {})) & (run.cells["allocator"] == allocator)]
        places = [_place(point, source, other, allocator, cell) for cell in cells]
    if not places:
        places = [Place("", None, "", None, None, UNMEASURED)]
    return Point(point["name"], _wanted(point, run), point.get("metric", "time"), unit, tuple(places), point.get("because", ""), point.get("better") == "higher")


def _wanted(point: dict, run: Run | None) -> str:
    """Describes the limit in words."""
    limit = point["limit"]
    if "times" not in limit:
        (word, number), = limit.items()
        return f"{word.replace('_', ' ')} {quantity.formatter(point.get('metric', 'time'), '' if 'metric' in point else 's')(number)}"
    of = limit["of"]
    if of == "best":
        whom = "the best other" + (" that serves all sizes" if point.get("without") else "")
    elif isinstance(of, str):
        whom = labels.allocator(run, of) if run is not None else style.display_name(of)
    elif "config" in of:
        whom = f"its own in {of['config']}"
    else:
        whom = "its own at " + ", ".join(f"{quantity.axis_name(name)} {quantity.formatter(name)(value)}" for name, value in of["where"].items())
    return f"at most {limit['times']:g} × {whom}"


def _place(point: dict, source: _Source, other: _Source | None, allocator: str, cell: str) -> Place:
    run, fixed = source.run, point.get("where", {})
    axes = run.cells.at[cell, "axes"]
    at = ", ".join(labels.setting_of(run, name, value) for name, value in axes.items() if isinstance(fixed.get(name, []), (list, dict)))
    without = {allocator, *point.get("without", ())}
    rival, theirs = source.best(axes, lambda name: name not in without)
    own = source.readings.get(cell)
    if own is None:
        status, reason = run.cells.at[cell, "status"], run.cells.at[cell, "reason"]
        if status == "ok":
            return Place(at, None, rival, theirs, None, *((OPEN, "requests got null") if source.unit in TIMES and run.got_null[cell] else (UNMEASURED, "no such value")))
        return Place(at, None, rival, theirs, None, LOST, f"{status}: {reason.splitlines()[0]}" if reason else status)
    limit, why = _limit(point, source, other, allocator, axes, theirs)
    if limit is None:
        return Place(at, own, rival, theirs, None, OPEN, why)
    margin = limit.over(own) if "at_least" in point["limit"] else own.over(limit)
    if margin.low is None or margin.high is None:
        why = provisional.MEANT if margin.provisional else f"no interval: fewer than {'three' if source.unit in few_rounds.TIMED else 'six'} rounds"
        return Place(at, own, rival, theirs, margin, OPEN, why)
    return Place(at, own, rival, theirs, margin, MET if margin.high <= 1 else LOST if margin.low > 1 else OPEN)


def _limit(point: dict, source: _Source, other: _Source | None, allocator: str, axes: dict, theirs: Estimate | None) -> tuple[Estimate | None, str]:
    """Returns the limit, or the reason why there is none. A value must not exceed its limit. With `at_least` it must
    reach its limit.
    """
    limit = point["limit"]
    if "times" not in limit:
        number = float(next(iter(limit.values())))
        return Estimate(number, number, number, ""), ""
    of = limit["of"]
    if of == "best":
        base, why = theirs, "no other allocator has a number"
    elif isinstance(of, str):
        base, why = source.best(axes, lambda name: name == of)[1], f"{labels.allocator(source.run, of)} has no number"
    else:
        where = source if "where" in of else other
        base = where.best({**axes, **of.get("where", {})}, lambda name: name == allocator)[1] if where else None
        why = "its own value is not measured there"
    return (None, why) if base is None else (base.times(limit["times"]), "")


def written(point: Point, reading: Estimate | None) -> str:
    return "–" if reading is None else provisional.marked(quantity.formatter(point.metric, point.unit)(reading.number), reading.provisional)
