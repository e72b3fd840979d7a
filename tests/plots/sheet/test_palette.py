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
