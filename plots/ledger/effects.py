"""This module computes the effects that claims are about, with intervals.

The effects are ratios, growth, straightness, steps, crossings, values, shares, ratios to theory, and how well one
metric predicts another. An effect gives one estimate per place, or one estimate from all cells. An estimate is a number
with its known bounds. The bounds follow from the stored 95 % intervals, or from a bootstrap if one number describes all
cells. Claims also use the intervals of few rounds (few_rounds.py).

The bounds of a ratio are its smallest and largest value within both intervals. The range between them covers more than
95 %.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
from dataclasses import dataclass
from typing import Callable, Collection

import numpy
import pandas

from allocbench.errors import UsageError
from plots.ledger.sides import Side, along_of, axes_of, bounds_of, cells_of, parameters_of, passes_of, place_of, provisional_of, rounds_of, side_of
from plots.runs import few_rounds, formulas, labels, passes
from plots.runs.results import Run
from plots.sheet import quantity


_LEAST_CELLS = 8  # least number of cells of a bootstrap


@dataclass(frozen=True)
class Estimate:
    number: float
    low: float | None   # None if the bound is unknown, for example with too few rounds
    high: float | None
    place: str
    rounds: int = 0     # fewest rounds of a few-rounds interval in the estimate, 0 if it uses none
    provisional: bool = False  # whether the estimate uses a provisional value, and thus has no interval
    span: float = 0.0   # for an exponent: logarithm of the last x divided by the first x
    explained: bool = False  # whether the number is R2, the share of the variance that a line explains
    spread: float = 0.0  # for a mean: geometric standard deviation of its places
    passes: int = 0      # fewest passes of an interval of counts in the estimate, 0 if it uses none
    cell: str = ""       # cell of a value, or of the upper side of a ratio; empty for an estimate of several cells

    def over(self, other: Estimate) -> Estimate:
        bounded = None not in (self.low, self.high, other.low, other.high) and other.low > 0
        return Estimate(self.number / other.number, self.low / other.high if bounded else None, self.high / other.low if bounded else None, self.place,
                        few_rounds.fewest((self.rounds, other.rounds)) if bounded else 0, self.provisional or other.provisional,
                        passes=few_rounds.fewest((self.passes, other.passes)) if bounded else 0, cell=self.cell)

    def times(self, factor: float) -> Estimate:
        low, high = (None if bound is None else bound * factor for bound in (self.low, self.high))
        return dataclasses.replace(self, number=self.number * factor, low=low, high=high)


@dataclass
class Found:
    """The estimates of an effect, and the number of values that gave no estimate."""

    estimates: list[Estimate]
    without_value: int = 0
    compared: int = 0   # number of points at which a crossing compared both series
    unit: str = ""      # unit of the numbers
    metric: str = ""    # metric of the numbers, empty for ratios and the like


def kind_of(claim: dict) -> str:
    return next(kind for kind in KINDS if kind in claim)


def find(run: Run, claim: dict) -> Found:
    """Returns the estimates of the effect that the claim names. Raises FormNotMeasured if the run lacks an allocator."""
    kind = kind_of(claim)
    return KINDS[kind](run, claim[kind], claim.get("where", {}))


def sides_of(run: Run, claim: dict) -> list[Side]:
    """Returns the sides of the claim's effect. Raises FormNotMeasured if the run lacks an allocator."""
    effect = claim[kind_of(claim)]
    return [side_of(run, effect[key], effect, claim.get("where", {})) for key in ("of", "to", "over", "against") if key in effect]


def with_nulls(run: Run, claim: dict) -> int:
    """Returns how many cells of the claim have no valid time because some of their requests got null. Raises
    FormNotMeasured if the run lacks an allocator.
    """
    cells = pandas.concat([cells_of(run, side) for side in sides_of(run, claim)])
    return cells.loc[cells["got_null"], "cell"].nunique()


