"""This module parses a command line. A wrong command line raises UsageError, which is printed without argparse's usage
text.
"""

from __future__ import annotations

import argparse
from typing import NoReturn

from allocbench.errors import UsageError


class Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message}. Try {self.prog} --help.")
