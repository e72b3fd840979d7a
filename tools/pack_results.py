#!/usr/bin/python3
"""Packs the files of a run to be kept.

RUN may be packed itself. Refused are runs whose numbers have several origins or one that no commit holds, and, without
--unfinished, runs with cells that are not finished. Of results.json only what the two others
do not say is kept, as the plots need it: the run, where numbers come from, rounds, histograms, and the samples of a mean
that few of them decide. `allocbench report` makes the whole again from the log. Fractions keep seven digits: the GPU gives
times as 32-bit floats of milliseconds, which have no more. Wall times of samples keep three: they say what a sample cost.
"""

import argparse
import csv
import io
import json
import lzma
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from plots import samples  # noqa: E402
from allocbench import stored  # noqa: E402

CELL = ("id", "allocator", "display_name", "form", "restrictions", "driver_version", "revision", "measured_revision", "dirty", "attempt", "reason", "output_tail",
        "stop", "checks")
PHASE = ("name", "rounds", "throttled", "not_held", "no_interval")


def reduced(document: dict) -> dict:
    return {"allocbench": {**document["allocbench"], "cells": [_cell(cell) for cell in document["allocbench"]["cells"]]}}


def _cell(cell: dict) -> dict:
    made = {key: cell[key] for key in CELL if key in cell}
    if "phases" in cell:
        made["phases"] = [_phase(phase) for phase in cell["phases"]]
    if "histograms" in cell.get("counted", {}):
        made["counted"] = {"histograms": cell["counted"]["histograms"]}
    return made


def _phase(phase: dict) -> dict:
    made = {key: phase[key] for key in PHASE if key in phase}
    if samples.few_decide(phase.get("samples", [])):
        made["samples"] = phase["samples"]
    return made


def objection(document: dict, unfinished_too: bool) -> str:
    """Why a run is not to be kept; empty = nothing speaks against it."""
    ours = document["allocbench"]
    origin = ours.get("provenance", {})
    if origin.get("dirty"):
        return "the sources had changes that no commit holds. Commit them and measure again."
    if origin.get("mixed"):
        return "cells of several revisions, cards or drivers. Measure again without --allow-mixed."
    unfinished = ours.get("unfinished") or 0
    if unfinished and not unfinished_too:
        return (f"{unfinished} planned cells are not finished. Finish the run with --resume, or keep it with --unfinished; "
                "its figure and page say so then.")
    return ""


def rounded(value, digits=7):
    """Fractions with so many digits, however deep they lie; whole numbers are counts and stay."""
    if isinstance(value, dict):
        return {key: rounded(each, 3 if key == "wall_seconds" else digits) for key, each in value.items()}
    if isinstance(value, list):
        return [rounded(each, digits) for each in value]
    return float(f"{value:.{digits}g}") if isinstance(value, float) and not value.is_integer() else value


def _json(document) -> str:
    return json.dumps(rounded(document), separators=(",", ":"), ensure_ascii=False)


def _rounded_table(content: bytes) -> bytes:
    rows = list(csv.DictReader(io.StringIO(content.decode())))
    for row in rows:
        for column in ("value", "low", "high"):
            if row.get(column):
                row[column] = format(float(row[column]), ".7g") if not float(row[column]).is_integer() else row[column]
    table = io.StringIO()
    writer = csv.DictWriter(table, rows[0].keys() if rows else [], lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return table.getvalue().encode()


def packed(run: pathlib.Path) -> dict[str, bytes]:
    """The files to be kept, by name."""
    log = [json.loads(line) for line in stored.content_of(run, "events.jsonl").splitlines()]
    table = stored.content_of(run, "results.csv")
    return {"events.jsonl": "".join(_json(event) + "\n" for event in log).encode(),
            "results.csv": _rounded_table(table) if table.count(b"\n") > 1 else table,
            "results.json": _json(reduced(json.loads(stored.content_of(run, "results.json")))).encode()}


def main(run: pathlib.Path, kept: pathlib.Path) -> None:
    contents = packed(run)
    kept.mkdir(parents=True, exist_ok=True)
    for name, content in contents.items():
        (kept / f"{name}.xz").write_bytes(lzma.compress(content, preset=6 | lzma.PRESET_EXTREME))


def run_program() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--unfinished", action="store_true", help="keep a run whose cells are not all finished")
    parser.add_argument("--check", action="store_true", help="only tell whether RUN may be kept")
    parser.add_argument("run", type=pathlib.Path, metavar="RUN", help="folder with events.jsonl, results.csv and results.json")
    parser.add_argument("kept", type=pathlib.Path, metavar="KEPT", nargs="?",
                        help="gets events.jsonl.xz, results.csv.xz and results.json.xz")
    given = parser.parse_args()
    if (given.kept is None) != given.check:
        parser.error("name RUN and KEPT, or RUN alone with --check")
    why = objection(json.loads(stored.content_of(given.run, "results.json")), given.unfinished)
    if why:
        sys.exit(f"{given.run}: {why}")
    if not given.check:
        main(given.run, given.kept)


if __name__ == "__main__":
    run_program()