def statuses(run: Run, claim: dict) -> list[str]:
    """Returns the statuses of the claim's cells that are not ok, most frequent first."""
    ended = pandas.concat([cells_of(run, side) for side in sides_of(run, claim)])["status"]
    return list(ended[ended != "ok"].value_counts().index)


def _divided(of, to, place: str) -> Estimate | None:
    """Divides the values of two rows. Returns None if one row has no value, or if the divisor is not positive."""
    if math.isnan(of.value) or not to.value > 0:
        return None
    return _of(of, place).over(_of(to, ""))


def _of(row, place: str) -> Estimate:
    return Estimate(row.value, *bounds_of(row), place, rounds_of(row), row.provisional, passes=passes_of(row), cell=row.cell)


def _quotients(run: Run, effect: dict, where: dict) -> Found:
    """Divides each value of side `of` by the value of side `to` at equal settings. Only settings that the two sides'
    `where` fixes differently may differ.

    If both sides list the same allocators, each is compared with itself, with equal parameters. Otherwise each
    allocator of one side is compared with each of the other.
    """
    of, to = (side_of(run, effect[key], effect, where) for key in ("of", "to"))
    fixed = {moved for name in {**of.where, **to.where} if of.where.get(name) != to.where.get(name) for moved in run.moving_with(name)}
    itself = of.allocators == to.allocators

    def keyed(side: Side) -> pandas.DataFrame:
        cells = cells_of(run, side)
        return cells.assign(key=[key_of(row) for row in cells.itertuples()])

    def key_of(row) -> tuple:
        own = (row.allocator, parameters_of(run, row, fixed)) if itself else ()
        return (*own, *sorted((name, str(run.settings.at[row.cell, name])) for name in axes_of(row, fixed)))

    upper, lower = keyed(of), keyed(to)
    partners = {key: list(rows.itertuples()) for key, rows in lower.groupby("key", sort=False)}
    found = Found([])
    for row in upper.itertuples():
        for other in partners.get(row.key, []):
            if row.cell == other.cell and of == to:
                continue
            place = ", ".join([place_of(run, (row, other), axes_of(row, fixed)), *_told(run, row, other, fixed)])
            estimate = _divided(row, other, place)
            if estimate is None:
                found.without_value += 1
            else:
                found.estimates.append(_paired(run, estimate, (row.cell, of.metric), (other.cell, to.metric)))
    return found


def _paired(run: Run, estimate: Estimate, of: tuple[str, str], to: tuple[str, str]) -> Estimate:
    """Returns the estimate with the narrower interval of two counts of the same passes, if it is the ratio of such counts."""
    counts = passes.of(run, *of)
    interval = passes.interval_of_ratio(counts, passes.of(run, *to)) if of[0] == to[0] else None
    return dataclasses.replace(estimate, low=interval[0], high=interval[1], passes=len(counts)) if interval else estimate


def _gain(run: Run, effect: dict, where: dict) -> Found:
    """Divides each ratio by the ratio that the allocator `against` has between the same two sides."""
    def of(names) -> dict:
        sides = {key: {**(effect[key] if isinstance(effect[key], dict) else {}), "allocator": names or _allocators(effect[key])} for key in ("of", "to")}
        return {key: value for key, value in {**effect, **sides}.items() if key != "against"}

    found, measure = _quotients(run, of(None), where), _quotients(run, of(effect["against"]), where)
    if len(measure.estimates) > 1:
        raise UsageError(f"{run.name}: a claim divides by the ratio of {effect['against']!r}, which must be one ratio; found "
                         f"{len(measure.estimates)}. Select one with `where`.")
    if not measure.estimates:
        return Found([], found.without_value + len(found.estimates))
    base = measure.estimates[0]

    return Found([each.over(base) for each in found.estimates], found.without_value)


def _allocators(side) -> str | list[str]:
    return side["allocator"] if isinstance(side, dict) else side


def _ratio(run: Run, effect: dict, where: dict) -> Found:
    return _gain(run, effect, where) if "against" in effect else _quotients(run, effect, where)


