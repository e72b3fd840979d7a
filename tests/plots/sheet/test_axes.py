"""Tests numbers with units, axis limits and ticks."""

import math
import random

import pytest
from matplotlib.figure import Figure

from plots.sheet import quantity, style, ticks
from plots.sheet.page import Heading, Page


@pytest.mark.parametrize("value, text", [(4, "4 B"), (1023, "1023 B"), (1024, "1 KiB"), (1536, "1.5 KiB"),
                                         (131072, "128 KiB"), (2**31, "2 GiB"), (0, "0 B"), (4100, "4,100 B"),
                                         (4100.5, "4 KiB"), (130000, "127 KiB")])
def test_bytes(value, text):
    assert quantity.in_bytes(value) == text


@pytest.mark.parametrize("value, unit, text, padded", [
    (0.00123, "s", "1.23 ms", "1.23 ms"), (1.2e9, "op/s", "1.2 Gop/s", "1.20 Gop/s"), (0.9999e-3, "s", "1 ms", "1.00 ms"),
    (999.96e-6, "s", "1 ms", "1.00 ms"), (2e-6, "s", "2 µs", "2.00 µs"), (123456, "op/s", "123 kop/s", "123 kop/s"),
    (0, "s", "0 s", "0 s")])
def test_si(value, unit, text, padded):
    assert quantity.in_si(value, unit) == text
    assert quantity.in_si(value, unit, padded=True) == padded


@pytest.mark.parametrize("value", [999.6, 999.99])
def test_no_number_below_a_thousand_becomes_an_exponent(value):
    texts = [quantity.in_bytes(1024 * value), quantity.count(value), quantity.formatter("free_share")(value / 100), quantity.formatter("speed_up")(value)]
    assert [text.replace(",", "") for text in texts] == ["1000 KiB", "1000", "1000 %", "1000×"]


@pytest.mark.parametrize("text, value", [("64MiB", 2**26), ("2 GiB", 2**31), ("128KiB", 2**17), ("4B", 4), ("4096", 4096),
                                         ("1.5KiB", 1536), (7, 7)])
def test_sizes_are_read_as_the_front_end_reads_them(text, value):
    assert quantity.parse_bytes(text) == value


@pytest.mark.parametrize("text", ["1GB", "128 KB", "64kb", "GiB", ""])
def test_sizes_that_could_mean_two_things_are_refused(text):
    with pytest.raises(ValueError, match="is not a size"):
        quantity.parse_bytes(text)


def test_counts_have_separators():
    assert quantity.formatter("blocks")(12000) == "12,000"


@pytest.mark.parametrize("setting, value, text", [
    ("threads", 512, "512"), ("threads", 1024, "1 Ki"), ("threads", 1536, "1,536"), ("threads", 16384, "16 Ki"), ("threads", 131072, "128 Ki"),
    ("threads", 1 << 20, "1 Mi"), ("keys", 1000, "1,000"), ("keys", 8000, "8,000"), ("keys", 10000, "10,000"), ("keys", 100_000, "100 k"), ("keys", 20480, "20 Ki"),
    ("keys", 12345, "12,345"), ("keys", 1_500_000, "1,500 k"), ("keys", 1e7, "10 M"), ("keys", 0, "0"), ("request_bytes", 8 << 20, "8 MiB")])
def test_a_count_beside_an_axis_is_written_in_one_way_in_all_figures(setting, value, text):
    assert quantity.on_axis(setting)(value) == text


def test_counts_of_one_axis_are_shortened_alike():
    write = quantity.on_axis("keys", [10_000, 100_000, 1_000_000])
    assert [write(value) for value in (10_000, 100_000, 1_000_000, 500, 1024)] == ["10 k", "100 k", "1 M", "500", "1 Ki"]
    assert quantity.on_axis("keys", [10_000, 20_000])(10_000) == "10,000"


def _axes():
    return Figure().add_axes((0, 0, 1, 1))


def test_x_ticks_sit_at_measured_values_and_label_both_ends():
    axes = _axes()
    sizes = [4 << i for i in range(16)]
    ticks.set_x(axes, sizes, ticks.limits(sizes, True, 0.04), True, 6.0, 8, quantity.in_bytes)
    labels = [text.get_text() for text in axes.get_xticklabels()]
    assert set(axes.get_xticks()) <= set(sizes)
    assert labels[0] == "4 B" and labels[-1] == "128 KiB"


def test_labels_reach_into_the_values_that_lie_close():
    """The shares are those of halloc2014/fill, of which eight lie above three quarters."""
    shares = [0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.75, 0.8, 0.825, 0.85, 0.875, 0.9, 0.925, 0.95, 0.975]
    axes = _axes()
    ticks.set_x(axes, shares, ticks.limits(shares, False, 0.04), False, 2.57, style.LEAST, quantity.formatter("taken_share"))
    assert list(axes.get_xticks()) == [0, 0.2, 0.4, 0.6, 0.8, 0.975]


