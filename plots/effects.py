"""The numbers that claims are about: ratios, growth, steps, crossings, values, shares, nearness to theory and how well one
metric explains another, with intervals.

Every effect gives estimates, one per place: a number between two bounds that follow from the 95 % intervals stored with
the results. The bounds of a ratio are its smallest and largest value within both intervals, which is wider than 95 %.
"""

from __future__ import annotations

import itertools
import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Callable, Collection, Sequence

import numpy
import pandas
import scipy.stats

from allocbench.errors import UsageError
from plots import curves, forms, labels, quantity
from plots.results import Run
from plots.series import moving_with

CONFIGS = Path(__file__).resolve().parents[1] / "configs"
_TIMES = ("s", "op/s", "B/s", "cycles")  # units of what varies from sample to sample


@dataclass(frozen=True)
class Estimate:
    number: float
    low: float | None   # None where fewer than three samples gave no interval
    high: float | None
    place: str


@dataclass
class Found:
    """The estimates of an effect, and what it could not use."""

    estimates: list[Estimate]
    without_value: int = 0
    compared: int = 0   # points at which a crossing looked at both series
    unit: str = ""      # of the numbers
    metric: str = ""    # that they are values of; empty for ratios and the like


@dataclass(frozen=True)
class _Side:
    """Which cells one side of an effect takes, and which of their values."""

    allocators: tuple[str, ...]
    where: dict
    phase: str
    metric: str


class FormNotMeasured(Exception):
    """The run has another form of an allocator than the one that the claim is about."""


def kind_of(claim: dict) -> str:
    return next(kind for kind in KINDS if kind in claim)


def find(run: Run, claim: dict) -> Found:
    """The estimates of the effect that the claim names. Raises FormNotMeasured."""
    kind = kind_of(claim)
    return KINDS[kind](run, claim[kind], claim.get("where", {}))


def known_to(run: Run) -> set[str]:
    """Ids and labels that a claim about the run may name."""
    return {*run.allocators(), *(entry["id"] if isinstance(entry, dict) else entry for entry in run.config.get("allocators", []))}


def _planned(name: str) -> set[str]:
    """The allocators of the config of that name, which may be younger than the results."""
    path = CONFIGS / f"{name}.json"
    config = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    return {entry["id"] if isinstance(entry, dict) else entry for entry in config.get("allocators", [])}


def statuses(run: Run, claim: dict) -> list[str]:
    """How the cells that the claim is about ended where they gave no number, most frequent first."""
    kind = kind_of(claim)
    sides = [_side(run, claim[kind][key], claim[kind], claim.get("where", {})) for key in ("of", "to", "over") if key in claim[kind]]
    ended = pandas.concat([_cells(run, side) for side in sides])["status"]
    return list(ended[ended != "ok"].value_counts().index)


def _side(run: Run, given, effect: dict, where: dict) -> _Side:
    """An allocator, a list of them, or an object with `allocator`, `where`, `phase` and `metric`."""
    given = given if isinstance(given, dict) else {"allocator": given}
    names = given.get("allocator", [name for name in run.allocators() if forms.form_of(name) == forms.PUBLISHED])
    names = [names] if isinstance(names, str) else names
    if not names:
        raise FormNotMeasured
    known = known_to(run)
    for name in names:
        if name not in known:
            if name in _planned(run.name) or any(forms.in_form(name, form) in known for form in (forms.REWORKED, forms.ORIGINAL)):
                raise FormNotMeasured(name)
            raise UsageError(f"{run.name}: a claim is about {name!r}, which the run does not have. It has: "
                             f"{', '.join(sorted(known))}.")
    return _Side(tuple(names), {**where, **given.get("where", {})},
                 given.get("phase", effect.get("phase", _only(run.plot.get("y", "total")))),
                 given.get("metric", effect.get("metric", _measured(_only(run.plot.get("metric", "time"))))))


def _only(listed) -> str:
    return listed if isinstance(listed, str) else listed[0]


