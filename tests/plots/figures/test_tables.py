"""Tests tables, the status matrix and the table of settings."""

import json
import random

from allocbench import stored
from allocbench.errors import NothingToDraw
import readback
import pytest
import synthetic

from plots.figures import printed_table, scene_table, settings_table, status_matrix, table
from plots.figures.model import chart
from plots.runs import results
from plots.sheet import grid, page, style

STATUSES = stored.STATUSES


def _run(tmp_path, config, cells, backend="cpu"):
    return results.read_run(synthetic.write(tmp_path, config, cells, backend))


def _config(**plot):
    return {"name": "test", "description": "A test", "allocators": ["c_malloc", "cf_malloc"], "plot": plot}


def test_table_holds_values_words_and_gaps(tmp_path):
    cells = [synthetic.cell("c_malloc", {"request_bytes": 16}, values={("alloc", "time"): (1.0, 0.95, 1.06), ("alloc", "operations"): 1.5e6}),
             synthetic.cell("c_malloc", {"request_bytes": 8192}, status="timeout", values={("alloc", "time"): 1.0, ("alloc", "operations"): 6.66e6}),
             synthetic.cell("cf_malloc", {"request_bytes": 16}, values={("alloc", "time"): 1.0, ("alloc", "operations"): 2e9})]
    run = _run(tmp_path, _config(kind="table", x="request_bytes", y="alloc", metric="throughput"), cells)
    drawing = table.make(run, "stem")
    assert "| request size | 16 B | 8 KiB |" in drawing.markdown
    assert "| CMalloc | 1.50 M ±6 % | timeout |" in drawing.markdown
    assert "| CFMalloc | 2.00 G ±6 % | – |" in drawing.markdown  # not planned, because the config excludes it
    shown = readback.texts(drawing)
    assert "1.50 M ±6 %" in shown and "timeout" in shown
    assert not any("6.66" in text for text in shown) and "6.66" not in drawing.markdown
    assert "**CPU executor: not GPU performance**" in drawing.markdown


def _scene_config():
    return {"name": "test", "description": "A test", "allocators": ["atomic_malloc", "c_malloc", "cf_malloc"],
            "zip": [{"scene": ["soup", "terrain", "soup"], "subdivisions": [1, 0, 0]}],
            "plot": {"kind": "scene_table", "columns": ["scene", "subdivisions"], "y": "build", "reference": "atomic_malloc",
                     "facts": ["mallocs", "mean_request_bytes"], "kernels": ["build"],
                     "printed": [{"title": "As printed", "columns": ["", "Soup"], "rows": [["CMalloc", "1.04"]]}],
                     "notes": ["A note."]}}


def _scene_cells():
    def cell(allocator, scene, subdivisions, time, **fields):
        values = {("build", "time"): time, ("build", "registers"): 64, ("", "mallocs"): 1000 * (subdivisions + 1),
                  ("", "mean_request_bytes"): 40.56} if time else {}
        return synthetic.cell(allocator, {"scene": scene, "subdivisions": subdivisions}, values=values, **fields)

    return [cell("c_malloc", "soup", 0, 0.003), cell("cf_malloc", "soup", 0, None, status="oom", reason="full"),
            cell("atomic_malloc", "soup", 0, 0.002), cell("atomic_malloc", "soup", 1, 0.004),
            cell("c_malloc", "soup", 1, 0.016), cell("c_malloc", "terrain", 0, 0.005),
            cell("atomic_malloc", "terrain", 0, None, status="timeout")]


def test_scene_table_relates_times_to_those_of_the_reference(tmp_path):
    run = _run(tmp_path, _scene_config(), _scene_cells(), "cuda")
    drawing = scene_table.make(run, "stem")
    text = drawing.markdown
    assert "|  | soup (1) | terrain | soup |" in text  # columns in the order of the config
    assert "| mallocs | 2,000 | 1,000 | 1,000 |" in text
    assert "| mean request bytes | 40.6 | 40.6 | 40.6 |" in text
    assert "| AtomicMalloc | 64 | 4 ms ±6 % | timeout | 2 ms ±6 % |" in text
    assert "| CMalloc | 64 | 4.00 ±6 % | no reference | 1.50 ±6 % |" in text
    assert "| CFMalloc | – | – | – | oom |" in text
    assert "| CMalloc | 75 % | – | 33 % |" in text
    assert "As printed" in text and "| CMalloc | 1.04 |" in text and "A note." in text
    assert "oom" in readback.texts(drawing)


