"""This module computes metrics from stored metrics, once for all figures.

Its functions take tables of cells and values (see results.py) and return tables of new values.
"""

from __future__ import annotations

import pandas

from plots.sheet import provisional

_NUMBERS = ["value", "low", "high"]


def metrics(cells: pandas.DataFrame, values: pandas.DataFrame) -> list[pandas.DataFrame]:
    """Returns the following metrics:

    * `time_per_operation`, for phases that count operations.
    * `time_per_launch`, if the workload counts launches.
    * `time_per_batch`, for phases that occur once in each of several `batches`.
    * `allocated_bytes_per_second`, if the workload counts the requested bytes.
    * `utilisation`, if the workload fills the pool.
    * `metadata_share`, the metadata as a share of the pool's bytes.
    """
    times = values[values["metric"] == "time"]
    operations = values[values["metric"] == "operations"].set_index(["cell", "phase"])["value"]
    per_operation = times.join(operations.rename("operations"), on=["cell", "phase"])["operations"]
    requested = times["cell"].map(_of_cell(values, "requested_bytes"))
    made = [_scaled(times, 1 / per_operation[per_operation > 0], "time_per_operation"),
            _rates(times, requested[(times["phase"] != "free") & (times["value"] > 0)].dropna())]
    for setting, phases, name in (("batches", ("sort", "insert", "delete"), "time_per_batch"), ("launches", ("total",), "time_per_launch")):
        counts = cells["workload_parameters"].map(lambda parameters: parameters.get(setting) or 0)
        count = times["cell"].map(counts)
        made.append(_scaled(times, 1 / count[(count > 0) & times["phase"].isin(phases)], name))
    return [*made, _utilisation(cells, values), _metadata_share(cells, values)]


def relative(cells: pandas.DataFrame, values: pandas.DataFrame, reference: str) -> list[pandas.DataFrame]:
    """Divides every metric by its reference at the same settings.

    For a metric such as `time` it returns `relative_time`, with the interval of the cell alone. It also returns
    `beyond_reference`: the part of a time beyond the reference's time, as a share of the time. If the reference is an
    allocator that takes almost no time, this is the share of the application's time that allocation takes.

    The reference is an allocator or one of these words:

    * `best` is the smallest value above 0 of any allocator at the same settings.
    * `baseline` is the phase of this name in the same cell.
    * `baselines` is the median of the phase `baseline` over all cells at the same settings, because a single baseline
      differs between processes.
    """
    places = cells["axes"].map(lambda axes: tuple(sorted((name, str(value)) for name, value in axes.items()
                                                         if not name.startswith("allocator."))))
    placed = values.assign(place=values["cell"].map(places))
    by = ["place", "phase", "metric"]
    if reference == "baseline":
        by = ["cell", "metric"]
        own = placed[placed["phase"] == "baseline"]
        bases = own.set_index(by)["value"]
    elif reference == "baselines":
        by = ["place", "metric"]
        own = placed[placed["phase"] == "baseline"]
        bases = own.groupby(by)["value"].median()
    elif reference == "best":
        own = placed[placed["value"] > 0].sort_values("value", kind="stable").drop_duplicates(by)
        bases = own.set_index(by)["value"]
    else:
        own = placed[placed["cell"].isin(cells.index[cells["allocator"] == reference])].drop_duplicates(by, keep="last")
        bases = own.set_index(by)["value"]
    base = placed.join(bases.rename("base"), on=by)["base"]
    base = base[base != 0].dropna()
    related = _scaled(values, 1 / base, "relative_" + values["metric"])
    related["unit"] = ""
    related = _doubted(related, placed.loc[base.index, by], own[by], own["flags"])
    times = values.loc[base.index]
    times = times[(times["metric"] == "time") & (times["value"] != 0)]
    beyond = times.assign(metric="beyond_reference", value=1 - base / times["value"], low=float("nan"), high=float("nan"), unit="")
    return [related, _doubted(beyond, placed.loc[beyond.index, by], own[by], own["flags"])]


