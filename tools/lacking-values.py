#!/usr/bin/python3
"""Prints the cells that have a value in kept results but none in a study, with their status in the study.

    tools/lacking-values.py STUDY KEPT      e.g. results/study results/reference/h200

Standard error gets the totals: how many of KEPT's values STUDY has, and how many with three rounds or all that the
config has. Then it gets the configs of whose values STUDY lacks more than half. Only cells that STUDY defines are compared.
Exit codes: 0 no value is lacking, 1 a value is lacking, 2 wrong paths.
"""

import collections
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "python"))
import allocbench  # noqa: E402


def compared(study, kept):
    """Returns lines about lacking cells, and the totals. Several configs may have the same cell."""
    ours, theirs = (allocbench.cells(folder).set_index(["figure", "cell"]) for folder in (study, kept))
    theirs = theirs[(theirs["status"] == "ok") & theirs.index.isin(ours.index)]
    values = ours[ours["status"] == "ok"]
    lacking = theirs.index.difference(values.index)
    lines = [f"{cell} {figure} {theirs.at[(figure, cell), 'label']}: {ours.at[(figure, cell), 'status']}" for figure, cell in lacking]
    whole = values[~values["provisional"].fillna(False).astype(bool)].index.intersection(theirs.index)
    totals = [f"{len(theirs) - len(lacking)} of {len(theirs)} values of {kept} are there, {len(whole)} with three rounds or all that the config has."]
    all_of, lacking_of = (collections.Counter(cells.get_level_values("figure")) for cells in (theirs.index, lacking))
    totals += [f"{figure}: {count} of {all_of[figure]} are lacking." for figure, count in sorted(lacking_of.items()) if 2 * count > all_of[figure]]
    return lines, totals


def main():
    if len(sys.argv) != 3 or sys.argv[1].startswith("-"):
        print(__doc__.strip(), file=sys.stderr)
        return 2
    try:
        lines, totals = compared(*sys.argv[1:])
    except (allocbench.UsageError, allocbench.NothingToDraw) as error:
        print(error, file=sys.stderr)
        return 2
    for line in lines:
        print(line)
    for line in totals:
        print(line, file=sys.stderr)
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main())
