"""This package turns stored allocbench results into figures, tables, verdicts and an HTML page.

The package reads stored results (harness/README.md describes them) and configs. It never starts a worker and needs no GPU.
`python3 -m plots --help` lists the commands. docs/write-a-config.md lists the keys of a config's `plot` object.
"""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]  # root of the repository
# This line makes the package allocbench of this tree importable, even if it is not installed.
sys.path.insert(0, str(ROOT / "python"))
