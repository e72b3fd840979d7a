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


def judge(run, **claim):
    return claims.judge(run, {"says": "It is so.", "source": "fig. 1", **claim})


COMPARED = {"of": "cuda_malloc", "to": "c_malloc"}
