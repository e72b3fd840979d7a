"""Ranks allocators for a question. plots/webpage/static/rank.js does the same where the reader asks, in a browser: it reads the same table and
the same RULES, and a test compares the two.

How far a case is from the question is a sum of steps: each setting that differs by its factor in RULES is one, another lifetime is one and a half.
Cells whose blocks other threads free answer questions about such blocks, and no others; so do cells whose requests name an alignment. The answer rests on the cases within `window` steps of the
nearest one, none of them farther than `farthest`. A case counts half as much for every step that it is away.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from plots.advice.cases import OTHERS
from plots.advice.table import ONE_SIZE
from plots.sheet import style

FARTHEST = 3.0
WINDOW = 1.5
RULES = {
    "farthest": FARTHEST,
    "window": WINDOW,
    "factors": {"size": 4, "threads": 10, "lanes": 4, "fill": 2, "pool": 100},  # of one step; `fill` is about the free share
    "other_lifetime": 1.5,
    "others": OTHERS,
    "memory_factor": 4,  # sizes farther apart say nothing about each other's memory
    "not_measured": style.NOT_MEASURED,
    "one_size": ONE_SIZE,
    "never_frees": "never frees",
    "over_budget": "needs more memory than the budget",
}


@dataclass(frozen=True)
class Near:
    """A case that the answer rests on. `steps` by setting, those of 0 left out."""

    number: int
    distance: float
    steps: dict[str, float]


@dataclass(frozen=True)
class Ranked:
    """An allocator with a place. `slower`: geometric mean over the near cases of its time over the best one's, both with the
    floor added. `rank`: placed() says what it is; 0 without a number."""

    entry: dict
    rank: int
    slower: float | None
    low: float | None
    high: float | None
    seconds: float | None  # of one operation of the phase that is compared, in the nearest case that has it
    memory: float | None  # bytes that a requested byte takes
    ok: int
    failed: list[tuple[int, str, str]]  # case, status (or that the study had no time for it), reason
    provisional: bool = False  # the time of one of the near cases is, or more
    nearest: Near | None = None  # of the near cases that it served

    def tried(self) -> bool:
        return self.ok > 0 or any(status != style.NOT_MEASURED for _, status, _ in self.failed)


@dataclass(frozen=True)
class Answer:
    near: list[Near]
    ranked: list[Ranked]
    unsafe: list[Ranked]  # the bug search broke them
    failing: list[Ranked]  # some near case is not ok or not measured
    unable: list[Ranked]  # no near case is ok
    unmeasured: list[dict]  # no near case was measured
    left_out: list[dict]  # for what was asked: why_not() says why
    refusing: list[dict]  # the request is too large for them: refused_by() has the limit


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
    """Whether the case is about requests, has what is compared, and has blocks that are freed by whom the question says and aligned as it says."""
    job = case["job"]
    if job is None or job.get("alignment", 1) != question.get("alignment", 1):
        return False
    return bool(question["must_free"] or case["mallocs"]) and (job["lifetime"] == OTHERS) == (question["lifetime"] == OTHERS)


def by_distance(table: dict, question: dict) -> list[Near]:
    """All cases that answer the question, nearest first."""
    found = [Near(number, *distance_of(case["job"], question)) for number, case in enumerate(table["cases"]) if answers(case, question)]
    return sorted(found, key=lambda each: (each.distance, each.number))


def near(table: dict, question: dict) -> list[Near]:
    """Nearest first; empty where nothing was measured near."""
    found = by_distance(table, question)
    return [each for each in found if each.distance <= min(FARTHEST, found[0].distance + WINDOW)]


def answer(table: dict, question: dict) -> Answer:
    cases = near(table, question)
    asked = [entry for entry in table["allocators"] if entry["form"] in question["forms"]]
    wanted = [entry for entry in asked if not why_not(entry, question)]
    kept = [entry for entry in wanted if not refused_by(entry, question)]
    phases = [table["cases"][each.number]["time" if question["must_free"] else "mallocs"] for each in cases]
    rivals = [entry for entry in kept if not entry["finding"]] or kept  # an allocator that breaks is not the yardstick
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
    """What the allocator lacks of what is asked; empty where it lacks nothing that is known."""
    if question["must_free"] and not entry["frees"]:
        return RULES["never_frees"]
    if question["any_size"] and ONE_SIZE in entry["restrictions"]:
        return ONE_SIZE
    needed = bytes_needed(entry, question)
    return "" if question["budget"] is None or needed is None or needed <= question["budget"] else RULES["over_budget"]


def refused_by(entry: dict, question: dict) -> list[int] | None:
    """The pool nearest to the asked one in which the allocator's largest request is known, and that request, where the question asks for more."""
    found = min(entry["limits"], key=lambda limit: abs(math.log2(limit[0] / question["pool"])), default=None)
    return found if found and found[1] < question["sizes"][1] else None


