"""Tests that a PNG with few colours shows what the whole picture shows."""

import io

import numpy
from PIL import Image

from plots.sheet import page

RED = (176, 0, 0)


def test_a_short_coloured_line_on_a_grey_picture_keeps_its_colour():
    """The 60 pixels of the line are fewer than the pixels that may change their brightness."""
    greys = numpy.linspace(0, 255, 900).astype(numpy.uint8)
    whole = numpy.repeat(numpy.tile(greys, (600, 1))[:, :, None], 3, axis=2)
    whole[300, 100:160] = RED
    file = io.BytesIO()
    Image.fromarray(whole).save(file, format="png")
    with Image.open(io.BytesIO(page._in_palette(file))) as image:
        assert image.mode == "P"
        shown = numpy.asarray(image.convert("RGB"), dtype=int)[300, 100:160]
    assert numpy.abs(shown - RED).max() < 60


def test_small_marks_of_two_allocators_stay_apart():
    """ScatterAlloc and Halloc have few small markers in configs/survey2021/single_warp."""
    marks = [(142, 36, 170), (232, 85, 157)]
    greys = numpy.linspace(0, 255, 900).astype(numpy.uint8)
    whole = numpy.repeat(numpy.tile(greys, (600, 1))[:, :, None], 3, axis=2)
    for top, mark in zip((300, 320), marks):
        whole[top:top + 6, 400:406] = mark
    file = io.BytesIO()
    Image.fromarray(whole).save(file, format="png")
    with Image.open(io.BytesIO(page._in_palette(file))) as image:
        shown = numpy.asarray(image.convert("RGB"), dtype=int)
    assert all(numpy.abs(shown[top + 3, 403] - mark).max() <= 10 for top, mark in zip((300, 320), marks))


def test_two_browns_stay_apart():
    """The squares have the colours of two chunk sizes in configs/pham2025/fig15. Many other colours compete with them."""
    browns = [(100, 32, 2), (65, 46, 0)]
    whole = numpy.full((600, 900, 3), 255, dtype=numpy.uint8)
    for number in range(14):
        whole[40 * number:40 * number + 30, :300] = (255 - 15 * number, 18 * number, (90 * number) % 256)
    for left, brown in zip((400, 500), browns):
        whole[300:312, left:left + 12] = brown
    file = io.BytesIO()
    Image.fromarray(whole).save(file, format="png")
    with Image.open(io.BytesIO(page._in_palette(file))) as image:
        shown = numpy.asarray(image.convert("RGB"), dtype=int)
    assert all(numpy.abs(shown[306, left + 6] - brown).max() <= 10 for left, brown in zip((400, 500), browns))
