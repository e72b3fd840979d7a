"""This module defines the content of a heat map: blocks of cells, each with a factor or a status word."""

from __future__ import annotations

from dataclasses import dataclass, field

BLANK = "#ffffff"  # colour of a cell without a factor


@dataclass(frozen=True)
class Cell:
    text: str
    colour: str
    word: bool  # whether the text says why there is no number (a status, `no value` or –)
    provisional: bool = False


@dataclass(frozen=True)
class Block:
    """A block is one map of cells.

    `columns` are (group, value) pairs. `rows` have one cell per column, or None if the run has no such cell.
    `families` contains the family of each row if the rows are grouped by family; otherwise it is empty.
    """

    title: str
    columns: list[tuple[str, str]]
    rows: list[tuple[str, list[Cell | None]]]
    families: list[str] = field(default_factory=list)
