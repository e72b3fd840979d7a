"""The one place that decides how things look: fonts, widths, and one colour, marker and dash per allocator and status.

Colours are Okabe & Ito's set, which stays apart under the common kinds of colour blindness, and three of Tol's muted set;
in grey the markers and dashes carry the difference. An allocator looks the same in every figure of every paper.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass

from matplotlib import colormaps
from matplotlib.colors import to_hex

# 9 inches fill a README column (about 900 px at 100 dpi); 200 dpi keeps them sharp on dense screens.
WIDTH = 9.0
PNG_DPI = 200

BLACK, GREY, LIGHT = "#000000", "#6e6e6e", "#d9d9d9"
ORANGE, SKY, GREEN, YELLOW = "#e69f00", "#56b4e9", "#009e73", "#f0e442"
BLUE, VERMILLION, PURPLE = "#0072b2", "#d55e00", "#cc79a7"
INDIGO, WINE, OLIVE = "#332288", "#882255", "#999933"

RC = {
    "font.family": "DejaVu Sans",
    "font.size": 9,
    "axes.edgecolor": GREY,
    "axes.labelsize": 9,
    "axes.linewidth": 0.8,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "grid.color": LIGHT,
    "grid.linewidth": 0.6,
    "legend.fontsize": 8.5,
    "legend.frameon": False,
    "lines.linewidth": 1.5,
    "lines.markersize": 5.5,
    "xtick.labelsize": 8,
    "ytick.labelsize": 8,
    "svg.hashsalt": "allocbench",  # same input, same bytes
    "pdf.fonttype": 42,            # text stays text in the PDF
}


@dataclass(frozen=True)
class Look:
    """How an allocator is drawn, and what a legend calls it."""

    name: str
    colour: str
    marker: str
    dash: object = "-"
    fill: str = "full"  # of the marker: matplotlib's fillstyle
    variant: int = 0    # which of an allocator's looks it is

    def of_variant(self, number: int, name: str) -> Look:
        """Same colour and marker, other dashes and fill; `number` counts from 1. A variant has variants of its own."""
        variant = self.variant + number
        dash, fill = _VARIANTS[(variant - 1) % len(_VARIANTS)]
        return Look(name, self.colour, self.marker, dash, fill, variant)


_LOOKS = {
    "atomic_malloc": Look("AtomicMalloc", BLACK, "o", (0, (4, 1.5))),  # the two yardsticks that never free: dashed
    "aw_malloc": Look("AWMalloc", GREY, "s", (0, (4, 1.5))),
    "c_malloc": Look("CMalloc", BLUE, "^"),
    "cf_malloc": Look("CFMalloc", SKY, "v"),
    "cm_malloc": Look("CMMalloc", GREEN, "D"),
    "cfm_malloc": Look("CFMMalloc", ORANGE, "P"),
    "halloc": Look("Halloc", WINE, "<"),
    "scatteralloc": Look("ScatterAlloc", PURPLE, "h"),
    "scatteralloc_no_coalescing": Look("ScatterAlloc, no coalescing", PURPLE, "h", (0, (5, 1, 1, 1)), "left"),
    "scatteralloc_no_reset": Look("ScatterAlloc, no page reset", PURPLE, "h", (0, (1, 1)), "none"),
    "cuda_malloc": Look("CudaMalloc", VERMILLION, "X"),
    "fdgmalloc": Look("FDGMalloc", YELLOW, "*"),
    "kma": Look("KMA", INDIGO, "p"),
    "ouroboros_p_s": Look("Ouroboros P-S", BLUE, "<"),
    "ouroboros_p_va": Look("Ouroboros P-VA", BLUE, ">", (0, (5, 1, 1, 1)), "left"),
    "ouroboros_p_vl": Look("Ouroboros P-VL", BLUE, "d", (0, (1, 1)), "none"),
    "ouroboros_c_s": Look("Ouroboros C-S", ORANGE, "<"),
    "ouroboros_c_va": Look("Ouroboros C-VA", ORANGE, ">", (0, (5, 1, 1, 1)), "left"),
    "ouroboros_c_vl": Look("Ouroboros C-VL", ORANGE, "d", (0, (1, 1)), "none"),
    "rw_bm": Look("RW-BM", SKY, ">"),  # before rw, whose variants begin with rw_
    "rw_malloc": Look("RW_malloc", GREEN, "p"),
    "rw": Look("RW", WINE, "s"),
    "crw": Look("CRW", GREEN, "d"),
    "corw": Look("CoRW", ORANGE, "8"),
    "simple_queue": Look("SimpleQueue", GREY, "X"),
    "xmalloc": Look("XMalloc", OLIVE, "d"),
    "xmalloc_device_heap": Look("XMalloc, device heap", ORANGE, "d"),
}

_SPARE_COLOURS = (PURPLE, BLUE, GREEN, VERMILLION, SKY, ORANGE, GREY)
_SPARE_MARKERS = ("h", "*", "<", ">", "p", "d", "8")
_VARIANTS = (((0, (1, 1)), "none"), ((0, (5, 1, 1, 1)), "left"), ((0, (3, 1, 1, 1, 1, 1)), "top"), ((0, (7, 2)), "right"))
_SHADE_MARKERS = ("o", "s", "^", "D", "v", "P", "X", "p")
_VARIANT_SUFFIXES = ("published", "inline")  # of registered variants: always told apart

STATUS_COLOURS = {
    "ok": "#cfe8dd", "skipped": "#eeeeee", "unsupported": LIGHT, "oom": YELLOW, "incorrect": VERMILLION,
    "timeout": ORANGE, "device_fault": PURPLE, "crashed": "#404040",
}
WARNING = "#b00000"


def look(allocator: str, variant: int = 0) -> Look:
    """The look of an allocator id; `variant` counts series of one allocator that differ in a parameter."""
    base = _LOOKS.get(allocator) or _look_of_variant(allocator) or _look_of_stranger(allocator)
    return base if variant == 0 else base.of_variant(variant, base.name)


def base_of(allocator: str) -> str:
    """The allocator whose registered variant this is, whose looks it shares; empty for all others."""
    return next((base for base in _LOOKS if allocator.removeprefix(base + "_") in _VARIANT_SUFFIXES), "")


def shade(number: int, count: int) -> Look:
    """The look of one of `count` series of the same allocator in a figure of its own: from light to dark, in order."""
    colour = colormaps["viridis_r"](0.12 + 0.88 * number / max(count - 1, 1))
    return Look("", to_hex(colour), _SHADE_MARKERS[number % len(_SHADE_MARKERS)])


def display_name(allocator: str) -> str:
    return look(allocator).name


def text_on(background: str) -> str:
    """Black or white, whichever reads better on the colour `#rrggbb`."""
    red, green, blue = (int(background[i:i + 2], 16) for i in (1, 3, 5))
    return BLACK if 0.299 * red + 0.587 * green + 0.114 * blue > 110 else "#ffffff"


def _look_of_variant(allocator: str) -> Look | None:
    """`c_malloc_published` keeps the colour and marker of `c_malloc`; dashes, fill and name tell it apart."""
    for base, known in _LOOKS.items():
        suffix = allocator.removeprefix(base + "_")
        if suffix in _VARIANT_SUFFIXES:
            return known.of_variant(1 + _VARIANT_SUFFIXES.index(suffix), f"{known.name} ({suffix})")
        if suffix != allocator:
            return known.of_variant(1 + _hash(suffix), allocator)
    return None


def _look_of_stranger(allocator: str) -> Look:
    """An id without an entry, such as an outside plug-in: a look that depends on the id alone, so it never changes."""
    number = _hash(allocator)
    return Look(allocator, _SPARE_COLOURS[number % len(_SPARE_COLOURS)],
                _SPARE_MARKERS[number // len(_SPARE_COLOURS) % len(_SPARE_MARKERS)])


def _hash(text: str) -> int:
    return zlib.crc32(text.encode())  # the built-in hash() of strings differs from process to process
