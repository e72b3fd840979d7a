"""This module writes a table of the installed allocators with their C++ types and headers: `<!--table library-->`."""

from __future__ import annotations

import re
from pathlib import Path

from allocbench.errors import UsageError
from plots.runs import kept
from plots.sheet import grid

_REGISTERED = re.compile(r"^ALLOCBENCH_REGISTER\(\w+,([^)]*)\)", re.M)
_NAME = re.compile(r'\.name = "(\w+)"')
_NOT_INSTALLED = ("contract", "saboteur", "delayed")  # cmake/AllocbenchInstall.cmake leaves out the last two


def table() -> grid.Grid:
    root = kept.ROOT / "allocators"
    return grid.words(["allocator", "type in `allocbench::`", "header"],
                      [row for path in sorted(root.glob("*/*.hpp")) if path.parent.name not in _NOT_INSTALLED for row in _rows(path)])


def _rows(path: Path) -> list[list[str]]:
    text = path.read_text(encoding="utf-8")
    types = [each.strip() for listed in _REGISTERED.findall(text) for each in listed.split(",")]
    header = path.relative_to(kept.ROOT).as_posix()
    return [[f"`{_name_of(each, text, header)}`", f"`{each}`", f"`{header}`"] for each in types]


def _name_of(type_: str, text: str, header: str) -> str:
    """Returns the first name in the body of the class."""
    declared = re.search(rf"^(?:class|struct) {type_}\b[^;]*?{{", text, re.M)
    name = declared and _NAME.search(text, declared.end())
    if not name:
        raise UsageError(f"{header} registers {type_}, but has no class of this name with traits.")
    return name[1]
