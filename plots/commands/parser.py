"""Parses a command line. Every error is one sentence, as with `allocbench`."""

from __future__ import annotations

import argparse
from typing import NoReturn

from allocbench.errors import UsageError


class Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message}. Try {self.prog} --help.")
