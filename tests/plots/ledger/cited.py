"""Checks which sections of papers the claims cite. `sections.json` has the sections of each paper, and the figures,
tables and equations in each section. For slides, it has the titles. The survey's text is not public, so its figures
have no sections.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

_TABLE = json.loads(Path(__file__).with_name("sections.json").read_text(encoding="utf-8"))
_NUMBER = r"\(?[0-9IVX]+(?:[.-][0-9A-Za-z]+)*(?:\([a-z]\))?\)?"
_CITED = re.compile(rf"\b(sec|fig|eq|table)s?\.? ((?:{_NUMBER}(?:, | and )?)+)")


def fault(paper: str, heading: str, source: str) -> str:
    """Returns what is wrong with the place that a claim cites, or an empty text. `heading` is the config's `paper`,
    which names its figures.
    """
    known = _TABLE[paper]
    if "slides" in known:
        return "" if any(source == title or source.startswith(f"{title}, ") for title in known["slides"]) else f"no slide has the title of: {source}"
    if source == "abstract" and paper != "survey2021":
        return ""
    cited = _cited(source)
    if not cited:
        return f"names no section, figure or table: {source}"
    strange = [f"{kind} {name}" for kind, name in cited if name not in known["sections" if kind == "sec." else kind]]
    if strange:
        return f"the paper has no {', '.join(strange)}: {source}"
    figures = [name for kind, name in cited if kind == "fig."]
    foreign = [name for name in figures if ("fig.", name) not in _cited(heading.lower())]
    if foreign:
        return f"fig. {', '.join(foreign)} is not the config's figure ({heading}): {source}"
    sections = {name for kind, name in cited if kind == "sec."}
    homes = [known[kind][name] for kind, name in cited if kind != "sec."]
    if any(homes) and not sections:
        return f"names no section: {source}"
    lost = sections - set().union(*homes, _beside(sections, homes))
    return f"sec. {', '.join(sorted(lost))} has nothing of it: {source}" if lost and any(homes) else ""


def _beside(sections: set[str], homes: list[list[str]]) -> set[str]:
    """A claim may name further sections if each of its figures has a section."""
    return sections if all(sections & set(home) for home in homes) else set()


def _cited(source: str) -> list[tuple[str, str]]:
    """Returns the kind and the number of each place that a text such as `secs. 3.2 and 5.2.1, fig. 11` names."""
    made = []
    for kind, numbers in _CITED.findall(source):
        for number in re.findall(_NUMBER, numbers):
            made.append((kind if kind == "table" else f"{kind}.", number.strip("()") if number.startswith("(") else number))
    return made
