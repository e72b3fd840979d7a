"""Entry point of `python3 -m plots`."""

import sys

from plots import ending

sys.exit(ending.program())
