"""Entry point of `python3 -m plots`."""

import os
import sys

try:  # to answer the absence of a library with a sentence instead of a traceback
    import jsonschema  # noqa: F401
    import matplotlib  # noqa: F401
    import pandas  # noqa: F401
except ImportError as missing:
    sys.exit(f"plots: {sys.executable} has no module {missing.name!r}. Install python3-{missing.name}, "
             "or use Debian's interpreter: /usr/bin/python3 -m plots ...")

from plots.cli import main


def _exit_code() -> int | str | None:
    """A reader of stdout that has left (`| head`) wants no more; output that has no room is a failure of the machine."""
    try:
        try:
            code = main()
        except SystemExit as end:  # of argparse
            code = end.code
        if sys.stdout is not None:  # else it was closed
            sys.stdout.flush()
        return code
    except BrokenPipeError:
        code = 0
    except OSError as error:
        if error.filename is not None:
            raise
        sys.stderr.write(f"plots: The output cannot be written: {error.strerror}.\n")
        code = 3
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # what is still buffered goes nowhere
    return code


sys.exit(_exit_code())
