"""Makes runs with everything that the page shows. The fixtures `folder` and `page` (conftest.py) write them once a
session.
"""

import guide
import synthetic
from allocbench import stored

from plots.runs import results

LINES = {
    "name": "vinkler2015/fig9",
    "paper": "Test data",
    "description": "Lines",
    "allocators": ["comb", "halloc"],
    "workload": {"id": "alloc_free"},
    "sweep": {"request_bytes": [16, 64]},
    "plot": {
        "kind": "lines",
        "x": "request_bytes",
        "y": "total",
        "metric": "time",
        "log": "xy",
        "marks": [{"metric": "time", "phase": "total", "where": {"request_bytes": 16}, "value": 1e-5, "source": "fig. 9", "allocator": "halloc"}],
    },
}


def write(folder):
    """Writes the guide and one line figure into the folder, and returns the folder."""
    made = guide.write(folder)
    cells = [
        synthetic.cell(name, {"request_bytes": size}, values={("total", "time"): 1e-5 * size * factor})
        for name, factor in (("comb", 1), ("halloc", 2))
        for size in (16, 64)
    ]
    synthetic.write(made / "fig9", LINES, cells, "cuda")
    return made


def runs_of(folder):
    return [results.read_run(each) for each in stored.find_runs(folder)]
