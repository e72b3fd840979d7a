"""What a heat map shows: blocks of cells, each a factor or a status word."""

from __future__ import annotations

from dataclasses import dataclass, field

BLANK = "#ffffff"  # of a cell without a factor


@dataclass(frozen=True)
class Cell:
    text: str
    colour: str
    word: bool  # a status in place of a number
    provisional: bool = False


@dataclass(frozen=True)
class Block:
    """One map: `columns` are (group, value), `rows` one cell per column (None where the config excluded it). `families` has that
    of each row where rows are in their order, else it is empty."""

    title: str
    columns: list[tuple[str, str]]
    rows: list[tuple[str, list[Cell | None]]]
    families: list[str] = field(default_factory=list)
