"""Runs a few hundred mutations of configs, logs and options. fuzz.py runs more."""

import os
import unittest

from fuzz import fuzz

COUNT = int(os.environ.get("ALLOCBENCH_FUZZ", "300"))


class Fuzz(unittest.TestCase):
    def test_every_run_ends_in_order(self):
        failures = []
        fuzz(COUNT, 1, failures.append)
        self.assertEqual(failures, [])
