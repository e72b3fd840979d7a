"""This module defines the looks of all figures: one page width, one colour and marker per allocator, and one line style per form of
it.

looks.json contains the families. A family gives the hue of its allocators. A form (`_reworked`, `_original`, ...) gives
the line style and the fill of the marker. An id that is not in looks.json gets its marker from a hash of the id. Its
colour comes from its family, or without a family from the same hash.
"""

from __future__ import annotations

import json
import zlib
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

import matplotlib
from matplotlib import colormaps
from matplotlib.colors import to_hex, to_rgb

from plots.sheet import fonts

# Width of every figure in inches: the text width of a page with two columns. No text is smaller than LEAST points.
WIDTH = 7.0
PNG_DPI = 130  # dots per inch, so a page is 910 pixels wide
LEAST = 7.0
NAME = 3.6  # greatest width of a row name in inches

BLACK, GREY, LIGHT = "#000000", "#5c5c5c", "#d9d9d9"
NOISE = "#9e9e9e"
POSITION_DASH = (0, (4, 2.5))  # line style of a position that a paper names

matplotlib.rcdefaults()  # a user's matplotlibrc must not change these figures
matplotlib.rcParams["text.parse_math"] = False  # a $ in a label of a config is a dollar sign

RC = {
    "font.family": fonts.FAMILY,
    "font.size": 7.5,
    "axes.edgecolor": GREY,
    "axes.labelsize": 7.5,
    "axes.linewidth": 0.7,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "grid.color": LIGHT,
    "grid.linewidth": 0.5,
    "legend.fontsize": 7.2,
    "legend.frameon": False,
    "lines.linewidth": 1.1,
    "lines.markersize": 4.4,
    "xtick.labelsize": LEAST,
    "ytick.labelsize": LEAST,
    "xtick.major.size": 3,
    "ytick.major.size": 3,
    "xtick.minor.size": 1.5,
    "svg.hashsalt": "allocbench",  # the same input gives the same bytes
    "pdf.fonttype": 42,            # text stays text in the PDF
}

STATUS_COLOURS = {
    "ok": "#cfe8dd", "skipped": "#eeeeee", "unsupported": LIGHT, "oom": "#f0e442", "incorrect": "#d55e00",
    "timeout": "#e69f00", "device_fault": "#cc79a7", "crashed": "#404040",
}
WHY_NOT_MEASURED = "the study's time was over, or the device has too little memory for the pool"
NOT_MEASURED = "not measured"  # word for `skipped` if the run had no time for the cell, or the device too little memory
NOT_MEASURED_COLOUR = "#dbe7f5"
STATUS_SHORT = {"unsupported": "unsup.", "timeout": "t.out", "skipped": "skip", "incorrect": "wrong", "device_fault": "fault", "crashed": "crash"}
STATUS_LETTERS = {"crashed": "c", "device_fault": "d", "incorrect": "i", "timeout": "t", "oom": "o", "skipped": "s", NOT_MEASURED: "n", "unsupported": "u"}
WARNING = "#b00000"

_TABLE = json.loads(Path(__file__).with_name("looks.json").read_text(encoding="utf-8"))
_SPARE_COLOURS = ("#546e7a", "#5d4037", "#00838f", "#9e9d24", "#d84315", "#512da8", "#c2185b")
_SPARE_MARKERS = ("h", "*", "<", ">", "p", "d", "8")
_SHADES = (0.0, 0.38, -0.4, 0.6, -0.65)  # shades of variants: towards white, or towards black if negative
_SHADES_OF_DARK = (0.0, 0.34, 0.66, 0.17, 0.5)  # a dark colour that becomes darker hardly changes
_DARK = 60  # brightness, of 255, below which a colour is dark
_SHADE_MARKERS = ("o", "s", "^", "D", "v", "P", "X", "p")


@dataclass(frozen=True)
class Look:
    """A look says how figures draw an allocator, and what a legend calls it."""

    name: str
    colour: str
    marker: str
    dash: object = "-"
    fill: str = "full"  # matplotlib's fillstyle of the marker

    @property
    def marker_size(self) -> float:
        """Returns the marker's size in points. A star is larger, because it covers least of its square."""
        return 7.5 if self.marker == "*" else RC["lines.markersize"]


def look(allocator: str, variant: int = 0) -> Look:
    """Returns the look of an allocator id.

    `variant` counts the series of an allocator that differ in a setting. Each gets another shade of the hue and another
    marker, which differs from those of the family's other members. Line style and fill stay, because they show the form.
    """
    base = _base(allocator)
    if variant == 0:
        return base
    markers = [marker for marker in _SHADE_MARKERS if marker != base.marker]
    shades = _SHADES_OF_DARK if _brightness(base.colour) < _DARK else _SHADES
    return replace(base, colour=mixed(base.colour, shades[variant % len(shades)]), marker=markers[(variant - 1 + 2 * _place(allocator)) % len(markers)])


