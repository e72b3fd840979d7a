"""This module turns cells of the guide (the config group `guide`) into cases. A case is a cell without its allocator.

A case that can answer a question states the request sizes, their alignment, the threads, the lanes, the pool, how full
the pool gets, and how long blocks live. A case of an application, of `prefix_sum` or of `heap_init` has none of these
facts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Callable

from plots.sheet import quantity

MOMENT, KERNEL, ANY, OTHERS = "moment", "kernel", "any", "others"  # lifetimes of blocks, and who frees them
LIFETIMES = {
    MOMENT: "freed at once by the same thread",
    KERNEL: "freed by a later kernel",
    ANY: "freed after any number of kernels",
    OTHERS: "freed by other threads in a later kernel",
}
# Applications that a question may name, each measured by the config of the guide with the same name.
APPLICATIONS = {"hash_join": "hash join", "group_by": "group-by", "kd_tree": "kd-tree", "graph": "graph of arrays", "graph_build": "graph build"}
FREED_BY = {"other_block": "freed by another block", "anybody": "freed by anybody"}
_FULL = "full"  # name of the fill level of the pool, for which workloads have different parameters
FULLEST = 0.999  # larger fill levels count as this one, because the distance to a level near 1 has no bound


@dataclass(frozen=True)
class Job:
    sizes: tuple[int, int]
    threads: int
    lanes: int
    fill: float  # largest share of the pool in use, the job's blocks included
    lifetime: str
    pool: int
    alignment: int = 1  # alignment in bytes that the requests name, or 1 if they name none


@dataclass(frozen=True)
class Rule:
    """A rule says how a workload's cells become cases.

    `time` is the phase that is compared if blocks must be freed. `mallocs` is the phase that is compared if they are
    never freed (empty if the workload does not time mallocs alone). `settings` are the settings that name a case. `job`
    makes the job from the settings and the pool. It is None for workloads that answer no question about a job.
    """

    time: str
    mallocs: str
    settings: tuple[str, ...]
    job: Callable[[dict, int], Job] | None = None


def mean_bytes(sizes: tuple[int, int]) -> float:
    return (sizes[0] + sizes[1]) / 2


def aligned(alignment: int) -> str:
    return f"at multiples of {quantity.in_bytes(alignment)}"


def full(share: float) -> str:
    return f"{percent(share)} full"


def percent(share: float) -> str:
    return f"{100 * share:.3g} %" if share >= 1e-4 else "under 0.01 %"


def _sizes(settings: dict) -> tuple[int, int]:
    if settings.get("sizes") == "uniform":
        return settings["min_bytes"], settings["max_bytes"]
    return settings["request_bytes"], settings["request_bytes"]


def _job(settings: dict, pool: int, sizes: tuple[int, int], taken: float, lifetime: str) -> Job:
    own = settings["threads"] * mean_bytes(sizes) / pool
    fill = float(f"{min(taken + own, FULLEST):.5g}")  # rounded like the numbers of the page's table
    return Job(sizes, settings["threads"], settings.get("lanes_per_warp", 32), fill, lifetime, pool, settings.get("alignment", 1))


def _of_alloc_free(settings: dict, pool: int) -> Job:
    return _job(settings, pool, _sizes(settings), 0, KERNEL)


def _of_fill(settings: dict, pool: int) -> Job:
    return _job(settings, pool, _sizes(settings), settings["taken_share"], KERNEL)


def _of_scenario(settings: dict, pool: int) -> Job | None:
    """Returns the job of the scenario `alloc_mixed`: 4 to 8,192 B (Pham et al. 2025, sec. 5.2.3). Returns None for any
    other scenario, because the guide has no other.
    """
    if settings["scenario"] != "alloc_mixed":
        return None
    return _job(settings, pool, (4, 8192), 1 - settings["free_share"], KERNEL)


def _of_randomized(settings: dict, pool: int) -> Job:
    return _job(settings, pool, _sizes(settings), 0, ANY)


def _of_pairs(settings: dict, pool: int) -> Job:
    return _job(settings, pool, _sizes(settings), 0, MOMENT)


def _of_producer_consumer(settings: dict, pool: int) -> Job | None:
    """Returns the job, or None if threads of the same warp or block free the blocks, because questions
    cannot ask for this.
    """
    return _job(settings, pool, _sizes(settings), 0, OTHERS) if settings["freed_by"] in FREED_BY else None


RULES = {
    "alloc_free": Rule("total", "alloc", ("request_bytes", "max_bytes", "alignment", "threads", "lanes_per_warp"), _of_alloc_free),
    "fill": Rule("total", "alloc", ("request_bytes", "threads", _FULL), _of_fill),
    "scenario": Rule("total", "total", ("scenario", "threads", _FULL), _of_scenario),
    "randomized": Rule("last", "", ("request_bytes", "threads", "launches"), _of_randomized),
    "pairs": Rule("total", "", ("request_bytes", "threads"), _of_pairs),
    "producer_consumer": Rule("total", "alloc", ("request_bytes", "threads", "freed_by"), _of_producer_consumer),
    "hash_join": Rule("total", "", ("tuples",)),
    "group_by": Rule("total", "", ("keys",)),
    "kd_tree": Rule("total", "", ("triangles",)),
    "graph_arrays": Rule("total", "", ("arcs",)),
    "graph_build": Rule("total", "", ("arcs",)),
    "prefix_sum": Rule("malloc", "", ("threads",)),
    "heap_init": Rule("init", "", ("threads",)),
}


def label(workload: str, settings: dict, job: Job | None) -> str:
    """Returns the words that distinguish a case from others of its config, such as `64 B, 100,000 threads`."""
    sizes = _sizes(settings) if "request_bytes" in settings else None
    words = []
    for name in RULES[workload].settings if workload in RULES else ():
        if name == "max_bytes":
            continue
        if name == "request_bytes" and sizes and sizes[0] != sizes[1]:
            words.append(f"{quantity.in_bytes(sizes[0])} to {quantity.in_bytes(sizes[1])}")
        elif name == _FULL:
            words += [full(job.fill)] if job else []
        elif name == "alignment":
            words += [] if settings.get(name, 1) == 1 else [aligned(settings[name])]
        elif name == "scenario":
            words.append("4 B to 8 KiB")
        elif name == "lanes_per_warp":
            words += [] if settings[name] == 32 else [f"{settings[name]} {'lane' if settings[name] == 1 else 'lanes'}"]
        elif name in settings:
            words.append(_named(name, settings[name]))
    return ", ".join(words)


def _named(name: str, value) -> str:
    if name == "request_bytes":
        return quantity.in_bytes(value)
    if name == "freed_by":
        return FREED_BY.get(value, value)
    return f"{value:,} {name}"
