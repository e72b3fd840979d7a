"""Writes a small guide with invented numbers, for the tests of the advice and of the page."""

from __future__ import annotations

from pathlib import Path

import synthetic

NAMES = {
    "atomic_malloc": ("AtomicMalloc", "published"),
    "comb": ("Comb", "own"),
    "halloc": ("Halloc", "published"),
    "halloc_reworked": ("Halloc, reworked", "reworked"),
    "corw_reworked": ("CoRW, reworked", "reworked"),
    "c_malloc": ("CMalloc", "published"),
    "c_malloc_no_merge": ("CMalloc, no merge", "ablation"),
    "kma": ("KMA", "published"),  # the study had no time for it
}
RESTRICTIONS = {"corw_reworked": ["serves one size of block only"], "atomic_malloc": ["free does nothing"]}
# Each allocator has the seconds of malloc and free of 1,000 threads, and the memory per requested byte.
COST = {
    "atomic_malloc": (2e-6, 1.0),
    "comb": (6e-6, 1.2),
    "halloc": (30e-6, 1.5),
    "halloc_reworked": (9e-6, 1.5),
    "corw_reworked": (6.01e-6, 4.0),
    "c_malloc": (3e-6, 2.0),
    "c_malloc_no_merge": (50e-6, 2.0),
    "kma": (40e-6, 1.1),
}
LEFT_OUT = "put off until all others were measured (kma lost workers in 3 configs); then the time of --minutes was used up"
FAILED = {("halloc", 16, 1_000_000): ("oom", "12 of 1,000,000 requests returned null")}
REFUSED = {("latency", "halloc", 1 << 27): "Halloc serves requests up to 4096 B here, asked for 8192 B"}


def write(folder: Path, backend: str = "cuda") -> Path:
    """Writes requests by size and threads, a pool that fills up, memory, and one application with and without an
    allocator.
    """
    _config(folder, "small", [_request(name, size, threads) for name in NAMES for size in (16, 64) for threads in (1000, 1_000_000)], backend)
    _config(folder, "mixed", [_mixed(name) for name in NAMES], backend)
    _config(folder, "fill", [_fill(name, taken) for name in NAMES for taken in (0.5, 0.9)], backend)
    _config(folder, "memory_small", [_memory(name) for name in NAMES], backend)
    _config(folder, "setup", [_setup(name) for name in NAMES], backend)
    _config(folder, "latency", [_latency(name, size, threads) for name in NAMES for size in (16, 64) for threads in (1000, 100_000)], backend)
    _config(folder, "latency_fill", [_latency_by_fill(name, pool) for name in NAMES for pool in (1 << 27, 1 << 30)], backend)
    _config(folder, "hash_join", [_application(name, 3) for name in NAMES], backend)
    _config(folder, "hash_join_without", [_application("atomic_malloc", 5)], backend)
    return folder


def write_handed_over(folder: Path) -> Path:
    """Adds blocks that other threads free."""
    _config(folder, "handed_over", [_handed_over(name, freed_by) for name in NAMES for freed_by in ("other_block", "anybody", "other_lane")], "cuda")
    return folder


def _config(folder: Path, name: str, cells: list[dict], backend: str) -> None:
    config = {"name": f"guide/{name}", "description": f"Test data: {name}", "allocators": ["all"], "plot": {"kind": "status_matrix"}}
    made = synthetic.write(folder / "guide" / name, config, cells, backend)
    for number, each in enumerate(cells):
        synthetic.change(
            made, number,
            revision="abc1234",
            display_name=NAMES[each["allocator"]][0],
            form=NAMES[each["allocator"]][1],
            restrictions=RESTRICTIONS.get(each["allocator"], []),
            checks={"leak": "waived: AtomicMalloc never frees" if each["allocator"] == "atomic_malloc" else "checked"},
            counted={"histograms": {"steps": [[1, 900], [2, 95], [8, 5]]}},
        )