def rival(number: int) -> Look:
    """Returns the look of a series that is not an allocator, such as a sort by a library."""
    return Look("", GREY, "xs+"[number % 3], (0, (2, 1)), "full")


def shade(number: int, count: int) -> Look:
    """Returns the look of one of `count` series of an allocator that is alone in its figure. The shades go from light
    to dark.
    """
    colour = colormaps["viridis_r"](0.18 + 0.82 * number / max(count - 1, 1))
    return Look("", to_hex(colour), _SHADE_MARKERS[number % len(_SHADE_MARKERS)])


def display_name(allocator: str) -> str:
    """Returns the display name of an allocator whose results give no name."""
    return look(allocator).name


def family(allocator: str) -> str:
    """Returns the family that has this id as a member, or that has a prefix of it. The name is empty for an allocator of
    no known family.
    """
    id_of_base = _split(allocator)[0]
    for name, entry in _TABLE["families"].items():
        if id_of_base in entry["members"]:
            return name
    known = [(len(prefix), name) for name, entry in _TABLE["families"].items() for prefix in entry["prefixes"]
             if allocator.startswith(prefix)]
    return max(known)[1] if known else ""


def family_names() -> dict[str, str]:
    """Returns the display name of each family: its own name, or that of its first member."""
    return {name: entry.get("name") or next(iter(entry["members"].values()))[0] for name, entry in _TABLE["families"].items()}


def family_colour(name: str, otherwise: str) -> str:
    """Returns the first colour of a family, for figures that show families instead of members.

    `otherwise` is the colour of allocators of no known family.
    """
    return _TABLE["families"][name]["colours"][0] if name else otherwise


def base_of(allocator: str) -> str:
    """Returns the allocator that this id is a form of, or an empty text if it is not a form."""
    base, forms = _split(allocator)
    return base if forms else ""


def original_of(allocator: str) -> str:
    """Returns the id without its forms."""
    return _split(allocator)[0]


def text_on(background: str) -> str:
    """Returns black or white, whichever is easier to read on the colour `#rrggbb`."""
    return BLACK if _brightness(background) > 110 else "#ffffff"


def _brightness(colour: str) -> float:
    """Returns the brightness of the colour `#rrggbb`, from 0 to 255."""
    red, green, blue = (int(colour[i:i + 2], 16) for i in (1, 3, 5))
    return 0.299 * red + 0.587 * green + 0.114 * blue


@lru_cache(maxsize=None)
def _base(allocator: str) -> Look:
    base, forms = _split(allocator)
    name = family(allocator)
    if not name:
        number = _hash(allocator)  # the hash depends only on the id, so the look of an id never changes
        return Look(allocator, _SPARE_COLOURS[number % len(_SPARE_COLOURS)],
                    _SPARE_MARKERS[number // len(_SPARE_COLOURS) % len(_SPARE_MARKERS)])
    entry = _TABLE["families"][name]
    dash = (0, tuple(entry["dash"])) if "dash" in entry else "-"
    if base in entry["members"]:
        title, colour, marker = entry["members"][base]
        made = Look(title, entry["colours"][colour], marker, dash)
    else:  # a new member of the family: the family's hue, and its own marker and shade
        number = _hash(base)
        made = Look(base, mixed(entry["colours"][number % len(entry["colours"])], 0.2), _SPARE_MARKERS[number % len(_SPARE_MARKERS)], dash)
    for form in forms:
        words, pattern, fill = _TABLE["forms"][form]
        # An id with several forms (scatteralloc_reworked_no_reset) gets the line style of the last form (no_reset) and the
        # marker fill of the first (reworked).
        made = replace(made, name=f"{made.name}, {words}", dash=(0, tuple(pattern)), fill=fill if made.fill == "full" else made.fill)
    return made


def _place(allocator: str) -> int:
    """Returns the place of an allocator among the members of its family."""
    members, base = list(_TABLE["families"].get(family(allocator), {}).get("members", [])), _split(allocator)[0]
    return members.index(base) if base in members else 0


def _split(allocator: str) -> tuple[str, list[str]]:
    """Returns the id without the suffixes of forms (`delayed_` is a prefix), and the forms."""
    forms: list[str] = []
    while True:
        form = next((name for name in _TABLE["forms"] if allocator.endswith(f"_{name}") or allocator.startswith(f"{name}_")), None)
        if form is None:
            return allocator, forms
        allocator = allocator.removesuffix(f"_{form}").removeprefix(f"{form}_")
        forms.insert(0, form)


def mixed(colour: str, share: float) -> str:
    """Returns the colour moved towards white, or towards black if the share is negative."""
    target = 1.0 if share > 0 else 0.0
    return to_hex([part + (target - part) * abs(share) for part in to_rgb(colour)])


def _hash(text: str) -> int:
    return zlib.crc32(text.encode())  # the built-in hash() of strings differs between processes
