"""This module makes one table of the guide (the config group `guide`): all cases, and the outcome of each allocator in
each case. The table is JSON, because the page contains it too.
"""

from __future__ import annotations

import math
import re
import statistics
from typing import Iterable, Sequence

import pandas

from allocbench.errors import NothingToDraw
from plots.advice import cases, findings
from plots.runs import forms, kept, older_code, origin
from plots.runs.results import Run
from plots.sheet import style

FORMAT = 7
_MEMORY = ("guide/memory_small", "guide/memory_large")
_WITHOUT = {"guide/hash_join_without": "guide/hash_join", "guide/group_by_without": "guide/group_by"}
_FIGURES = (
    "small",
    "large",
    "lanes",
    "mixed",
    "pairs",
    "handed_over",
    "aged",
    "fill",
    "fill_mixed",
    "prefix_sum",
    "hash_join",
    "group_by",
    "kd_tree",
    "graph",
    "graph_build",
    "setup",
)
_LATENCY, _LATENCY_BY_FILL = "guide/latency", "guide/latency_fill"
_PERCENTILES = ("p50", "p90", "p99", "p999")
_REASON = 160  # largest number of characters of a reason
ONE_SIZE = "serves one size of block only"  # restriction that workers report for allocators with one block size
# Reason that workloads/support/callers/requirements.cpp writes.
_LIMIT = re.compile(r"serves requests up to ([0-9]+) B here")


def of(runs: Sequence[Run]) -> dict:
    """Returns the table of the runs of the guide among `runs`."""
    guide = sorted((run for run in runs if run.name.startswith("guide/")), key=_place)
    if not guide:
        raise NothingToDraw("these runs contain no run of the guide. Measure the guide: allocbench study guide")
    origin.require_one_device(guide)
    made = {
        "format": FORMAT,
        "backend": guide[0].backend,
        "device": next((name for run in guide if (name := run.device.get("name"))), origin.NO_DEVICE),
        "date": max(run.date for run in guide),
        "revisions": {run.name: origin.revision(run) for run in guide},
        "kept": all(run.folder.resolve().is_relative_to(kept.REFERENCE) for run in guide),
        "cases": [],
        "allocators": [],
    }
    by_allocator: dict[str, dict] = {}
    for run in guide:
        if run.name not in (*_MEMORY, *_WITHOUT, _LATENCY, _LATENCY_BY_FILL):
            _add_cases(made["cases"], by_allocator, run)
        elif run.name in _MEMORY:
            _add_memory(by_allocator, run)
        elif run.name in (_LATENCY, _LATENCY_BY_FILL):
            _add_latency(by_allocator, run)
        _add_limits(by_allocator, run)
    made["allocators"] = sorted(by_allocator.values(), key=_order)
    revisions = pandas.concat(run.cells for run in guide).groupby("allocator")["revision"].unique()
    for each in made["allocators"]:
        each["older"] = older_code.words(each["id"], revisions[each["id"]])
        each["limits"] = sorted(map(list, each["limits"].items()))
        each["results"] = [each["results"].get(number) for number in range(len(made["cases"]))]
        known = [result for result in each["results"] if result is not None]
        each["survived"] = [sum(isinstance(result, dict) for result in known), len(known)]
    made["floor"] = _floor(made)
    made["band"] = _band(made)
    made["without"] = {
        _WITHOUT[run.name]: _first(_values(run).get(run.cells.index[0], {}), "total", "time")
        for run in guide
        if run.name in _WITHOUT and (run.cells["status"] == "ok").all()
    }
    return made


def revisions(table: dict, numbers: Iterable[int]) -> str:
    """Returns the revisions of the runs of these cases, or of all runs of the table if no case is given."""
    figures = [table["cases"][number]["figure"] for number in numbers]
    return " and ".join(dict.fromkeys(table["revisions"][figure] for figure in figures or table["revisions"]))


def _place(run: Run) -> tuple:
    """Returns the sort key of a run: its place in _FIGURES. Other runs come last, by name."""
    name = run.name.removeprefix("guide/")
    return (_FIGURES.index(name) if name in _FIGURES else len(_FIGURES), name)


