"""This module implements `python3 -m plots cards`, which compares two models of cards."""

from __future__ import annotations

import argparse
from pathlib import Path

from plots.commands.parser import Parser
from plots.reference import cards
from plots.sheet import files

_EPILOG = """\
example:
  python3 -m plots cards results/reference/h200 results/reference/h100 --out results/reference/h100

`allocbench compare A B` compares each cell that both results have.

exit codes: 0: printed; 2: wrong usage or unreadable results; 3: nothing in common
"""


def main(arguments: list[str]) -> int:
    parser = Parser(prog="python3 -m plots cards", epilog=_EPILOG, formatter_class=argparse.RawDescriptionHelpFormatter,
                    description="Compare kept results of two models of cards: how alike they rank allocators in each group, and what changes most.")
    parser.add_argument("one", type=Path, metavar="A", help="folder of a study or of a group")
    parser.add_argument("other", type=Path, metavar="B", help="folder of the same study or group on the other model")
    parser.add_argument("--out", type=Path, metavar="DIR", help=f"write {cards.NAME} there, too")
    options = parser.parse_args(arguments)
    text = cards.markdown(cards.compare(cards.read(options.one), cards.read(options.other)))
    if options.out:
        files.write(options.out / cards.NAME, text)
    print(text, end="")
    return 0
