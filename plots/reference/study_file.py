"""This module reads and writes study.json, which lies beside the groups of a study.

The file has the revisions, commits, models, cards, drivers, clocks and dates of the study, of each group and of each
run. It also has the command that measures each group again.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Sequence

from allocbench.errors import UsageError
from plots import ROOT
from plots.figures.kinds import OF_CONFIGS
from plots.reference.origins import Origin, shown, union
from plots.runs import configs
from plots.sheet import files

NAME = "study.json"
_FORMAT = 1
_MEMBERS = {"measured_revisions": "revisions", "commits": "commits", "models": "models", "cards": "cards", "drivers": "drivers", "sm_clock_max_mhz": "clocks",
            "dates": "dates"}


def data(groups: dict[str, list[Origin]]) -> dict:
    """Returns the content of study.json for these runs, which belong to one study."""
    runs = [run for group in groups.values() for run in group]
    return {
        "format": _FORMAT,
        "written_by": f"python3 -m plots provenance {shown(runs[0].study)} --write",
        **_origin(runs),
        "groups": {name: {"command": command(group), **_origin(group), "runs": {run.inside: of_run(run) for run in group}} for name, group in groups.items()},
    }


def of_run(run: Origin) -> dict:
    return {**_origin([run]), "dirty": run.is_dirty, "cells": len(run.cells)}


def _origin(runs: Sequence[Origin]) -> dict:
    return {member: union(runs, values) for member, values in _MEMBERS.items()}


def command(group: Sequence[Origin], names: Sequence[str] = ()) -> str:
    """Returns the command that measures configs of the group again (default: all that have results). Run it in the
    repository's root. Runs with different options of the CPU executor need a command each.
    """
    first = group[0]
    if first.name == first.group:  # several measurements of a config outside of the groups
        return again_and_again(first.study, first.group, len(group))
    kept = sorted({run.name for run in group})
    executors = {run.name: run.executor for run in group}
    by_executor: dict[str, list[str]] = {}
    for name in dict.fromkeys(names or kept):
        by_executor.setdefault(executors[name], []).append(name)
    everything = {*kept, *configs_of(first.group)} - {first.group}
    return " && ".join(" ".join(filter(None, [study_command(first.group, () if set(own) == everything else own), f"--backend {first.backend}", executor,
                                              f"--out results/{first.study.name}"])) for executor, own in by_executor.items())


def again_and_again(study: Path, config: str, times: int = 6) -> str:
    """Returns the command that measures a config several times. One command measures aa and all configs aa_*."""
    return f"tools/record-aa.sh results/{study.name}/{'aa' if is_aa(config) else config} {times}"


def is_aa(group: str) -> bool:
    return group == "aa" or group.startswith("aa_")


def study_command(group: str, names: Sequence[str] = ()) -> str:
    """Returns the command that measures these configs of a group (default: all), without the output folder."""
    inside = any((configs.FOLDER / group).glob("*.json"))
    return " ".join([f"build/bin/allocbench study {group}", *([] if inside else ["--configs ."]), *(f"--only {name}" for name in names)])


def configs_of(group: str) -> list[str]:
    """Returns the configs of a group that measure something."""
    folder = next((path for path in (configs.FOLDER / group, ROOT / group) if any(path.glob("*.json"))), None)
    if folder is None:
        return [group]  # a config outside of the groups
    return [f"{group}/{path.stem}" for path in sorted(folder.glob("*.json")) if configs.read(path).get("plot", {}).get("kind") not in OF_CONFIGS]


def write(groups: dict[str, list[Origin]]) -> Path:
    path = _path(groups)
    return files.write(path, text(groups))


def text(groups: dict[str, list[Origin]]) -> str:
    """Returns the text of study.json. It has one line per run, so that a changed run changes one line of the list."""
    made = data(groups)
    lines = [f' {json.dumps(key)}: {json.dumps(value)}' for key, value in made.items() if key != "groups"]
    lines.append(' "groups": {\n' + ",\n".join(f"  {json.dumps(name)}: {_group(group)}" for name, group in made["groups"].items()) + "\n }")
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _group(group: dict) -> str:
    lines = [f"   {json.dumps(key)}: {json.dumps(value)}" for key, value in group.items() if key != "runs"]
    lines.append('   "runs": {\n' + ",\n".join(f"    {json.dumps(name)}: {json.dumps(run)}" for name, run in group["runs"].items()) + "\n   }")
    return "{\n" + ",\n".join(lines) + "\n  }"


def _path(groups: dict[str, list[Origin]]) -> Path:
    return next(iter(groups.values()))[0].study / NAME


def disagreements(groups: dict[str, list[Origin]], whole: bool) -> list[str]:
    """Describes how study.json differs from the kept logs, one line per run. `whole` says that these are all runs of
    the study.
    """
    path = _path(groups)
    again = f"Write it again: python3 -m plots provenance {shown(path.parent)} --write"
    if not path.is_file():
        return [f"{shown(path)} does not exist. {again}"]
    try:
        stored = json.loads(path.read_text(encoding="utf-8"))
        known = {name: run for group in stored["groups"].values() for name, run in group["runs"].items()}
    except (json.JSONDecodeError, KeyError, TypeError, AttributeError) as error:
        raise UsageError(f"{shown(path)} differs from the file that --write makes ({error}). {again}") from None
    found = {run.inside: of_run(run) for group in groups.values() for run in group}
    told = [f"{shown(path)}: {name}: {_difference(known.get(name), run)}. {again}" for name, run in found.items() if known.get(name) != run]
    if whole:
        told += [f"{shown(path)}: {name} has no log. {again}" for name in known if name not in found]
        if not told and stored != data(groups):
            told.append(f"{shown(path)}: its summary does not follow from its runs. {again}")
    return told


def _difference(stored: dict | None, found: dict) -> str:
    if stored is None:
        return "the kept run is not listed"
    return "; ".join(f"{member} {_words(stored.get(member))}, the kept log has {_words(value)}" for member, value in found.items() if stored.get(member) != value)


def _words(value) -> str:
    return ", ".join(map(str, value)) or "none" if isinstance(value, list) else str(value)
