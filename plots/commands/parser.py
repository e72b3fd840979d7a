"""A command line whose mistakes are one sentence, as those of `allocbench` are."""

from __future__ import annotations

import argparse
from typing import NoReturn

from allocbench.errors import UsageError


class Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message}. Try {self.prog} --help.")
