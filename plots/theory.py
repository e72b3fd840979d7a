"""Expected steps of page allocators, as Pham et al. 2025 derive them: equations (1) to (14) and both theorems.

Notation of the paper: T pages, A of them free when N threads request one each; w bits to a word of the bitmap; M clusters
of free pages. TAS is the mean number of steps of a thread, WAS the mean over warps of the largest number among 32 lanes.

Where this differs from the print: sums that the paper approximates are exact under names that end in `exact`. (10) is the
first-passage density of a Brownian motion with drift, an inverse Gaussian, so that the integral (11), said to have no
closed form, is a / mu. (13) allows clusters of no page; for pages in use by chance it is far from the truth (see
docs/papers/pham2025.md). Theorem 1 wants w A / T to be small besides A - N.

`python3 -m plots.theory` prints the reference values.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Callable

import numpy

LANES = 32


def queue_steps(threads: float) -> float:
    """(1): the mean place in a line that all threads join at once."""
    return (threads + 1) / 2


def queue_warp_steps(threads: int) -> float:
    """(2): the largest of 32 independent places."""
    places = numpy.arange(threads, dtype=float)
    return float(numpy.sum(1 - (places / threads) ** LANES))


def queue_warp_steps_printed(threads: float) -> float:
    """(2) as the paper continues with it."""
    return LANES * threads / (LANES + 1)


def rw_steps(pages: float, free: float, threads: float) -> float:
    """(3)."""
    return math.inf if threads >= free else pages / threads * math.log(free / (free - threads))


def rw_steps_exact(pages: float, free: int, threads: int) -> float:
    """The sum that (3) approximates; finite for A = N."""
    return pages / threads * float(numpy.sum(1 / numpy.arange(free - threads + 1, free + 1, dtype=float)))


def rw_bm_steps(pages: float, free: float, threads: int, word: int = 32) -> float:
    """(5); with w = 1 the exact sum of RW."""
    used = (pages - free + numpy.arange(int(threads), dtype=float)) / pages
    return float(numpy.mean(1 / (1 - used**word)))


def rw_bm_warp_steps(pages: float, free: float, threads: float, word: int = 32, lanes: int = LANES) -> float:
    """(6), an upper bound: every lane has the worst chance met, that of A - N free pages. (4) with w = 1."""
    if threads >= free:
        return math.inf
    return _largest_geometric(1 - (1 - (free - threads) / pages) ** word, lanes)


def rw_warp_steps(pages: float, free: float, threads: float) -> float:
    """(4)."""
    return rw_bm_warp_steps(pages, free, threads, word=1)


def _largest_geometric(success: float, lanes: int) -> float:
    """Mean of the largest of `lanes` geometric numbers: the sum over k of 1 - (1 - q^k)^lanes."""
    if success >= 1:
        return 1.0
    last = math.ceil(-40 / math.log1p(-success)) + 1  # what is left is below lanes e^-40
    total = 0.0
    for begin in range(0, last, 1 << 20):
        k = numpy.arange(begin, min(begin + (1 << 20), last), dtype=float)
        miss = numpy.exp(k * math.log1p(-success))
        total += float(numpy.sum(-numpy.expm1(lanes * numpy.log1p(-numpy.minimum(miss, 1 - 1e-16)))))
    return total


def rw_bm_warp_steps_near_the_end(pages: float, free: float, threads: float, word: int = 32) -> float:
    """Theorem 2: (6) from (4) as A comes near N."""
    return rw_warp_steps(pages, free, threads) / word + (word - 1) / (2 * word)


def corw_drift(pages: float, free: float, threads: float, word: int = 32) -> tuple[float, float]:
    """(9): mean and standard deviation of the pages that a warp finds in a step, at worst."""
    share = (free - threads) / pages
    tried = LANES * word
    return tried * share, math.sqrt(tried * share * (1 - share))


def corw_density(t, pages: float, free: float, threads: float, word: int = 32):
    """(10): when the sum of the pages found passes 32."""
    mu, sigma = corw_drift(pages, free, threads, word)
    t = numpy.asarray(t, dtype=float)
    return LANES / (sigma * numpy.sqrt(2 * math.pi * t**3)) * numpy.exp(-((LANES - mu * t) ** 2) / (2 * sigma**2 * t))


def corw_steps(pages: float, free: float, threads: float, word: int = 32) -> float:
    """(11) in closed form, and not less than the one step that everybody takes."""
    if threads >= free:
        return math.inf
    return max(1.0, LANES / corw_drift(pages, free, threads, word)[0])


def corw_steps_exact(pages: float, free: float, threads: float, word: int = 32) -> float:
    """Mean number of rounds of binomial yields until 32 pages are found: what (10) approximates."""
    share = (free - threads) / pages
    tried = LANES * word
    total, rounds = 1.0, 1  # a first round is always made
    while True:
        # The chance that n tries find fewer than 32.
        n = tried * rounds
        log_term = n * math.log1p(-share)
        below = math.exp(log_term)
        for k in range(1, LANES):
            log_term += math.log((n - k + 1) / k) + math.log(share) - math.log1p(-share)
            below += math.exp(log_term)
        if below < 1e-12:
            return total
        total += below
        rounds += 1


def crw_miss(free: float, clusters: float) -> float:
    """(13): the chance that the page beside the last one is not free."""
    return (clusters - 1) / (free + clusters - 1)


def crw_steps(pages: float, free: float, threads: float, clusters: float) -> float:
    """(14)."""
    return 1 + crw_miss(free, clusters) * rw_steps(pages, free, threads)


def crw_bitmap_steps(pages: float, free: float, threads: float, clusters: float, word: int = 32) -> float:
    """(14) with (5) in place of (3): the paper's text wants it "if Bitmap is used", as algorithm 5 does."""
    return 1 + crw_miss(free, clusters) * rw_bm_steps(pages, free, threads, word)


