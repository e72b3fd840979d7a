"""Makes results folders for the tests, in temporary folders only. Their numbers are invented; their device says so."""

from __future__ import annotations

import csv
import json
from pathlib import Path

from allocbench.stored import COLUMNS

DEVICE = "TEST DATA, not measured"


def cell(allocator: str, axes: dict, *, status: str = "ok", reason: str = "", values: dict | None = None, **fields) -> dict:
    """One cell; `values` maps (phase, metric) to a number or to (value, low, high)."""
    made = {"allocator": allocator, "axes": axes, "status": status, "reason": reason, "values": values or {},
            "allocator_parameters": {}, "workload": "alloc_free", "workload_parameters": {"threads": 64, **axes},
            "pool_bytes": axes.get("pool_bytes", 1 << 26), "flags": "", "samples": 5}
    made.update(fields)
    return made


def write(folder: Path, config: dict, cells: list[dict], backend: str = "cpu", unfinished: int = 0) -> Path:
    """Writes results.csv and results.json as harness/README.md describes them."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "results.csv").open("w", newline="", encoding="utf-8") as file:
        rows = csv.DictWriter(file, COLUMNS)
        rows.writeheader()
        for number, each in enumerate(cells):
            rows.writerows(_rows(number, each, config["name"], backend))
    document = {"context": {}, "benchmarks": [], "allocbench": {
        "format": 2,
        "run": {"event": "run", "time": "2026-01-02T03:04:05.678Z", "backend": backend, "seed": 7, "config": config,
                "config_path": "configs/test.json", "allocbench": {"version": "0.1.0", "revision": "abc1234"}},
        "device": {"name": DEVICE, "driver_version": "1.2", "toolkit": "13.0"},
        "unfinished": unfinished,
        "cells": [{"id": f"{number:016x}", "revision": each["revision"]}
                  for number, each in enumerate(cells) if "revision" in each]}}
    (folder / "results.json").write_text(json.dumps(document), encoding="utf-8")
    return folder


def _rows(number: int, each: dict, figure: str, backend: str):
    common = {"figure": figure, "cell": f"{number:016x}", "series": f"{number % 7:016x}", "allocator": each["allocator"],
              "allocator_parameters": json.dumps(each["allocator_parameters"]), "workload": each["workload"],
              "workload_parameters": json.dumps(each["workload_parameters"]), "axes": json.dumps(each["axes"]),
              "pool_bytes": each["pool_bytes"], "backend": backend, "device": DEVICE, "seed": 7, "state": "fresh",
              "status": each["status"], "reason": each["reason"]}
    if each["status"] != "ok" and not each["values"]:
        yield common
    for (phase, metric), value in each["values"].items():
        value, low, high = value if isinstance(value, tuple) else (value, value * 0.95, value * 1.06)
        unit = {"time": "s", "throughput": "op/s"}.get(metric, "")
        yield {**common, "phase": phase, "metric": metric, "unit": unit, "statistic": "median", "value": repr(value),
               "low": "" if low is None else repr(low), "high": "" if high is None else repr(high),
               "samples": each["samples"], "flags": each["flags"]}
