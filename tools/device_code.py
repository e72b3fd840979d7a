"""Finds the device code of a header."""

import re


_CLOSING = {"(": ")", "{": "}", "[": "]"}
_OPENING = {closing: opening for opening, closing in _CLOSING.items()}


def partner(text, at):
    """Returns the position of the bracket that matches the one at `at`, or -1 if there is none."""
    opens = text[at] in _CLOSING
    other = (_CLOSING if opens else _OPENING)[text[at]]
    depth = 0
    for position in range(at, len(text)) if opens else range(at, -1, -1):
        if text[position] == text[at]:
            depth += 1
        elif text[position] == other:
            depth -= 1
            if depth == 0:
                return position
    return -1


def blanked(source):
    """Replaces line comments and texts in quotes by blanks, so that positions stay."""
    return re.sub(r"//[^\n]*|\"(?:\\.|[^\"\\\n])*\"", lambda found: " " * len(found.group()), source)


def device_functions(source):
    """Returns (name, begin, end) of the bodies of functions marked SIMT_FN. The source must have no comments."""
    found = []
    for mark in re.finditer(r"\bSIMT_FN\b", source):
        begin = re.compile(r"[{;]").search(source, mark.end())
        name = re.compile(r"(operator\(\)|\w+)\s*\(").search(source, mark.end())
        if begin is None or begin.group() == ";" or name is None or name.start() > begin.start():
            continue
        end = partner(source, begin.start())
        if end > 0:
            found.append((name.group(1), begin.start(), end))
    return found
