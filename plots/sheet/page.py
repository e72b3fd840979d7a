"""This module draws one figure as a page: title, body, caption, and origin of the numbers.

All positions are in inches, so text keeps its size for any number of rows or panels.
"""

from __future__ import annotations

import io
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Sequence

import matplotlib
import numpy
import PIL.Image
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from plots.sheet import files, fonts, style, ticks

FORMATS = ("png", "svg", "pdf")
_MARGIN = 0.06
BODY_WIDTH = style.WIDTH - 2 * _MARGIN
_TITLE = 8.5
_LINE = 0.125  # height of a line of small text
_BESIDE = 0.29  # distance of an axis edge from a whole pixel, in pixels
_PALETTES = (16, 24, 32, 48, 64, 96, 128)  # numbers of colours
_SEEN = 28           # largest change of a colour channel, of 255
_SEEN_SHARE = 4e-4   # share of the pixels that may change by more
_FLAT = 100          # number of pixels from which a colour counts as an area or a line and must stay
_MARK = 24           # the same for pixels with a colour, which a few small markers have
_KEPT = 10           # largest change of a channel of such a colour, so that the colours of two series stay apart
_MOST_OWN = 96       # largest number of such colours in the palette, which has 256 in all
_COLOURED = 80       # difference between the channels from which a pixel is coloured
_FADED = 8           # number of coloured pixels that may become grey, fewer than a mark has


@dataclass(frozen=True)
class Heading:
    """A heading has the texts of a page around its body."""

    title: str
    subtitle: str
    caption: Sequence[str]  # sentences that a reader needs to understand the body
    origin: Sequence[str]   # lines about where the numbers come from
    banner: str = ""        # prominent warning, or empty

    def markdown(self, body: Sequence[str], assumed: Sequence[str] = (), caption_first: bool = False) -> str:
        """Returns a page of text around `body`. `assumed` lists choices of the config, for example settings that the paper does not state."""
        chosen = ["Choices of this config:\n\n" + "\n".join(f"- {each}" for each in assumed)] if assumed else []
        middle = [*self.caption, *body] if caption_first else [*body, *self.caption]
        parts = [f"# {self.title}", self.subtitle, f"**{self.banner}**" if self.banner else "", *middle, *chosen, "  \n".join(self.origin)]
        return "\n\n".join(part.rstrip() for part in parts if part) + "\n"


class Page:
    """A page is a matplotlib figure with a body of `height` inches. The method axes() adds axes to the body."""

    def __init__(self, heading: Heading, height: float):
        caption = _wrap(heading.caption)
        origin = _wrap(heading.origin)
        title = ticks.wrapped(heading.title, _TITLE, BODY_WIDTH, bold=True)
        extra = 0.16 * (len(title) - 1)
        head = 0.40 + extra + (0.18 if heading.banner else 0)
        foot = _LINE * (len(caption) + len(origin)) + 0.14
        self.body_height = height
        self._total = head + height + foot
        self._bottom = foot
        self.figure = Figure(figsize=(style.WIDTH, self._total))
        FigureCanvasAgg(self.figure)

        self._text(0.06, "\n".join(title), size=_TITLE, weight="bold", linespacing=1.15)
        self._text(0.23 + extra, heading.subtitle, size=style.LEAST, color=style.GREY)
        if heading.banner:
            self._text(0.38 + extra, heading.banner, size=8, weight="bold", color=style.WARNING)
        top = head + height + 0.06
        for line in caption:
            self._text(top, line, size=style.LEAST)
            top += _LINE
        for line in origin:
            self._text(top + 0.02, line, size=style.LEAST, color=style.GREY)
            top += _LINE

    def axes(self, left: float, bottom: float, width: float, height: float, **options):
        """Adds axes to the body, in inches from its lower left corner. It moves their edges by less than a pixel of the PNG."""
        left, bottom = left + _MARGIN, bottom + self._bottom
        (left, right), (bottom, top) = (map(_on_pixel, ends) for ends in ((left, left + width), (bottom, bottom + height)))
        return self.figure.add_axes((left / style.WIDTH, bottom / self._total, (right - left) / style.WIDTH, (top - bottom) / self._total), **options)

    def point(self, left: float, bottom: float) -> tuple[float, float]:
        """Returns a place of the body in figure coordinates, for legends."""
        return (left + _MARGIN) / style.WIDTH, (bottom + self._bottom) / self._total

    def _text(self, top: float, text: str, **options) -> None:
        self.figure.text(_MARGIN / style.WIDTH, 1 - top / self._total, text, va="top", ha="left", **options)