def bytes_needed(entry: dict, question: dict) -> float | None:
    """Memory for the job's own blocks, metadata included."""
    factor = memory_of(entry, question["sizes"])
    return None if factor is None else factor * question["threads"] * (question["sizes"][0] + question["sizes"][1]) / 2


def memory_of(entry: dict, sizes: list[int]) -> float | None:
    """Of the measured size that is nearest to the geometric middle of the sizes, and not too far away."""
    middle = math.log2(sizes[0] * sizes[1]) / 2
    found = min(((abs(math.log2(size) - middle), size, factor) for size, factor in entry["memory"]), default=None)
    return found[2] if found and found[0] <= math.log2(RULES["memory_factor"]) else None


def _time(entry: dict, number: int, phase: str) -> list | None:
    result = entry["results"][number]
    return result.get(phase) if isinstance(result, dict) else None


def _judged(entry: dict, table: dict, question: dict, cases: list[Near], phases: list[str], best: list) -> Ranked:
    weights, logs, spread, failed, seconds = 0.0, 0.0, 0.0, [], None
    bounded, provisional, nearest = True, False, None
    ok = 0
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
        if seconds is None and (operations := result.get("n", {}).get(phase)):
            seconds = time[0] / operations
    if not ok:
        return Ranked(entry, 0, None, None, None, None, memory_of(entry, question["sizes"]), 0, failed)
    failed = [each for each in failed if each[1] != "unsupported" or not _asks_more(table["cases"][each[0]]["job"], question)]
    middle, half = logs / weights, math.sqrt(spread) / weights
    return Ranked(
        entry,
        0,
        math.exp(middle),
        math.exp(middle - half) if bounded else None,
        math.exp(middle + half) if bounded else None,
        seconds,
        memory_of(entry, question["sizes"]),
        ok,
        failed,
        provisional,
        nearest,
    )


def _asks_more(job: dict, question: dict) -> bool:
    """The case has larger requests than the question: who does not take these, and serves others near, has not failed."""
    return job["sizes"][1] > question["sizes"][1]


def _sorted(judged: list[Ranked]) -> list[Ranked]:
    """By the share of near cases that failed, then by time."""
    return sorted(judged, key=lambda each: (round(len(each.failed) / (each.ok + len(each.failed)), 6), _digits(each.slower), each.entry["id"]))


def placed(judged: list[Ranked]) -> list[Ranked]:
    """By rank, and then by time. Those for whom equally many are surely faster share a rank, 1 more than the number of those with fewer, as in
    sports: 1, 1, 3. No interval tells them apart; of two that none tells apart the slower one may have the better rank."""

    def surely_faster(other: Ranked, each: Ranked) -> bool:
        if other.high is None or each.low is None:
            return _digits(other.slower) < _digits(each.slower)
        return other.high < each.low

    faster = [sum(surely_faster(other, each) for other in judged) for each in judged]
    placed = [replace(each, rank=1 + sum(count < own for count in faster)) for each, own in zip(judged, faster)]
    return sorted(placed, key=lambda each: (each.rank, _digits(each.slower), each.entry["id"]))


def _digits(number: float) -> float:
    """Nine digits, so that the last bit of a logarithm does not decide an order."""
    return round(number, 9)


def front(ranked: list[Ranked]) -> set[str]:
    """Ids on the Pareto front of time, memory and registers: no other is as good in all three and better in one. An allocator that lacks a number is
    not on it."""

    def numbers(each: Ranked) -> tuple | None:
        made = (each.slower, each.memory, each.entry["registers"])
        return None if None in made else made

    known = {each.entry["id"]: numbers(each) for each in ranked if numbers(each)}
    return {name for name, own in known.items() if not any(all(a <= b for a, b in zip(other, own)) and other != own for other in known.values())}