def test_a_scene_table_marks_what_is_provisional_and_what_is_over_it(tmp_path):
    cells = _scene_cells()
    cells[0]["provisional"] = cells[3]["provisional"] = True  # CMalloc's cell in soup and the reference's in soup (1)
    drawing = scene_table.make(_run(tmp_path, _scene_config(), cells, "cuda"), "stem")
    assert "| AtomicMalloc | 64 | ~4 ms | timeout | 2 ms ±6 % |" in drawing.markdown
    assert "| CMalloc | 64 | ~4.00 | no reference | ~1.50 |" in drawing.markdown
    assert "| CMalloc | ~75 % | – | ~33 % |" in drawing.markdown
    assert "~: provisional, fewer than three rounds." in drawing.markdown and "~: half of" not in drawing.markdown
    assert {"~4 ms", "~1.50"} <= set(readback.texts(drawing))


def test_a_wide_interval_and_a_lacking_time_have_signs_of_their_own(tmp_path):
    cells = _scene_cells()
    cells[0]["values"]["build", "time"] = (0.003, 0.002, 0.004)
    cells[3]["values"] = {("", "mallocs"): 1}  # the reference in soup (1) is ok, but has no time
    drawing = scene_table.make(_run(tmp_path, _scene_config(), cells, "cuda"), "stem")
    assert {"1.50*", "no value"} <= set(readback.texts(drawing)) and "~" not in " ".join(readback.texts(drawing))
    assert "*: one end of the 95 % interval" in drawing.markdown
    assert "| AtomicMalloc | 64 | no value | timeout | 2 ms ±6 % |" in drawing.markdown


def test_a_scene_table_of_many_inputs_and_allocators_fits_a_page(tmp_path):
    scenes, names = [f"scene_{number}" for number in range(14)], [f"a_long_name_{number}" for number in range(16)]
    config = {**_scene_config(), "allocators": ["atomic_malloc", *names], "zip": [{"scene": scenes}]}
    config["plot"] = {**config["plot"], "columns": ["scene"], "facts": ["mallocs"],
                      "printed": [{"title": "As printed", "columns": ["", *scenes[:11]], "rows": [["CMalloc", "1.04"], ["CFMalloc", *["1.25"] * 11]]}]}
    cells = [synthetic.cell(name, {"scene": scene}, values={("build", "time"): 0.002, ("", "mallocs"): 1234567}) for name in ("atomic_malloc", *names) for scene in scenes]
    drawing = scene_table.make(_run(tmp_path, config, cells, "cuda"), "stem")
    figure = drawing.page.figure
    assert figure.get_figheight() < 9 and figure.get_figwidth() == style.WIDTH
    shown = [text for axes in figure.axes for text in axes.texts]
    assert min(text.get_fontsize() for text in shown) >= style.LEAST
    right = [axes.transData.transform((text.get_position()[0], 0))[0] / figure.dpi for axes in figure.axes for text in axes.texts]
    assert max(right) <= style.WIDTH, "nothing lies beyond the page"
    assert sum(text.get_text() == "1.25" for text in shown) == 11, "rows that end early cut no column off"


def test_scene_table_of_failures_draws_nothing(tmp_path):
    cells = [synthetic.cell("c_malloc", {"scene": "soup", "subdivisions": 0}, status="crashed")]
    with pytest.raises(NothingToDraw):
        scene_table.make(_run(tmp_path, _scene_config(), cells), "stem")