def speed_up(values: pandas.DataFrame, series: pandas.Series, positions: pandas.Series) -> pandas.DataFrame:
    """Returns `speed_up` for phases with a throughput: the throughput divided by that of the same series at the first
    position.

    The first position is the smallest of the phase in any series. A series without a value at this position has no
    speed-up, because a speed-up over a later position would not compare with the others.
    """
    rates = values[values["metric"] == "throughput"]
    placed = rates.assign(series=rates["cell"].map(series), position=rates["cell"].map(positions))
    at_start = placed["position"] == placed.groupby("phase")["position"].transform("min")
    first = placed[at_start].drop_duplicates(["series", "phase"])
    base = placed.join(first.set_index(["series", "phase"])["value"].rename("base"), on=["series", "phase"])["base"]
    made = _scaled(rates, 1 / base[base > 0], "speed_up")
    made["unit"] = ""
    keys = ["series", "phase"]
    return _doubted(made, placed.loc[made.index, keys], first[keys], first["flags"])


def _doubted(made: pandas.DataFrame, keys: pandas.DataFrame, of_bases: pandas.DataFrame, flags: pandas.Series) -> pandas.DataFrame:
    """Marks a value as provisional and removes its interval, if the value that it is divided by is provisional.

    `keys` has a row for each row of `made`, and `of_bases` has a row for each entry of `flags`.
    """
    doubtful = set(of_bases[provisional.among(flags)].itertuples(index=False, name=None))
    if not doubtful:
        return made
    doubted = pandas.Series([key in doubtful for key in keys.itertuples(index=False, name=None)], index=made.index)
    made["flags"] = [sorted({*flags, provisional.FLAG}) if doubted[row] else flags for row, flags in made["flags"].items()]
    made.loc[doubted, ["low", "high"]] = float("nan")
    return made


def _of_cell(values: pandas.DataFrame, metric: str) -> pandas.Series:
    return values[(values["metric"] == metric) & (values["phase"] == "")].set_index("cell")["value"]


def _scaled(values: pandas.DataFrame, factors: pandas.Series, name) -> pandas.DataFrame:
    """Multiplies the values by these factors and gives the metric another name."""
    made = values.loc[factors.index].copy()
    made[_NUMBERS] = made[_NUMBERS].astype(float).mul(factors, axis=0)
    made["metric"] = name if isinstance(name, str) else name.loc[factors.index]
    return made


def _rates(times: pandas.DataFrame, amounts: pandas.Series) -> pandas.DataFrame:
    made = times.loc[amounts.index].copy()
    bounded = made["low"] > 0
    made = made.assign(value=amounts / made["value"], low=(amounts / made["high"]).where(bounded),
                       high=(amounts / made["low"]).where(bounded), unit="B/s", metric="allocated_bytes_per_second")
    return made


def _utilisation(cells: pandas.DataFrame, values: pandas.DataFrame) -> pandas.DataFrame:
    """Returns the served bytes as a share of all memory of the allocator, inside and outside of its pool."""
    served = values[(values["metric"] == "served_bytes") & (values["phase"] == "")]
    outside = served["cell"].map(_of_cell(values, "metadata_bytes")).fillna(0)
    memory = served["cell"].map(cells["pool_bytes"]).fillna(0).astype(float) + outside
    made = _scaled(served, 1 / memory[memory > 0], "utilisation")
    made["unit"] = ""
    return made


def _metadata_share(cells: pandas.DataFrame, values: pandas.DataFrame) -> pandas.DataFrame:
    """Returns the metadata divided by the pool. The metadata is not part of the pool."""
    metadata = values[(values["metric"] == "metadata_bytes") & (values["phase"] == "")]
    pools = metadata["cell"].map(cells["pool_bytes"]).fillna(0).astype(float)
    made = _scaled(metadata, 1 / pools[pools > 0], "metadata_share")
    made["unit"] = ""
    return made
