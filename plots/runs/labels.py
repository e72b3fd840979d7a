"""What settings, their values and allocators are called in a figure, and the order of values.

`names` of a config's plot goes first: by id, word or setting, the text that readers see (for a setting with `{}` in the place of
its value). Then come the results' display names, then the names of style.py and quantity.py.
"""

from __future__ import annotations

from typing import Sequence

from plots.runs.results import Run
from plots.sheet import quantity, style


def allocator(run: Run, name: str) -> str:
    return _given(run, name) or run.names.get(name) or style.display_name(name)


def setting_name(run: Run, setting: str) -> str:
    given = _given(run, setting)
    return given if given and "{}" not in given else quantity.axis_name(setting)


def value_of(run: Run, setting: str, value) -> str:
    """A value alone, as on an axis."""
    if setting == "allocator":
        return allocator(run, value)
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return quantity.formatter(setting)(value) if is_number else _given(run, str(value)) or str(value)


def setting_of(run: Run, setting: str, value) -> str:
    """A setting with its value, as in the name of a panel: `pool size 1 KiB`."""
    given = _given(run, setting)
    if given and "{}" in given:
        return given.format(value_of(run, setting, value))
    return _given(run, str(value)) or f"{setting_name(run, setting)} {value_of(run, setting, value)}"


def told(run: Run, setting: str, value) -> str:
    """A setting in a label of a series: a word explains itself, anything else needs its name."""
    if isinstance(value, bool):
        return f"{setting_name(run, setting)} {'on' if value else 'off'}"
    return value_of(run, setting, value) if isinstance(value, str) else setting_of(run, setting, value)


def with_parameters(run: Run, name: str, parameters: dict, sets: Sequence[dict]) -> str:
    """An allocator with those of its parameters in which its sets of parameters differ."""
    differing = [told(run, key, value) for key, value in sorted(parameters.items()) if len({str(each.get(key)) for each in sets}) > 1]
    return allocator(run, name) + (f" ({', '.join(differing)})" if differing else "")


def _given(run: Run, name: str) -> str:
    return run.plot.get("names", {}).get(name, "")


def listed(value) -> list:
    return [value] if isinstance(value, str) else value


def words_of(run: Run, x: str) -> list[str]:
    """The words that x sweeps, in the order of the config: a word's place in the list is its place on the axis. Empty
    where x sweeps numbers."""
    present = {value for value in run.column(x) if isinstance(value, str)}
    written = [value for value in _written(run, x) if isinstance(value, str)]
    return list(dict.fromkeys([*written, *sorted(present)])) if present else []


def in_config_order(run: Run, setting: str, values: list) -> list:
    """In the order of the config, by size where the config writes the values otherwise (sizes as "2MiB")."""
    written = (run.allocators() if setting == "allocator" else []) + _written(run, setting)
    return sorted(values, key=written.index if set(values) <= set(_hashable(written)) else order)


def _written(run: Run, setting: str) -> list:
    return [value for axes in (run.config.get("sweep", {}), *run.config.get("zip", []))
            for value in listed(axes.get(setting, []))]


def _hashable(values: list) -> list:
    return [value for value in values if not isinstance(value, (list, dict))]


def order(value) -> tuple:
    """Numbers by size, then everything else by its text."""
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return (0, value, "") if is_number else (1, 0, str(value))
