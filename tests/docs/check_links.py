"""Checks that every link from a page to a file or heading of the project has a target.

    check_links.py ROOT
"""

import functools
import pathlib
import re
import sys

_FENCED = re.compile(r"^```.*?^```", re.DOTALL | re.MULTILINE)
_LINK = re.compile(r"\]\(([^)\s]+)\)|<img src=\"([^\"]+)\"")
_URL = re.compile(r"[a-z]+:")
_HEADING = re.compile(r"^#+ +(.*?) *#*$", re.MULTILINE)
_MADE = ("build", "peers/checkouts", ".git")  # files that a checkout lacks


@functools.cache
def _text(page: pathlib.Path) -> str:
    return _FENCED.sub("", page.read_text(encoding="utf-8"))


@functools.cache
def _anchors(page: pathlib.Path) -> set[str]:
    """Returns GitHub's anchors of a page: headings without punctuation, in lower case, with hyphens for spaces."""
    found: set[str] = set(re.findall(r"<a (?:id|name)=\"([^\"]+)\"", _text(page)))
    for heading in _HEADING.findall(_text(page)):
        words = re.sub(r"<[^>]*>|\]\([^)]*\)", "", heading)
        anchor = re.sub(r"[^\w\- ]", "", words).lower().replace(" ", "-")
        repeated = 0
        while (name := f"{anchor}-{repeated}" if repeated else anchor) in found:
            repeated += 1
        found.add(name)
    return found


def _leads_somewhere(page: pathlib.Path, link: str) -> bool:
    path, _, place = link.partition("#")
    target = page.parent / path if path else page
    return target.exists() and (not place or target.suffix != ".md" or place in _anchors(target))


def dead_links(root: pathlib.Path) -> list[str]:
    found = []
    for page in sorted(root.rglob("*.md")):
        name = page.relative_to(root).as_posix()
        if name.startswith(tuple(f"{folder}/" for folder in _MADE)) or (name.startswith("results/") and not name.startswith("results/reference/")):
            continue
        links = [match[1] or match[2] for match in _LINK.finditer(_text(page))]
        found += [f"{name}: {link}" for link in links if not _URL.match(link) and not _leads_somewhere(page, link)]
    return found


if __name__ == "__main__":
    dead = dead_links(pathlib.Path(sys.argv[1]))
    print("\n".join(dead) or "every link leads to a file or a heading")
    sys.exit(1 if dead else 0)
