"""This module reads the times of the authors' own code from data/originals. These times do not come from runs of this suite."""

from __future__ import annotations

import functools
import json
from typing import Mapping

from allocbench.errors import UsageError
from plots import ROOT
from plots.ledger.effects import Estimate, Found

FOLDER = ROOT / "data" / "originals"
_MICRO = 1e-6  # seconds in a microsecond, the unit of the files
_WORDS = ("of", "to", "phase", "request_bytes", "of.request_bytes", "to.request_bytes", "show", "digits")


def read(name: str) -> dict:
    """Reads the file of this name."""
    try:
        return json.loads((FOLDER / name).read_text(encoding="utf-8"))
    except (FileNotFoundError, json.JSONDecodeError) as error:
        raise UsageError(f"{FOLDER / name} cannot be read ({error}).") from None


@functools.lru_cache(maxsize=None)
def _of(device: str) -> dict:
    for path in sorted(FOLDER.glob("*.json")):
        table = read(path.name)
        if any(word in device for word in table["devices"]):
            return table
    return {}


def ratio(device: str, asked: dict) -> float | None:
    """Returns the ratio that a claim's key `original` names: the times of two originals for one phase and size.

    The result is None if there is no table for the device, or if one of the two originals gave no time.
    """
    table = _of(device)
    if not table:
        return None
    times = [_seconds(table, asked[side], asked["phase"], asked["request_bytes"]) for side in ("of", "to")]
    return None if None in times else times[0] / times[1]


def found(name: str, wanted: Mapping[str, str]) -> Found:
    """Returns the times for a query of numbers.py. With `to` or `to.request_bytes`, it returns quotients."""
    table, phase = read(f"{name}.json"), wanted.get("phase", "alloc")
    unknown = [key for key in wanted if key not in _WORDS]
    if unknown:
        raise UsageError(f"a query of originals has no key {unknown[0]!r}. It has: {', '.join(_WORDS)}.")

    def seconds(side: str) -> list[float]:
        allocator = wanted.get(side, wanted.get("of", ""))
        sizes = wanted.get(f"{side}.request_bytes", wanted.get("request_bytes"))
        times = [_seconds(table, allocator, phase, size) for size in (map(int, sizes.split(",")) if sizes else table["request_bytes"])]
        if None in times:
            raise UsageError(f"the original of {allocator!r} gave no time at one of these sizes.")
        return times

    if "to" not in wanted and "to.request_bytes" not in wanted:
        return Found([Estimate(each, None, None, "") for each in seconds("of")], unit="s", metric="time")
    of, to = seconds("of"), seconds("to")
    if len(of) != len(to):
        raise UsageError("a quotient of originals needs the same number of sizes on both sides.")
    return Found([Estimate(mine / theirs, None, None, "") for mine, theirs in zip(of, to)])


def _seconds(table: dict, allocator: str, phase: str, size: int) -> float | None:
    if size not in table["request_bytes"]:
        raise UsageError(f"there are no originals at {size} B. Allowed: {', '.join(map(str, table['request_bytes']))} B.")
    if allocator not in table["allocators"]:
        raise UsageError(f"there is no original of {allocator!r}. Allowed: {', '.join(table['allocators'])}.")
    if phase not in table["allocators"][allocator]:
        raise UsageError(f"the original of {allocator!r} has no phase {phase!r}. It has: {', '.join(table['allocators'][allocator])}.")
    time = table["allocators"][allocator][phase][table["request_bytes"].index(size)]
    return None if time is None else time * _MICRO