def _phases(total: float, operations: int) -> dict:
    values = {}
    for phase, share in (("alloc", 0.75), ("free", 0.25), ("total", 1.0)):
        value = total * share
        values |= {(phase, "time"): (value, value * 0.99, value * 1.01), (phase, "operations"): operations * (2 if phase == "total" else 1)}
    return values


def _cell(name: str, workload: str, settings: dict, axes: dict, values: dict, pool: int) -> dict:
    failed = ("skipped", LEFT_OUT) if name == "kma" else FAILED.get((name, axes.get("request_bytes"), axes.get("threads")))
    if refused := REFUSED.get((workload, name, pool)):
        failed = "unsupported", refused
    if failed:
        status, reason = failed
        return synthetic.cell(name, axes, status=status, reason=reason, workload=workload, workload_parameters={**settings, **axes}, pool_bytes=pool)
    return synthetic.cell(name, axes, values=values, workload=workload, workload_parameters={**settings, **axes}, pool_bytes=pool, samples=18)


def _request(name: str, size: int, threads: int) -> dict:
    total = COST[name][0] * (threads / 1000) ** 0.5 * (1 + size / 1000)
    values = {**_phases(total, threads), ("alloc", "registers"): 20 + len(name)}
    return _cell(name, "alloc_free", {"lanes_per_warp": 32, "sizes": "fixed"}, {"request_bytes": size, "threads": threads}, values, 1 << 30)


def _mixed(name: str) -> dict:
    settings = {"lanes_per_warp": 32, "sizes": "uniform", "min_bytes": 16, "max_bytes": 4096, "request_bytes": 16}
    return _cell(name, "alloc_free", settings, {"threads": 100_000}, _phases(COST[name][0] * 20, 100_000), 1 << 30)


def _fill(name: str, taken: float) -> dict:
    settings = {"lanes_per_warp": 32, "threads": 10_000, "request_bytes": 256}
    return _cell(name, "fill", settings, {"taken_share": taken}, _phases(COST[name][0] * 4 / (1 - taken), 10_000), 1 << 27)


def _handed_over(name: str, freed_by: str) -> dict:
    """Makes a cell of guide/handed_over in which Comb is slow. Cells in which another lane of the warp frees are very
    fast, and answers must not use them.
    """
    total = COST[name][0] * {"other_block": 10, "anybody": 20, "other_lane": 0.01}[freed_by] * (4 if name == "comb" else 1)
    settings = {"lanes_per_warp": 32, "sizes": "fixed", "request_bytes": 64, "threads": 100_000}
    return _cell(name, "producer_consumer", settings, {"freed_by": freed_by}, _phases(total, 100_000), 1 << 30)


def _memory(name: str) -> dict:
    pool = 1 << 26
    values = {("", "served_bytes"): pool / COST[name][1], ("", "metadata_bytes"): pool // 128}
    return _cell(name, "fragmentation", {"threads": 8192}, {"request_bytes": 64}, values, pool)


def _setup(name: str) -> dict:
    values = {("init", "time"): COST[name][0] * 100, ("first_alloc", "time"): COST[name][0]}
    return _cell(name, "heap_init", {"request_bytes": 16}, {"threads": 32}, values, 1 << 30)


def _percentiles(name: str, size: int) -> dict:
    values = {("", f"alloc_{rank}"): factor * COST[name][0] * 1e9 + size for rank, factor in (("p50", 1), ("p90", 2), ("p99", 4), ("p999", 9))}
    return {**values, ("own", "time"): 1e-6}


def _latency(name: str, size: int, threads: int) -> dict:
    return _cell(name, "latency", {}, {"request_bytes": size, "threads": threads}, _percentiles(name, size), 1 << 30)


def _latency_by_fill(name: str, pool: int) -> dict:
    return _cell(name, "latency", {"request_bytes": 256, "threads": 470_000}, {"pool_bytes": pool}, _percentiles(name, 256), pool)


def _application(name: str, factor: float) -> dict:
    total = COST[name][0] * factor
    return _cell(name, "hash_join", {"page_bytes": 256}, {"tuples": 4096}, {("total", "time"): (total, total * 0.99, total * 1.01)}, 1 << 28)
