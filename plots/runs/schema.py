"""This module reads the keys of a config's `plot` from configs/schema/config.schema.json. The table of keys in
docs/write-a-config.md comes from this file, too.
"""

from __future__ import annotations

import functools
import json

import jsonschema

from allocbench.errors import UsageError
from plots import ROOT
from plots.sheet import grid

PATH = ROOT / "configs" / "schema" / "config.schema.json"


@functools.lru_cache(maxsize=None)
def _document() -> dict:
    return json.loads(PATH.read_text(encoding="utf-8"))


@functools.lru_cache(maxsize=None)
def kinds() -> dict[str, str]:
    """Returns the name of the definition of each figure kind."""
    return {definition["properties"]["kind"]["const"]: name for name, definition in _document()["definitions"].items()
            if name.endswith("Plot") and "kind" in definition.get("properties", {})}


def check(plot: dict, where) -> None:
    """Checks a plot against the schema. The error lists all mistakes with their places."""
    kind = plot.get("kind")
    if kind not in kinds():
        raise UsageError(f"{where}: plot.kind is {kind!r}. Known: {', '.join(kinds())}.")
    validator = jsonschema.Draft7Validator({**_document()["definitions"][kinds()[kind]], "definitions": _document()["definitions"]})
    mistakes = [f"/plot{''.join(f'/{step}' for step in error.absolute_path)}: {error.message}" for error in validator.iter_errors(plot)]
    if mistakes:
        raise UsageError(f"{where}: {'; '.join(sorted(mistakes))}. Correct the plot, or give another one with --config FILE "
                         "(keys: docs/write-a-config.md).")


def keys() -> grid.Grid:
    """Returns a table of all keys: key, kinds, meaning, example."""
    meanings: dict[tuple[str, str, str], list[str]] = {}
    for kind, name in kinds().items():
        for key, entry in definitions()[name]["properties"].items():
            if key != "kind":
                meanings.setdefault((key, description(entry), json.dumps(example(entry, key), ensure_ascii=False)), []).append(kind)
    return grid.words(["key", "kinds", "meaning", "example"], [[f"`{key}`", ", ".join(kinds_of), meaning, f"`\"{key}\": {shown}`"]
                                                               for (key, meaning, shown), kinds_of in sorted(meanings.items())])


def definitions() -> dict[str, dict]:
    return _document()["definitions"]


def description(node: dict) -> str:
    """Returns the description of a node, or of the definition that it refers to."""
    return _said(node, "description", "")


def example(node: dict, key: str):
    """Returns the first example of a node, or of the definition that it refers to."""
    found = _said(node, "examples", [])
    if not found:
        raise UsageError(f"{PATH}: the key {key!r} has no `examples`.")
    return found[0]


def _said(node: dict, what: str, otherwise):
    if what in node:
        return node[what]
    target = node.get("$ref", "").removeprefix("#/definitions/")
    return _said(definitions()[target], what, otherwise) if target else otherwise
