"""What the allocators of a claim did not have alike: a pool, a state or a part of the workload that the config of the run overrides for some of them."""

from __future__ import annotations

from typing import Sequence

from plots.runs import labels
from plots.runs.results import Run
from plots.sheet import quantity

_OVERRIDDEN = ("state", "pool_bytes", "workload")


def told(run: Run, allocators: Sequence[str]) -> str:
    """By setting, who had which value: the value of most comes first. Empty where all had the same."""
    overrides = {name: run.config.get("overrides", {}).get(name, {}) for name in dict.fromkeys(allocators)}
    settings = list(dict.fromkeys(setting for override in overrides.values() for setting in _settings(override)))
    return "; ".join(filter(None, [_of_setting(run, setting, {name: _value(run, name, override, setting) for name, override in overrides.items()})
                                   for setting in settings]))


def _settings(override: dict) -> list[tuple[str, ...]]:
    """Keys, and below `workload` those of its parts."""
    return [(key, part) if part else (key,) for key in _OVERRIDDEN if key in override for part in (override[key] if key == "workload" else ("",))]


def _value(run: Run, name: str, override: dict, setting: tuple[str, ...]):
    if setting == ("pool_bytes",):  # as it was measured, because configs may write it with a unit
        pools = run.cells.loc[run.cells["allocator"] == name, "pool_bytes"].unique()
        return pools[0] if len(pools) == 1 else None
    for section in (override, run.config):
        found = section
        for key in setting:
            found = found.get(key, {}) if isinstance(found, dict) else {}
        if found != {}:
            return found
    return None


def _of_setting(run: Run, setting: tuple[str, ...], values: dict) -> str:
    having: dict = {}
    for name, value in values.items():
        if value is not None:
            having.setdefault(value, []).append(labels.allocator(run, name))
    if len(having) < 2:
        return ""
    groups = sorted(having.items(), key=lambda group: -len(group[1]))
    names = [f"{_written(setting[-1], value)} ({', '.join(group) if number or len(group) == 1 else 'most'})" for number, (value, group) in enumerate(groups)]
    return f"{quantity.axis_name(setting[-1])}: {', '.join(names)}"


def _written(setting: str, value) -> str:
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return quantity.formatter(setting)(value) if is_number else str(value)
