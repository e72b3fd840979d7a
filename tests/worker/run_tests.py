"""Runs the tests of this folder on the worker that ALLOCBENCH_WORKER names. The exit code is 77 if it has no device."""

import pathlib
import sys
import unittest

from worker_process import QUIT, run

SKIPPED = 77
NO_DEVICE = 3  # exit code of the worker (harness/README.md)

if __name__ == "__main__":
    if run("--serve", commands=[QUIT]).returncode == NO_DEVICE:
        print("no device for this worker: tests skipped")
        sys.exit(SKIPPED)
    suite = unittest.defaultTestLoader.discover(str(pathlib.Path(__file__).parent))
    sys.exit(not unittest.TextTestRunner(verbosity=1).run(suite).wasSuccessful())
