"""Makes runs as the repository keeps them, with origin and log, in temporary folders only. Their numbers are invented."""

from __future__ import annotations

import json
import lzma
from pathlib import Path

import synthetic

FIRST, SECOND = "0123456789ab", "ba9876543210"  # measured revisions


def run(study: Path, name: str, cells: list[dict], *, inside: str = "", revision: str = FIRST, commit: str = "abc1234", card: str = "card-1", model: str = "Test GPU",
        driver: str = "570.1", clock: int = 1980, date: str = "2026-01-02", dirty: bool = False, backend: str = "cuda", of_cells: dict[int, dict] | None = None,
        config: dict | None = None, rounds: dict[int, list[float]] | None = None, executor: str = "") -> Path:
    """Makes a run in STUDY/NAME. `of_cells` changes facts of single cells, and `rounds` has seconds of rounds for the
    log.
    """
    config = {"name": name, "allocators": sorted({each["allocator"] for each in cells}), "workload": {"id": "alloc_free"}, "sweep": {"threads": [1]},
              "plot": {"kind": "lines", "x": "threads", "y": ["alloc"]}, **(config or {})}
    folder = synthetic.write(study / (inside or name), config, cells, backend)
    path = folder / "results.json"
    document = json.loads(path.read_text(encoding="utf-8"))
    ours = document["allocbench"]
    origin = {"device": model, "device_uuid": card, "driver_version": driver, "sm_clock_max_mhz": clock, "revision": commit, "measured_revision": revision,
              "dirty": dirty, "attempt": 1}
    for number, cell in enumerate(ours["cells"]):
        cell.update({**origin, **(of_cells or {}).get(number, {})})
    if executor:
        ours["run"]["executor"] = executor
    ours["device"] = {"name": model, "uuid": card, "driver_version": driver}
    ours["provenance"] = {"measured_revisions": sorted({cell["measured_revision"] for cell in ours["cells"]}), "cards": sorted({cell["device_uuid"] for cell in ours["cells"]}),
                          "drivers": [driver], "commits": [commit], "dirty": dirty, "mixed": False}
    program = {"version": "0.1.0", "revision": commit, "measured_revision": revision, "dirty": dirty}
    events = [{"event": "run", "time": f"{date}T03:04:05.678Z", "format": 2, "allocbench": program, "worker": {"measured_revision": revision}, "config": config},
              {"event": "device", "time": f"{date}T03:04:06.678Z", "device": ours["device"]}]
    for cell in ours["cells"]:
        events += [{"event": "device", "time": f"{date}T03:04:07.678Z", "device": {"uuid": cell["device_uuid"], "driver_version": cell["driver_version"]}}]
    for number, seconds in (rounds or {}).items():
        events += [{"event": "round", "cell": ours["cells"][number]["id"], "attempt": 1, "round": index, "samples": 5, "seconds": each} for index, each in enumerate(seconds)]
    for file, content in (("results.json", json.dumps(document)), ("events.jsonl", "".join(json.dumps(each, separators=(",", ":")) + "\n" for each in events))):
        (folder / f"{file}.xz").write_bytes(lzma.compress(content.encode()))
    path.unlink()
    return folder


def ok(allocator: str, seconds: float, threads: int = 1, **fields) -> dict:
    return synthetic.cell(allocator, {"threads": threads}, values={("alloc", "time"): seconds}, **fields)


def failed(allocator: str, status: str, reason: str = "", threads: int = 1) -> dict:
    return synthetic.cell(allocator, {"threads": threads}, status=status, reason=reason)