def _told(run: Run, row, other, fixed: Collection[str]) -> list[str]:
    """Returns the settings in which the two sides of a ratio differ."""
    pairs = [(name, run.settings.at[row.cell, name], run.settings.at[other.cell, name]) for name in row.axes if name in fixed]
    return [f"{quantity.axis_name(name)} {quantity.written(name, mine)} to {quantity.written(name, theirs)}" for name, mine, theirs in pairs
            if mine != theirs]


def _lines(run: Run, side: Side, along: str, found: Found) -> list[list]:
    """Returns the rows with a value of each series, sorted by the swept setting. Rows without a value are counted in
    `found.without_value`.
    """
    found.without_value += int(cells_of(run, side)["value"].isna().sum())
    valued = [[row for row in rows if not math.isnan(row.value)] for rows in _series(run, side, along)]
    return [rows for rows in valued if rows]


def _series(run: Run, side: Side, along: str) -> list[list]:
    """Returns all rows of each series, sorted by the swept setting."""
    lines: dict[tuple, list] = {}
    moving = run.moving_with(along)
    for row in cells_of(run, side).itertuples():
        key = (row.allocator, parameters_of(run, row, moving), *(str(run.settings.at[row.cell, name]) for name in axes_of(row, moving)))
        lines.setdefault(key, []).append(row)
    position = run.column(along)
    return [sorted(rows, key=lambda row: position[row.cell]) for rows in lines.values()]


def _growth(run: Run, effect: dict, where: dict) -> Found:
    """Fits the power x^k to each series and returns the exponents k. A flat series has exponent 0, and a series that is
    proportional to x has exponent 1. A series with fewer than three positive points gives no exponent.
    """
    along = along_of(run, effect)
    side, found = side_of(run, effect["of"], effect, where), Found([])
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
            # The errors of the points are independent, so their squares add up.
            spread = math.sqrt(sum((weight * math.log(row.high / row.low) / 2) ** 2 for weight, row in zip(weights, points)))
        found.estimates.append(Estimate(exponent, None if spread is None else exponent - spread,
                                        None if spread is None else exponent + spread,
                                        place_of(run, rows[:1], axes_of(rows[0], run.moving_with(along))),
                                        0 if spread is None else rounds_of(*points), provisional_of(*points), span=max(xs) - min(xs), passes=0 if spread is None else passes_of(*points)))
    return found


def _straight(run: Run, effect: dict, where: dict) -> Found:
    """Fits a straight line a + bx to each series and returns R2, the share of the variance that the line explains.

    R2 is 0 if the line does not rise. A series needs at least four values. The interval comes from a thousand normal
    draws, whose spread follows from the intervals of the values.
    """
    along = along_of(run, effect)
    side, found = side_of(run, effect["of"], effect, where), Found([])
    position = run.column(along)
    for rows in _lines(run, side, along, found):
        if len(rows) < 4:
            continue
        xs, ys = numpy.array([float(position[row.cell]) for row in rows]), numpy.array([row.value for row in rows])
        bounds = (None, None)
        if not any(math.isnan(row.low) or math.isnan(row.high) for row in rows):
            spread = numpy.array([(row.high - row.low) / (2 * 1.96) for row in rows])
            drawn = numpy.random.default_rng(1).normal(ys, spread, (1000, len(rows)))
            bounds = tuple(float(each) for each in numpy.quantile(_explained(xs, drawn), (0.025, 0.975)))
        found.estimates.append(Estimate(float(_explained(xs, ys)), *bounds, place_of(run, rows[:1], axes_of(rows[0], run.moving_with(along))),
                                        0 if None in bounds else rounds_of(*rows), provisional_of(*rows), explained=True,
                                        passes=0 if None in bounds else passes_of(*rows)))
    return found


