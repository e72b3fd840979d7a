"""This module finds the form of an allocator from its id, and changes the form that a claim is about.

`halloc` is the form that the paper describes, `halloc_reworked` is this project's improvement, and `halloc_original` is
the authors' code behind an adapter. A claim names published forms. This module makes the same claim about another form.
"""

from __future__ import annotations

import re
from typing import Collection

PUBLISHED, REWORKED, ORIGINAL, OWN, ABLATION = "published", "reworked", "original", "own", "ablation"
# An answer may rank these forms. The address of the HTML page names each form by its letter.
LETTERS = {PUBLISHED: "p", REWORKED: "r", ORIGINAL: "o", OWN: "w", ABLATION: "a"}
_SUFFIXES = {REWORKED: "_reworked", ORIGINAL: "_original"}
_SIDES = ("of", "to", "over", "against")
# This pattern matches an id, or a label made of an id and its parameters: xmalloc(coalescing=false).
_LABEL = re.compile(r"([a-z][a-z0-9_]*)(\(.*)?", re.DOTALL)


def lettered() -> str:
    """Returns the key of LETTERS: `p published, r reworked, ...`."""
    return ", ".join(f"{letter} {shown(form)}" for form, letter in LETTERS.items())


def shown(form: str) -> str:
    """Returns the form's name for readers, which is `our own` for `own`."""
    return "our own" if form == OWN else form


def titled(entry: dict) -> str:
    """Returns the allocator's name with its form."""
    return entry["name"] if shown(entry["form"]) in entry["name"].lower() else f"{entry['name']} ({shown(entry['form'])})"


def form_of(name: str) -> str:
    found = _LABEL.fullmatch(name)
    return next((form for form, suffix in _SUFFIXES.items() if found and found[1].endswith(suffix)), PUBLISHED)


def in_form(name: str, form: str) -> str:
    """Returns the id or label of another form of a published allocator."""
    found = _LABEL.fullmatch(name)
    return f"{found[1]}{_SUFFIXES[form]}{found[2] or ''}" if found and form in _SUFFIXES else name


def claim_about(claim: dict, kind: str, form: str, known: Collection[str]) -> dict | None:
    """Replaces each allocator of a claim by its other form, if that form is in `known`. Returns None if none is."""
    replaced = 0

    def one(name: str) -> str:
        nonlocal replaced
        other = in_form(name, form)
        replaced += other != name and other in known
        return other if other in known else name

    def side(given):
        if isinstance(given, str):
            return one(given)
        if isinstance(given, list):
            return [one(name) for name in given]
        return {**given, "allocator": side(given["allocator"])} if "allocator" in given else given

    effect = {key: side(value) if key in _SIDES else value for key, value in claim[kind].items()}
    return {**claim, kind: effect} if replaced else None
