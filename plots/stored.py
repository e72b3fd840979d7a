"""The reading of stored runs, which the package `allocbench` (python/) shares with its users."""

from allocbench.stored import *  # noqa: F401,F403
