"""This module names the command that the user called, for errors and help: plots itself, or `allocbench`, which started it."""

from __future__ import annotations

import os

_BY_ALLOCBENCH = {"advise": "allocbench advise", "page": "allocbench report --html"}


def _is_from_allocbench() -> bool:
    return os.environ.get("ALLOCBENCH_STARTED_PLOTS") == "1"  # harness/front/cli/plots_program.cpp sets it


def program(verb: str) -> str:
    """Returns the word before an error of this verb."""
    return _BY_ALLOCBENCH.get(verb, "plots") if _is_from_allocbench() else "plots"


def command(verb: str) -> str:
    """Returns the command line that starts this verb."""
    return _BY_ALLOCBENCH[verb] if _is_from_allocbench() and verb in _BY_ALLOCBENCH else f"python3 -m plots {verb}"