@dataclass
class Drawing:
    """A drawing is a finished figure: the page, and the same content as Markdown. `more` has further pictures, which
    have no Markdown.
    """

    stem: str
    page: Page
    markdown: str
    more: Sequence[Drawing] = ()
    csv: str = ""  # the numbers for programs
    _has_fonts: bool = False

    def write(self, folder: Path, formats: Sequence[str] = FORMATS) -> list[Path]:
        written = []
        for suffix in formats:
            image = self.image(suffix, style.PNG_DPI, metadata=_TIMELESS[suffix])
            content = image.getvalue() if suffix != "png" else _in_palette(image)
            written.append(files.write(folder / f"{self.stem}.{suffix}", content))
        if self.markdown:
            written.append(files.write(folder / f"{self.stem}.md", self.markdown))
        if self.csv:
            written.append(files.write(folder / f"{self.stem}.csv", self.csv))
        return [*written, *(path for drawing in self.more for path in drawing.write(folder, formats))]

    def image(self, suffix: str, dpi: int, **options) -> io.BytesIO:
        """Returns the figure as a file of this format."""
        made = io.BytesIO()
        with matplotlib.rc_context(style.RC), warnings.catch_warnings():
            if not self._has_fonts:
                fonts.add_missing(self.page.figure, self.stem)
                self._has_fonts = True
            warnings.filterwarnings("ignore", message="Glyph .* missing")  # add_missing() has already reported it
            self.page.figure.savefig(made, format=suffix, dpi=dpi, **options)
        return made


# Files do not record when they were drawn, so the same software turns the same results into the same bytes.
_TIMELESS = {"png": {"Software": None}, "svg": {"Date": None}, "pdf": {"CreationDate": None}}


def _in_palette(png: io.BytesIO) -> bytes:
    """Reduces an image to the smallest of _PALETTES without a visible difference, or to the largest if each one shows a
    difference. This makes the file smaller. The palette contains the colours of marks and lines themselves, because a
    reduction mixes colours that are rare.
    """
    with PIL.Image.open(png) as image:
        whole = image.convert("RGB")
    pixels = numpy.asarray(whole, dtype=int)
    packed = pixels @ (1 << 16, 1 << 8, 1)
    values, which, counts = numpy.unique(packed, return_inverse=True, return_counts=True)
    coloured = numpy.ptp(pixels, axis=2) >= _COLOURED
    flat = counts[which].reshape(packed.shape) >= numpy.where(coloured, _MARK, _FLAT)
    distinct = numpy.stack([values >> 16, values >> 8 & 255, values & 255], axis=1)
    often = [number for number in numpy.argsort(-counts, kind="stable") if counts[number] >= _MARK and numpy.ptp(distinct[number]) >= _COLOURED]
    for colours in _PALETTES:
        others = whole.quantize(colours, dither=PIL.Image.Dither.NONE, kmeans=2).getpalette()[:3 * colours]
        palette = numpy.concatenate([distinct[often[:_MOST_OWN]], numpy.reshape(others, (-1, 3))])
        nearest = numpy.argmin([((distinct - colour) ** 2).sum(axis=1) for colour in palette], axis=0)
        used, nearest = numpy.unique(nearest, return_inverse=True)
        reduced = PIL.Image.fromarray(nearest[which].reshape(packed.shape).astype(numpy.uint8), "P")
        reduced.putpalette(palette[used].astype(numpy.uint8).tobytes())
        shown = palette[used][nearest[which]].reshape(pixels.shape)
        away = numpy.abs(shown - pixels).max(axis=2)
        faded = coloured & (numpy.ptp(shown, axis=2) < _COLOURED / 2)
        if (away > _SEEN).mean() < _SEEN_SHARE and away[flat].max(initial=0) <= _KEPT and faded.sum() <= _FADED:
            break
    made = io.BytesIO()
    reduced.save(made, format="png", optimize=True)
    return made.getvalue()


def _on_pixel(inches: float) -> float:
    """Moves a place to _BESIDE pixels after a whole pixel of the PNG.

    Agg rounds lines to pixels. numpy computes their ends, whose last bit depends on the processor, and this bit decides about
    an end in the middle of a pixel. With _BESIDE, neither an edge nor a tick at a simple share of an axis (such as a half or
    a fifth) lies there, not even in a PNG of half the size.
    """
    return (round(inches * style.PNG_DPI) + _BESIDE) / style.PNG_DPI


def _wrap(paragraphs: Sequence[str]) -> list[str]:
    return [line for paragraph in paragraphs for line in ticks.wrapped(paragraph, style.LEAST, BODY_WIDTH)]
