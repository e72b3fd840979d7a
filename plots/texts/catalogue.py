"""This module writes docs/catalogue.md: one line for each allocator and workload.

The lines come from `allocbench list --json` and from the headers. Originals without a header in allocators/ are left
out.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

from allocbench.errors import UsageError
from plots.runs import kept
from plots.sheet import grid

PAGE = Path("docs") / "catalogue.md"
_NAMED = re.compile(r'(?:\.name = |traits_as\()"(\w+)"')
_HEAD = """# Catalogue

Which allocators and workloads are there? This command writes the page:

    build/bin/allocbench list --json | /usr/bin/python3 -m plots catalogue

`build/bin/allocbench describe NAME` shows the parameters of an allocator or workload, with units, ranges and sources. An allocator has one of these forms:

* **published**: the paper's operations in the paper's order. We lack the papers of ScatterAlloc, FDGMalloc and Gallatin, and the slides of Halloc omit details, so
  these forms follow the authors' public code as well. Each header names its sources.
* **reworked**: this project's improved version of the design.
* **own**: a design of this project.
* **ablation**: a form with one part removed or exchanged.
* **original**: the authors' own code ([how to add more](../peers/README.md)).
* **delayed**: an allocator whose calls wait, to show how much an application depends on its allocator.
"""


def page(listed: str) -> str:
    """Returns the page for the output of `allocbench list --json`."""
    try:
        known = json.loads(listed)
        allocators, workloads = known["allocators"], known["workloads"]
    except (json.JSONDecodeError, KeyError, TypeError) as error:
        raise UsageError(f"the input is not the output of `allocbench list --json` ({error}).") from None
    return "\n".join([_HEAD, "## Allocators", "", grid.markdown(_allocators(allocators)), "## Workloads", "", grid.markdown(_workloads(workloads))])


def _allocators(allocators: list[dict]) -> grid.Grid:
    headers = _headers("allocators")
    return grid.words(["allocator", "what it does", "paper", "form", "header"],
                      [[f"`{each['name']}`", each["summary"], each["paper"], each["form"], _link(each["name"], headers)]
                       for each in allocators if each["name"] in headers or each["form"] != "original"])


def _workloads(workloads: list[dict]) -> grid.Grid:
    headers = _headers("workloads")
    return grid.words(["workload", "what it does", "paper", "header"], [[f"`{each['name']}`", each["summary"], each["paper"], _link(each["name"], headers)]
                                                                       for each in sorted(workloads, key=lambda each: each["name"])])


def _headers(folder: str) -> dict[str, str]:
    """Returns the header that contains the traits of each name."""
    found = {}
    for path in sorted((kept.ROOT / folder).glob("*/*.hpp")):
        if path.parent.name != "contract":
            found.update((name, path.relative_to(kept.ROOT).as_posix()) for name in _NAMED.findall(path.read_text(encoding="utf-8")))
    return found


def _link(name: str, headers: dict[str, str]) -> str:
    if name not in headers:
        raise UsageError(f'No header in allocators/*/ or workloads/*/ has the traits of {name}. They need `.name = "{name}"` or `traits_as("{name}")`.')
    return f"[{Path(headers[name]).name}](../{headers[name]})"
