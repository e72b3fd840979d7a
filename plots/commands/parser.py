"""This module parses a command line. A wrong command line raises UsageError, which is printed without argparse's usage
text.
"""

from __future__ import annotations

import argparse
import re
from typing import NoReturn

from allocbench.errors import UsageError


class Parser(argparse.ArgumentParser):
    def __init__(self, *arguments, **options):
        super().__init__(*arguments, **options)
        # Otherwise argparse takes -1GiB for an option, and the error does not say what is wrong with the value.
        self._negative_number_matcher = re.compile(r"-[0-9.]")

    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message}. Try {self.prog} --help.")
