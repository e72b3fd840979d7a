"""Computes expected numbers of steps of page allocators by Pham et al. 2025: equations (1) to (6), (9) to (11), (13) and
(14), and both theorems.

The notation is that of the paper. RW stands for random walks, CRW for clustered random walks, CoRW for collaborative
ones, and BM for a bitmap. There are T pages, of which A are free when N threads request one each. A word of the bitmap
has w bits. M is the number of clusters of free pages. TAS is the mean number of steps of a thread. WAS is the mean,
over warps, of the most steps among the 32 lanes.

Notes on the paper's equations:

* A function whose name ends in `exact` computes the exact sum that the paper approximates.
* Equation (10) is the first-passage density of a Brownian motion with drift, an inverse Gaussian. The paper says that
  the integral in equation (11) has no closed form. The integral is 32 / mu, where mu is the mean of equation (9).
* Equation (13) allows clusters without a page. If single pages are free by chance, more requests need a random walk
  than (13) says.
* Theorem 1 requires w A / T to be small compared with A - N.

CURVES also has formulas of other papers. `python3 -m plots.theory` prints values of some equations as a table.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Callable

import numpy

LANES = 32


def queue_steps(threads: float) -> float:
    """Computes equation (1), the mean position in a queue that all threads join at once."""
    return (threads + 1) / 2


def queue_warp_steps(threads: int) -> float:
    """Computes equation (2), the mean of the largest of 32 independent positions."""
    places = numpy.arange(threads, dtype=float)
    return float(numpy.sum(1 - (places / threads) ** LANES))


def rw_steps(pages: float, free: float, threads: float) -> float:
    """Computes equation (3), the TAS of random walks (RW)."""
    return math.inf if threads >= free else pages / threads * math.log(free / (free - threads))


def rw_steps_exact(pages: float, free: int, threads: int) -> float:
    """Computes the sum that equation (3) approximates. The sum is finite for A = N."""
    return pages / threads * float(numpy.sum(1 / numpy.arange(free - threads + 1, free + 1, dtype=float)))


def rw_bm_steps(pages: float, free: float, threads: int, word: int = 32) -> float:
    """Computes equation (5). With w = 1, the result is the exact sum of RW (rw_steps_exact)."""
    used = (pages - free + numpy.arange(int(threads), dtype=float)) / pages
    return float(numpy.mean(1 / (1 - used**word)))


def rw_bm_warp_steps(pages: float, free: float, threads: float, word: int = 32, lanes: int = LANES) -> float:
    """Computes equation (6). For every lane it assumes the worst chance, which belongs to A - N free pages. It does not
    include locks. With w = 1, the result is equation (4).
    """
    if threads >= free:
        return math.inf
    return _largest_geometric(1 - (1 - (free - threads) / pages) ** word, lanes)


def rw_warp_steps(pages: float, free: float, threads: float) -> float:
    """Computes equation (4), the WAS of random walks (RW)."""
    return rw_bm_warp_steps(pages, free, threads, word=1)


def _largest_geometric(success: float, lanes: int) -> float:
    """Computes the mean of the largest of `lanes` geometric numbers: the sum over k of 1 - (1 - q^k)^lanes. q is the
    chance of a failure.
    """
    if success >= 1:
        return 1.0
    last = math.ceil(-40 / math.log1p(-success)) + 1  # each term that is left out is below lanes e^-40
    total = 0.0
    for begin in range(0, last, 1 << 20):
        k = numpy.arange(begin, min(begin + (1 << 20), last), dtype=float)
        miss = numpy.exp(k * math.log1p(-success))
        total += float(numpy.sum(-numpy.expm1(lanes * numpy.log1p(-numpy.minimum(miss, 1 - 1e-16)))))
    return total


def rw_bm_warp_steps_near_the_end(pages: float, free: float, threads: float, word: int = 32) -> float:
    """Computes equation (6) from equation (4), for A close to N (theorem 2)."""
    return rw_warp_steps(pages, free, threads) / word + (word - 1) / (2 * word)


def corw_drift(pages: float, free: float, threads: float, word: int = 32) -> tuple[float, float]:
    """Computes equation (9): mean and standard deviation of the pages that a warp finds in a step, in the worst
    case.
    """
    share = (free - threads) / pages
    tried = LANES * word
    return tried * share, math.sqrt(tried * share * (1 - share))


def corw_steps(pages: float, free: float, threads: float, word: int = 32) -> float:
    """Computes equation (11) in closed form. The result is at least 1, because each request takes a step."""
    if threads >= free:
        return math.inf
    return max(1.0, LANES / corw_drift(pages, free, threads, word)[0])


def corw_steps_exact(pages: float, free: float, threads: float, word: int = 32) -> float:
    """Computes the mean number of steps in which a warp finds 32 pages, with binomial yields. Equation (11) approximates it."""
    share = (free - threads) / pages
    tried = LANES * word
    total, rounds = 1.0, 1  # a first round is always made
    while True:
        # This is the chance that n tries find fewer than 32.
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
    """Computes equation (13), the chance that the page after the last allocated one is not free."""
    return (clusters - 1) / (free + clusters - 1)


def crw_steps(pages: float, free: float, threads: float, clusters: float) -> float:
    """Computes equation (14), the TAS of clustered random walks (CRW)."""
    return 1 + crw_miss(free, clusters) * rw_steps(pages, free, threads)


def crw_bitmap_steps(pages: float, free: float, threads: float, clusters: float, word: int = 32) -> float:
    """Computes equation (14) with (5) instead of (3). The paper's text wants this "if Bitmap is used". Algorithm 5 uses
    a bitmap.
    """
    return 1 + crw_miss(free, clusters) * rw_bm_steps(pages, free, threads, word)


def crw_warp_steps(pages: float, free: float, threads: float, clusters: float, lanes: int = LANES) -> float:
    """Computes the mean of the most steps among 32 independent CRW requests. The paper has numbers for this mean but no
    formula (fig. 9).

    A request takes one step, or one step more than a walk that succeeds with the worst chance, (A - N) / T.
    """
    if threads >= free:
        return math.inf
    miss, success = crw_miss(free, clusters), (free - threads) / pages
    last = math.ceil(-40 / math.log1p(-success)) + 1
    k = numpy.arange(last, dtype=float)
    return 1 + float(numpy.sum(-numpy.expm1(lanes * numpy.log1p(-miss * numpy.exp(k * math.log1p(-success))))))


def conflicts(pages: float, threads: float) -> float:
    """Computes the expected number of pairs of threads whose first probes hit the same page: N (N - 1) / 2T, about N^2
    / 2T (section 3.1).
    """
    return threads * (threads - 1) / (2 * pages)


@dataclass(frozen=True)
class Setting:
    """The values of a cell that the formulas use."""

    pages: float
    free_share: float
    threads: float
    cluster_pages: float = 1
    lanes: float = 1  # number of lanes of a warp that call together

    @property
    def free(self) -> float:
        return round(self.pages * self.free_share)

    @property
    def clusters(self) -> float:
        """Returns the expected number of clusters if groups of `cluster_pages` are free or in use by chance."""
        return max(1.0, self.free / self.cluster_pages * (1 - self.free_share))


# The `theory` of a config's plot may name these formulas.
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
    # N lanes make N(N + 1) / 2 exchanges.
    "lockstep_exchanges": ("half of N + 1 (Huang et al. 2010, IV-A)", lambda s: (s.lanes + 1) / 2),
    "combined_exchanges": ("1/N (Huang et al. 2010, IV-B)", lambda s: 1 / s.lanes),  # N lanes make one exchange
    # Halloc updates the bits and the length for each lane, and two counters (of the size and of the slab) for N lanes
    # together.
    "aggregated_updates": ("2 + 2/N updates (the slides)", lambda s: 2 + 2 / s.lanes),
    "rw_bm_64_steps": ("(5) with w = 64", lambda s: rw_bm_steps(s.pages, s.free, int(s.threads), 64)),
    "rw_bm_64_warp_steps": ("(6) with w = 64", lambda s: rw_bm_warp_steps(s.pages, s.free, s.threads, 64)),
    "corw_64_steps": ("(11) with w = 64", lambda s: corw_steps(s.pages, s.free, s.threads, 64)),
    "theorem_1": ("theorem 1, w = 32", lambda s: rw_steps_exact(s.pages, s.free, int(s.threads)) / 32),
    "theorem_1_64": ("theorem 1, w = 64", lambda s: rw_steps_exact(s.pages, s.free, int(s.threads)) / 64),
    "theorem_2": ("theorem 2, w = 32", lambda s: rw_bm_warp_steps_near_the_end(s.pages, s.free, s.threads)),
    "theorem_2_64": ("theorem 2, w = 64", lambda s: rw_bm_warp_steps_near_the_end(s.pages, s.free, s.threads, 64)),
}

# The paper calls equations (4) and (6) upper bounds (sections 3.2.2 and 3.3).
UPPER_BOUNDS = ("rw_warp_steps", "rw_bm_warp_steps", "rw_bm_64_warp_steps")

# These formulas use corw_steps(), which is never below 1, unlike the printed equation (11).
AT_LEAST_ONE = ("corw_steps", "corw_64_steps", "rw_bm_over_corw")


def reference_table() -> str:
    """Returns the values at T = 1,000,000 and N = 5,000, as a table in Markdown."""
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
