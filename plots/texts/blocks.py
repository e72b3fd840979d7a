"""This module writes tables into texts, from kept results or from the sources. `<!--table NAME-->` in a Markdown file names an
entry of TABLES.
"""

from __future__ import annotations

from typing import Callable

import pandas

from allocbench import stored
from allocbench.errors import UsageError
from plots.runs import kept, schema
from plots.sheet import grid
from plots.texts import config_keys, form_ratios, library_table, paper_tables, study_reach, times_table


def table(query: str) -> str:
    name, *arguments = query.split()
    if name not in TABLES:
        raise UsageError(f"there is no table {name!r}. Known: {', '.join(TABLES)}.")
    made = TABLES[name](*arguments)
    return grid.markdown(made) if isinstance(made, grid.Grid) else f"{made}\n"


def _outcomes(device: str) -> grid.Grid:
    """Lists every kept run with its page of numbers, its description and the statuses of its cells."""
    rows = []
    for folder in stored.find_runs(kept.REFERENCE / device):
        run = kept.read(folder)
        pages = [path for path in sorted((folder / "figures").glob("*.md")) if not path.stem.endswith("_status")]
        name = str(folder.relative_to(kept.REFERENCE / device))
        link = f"[{name}]({name}/figures/{pages[0].name})" if pages else name
        rows.append([link, run.config.get("description", ""), outcome(run.cells["status"])])
    return grid.words(["run", "what it shows", "cells"], rows)


def outcome(statuses: pandas.Series) -> str:
    """Returns `5 of 5 ok`, or `4 ok, 1 timeout`."""
    counts = statuses.value_counts()
    if counts.get("ok", 0) == len(statuses):
        return f"{len(statuses)} of {len(statuses)} ok"
    return ", ".join(f"{counts[word]} {word if word == 'ok' else f'`{word}`'}" for word in stored.STATUSES if word in counts)


TABLES: dict[str, Callable[..., grid.Grid | str]] = {"keys": schema.keys, "config_keys": config_keys.table, "override_keys": config_keys.overridable, "outcomes": _outcomes,
                                      "forms": form_ratios.table, "times": times_table.table, "studies": study_reach.table, "library": library_table.table,
                                      "verdicts": paper_tables.verdicts, "figures": paper_tables.figures}
