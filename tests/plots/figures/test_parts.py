"""Tests figures with many curves: such a figure becomes several pictures, and published forms come first."""

import readback
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
    assert "Picture 1 of 2. A panel has the same axes in all pictures." in told[0] and "Picture 2 of 2. A panel has the same axes in all pictures. Comb is repeated for comparison." in told[1]
    assert drawing.markdown.count("| Slab |") == 1 and drawing.markdown.count("RW, reworked") == 1, "one page has the numbers of both"


def test_a_picture_whose_curves_would_lie_on_each_other_has_a_y_axis_of_its_own(tmp_path):
    """The eight published forms span three decades. The reworked forms and the first published form span a factor of four."""
    names = ["comb", "halloc_reworked", "kma_reworked", "halloc", "kma", "rw", "slab", "gallatin", "corw", "crw"]
    drawing, curves = _pictures(tmp_path, names)
    axes = [_curves(each)[1] for each in (drawing, *drawing.more)]
    assert [len(each) for each in curves] == [8, 3] and axes[1].get_ylim()[1] / axes[1].get_ylim()[0] < 30 < axes[0].get_ylim()[1] / axes[0].get_ylim()[0]
    told = [" ".join(text.get_text().replace("\n", " ") for text in each.page.figure.texts) for each in (drawing, *drawing.more)]
    assert "Picture 1 of 2; its y axis differs from those of the others." in told[0]
    assert "Picture 2 of 2; its y axis differs from those of the others. Comb is repeated for comparison." in told[1]


def test_a_picture_names_the_pictures_that_share_its_axes():
    pictures = [["a"], ["a", "b"], ["a", "c"], ["a", "d"]]
    assert parts.sentence(pictures, 1, [2]) == "Picture 1 of 4 with the same axes as pictures 3 and 4."
    assert parts.sentence(pictures, 3, [2, 4]) == "Picture 3 of 4 with the same axes as picture 1. a is repeated for comparison."


def test_the_foot_of_a_picture_counts_its_own_cells(tmp_path):
    run = _run(tmp_path, NAMES)
    for cell in run.cells.index[run.cells["allocator"] == "rw_reworked"]:
        run.cells.at[cell, "provisional"] = True
        run.details[cell]["stop"] = "not finished"
    drawing = lines.make(run, "stem")
    told = [" ".join(text.get_text() for text in each.page.figure.texts) for each in (drawing, *drawing.more)]
    assert "provisional" not in told[0] and "unfinished" not in told[0]
    assert "provisional: 2 cells have fewer than three rounds" in told[1] and "unfinished: 2 cells have fewer rounds than planned" in told[1]


def test_a_panel_may_have_no_curve_in_a_picture(tmp_path):
    """Panel b has neither the curve that all pictures repeat nor the one that picture 2 adds."""
    names = NAMES[:4] + NAMES[5:10]
    config = {"name": "test/fig", "allocators": names, "workload": {"id": "alloc_free"}, "plot": {"kind": "lines", "x": "threads", "y": "alloc", "log": "y", "panels": "kind"}}
    cells = [synthetic.cell(name, {"threads": x, "kind": kind}, values={("alloc", "time"): 1e-6 * x}) for x in (1, 2) for kind in "ab" for name in names
             if kind == "a" or name not in (names[0], names[-1])]
    cells += [synthetic.cell(names[-1], {"threads": 3, "kind": "a"}, status="timeout")]
    drawing = lines.make(results.read_run(synthetic.write(tmp_path, config, cells, "cuda")), "stem")
    curves = [line.get_label() for axes in drawing.more[0].page.figure.axes for line in axes.get_lines() if (line.get_gid() or "").startswith("median")]
    assert curves == ["Comb", "CoRW"] and "timeout" in readback.texts(drawing.more[0])


def test_a_panel_may_have_no_value_in_a_picture(tmp_path):
    names = NAMES[:4] + NAMES[5:10]
    config = {"name": "test/fig", "allocators": names, "workload": {"id": "alloc_free"}, "plot": {"kind": "lines", "x": "threads", "y": "alloc", "log": "y", "metric": ["time", "steps_per_malloc"]}}
    cells = [synthetic.cell(name, {"threads": x}, values={("alloc", "time"): 1e-6 * x, **({} if name in (names[0], names[-1]) else {("", "steps_per_malloc"): 2.0 * x})})
             for x in (1, 2) for name in names]
    drawing = lines.make(results.read_run(synthetic.write(tmp_path, config, cells, "cuda")), "stem")
    assert readback.texts(drawing.more[0]).count("no value") == 2


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