def test_status_matrix_shows_every_cell_of_any_pattern(tmp_path, session_seed):
    for trial in range(20):
        rng = random.Random(f"{session_seed} matrix {trial}")
        xs = list(range(1, rng.randint(2, 18)))
        words = {(name, x): rng.choice(STATUSES) for name in ("c_malloc", "cf_malloc") for x in xs}
        cells = [synthetic.cell(name, {"threads": x}, status=status, reason=f"why {status}",
                                values={("alloc", "time"): 1.0} if status == "ok" else {})
                 for (name, x), status in words.items()]
        rng.shuffle(cells)
        run = _run(tmp_path, _config(kind="status_matrix"), cells)
        matrix = status_matrix.matrix_of(run)
        assert [row.label for row in matrix.rows] == ["CMalloc", "CFMalloc"]
        for name, row in zip(("c_malloc", "cf_malloc"), matrix.rows):
            spread = [word for _, columns, word in status_matrix.stretches(row) for _ in range(columns)]
            assert spread == [words[name, x] for x in xs], f"ALLOCBENCH_TEST_SEED={session_seed}, trial {trial}"
        drawing = status_matrix.make(run, "stem")
        shown = readback.texts(drawing)
        explained = " ".join(shown)  # words too long for their column
        assert all(word in shown or f"= {word}" in explained for word in words.values())
        for status in set(words.values()) - {"ok"}:
            assert f"{status}: why {status}" in drawing.markdown


def test_status_matrix_of_many_series_draws_those_with_failures(tmp_path):
    cells = [synthetic.cell("c_malloc", {"threads": x, "free_share": share}, values={("alloc", "time"): 1.0},
                            status="timeout" if (x, share) == (2, 7) else "ok") for x in (1, 2) for share in range(30)]
    run = _run(tmp_path, _config(kind="lines", x="threads"), cells)
    matrix = status_matrix.matrix_of(run)
    assert len(matrix.rows) == 30
    drawn = status_matrix.noteworthy(matrix)
    assert [[cell.word for cell in row.cells] for row in drawn.rows] == [["ok", "timeout"], ["ok", "ok"]]
    assert drawn.rows[1].label == "29 other series"
    drawing = status_matrix.make(run, "stem")
    assert all(row.label in drawing.markdown for row in matrix.rows)
    few = status_matrix.matrix_of(_run(tmp_path, _config(kind="lines", x="threads"), cells[:20]))
    assert status_matrix.noteworthy(few) == few


def test_status_matrix_without_a_sweep_gives_the_reasons(tmp_path):
    cells = [synthetic.cell("c_malloc", {}, status="crashed", reason="signal 11\nlane 0 exited"),
             synthetic.cell("cf_malloc", {}, values={("alloc", "time"): 1.0})]
    drawing = status_matrix.make(_run(tmp_path, _config(kind="status_matrix"), cells), "stem")
    assert "signal 11" in readback.texts(drawing)
    assert "- CMalloc: crashed: signal 11\n" in drawing.markdown


def test_status_matrix_of_two_swept_axes(tmp_path):
    cells = [synthetic.cell("c_malloc", {"threads": x, "request_bytes": b}, values={("alloc", "time"): 1.0})
             for x in (1, 2) for b in (16, 1024)]
    matrix = status_matrix.matrix_of(_run(tmp_path, _config(kind="status_matrix"), cells))
    assert matrix.columns == ("1, 16 B", "1, 1 KiB", "2, 16 B", "2, 1 KiB")
    assert len(matrix.rows) == 1


def test_status_matrix_of_two_swept_axes_has_a_row_for_each_set_of_parameters(tmp_path):
    cells = [synthetic.cell("scatteralloc", {"threads": x, "request_bytes": 16 * x}, allocator_parameters={"page_bytes": page_bytes},
                            **({"status": "incorrect"} if (x, page_bytes) == (2, 4096) else {"values": {("alloc", "time"): 1.0}}))
             for x in (1, 2) for page_bytes in (4096, 8192)]
    matrix = status_matrix.matrix_of(_run(tmp_path, _config(kind="status_matrix") | {"allocators": ["scatteralloc"]}, cells))
    assert {row.label: [cell.word for cell in row.cells] for row in matrix.rows} == {
        "ScatterAlloc (pages of 4 KiB)": ["ok", "incorrect"], "ScatterAlloc (pages of 8 KiB)": ["ok", "ok"]}


FIGURE = {"name": "p/fig1", "allocators": ["c_malloc"], "pool_bytes": "2GiB", "repetitions": 5,
          "workload": {"id": "alloc_dealloc", "blocks": 120},
          "sweep": {"request_bytes": {"log2": ["4B", "128KiB"]}}, "plot": {"kind": "lines", "x": "request_bytes"},
          "cpu": {"workload": {"blocks": 8}, "pool_bytes": "64MiB", "sweep": {"request_bytes": {"range": [16, 64, 16]}}}}
