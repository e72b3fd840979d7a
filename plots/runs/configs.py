"""This module reads configs, merges their parts as the front end does (harness/front/config/config_merge.cpp), and compares what
they measure.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

from allocbench.errors import UsageError
from plots import ROOT
from plots.runs import schema

FOLDER = ROOT / "configs"
_SECTIONS = ("cpu", "cuda", "full")
# These keys say nothing about the numbers of the cells. They are texts, claims, the plot, the deadline of a cell, and the
# rule for a pool that does not fit the device.
_BESIDE = ("$schema", "paper", "description", "assumed", "notes", "claims", "plot", "pool", "deadline_s")


# A number in a sentence of a config: the query that computes it (plots/texts/numbers.py), and the answer.
MARKED = re.compile(r"<!--n (?P<query>[^>]*?)-->(?P<text>.*?)<!--/n-->", re.S)


def read(path: Path) -> dict:
    """Returns the config of a file, with sets of allocators spread and without the queries of its numbers."""
    try:
        config = json.loads(without_queries(path.read_text(encoding="utf-8")))
    except FileNotFoundError:
        raise UsageError(f"{path} does not exist. Check the path.") from None
    except json.JSONDecodeError as error:
        raise UsageError(f"{path}:{error.lineno} is not JSON ({error.msg}). Check it with: allocbench --config {path} --dry-run") from None
    except UnicodeDecodeError as error:
        raise UsageError(f"{path} is not JSON ({error}). Check it with: allocbench --config {path} --dry-run") from None
    if not isinstance(config, dict):
        raise UsageError(f"{path}:1 is not a config: its JSON is not an object.")
    return spread(config)


def without_queries(text: str) -> str:
    """Returns a text with the answers only."""
    return MARKED.sub(lambda number: number["text"], text)


def spread(config: dict) -> dict:
    """Replaces sets of allocators by their members."""
    parts = {name: spread(config[name]) for name in _SECTIONS if isinstance(config.get(name), dict)}
    if "allocators" in config:
        parts["allocators"] = [each for entry in config["allocators"] for each in _entries(entry)]
    return {**config, **parts}


def _entries(entry) -> list:
    if not isinstance(entry, dict) or "set" not in entry:
        return [entry]
    ids = [each for each in schema.definitions()["allocatorSets"][entry["set"]] if each not in entry.get("without", [])]
    return [{"id": each, "parameters": entry["parameters"]} for each in ids] if "parameters" in entry else ids


def named(name: str, folder: Path | None = None) -> dict | None:
    """Returns the current config of this name, which may be newer than the results, or None if there is none."""
    path = (folder or FOLDER) / f"{name}.json"
    return read(path) if path.is_file() else None


def effective(config: dict, *sections: str) -> dict:
    """Returns the config with the parts of these sections applied and all sections removed."""
    made = config
    for section in sections:
        made = merged(made, config.get(section, {}))
    return {key: value for key, value in made.items() if key not in _SECTIONS}


def merged(base: dict, changes: dict) -> dict:
    """Merges objects key by key. Axis forms (objects with `range` or `log2`) and other values are replaced, and null
    removes a key.
    """
    result = dict(base)
    for key, value in changes.items():
        old = result.get(key)
        if value is None:
            result.pop(key, None)
        elif isinstance(value, dict) and isinstance(old, dict) and not (_is_axis_form(value) or _is_axis_form(old)):
            result[key] = merged(old, value)
        else:
            result[key] = value
    return result


def _is_axis_form(value: dict) -> bool:
    return "range" in value or "log2" in value


def measures_the_same(stored: dict, today: dict, backend: str) -> bool:
    """Returns whether the current config defines the same measurements for this back end as the stored config. The keys
    in _BESIDE may differ.
    """
    return _measured(effective(stored)) == _measured(effective(today, backend))


def measures_other_values(stored: dict, today: dict, backend: str) -> bool:
    """Returns whether the current config differs from the stored one only in the values of the same swept settings and in
    `exclude`, so that its plot and its texts also fit the stored cells. The keys in _BESIDE may differ.
    """
    one, other = _measured(effective(stored)), _measured(effective(today, backend))
    swept = [{name for group in (config.get("sweep", {}), *config.get("zip", [])) for name in group} for config in (one, other)]
    return one != other and swept[0] == swept[1] and _without_values(one) == _without_values(other)


def _without_values(config: dict) -> dict:
    return {key: value for key, value in config.items() if key not in ("sweep", "zip", "exclude")}


def _measured(config: dict) -> dict:
    overrides = {name: {key: value for key, value in own.items() if key not in _BESIDE} for name, own in config.get("overrides", {}).items()}
    # The order does not matter, because each round shuffles it.
    allocators = sorted(config.get("allocators", []), key=json.dumps)
    return {**{key: value for key, value in config.items() if key not in _BESIDE}, "allocators": allocators, "overrides": {name: own for name, own in overrides.items() if own}}
