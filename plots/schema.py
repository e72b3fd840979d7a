"""The keys of a config's `plot`: configs/schema/config.schema.json is their only list; this module reads it."""

from __future__ import annotations

import functools
import json
from pathlib import Path

import jsonschema

from allocbench.errors import UsageError

PATH = Path(__file__).resolve().parents[1] / "configs" / "schema" / "config.schema.json"


@functools.lru_cache(maxsize=None)
def _document() -> dict:
    return json.loads(PATH.read_text(encoding="utf-8"))


@functools.lru_cache(maxsize=None)
def kinds() -> dict[str, str]:
    """Figure kind -> name of its definition."""
    return {definition["properties"]["kind"]["const"]: name for name, definition in _document()["definitions"].items()
            if name.endswith("Plot") and "kind" in definition.get("properties", {})}


def check(plot: dict, where) -> None:
    """Refuses a plot that the schema refuses: all mistakes at once, each with its place."""
    kind = plot.get("kind")
    if kind not in kinds():
        raise UsageError(f"{where}: plot.kind is {kind!r}. Known are: {', '.join(kinds())}.")
    validator = jsonschema.Draft7Validator({**_document()["definitions"][kinds()[kind]], "definitions": _document()["definitions"]})
    mistakes = [f"/plot{''.join(f'/{step}' for step in error.absolute_path)}: {error.message}" for error in validator.iter_errors(plot)]
    if mistakes:
        raise UsageError(f"{where}: {'; '.join(sorted(mistakes))}. Correct the plot, or give another one with --config FILE "
                         "(keys: plots/README.md).")


def keys() -> str:
    """All keys as a Markdown table: key, kinds, meaning."""
    meanings: dict[tuple[str, str], list[str]] = {}
    for kind, name in kinds().items():
        for key, entry in _document()["definitions"][name]["properties"].items():
            if key != "kind":
                meanings.setdefault((key, _description(entry)), []).append(kind)
    rows = [f"| `{key}` | {', '.join(kinds_of)} | {meaning} |" for (key, meaning), kinds_of in sorted(meanings.items())]
    return "\n".join(["| key | kinds | meaning |", "|---|---|---|", *rows])


def _description(entry: dict) -> str:
    if "description" in entry:
        return entry["description"]
    reference = entry.get("$ref", "").removeprefix("#/definitions/")
    return _document()["definitions"][reference].get("description", "") if reference else ""