def _explained(xs: numpy.ndarray, ys: numpy.ndarray) -> numpy.ndarray:
    """Returns R2 of the line through each row of ys."""
    from_mean, centred = xs - xs.mean(), ys - ys.mean(axis=-1, keepdims=True)
    slope = centred @ from_mean / (from_mean @ from_mean)
    left, total = ((centred - slope[..., None] * from_mean) ** 2).sum(axis=-1), (centred ** 2).sum(axis=-1)
    rises = (slope > 0) & (numpy.ptp(ys, axis=-1) > 0)
    return numpy.where(rises, 1 - left / numpy.where(rises, total, 1), 0.0)


def _step(run: Run, effect: dict, where: dict) -> Found:
    """Divides each value by the value at the previous x of its series. A pair with a missing value counts as one without
    a value.
    """
    along = along_of(run, effect)
    side, found = side_of(run, effect["of"], effect, where), Found([])
    position = run.column(along)
    for rows in _series(run, side, along):
        for before, row in itertools.pairwise(rows):
            place = f"{place_of(run, (row,), axes_of(row, run.moving_with(along)))}, {quantity.axis_name(along)} " \
                    f"{quantity.written(along, position[before.cell])} to {quantity.written(along, position[row.cell])}"
            estimate = _divided(row, before, place)
            if estimate is None:
                found.without_value += 1
            else:
                found.estimates.append(estimate)
    return found


def _crossing(run: Run, effect: dict, where: dict) -> Found:
    """Finds the x at which a series rises above another one for good.

    The number is the x at which the interpolated ratio of the two series is 1. The lower bound is the last smaller x at
    which the interval of the ratio lies below 1. If there is none although every smaller x has an interval, the
    lower bound is the first x. The upper bound is the first larger x at which the interval lies above 1.
    """
    along = along_of(run, effect)
    found = Found([], metric=along)
    of, to = (side_of(run, effect[key], effect, where) for key in ("of", "over"))
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
        sure = all(each.high is not None for _, each in points[:turn])
        low = next((x for x, each in reversed(points[:turn]) if each.high is not None and each.high < 1), points[0][0] if sure else None)
        high = next((x for x, each in points[turn:] if each.low is not None and each.low > 1), None)
        found.estimates.append(Estimate(x0 + share * (x1 - x0), low, high,
                                        place_of(run, (rows[0], others[0]), axes_of(rows[0], run.moving_with(along))),
                                        few_rounds.fewest([each.rounds for _, each in points]), any(each.provisional for _, each in points),
                                        passes=few_rounds.fewest([each.passes for _, each in points])))
    return found


def _plain(run: Run, effect: dict, where: dict) -> Found:
    """Returns the values themselves."""
    side = side_of(run, effect["of"], effect, where)
    cells = cells_of(run, side)
    valued = cells[cells["value"].notna()]
    return Found([_of(row, place_of(run, (row,), axes_of(row))) for row in valued.itertuples()],
                 int(cells["value"].isna().sum()), unit=valued["unit"].iloc[-1] if len(valued) else "", metric=side.metric)


def _share(run: Run, effect: dict, where: dict) -> Found:
    """Returns for each allocator the share of its cells that ended with the status that the effect names. Cells that were
    left out count as cells without a value.
    """
    side = side_of(run, effect["of"], effect, where)
    cells_of_side = cells_of(run, side)
    left_out = run.cells.loc[cells_of_side["cell"], "left_out"].astype(bool).to_numpy()
    found = Found([], int(left_out.sum()))
    for name, cells in cells_of_side[~left_out].groupby("allocator", sort=False):
        share = float((cells["status"] == effect["status"]).mean())
        doubtful = bool(run.cells.loc[cells["cell"], "provisional"].any())  # a later round may fail
        bound = None if doubtful else share
        found.estimates.append(Estimate(share, bound, bound, labels.allocator(run, name), provisional=doubtful))
    return found


