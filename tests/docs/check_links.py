"""Every link from a page of the project to a file of it, or to a heading of such a page, leads somewhere.

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
_MADE = ("build", "peers/checkouts", ".git")  # what a checkout does not have


@functools.cache
def _text(page: pathlib.Path) -> str:
    return _FENCED.sub("", page.read_text(encoding="utf-8"))


@functools.cache
def _anchors(page: pathlib.Path) -> set[str]:
    """The places of a page as GitHub names them: headings without punctuation, in small letters, with hyphens for spaces."""
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
