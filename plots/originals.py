"""What the authors' own code does on a card of this kind, from data/originals/: measured separately, not in a run of this suite."""

from __future__ import annotations

import functools
import json
from pathlib import Path

from allocbench.errors import UsageError

FOLDER = Path(__file__).resolve().parents[1] / "data" / "originals"


@functools.lru_cache(maxsize=None)
def _of(device: str) -> dict:
    for path in sorted(FOLDER.glob("*.json")):
        table = json.loads(path.read_text(encoding="utf-8"))
        if any(word in device for word in table["devices"]):
            return table
    return {}


def ratio(device: str, asked: dict) -> float | None:
    """The quotient that a claim's key `original` asks for: the times of two originals in one phase and size. None where the device has no
    table, or one of the two gave no time."""
    table = _of(device)
    if not table:
        return None
    if asked["request_bytes"] not in table["request_bytes"]:
        raise UsageError(f"a claim asks for originals at {asked['request_bytes']} B; there are {', '.join(map(str, table['request_bytes']))} B")
    place = table["request_bytes"].index(asked["request_bytes"])
    times = []
    for name in (asked["of"], asked["to"]):
        if name not in table["allocators"]:
            raise UsageError(f"a claim asks for the original of {name!r}; there are {', '.join(table['allocators'])}")
        times.append(table["allocators"][name][asked["phase"]][place])
    return None if None in times else times[0] / times[1]
