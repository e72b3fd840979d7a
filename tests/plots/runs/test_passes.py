"""Tests the intervals of counts. With three passes, t has two degrees of freedom and is 4.3027."""

import math

import pytest

from plots.runs import passes


def test_the_interval_of_a_mean_is_not_cut_at_the_smallest_count():
    half = pytest.approx(4.3027 / math.sqrt(3), abs=1e-3)
    low, high = passes.interval([2.0, 3.0, 4.0])
    assert (3 - low, high - 3) == (half, half)
    assert passes.interval([0.0, 1.0, 2.0])[0] == 0, "a count is not negative"
    assert passes.interval([3.0, 3.0]) == passes.interval([3.0]) == (3, 3)


def test_the_interval_of_a_ratio_follows_from_each_pass():
    assert passes.interval_of_ratio([4.0, 6.0, 14.0], [2.0, 3.0, 7.0]) == (2, 2)
    half = 4.3027 * 2 / math.sqrt(3)
    assert passes.interval_of_ratio([1.0, 3.0, 5.0], [1.0, 1.0, 1.0]) == (pytest.approx(3 - half, abs=1e-3), pytest.approx(3 + half, abs=1e-3))
    assert passes.interval_of_ratio([1.0], [1.0]) is None
