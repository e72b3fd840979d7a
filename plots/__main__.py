"""Entry point of `python3 -m plots`."""

import sys

try:  # to answer the absence of a library with a sentence instead of a traceback
    import jsonschema  # noqa: F401
    import matplotlib  # noqa: F401
    import pandas  # noqa: F401
except ImportError as missing:
    sys.exit(f"plots: {sys.executable} has no module {missing.name!r}. Install python3-{missing.name}, "
             "or use Debian's interpreter: /usr/bin/python3 -m plots ...")

from plots.cli import main

sys.exit(main())
