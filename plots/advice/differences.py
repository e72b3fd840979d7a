"""This module describes in words how a measured cell differs from the question.

static/question.js writes the same words in the page, and a test compares the two.
"""

from __future__ import annotations

import math

from plots.advice import cases
from plots.sheet import quantity

AS_ASKED = 0.05  # a setting that differs by fewer steps (engine.py) counts as equal to the asked one


def words(job: dict, asked: dict, steps: dict[str, float]) -> list[str]:
    """Returns one phrase for each setting that differs from the question by at least AS_ASKED steps, such as `requests
    4 times smaller`.
    """
    told = {"size": _size, "threads": _threads, "lanes": _lanes, "fill": _fill, "lifetime": _lifetime, "pool": _pool}
    return [say(job, asked) for name, say in told.items() if steps.get(name, 0) >= AS_ASKED]


def sizes(least: int, most: int) -> str:
    return quantity.in_bytes(least) if least == most else f"{quantity.in_bytes(least)} to {quantity.in_bytes(most)}"


def _size(job: dict, asked: dict) -> str:
    (least, most), (asked_least, asked_most) = job["sizes"], asked["sizes"]
    if least * asked_most == most * asked_least:
        return f"requests {_times(most, asked_most, 'larger', 'smaller')}"
    return f"requests of {sizes(least, most)}, not {sizes(asked_least, asked_most)}"


def _threads(job: dict, asked: dict) -> str:
    return f"{_times(job['threads'], asked['threads'], 'more', 'fewer')} threads"


def _lanes(job: dict, asked: dict) -> str:
    return f"{job['lanes']} calling {'lane' if job['lanes'] == 1 else 'lanes'} of a warp, not {asked['lanes']}"


def _fill(job: dict, asked: dict) -> str:
    return f"{cases.full(job['fill'])}, not {cases.percent(asked['fill'])}"


def _lifetime(job: dict, asked: dict) -> str:
    return f"blocks {cases.LIFETIMES[job['lifetime']]}"


def _pool(job: dict, asked: dict) -> str:
    return f"pool {_times(job['pool'], asked['pool'], 'larger', 'smaller')}"


def _times(own: float, asked: float, more: str, less: str) -> str:
    """Returns a factor in words. It rounds halves up, as the page does."""
    ratio = max(own / asked, asked / own)
    told = f"{math.floor(ratio + 0.5):,}" if ratio >= 9.95 else f"{math.floor(10 * ratio + 0.5) / 10:g}"
    return f"{told} times {more if own > asked else less}"
