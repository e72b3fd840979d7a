"""Puts the repository root on the path, so that `plots` is found wherever pytest was started."""

import os
import random
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "python")]

# Each session has one seed. ALLOCBENCH_TEST_SEED=<seed> replays a failure.
SEED = int(os.environ.get("ALLOCBENCH_TEST_SEED") or random.SystemRandom().randrange(2**32))


def pytest_configure(config):
    config.addinivalue_line("markers", "full: reads all kept results; `make test` leaves it out (CMakeLists.txt)")


def pytest_report_header():
    return f"ALLOCBENCH_TEST_SEED={SEED}"


@pytest.fixture(scope="session")
def folder(tmp_path_factory) -> Path:
    import webpage_runs

    return webpage_runs.write(tmp_path_factory.mktemp("page"))


@pytest.fixture(scope="session")
def page(folder) -> Path:
    from plots.commands import cli

    out = folder / "report.html"
    assert cli.main(["page", str(folder)]) == 0
    return out


@pytest.fixture(scope="module")
def wide():
    import browser

    made = browser.started(1200)
    yield made
    made.quit()


@pytest.fixture(scope="session")
def made(tmp_path_factory) -> dict:
    """Returns the table that the advice makes of the small guide."""
    import guide
    from allocbench import stored

    from plots.runs import results
    from plots.advice import table

    folder = guide.write(tmp_path_factory.mktemp("guide"))
    return table.of([results.read_run(each) for each in stored.find_runs(folder)])


@pytest.fixture
def root() -> Path:
    return ROOT


@pytest.fixture
def session_seed() -> int:
    print(f"ALLOCBENCH_TEST_SEED={SEED}")
    return SEED
