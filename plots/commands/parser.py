"""Parses a command line. An error raises UsageError, which becomes one line without argparse's usage text."""

from __future__ import annotations

import argparse
from typing import NoReturn

from allocbench.errors import UsageError


class Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message}. Try {self.prog} --help.")