def _theory(run: Run, effect: dict, where: dict) -> Found:
    """Divides each value by the value of the formula at the same settings.

    With `of_formula`, the value of this formula replaces the measured value.
    """
    side = side_of(run, effect["of"], effect, where)
    cells, found = cells_of(run, side), Found([])
    for row in cells.itertuples():
        expected = formulas.value_at(run, effect["formula"], row.cell)
        place = place_of(run, (row,), axes_of(row))
        if "of_formula" in effect:
            value = formulas.value_at(run, effect["of_formula"], row.cell)
            upper = Estimate(value, value, value, place)
        else:
            upper = _of(row, place)
        if math.isnan(upper.number) or not 0 < expected < math.inf:
            found.without_value += 1
            continue
        found.estimates.append(upper.over(Estimate(expected, expected, expected, "")))
    return found


def _unexplained(run: Run, effect: dict, where: dict) -> Found:
    """Compares how well two metrics predict the metric of the side.

    A straight line is fitted to the logarithms, once for the metric `by` and once for `rather_than`. The number is the
    unexplained variance of the first fit divided by that of the second. If it is below 1, `by` predicts better. The
    interval comes from a bootstrap over the cells.
    """
    def left_over(y, by, than) -> float:
        unexplained = [1 - _pearson(x, y) ** 2 for x in (by, than)]
        return unexplained[0] / unexplained[1] if unexplained[1] > 0 else math.nan

    points = _points(run, effect, where, ("by", "rather_than"))
    return _of_all_cells(numpy.log(points[(points > 0).all(axis=1)]), len(points), left_over)


def _correlation(run: Run, effect: dict, where: dict) -> Found:
    """Returns Pearson's coefficient of the side's values and the metric `by`, over all cells. The interval comes from a
    bootstrap over the cells.
    """
    points = _points(run, effect, where, ("by",))
    return _of_all_cells(points.dropna(), len(points), lambda y, by: _pearson(by, y))


def _pearson(x: numpy.ndarray, y: numpy.ndarray) -> float:
    """Returns Pearson's coefficient, or NaN if x or y is constant. scipy's function also computes a p-value, which is
    not needed here.
    """
    if numpy.ptp(x) == 0 or numpy.ptp(y) == 0:
        return math.nan
    x, y = x - x.mean(), y - y.mean()
    return float(numpy.clip(x @ y / math.sqrt((x @ x) * (y @ y)), -1, 1))


def _points(run: Run, effect: dict, where: dict, metrics: Collection[str]) -> pandas.DataFrame:
    """Returns one row per cell of the side: its value, and the metrics that the effect's keys `metrics` name.
    Provisional cells are left out.
    """
    cells = cells_of(run, side_of(run, effect["of"], effect, where))
    columns = [cells["value"], *(run.at("", effect[key])["value"].reindex(cells["cell"]).reset_index(drop=True) for key in metrics)]
    return pandas.concat(columns, axis=1, keys=["value", *metrics])[~cells["provisional"]]


def _of_all_cells(usable: pandas.DataFrame, points: int, statistic: Callable) -> Found:
    """Computes one number from all cells that have values, with a bootstrap over the cells. Fewer than _LEAST_CELLS cells
    give no number. There are no bounds if a resample gives no number, as one of equal values.
    """
    found = Found([], without_value=points - len(usable))
    data = tuple(usable[name].to_numpy() for name in usable)
    if len(usable) < _LEAST_CELLS or not math.isfinite(number := statistic(*data)):
        return found
    from scipy import stats

    interval = stats.bootstrap(data, statistic, paired=True, vectorized=False, n_resamples=999, method="percentile",
                               random_state=numpy.random.default_rng(1)).confidence_interval
    bounds = (float(interval.low), float(interval.high)) if math.isfinite(interval.low) and math.isfinite(interval.high) else (None, None)
    found.estimates.append(Estimate(number, *bounds, f"{len(usable)} cells"))
    return found


KINDS: dict[str, Callable[[Run, dict, dict], Found]] = {
    "ratio": _ratio, "growth": _growth, "straight": _straight, "step": _step, "crossing": _crossing, "value": _plain, "share": _share,
    "theory": _theory, "unexplained": _unexplained, "correlation": _correlation}
