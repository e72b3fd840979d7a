"""This module reads which allocators are known to hand out a block twice, to corrupt memory or to hang, from the tables
at the top of docs/findings.md. Tests check these tables.
"""

from __future__ import annotations

import functools
import re

from plots.runs import kept

_HEADINGS = (
    "## Registrations that must fail",
    "## Registrations that fail in one model",
    "## Registrations that race",
    "## Registrations whose error no built-in model shows",
)


@functools.lru_cache(maxsize=None)
def known() -> dict[str, str]:
    """Returns the reason for each unsafe allocator. The result is empty if the repository's documents are not
    installed.
    """
    path = kept.ROOT / "docs" / "findings.md"
    if not path.is_file():
        return {}
    found: dict[str, str] = {}
    inside = False
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("#"):
            inside = line.strip() in _HEADINGS
        elif inside and (row := re.fullmatch(r"\| `([a-z0-9_]+)` \|(?: `[a-z_]+` \|)? (.+?) \|", line.strip())):
            reason = row[2] if row[2] != "the same" else list(found.values())[-1]
            found[row[1]] = reason
    return found
