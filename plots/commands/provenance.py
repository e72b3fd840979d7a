"""This module implements `python3 -m plots provenance`."""

from __future__ import annotations

import argparse
import sys

from plots.commands.parser import Parser
from plots.reference import mixes, origins, pieces, provenance, study_file

_EPILOG = """\
examples:
  python3 -m plots provenance results/reference                   where all kept numbers come from
  python3 -m plots provenance results/reference/h200 --write      store the origins in results/reference/h200/study.json
  python3 -m plots provenance results/reference --check           name everything that keeps the runs from being one study
  python3 -m plots provenance results/reference/h200 --plan       the pieces in which to measure all groups again
  python3 -m plots provenance results/reference/h200 --plan --revision 0123456789ab
                                                                  the pieces without the configs that have complete results of this revision

exit codes: 0: printed or written, and with --check no problem; 1: --check names problems; 2: wrong usage or unreadable results;
3: no results
"""


def main(arguments: list[str]) -> int:
    parser = Parser(prog="python3 -m plots provenance", epilog=_EPILOG, formatter_class=argparse.RawDescriptionHelpFormatter,
                    description="Print the origin of the numbers of kept runs, and how their cells ended, for each group and in total.")
    parser.add_argument("paths", nargs="+", metavar="PATH", help="folder of studies, of a study, of a group or of a run")
    does = parser.add_mutually_exclusive_group()
    does.add_argument("--write", action="store_true", help="write study.json beside the groups of each study")
    does.add_argument("--check", action="store_true", help="name every difference and gap, with its file and the next step; exit with 1 if there is one")
    does.add_argument("--plan", action="store_true", help="print commands that measure all groups again, in pieces, with a forecast for each piece")
    parser.add_argument("--revision", default="", metavar="HASH",
                        help="with --check: the measured revision that all runs must have (default: the revision of the newest run). With --plan: leave out "
                             "configs that need no new measurement at this revision (default: leave out none)")
    parser.add_argument("--minutes", type=float, default=pieces.MINUTES, metavar="M", help="with --plan: the longest time of a piece (default: %(default)g)")
    parser.add_argument("--rounds", type=int, default=origins.ENOUGH, metavar="N", help="with --plan: rounds of every cell (default: %(default)s)")
    options = parser.parse_args(arguments)
    if not options.minutes >= 1 or not options.rounds >= 1:
        parser.error("--minutes and --rounds must be at least 1")
    found = origins.read(options.paths)
    if options.plan:
        print(pieces.text(found, options.minutes, options.rounds, options.revision), end="")
        return 0
    if options.write:
        for study in origins.by_study(found):
            print(study_file.write(origins.by_study(origins.read([str(study)]))[study]))
        return 0
    print(provenance.tables(found), end="")
    if not options.check:
        return 0
    problems = mixes.problems(found, options.revision)
    if problems:
        print(provenance.summary(problems), file=sys.stderr)
    else:
        print("One study: nothing is mixed, and nothing is missing.")
    return 1 if problems else 0
