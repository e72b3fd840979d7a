"""Tests the intervals of counts. With three passes, t has two degrees of freedom and is 4.3027."""

import math

import pytest

from plots.runs import passes


def test_the_interval_of_a_mean_has_no_smaller_number_than_the_smallest_count():
    assert passes.interval([2.0, 3.0, 4.0]) == (2.0, pytest.approx(3 + 4.3027 / math.sqrt(3), abs=1e-3))
    assert all(math.isnan(end) for end in passes.interval([3.0, 3.0]))


def test_the_interval_of_a_ratio_follows_from_each_pass():
    assert passes.interval_of_ratio([4.0, 6.0, 14.0], [2.0, 3.0, 7.0]) == (2, 2)
    half = 4.3027 * 2 / math.sqrt(3)
    assert passes.interval_of_ratio([1.0, 3.0, 5.0], [1.0, 1.0, 1.0]) == (pytest.approx(3 - half, abs=1e-3), pytest.approx(3 + half, abs=1e-3))
    assert passes.interval_of_ratio([1.0], [1.0]) is None
