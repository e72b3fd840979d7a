"""This module writes the keys of configs as Markdown tables, from configs/schema/config.schema.json: `<!--table config_keys
PART-->`.
"""

from __future__ import annotations

import json

from allocbench.errors import UsageError
from plots.runs import schema
from plots.sheet import grid


def parts() -> dict[str, dict]:
    """Returns the objects of a config that have keys, by name. Each maps its keys to the nodes of the schema."""
    definitions = schema.definitions()
    return {"config": definitions["measurement"]["properties"], "allocator": definitions["allocators"]["items"]["anyOf"][1]["properties"],
            "set": definitions["allocators"]["items"]["anyOf"][2]["properties"],
            "overrides": definitions["overrides"]["additionalProperties"]["properties"], "claim": definitions["claims"]["items"]["properties"]}


def table(part: str) -> grid.Grid:
    if part not in parts():
        raise UsageError(f"a config has no part {part!r}. Known: {', '.join(parts())}.")
    return grid.words(["key", "meaning", "example"], [[f"`{key}`", schema.description(node), _shown(key, node)] for key, node in parts()[part].items()])


def overridable() -> str:
    """Returns the keys of an entry of `overrides`, as words of a sentence."""
    return ", ".join(f"`{key}`" for key in parts()["overrides"])


def _shown(key: str, node: dict) -> str:
    return f"`{json.dumps({key: schema.example(node, key)}, ensure_ascii=False)[1:-1]}`"
