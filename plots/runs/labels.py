"""This module gives the display names of settings, values and allocators in figures, and the order of values.

The `names` of a config's plot come first. They map an id, a word or a setting to the text that readers see. In the text
of a setting, `{}` stands for its value. Next come the display names in the results, then the names of style.py and
quantity.py.
"""

from __future__ import annotations

import re
from typing import Sequence

from plots.runs.results import Run
from plots.sheet import quantity, style


def allocator(run: Run, name: str) -> str:
    return _given(run, name) or run.names.get(name) or style.display_name(name)


def setting_name(run: Run, setting: str) -> str:
    given = _given(run, setting)
    return given if given and "{}" not in given else quantity.axis_name(setting)


def value_of(run: Run, setting: str, value) -> str:
    """Returns a value alone, as on an axis."""
    if setting == "allocator":
        return allocator(run, value)
    return ("" if quantity.is_number(value) else _given(run, str(value))) or quantity.written(setting, value)


def setting_of(run: Run, setting: str, value) -> str:
    """Returns a setting with its value, as in the name of a panel: `pool size 1 KiB`."""
    given = _given(run, setting)
    if given and "{}" in given:
        return re.sub(r"^1 (\w*[^\Ws])s\b", r"1 \1", given.format(value_of(run, setting, value)))  # 1 tuple, but 8 tuples
    return _given(run, str(value)) or f"{setting_name(run, setting)} {value_of(run, setting, value)}"


def distinguished(label: str, words: list[str]) -> str:
    """Returns the label, followed in parentheses by the words that distinguish it from others. It does not repeat words
    that the label already has between commas.
    """
    more = ", ".join(each for each in words if each not in label.split(", "))
    if not more:
        return label
    return f"{label[:-1]}, {more})" if label.endswith(")") else f"{label} ({more})"


def told(run: Run, setting: str, value) -> str:
    """Returns a setting for the label of a series. A word needs no name, but any other value does."""
    if isinstance(value, bool):
        return f"{setting_name(run, setting)} {'on' if value else 'off'}"
    return value_of(run, setting, value) if isinstance(value, str) else setting_of(run, setting, value)


def with_parameters(run: Run, name: str, parameters: dict, sets: Sequence[dict]) -> str:
    """Returns the display name of an allocator, and in parentheses those of its `parameters` whose values differ among
    `sets`.
    """
    differing = [told(run, key, value) for key, value in sorted(parameters.items()) if len({str(each.get(key)) for each in sets}) > 1]
    return allocator(run, name) + (f" ({', '.join(differing)})" if differing else "")


def _given(run: Run, name: str) -> str:
    return run.plot.get("names", {}).get(name, "")


def together(names: Sequence[str]) -> str:
    """Returns the names as a sentence lists them: `A, B and C`."""
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))


def listed(value) -> list:
    return [value] if isinstance(value, str) else value


def words_of(run: Run, x: str) -> list[str]:
    """Returns the words that x sweeps, in the order of the config, or an empty list if x sweeps numbers.

    The index of a word is its position on the axis.
    """
    present = {value for value in run.column(x) if isinstance(value, str)}
    written = [value for value in _written(run, x) if isinstance(value, str)]
    return list(dict.fromkeys([*written, *sorted(present)])) if present else []


def columns_of(run: Run, x: str) -> list:
    """Returns the values of x that stand at equal distances: the words, or the numbers that choice.shown() has listed for
    `evenly`. The list is empty if the axis has a scale.
    """
    return words_of(run, x) or run.plot.get("evenly", [])


def in_config_order(run: Run, setting: str, values: list) -> list:
    """Sorts values in the order of the config, or by size if the config writes them in another form (sizes as
    "2MiB").
    """
    written = (run.allocators() if setting == "allocator" else []) + _written(run, setting)
    return sorted(values, key=written.index if set(values) <= set(_hashable(written)) else order)


def _written(run: Run, setting: str) -> list:
    return [value for axes in (run.config.get("sweep", {}), *run.config.get("zip", []))
            for value in listed(axes.get(setting, []))]


def _hashable(values: list) -> list:
    return [value for value in values if not isinstance(value, (list, dict))]


def order(value) -> tuple:
    """Returns a sort key: numbers come first, by size, then other values by their text."""
    return (0, value, "") if quantity.is_number(value) else (1, 0, str(value))