def _add_cases(all_cases: list[dict], by_allocator: dict[str, dict], run: Run) -> None:
    places: dict[str, int] = {}
    values = _values(run)
    for cell in run.cells.index:
        row = run.cells.loc[cell]
        rule = cases.RULES.get(row["workload"])
        if rule is None:
            continue
        settings = {**row["workload_parameters"], **row["axes"]}
        job = rule.job(settings, row["pool_bytes"]) if rule.job else None
        label = cases.label(row["workload"], settings, job)
        if label not in places:
            places[label] = len(all_cases)
            all_cases.append(_case(run, row, rule, job, label))
        entry = entry_of(by_allocator, run, cell)
        entry["results"][places[label]] = _outcome(run, cell, row, values.get(cell, {}))
        _add_facts(entry, run, cell, values.get(cell, {}))


def _case(run: Run, row, rule: cases.Rule, job: cases.Job | None, label: str) -> dict:
    return {
        "figure": run.name,
        "label": label,
        "about": origin.title(run),
        "workload": row["workload"],
        "time": rule.time,
        "mallocs": rule.mallocs,
        "job": None
        if job is None
        else {
            "sizes": list(job.sizes),
            "threads": job.threads,
            "lanes": job.lanes,
            "fill": _short(job.fill),
            "lifetime": job.lifetime,
            "pool": job.pool,
            **({"alignment": job.alignment} if job.alignment > 1 else {}),
        },
    }


def entry_of(by_allocator: dict[str, dict], run: Run, cell: str) -> dict:
    name = run.cells.at[cell, "allocator"]
    if name not in by_allocator:
        told = run.details.get(cell, {})
        by_allocator[name] = {
            "id": name,
            "name": told.get("display_name") or style.display_name(name),
            "form": told.get("form") or forms.form_of(name),
            "family": style.family(name),
            "colour": style.look(name).colour,
            "frees": True,
            "restrictions": told.get("restrictions", []),
            "finding": findings.known().get(name, ""),
            "registers": None,
            "metadata": None,
            "setup": None,
            "limits": {},
            "memory": [],
            "latency": [],
            "latency_by_fill": [],
            "results": {},
        }
    return by_allocator[name]


def _outcome(run: Run, cell: str, row, values: dict) -> list | dict:
    """Returns the time of each phase as [value, low, high], for a cell that is ok.

    The result also has the operations of each phase (`n`) and the steps per malloc (`steps`) if they are known, and a
    mark if the times are provisional. For any other cell, the result is the status (or NOT_MEASURED) and the start of
    the reason.
    """
    if row["status"] != "ok":
        return [style.NOT_MEASURED if row["left_out"] else row["status"], row["reason"][:_REASON]]
    made = {phase: [_short(number) for number in numbers] for (phase, metric), numbers in values.items() if metric == "time"}
    if counts := {phase: int(numbers[0]) for (phase, metric), numbers in values.items() if metric == "operations"}:
        made["n"] = counts
    if row["provisional"]:
        made["provisional"] = True
    if steps := _steps(run.details.get(cell, {})):
        made["steps"] = steps
    return made


def _steps(details: dict) -> list[float]:
    """Returns the percentiles 50, 90, 99 and 99.9 of the steps per malloc, each as the first value of its bin.

    The numbers come from the histogram of the untimed passes. The result is empty without this histogram.
    """
    bins = details.get("counted", {}).get("histograms", {}).get("steps", [])
    total = sum(count for _, count in bins)
    made = []
    for share in (0.5, 0.9, 0.99, 0.999) if total else ():
        seen = 0
        for first, count in bins:
            seen += count
            if seen >= share * total:
                made.append(first)
                break
    return made


def _add_facts(entry: dict, run: Run, cell: str, values: dict) -> None:
    """Adds facts about the allocator as a whole: the registers in guide/small, the set-up time, and whether it
    frees.
    """
    if run.never_frees(cell):
        entry["frees"] = False
    if run.cells.at[cell, "status"] != "ok":
        return
    if run.name == "guide/small":
        # The CPU executor has no registers.
        entry["registers"] = entry["registers"] or _first(values, "alloc", "registers") or None
    if run.name == "guide/setup":
        entry["setup"] = _first(values, "init", "time")


