"""This module writes the index of a study.

The index lists every kept run with its description, pictures, numbers and statuses, and the files that cover several
runs.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from plots.runs.results import Run
from plots.sheet import grid, quantity
from plots.texts import blocks

NAME = "index.md"
_HEADER = ("run", "shows", "pictures", "numbers", "cells that are not ok", "cells")


def page(folder: Path, runs: Mapping[str, Run], made: Iterable[Path]) -> str:
    """Returns the page. `made` has every file that is made of the runs, and the page links each file once."""
    files = sorted(path.relative_to(folder).as_posix() for path in made)
    rows, linked = [], set()
    for place, run in runs.items():
        own = [name for name in files if name.startswith(f"{place}/figures/")]
        linked |= set(own)
        status = [name for name in own if name.endswith("_status.md")]
        numbers = [name for name in own if name.endswith(".md") and name not in status]
        pictures = [name for name in own if name.endswith(".png")]
        shows = run.config.get("description", "")
        rows.append([f"`{place}`", shows, _links(pictures, "picture"), _links(numbers, "numbers"), _links(status, "list"), blocks.outcome(run.cells["status"])])
    over = [f"- [{name}]({name})" for name in files if name not in linked]
    counts = f"{quantity.counted(len(runs), 'kept run')}, {len(files)} files that are made of {'it' if len(runs) == 1 else 'them'}. `python3 -m plots regenerate` writes all of them and this page."
    return "\n\n".join([f"# Index of {folder.name}", counts, "## Over several runs", "\n".join(over), "## Runs", grid.markdown(grid.Grid(_HEADER, rows, aligned_left=6))])


def _links(names: list[str], word: str) -> str:
    return ", ".join(f"[{word if number == 1 else f'{word} {number}'}]({name})" for number, name in enumerate(names, 1))