def crw_warp_steps(pages: float, free: float, threads: float, clusters: float, lanes: int = LANES) -> float:
    """Largest of 32 independent CRW requests, for which the paper has numbers but no formula (fig. 9): one step, or one
    more than a walk that succeeds with the worst chance, (A - N) / T."""
    if threads >= free:
        return math.inf
    miss, success = crw_miss(free, clusters), (free - threads) / pages
    last = math.ceil(-40 / math.log1p(-success)) + 1
    k = numpy.arange(last, dtype=float)
    return 1 + float(numpy.sum(-numpy.expm1(lanes * numpy.log1p(-miss * numpy.exp(k * math.log1p(-success))))))


def vain_probes(free_share: float, z: float = 2.32635) -> int:
    """Section 3.2.3: pages found in use, one after the other, before A / T can be said to be less, at 1 % false alarms."""
    return math.floor(z * z * (1 - free_share) / free_share)


def conflicts(pages: float, threads: float) -> float:
    """Section 3.1: pairs of threads whose first probes meet, N^2 / 2T."""
    return threads * (threads - 1) / (2 * pages)


@dataclass(frozen=True)
class Setting:
    """What a formula may want to know of a cell."""

    pages: float
    free_share: float
    threads: float
    cluster_pages: float = 1
    lanes: float = 1  # that call together, of a warp

    @property
    def free(self) -> float:
        return round(self.pages * self.free_share)

    @property
    def clusters(self) -> float:
        """Expected number of clusters where groups of `cluster_pages` are free or in use by chance."""
        return max(1.0, self.free / self.cluster_pages * (1 - self.free_share))


