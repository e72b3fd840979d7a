#!/usr/bin/python3
"""Makes the folder of a pull request that submits a card's results.

    tools/submit_results.py results/papers rtx-4090

The script does four things:

* It keeps every run at or below STUDY in results/reference/CARD (tools/keep-results.sh, without samples unless
  --with-samples is given).
* It writes README.md from the logs, unless this file exists.
* It makes the files and texts that come from kept runs (plots regenerate), unless --reference names another folder.
* It checks the folder (tools/check_card.py).

Commit only this folder.
"""

import argparse
import pathlib
import subprocess
import sys

import check_card
from allocbench import stored

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


def keep(study: pathlib.Path, card: pathlib.Path, options: list[str]) -> None:
    script = check_card.ROOT / "tools" / "keep-results.sh"
    for run in runs_of(study):
        kept = card / (run.relative_to(study) if run != study else run.name)
        print(f"{run} -> {kept}", flush=True)
        subprocess.run([script, "--unfinished", *options, run, kept], check=True, stdout=subprocess.DEVNULL)


def span(values: set[str]) -> str:
    return min(values) if len(values) == 1 else f"{min(values)} to {max(values)}"


def readme(card: pathlib.Path) -> str:
    runs = stored.find_runs(card)
    documents = [stored.read_document(run) for run in runs]
    device = documents[0]["device"]
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
    given = parser.parse_args()
    if not runs_of(given.study):
        sys.exit(f"{given.study}: no run with an events.jsonl. Measure first: build/bin/allocbench study papers --out {given.study}")
    card = given.reference.resolve() / given.card
    keep(given.study.resolve(), card, [] if given.with_samples else ["--without-samples"])
    page = card / "README.md"
    if not page.exists():
        page.write_text(readme(card), encoding="utf-8")
    if card.parent == REFERENCE:
        parts = [word for part in ("figures", "ledger", "over_runs", "cards", "study", "texts") for word in ("--only", part)]
        subprocess.run([sys.executable, "-B", "-m", "plots", "regenerate", str(card), *parts], cwd=check_card.ROOT, check=True)
    found = check_card.objections(card)
    print("\n".join(found) or f"{card}: no objection. Complete README.md, then commit this folder.")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
