"""Defines the two errors of this package and of plots. A message says what happened, and usually what to do next."""


class UsageError(Exception):
    """This error says that the command line, a path, a config or a file is wrong (exit code 2)."""


class NothingToDraw(Exception):
    """This error says that the input is valid but contains nothing for this figure (exit code 3)."""