def test_a_reference_is_in_every_picture():
    pictures = parts.of([_series(12)], 8, True, {"a9"})
    assert pictures == [["a0", "a1", "a2", "a3", "a4", "a5", "a6", "a9"], ["a9", "a7", "a8", "a10", "a11"]]
    assert "a9 is repeated for comparison" in parts.sentence(pictures, 2)
    assert parts.of([_series(12)], 2, True, {"a0", "a1"})[1] == ["a0", "a2"], "two references would fill the picture"


def test_a_sentence_about_an_allocator_is_in_its_picture(tmp_path):
    marks = [{"metric": "free_cycles", "where": {"threads": 2}, "value": 3, "source": f"Of {name}", "allocator": name} for name in ("kma", "crw_reworked", "fdgmalloc")]
    drawing, _ = _pictures(tmp_path, [*NAMES[:8], "crw_reworked"], marks=marks)
    told = [" ".join(text.get_text() for text in each.page.figure.texts) for each in (drawing, *drawing.more)]
    assert [[name in each for name in ("Of kma", "Of crw_reworked", "Of fdgmalloc")] for each in told] == [[True, False, True], [False, True, True]]


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


def test_a_picture_tells_and_states_only_what_it_draws(tmp_path):
    stated = {"bands": [{"metric": "time", "between": [2, 3], "of": "halloc", "source": "twice Halloc"}, {"metric": "time", "between": [2, 3], "of": "comb", "source": "twice Comb"},
                        *({"metric": "time", "between": [4, 5], **of, "source": "only Slab", "about": "slab"} for of in ({"of": "comb"}, {}))],
              "marks": [{"metric": "time", "phase": "alloc", "where": {"threads": 2}, "value": 3e-6, "source": "stated of Slab", "allocator": "slab"}],
              "positions": [{"at": 1.5, "source": "KMA turns", "allocator": "kma"}, {"at": 1.2, "source": "all turn"}], "notes": ["The paper has five.", {"says": "Slab is small.", "about": "slab"}]}
    drawing, _ = _pictures(tmp_path, NAMES, without=["gallatin"], **stated)
    first, second = ({handle.get_label() for axes in each.page.figure.axes for handle in (*axes.get_lines(), *axes.collections)} for each in (drawing, *drawing.more))
    assert {"twice Halloc", "twice Comb", "stated of Slab", "KMA turns", "all turn", "only Slab"} <= first
    assert "only Slab" not in second and second & {"twice Halloc", "twice Comb", "stated of Slab", "KMA turns", "all turn"} == {"twice Halloc", "twice Comb", "all turn"}, "bands are in both"
    told = [" ".join(text.get_text().replace("\n", " ") for text in each.page.figure.texts) for each in (drawing, *drawing.more)]
    assert "Crosses above the panel" in told[0] and "The paper has five. Slab is small." in told[0]
    assert "Comb and Halloc are repeated for comparison" in told[1]
    assert "Crosses" not in told[1] and "The paper has five." in told[1] and "Slab is small." not in told[1] and "Slab is small." in drawing.markdown, "Gallatin is in the first picture"


def test_equations_are_those_of_the_curves_of_a_picture(tmp_path):
    theory = {"rw_bm": {"steps_per_malloc": "rw_bm_steps"}, "rw": {"steps_per_malloc": "rw_steps"}}
    names = ["rw", "comb", "rw_bm"]
    config = {"name": "test/fig", "paper": "Nobody 1999, Fig. 1", "allocators": names, "workload": {"id": "get_page"},
              "plot": {"kind": "lines", "x": "threads", "y": "", "metric": "steps_per_malloc", "theory": theory, "curves": 2}}
    cells = [synthetic.cell(name, {"threads": x, "free_share": 0.5, "request_bytes": 256}, pool_bytes=256000000, values={("", "steps_per_malloc"): 2.0}) for name in names for x in (1, 2)]
    drawing = lines.make(results.read_run(synthetic.write(tmp_path, config, cells, "cuda")), "stem")
    first, second = (" ".join(text.get_text().replace("\n", " ") for text in each.page.figure.texts) for each in (drawing, *drawing.more))
    assert "equation (3)" in first and "(5)" not in first
    assert "equations (3) and (5)" in second, "RW is in both"
