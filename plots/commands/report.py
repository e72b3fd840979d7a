"""This module implements `python3 -m plots page`, which `allocbench report DIR --html` starts."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from allocbench.errors import UsageError
from plots.advice import newest
from plots.commands import called
from plots.commands.parser import Parser
from plots.figures import inputs
from plots.runs import configs, kept
from plots.sheet import files

_EPILOG = """\
examples:
  allocbench report results/reference/h200 --html              the page of all results below this folder
  allocbench report results/guide --html --out report.html

The page needs no network. The page shows the runs of one device. Runs that cannot be read or drawn, or that come from
another device, are listed on the page and on stderr.

exit codes: 0: written; 2: wrong usage, or the page lacks some runs; 3: nothing to show
"""


def main(arguments: list[str]) -> int:
    parser = Parser(
        prog=called.command("page"),
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        description="Write stored results as one HTML page. It first answers which allocator suits a job, and then shows the evidence.",
    )
    parser.add_argument("paths", nargs="+", metavar="PATH", help="folder of a run, folder above several runs, or a pattern")
    parser.add_argument("--out", type=Path, metavar="FILE", help="file of the page (default: report.html in the folder of the first path, or "
        "below build/drawn if that folder is below results/reference). A missing .html is added")
    # The front end passes its errors about logs that it cannot read.
    parser.add_argument("--unreadable", action="append", default=[], metavar="TEXT", help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    try:  # only the page needs plotly and markdown
        from plots.webpage import build
    except ImportError as error:
        raise UsageError(
            f"the page needs the Python library {error.name!r}, which is not installed. Install it: apt-get install python3-plotly python3-markdown"
        ) from None
    out = _page(options.out, options.paths[0])
    # The current configs decide how runs are drawn.
    if not out.exists():
        files.require_folder(out)  # before minutes of work
    _tell("reading the results")
    runs, failures = newest.read(options.paths, inputs.Overrides(configs.FOLDER))
    page = build.page_of(runs, [*map(UsageError, options.unreadable), *(error for error in failures if not _follows(error, options.unreadable))], _tell)
    files.write(out, page.text)
    for problem in page.problems:
        _tell(problem)
    print(out)
    return 2 if page.problems else 0


def _tell(text: str) -> None:
    print(f"{called.program('page')}: {text}", file=sys.stderr)


def _follows(error: Exception, unreadable: list[str]) -> bool:
    """Returns whether results are missing because their log cannot be read. That log already has its own error."""
    folder, missing, _ = str(error).partition(" contains no results.json")
    return bool(missing) and any(text.startswith(f"{folder}/events.jsonl") for text in unreadable)


def _page(wanted: Path | None, first: str) -> Path:
    """Returns the file to write. By default it lies in the folder that the first path names or that contains this path.
    If this folder lies below results/reference, the file lies below build/drawn.
    """
    out = wanted or kept.folder_of(first) / "report.html"
    if out.is_dir():
        raise UsageError(f"--out {out} is a folder. Name the file, such as {out / 'report.html'}.")
    is_device = out.exists() and not out.is_file()  # for example /dev/stdout
    # Browsers choose how to show a file by the ending of its name.
    return out if is_device or out.suffix in (".html", ".htm") else out.with_name(f"{out.name}.html")