def _add_limits(by_allocator: dict[str, dict], run: Run) -> None:
    """Adds each allocator's largest served request, for each pool in which one of its cells asked for more.

    A limit that comes from the page size of the config is left out, because it is not a limit of the design.
    """
    for cell in run.cells.index[run.cells["status"] == "unsupported"]:
        found, entry = _LIMIT.search(run.cells.at[cell, "reason"]), entry_of(by_allocator, run, cell)
        if found and not (ONE_SIZE in entry["restrictions"] and "page_bytes" in run.cells.at[cell, "allocator_parameters"]):
            pool = int(run.cells.at[cell, "pool_bytes"])
            entry["limits"][pool] = max(int(found[1]), entry["limits"].get(pool, 0))


def _add_memory(by_allocator: dict[str, dict], run: Run) -> None:
    """Adds the bytes of pool and metadata that a requested byte takes in a full pool, and the metadata
    divided by the pool.
    """
    values = _values(run)
    for cell in run.cells.index:
        entry = entry_of(by_allocator, run, cell)
        share = _first(values.get(cell, {}), "", "utilisation")
        if share:
            entry["memory"].append([run.settings.at[cell, "request_bytes"], _short(1 / share)])
        if entry["metadata"] is None:
            entry["metadata"] = _first(values.get(cell, {}), "", "metadata_share")
    for entry in by_allocator.values():
        entry["memory"].sort()


def _add_latency(by_allocator: dict[str, dict], run: Run) -> None:
    """Adds the cycles that 50, 90, 99 and 99.9 % of the mallocs do not exceed.

    Each added row has the request size, the number of threads and these cycles. A row of guide/latency_fill also has the
    share of the pool that the blocks take.
    """
    values = _values(run)
    for cell in run.cells.index:
        tail = [_first(values.get(cell, {}), "", f"alloc_{name}") for name in _PERCENTILES]
        if None in tail:
            continue
        size, threads, pool = run.settings.loc[cell, ["request_bytes", "threads", "pool_bytes"]]
        entry = entry_of(by_allocator, run, cell)
        if run.name == _LATENCY:
            entry["latency"].append([size, threads, *tail])
        else:
            entry["latency_by_fill"].append([size, threads, _short(size * threads / pool), *tail])
    for entry in by_allocator.values():
        entry["latency"].sort()
        entry["latency_by_fill"].sort()


def _values(run: Run) -> dict[str, dict]:
    """Returns the value, low and high of each (phase, metric) of each cell."""
    made: dict[str, dict] = {}
    for each in run.values.itertuples():
        made.setdefault(each.cell, {})[each.phase, each.metric] = (each.value, each.low, each.high)
    return made


def _first(values: dict, phase: str, metric: str):
    return _short(values[phase, metric][0]) if (phase, metric) in values else None


def _short(number: float):
    """Rounds to five significant digits, so that the page stays small. Returns None for NaN."""
    if number is None or math.isnan(number):
        return None
    made = float(f"{number:.5g}")
    return int(made) if made.is_integer() and abs(made) < 1e15 else made


def _floor(table: dict) -> float:
    """Returns the time of a kernel that does nothing: the shortest phase `free` of AtomicMalloc, which never frees.
    Returns 0 if there is no such phase.
    """
    atomic = next((each for each in table["allocators"] if each["id"] == "atomic_malloc"), None)
    times = [result["free"][0] for result in (atomic or {}).get("results", []) if isinstance(result, dict) and "free" in result]
    return min(times, default=0.0)


def _band(table: dict) -> float | None:
    """Returns the median relative half-width of the times' 95 % intervals, or None if no time has an interval."""
    widths = [
        (result[case["time"]][2] - result[case["time"]][1]) / 2 / result[case["time"]][0]
        for each in table["allocators"]
        for case, result in zip(table["cases"], each["results"])
        if isinstance(result, dict) and case["time"] in result and None not in result[case["time"]] and result[case["time"]][0] > 0
    ]
    return _short(statistics.median(widths)) if widths else None


def _order(entry: dict) -> tuple:
    return style.family(entry["id"]), style.base_of(entry["id"]) or entry["id"], entry["id"]
