#!/usr/bin/python3
"""Makes the folder of a pull request that submits a card's results.

    tools/submit_results.py results/papers rtx-4090

The script first checks the name and the runs. If it refuses one of them, it writes nothing. Then it does four things:

* It keeps every run at or below STUDY in results/reference/CARD (tools/keep-results.sh, without samples unless
  --with-samples is given).
* It writes README.md from the logs, unless this file exists.
* It makes the files and texts that come from kept runs (plots regenerate), unless --reference names another folder.
* It checks the folder (tools/check_card.py).

A card that has kept runs is refused unless --extend is given. With --extend, the script adds runs to this card, and
refuses a run that the card already has.

Commit only this folder.
"""

import argparse
import pathlib
import subprocess
import sys

import check_card
import pack_results
from allocbench import stored
from allocbench.errors import NothingToDraw, UsageError
from plots.reference import origins

REFERENCE = check_card.ROOT / "results" / "reference"

README = """# Reference results: {name}

{name} with {memory:.0f} GB and {sm_count} multiprocessors, SM clock up to {clock:,} MHz, driver {driver}, {toolkit}. Measured {dates}, revision {revisions}.

Add here: who owns the machine, whether clocks were locked, and which other programs ran.

```sh
/usr/bin/python3 -m plots {first}
```

<!--table outcomes {card}-->
<!--/table-->
"""


def runs_of(study: pathlib.Path) -> list[pathlib.Path]:
    """Returns the runs that can be kept: those with an unpacked log."""
    return [run for run in stored.find_runs(study) if (run / "events.jsonl").exists()]


def places_of(study: pathlib.Path, card: pathlib.Path) -> dict[pathlib.Path, pathlib.Path]:
    """Returns the folder that gets each run of the study."""
    return {run: card / (run.relative_to(study) if run != study else run.name) for run in runs_of(study)}


def objections(places: dict[pathlib.Path, pathlib.Path], card: pathlib.Path, extend: bool) -> list[str]:
    """Returns why the card must not get these runs. This function runs before anything is written."""
    kept = stored.find_runs(card) if card.exists() else []
    if kept and not extend:
        return [f"{origins.shown(card)} exists. Name another card, or add to the runs of this card with --extend."]
    found, documents = [], []
    for run, place in places.items():
        try:
            ours = stored.read_document(run)
        except (NothingToDraw, UsageError) as error:
            found.append(str(error))
            continue
        documents.append(ours)
        why = check_card.objection_to_backend(ours["run"]["backend"], "") or pack_results.objection({"allocbench": ours}, unfinished_too=True)
        found += [f"{run}: {why}"] if why else []
        if place.exists():
            found.append(f"{origins.shown(place)} is kept already. Name a study without {run}, or remove the kept run.")
    return found + check_card.objections_to_models(card, check_card.models_of([*documents, *map(stored.read_document, kept)]))


def keep(places: dict[pathlib.Path, pathlib.Path], options: list[str]) -> None:
    script = check_card.ROOT / "tools" / "keep-results.sh"
    for run, kept in places.items():
        print(f"{run} -> {origins.shown(kept)}", flush=True)
        subprocess.run([script, "--unfinished", *options, run, kept], check=True, stdout=subprocess.DEVNULL)


def regenerate(card: pathlib.Path) -> None:
    """Makes the files that come from the kept runs, and prints each written file, except figures of runs."""
    parts = [word for part in ("figures", "ledger", "over_runs", "cards", "study", "texts") for word in ("--only", part)]
    done = subprocess.run([sys.executable, "-B", "-m", "plots", "regenerate", str(card), *parts], cwd=check_card.ROOT, check=True,
                          stdout=subprocess.PIPE, text=True)
    # A line is `PATH: written`, `PATH: removed, ...` or, for a number in a text, `PATH:LINE: old becomes new`.
    changed = {check_card.ROOT / line.partition(":")[0] for line in done.stdout.splitlines()} - {card / "README.md"}
    for path in sorted(path for path in changed if path.exists() and path.parent.name != "figures"):
        print(f"{origins.shown(path)}: written")


def span(values: set[str]) -> str:
    return min(values) if len(values) == 1 else f"{min(values)} to {max(values)}"


def readme(card: pathlib.Path) -> str:
    runs = stored.find_runs(card)
    documents = [stored.read_document(run) for run in runs]
    device = next((found for each in documents if (found := each.get("device") or {}).get("name")), {"name": "Card unknown"})
    return README.format(
        card=card.name, name=device["name"], memory=(device.get("memory_bytes") or 0) / 1e9, sm_count=device.get("sm_count", "unknown"),
        clock=device.get("sm_clock_max_mhz") or 0, driver=device.get("driver_version") or device.get("driver") or "unknown",
        toolkit=device.get("toolkit") or "toolkit unknown", dates=span({each["run"]["time"][:10] for each in documents}),
        revisions=", ".join(sorted({each["run"]["allocbench"]["revision"] for each in documents})),
        first=runs[0].relative_to(check_card.ROOT) if runs[0].is_relative_to(check_card.ROOT) else runs[0])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("study", type=pathlib.Path, metavar="STUDY", help="folder of a study, for example results/papers")
    parser.add_argument("card", metavar="CARD", help="name of the new folder in results/reference, for example rtx-4090")
    parser.add_argument("--with-samples", action="store_true", help="keep all samples, not only the numbers from them")
    parser.add_argument("--reference", type=pathlib.Path, default=REFERENCE, help="folder of all cards (default: results/reference)")
    parser.add_argument("--extend", action="store_true", help="add runs to a card that has kept runs")
    given = parser.parse_args()
    if why := check_card.objection_to_name(given.card):
        sys.exit(f"{given.card}: {why}")
    if not runs_of(given.study):
        sys.exit(f"{given.study}: no run with an events.jsonl. Measure first: build/bin/allocbench study papers --out {given.study}")
    card = given.reference.resolve() / given.card
    places = places_of(given.study.resolve(), card)
    if found := objections(places, card, given.extend):
        sys.exit("\n".join([*found, "Nothing was written."]))
    try:
        keep(places, [] if given.with_samples else ["--without-samples"])
        page = card / "README.md"
        if not page.exists():
            page.write_text(readme(card), encoding="utf-8")
            print(f"{origins.shown(page)}: written")
        if card.parent == REFERENCE:
            regenerate(card)
    except subprocess.CalledProcessError as error:
        sys.exit(f"{pathlib.Path(error.cmd[0]).name} ended with {error.returncode}, as the lines above say. {origins.shown(card)} is incomplete.")
    found = check_card.objections(card)
    print("\n".join(found) or f"{origins.shown(card)}: no objection. Complete README.md, then commit this folder.")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
