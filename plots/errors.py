"""The errors of the package `allocbench` (python/), which figures raise too."""

from allocbench.errors import NothingToDraw, UsageError  # noqa: F401
