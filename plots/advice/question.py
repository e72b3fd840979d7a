"""This module reads a question: a job as the command line states it. Every error names the option and what to write instead."""

from __future__ import annotations

import re
from dataclasses import dataclass

from allocbench.errors import UsageError
from plots.advice import cases, differences
from plots.runs.forms import ABLATION, LETTERS
from plots.sheet import quantity

FORMS = tuple(LETTERS)
USUAL_FORMS = tuple(form for form in FORMS if form != ABLATION)
MOST_THREADS = 268_435_456
MOST_ALIGNMENT = 2**31
NATURAL_ALIGNMENT = 16
ROUNDED = 0.005  # largest relative difference between a share and its first three digits
_PART_OF_A_BYTE = re.compile(r"[0-9]*\.[0-9]*[1-9][0-9]*\s*B?")
_COUNT = re.compile(r"((?:[0-9]+|[0-9]{1,3}(?:,[0-9]{3})+)(?:\.[0-9]+)?)\s*([kKmMgG]?)")
_FACTORS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9}


@dataclass(frozen=True)
class Question:
    """A question is about a job, or about an application of the guide. Then it has no job."""

    job: cases.Job | None
    must_free: bool = True
    budget: int | None = None  # bytes for blocks and metadata together
    forms: tuple[str, ...] = USUAL_FORMS
    any_size: bool = False  # whether allocators that serve only one size of block are left out
    application: str = ""

    def data(self) -> dict:
        """Returns the question in the form that question.js makes and rank.js reads."""
        job = self.job
        if job is None:
            return {"application": self.application, "must_free": True, "any_size": self.any_size, "budget": None, "forms": list(self.forms)}
        return {
            "sizes": list(job.sizes),
            "threads": job.threads,
            "lanes": job.lanes,
            "fill": job.fill,
            "lifetime": job.lifetime,
            "pool": job.pool,
            **({"alignment": job.alignment} if job.alignment > 1 else {}),
            "must_free": self.must_free,
            "any_size": self.any_size,
            "budget": self.budget,
            "forms": list(self.forms),
        }


def ask(
    sizes: str,
    threads: str,
    pool: str,
    fill: str | None = None,
    lanes: str = "32",
    lifetime: str | None = None,
    must_free: bool = True,
    budget: str | None = None,
    forms: tuple[str, ...] = USUAL_FORMS,
    any_size: bool = False,
    alignment: str = "1",
) -> Question:
    """Makes the question from the texts of the command line. Without `fill`, the pool contains only the job's own blocks.
    Without `lifetime`, a later kernel frees the blocks.
    """
    least, most = _sizes(sizes)
    count = _count(threads)
    pool_bytes = _bytes(pool, "--pool", "1GiB")
    called, at = _lanes(lanes), _alignment(alignment)
    if lifetime not in (None, *cases.LIFETIMES):
        raise UsageError(f"--lifetime {lifetime!r} is unknown. Allowed: {', '.join(cases.LIFETIMES)}.")
    if lifetime and not must_free:
        raise UsageError(f"--never-freed and --lifetime {lifetime} contradict each other: such blocks are freed. Drop one.")
    budget_bytes = _bytes(budget, "--memory-budget", "2GiB") if budget is not None else None
    taken = count * cases.mean_bytes((least, most))
    requests = f"{count:,} requests of {differences.sizes(least, most)} take {quantity.in_bytes(taken)}"
    if taken >= pool_bytes:
        raise UsageError(f"--pool {pool} is too small: {requests}. Give a larger pool, or fewer threads.")
    if most > pool_bytes:
        raise UsageError(f"--pool {pool} is smaller than the largest request, {quantity.in_bytes(most)}. Give a larger pool, or smaller --sizes.")
    if at * count > pool_bytes:
        raise UsageError(f"--pool {pool} is too small: {count:,} blocks {cases.aligned(at)} need {quantity.in_bytes(at * count)}. Give a larger pool, or a smaller --alignment.")
    if budget_bytes is not None and taken > budget_bytes:
        raise UsageError(f"--memory-budget {budget} is too small: {requests}. Give a larger budget, or fewer threads.")
    full = _full(fill, taken / pool_bytes, requests)
    job = cases.Job((least, most), count, called, min(full, cases.FULLEST), lifetime or cases.KERNEL, pool_bytes, at)
    return Question(job, must_free, budget_bytes, _known(forms), any_size)


