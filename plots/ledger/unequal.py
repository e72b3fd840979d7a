"""This module lists the settings that differ between the allocators of a claim: a pool, a state, a part of the workload, or a
number of warm-ups, samples or counted passes that the config overrides.

It also describes how the current config differs from the run's config.
"""

from __future__ import annotations

from typing import Sequence

from plots.runs import configs, labels
from plots.runs.results import Run
from plots.sheet import quantity

_OVERRIDDEN = ("state", "pool_bytes", "workload", "warmups")
_NAMES = {"warmups": "warm-ups", "repetitions": "samples", "counted_passes": "counted passes"}
_OF_TODAY = {"state": "state", "pool_bytes": "pool size", "deadline_s": "deadline"}


def told(run: Run, allocators: Sequence[str], counted: bool = False) -> str:
    """Returns for each setting that differs which allocators have which value, the most frequent value first. The text is
    empty if no setting differs. Counts (`counted`) come from counted passes, and all other values from samples.
    """
    overrides = {name: run.config.get("overrides", {}).get(name, {}) for name in dict.fromkeys(allocators)}
    settings = list(dict.fromkeys(setting for override in overrides.values() for setting in _settings(override, counted)))
    return "; ".join(filter(None, [_of_setting(run, setting, {name: _value(run, name, override, setting) for name, override in overrides.items()})
                                   for setting in settings]))


def _settings(override: dict, counted: bool) -> list[tuple[str, ...]]:
    """Returns the keys that are overridden. Below `workload`, each part is a key."""
    keys = [*_OVERRIDDEN, "counted_passes" if counted else "repetitions"]
    return [(key, part) if part else (key,) for key in keys if key in override for part in (override[key] if key == "workload" else ("",))]


def _value(run: Run, name: str, override: dict, setting: tuple[str, ...]):
    measured = _measured(run, name, setting)
    if len(measured) == 1 or setting == ("pool_bytes",):
        return measured[0] if len(measured) == 1 else None
    for section in (override, run.config):
        found = section
        for key in setting:
            found = found.get(key, {}) if isinstance(found, dict) else {}
        if found != {}:
            return found
    return None


def _measured(run: Run, name: str, setting: tuple[str, ...]) -> list:
    """Returns the values of a pool or of a part of the workload in an allocator's cells, or none for another setting.

    The config does not suffice: it may write a pool with a unit, and leave a part of the workload at its default.
    """
    cells = run.cells[run.cells["allocator"] == name]
    if setting == ("pool_bytes",):
        return list(cells["pool_bytes"].unique())
    if setting[0] == "workload":
        return list(dict.fromkeys(parameters[setting[1]] for parameters in cells["workload_parameters"] if setting[1] in parameters))
    return []


def _of_setting(run: Run, setting: tuple[str, ...], values: dict) -> str:
    having: dict = {}
    for name, value in values.items():
        if value is not None:
            having.setdefault(value, []).append(labels.allocator(run, name))
    if len(having) < 2:
        return ""
    groups = sorted(having.items(), key=lambda group: -len(group[1]))
    names = [f"{_written(setting[-1], value)} ({', '.join(group) if number or len(group) == 1 else 'most'})" for number, (value, group) in enumerate(groups)]
    return f"{_NAMES.get(setting[-1]) or quantity.axis_name(setting[-1])}: {', '.join(names)}"


def _written(setting: str, value) -> str:
    return str(value).lower() if isinstance(value, bool) else quantity.written(setting, value)


def to_measure(run: Run, today: dict, allocators: Sequence[str]) -> str:
    """Describes why the numbers of these allocators must be measured again: the current config has another state of
    their heaps, or equal pools instead of different ones. The text is empty if neither is true.
    """
    names = [name for name in dict.fromkeys(allocators) if name in run.allocators()]
    was, now = _settings_of(run.config, names), _settings_of(configs.effective(today, run.backend), names)
    changes = list(dict.fromkeys((was[name]["state"], now[name]["state"]) for name in names if was[name]["state"] != now[name]["state"]))
    told = [f"measured with state {_today('state', old)}, the config has {_today('state', new)}" for old, new in changes]
    pools, equal = ({settings[name]["pool_bytes"] for name in names} for settings in (was, now))
    if len(pools) > 1 and len(equal) == 1:
        told.append(f"measured with pools of {' and '.join(_today('pool_bytes', each) for each in sorted(pools, key=lambda each: each or 0))}, the config has {_today('pool_bytes', *equal)} for all")
    return f"{'; '.join(told)}: to be measured again" if told else ""


def _settings_of(config: dict, names: Sequence[str]) -> dict[str, dict]:
    return {name: {key: _plain(key, {**config, **config.get("overrides", {}).get(name, {})}.get(key)) for key in _OF_TODAY} for name in names}


def since(run: Run, today: dict) -> str:
    """Describes how heap state, pool size and deadline of the current config differ from those of the run. The text is
    empty if they do not differ.
    """
    was, now = (_settings_of(config, run.allocators()) for config in (run.config, configs.effective(today, run.backend)))
    changes: dict[tuple, list[str]] = {}
    for name, settings in was.items():
        for key, value in settings.items():
            if now[name][key] != value:
                changes.setdefault((key, value, now[name][key]), []).append(name)
    return "; ".join(f"{_OF_TODAY[key]} {_today(key, new)} instead of {_today(key, old)}{_whose(run, names)}" for (key, old, new), names in changes.items())


def _plain(key: str, value):
    return quantity.parse_bytes(value) if key == "pool_bytes" and isinstance(value, str) else value


def _today(key: str, value) -> str:
    return "unset" if value is None else f"{value:g} s" if key == "deadline_s" else _written(key, value)


def _whose(run: Run, names: Sequence[str]) -> str:
    return "" if len(names) == len(run.allocators()) else f" ({', '.join(labels.allocator(run, name) for name in names)})" if len(names) < 4 else f" ({len(names)} allocators)"
