#!/usr/bin/python3
"""Packs the files of a run to keep: the log and results.json. results.csv follows from them. RUN may be packed itself.

A run is refused if its numbers have several origins, or if its sources had uncommitted changes. A run with unfinished
cells is refused unless --unfinished is given.

results.json loses the parts that follow from the rest: Google Benchmark's part, rates, and the confidence of intervals.
It also loses the samples, because the log has them. It keeps the samples of a phase only if a few of them dominate the
mean. `allocbench report` makes the whole file again from the log.

Fractions keep seven digits, because the GPU gives times as 32-bit floats of milliseconds. Wall times of samples keep
two digits, and those of rounds keep three, because they only show the cost of a cell.

The log loses two values: Google Benchmark's mean over a round (`loop`), and the time of day of each sample. With
--without-samples, the log keeps only how cells failed. Then only results.json has the numbers, and they cannot be
computed again.
"""

import argparse
import json
import lzma
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from plots.figures.model import samples  # noqa: E402
from allocbench import stored  # noqa: E402
from allocbench.errors import NothingToDraw, UsageError  # noqa: E402

FOLLOWS = ("samples", "throughput", "confidence")  # keys of a phase that are dropped
# This note is for users of Google Benchmark's compare.py, which needs `benchmarks`.
NOTE = "Kept without Google Benchmark's part (context, benchmarks): allocbench report RUN writes it from the log."

# For text, four bits of the previous byte (lc) and none of the position (pb) give the smallest files.
_TEXT = [{"id": lzma.FILTER_LZMA2, "preset": 9 | lzma.PRESET_EXTREME, "lc": 4, "pb": 0}]


def reduced(document: dict) -> dict:
    return {"note": NOTE, "allocbench": {**document["allocbench"], "cells": [_cell(cell) for cell in document["allocbench"]["cells"]]}}


def _cell(cell: dict) -> dict:
    return {**cell, "phases": [_phase(phase) for phase in cell["phases"]]} if "phases" in cell else cell


def _phase(phase: dict) -> dict:
    made = {key: value for key, value in phase.items() if key not in FOLLOWS}
    if samples.few_decide(phase.get("samples", [])):
        made["samples"] = phase["samples"]
    return made


def objection(document: dict, unfinished_too: bool) -> str:
    """Returns why a run must not be kept, or an empty text if it may be kept."""
    ours = document["allocbench"]
    origin = ours.get("provenance", {})
    if origin.get("dirty"):
        return "the sources had uncommitted changes. Commit them and measure again."
    if origin.get("mixed"):
        return "its cells are of several revisions, cards or drivers. Measure again without --allow-mixed."
    unfinished = ours.get("unfinished") or 0
    if unfinished and not unfinished_too:
        return (f"{unfinished} planned cells are not finished. Finish the run with --resume, or keep it with --unfinished; "
                "its figure and page then say so.")
    return ""


def rounded(value, digits=7):
    """Rounds all fractions to this number of significant digits (wall_seconds to two). Whole numbers stay unchanged."""
    if isinstance(value, dict):
        return {key: rounded(each, 2 if key == "wall_seconds" else digits) for key, each in value.items()}
    if isinstance(value, list):
        return [rounded(each, digits) for each in value]
    return float(f"{value:.{digits}g}") if isinstance(value, float) and not value.is_integer() else value


def _json(document) -> str:
    return json.dumps(rounded(document), separators=(",", ":"), ensure_ascii=False)


def shortened(event: dict) -> dict:
    """Returns an event of the log in the form in which it is kept."""
    gone = ("loop", "time") if event.get("event") == "sample" else ("loop",)
    made = {key: value for key, value in event.items() if key not in gone}
    if event.get("event") == "round" and "seconds" in event:
        made["seconds"] = rounded(event["seconds"], 3)
    return made


def without_samples(log: list[dict]) -> list[dict]:
    """Keeps events of cells that are not ok, because `study --known` measures these last. A log with a cell that is ok
    must have its samples, so events of such cells are dropped.
    """
    ended = {event["cell"]: event["status"] for event in log if event.get("event") == "end"}
    failed = {cell for cell, status in ended.items() if status != "ok"}
    made = [event for event in log if event.get("event") not in ("sample", "round", "kept")
            and event.get("cell", event.get("id")) in failed | {None}]
    last = next((event["time"] for event in reversed(log) if "time" in event), "")
    return [*made, {"event": "kept", "time": last, "without": "samples, and cells that are ok"}]


def packed(run: pathlib.Path, with_samples: bool = True) -> dict[str, bytes]:
    """Returns the contents of the kept files, by name."""
    log = [json.loads(line) for line in stored.content_of(run, "events.jsonl").splitlines()]
    if not with_samples:
        log = without_samples(log)
    return {"events.jsonl": "".join(_json(shortened(event)) + "\n" for event in log).encode(),
            "results.json": _json(reduced(json.loads(stored.content_of(run, "results.json")))).encode()}


def main(run: pathlib.Path, kept: pathlib.Path, with_samples: bool = True) -> None:
    contents = packed(run, with_samples)
    kept.mkdir(parents=True, exist_ok=True)
    for name, content in contents.items():
        (kept / f"{name}.xz").write_bytes(lzma.compress(content, filters=_TEXT))


def run_program() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--unfinished", action="store_true", help="keep a run whose cells are not all finished")
    parser.add_argument("--without-samples", action="store_true", help="keep the numbers and how each cell ended, but not the samples")
    parser.add_argument("--check", action="store_true", help="only tell whether RUN may be kept")
    parser.add_argument("run", type=pathlib.Path, metavar="RUN", help="folder with events.jsonl and results.json")
    parser.add_argument("kept", type=pathlib.Path, metavar="KEPT", nargs="?",
                        help="folder that gets events.jsonl.xz and results.json.xz")
    given = parser.parse_args()
    if (given.kept is None) != given.check:
        parser.error("name RUN and KEPT, or RUN alone with --check")
    if not given.run.is_dir():
        sys.exit(f"{given.run} is not a folder. Give the folder that allocbench --out wrote, such as results/smoke.")
    if not stored.file_of(given.run, "results.json").exists():
        sys.exit(stored.without_results(given.run))
    if not stored.file_of(given.run, "events.jsonl").exists():
        sys.exit(f"{given.run} contains no events.jsonl. Copy the log beside the results.")
    try:
        why = objection({"allocbench": stored.read_document(given.run)}, given.unfinished)
        if why:
            sys.exit(f"{given.run}: {why}")
        if not given.check:
            main(given.run, given.kept, not given.without_samples)
    except (UsageError, NothingToDraw) as error:
        sys.exit(str(error))
    except OSError as error:
        sys.exit(f"{error.filename or given.run}: {error.strerror or error}. Check the path and its permissions.")
    except (ValueError, EOFError, lzma.LZMAError) as error:
        sys.exit(f"{stored.file_of(given.run, 'events.jsonl')} is damaged ({error}). Fetch the log again.")


if __name__ == "__main__":
    run_program()
