"""The numbers that claims are about: ratios, growth, steps, crossings, values and shares, with intervals.

Every effect gives estimates, one per place: a number between two bounds that follow from the 95 % intervals stored with
the results. The bounds of a ratio are its smallest and largest value within both intervals, which is wider than 95 %.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import Callable, Collection, Sequence

from plots import quantity, style
from plots.errors import UsageError
from plots.results import Cell, Run, Value
from plots.series import moving_with

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


def find(run: Run, claim: dict) -> Found:
    """The estimates of the effect that the claim names."""
    kind = next(kind for kind in KINDS if kind in claim)
    return KINDS[kind](run, claim[kind], claim.get("where", {}))


def _side(run: Run, given, effect: dict, where: dict) -> _Side:
    """An allocator, a list of them, or an object with `allocator`, `where`, `phase` and `metric`."""
    given = given if isinstance(given, dict) else {"allocator": given}
    names = given.get("allocator", run.allocators())
    names = [names] if isinstance(names, str) else names
    known = {*run.allocators(), *(entry["id"] if isinstance(entry, dict) else entry
                                  for entry in run.config.get("allocators", []))}
    for name in names:
        if name not in known:
            raise UsageError(f"{run.name}: a claim is about {name!r}, which the run does not have. It has: "
                             f"{', '.join(sorted(known))}.")
    return _Side(tuple(names), {**where, **given.get("where", {})},
                 given.get("phase", effect.get("phase", _only(run.plot.get("y", "total")))),
                 given.get("metric", effect.get("metric", _only(run.plot.get("metric", "time")))))


def _only(listed) -> str:
    return listed if isinstance(listed, str) else listed[0]


def _matches(cell: Cell, where: dict) -> bool:
    def fits(value, wanted) -> bool:
        if isinstance(wanted, dict):
            return value is not None and wanted.get("from", -math.inf) <= value <= wanted.get("to", math.inf)
        return value in wanted if isinstance(wanted, list) else value == wanted

    return all(fits(cell.setting(name), wanted) for name, wanted in where.items())


def _cells(run: Run, side: _Side) -> list[Cell]:
    return [cell for name in side.allocators for cell in run.cells if cell.allocator == name and _matches(cell, side.where)]


def _value(cell: Cell, side: _Side) -> Value | None:
    return cell.values.get((side.phase, side.metric))


def _bounds(value: Value) -> tuple[float | None, float | None]:
    """Counts are what they are; a time without an interval has no bounds."""
    if value.low is None and value.unit not in _TIMES:
        return value.value, value.value
    return value.low, value.high


def _place(run: Run, cells: Sequence[Cell], axes: Sequence[str]) -> str:
    names = " to ".join(dict.fromkeys(style.display_name(cell.allocator) for cell in cells))
    told = [f"{quantity.axis_name(name)} {_written(name, cells[0].setting(name))}" for name in axes]
    return ", ".join([names, *told])


def _written(name: str, value) -> str:
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return quantity.formatter(name)(value) if is_number else str(value)


def _axes(cell: Cell, without: Sequence[str] = ()) -> list[str]:
    return [name for name in cell.axes if name not in without]


def _divided(of: Value, to: Value, place: str) -> Estimate | None:
    if to.value <= 0:
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

    def key(cell: Cell) -> tuple:
        return (cell.allocator if itself else "", *sorted((name, str(cell.setting(name))) for name in _axes(cell, fixed)))

    others: dict[tuple, list[Cell]] = {}
    for cell in _cells(run, to):
        others.setdefault(key(cell), []).append(cell)
    found = Found([])
    for cell in _cells(run, of):
        for other in others.get(key(cell), []):
            if cell is other and of == to:
                continue
            upper, lower = _value(cell, of), _value(other, to)
            place = ", ".join([_place(run, (cell, other), _axes(cell, fixed)), *_told(cell, other, fixed)])
            estimate = _divided(upper, lower, place) if upper and lower else None
            if estimate is None:
                found.without_value += 1
            else:
                found.estimates.append(estimate)
    return found


def _told(cell: Cell, other: Cell, fixed: Collection[str]) -> list[str]:
    """The settings in which the two sides of a ratio differ."""
    pairs = [(name, cell.setting(name), other.setting(name)) for name in cell.axes if name in fixed]
    return [f"{quantity.axis_name(name)} {_written(name, mine)} to {_written(name, theirs)}" for name, mine, theirs in pairs
            if mine != theirs]


def _lines(run: Run, side: _Side, along: str, found: Found) -> list[list[Cell]]:
    """The cells of each series along a swept setting and what is zipped with it, in growing order; those without a value are
    counted and left out."""
    lines: dict[tuple, list[Cell]] = {}
    moving = moving_with(run, along)
    for cell in _cells(run, side):
        if _value(cell, side) is None:
            found.without_value += 1
        else:
            key = (cell.allocator, *(str(cell.setting(name)) for name in _axes(cell, moving)))
            lines.setdefault(key, []).append(cell)
    return [sorted(cells, key=lambda cell: cell.setting(along)) for cells in lines.values()]


def _growth(run: Run, effect: dict, where: dict) -> Found:
    """The exponent k of the power x^k that fits a series best: 0 is flat, 1 is linear."""
    along = effect.get("along", run.plot.get("x"))
    side, found = _side(run, effect["of"], effect, where), Found([])
    for cells in _lines(run, side, along, found):
        points = [(cell, _value(cell, side)) for cell in cells if cell.setting(along) > 0 and _value(cell, side).value > 0]
        if len(points) < 3:
            continue
        xs = [math.log(cell.setting(along)) for cell, _ in points]
        mean = sum(xs) / len(xs)
        weights = [(x - mean) / sum((each - mean) ** 2 for each in xs) for x in xs]
        exponent = sum(weight * math.log(value.value) for weight, (_, value) in zip(weights, points))
        bounds = [_bounds(value) for _, value in points]
        spread = None
        if all(low is not None and low > 0 for low, _ in bounds):
            # Errors of the points are independent: their squares add up.
            spread = math.sqrt(sum((weight * math.log(high / low) / 2) ** 2 for weight, (low, high) in zip(weights, bounds)))
        found.estimates.append(Estimate(exponent, None if spread is None else exponent - spread,
                                        None if spread is None else exponent + spread,
                                        _place(run, cells[:1], _axes(cells[0], moving_with(run, along)))))
    return found


def _step(run: Run, effect: dict, where: dict) -> Found:
    """Each value over the one before it along a swept setting."""
    along = effect.get("along", run.plot.get("x"))
    side, found = _side(run, effect["of"], effect, where), Found([])
    for cells in _lines(run, side, along, found):
        for before, cell in itertools.pairwise(cells):
            place = f"{_place(run, (cell,), _axes(cell, moving_with(run, along)))}, {quantity.axis_name(along)} " \
                    f"{_written(along, before.setting(along))} to {_written(along, cell.setting(along))}"
            estimate = _divided(_value(cell, side), _value(before, side), place)
            if estimate is not None:
                found.estimates.append(estimate)
    return found


def _crossing(run: Run, effect: dict, where: dict) -> Found:
    """Where a series rises above another for good: the last x at which it surely lies below, the first from which on it surely
    lies above, and the point between them where lines through the values meet."""
    along = effect.get("along", run.plot.get("x"))
    found = Found([], metric=along)
    of, to = (_side(run, effect[key], effect, where) for key in ("of", "over"))
    for cells, others in itertools.product(_lines(run, of, along, found), _lines(run, to, along, found)):
        partner = {cell.setting(along): cell for cell in others}
        points = []
        for cell in cells:
            if cell.setting(along) in partner:
                divided = _divided(_value(cell, of), _value(partner[cell.setting(along)], to), "")
                points += [(cell.setting(along), divided)] if divided else []
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
                                        _place(run, (cells[0], others[0]), _axes(cells[0], moving_with(run, along)))))
    return found


def _plain(run: Run, effect: dict, where: dict) -> Found:
    """The values themselves."""
    side = _side(run, effect["of"], effect, where)
    found = Found([], metric=side.metric)
    for cell in _cells(run, side):
        value = _value(cell, side)
        if value is None:
            found.without_value += 1
            continue
        found.unit = value.unit
        found.estimates.append(Estimate(value.value, *_bounds(value), _place(run, (cell,), _axes(cell))))
    return found


def _share(run: Run, effect: dict, where: dict) -> Found:
    """The share of the cells that ended with a status."""
    side = _side(run, effect["of"], effect, where)
    found = Found([])
    for name in side.allocators:
        cells = [cell for cell in _cells(run, side) if cell.allocator == name]
        if cells:
            share = sum(cell.status == effect["status"] for cell in cells) / len(cells)
            found.estimates.append(Estimate(share, share, share, style.display_name(name)))
    return found


KINDS: dict[str, Callable[[Run, dict, dict], Found]] = {
    "ratio": _ratio, "growth": _growth, "step": _step, "crossing": _crossing, "value": _plain, "share": _share}