def _along(run: Run, effect: dict) -> str:
    return effect.get("along") or _only(run.plot.get("x", ""))


def _measured(metric: str) -> str:
    """What a figure relates to something else; claims relate it themselves."""
    return "throughput" if metric == "speed_up" else metric.removeprefix("relative_")


def matching(run: Run, where: dict) -> pandas.Series:
    """Which cells have the settings wanted: a value, one of a list, or one between bounds."""
    def fits(value, wanted) -> bool:
        if isinstance(wanted, dict):
            return value is not None and wanted.get("from", -math.inf) <= value <= wanted.get("to", math.inf)
        return value in wanted if isinstance(wanted, list) else value == wanted

    chosen = pandas.Series(True, index=run.cells.index)
    for name, wanted in where.items():
        chosen &= pandas.Series([fits(value, wanted) for value in run.column(name)], index=run.cells.index)
    return chosen


def _cells(run: Run, side: _Side) -> pandas.DataFrame:
    """The cells of a side in the order of its allocators, with the value of each (NaN where it has none) and its bounds."""
    cells = run.cells.loc[matching(run, side.where), ["allocator", "axes", "status"]].rename_axis("cell").reset_index()
    values = run.at(side.phase, side.metric)[["value", "low", "high", "unit"]]
    cells = cells.join(values, on="cell")
    # Counts are what they are; a time without an interval has no bounds.
    exact = cells["low"].isna() & ~cells["unit"].isin(_TIMES)
    cells.loc[exact, "low"] = cells.loc[exact, "high"] = cells["value"]
    ordered = [cells[cells["allocator"] == name] for name in side.allocators]
    return pandas.concat(ordered, ignore_index=True)


def _bounds(row) -> tuple[float | None, float | None]:
    return None if math.isnan(row.low) else row.low, None if math.isnan(row.high) else row.high


def _place(run: Run, rows: Sequence, axes: Sequence[str]) -> str:
    names = " to ".join(dict.fromkeys(labels.allocator(run, row.allocator) for row in rows))
    told = [f"{quantity.axis_name(name)} {_written(name, run.settings.at[rows[0].cell, name])}" for name in axes]
    return ", ".join([names, *told])


def _written(name: str, value) -> str:
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return quantity.formatter(name)(value) if is_number else str(value)


def _axes(row, without: Collection[str] = ()) -> list[str]:
    return [name for name in row.axes if name not in without]


def _divided(of, to, place: str) -> Estimate | None:
    """The quotient of the values of two rows; None where one of them has none."""
    if math.isnan(of.value) or not to.value > 0:
        return None
    (low, high), (least, most) = _bounds(of), _bounds(to)
    bounded = None not in (low, high, least, most) and least > 0
    return Estimate(of.value / to.value, low / most if bounded else None, high / least if bounded else None, place)


def _ratio(run: Run, effect: dict, where: dict) -> Found:
    """Values of one side over those of the other, at equal settings but for the ones that a side fixes for itself. Every
    allocator of one side meets every one of the other; where both sides name the same ones, each meets itself."""
    of, to = (_side(run, effect[key], effect, where) for key in ("of", "to"))
    fixed = {name for name in {**of.where, **to.where} if of.where.get(name) != to.where.get(name)}
    itself = of.allocators == to.allocators

    def keyed(side: _Side) -> pandas.DataFrame:
        cells = _cells(run, side)
        keys = [(row.allocator if itself else "", *sorted((name, str(run.settings.at[row.cell, name])) for name in _axes(row, fixed)))
                for row in cells.itertuples()]
        return cells.assign(key=keys)

    upper, lower = keyed(of), keyed(to)
    partners = {key: list(rows.itertuples()) for key, rows in lower.groupby("key", sort=False)}
    found = Found([])
    for row in upper.itertuples():
        for other in partners.get(row.key, []):
            if row.cell == other.cell and of == to:
                continue
            place = ", ".join([_place(run, (row, other), _axes(row, fixed)), *_told(run, row, other, fixed)])
            estimate = _divided(row, other, place)
            if estimate is None:
                found.without_value += 1
            else:
                found.estimates.append(estimate)
    return found


