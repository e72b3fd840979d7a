"""This module finds fonts for characters that the font of figures lacks, such as Chinese ones."""

from __future__ import annotations

import sys
from functools import lru_cache
from pathlib import Path

from matplotlib import font_manager
from matplotlib.figure import Figure
from matplotlib.text import Text

FAMILY = "DejaVu Sans"  # font that comes with matplotlib
_MOST_NAMED = 8


def add_missing(figure: Figure, source: str) -> None:
    """Gives every text of the figure a font for each of its characters. If no installed font has some of them, it prints a
    line on stderr.
    """
    texts = [(text, strange(text.get_text())) for text in figure.findobj(Text)]
    wanted = frozenset().union(*(characters for _, characters in texts))
    families, lost = _fallbacks(wanted) if wanted else ((), frozenset())
    for text, characters in texts:
        if characters:
            text.set_family([FAMILY, *families])
    if lost:
        named = "".join(sorted(lost)[:_MOST_NAMED]) + ("…" if len(lost) > _MOST_NAMED else "")
        print(f"plots: {source}: no installed font has {named}, which appear as boxes. Install fonts-noto-cjk or another font with these characters.",
              file=sys.stderr)


def strange(text: str) -> frozenset[str]:
    """Returns the characters that FAMILY lacks."""
    return frozenset(each for each in text if not each.isspace() and ord(each) not in _known())


@lru_cache(maxsize=None)
def _known() -> frozenset[int]:
    return frozenset(font_manager.get_font(font_manager.findfont(FAMILY)).get_charmap())


@lru_cache(maxsize=None)
def _fallbacks(wanted: frozenset[str]) -> tuple[tuple[str, ...], frozenset[str]]:
    """Returns two things: families that together have these characters, beginning with the one that has most of them,
    and the characters that no font has.

    It searches all installed fonts, because matplotlib's own list lacks fonts that were installed after its first
    start.
    """
    families, lost = [], set(wanted)
    has = {path: {each for each in wanted if ord(each) in _characters(path)} for path in sorted(font_manager.findSystemFonts())}
    for path in sorted(has, key=lambda path: (-len(has[path]), not Path(path).stem.endswith("Regular"), path)):
        if has[path] & lost:
            font_manager.fontManager.addfont(path)
            families.append(font_manager.get_font(path).family_name)
            lost -= has[path]
    return tuple(families), frozenset(lost)


@lru_cache(maxsize=None)
def _characters(path: str) -> frozenset[int]:
    try:
        return frozenset(font_manager.get_font(path).get_charmap())
    except (OSError, RuntimeError):  # the font has no outlines or is damaged
        return frozenset()