TABLE = {"name": "p/table1", "paper": "P", "description": "D",
         "plot": {"kind": "settings_table", "configs": ["fig1.json"], "notes": ["A note."],
                  "printed": {"fig1": {"test": "[AD]", "blocks": "120"}, "fig9": {"test": "[X]"}}}}


def test_settings_table_from_configs_alone_and_with_results(tmp_path):
    (tmp_path / "fig1.json").write_text(json.dumps(FIGURE))
    (tmp_path / "table1.json").write_text(json.dumps(TABLE))
    read = settings_table.read(tmp_path / "table1.json")
    assert settings_table.rows_of(read, []) == [
        ["fig1", "paper", "[AD]", "–", "120", "–", "–", "–", "–", ""],
        ["fig1", "CUDA", "alloc_dealloc", "1", "120", "2 GiB", "4 B – 128 KiB", "5", "1", "not run"],
        ["fig1", "CPU executor", "alloc_dealloc", "1", "8", "64 MiB", "16 B – 64 B", "5", "1", "not run"],
        ["fig9", "paper", "[X]", "–", "–", "–", "–", "–", "–", "no config yet"]]
    run = _run(tmp_path / "run", FIGURE, [synthetic.cell("c_malloc", {"request_bytes": 4}, status="oom"),
                                          synthetic.cell("c_malloc", {"request_bytes": 8}, values={("total", "time"): 1.0})])
    assert settings_table.rows_of(read, [run])[2][-1] == "1 of 2 ok"
    drawing = settings_table.make_of_config(tmp_path / "table1.json", [run], "stem")
    assert "A note." in drawing.markdown and synthetic.DEVICE in drawing.markdown
    assert "From the configs alone." in settings_table.make_of_config(tmp_path / "table1.json", [], "stem").markdown


def test_a_drawing_writes_the_same_bytes_again(tmp_path):
    cells = [synthetic.cell("c_malloc", {"request_bytes": 16}, values={("alloc", "time"): 1e-6})]
    run = _run(tmp_path / "run", _config(kind="table", x="request_bytes", y="alloc"), cells)
    first = [path.read_bytes() for path in table.make(run, "t").write(tmp_path / "a")]
    second = [path.read_bytes() for path in table.make(run, "t").write(tmp_path / "b")]
    assert len(first) == len(page.FORMATS) + 1 and first == second


def test_table_states_what_the_paper_states(tmp_path):
    cells = [synthetic.cell(name, {"request_bytes": 16}, values={("alloc", "time"): seconds})
             for name, seconds in (("c_malloc", 1e-3), ("cf_malloc", 2e-3))]
    marks = [{"metric": "time", "phase": "alloc", "where": {"request_bytes": 16}, "value": 1.5e-3, "source": "The paper"}]
    run = _run(tmp_path, _config(kind="table", x="request_bytes", y="alloc", marks=marks), cells)
    sentence = "The paper states 1.5 ms (alloc) at request size 16 B; here: 1 ms to 2 ms (alloc)."
    assert sentence in table.make(run, "stem").markdown


def test_status_matrix_has_the_columns_of_its_figure(tmp_path):
    cells = [synthetic.cell("c_malloc", {"threads": x, "request_bytes": b}, status="oom") for x in (1, 2) for b in (16, 1024)]
    matrix = status_matrix.matrix_of(_run(tmp_path, _config(kind="lines", x="threads"), cells))
    assert matrix.columns == ("1", "2")
    assert [row.label for row in matrix.rows] == ["request size 16 B", "request size 1 KiB"]


PRINTED = {"name": "p/table2", "paper": "P", "description": "Devices",
           "plot": {"kind": "printed_table", "columns": ["of", "device", "type", "cores", "software"],
                    "rows": [["paper", "Old GPU", "GPU", "384", "CUDA 5"]], "devices": True, "notes": ["A note."]}}


