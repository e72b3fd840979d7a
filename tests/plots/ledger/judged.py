"""Makes invented results and judges claims about them."""

import synthetic

from plots.ledger import claims
from plots.runs import results

CONFIG = {"name": "test/claims", "paper": "Nobody 1999, Fig. 1", "allocators": ["c_malloc", "cuda_malloc"],
          "plot": {"kind": "lines", "x": "threads", "y": "alloc"}}


def cell(allocator, threads, seconds=None, spread=0.1, **fields):
    """Returns a time with a relative interval of plus and minus `spread`, or without an interval if `spread` is
    None.
    """
    if seconds is None:
        return synthetic.cell(allocator, {"threads": threads}, status="timeout")
    bounds = (None, None) if spread is None else (seconds * (1 - spread), seconds * (1 + spread))
    return synthetic.cell(allocator, {"threads": threads}, values={("alloc", "time"): (seconds, *bounds)}, **fields)


def run_of(tmp_path, cells, backend="cuda", **config):
    return results.read_run(synthetic.write(tmp_path / "run", {**CONFIG, **config}, cells, backend))


def forms_run(tmp_path, published="timeout"):
    """Returns a run of published KMA with this status, of its reworked form and of CUDA's malloc."""
    cells = [cell("kma", 1, 1e-6, 0.01) if published == "ok" else cell("kma", 1), cell("cuda_malloc", 1, 4e-6, 0.01),
             cell("kma_reworked", 1, 5e-7, 0.01)]
    return run_of(tmp_path, cells, allocators=["kma", "kma_reworked", "cuda_malloc"])


def judge(run, **claim):
    return claims.judge(run, {"says": "It is so.", "source": "fig. 1", **claim})


COMPARED = {"of": "cuda_malloc", "to": "c_malloc"}
