"""Every link from a page of the project to a file of it leads somewhere.

    check_links.py ROOT
"""

import pathlib
import re
import sys

_FENCED = re.compile(r"```.*?```", re.DOTALL)
_LINK = re.compile(r"\]\(([^)\s]+)\)|<img src=\"([^\"]+)\"")
_ELSEWHERE = re.compile(r"[a-z]+:|#")  # a URL, or a place on the same page
_MADE = ("build", "peers/checkouts", ".git")  # what a checkout does not have


def dead_links(root: pathlib.Path) -> list[str]:
    found = []
    for page in sorted(root.rglob("*.md")):
        name = page.relative_to(root).as_posix()
        if name.startswith(tuple(f"{folder}/" for folder in _MADE)) or (name.startswith("results/") and not name.startswith("results/reference/")):
            continue
        for match in _LINK.finditer(_FENCED.sub("", page.read_text(encoding="utf-8"))):
            link = match[1] or match[2]
            if not _ELSEWHERE.match(link) and not (page.parent / link.partition("#")[0]).exists():
                found.append(f"{name}: {link}")
    return found


if __name__ == "__main__":
    dead = dead_links(pathlib.Path(sys.argv[1]))
    print("\n".join(dead) or "every link leads to a file")
    sys.exit(1 if dead else 0)