def ask_application(name: str, forms: tuple[str, ...] = USUAL_FORMS, any_size: bool = False) -> Question:
    if name not in cases.APPLICATIONS:
        raise UsageError(f"--application {name!r} is unknown. Allowed: {', '.join(cases.APPLICATIONS)}.")
    return Question(None, forms=_known(forms), any_size=any_size, application=name)


def _known(forms: tuple[str, ...]) -> tuple[str, ...]:
    unknown = [form for form in forms if form not in FORMS]
    if unknown or not forms:
        raise UsageError(f"--forms {unknown[0] if unknown else ''!r} is unknown. Allowed: all, or some of {', '.join(FORMS)} with commas between them.")
    return forms


def _sizes(text: str) -> tuple[int, int]:
    parts = re.split(r"\s*-\s*", text.strip())
    if len(parts) > 2 or "" in parts:
        raise UsageError(f"--sizes {text!r} is neither a size nor a range. Write one size (48), or the smallest and the largest size (16-4096).")
    sizes = [_bytes(part, "--sizes", "48, 4KiB or 16-4096") for part in parts]
    if sizes[0] > sizes[-1]:
        raise UsageError(f"--sizes {text!r}: the smaller size must come first. Write {parts[1]}-{parts[0]}.")
    return sizes[0], sizes[-1]


def _bytes(text: str, option: str, example: str) -> int:
    try:
        made = quantity.parse_bytes(text)
    except (ValueError, OverflowError):
        raise UsageError(f"{option} {text!r} is not a size in bytes. Write {example} (1KiB is 1,024 bytes; KB is refused).") from None
    if _PART_OF_A_BYTE.fullmatch(text.strip()):
        raise UsageError(f"{option} {text!r} is not a whole number of bytes. Write {example}.")
    if not 1 <= made <= 2**50:
        raise UsageError(f"{option} {text!r} is outside 1 B to 1,024 TiB. Write {example}.")
    return made


def _alignment(text: str) -> int:
    """Returns the alignment, or 1 if it does not exceed the natural alignment. Requests need not ask for the natural
    alignment.
    """
    made = _bytes(text, "--alignment", "128")
    if made & (made - 1) or made > MOST_ALIGNMENT:
        raise UsageError(f"--alignment {text!r} is not a power of two up to 2 GiB. Write 32, 128 or 4KiB.")
    return made if made > NATURAL_ALIGNMENT else 1


def _count(text: str) -> int:
    found = _COUNT.fullmatch(text.strip())
    made = round(float(found[1].replace(",", "")) * _FACTORS[found[2].lower()], 6) if found else 0.0
    if not made.is_integer() or not 1 <= made <= MOST_THREADS:
        raise UsageError(f"--threads {text!r} is not a number of threads from 1 to {MOST_THREADS:,}. Write 100000, 100k or 1M.")
    return int(made)


def _lanes(text: str) -> int:
    if not re.fullmatch("[0-9]+", text) or not 1 <= int(text) <= 32:
        raise UsageError(f"--lanes {text!r} is not a number of lanes of a warp. Write 1 to 32.")
    return int(text)


def _full(text: str | None, own: float, requests: str) -> float:
    """Returns the largest share of the pool in use. The job's own share may be written with three digits, as in the answer."""
    if text is None:
        return own
    made = _fill(text)
    if made < own * (1 - ROUNDED):
        raise UsageError(f"--fill {text} is too small: {requests}, {cases.percent(own)} of the pool. Give a larger --fill, or leave it out.")
    return max(own, made)


def _fill(text: str) -> float:
    found = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)\s*(%?)", text.strip())
    made = float(found[1]) / (100 if found[2] else 1) if found else -1
    if not 0 <= made < 1:
        raise UsageError(f"--fill {text!r} is not a share of the pool below 100 %. Write 90% or 0.9.")
    return made


def sentence(question: Question) -> str:
    job = question.job
    if job is None:
        return ", ".join([f"a {cases.APPLICATIONS[question.application]}", *(["blocks of any size"] if question.any_size else [])])
    words = [
        f"{job.threads:,} threads",
        f"{differences.sizes(*job.sizes)} each",
        "all lanes of a warp" if job.lanes == 32 else f"{job.lanes} of the 32 lanes of a warp",
        f"pool of {quantity.in_bytes(job.pool)}, {cases.full(job.fill)} at most",
        cases.LIFETIMES[job.lifetime] if question.must_free else "never freed",
    ]
    if job.alignment > 1:
        words.append(cases.aligned(job.alignment))
    if question.any_size:
        words.append("blocks of any size")
    if question.budget:
        words.append(f"at most {quantity.in_bytes(question.budget)} of memory")
    return ", ".join(words)
