"""This module implements `python3 -m plots regenerate`, which remakes everything that comes from kept results."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from allocbench.errors import UsageError
from plots.commands import report
from plots.commands.parser import Parser
from plots.reference import outputs
from plots.runs import kept
from plots.sheet import quantity
from plots.texts import numbers

_EPILOG = """\
examples:
  python3 -m plots regenerate                           all studies below results/reference, the texts and the pages
  python3 -m plots regenerate --check                   change nothing; list the files that would change
  python3 -m plots regenerate results/reference/h200 --only ledger

The command writes figures and tables of runs, the ledger (claims.*), pictures over several runs, cards.md (only in the studies of further models of
cards), and study.json and index.md of each study. It also writes numbers and tables in texts (python3 -m plots numbers), and the page of each study
below build/drawn. If --only leaves out no part of a study, the command removes files of these kinds that it does not make.

exit codes: 0: all files are written, or with --check no file would change (--check leaves out the page); 2: wrong usage, unreadable results, or with
--check a file would change
"""


def main(arguments: list[str]) -> int:
    parser = Parser(prog="python3 -m plots regenerate", epilog=_EPILOG, formatter_class=argparse.RawDescriptionHelpFormatter,
                    description="Make again all files that come from kept results.")
    parser.add_argument("studies", nargs="*", type=Path, metavar="STUDY", help="folders of studies (default: all below results/reference)")
    parser.add_argument("--only", action="append", choices=[*outputs.PARTS, "texts", "page"], metavar="PART",
                        help=f"only this part, repeatable: {', '.join(outputs.PARTS)}, texts, page (default: all, with index.md)")
    parser.add_argument("--check", action="store_true", help="change nothing; list the files that would change and exit with 2 if there are any")
    options = parser.parse_args(arguments)
    wanted = options.only or [*outputs.PARTS, "texts", "page"]
    folders = [folder.resolve() for folder in options.studies] or sorted(each for each in kept.REFERENCE.iterdir() if each.is_dir())
    for folder in folders:
        if folder.parent != kept.REFERENCE:
            raise UsageError(f"{folder} is not a folder of {kept.REFERENCE}. regenerate removes files that it does not make, so it works only on kept studies.")
    told = []
    if "texts" in wanted and (marked := numbers.sentences()):
        told += numbers.fill(marked, write=not options.check)  # first, because the ledger and the figures show these sentences
        kept.forget()
    told += [line for folder in folders for line in _study(folder, [part for part in outputs.PARTS if part in wanted], options.check)]
    if "texts" in wanted:
        told += numbers.fill(numbers.texts(), write=not options.check)
    for line in told:
        print(line)
    if "page" in wanted and not options.check:
        for folder in folders:
            report.main([str(folder)])
    if options.check and told:
        raise UsageError(f"files or numbers differ from the kept results in {quantity.counted(len(told), 'place')}. Write them with: python3 -m plots regenerate")
    return 0


def _study(folder: Path, parts: list[str], check: bool) -> list[str]:
    if not parts:
        return []
    study = outputs.read(folder)
    made = outputs.made_of(study, parts)
    there = outputs.generated(study) if len(parts) == len(outputs.PARTS) else []
    told = outputs.differences(made, there) if check else outputs.write(made, there)
    print(f"{folder.name}: {quantity.counted(len(made), 'file')} of {quantity.counted(len(study.runs), 'run')}", file=sys.stderr)
    return told
