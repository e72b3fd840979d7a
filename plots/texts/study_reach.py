"""This module writes the table of how many cells each study measured, and in how many minutes, from
results/reference/<device>/studies.json. Each row of the file comes from `tools/lacking-values.py --append`.

    <!--table studies h200-->
"""

from __future__ import annotations

import json

from plots.runs import kept
from plots.sheet import grid


def table(device: str) -> grid.Grid:
    rows = []
    for row in json.loads((kept.REFERENCE / device / "studies.json").read_text(encoding="utf-8")):
        commands = "" if row["commands"] == 1 else f" in {row['commands']} commands"
        rows.append([f"`{row['command']}`{commands}", f"{row['cards']} × {row['device']}", f"{row['minutes']:.1f}",
                     f"{row['values']:,} of {row['cells']:,}", f"{row['with_three_rounds']:,}", f"{row['of_kept']:,} of {row['kept']:,}",
                     f"{row['configs_with_values']} of {row['configs']}", f"{row['date']}, {row['revision']}"])
    return grid.words(["study", "cards", "minutes", "cells with a value", "with three rounds", "of the kept values", "configs with a value", "date, revision"], rows)