def test_printed_table_adds_the_devices_of_the_runs_once(tmp_path):
    cells = [synthetic.cell("c_malloc", {}, values={("alloc", "time"): 1.0})]
    runs = [_run(tmp_path / name, _config(kind="table", x="threads"), cells, backend)
            for name, backend in (("a", "cuda"), ("b", "cuda"), ("c", "cpu"))]
    path = tmp_path / "table2.json"
    path.write_text(json.dumps(PRINTED))
    drawing = printed_table.make_of_config(path, runs, "stem")
    rows = [line for line in drawing.markdown.splitlines() if line.startswith("| ")]
    assert rows[1:] == ["| paper | Old GPU | GPU | 384 | CUDA 5 |",
                        f"| allocbench | {synthetic.DEVICE} | GPU | unknown | 13.0, driver 1.2 |",
                        f"| allocbench | {synthetic.DEVICE} | CPU | unknown | CPU executor, 13.0 |"]
    assert "2 devices of 3 runs" in drawing.markdown and "A note." in drawing.markdown
    path.write_text(json.dumps({**PRINTED, "plot": {**PRINTED["plot"], "devices": False}}))
    assert "nothing is measured" in printed_table.make_of_config(path, [], "stem").markdown


def test_a_word_for_a_whole_row_stands_in_every_part_of_a_wide_table():
    wide = grid.Grid(["name", *(f"a long name {i}" for i in range(14))], [["one", *["1"] * 14], ["two", "unsupported", *[""] * 13]], muted={(1, 1)})
    parts = grid._fitting(wide)
    assert len(parts) > 1 and all(part.rows[1][1] == "unsupported" and (1, 1) in part.muted for part in parts)
    assert sum(len(part.header) - 1 for part in parts) == 14


def _tall(count, names=("one", "two", "three")):
    return [grid.Grid(["name", "16 B"], [[f"allocator {number}", f"{name} {number}"] for number in range(count)], name, {(count - 1, 1)}) for name in names]


def test_the_lowest_rows_have_the_smallest_type():
    heading = page.Heading("Title", "", [], [])
    for rows, points in ((20, 7.5), (66, style.LEAST)):
        figure = grid.draw(heading, [*_tall(rows, ["one"]), *_tall(1, ["two"])]).figure
        assert {text.get_fontsize() for axes in figure.axes for text in axes.texts if text.get_text().startswith("allocator")} == {points}


def test_grids_too_tall_for_a_page_stand_beside_each_other_with_their_names_once():
    heading = page.Heading("Title", "", [], [])
    figure = grid.draw(heading, _tall(60)).figure
    shown = [text.get_text() for axes in figure.axes for text in axes.texts]
    assert shown.count("allocator 59") == 1 and {"one 59", "two 59", "three 59"} <= set(shown)
    assert figure.get_figheight() < 60 * 0.105 + 2
    grey = {text.get_text() for axes in figure.axes for text in axes.texts if text.get_color() == style.GREY}
    assert grey == {"one 59", "two 59", "three 59"}, "muted cells keep their place"
    right = [axes.transData.transform((text.get_position()[0], 0))[0] / figure.dpi for axes in figure.axes for text in axes.texts]
    assert max(right) <= style.WIDTH
    lines = [grid.draw(heading, _tall(5)), grid.draw(heading, [*_tall(60, ["one"]), *_tall(61, ["two"])])]
    for drawn in lines:
        assert len({axes.get_position().y0 for axes in drawn.figure.axes}) == len(drawn.figure.axes), "few rows, or other rows: below each other"


def test_a_word_after_a_value_is_grey_in_its_own_row(tmp_path):
    values = {("alloc", "time"): 1e-6}
    cells = [synthetic.cell("c_malloc", {"threads": 1}, values=values), synthetic.cell("c_malloc", {"threads": 2}, status="timeout"),
             synthetic.cell("halloc", {"threads": 1}, status="oom"), synthetic.cell("halloc", {"threads": 2}, values=values)]
    run = _run(tmp_path, _config(kind="table", x="threads", y="alloc"), cells)
    made, = table.grids_of(chart.of(run))
    assert made.muted == {(0, 2), (1, 1)} and [row[1:] for row in made.rows] == [[made.rows[0][1], "timeout"], ["oom", made.rows[1][2]]]