def _told(run: Run, row, other, fixed: Collection[str]) -> list[str]:
    """The settings in which the two sides of a ratio differ."""
    pairs = [(name, run.settings.at[row.cell, name], run.settings.at[other.cell, name]) for name in row.axes if name in fixed]
    return [f"{quantity.axis_name(name)} {_written(name, mine)} to {_written(name, theirs)}" for name, mine, theirs in pairs
            if mine != theirs]


def _lines(run: Run, side: _Side, along: str, found: Found) -> list[list]:
    """The rows of each series along a swept setting and what is zipped with it, in growing order; those without a value are
    counted and left out."""
    cells = _cells(run, side)
    found.without_value += int(cells["value"].isna().sum())
    lines: dict[tuple, list] = {}
    moving = moving_with(run, along)
    for row in cells[cells["value"].notna()].itertuples():
        key = (row.allocator, *(str(run.settings.at[row.cell, name]) for name in _axes(row, moving)))
        lines.setdefault(key, []).append(row)
    position = run.column(along)
    return [sorted(rows, key=lambda row: position[row.cell]) for rows in lines.values()]


def _growth(run: Run, effect: dict, where: dict) -> Found:
    """The exponent k of the power x^k that fits a series best: 0 is flat, 1 is linear."""
    along = _along(run, effect)
    side, found = _side(run, effect["of"], effect, where), Found([])
    position = run.column(along)
    for rows in _lines(run, side, along, found):
        points = [row for row in rows if position[row.cell] > 0 and row.value > 0]
        if len(points) < 3:
            continue
        xs = [math.log(position[row.cell]) for row in points]
        mean = sum(xs) / len(xs)
        weights = [(x - mean) / sum((each - mean) ** 2 for each in xs) for x in xs]
        exponent = sum(weight * math.log(row.value) for weight, row in zip(weights, points))
        spread = None
        if all(row.low > 0 for row in points):
            # Errors of the points are independent: their squares add up.
            spread = math.sqrt(sum((weight * math.log(row.high / row.low) / 2) ** 2 for weight, row in zip(weights, points)))
        found.estimates.append(Estimate(exponent, None if spread is None else exponent - spread,
                                        None if spread is None else exponent + spread,
                                        _place(run, rows[:1], _axes(rows[0], moving_with(run, along)))))
    return found


def _step(run: Run, effect: dict, where: dict) -> Found:
    """Each value over the one before it along a swept setting."""
    along = _along(run, effect)
    side, found = _side(run, effect["of"], effect, where), Found([])
    position = run.column(along)
    for rows in _lines(run, side, along, found):
        for before, row in itertools.pairwise(rows):
            place = f"{_place(run, (row,), _axes(row, moving_with(run, along)))}, {quantity.axis_name(along)} " \
                    f"{_written(along, position[before.cell])} to {_written(along, position[row.cell])}"
            estimate = _divided(row, before, place)
            if estimate is not None:
                found.estimates.append(estimate)
    return found


