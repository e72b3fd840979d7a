"""Turns stored allocbench results into figures and tables.

Reads results.json only (described in harness/README.md); never starts a worker and needs no GPU.
`python3 -m plots --help` says how to use it; README.md in this folder lists the keys of a config's `plot` object.
"""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]  # of the repository
# The package allocbench of this tree, installed or not.
sys.path.insert(0, str(ROOT / "python"))
