"""Defines the two errors of drawing. Each message has one sentence on what happened and one on what to do next."""


class UsageError(Exception):
    """This error says that the command line, a path or a config is wrong (exit code 2)."""


class NothingToDraw(Exception):
    """This error says that the input is valid but contains nothing for this figure (exit code 3)."""
