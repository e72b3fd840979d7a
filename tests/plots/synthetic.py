"""Makes results folders for the tests, in temporary folders only. The numbers are invented, and the name of the device
says so.
"""

from __future__ import annotations

import json
from pathlib import Path

DEVICE = "TEST DATA, not measured"
METRICS = [{"name": "time", "unit": "s", "better": "lower"}, {"name": "throughput", "unit": "op/s", "better": "higher"}]
_OF_CELLS = ("allocator", "allocator_parameters", "workload", "workload_parameters", "axes", "pool_bytes", "status", "reason")


def cell(allocator: str, axes: dict, *, status: str = "ok", reason: str = "", values: dict | None = None, **fields) -> dict:
    """Makes one cell. `values` maps (phase, metric) to a number or to (value, low, high)."""
    made = {"allocator": allocator, "axes": axes, "status": status, "reason": reason, "values": values or {},
            "allocator_parameters": {}, "workload": "alloc_free", "workload_parameters": {"threads": 64, **axes},
            "pool_bytes": axes.get("pool_bytes", 1 << 26), "flags": "", "samples": 5}
    made.update(fields)
    return made


def write(folder: Path, config: dict, cells: list[dict], backend: str = "cpu", unfinished: int = 0) -> Path:
    """Writes results.json as harness/README.md describes it."""
    folder.mkdir(parents=True, exist_ok=True)
    document = {"context": {}, "benchmarks": [], "allocbench": {
        "format": 2,
        "run": {"event": "run", "time": "2026-01-02T03:04:05.678Z", "backend": backend, "seed": 7, "config": config,
                "config_path": "configs/test.json", "allocbench": {"version": "0.1.0", "revision": "abc1234"}, "metrics": METRICS},
        "device": {"name": DEVICE, "driver_version": "1.2", "toolkit": "13.0"},
        "unfinished": unfinished,
        "cells": [_entry(number, each, config.get("statistic", "median"), backend) for number, each in enumerate(cells)]}}
    (folder / "results.json").write_text(json.dumps(document), encoding="utf-8")
    return folder


def change(folder: Path, number: int, **keys) -> None:
    """Changes keys of a stored cell. Entries of `phases` are merged with the stored phases of the same name."""
    document = json.loads((folder / "results.json").read_text(encoding="utf-8"))
    _join(document["allocbench"]["cells"][number], keys)
    (folder / "results.json").write_text(json.dumps(document), encoding="utf-8")


def _entry(number: int, each: dict, statistic: str, backend: str) -> dict:
    entry = {"id": f"{number:016x}", "series": f"{number % 7:016x}", "label": each["allocator"], "backend": backend, "device": DEVICE, "seed": 7,
             "state": "fresh", **{key: each[key] for key in _OF_CELLS}}
    phases, counters, intervals, facts = {}, {}, {}, {}
    for (phase, metric), value in each["values"].items():
        value, low, high = value if isinstance(value, tuple) else (value, value * 0.95, value * 1.06)
        if metric in ("registers", "local_bytes"):
            facts.setdefault(metric, {})[phase] = value
        elif metric in ("metadata_bytes", "device_heap_bytes"):
            facts[metric] = value
        elif phase == "":
            counters[metric] = value
            if low is not None:
                intervals[metric] = [low, high]
        elif metric == "time":
            phases.setdefault(phase, {}).update({statistic: value, "low": low, "high": high, "rounds": [each["samples"]],
                                                 "throttled": [0] if each["flags"] == "throttled" else []})
        elif metric == "operations":
            phases.setdefault(phase, {})["operations"] = value
        else:
            raise ValueError(f"results have no {metric!r} of a phase")
    if each["status"] == "ok" or each["values"]:
        entry |= {"phases": [{"name": name, **phase} for name, phase in phases.items()], "counters": counters, "counter_intervals": intervals,
                  "metrics": facts}
    _join(entry, {key: each[key] for key in ("revision", "provisional", "phases", "counted") if key in each})
    return entry


def _join(entry: dict, keys: dict) -> None:
    phases = {phase["name"]: phase for phase in entry.get("phases", [])}
    for phase in keys.get("phases", []):
        phases[phase["name"]] = phases.get(phase["name"], {}) | phase
    entry |= keys
    if phases:
        entry["phases"] = list(phases.values())
