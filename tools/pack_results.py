#!/usr/bin/env python3
"""Packs the files of a run to be kept: tools/pack_results.py RUN KEPT

RUN may be packed itself. KEPT gets events.jsonl.xz, results.csv.xz and results.json.xz. Of results.json only what the two others
do not say is kept, as the plots need it: the run, where numbers come from, rounds, histograms, and the samples of a mean
that few of them decide. `allocbench report` makes the whole again from the log.
"""

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


def main(run: pathlib.Path, kept: pathlib.Path) -> None:
    contents = {name: stored.content_of(run, name) for name in ("events.jsonl", "results.csv", "results.json")}
    contents["results.json"] = json.dumps(reduced(json.loads(contents["results.json"])), separators=(",", ":"), ensure_ascii=False).encode()
    kept.mkdir(parents=True, exist_ok=True)
    for name, content in contents.items():
        (kept / f"{name}.xz").write_bytes(lzma.compress(content, preset=6 | lzma.PRESET_EXTREME))


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*map(pathlib.Path, sys.argv[1:]))
