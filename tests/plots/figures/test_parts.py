"""Figures of many curves: several pictures, published forms first, with the same axes."""

import synthetic

from plots.figures import lines
from plots.figures.model import parts
from plots.runs import results

NAMES = ["comb", "halloc", "halloc_reworked", "kma", "kma_reworked", "rw", "rw_reworked", "slab", "gallatin", "corw", "crw", "rw_bm", "atomic_malloc"]


def _run(tmp_path, names, without=(), **plot):
    config = {"name": "test/fig", "paper": "Nobody 1999, Fig. 1", "allocators": list(names), "workload": {"id": "alloc_free"}, "plot": {"kind": "lines", "x": "threads", "y": "alloc", "log": "y", **plot}}
    cells = [synthetic.cell(name, {"threads": x}, values={("alloc", "time"): 2.0**number * x * 1e-6}) if name not in without else
             synthetic.cell(name, {"threads": x}, status="timeout") for number, name in enumerate(names) for x in (1, 2)]
    return results.read_run(synthetic.write(tmp_path, config, cells, "cuda"))


def _curves(drawing):
    axes = drawing.page.figure.axes[0] if len(drawing.page.figure.axes) == 1 else max(drawing.page.figure.axes, key=lambda each: each.get_position().height)
    return [line.get_label() for line in axes.get_lines() if (line.get_gid() or "").startswith("median")], axes


def _pictures(tmp_path, names, **more):
    drawing = lines.make(_run(tmp_path, names, **more), "stem")
    return drawing, [_curves(each)[0] for each in (drawing, *drawing.more)]


def test_eight_curves_are_one_picture(tmp_path):
    drawing, curves = _pictures(tmp_path, NAMES[:8])
    assert len(curves) == 1 and len(curves[0]) == 8 and "Picture" not in "".join(text.get_text() for text in drawing.page.figure.texts)


def test_more_curves_are_several_pictures_with_published_forms_first(tmp_path):
    drawing, curves = _pictures(tmp_path, NAMES)
    assert curves == [["Comb", "Halloc", "KMA", "RW", "Slab", "Gallatin", "CoRW", "CRW"], ["Comb", "Halloc, reworked", "KMA, reworked", "RW, reworked", "RW-BM", "AtomicMalloc"]]
    assert [each.stem for each in drawing.more] == ["stem_2"]
    assert _curves(drawing)[1].get_ylim() == _curves(drawing.more[0])[1].get_ylim(), "the same axes"
    told = [" ".join(text.get_text().replace("\n", " ") for text in each.page.figure.texts) for each in (drawing, *drawing.more)]
    assert "Picture 1 of 2 of this figure" in told[0] and "Picture 2 of 2" in told[1] and "beside Comb once more" in told[1]
    assert drawing.markdown.count("| Slab |") == 1 and drawing.markdown.count("RW, reworked") == 1, "one page has the numbers of both"


def test_a_paper_may_draw_more_in_one(tmp_path):
    _, curves = _pictures(tmp_path, [name for name in NAMES if "reworked" not in name], curves=10)
    assert [len(each) for each in curves] == [10]


def test_the_forms_of_the_paper_are_not_mixed_with_others_that_would_have_room(tmp_path):
    _, curves = _pictures(tmp_path, [name for name in NAMES if name not in ("crw", "rw_bm", "atomic_malloc", "corw")])
    assert curves == [["Comb", "Halloc", "KMA", "RW", "Slab", "Gallatin"], ["Comb", "Halloc, reworked", "KMA, reworked", "RW, reworked"]]


def test_curves_without_a_value_take_no_room(tmp_path):
    _, curves = _pictures(tmp_path, NAMES[:9], without=["gallatin"])
    assert len(curves) == 1


def test_pictures_are_filled_alike(tmp_path):
    drawn = parts.of([_series(20)], 8, True)
    assert [len(each) for each in drawn] == [8, 7, 7], "8, and 12 more in two"


def test_a_figure_of_no_paper_has_all_forms_in_order():
    drawn = _series(10)
    drawn[1].allocator = "a1_reworked"
    assert [each[:3] for each in parts.of([drawn], 8, False)] == [["a0", "a1", "a2"], ["a0", "a8", "a9"]]
    assert parts.of([drawn], 8, True)[0][:3] == ["a0", "a2", "a3"]


def _series(count):
    class _Series:
        def __init__(self, number):
            self.label = self.allocator = f"a{number}"

        def drawn(self):
            return [1]

    return [_Series(number) for number in range(count)]


def test_every_picture_is_written_beside_one_table(tmp_path):
    written = lines.make(_run(tmp_path, NAMES), "stem").write(tmp_path / "out", ("png",))
    assert [path.name for path in written] == ["stem.png", "stem.md", "stem_2.png"]
