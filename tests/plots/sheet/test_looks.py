"""Tests the looks of families, forms and variants: a table decides, and series that must differ look different."""

import itertools
import json
import math
import re

from matplotlib.colors import to_rgb
import pytest

from plots.runs import configs
from plots.sheet import style

TABLE = json.loads((style.Path(style.__file__).with_name("looks.json")).read_text())
MEMBERS = [member for family in TABLE["families"].values() for member in family["members"]]


def test_no_two_allocators_share_colour_and_marker_nor_a_name():
    looks = [style.look(name) for name in MEMBERS]
    assert len({(look.colour, look.marker) for look in looks}) == len(looks)
    assert len({look.name for look in looks}) == len({look.colour for look in looks}) == len(looks)


@pytest.mark.parametrize("family", TABLE["families"])
def test_members_of_a_family_have_markers_of_their_own(family):
    markers = [style.look(name).marker for name in TABLE["families"][family]["members"]]
    assert len(set(markers)) == len(markers)


@pytest.mark.parametrize("form", TABLE["forms"])
def test_a_form_keeps_colour_and_marker_and_changes_the_line(form):
    for base in MEMBERS:
        one, other = style.look(base), style.look(f"{base}_{form}")
        assert (one.colour, one.marker) == (other.colour, other.marker)
        assert str(one.dash) != str(other.dash) and one.fill != other.fill
        assert other.name == f"{one.name}, {TABLE['forms'][form][0]}"
        assert style.base_of(f"{base}_{form}") == base and style.base_of(base) == ""


def test_published_reworked_and_original_differ():
    looks = [style.look(name) for name in ("halloc", "halloc_reworked", "halloc_original")]
    assert len({str(look.dash) for look in looks}) == len({look.fill for look in looks}) == 3


def test_a_form_of_a_form_is_named_after_both():
    assert style.look("c_malloc_no_merge_reworked").name == "CMalloc, no merge, reworked"


def test_a_delayed_form_is_named_in_front_and_keeps_hue_and_marker():
    one, other = style.look("comb"), style.look("delayed_comb")
    assert (one.colour, one.marker) == (other.colour, other.marker) and str(one.dash) != str(other.dash)
    assert other.name == "Comb, delayed" and style.base_of("delayed_comb") == "comb" and style.family("delayed_comb") == "comb"


def test_no_two_allocators_that_are_registered_look_alike(root):
    """An id without an entry in looks.json has the hue of its prefix, or a look made from its name."""
    plugins = re.findall(r"^allocbench_add_allocator\((\w+)", (root / "allocators" / "CMakeLists.txt").read_text(), re.M)
    assert len(plugins) > 40
    seen: dict[tuple, str] = {}
    for name in plugins:
        look = style.look(name)
        other = seen.setdefault((look.colour, look.marker, str(look.dash), look.fill), name)
        assert other == name, f"{name} looks like {other}: choose its colour and marker in looks.json"


def test_new_members_have_the_family_of_their_prefix_and_strangers_a_look_of_their_own():
    assert style.family("ouroboros_x") == "ouroboros" and style.family("rw_hashed") == "walk" and style.family("my_malloc") == ""
    assert style.family("rw_malloc") == style.family("corw_reworked") == "walk"
    assert style.look("ouroboros_x").name == "ouroboros_x" and style.look("my_malloc") == style.look("my_malloc")


@pytest.mark.parametrize("allocator", ["halloc", "halloc_reworked", "kma", "xmalloc_device_heap"])
def test_variants_differ_in_shade_and_marker_and_keep_the_look_of_their_form(allocator):
    looks = [style.look(allocator, number) for number in range(5)]
    for one, other in itertools.combinations(looks, 2):
        assert one.marker != other.marker and one.colour != other.colour
        assert (str(one.dash), one.fill, one.name) == (str(other.dash), other.fill, other.name)


@pytest.mark.parametrize("allocator", ["atomic_malloc", "rw", "c_malloc", "ouroboros_p_s", "halloc"])
def test_the_shades_of_an_allocator_are_apart(allocator):
    """configs/pham2025/fig4 draws five shares of RW, whose green is dark."""
    colours = [to_rgb(style.look(allocator, number).colour) for number in range(5)]
    assert min(math.dist(one, other) for one, other in itertools.combinations(colours, 2)) > 0.16


def test_variants_of_a_family_have_different_markers():
    """configs/pham2025/fig15 draws several chunk sizes of P-S, P-VL and C-S, whose browns are alike."""
    markers = [[style.look(f"ouroboros_{name}", number).marker for number in range(3)] for name in ("p_s", "c_s")]
    assert all(one != other for one, other in zip(*markers))


def test_a_variant_of_the_published_form_is_not_taken_for_another_form():
    forms = {(str(look.dash), look.fill) for look in (style.look(f"kma_{form}") for form in TABLE["forms"])}
    assert all((str(look.dash), look.fill) not in forms for look in (style.look("kma", number) for number in range(6)))


def test_allocators_that_share_figures_have_hues_apart():
    """configs/current2026/trio compares ScatterAlloc, FlatterScatter and Gallatin. Maps of papers compare RW_malloc and XMalloc."""
    trio = [style.look(name) for name in ("scatteralloc", "flatter_scatter", "gallatin", "gallatin_static")]
    assert len({look.marker.lower() for look in trio}) == 4, "h and H are both hexagons"
    for green in ("rw", "rw_bm", "crw", "corw", "rw_malloc"):
        distance = math.dist(to_rgb(style.look(green).colour), to_rgb(style.look("xmalloc").colour))
        assert distance > 0.2, f"{green} is as olive as XMalloc"


def test_text_is_never_too_small():
    sizes = [value for key, value in style.RC.items() if key.endswith(("size",)) and "label" in key or key in ("font.size", "legend.fontsize")]
    assert len(sizes) >= 5 and min(sizes) >= style.LEAST == 7


def test_no_two_allocators_of_the_configs_look_alike(root):
    ids = set()
    for path in (root / "configs").rglob("*.json"):
        entries = configs.read(path).get("allocators", []) if path.parent.name != "schema" else []
        ids.update(entry["id"] if isinstance(entry, dict) else entry for entry in entries)
    seen: dict[tuple, str] = {}
    for name in sorted(each for each in ids if not each.startswith(("saboteur", "all"))):
        look = style.look(name)
        other = seen.setdefault((look.colour, look.marker, str(look.dash), look.fill), name)
        assert other == name, f"{name} looks like {other}"
