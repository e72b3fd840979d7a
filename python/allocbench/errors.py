"""The two ways in which drawing can fail. Each message is one sentence on what happened and one on what to do next."""


class UsageError(Exception):
    """The command line, a path or a config is wrong (exit code 2)."""


class NothingToDraw(Exception):
    """The input is sound but holds nothing for this figure (exit code 3)."""