def test_no_edge_or_simple_share_of_an_axis_is_in_the_middle_of_a_pixel(session_seed):
    rng = random.Random(session_seed)
    page = Page(Heading("title", "", ("caption",), ("origin",)), 3.217)
    for _ in range(100):
        axes = page.axes(rng.uniform(0, 3), rng.uniform(0, 2), rng.uniform(0.5, 3), rng.uniform(0.5, 1))
        pixels = axes.get_position().get_points() * page.figure.get_size_inches() * style.PNG_DPI
        for dpi in (style.PNG_DPI, style.PNG_DPI // 2):
            first, last = pixels[0] * dpi / style.PNG_DPI, pixels[1] * dpi / style.PNG_DPI
            places = [first + (last - first) * part / parts for parts in range(1, 25) for part in range(parts + 1)]
            assert min(abs(place % 1 - 0.5).min() for place in places) > 1e-4


def test_x_labels_keep_apart_for_any_values(session_seed):
    rng = random.Random(session_seed)
    for _ in range(300):
        log = rng.random() < 0.5
        values = sorted(rng.sample(range(1, 10**rng.randint(2, 6)), rng.randint(1, 30)))
        axes = _axes()
        ticks.set_x(axes, values, ticks.limits(values, log, 0.04), log, 4.0, 8, quantity.count)
        shown = axes.get_xticks()
        assert len(shown) >= 1 and set(shown) <= set(values)
        bounds = axes.get_xlim()
        for a, b in zip(shown, shown[1:]):
            distance = (ticks.position(b, bounds, log) - ticks.position(a, bounds, log)) * 4.0
            assert distance > (ticks.text_width(quantity.count(a), 8) + ticks.text_width(quantity.count(b), 8)) / 2


def test_y_axes_cover_their_values_with_at_least_two_readable_labels(session_seed):
    rng = random.Random(session_seed)
    for _ in range(100):
        middle = 10 ** rng.uniform(-8, 8)
        values = [middle * 10 ** rng.uniform(-1, 1) ** 3 for _ in range(rng.randint(1, 20))]
        for log in (True, False):
            axes = _axes()
            ticks.set_y(axes, values, log, lambda v: quantity.in_si(v, "s"))
            low, high = axes.get_ylim()
            assert low <= min(values) and max(values) <= high
            assert log or low == 0
            labels = [text.get_text() for text in axes.get_yticklabels()]
            assert 2 <= len(labels) <= 10 and len(set(labels)) == len(labels), (values, labels)


def test_looks_depend_on_the_id_alone_and_differ_between_the_known_allocators():
    known = ["atomic_malloc", "aw_malloc", "c_malloc", "cf_malloc", "cm_malloc", "cfm_malloc", "cuda_malloc",
             "scatteralloc", "fdgmalloc", "xmalloc", "halloc", "kma"]
    looks = [style.look(name) for name in known]
    assert len({look.colour for look in looks}) == len({look.marker for look in looks}) == len(known)
    assert style.look("my_malloc") == style.look("my_malloc")
    assert style.look("c_malloc_reworked").colour == style.look("c_malloc").colour
    variants = [style.look(name) for name in ("c_malloc", "c_malloc_reworked", "c_malloc_no_merge")]
    assert len({str(look.dash) for look in variants}) == len({look.fill for look in variants}) == 3
    series = [style.look("c_malloc_reworked", number) for number in range(3)]
    assert len({look.marker for look in series}) == 3 and series[0].name == "CMalloc, reworked"


def test_status_colours_cover_every_status():
    from allocbench.stored import STATUSES
    assert set(style.STATUS_COLOURS) == set(STATUSES)
    assert style.text_on("#000000") == "#ffffff" and style.text_on("#ffffff") == "#000000"
    assert math.isclose(ticks.position(10, (1, 100), True), 0.5)


def test_ticks_of_bytes_are_powers_of_two():
    for low, high in ((3e6, 4e9), (1e9, 2.5e9), (5e5, 7e7), (1.0, 1e15)):
        marks = ticks._binary_marks((low, high))
        assert 2 <= len(marks) <= 9 and all(low <= mark <= high for mark in marks)
        assert all(mark == 2.0 ** round(math.log2(mark)) for mark in marks)
    for high, unit in ((1.8e6, 2**20), (9e4, 2**10), (900.0, 1)):
        marks = ticks.y_marks((0.0, high), log=False, binary=True)
        assert len(marks) >= 3 and all(0 <= mark <= high and (mark / unit * 4).is_integer() for mark in marks)
