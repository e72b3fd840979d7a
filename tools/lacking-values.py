#!/usr/bin/python3
"""Prints the cells that have a value in kept results but none in a study, with their status in the study.

    tools/lacking-values.py STUDY KEPT      e.g. results/study results/reference/h200

STUDY is the folder of the study, and KEPT has the kept results. Only cells that STUDY defines are compared. On standard
error the script prints how many of KEPT's values STUDY has, and how many of these have three rounds (or all rounds, if
the config has fewer). Then it prints the configs for which STUDY lacks more than half of KEPT's values.
--append adds a row with these totals, the cards, the date and the minutes of STUDY's logs to a JSON file, for the table
`studies` of docs/reproduce-a-paper.md. COMMAND is the command that measured STUDY.
Exit codes: 0 no value is lacking, 1 a value is lacking, 2 wrong paths.
"""

import argparse
import collections
import datetime
import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "python"))
import allocbench  # noqa: E402
from allocbench import stored  # noqa: E402


PAUSE = datetime.timedelta(minutes=1)  # runs whose starts lie farther apart belong to different commands


def compared(study, kept):
    """Returns lines about lacking cells, the configs that lack more than half, and the counts of a row of --append.
    Several configs may have the same cell.
    """
    ours, theirs = (allocbench.cells(folder).set_index(["figure", "cell"]) for folder in (study, kept))
    theirs = theirs[(theirs["status"] == "ok") & theirs.index.isin(ours.index)]
    values = ours[ours["status"] == "ok"]
    whole = values[~values["provisional"].fillna(False).astype(bool)]
    lacking = theirs.index.difference(values.index)
    lines = [f"{cell} {figure} {theirs.at[(figure, cell), 'label']}: {ours.at[(figure, cell), 'status']}" for figure, cell in lacking]
    all_of, lacking_of = (collections.Counter(cells.get_level_values("figure")) for cells in (theirs.index, lacking))
    bare = [f"{figure}: {count} of {all_of[figure]} are lacking." for figure, count in sorted(lacking_of.items()) if 2 * count > all_of[figure]]
    counts = {"cards": ours["uuid"].dropna().nunique(), "device": " and ".join(sorted(ours["device"].dropna().unique())), "cells": len(ours),
              "values": len(values), "with_three_rounds": len(whole), "kept": len(theirs), "of_kept": len(theirs) - len(lacking),
              "of_kept_with_three_rounds": len(whole.index.intersection(theirs.index)),
              "configs": ours.index.get_level_values("figure").nunique(), "configs_with_values": values.index.get_level_values("figure").nunique(),
              "revision": " and ".join(sorted(ours["revision"].dropna().unique()))}
    return lines, bare, counts


def duration(study):
    """Returns the date and the minutes of a study. The minutes leave out the pauses between its commands."""
    times, starts = [], []
    for folder in stored.find_runs(pathlib.Path(study)):
        for line in stored.content_of(folder, "events.jsonl").splitlines():
            event = json.loads(line)
            if "time" in event:
                times.append(datetime.datetime.fromisoformat(event["time"].rstrip("Z")))
                starts += [times[-1]] if event["event"] == "run" else []
    starts.sort()
    begins = [start for before, start in zip([datetime.datetime.min, *starts], starts) if start - before > PAUSE]
    ends = [max(time for time in times if begin <= time < end) for begin, end in zip(begins, [*begins[1:], datetime.datetime.max])]
    seconds = sum((end - begin).total_seconds() for begin, end in zip(begins, ends))
    return {"date": begins[0].date().isoformat(), "minutes": round(seconds / 60, 1), "commands": len(begins)}


def append(file, row):
    path = pathlib.Path(file)
    rows = json.loads(path.read_text(encoding="utf-8")) if path.exists() else []
    path.write_text(json.dumps([*rows, row], indent=1) + "\n", encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("study", metavar="STUDY")
    parser.add_argument("kept", metavar="KEPT")
    parser.add_argument("--append", nargs=2, metavar=("FILE", "COMMAND"), help="add a row about STUDY to a JSON file")
    wanted = parser.parse_args()
    try:
        lines, bare, counts = compared(wanted.study, wanted.kept)
        if wanted.append:
            append(wanted.append[0], {"command": wanted.append[1], **duration(wanted.study), **counts})
    except (allocbench.UsageError, allocbench.NothingToDraw, OSError, ValueError) as error:
        print(error, file=sys.stderr)
        return 2
    for line in lines:
        print(line)
    total = (f"{counts['of_kept']} of {counts['kept']} values of {wanted.kept} are there, "
             f"{counts['of_kept_with_three_rounds']} with three rounds or all that the config has.")
    for line in (total, *bare):
        print(line, file=sys.stderr)
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main())
