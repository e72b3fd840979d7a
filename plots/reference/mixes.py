"""This module reports what a reference study must not contain.

Examples are several measured revisions, uncommitted changes, several cards in a config, and configs without results.
Each line of the report names the file, the problem and the next step.
"""

from __future__ import annotations

import subprocess
from collections import Counter
from pathlib import Path
from typing import Callable, Iterator, Sequence

from plots import ROOT
from plots.figures.kinds import OF_CONFIGS
from plots.reference import study_file
from plots.reference.origins import ENOUGH, HOLES, Origin, by_study, shown, union
from plots.runs import configs

GROUPS = ("halloc2014", "kma2014", "pham2025", "vinkler2015", "xmalloc2010", "survey2021", "beyond", "current2026", "comb", "guide", "replay", "delay", "peers", "aa")
MOST_HOLES = 0.03  # largest share of all cells
_NAMED = 6  # most runs that a line names

Groups = dict[str, list[Origin]]


def problems(found: Sequence[Origin], revision: str = "") -> list[str]:
    """Returns all problems. `revision` is the measured revision that all runs must have (default: that of the newest
    run).
    """
    wanted = revision or newest(found)
    told = list(_revisions(found, wanted))
    for groups in by_study(found).values():
        for group in groups.values():
            told += _of_group(group)
        told += [*_models(groups), *_without_results(groups), *_holes(groups), *study_file.disagreements(groups, _is_whole(groups))]
    return told + list(_unknown_commits(found))


def newest(found: Sequence[Origin]) -> str:
    return max(found, key=lambda run: run.last_start).revisions[0]


def is_reference(groups: Groups) -> bool:
    """Returns whether the study must contain all groups. A study of a GPU must contain all groups if it contains most
    of them.
    """
    return 2 * len(groups.keys() & set(GROUPS)) > len(GROUPS) and not any(run.backend == "cpu" for group in groups.values() for run in group)


def _is_whole(groups: Groups) -> bool:
    """Returns whether these are all runs of the study's folder. They are not if the user named a single group."""
    runs = [run for group in groups.values() for run in group]
    return len({file.parent for file in runs[0].study.rglob("results.json*")}) == len(runs)


def _revisions(found: Sequence[Origin], wanted: str) -> Iterator[str]:
    for groups in by_study(found).values():
        for group in groups.values():
            others = [run for run in group if run.revisions != [wanted]]
            if others:
                counts = Counter(revision for run in group for revision in run.revisions)
                told = [f"{name} ({count} of {len(group)} runs)" for name, count in sorted(counts.items(), key=lambda each: (-each[1], each[0]))]
                yield f"{_place(group)}: measured revision {', '.join(told)}; all must have {wanted}. Measure again: {again(others, group)}"


def _of_group(group: Sequence[Origin]) -> Iterator[str]:
    for run in group:
        for several, word in ((run.revisions, "measured revisions"), (run.cards, "cards"), (run.drivers, "drivers"), (run.clocks, "SM clocks"),
                              (run.executors, "sets of executor options")):
            if len(several) > 1:
                yield f"{shown(run.folder)}: {len(several)} {word} within one config: {', '.join(several)}. Measure it again on one: {again([run], group)}"
        if run.is_dirty:
            yield f"{shown(run.folder)}: measured with changes that no commit holds. Commit them and measure again: {again([run], group)}"
        if said := run.log_differs():
            yield f"{shown(run.folder)}: {said}. Write results.json again from the log (allocbench report), or measure again: {again([run], group)}"
    if len(models := union(group, "models")) > 1:
        where = "; ".join(f"{model}: {_listed([run for run in group if model in run.models])}" for model in models)
        yield f"{_place(group)}: {len(models)} models of device in one group ({where}). Measure the group on one model: {study_file.command(group)}"
    if changed := [run for run in group if run.has_changed]:
        yield f"{_place(group)}: the current configs of {_listed(changed)} define other measurements than the kept results. Measure again: {again(changed, group)}"
    if few := [run for run in group if run.judges_times and run.few_rounds]:
        yield (f"{_place(group)}: {_cells(sum(run.few_rounds for run in few))} fewer than {ENOUGH} rounds in configs whose times claims or points of Comb "
               f"use ({_listed(few)}). Raise `rounds` where the config asks for fewer, and give these configs time: {again(few, group)}")


