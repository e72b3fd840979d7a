"""Tests the words for settings and phases in figures."""

from types import SimpleNamespace

import pytest

from plots.runs import labels
from plots.sheet import quantity


@pytest.mark.parametrize("given, value, text", [("{} tuples per thread", 1, "1 tuple per thread"), ("{} tuples per thread", 8, "8 tuples per thread"),
                                                ("{} tuples per thread", 10, "10 tuples per thread"), ("{} warps", 1, "1 warp"), ("lanes per warp: {}", 1, "lanes per warp: 1"),
                                                ("{} class", 1, "1 class")])
def test_one_has_no_plural(given, value, text):
    assert labels.setting_of(SimpleNamespace(plot={"names": {"tuples_per_thread": given}}, names={}), "tuples_per_thread", value) == text


def test_a_phase_of_two_steps_has_an_and():
    assert quantity.phase_name("build_probe") == "build and probe" and quantity.phase_name("host_alloc") == "host alloc"
