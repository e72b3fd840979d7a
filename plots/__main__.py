"""Starts `python3 -m plots`."""

import sys

from plots.commands import ending

sys.exit(ending.program())
