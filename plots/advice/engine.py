"""This module ranks allocators for a question.

plots/webpage/static/rank.js does the same in the reader's browser. It reads the same table and the same RULES, and a
test compares the two.

The distance between a case and the question is a sum of steps. A setting that differs by its factor in RULES adds one
step. A setting that differs by the square of this factor adds two. A different lifetime adds 1.5 steps. Case and
question must have the same alignment, and must agree on whether other threads free the blocks.

The answer uses cases that are at most `window` steps farther away than the nearest one. None of them is more than
`farthest` steps away. The weight of a case halves with each step.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Mapping

from plots.advice.cases import OTHERS, mean_bytes
from plots.advice.table import ONE_SIZE
from plots.sheet import style

FARTHEST = 3.0
WINDOW = 1.5
RULES = {
    "farthest": FARTHEST,
    "window": WINDOW,
    # A factor of this size makes one step. `fill` compares the free shares of the pools.
    "factors": {"size": 4, "threads": 10, "lanes": 4, "fill": 2, "pool": 100},
    "other_lifetime": 1.5,
    "others": OTHERS,
    "memory_factor": 4,  # a measured size that differs by more than this factor is not used for the memory
    "not_measured": style.NOT_MEASURED,
    "one_size": ONE_SIZE,
    "never_frees": "never frees",
    "over_budget": "needs more memory than the budget",
}


@dataclass(frozen=True)
class Near:
    """A case that can answer the question, and its distance from the question. `steps` has the distance of each setting
    that differs.
    """

    number: int
    distance: float
    steps: dict[str, float]


@dataclass(frozen=True)
class Ranked:
    """A ranked allocator is an allocator with its rank and the numbers behind it.

    `slower` is the allocator's time divided by the best time. For a question, `slower` is a weighted geometric mean
    over the near cases that the allocator served. The table's floor, the time of a kernel that does nothing, is added
    to both times. `rank` is 0 until placed() sets it.
    """

    entry: dict
    rank: int
    slower: float | None
    low: float | None
    high: float | None
    seconds: float | None  # time per operation in the nearest case that counts them; whole time of an application or of a replayed trace
    memory: float | None  # bytes of memory per requested byte
    ok: int
    failed: list[tuple[int, str, str]]  # case, status (or NOT_MEASURED), reason
    provisional: bool = False  # whether the time of at least one near case is provisional
    nearest: Near | None = None  # the near case with the least distance among those that the allocator served

    def tried(self) -> bool:
        return self.ok > 0 or any(status != style.NOT_MEASURED for _, status, _ in self.failed)


@dataclass(frozen=True)
class Answer:
    near: list[Near]
    ranked: list[Ranked]
    unsafe: list[Ranked]  # allocators with a known error (findings.py), with a near case that is ok
    failing: list[Ranked]  # safe allocators with a near case that is ok and another that failed or was not measured
    unable: list[Ranked]  # allocators with a measured near case, but with none that is ok
    unmeasured: list[dict]  # allocators without a measured near case
    left_out: list[dict]  # allocators that do not meet the requirements; why_not() has the reason
    refusing: list[dict]  # allocators that refuse the largest request of the question; refused_by() has their limit


def distance_of(job: dict, question: dict) -> tuple[float, dict[str, float]]:
    def octaves(a: float, b: float) -> float:
        return abs(math.log2(a / b))

    apart = {
        "size": (octaves(job["sizes"][0], question["sizes"][0]) + octaves(job["sizes"][1], question["sizes"][1])) / 2,
        "threads": octaves(job["threads"], question["threads"]),
        "lanes": octaves(job["lanes"], question["lanes"]),
        "fill": octaves(1 - job["fill"], 1 - question["fill"]),
        "lifetime": 0.0 if job["lifetime"] == question["lifetime"] else RULES["other_lifetime"],
        "pool": octaves(job["pool"], question["pool"]),
    }
    steps = {name: number / math.log2(RULES["factors"].get(name, 2)) for name, number in apart.items()}
    return sum(steps.values()), {name: number for name, number in steps.items() if number > 0}


def answers(case: dict, question: dict) -> bool:
    """Returns whether the case can answer the question.

    The case must be about requests, and it must have the phase that is compared. It must have the alignment of the
    question. Case and question must agree on whether other threads free the blocks.
    """
    job = case["job"]
    if job is None or job.get("alignment", 1) != question.get("alignment", 1):
        return False
    return bool(question["must_free"] or case["mallocs"]) and (job["lifetime"] == OTHERS) == (question["lifetime"] == OTHERS)


def by_distance(table: dict, question: dict) -> list[Near]:
    """Returns all cases that answer the question, nearest first. No case of an application is nearer than another."""
    if question.get("application"):
        figure = f"guide/{question['application']}"
        return [Near(number, 0.0, {}) for number, case in enumerate(table["cases"]) if case["figure"] == figure]
    found = [Near(number, *distance_of(case["job"], question)) for number, case in enumerate(table["cases"]) if answers(case, question)]
    return sorted(found, key=lambda each: (each.distance, each.number))


def near(table: dict, question: dict) -> list[Near]:
    """Returns the cases that the answer uses, nearest first. The list is empty if no measured case is near enough."""
    found = by_distance(table, question)
    return [each for each in found if each.distance <= min(FARTHEST, found[0].distance + WINDOW)]


def answer(table: dict, question: dict) -> Answer:
    cases = near(table, question)
    asked = [entry for entry in table["allocators"] if entry["form"] in question["forms"]]
    wanted = [entry for entry in asked if not why_not(entry, question)]
    kept = [entry for entry in wanted if not refused_by(entry, question)]
    phases = [table["cases"][each.number]["time" if question["must_free"] else "mallocs"] for each in cases]
    # An allocator with a known error must not set the best time, unless all are unsafe.
    rivals = [entry for entry in kept if not entry["finding"]] or kept
    best = [
        min((_time(entry, each.number, phase)[0] for entry in rivals if _time(entry, each.number, phase)), default=None)
        for each, phase in zip(cases, phases)
    ]
    made = [_judged(entry, table, question, cases, phases, best) for entry in kept]
    able = [each for each in made if each.ok]
    safe = [each for each in able if not each.entry["finding"]]
    return Answer(
        cases,
        placed([each for each in safe if not each.failed]),
        _sorted([each for each in able if each.entry["finding"]]),
        _sorted([each for each in safe if each.failed]),
        [each for each in made if not each.ok and each.tried()],
        [each.entry for each in made if not each.tried()],
        [entry for entry in asked if why_not(entry, question)],
        [entry for entry in wanted if refused_by(entry, question)],
    )


def why_not(entry: dict, question: dict) -> str:
    """Returns the first requirement that the allocator does not meet, or an empty text if no such requirement is known."""
    if question["must_free"] and not entry["frees"]:
        return RULES["never_frees"]
    if question["any_size"] and ONE_SIZE in entry["restrictions"]:
        return ONE_SIZE
    return "" if question["budget"] is None or bytes_needed(entry, question) <= question["budget"] else RULES["over_budget"]


def refused_by(entry: dict, question: dict) -> list[int] | None:
    """Returns the pool and the largest request that the allocator serves in it. Returns None if no limit is known, if
    no request of the question exceeds the limit, or if the question is about an application.

    The pool is the one nearest to the asked pool, among pools with a known limit.
    """
    if question.get("application"):
        return None
    found = min(entry["limits"], key=lambda limit: abs(math.log2(limit[0] / question["pool"])), default=None)
    return found if found and found[1] < question["sizes"][1] else None


def bytes_needed(entry: dict, question: dict) -> float:
    """Returns the bytes that the job's own blocks take, metadata included. If the memory per requested byte is unknown, it
    counts as 1, because every block has at least its request.
    """
    factor = memory_of(entry, question["sizes"])
    return (1 if factor is None else factor) * question["threads"] * mean_bytes(question["sizes"])


def memory_of(entry: dict, sizes: list[int]) -> float | None:
    """Returns the memory per requested byte at the measured size nearest to the geometric middle of the sizes.

    An allocator with one size of block serves each request with a block for the largest one. So its result is that of the
    largest size, times the largest size divided by the mean. The result is None if every measured size differs from the
    wanted one by more than the factor `memory_factor`.
    """
    one_size = ONE_SIZE in entry["restrictions"]
    wanted = math.log2(sizes[1]) if one_size else math.log2(sizes[0] * sizes[1]) / 2
    found = min(((abs(math.log2(size) - wanted), size, factor) for size, factor in entry["memory"]), default=None)
    if not found or found[0] > math.log2(RULES["memory_factor"]):
        return None
    return found[2] * (sizes[1] / mean_bytes(sizes) if one_size else 1)


def _time(entry: dict, number: int, phase: str) -> list | None:
    result = entry["results"][number]
    return result.get(phase) if isinstance(result, dict) else None


def _judged(entry: dict, table: dict, question: dict, cases: list[Near], phases: list[str], best: list) -> Ranked:
    weights, logs, spread, failed, seconds = 0.0, 0.0, 0.0, [], None
    bounded, provisional, nearest = True, False, None
    ok = 0
    whole = bool(question.get("application"))
    memory = None if whole else memory_of(entry, question["sizes"])
    for each, phase, least in zip(cases, phases, best):
        time, result = _time(entry, each.number, phase), entry["results"][each.number]
        if time is None or least is None:
            if isinstance(result, list):
                failed.append((each.number, result[0], result[1]))
            continue
        ok += 1
        nearest = nearest or each
        provisional = provisional or result.get("provisional", False)
        weight = 2**-each.distance
        weights += weight
        logs += weight * math.log((time[0] + table["floor"]) / (least + table["floor"]))
        if time[1] is None or time[2] is None:
            bounded = False
        else:
            spread += (weight * math.log((time[2] + table["floor"]) / (time[1] + table["floor"])) / 2) ** 2
        if seconds is None and (operations := 1 if whole else result.get("n", {}).get(phase)):
            seconds = time[0] / operations
    if not ok:
        return Ranked(entry, 0, None, None, None, None, memory, 0, failed)
    failed = [each for each in failed if each[1] != "unsupported" or not _asks_more(table["cases"][each[0]]["job"], question)]
    middle, half = logs / weights, math.sqrt(spread) / weights
    return Ranked(
        entry,
        0,
        math.exp(middle),
        math.exp(middle - half) if bounded else None,
        math.exp(middle + half) if bounded else None,
        seconds,
        memory,
        ok,
        failed,
        provisional,
        nearest,
    )


def _asks_more(job: dict | None, question: dict) -> bool:
    """Returns whether the case has larger requests than the question. A case of an application has no such job.

    An allocator that refuses such a case has not failed if it serves another near case.
    """
    return job is not None and job["sizes"][1] > question["sizes"][1]


def _sorted(judged: list[Ranked]) -> list[Ranked]:
    """Sorts by the share of near cases that failed, then by time."""
    return sorted(judged, key=lambda each: (round(len(each.failed) / (each.ok + len(each.failed)), 6), _digits(each.slower), each.entry["id"]))


def placed(judged: list[Ranked]) -> list[Ranked]:
    """Returns the allocators with their ranks, sorted by rank, then by time.

    An allocator is faster than another one if its interval lies below the other interval. If one of the two has no
    interval, the smaller time decides. Allocators with equally many faster allocators share a rank, as in sports: 1, 1,
    3. So no interval separates allocators of one rank. If no interval separates two allocators, the slower one may
    still have the better rank.
    """

    def surely_faster(other: Ranked, each: Ranked) -> bool:
        if other.high is None or each.low is None:
            return _digits(other.slower) < _digits(each.slower)
        return other.high < each.low

    faster = [sum(surely_faster(other, each) for other in judged) for each in judged]
    placed = [replace(each, rank=1 + sum(count < own for count in faster)) for each, own in zip(judged, faster)]
    return sorted(placed, key=lambda each: (each.rank, _digits(each.slower), each.entry["id"]))


def _digits(number: float) -> float:
    """Rounds to nine digits, so that the last bit of a logarithm does not decide an order."""
    return round(number, 9)


def front(ranked: list[Ranked]) -> set[str]:
    """Returns the ids on the Pareto front of time, memory and registers.

    An allocator is on the front if no other one is at least as good in all three and better in at least one. An
    allocator that lacks one of the three numbers is not on the front.
    """

    def numbers(each: Ranked) -> tuple | None:
        made = (each.slower, each.memory, each.entry["registers"])
        return None if None in made else made

    return pareto({each.entry["id"]: numbers(each) for each in ranked if numbers(each)})


def pareto(costs: Mapping[str, tuple]) -> set[str]:
    """Returns the names on the Pareto front: those whose costs no others undercut in one number without exceeding another."""
    return {name for name, own in costs.items() if not any(other != own and all(a <= b for a, b in zip(other, own)) for other in costs.values())}
