"""Entry point of `python3 -m plots`."""

import sys

try:
    import matplotlib  # noqa: F401  (only to answer its absence with a sentence instead of a traceback)
except ImportError as missing:
    sys.exit(f"plots: {sys.executable} has no module {missing.name!r}; install python3-matplotlib, "
             "or use Debian's interpreter: /usr/bin/python3 -m plots ...")

from plots.cli import main

sys.exit(main())
