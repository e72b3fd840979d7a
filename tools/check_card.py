#!/usr/bin/python3
"""Checks the kept results of a card. Reviewers run this script on a pull request, and tests run it on each folder of
results/reference.

CARD is a folder with one folder per run and a README.md. Its name begins with a letter and has only lower-case letters,
digits and hyphens. The other rules are:

* Each run comes from one clean revision, one card and one driver.
* The results of a run agree with its log.
* All runs come from a GPU, and from one model of card. Only the folder `cpu` has runs of the CPU executor.
* The folder contains only packed logs and results, and files that end with .md, .png or .json.
* No file is larger than 1 MiB.

The script prints every objection. It exits with 1 if there is one.
"""

import argparse
import json
import lzma
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "python"), str(ROOT / "tools")]

from allocbench import stored  # noqa: E402
from allocbench.errors import NothingToDraw, UsageError  # noqa: E402
import pack_results  # noqa: E402
from plots.sheet import quantity  # noqa: E402

LARGEST_BYTES = 1 << 20
KEPT = {"events.jsonl.xz", "results.json.xz"}
PAGES = {".md", ".png", ".json"}
OF_THE_CPU = "cpu"  # folder of the runs of the CPU executor


def objection_to_name(name: str) -> str:
    """Returns why a folder of a card must not have this name, or an empty text if it may have the name."""
    if re.fullmatch(r"[a-z][a-z0-9-]*", name):
        return ""
    return "name the folder after the card, with a letter first, then lower-case letters, digits and hyphens: h200, rtx-4090"


def objection_to_backend(backend: str, name: str) -> str:
    """Returns why a folder of this name must not contain a run of this back end, or an empty text if it may."""
    if backend == "cuda" or name == OF_THE_CPU:
        return ""
    return "this run used the CPU executor, whose numbers are no card's results. Measure on the GPU (--backend cuda), or leave this run out."


def objections_to_folder(card: pathlib.Path) -> list[str]:
    why = objection_to_name(card.name)
    found = [f"{card}: {why}"] if why else []
    if not (card / "README.md").exists():
        found.append(f"{card}: README.md is missing. It must name the card, the driver, the clocks and the command")
    for path in sorted(card.rglob("*")):
        if path.is_file() and path.name not in KEPT and path.suffix not in PAGES:
            found.append(f"{path}: allowed are only {', '.join(sorted(KEPT))} and files that end with {', '.join(sorted(PAGES))}")
        if path.is_file() and path.stat().st_size > LARGEST_BYTES:
            found.append(f"{path}: larger than 1 MiB. Keep the run with tools/keep-results.sh --without-samples")
    return found


def objections_to_run(run: pathlib.Path) -> list[str]:
    """Returns the objections to one run: to its origin, and to differences between log and results."""
    try:
        ours = stored.read_document(run)
        log = [json.loads(line) for line in stored.content_of(run, "events.jsonl").splitlines()]
    except (NothingToDraw, UsageError, OSError, ValueError, EOFError, lzma.LZMAError) as error:
        return [f"{run}: {error}"]
    why = pack_results.objection({"allocbench": ours}, unfinished_too=True)
    found = [f"{run}: {why}"] if why else []
    logged = next((event for event in reversed(log) if event.get("event") == "run"), {})  # a resumed run has several, and the last one counts
    for key in ("config", "backend", "seed", "worker"):
        if logged.get(key) != ours["run"].get(key):
            found.append(f"{run}: events.jsonl and results.json differ in {key}. Keep the run again with tools/keep-results.sh")
    status = {cell["id"]: cell["status"] for cell in ours["cells"]}
    ended = {}
    for event in log:
        if event.get("event") == "end":
            ended[event["cell"]] = event["status"]
        elif event.get("event") == "sample":
            ended.pop(event["cell"], None)  # the cell was continued after this end
    differing = sorted(cell for cell, word in ended.items() if cell in status and status[cell] != word)
    if differing:
        found.append(f"{run}: different ends in log and results of {quantity.counted(len(differing), 'cell')}, first {differing[0]}. Keep the run again with "
                     f"tools/keep-results.sh")
    return found


def objections(card: pathlib.Path) -> list[str]:
    found = objections_to_folder(card)
    runs = stored.find_runs(card)
    if not runs:
        found.append(f"{card}: no run. To keep the runs of a study: tools/submit_results.py STUDY CARD")
    names = set()
    for run in runs:
        broken = objections_to_run(run)
        found += broken
        if not broken:
            ours = stored.read_document(run)
            why = objection_to_backend(ours["run"]["backend"], card.name)
            found += [f"{run}: {why}"] if why else []
            names |= models_of([ours])
    return found + objections_to_models(card, names)


def models_of(documents: list[dict]) -> set[str]:
    """Returns the models of card of these runs. A run without a measured cell has no model."""
    return {ours["device"]["name"] for ours in documents if ours["run"]["backend"] == "cuda" and (ours.get("device") or {}).get("name")}


def objections_to_models(card: pathlib.Path, names: set[str]) -> list[str]:
    return [f"{card}: the runs come from several models of card: {', '.join(sorted(names))}. Make one folder per model"] if len(names) > 1 else []


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("card", type=pathlib.Path, metavar="CARD", help="folder below results/reference")
    card = parser.parse_args().card
    if not card.is_dir():
        sys.exit(f"{card} is not a folder. Name a folder of results/reference. tools/submit_results.py STUDY CARD makes one.")
    found = objections(card)
    print("\n".join(found) or f"{card}: {quantity.counted(len(stored.find_runs(card)), 'run')}, no objection")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