# What the `theory` of a config's plot may name.
CURVES: dict[str, tuple[str, Callable[[Setting], float]]] = {
    "queue_steps": ("(1)", lambda s: queue_steps(s.threads)),
    "queue_warp_steps": ("(2)", lambda s: queue_warp_steps(int(s.threads))),
    "rw_steps": ("(3)", lambda s: rw_steps(s.pages, s.free, s.threads)),
    "rw_warp_steps": ("(4)", lambda s: rw_warp_steps(s.pages, s.free, s.threads)),
    "rw_bm_steps": ("(5)", lambda s: rw_bm_steps(s.pages, s.free, int(s.threads))),
    "rw_bm_warp_steps": ("(6)", lambda s: rw_bm_warp_steps(s.pages, s.free, s.threads)),
    "rw_bm_over_corw": ("(6) over (11)", lambda s: rw_bm_warp_steps(s.pages, s.free, s.threads)
                                                   / corw_steps(s.pages, s.free, s.threads)),
    "corw_steps": ("(11)", lambda s: corw_steps(s.pages, s.free, s.threads)),
    "crw_steps": ("(14)", lambda s: crw_steps(s.pages, s.free, s.threads, s.clusters)),
    "crw_bitmap_steps": ("(14) with (5)", lambda s: crw_bitmap_steps(s.pages, s.free, s.threads, s.clusters)),
    "crw_warp_steps": ("a model after section 4.2", lambda s: crw_warp_steps(s.pages, s.free, s.threads, s.clusters)),
    "conflicts": ("section 3.1", lambda s: conflicts(s.pages, s.threads)),
    "lockstep_exchanges": ("half of N + 1 (Huang et al. 2010, IV-A)", lambda s: (s.lanes + 1) / 2),  # N(N + 1) / 2 for N lanes
    "combined_exchanges": ("1/N (Huang et al. 2010, IV-B)", lambda s: 1 / s.lanes),  # one for N lanes
    # Of Halloc: bits and length of each lane, counters of the size and of the slab for N lanes together.
    "aggregated_updates": ("2 + 2/N updates (the slides)", lambda s: 2 + 2 / s.lanes),
    "rw_bm_64_steps": ("(5), w = 64", lambda s: rw_bm_steps(s.pages, s.free, int(s.threads), 64)),
    "rw_bm_64_warp_steps": ("(6), w = 64", lambda s: rw_bm_warp_steps(s.pages, s.free, s.threads, 64)),
    "corw_64_steps": ("(11), w = 64", lambda s: corw_steps(s.pages, s.free, s.threads, 64)),
    "theorem_1": ("theorem 1, w = 32", lambda s: rw_steps_exact(s.pages, s.free, int(s.threads)) / 32),
    "theorem_1_64": ("theorem 1, w = 64", lambda s: rw_steps_exact(s.pages, s.free, int(s.threads)) / 64),
    "theorem_2": ("theorem 2, w = 32", lambda s: rw_bm_warp_steps_near_the_end(s.pages, s.free, s.threads)),
    "theorem_2_64": ("theorem 2, w = 64", lambda s: rw_bm_warp_steps_near_the_end(s.pages, s.free, s.threads, 64)),
}


def reference_table() -> str:
    """Values at T = 1,000,000 and N = 5,000, as a table in Markdown."""
    pages, threads = 1_000_000, 5_000
    lines = [f"T = {pages:,}, N = {threads:,}, w = 32; queue: TAS (1) {queue_steps(threads):.1f}, "
             f"WAS (2) {queue_warp_steps(threads):.1f}", "",
             "| A/T | RW TAS (3) | WAS (4) | RW-BM TAS (5) | WAS (6) | CoRW (11) | exact | "
             "CRW (14), M = 0.01 A | M = 0.5 A | M = A |", "|---" * 10 + "|"]
    for share in (0.5, 0.1, 0.05, 0.03, 0.02, 0.01, 0.007, 0.006):
        free = round(pages * share)
        values = [rw_steps(pages, free, threads), rw_warp_steps(pages, free, threads), rw_bm_steps(pages, free, threads),
                  rw_bm_warp_steps(pages, free, threads), corw_steps(pages, free, threads),
                  corw_steps_exact(pages, free, threads)]
        values += [crw_steps(pages, free, threads, m * free) for m in (0.01, 0.5, 1)]
        lines.append(f"| {100 * share:g} % | " + " | ".join(f"{value:.4g}" for value in values) + " |")
    return "\n".join(lines)


if __name__ == "__main__":
    print(reference_table())