def _cells(number: int) -> str:
    return "1 cell has" if number == 1 else f"{number:,} cells have"


def _models(groups: Groups) -> Iterator[str]:
    by_models: dict[tuple, list[str]] = {}
    for name, group in groups.items():
        by_models.setdefault(tuple(union(group, "models")), []).append(name)
    if len(by_models) > 1:
        told = "; ".join(f"{', '.join(models)}: {', '.join(names)}" for models, names in by_models.items())
        yield f"{_place_of(groups)}: groups of several models of device ({told}). Keep each model in a folder of its own."


def _without_results(groups: Groups) -> Iterator[str]:
    if not is_reference(groups):
        return
    for name in GROUPS:
        group = groups.get(name, [])
        lacking = sorted(set(study_file.configs_of(name)) - {run.name for run in group})
        if lacking:
            measure = study_file.study_command(name, lacking) if name not in lacking else study_file.again_and_again(study_of(groups), name)
            yield f"{_place_of(groups)}/{name}: no kept results of {', '.join(lacking)}. Measure: {measure}"


def _holes(groups: Groups) -> Iterator[str]:
    runs = [run for group in groups.values() for run in group]
    cells, holes = sum(len(run.cells) for run in runs), sum(run.holes for run in runs)
    if holes > MOST_HOLES * cells:
        counts = Counter(word for run in runs for word in run.statuses.elements() if word in HOLES)
        told = ", ".join(f"{counts[word]:,} {word}" for word in HOLES if counts[word])
        yield (f"{_place_of(groups)}: {holes:,} of {cells:,} cells ({100 * holes / cells:.1f} %) failed or were skipped ({told}); at most "
               f"{100 * MOST_HOLES:.0f} % are allowed. {_most(runs, lambda run: run.holes)}")
    for count, words, step in ((lambda run: run.late_verifications, "used up their deadline in verification", "Raise deadline_s or bound the verification"),
                               (lambda run: run.left_out, "were left out for lack of time or device memory",
                                "Measure them with --resume, or on a device with more memory")):
        if number := sum(map(count, runs)):
            yield f"{_place_of(groups)}: cells that {words}: {number:,}; none is allowed. {step}. {_most(runs, count)}"


def _most(runs: Sequence[Origin], count: Callable[[Origin], int]) -> str:
    first = sorted(filter(count, runs), key=count, reverse=True)
    more = f" and {len(first) - _NAMED} more" if len(first) > _NAMED else ""
    return f"Runs with the most: {', '.join(f'{run.inside} ({count(run)})' for run in first[:_NAMED])}{more}."


def _unknown_commits(found: Sequence[Origin]) -> Iterator[str]:
    """Reports commits that the repository lacks. It reports nothing in a shallow clone or outside of a repository."""
    if _git("rev-parse", "--is-shallow-repository") != "false":
        return
    for commit in union(found, "commits"):
        if not _git("rev-parse", "--verify", "--quiet", f"{commit.rpartition('-g')[2]}^{{commit}}"):
            runs = [run for run in found if commit in run.commits]
            yield f"{_listed(runs)}: commit {commit} is not in this repository, so its results cannot be reproduced. Measure at a commit that has a tag."


def _git(*words: str) -> str:
    try:
        return subprocess.run(["git", "-C", str(ROOT), *words], capture_output=True, text=True, check=False).stdout.strip()
    except OSError:
        return ""


def again(runs: Sequence[Origin], group: Sequence[Origin]) -> str:
    """Returns the command that measures these runs of the group again."""
    return study_file.command(group, [run.name for run in runs])


def _listed(runs: Sequence[Origin]) -> str:
    more = f" and {len(runs) - _NAMED} more" if len(runs) > _NAMED else ""
    return ", ".join(run.inside for run in runs[:_NAMED]) + more


def _place(group: Sequence[Origin]) -> str:
    return shown(group[0].study / group[0].group)


def _place_of(groups: Groups) -> str:
    return shown(study_of(groups))


def study_of(groups: Groups) -> Path:
    return next(iter(groups.values()))[0].study