def _crossing(run: Run, effect: dict, where: dict) -> Found:
    """Where a series rises above another for good: the last x at which it surely lies below, the first from which on it surely
    lies above, and the point between them where lines through the values meet."""
    along = _along(run, effect)
    found = Found([], metric=along)
    of, to = (_side(run, effect[key], effect, where) for key in ("of", "over"))
    position = run.column(along)
    for rows, others in itertools.product(_lines(run, of, along, found), _lines(run, to, along, found)):
        partner = {position[row.cell]: row for row in others}
        points = []
        for row in rows:
            if position[row.cell] in partner:
                divided = _divided(row, partner[position[row.cell]], "")
                points += [(position[row.cell], divided)] if divided else []
        found.compared += len(points)
        turn = next((i for i in range(1, len(points)) if points[i - 1][1].number < 1 <= points[i][1].number
                     and all(later.number >= 1 for _, later in points[i:])), None)
        if turn is None:
            continue
        (x0, below), (x1, above) = points[turn - 1], points[turn]
        share = -math.log(below.number) / (math.log(above.number) - math.log(below.number))
        low = next((x for x, each in reversed(points[:turn]) if each.high is not None and each.high < 1), None)
        high = next((x for x, each in points[turn:] if each.low is not None and each.low > 1), None)
        found.estimates.append(Estimate(x0 + share * (x1 - x0), low, high,
                                        _place(run, (rows[0], others[0]), _axes(rows[0], moving_with(run, along)))))
    return found


def _plain(run: Run, effect: dict, where: dict) -> Found:
    """The values themselves."""
    side = _side(run, effect["of"], effect, where)
    cells = _cells(run, side)
    valued = cells[cells["value"].notna()]
    return Found([Estimate(row.value, *_bounds(row), _place(run, (row,), _axes(row))) for row in valued.itertuples()],
                 int(cells["value"].isna().sum()), unit=valued["unit"].iloc[-1] if len(valued) else "", metric=side.metric)


def _share(run: Run, effect: dict, where: dict) -> Found:
    """The share of the cells that ended with a status."""
    side = _side(run, effect["of"], effect, where)
    shares = (_cells(run, side)["status"] == effect["status"]).groupby(_cells(run, side)["allocator"], sort=False).mean()
    return Found([Estimate(share, share, share, labels.allocator(run, name)) for name, share in shares.items()])


def _theory(run: Run, effect: dict, where: dict) -> Found:
    """Each value over what the formula gives at its settings."""
    side = _side(run, effect["of"], effect, where)
    cells, found = _cells(run, side), Found([])
    for row in cells.itertuples():
        expected = curves.value_at(run, effect["formula"], row.cell)
        if math.isnan(row.value) or not 0 < expected < math.inf:
            found.without_value += 1
            continue
        low, high = _bounds(row)
        bounds = (None, None) if low is None or high is None else (low / expected, high / expected)
        found.estimates.append(Estimate(row.value / expected, *bounds, _place(run, (row,), _axes(row))))
    return found


def _unexplained(run: Run, effect: dict, where: dict) -> Found:
    """What a straight line through logarithms of the metric `by` leaves unexplained of the metric of the side, over what one through
    `rather_than` leaves. Below 1: `by` predicts better. The interval is a bootstrap over the cells."""
    side = _side(run, effect["of"], effect, where)
    cells = _cells(run, side)
    columns = [cells["value"], *(run.at(effect.get("by_phase", ""), effect[key])["value"].reindex(cells["cell"]).reset_index(drop=True)
                                 for key in ("by", "rather_than"))]
    points = pandas.concat(columns, axis=1, keys=["y", "by", "than"])
    usable = numpy.log(points[(points > 0).all(axis=1)])
    found = Found([], without_value=len(points) - len(usable))
    if len(usable) < 5:
        return found

    def left_over(y, by, than) -> float:
        unexplained = [1 - scipy.stats.pearsonr(x, y)[0] ** 2 for x in (by, than)]
        return unexplained[0] / unexplained[1]

    data = tuple(usable[name].to_numpy() for name in ("y", "by", "than"))
    interval = scipy.stats.bootstrap(data, left_over, paired=True, vectorized=False, n_resamples=999, method="percentile",
                                     random_state=numpy.random.default_rng(1)).confidence_interval
    found.estimates.append(Estimate(left_over(*data), interval.low, interval.high, f"{len(usable)} cells"))
    return found


KINDS: dict[str, Callable[[Run, dict, dict], Found]] = {
    "ratio": _ratio, "growth": _growth, "step": _step, "crossing": _crossing, "value": _plain, "share": _share,
    "theory": _theory, "unexplained": _unexplained}
