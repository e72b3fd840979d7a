"""Tests the page: it is self-contained and names what it lacks. test_webpage_in_browser.py tests the page in a
browser.
"""

import json
import re
import sys
from pathlib import Path

import guide
import pytest
import synthetic
from webpage_runs import LINES, runs_of

from plots.advice import newest, table
from plots.commands import cli
from plots.figures import inputs, lines
from plots.runs import configs, kept, results
from plots.sheet import quantity, style
import plots.webpage
from plots.webpage import build, charts, cliffs, costs, figures, graphs, ledger, tax

pytest.importorskip("plotly")


def test_the_page_needs_nothing_else(page):
    text = page.read_text()
    assert not re.search(r'(?:src|href)="(?!data:|#)', text), "nothing is loaded from elsewhere"
    assert "@import" not in text and "url(" not in text


def test_the_same_results_give_the_same_page(folder):
    assert build.page_of(runs_of(folder), []).text == build.page_of(runs_of(folder), []).text


def test_progress_is_told(folder, capsys):
    assert cli.main(["page", str(folder), "--out", str(folder / "progress.html")]) == 0
    told = capsys.readouterr().err.splitlines()
    assert told == [f"plots: {line}" for line in ("reading the results", "judging the claims of 1 run", "drawing figure 1 of 1")]


@pytest.mark.parametrize("verb, by_allocbench", [("page", "allocbench report --html"), ("advise", "allocbench advise")])
def test_errors_name_the_command_that_the_user_called(monkeypatch, capsys, verb, by_allocbench):
    monkeypatch.delenv("ALLOCBENCH_STARTED_PLOTS", raising=False)
    assert cli.main([verb, "--bogus"]) == 2
    told = capsys.readouterr().err
    assert told.startswith("plots: ") and told.endswith(f"Try python3 -m plots {verb} --help.\n")
    monkeypatch.setenv("ALLOCBENCH_STARTED_PLOTS", "1")
    assert cli.main([verb, "--bogus"]) == 2
    told = capsys.readouterr().err
    assert told.startswith(f"{by_allocbench}: ") and told.endswith(f"Try {by_allocbench} --help.\n")


def test_failures_stand_as_words(page):
    assert re.search(r'<td class="failed" title="oom: 12 of 1,000,000 requests returned null">oom</td>', page.read_text())


def test_every_name_tells_its_form(page):
    rows = re.findall(r'<tr data-allocator="([a-z_]+)" data-form="([a-z]+)"[^>]*><th>([^<]*)</th>', page.read_text())
    assert len(rows) == len(guide.NAMES)
    assert all(form in name for _, form, name in rows)
    assert ("comb", "own", "Comb (our own)") in rows


def test_a_figure_comes_with_its_commands_and_the_papers_values(page):
    text = page.read_text()
    assert "build/bin/allocbench --config configs/test.json --backend cuda --out results/vinkler2015_fig9-cuda" in text
    charts = json.loads(re.search(r'id="charts-data">(.*?)</script>', text, re.DOTALL)[1])
    stars = [trace for trace in charts["vinkler2015_fig9_cuda"]["data"] if trace["marker"].get("symbol") == "star"]
    assert [(star["x"], star["y"], star["name"], star["text"]) for star in stars] == [([16.0], [1e-5], "paper: fig. 9", ["16 B: 10 µs"])]


def test_cliffs_show_the_tail_of_single_calls(page):
    charts = json.loads(re.search(r'id="charts-data">(.*?)</script>', page.read_text(), re.DOTALL)[1])
    data, layout = charts["cliff comb"]["data"], charts["cliff comb"]["layout"]
    tails = {trace["name"]: trace for trace in data if trace["yaxis"] == "y3"}
    assert set(tails) == {f"{size} B, {share} of mallocs" for size in (16, 64) for share in ("50 %", "90 %", "99 %", "99.9 %")}
    assert tails["64 B, 50 % of mallocs"]["text"] == ["1,000 threads: 6,064 cycles", "100,000 threads: 6,064 cycles"] and tails["64 B, 50 % of mallocs"]["y"] == [6064, 6064]
    assert tails["16 B, 99.9 % of mallocs"]["y"] == [54016, 54016]
    filled = {trace["name"]: (trace["x"], trace["y"]) for trace in data if trace["yaxis"] == "y4"}
    assert filled["256 B, 99.9 % of mallocs"] == ([0.11206, 0.89645], [54256, 54256])
    assert {layout[axis]["title"]["text"] for axis in ("yaxis3", "yaxis4")} == {"cycles of a malloc"}
    assert [trace["name"] for trace in data if trace["x"] == [None]] == ["50 % of mallocs", "90 % of mallocs", "99 % of mallocs", "99.9 % of mallocs"]


def test_no_line_of_the_cliffs_hides_another(page):
    """If values are equal, sizes are drawn beside each other, and percentiles have different marks."""
    for name, chart in _charts(page.read_text()).items():
        if name.startswith("cliff "):
            places = [(trace["yaxis"], x, trace["marker"]["symbol"]) for trace in chart["data"] for x in trace["x"] if x is not None and trace["yaxis"] != "y2"]
            assert len(set(places)) == len(places) > 0, name


def test_each_legend_entry_of_the_cliffs_looks_different(page):
    for name, chart in _charts(page.read_text()).items():
        if name.startswith("cliff "):
            looks = [(trace["line"]["color"], trace["line"]["dash"], str(trace["marker"]["symbol"])) for trace in chart["data"] if trace.get("showlegend", True)]
            assert len(set(looks)) == len(looks) > 0, name
    table_of_256 = {"cases": [{"job": {"sizes": [256, 256]}, "figure": "guide/small"}]}
    by_fill, = cliffs._by_fill([({"figure": "guide/fill", "time": "total", "job": {"fill": 0.5}}, {"total": [1.0], "n": {"total": 1}})], cliffs._colours(table_of_256))
    by_threads = cliffs._line("256 B", [(1, 1)], "", by_fill["line"]["color"], lambda x, y: "")
    assert by_fill["line"]["dash"] != by_threads["line"]["dash"] and by_fill["marker"]["symbol"] != by_threads["marker"]["symbol"]


def test_sizes_have_the_same_colours_in_all_cliffs(page):
    charts = json.loads(re.search(r'id="charts-data">(.*?)</script>', page.read_text(), re.DOTALL)[1])
    for name in ("cliff comb", "cliff halloc"):  # Halloc has no time for 16 B and a million threads
        colours = {}
        for trace in charts[name]["data"]:
            if trace["yaxis"] in ("y", "y3") and trace["x"] != [None]:
                colours.setdefault(trace["name"].partition(",")[0], set()).add(trace["line"]["color"])
        assert {size: len(found) for size, found in colours.items()} == {"16 B": 1, "64 B": 1} and colours["16 B"] != colours["64 B"]


def test_a_map_shows_failures_as_words_and_factors_as_colours(tmp_path):
    config = {**LINES, "plot": {"kind": "heatmap", "x": "request_bytes", "y": "total", "reference": "comb"}}
    cells = [synthetic.cell("comb", {"request_bytes": size}, values={("total", "time"): 1e-5}) for size in (16, 64)]
    cells.append(synthetic.cell("halloc", {"request_bytes": 16}, values={("total", "time"): 1e-4}))
    cells.append(synthetic.cell("halloc", {"request_bytes": 64}, status="timeout", reason="too slow"))
    synthetic.write(tmp_path, config, cells, "cuda")
    text = build.page_of(runs_of(tmp_path), []).text
    colours, words = json.loads(re.search(r'id="charts-data">(.*?)</script>', text, re.DOTALL)[1])["vinkler2015_fig9_cuda"]["data"]
    assert colours["z"] == [[None, None], [1.0, None]], "ten times is one decade; a reference and a failure have no colour"
    assert words["text"] == ["10", "10", style.STATUS_SHORT["timeout"]]


def test_a_map_of_several_metrics_has_a_column_for_each(tmp_path):
    plot = {"kind": "heatmap", "x": "request_bytes", "y": "", "metric": ["p50", "p99"], "reference": "comb"}
    cells = [
        synthetic.cell(name, {"request_bytes": size}, values={("", "p50"): 1e-6 * factor, ("", "p99"): 1e-5 * factor})
        for name, factor in (("comb", 1), ("halloc", 10))
        for size in (16, 64)
    ]
    synthetic.write(tmp_path, {**LINES, "plot": plot}, cells, "cuda")
    made = build.page_of(runs_of(tmp_path), [])
    assert made.problems == []
    assert _charts(made.text)["vinkler2015_fig9_cuda"]["data"][0]["z"] == [[None] * 4, [1.0] * 4]


def _table_of(text, section):
    """Returns the first table of a section, as lists of the texts of its rows."""
    rows = re.findall(r"<tr[^>]*>(.*?)</tr>", re.search(rf'<section id="{section}">.*?<tbody>(.*?)</tbody>', text, re.DOTALL)[1], re.DOTALL)
    return [[re.sub("<[^>]+>", " ", cell).strip() for cell in re.findall(r"<t[dh][^>]*>(.*?)</t[dh]>", row)] for row in rows]


def test_the_fronts_stand_in_a_table(page):
    text = page.read_text()
    rows = _table_of(text, "costs")
    assert [row[1] for row in rows] == ["Comb (our own)"], "CoRW takes more of all three, Halloc too; CMalloc is broken, AtomicMalloc never frees"
    assert rows[0][5:7] == ["600 µs", "0.78 %"] and rows[0][8] == "any size"
    marks = {trace["name"]: trace for trace in _charts(text)["costs"]["data"]}
    assert marks["Comb (our own)"]["meta"]["number"] == 1 and "number" not in marks["Halloc (published)"]["meta"]


def test_a_front_of_one_size_does_not_hide_that_of_any_size():
    def point(name, slower, memory, registers, restrictions=()):
        entry = {"id": name, "registers": registers, "frees": True, "finding": "", "form": "published", "survived": [9, 9], "restrictions": restrictions}
        return costs.Point(entry, slower, memory)

    points = [point("page", 1, 1, 10, [table.ONE_SIZE]), point("any", 2, 2, 20), point("beaten", 3, 3, 30)]
    assert costs.front(points) == {"page"} and costs.numbered(points) == {"page": 1, "any": 2}
    points[1].entry["finding"] = "races"
    assert costs.numbered(points) == {"page": 1, "beaten": 2}, "what the bug search breaks is not a rival"


def test_every_mark_and_letter_of_a_form_is_explained(page):
    text = page.read_text()
    assert "The mark shows the form: circle published, diamond reworked, open square original, triangle our own, thin cross ablation." in text
    assert text.count("The mark shows the form") == 2, "of the costs and of the tax"
    assert "p published, r reworked, o original, w our own, a ablation" in text
    assert all(symbol in charts._SHAPES for symbol in charts.SYMBOLS.values())


def test_the_tax_names_the_least_and_the_most(page):
    assert _table_of(page.read_text(), "tax") == [["hash join", "Comb (our own)  3  Halloc, reworked  4.5  Halloc (published)  15", "Halloc (published)  15", "1.7"]]


def test_the_tax_of_provisional_times_is_marked(tmp_path):
    made = guide.write(tmp_path)
    synthetic.change(made / "guide/hash_join", list(guide.NAMES).index("comb"), provisional=True)
    found = table.of(runs_of(made))
    assert "Comb (our own) <b>~3</b>" in tax.summary(found) and "Halloc (published) <b>15</b>" in tax.summary(found)
    trace, = [each for each in tax.chart(found)["data"] if each["name"] == "Comb (our own)"]
    assert trace["marker"]["symbol"] == ["triangle-up-open-dot"] and trace["text"][0].endswith(", provisional")


def _charts(text):
    return json.loads(re.search(r'id="charts-data">(.*?)</script>', text, re.DOTALL)[1])


def test_a_line_figure_has_the_stated_band_and_position_and_names_what_has_no_value(tmp_path):
    position = {"at": 32, "source": "faster beyond 32 B (paper)"}
    band = {"metric": "time", "between": [2, 4], "of": "comb", "source": "2 to 4 times Comb (paper)"}
    cells = [synthetic.cell("comb", {"request_bytes": size}, values={("total", "time"): 1e-5}) for size in (16, 64)]
    cells += [synthetic.cell("halloc", {"request_bytes": 16}, values={("total", "time"): 1e-4})]
    cells += [synthetic.cell("halloc", {"request_bytes": 64}, status="timeout", reason="too slow")]
    synthetic.write(tmp_path, {**LINES, "plot": {**LINES["plot"], "bands": [band], "positions": [position]}}, cells, "cuda")
    text = build.page_of(runs_of(tmp_path), []).text
    drawn = {trace.get("fill", "line"): trace["y"] for trace in _charts(text)["vinkler2015_fig9_cuda"]["data"] if trace["name"] == band["source"]}
    assert drawn == {"line": [2e-5, 2e-5], "tonexty": [4e-5, 4e-5]}
    upright, = [trace for trace in _charts(text)["vinkler2015_fig9_cuda"]["data"] if trace["name"] == position["source"]]
    assert upright["x"] == [32, 32] and upright["y"] == [1e-5, 1e-4]
    assert "Not in the chart. Halloc: timeout at 64 B." in text


def test_figures_show_forms_that_no_answer_has(tmp_path):
    """A figure may be about an ablation or a delayed form. Answers leave both out unless readers ask for them."""
    names = {"comb": "own", "halloc": "published", "c_malloc_no_merge": "ablation", "delayed_comb": "delayed"}
    cells = [synthetic.cell(name, {"request_bytes": size}, values={("total", "time"): 1e-6 * size}) for name in names for size in (16, 64)]
    synthetic.write(tmp_path, {**LINES, "allocators": list(names), "plot": {**LINES["plot"], "marks": []}}, cells, "cuda")
    for number, name in enumerate(name for name in names for _ in (16, 64)):
        synthetic.change(tmp_path, number, form=names[name])
    data = _charts(build.page_of(runs_of(tmp_path), []).text)["vinkler2015_fig9_cuda"]["data"]
    assert {trace["meta"]["allocator"]: trace["meta"]["form"] for trace in data} == {"comb": "own", "halloc": "published", "c_malloc_no_merge": "", "delayed_comb": ""}


def test_panels_of_one_row_share_their_title(tmp_path):
    """Each row has one metric, so only its first panel has a title. On a phone, the other panels get this title too
    (static/charts.js).
    """
    cells = [synthetic.cell("comb", {"request_bytes": size, "threads": threads}, values={("total", "time"): 1e-6 * size, ("total", "operations"): 7})
             for size in (16, 64) for threads in (1, 2)]
    plot = {**LINES["plot"], "marks": [], "panels": "threads", "metric": ["time", "throughput"]}
    synthetic.write(tmp_path, {**LINES, "allocators": ["comb"], "plot": plot}, cells, "cuda")
    layout = _charts(build.page_of(runs_of(tmp_path), []).text)["vinkler2015_fig9_cuda"]["layout"]
    assert [layout[f"yaxis{number}"]["title"]["text"] for number in ("", 2, 3, 4)] == ["time", "", "operations per second", ""]


def test_papers_are_headed_by_their_authors():
    class Run:
        def __init__(self, name, paper=""):
            self.name, self.config = name, {"paper": paper} if paper else {}

    assert ledger.titled(Run("survey2021/scaling", "Winter et al., PPoPP'21, Fig. 9")) == "Winter et al. 2021"
    assert ledger.titled(Run("pham2025/fig2", "Pham et al. 2025, Fig. 2")) == "Pham et al. 2025"
    assert ledger.titled(Run("aa")) == "Beyond the papers: aa"


def test_without_a_guide_the_page_says_not_measured(folder, tmp_path):
    text = build.page_of([results.read_run(folder / "fig9")], []).text
    assert "Not measured: these results contain no results of the guide." in text and 'id="question"' not in text


def test_what_cannot_be_read_is_listed_and_the_rest_is_shown(tmp_path, capsys):
    made = guide.write(tmp_path)
    (made / "guide" / "fill" / "results.json").write_text('{"allocbench": {"format": 2')
    assert cli.main(["page", str(made)]) == 2
    assert "guide/fill/results.json:1 is not JSON" in capsys.readouterr().err
    text = (made / "report.html").read_text()
    assert "guide/fill/results.json:1 is not JSON" in text and 'data-allocator="comb"' in text


def test_a_run_without_its_results_is_named(tmp_path, capsys):
    made = guide.write(tmp_path)
    (made / "guide" / "fill" / "results.json").unlink()
    (made / "guide" / "fill" / "events.jsonl").write_text("")
    (made / "guide" / "mixed" / "results.json").unlink()
    (made / "guide" / "mixed" / "events.jsonl.xz").write_bytes(b"")
    assert cli.main(["page", str(made)]) == 2
    told = capsys.readouterr().err
    assert "guide/fill contains no results.json. If a run was interrupted: Write it again with: allocbench report" in told
    assert "guide/mixed contains no results.json. If a run was interrupted: Unpack events.jsonl.xz, then write it again with" in told


def test_a_page_of_kept_results_says_that_they_are_of_one_card(folder, monkeypatch):
    line = "These results come from this card only. The order on other cards is unknown."
    assert line not in build.page_of(runs_of(folder), []).text
    monkeypatch.setattr(kept, "REFERENCE", folder.resolve())
    assert f'<p class="none">{line} ' in build.page_of(runs_of(folder), []).text


def test_another_device_is_left_out_and_named(tmp_path, capsys):
    made = guide.write(tmp_path)
    other = made / "guide" / "fill" / "results.json"
    other.write_text(other.read_text().replace(synthetic.DEVICE, "another device"))
    assert cli.main(["page", str(made)]) == 2
    told = capsys.readouterr().err
    assert "guide/fill: measured on another device (cuda), while this page is about TEST DATA" in told


def test_runs_of_relative_and_absolute_folders_are_named_together(tmp_path, monkeypatch):
    made = guide.write(tmp_path / "a")
    for name in ("fill", "mixed"):
        other = made / "guide" / name / "results.json"
        other.write_text(other.read_text().replace(synthetic.DEVICE, "another device"))
    monkeypatch.chdir(tmp_path)
    runs = [*runs_of(made / "guide/small"), *runs_of(made / "guide/setup"), *runs_of(made / "guide/hash_join"), *runs_of(made / "guide/fill"), *runs_of(Path("a/guide/mixed"))]
    assert f"{made / 'guide'}: 2 runs measured on another device (cuda)" in build.page_of(runs, []).problems[0]


def test_a_run_without_a_measured_cell_is_of_no_other_device(tmp_path, capsys):
    synthetic.write(tmp_path / "a", {**LINES, "name": "vinkler2015/none"}, [synthetic.cell("comb", {"request_bytes": 16}, status="skipped", reason="no time")], "cuda")
    first = tmp_path / "a" / "results.json"
    document = json.loads(first.read_text())
    document["allocbench"]["device"] = None
    first.write_text(json.dumps(document))
    synthetic.write(tmp_path / "b", LINES, [synthetic.cell(name, {"request_bytes": size}, values={("total", "time"): 1e-5}) for name in LINES["allocators"] for size in (16, 64)], "cuda")
    made = build.page_of(runs_of(tmp_path), [])
    assert "vinkler2015_fig9_cuda" in _charts(made.text) and f"<p>Measured on <b>{synthetic.DEVICE}</b>, 2026-01-02</p>" in made.text
    assert not any("while this page is about" in problem for problem in made.problems)
    alone = build.page_of(runs_of(tmp_path / "a"), [])
    assert "Measured on <b>device unknown</b>" in alone.text


def test_a_guide_with_an_unmeasured_run_has_one_device(tmp_path):
    made = guide.write(tmp_path)
    path = made / "guide" / "fill" / "results.json"
    document = json.loads(path.read_text())
    document["allocbench"]["device"] = None
    path.write_text(json.dumps(document))
    assert table.of(runs_of(made))["device"] == synthetic.DEVICE


def test_the_header_is_about_the_guide_if_other_runs_differ(folder, tmp_path):
    made = guide.write(tmp_path)
    alike = f"<p>Measured on <b>{synthetic.DEVICE}</b>, 2026-01-02, allocbench 0.1.0 (abc1234)</p>"
    assert alike in build.page_of(runs_of(folder), []).text
    synthetic.write(made / "fig9", LINES, [synthetic.cell(name, {"request_bytes": 16}, values={("total", "time"): 1e-5}) for name in LINES["allocators"]], "cuda")
    path = made / "fig9" / "results.json"
    path.write_text(path.read_text().replace("abc1234", "def5678").replace("2026-01-02", "2026-02-03"))
    text = build.page_of(runs_of(made), []).text
    assert f"<p>The guide: measured on <b>{synthetic.DEVICE}</b>, 2026-01-02, allocbench 0.1.0 (abc1234). Other runs: each figure names its device, date and revision.</p>" in text
    assert "2026-02-03 · 0.1.0 (def5678)" in text


def test_quotes_in_charts_are_quotes():
    """Plotly shows `&quot;` literally, but it needs `&lt;`."""
    assert ledger._wrapped('"a" <b') == ['"a" &lt;b'] and charts.escaped("it's \"x\" & y") == "it's \"x\" &amp; y"
    for name in ("graphs", "maps", "ledger"):
        of_charts = (build._STATIC.parent / f"{name}.py").read_text().partition("def tables(")[0]
        assert "html.escape(" not in of_charts, name


def test_results_of_another_format_are_named(tmp_path, capsys):
    made = guide.write(tmp_path)
    path = made / "guide" / "mixed" / "results.json"
    path.write_text(path.read_text().replace('"format": 2', '"format": 7'))
    assert cli.main(["page", str(made)]) == 2
    assert "guide/mixed/results.json:1 has the format 7; this version reads 2" in capsys.readouterr().err


def test_nothing_to_show_is_said(tmp_path, capsys):
    (tmp_path / "run").mkdir()
    assert cli.main(["page", str(tmp_path)]) == 3
    assert "contains no results.json" in capsys.readouterr().err


def test_names_cannot_leave_their_place(tmp_path):
    config = {**LINES, "description": "</script><script>alert(1)</script>"}
    synthetic.write(
        tmp_path / "run", config, [synthetic.cell("comb", {"request_bytes": size}, values={("total", "time"): 1e-5}) for size in (16, 64)], "cuda"
    )
    text = build.page_of(runs_of(tmp_path), []).text
    assert "<script>alert" not in text


def test_a_missing_library_names_its_package(folder, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "plotly.offline", None)
    monkeypatch.delitem(sys.modules, "plots.webpage.build")
    monkeypatch.delattr(plots.webpage, "build")
    assert cli.main(["page", str(folder), "--out", str(folder / "none.html")]) == 2
    assert "apt-get install python3-plotly python3-markdown" in capsys.readouterr().err


def test_what_was_not_measured_is_a_dot_and_few_cells_make_no_mean(tmp_path):
    made = guide.write(tmp_path)
    for name in ("small", "fill", "hash_join"):
        path = made / "guide" / name / "results.json"
        document = json.loads(path.read_text())
        document["allocbench"]["cells"] = [cell for cell in document["allocbench"]["cells"] if cell["allocator"] != "halloc_reworked"]
        path.write_text(json.dumps(document))
    row = re.search(r'<tr data-allocator="halloc_reworked".*?</tr>', build.page_of(runs_of(made), []).text)[0]
    assert row.count('<td class="unknown" title="not measured">·</td>') == 4 + 2 + 1
    assert 'class="few" title="over 2 of 9 cells: not to be compared with the others"' in row


def test_what_the_time_did_not_last_for_is_a_dot_with_the_reason(tmp_path):
    made = guide.write(tmp_path)
    late = "put off until all others were measured (kma lost workers in 3 configs); then the time of --minutes was used up"
    synthetic.change(made / "guide" / "hash_join", _place(made / "guide" / "hash_join", "halloc_reworked"), status="skipped", reason=late)
    row = re.search(r'<tr data-allocator="halloc_reworked".*?</tr>', build.page_of(runs_of(made), []).text)[0]
    assert re.search(r'<td class="unknown" title="not measured: the study&#x27;s time was over, or the device has too little memory for the pool \(put off [^"]*">·</td>', row)
    assert 'title="8 of 9 ok; 1 of these not measured: the study\'s time was over, or the device has too little memory for the pool"' in row


def _place(folder, allocator):
    cells = json.loads((folder / "results.json").read_text())["allocbench"]["cells"]
    return next(number for number, cell in enumerate(cells) if cell["allocator"] == allocator)


def test_a_page_leads_only_to_what_it_has(page, folder):
    nav = re.compile(r"<nav>(.*?)</nav>", re.DOTALL)
    for text in (page.read_text(), build.page_of([results.read_run(folder / "fig9")], []).text):
        named = re.findall('href="#([a-z]+)"', nav.search(text)[1])
        assert named == re.findall('<section id="([a-z]+)"', text)


def test_places_on_an_axis_have_their_unit():
    axis = charts.axis("time", True, [2.6e-10, 5.2e-10], unit="s")
    assert [text for place, text in zip(axis["tickvals"], axis["ticktext"]) if 2.6e-10 < place < 5.2e-10] == ["300 ps", "400 ps", "500 ps"]
    wide = charts.axis("time", True, [1e-6, 4e-5], unit="s")
    assert [text for place, text in zip(wide["tickvals"], wide["ticktext"]) if 1e-6 <= place <= 4e-5] == ["1 µs", "2 µs", "5 µs", "10 µs", "20 µs"]
    decades = charts.axis("time", True, [1e-6, 1e-3], unit="s")
    assert [text for place, text in zip(decades["tickvals"], decades["ticktext"]) if 1e-6 <= place <= 1e-3] == ["1 µs", "10 µs", "100 µs", "1 ms"]
    assert charts.axis("threads", True, [1000, 1e6])["ticktext"][1:5] == ["1 k", "10 k", "100 k", "1 M"]
    factors = charts.axis("factor", True, [2, 30], factors=True)
    assert factors["tickformat"] == ",~r" and "tickvals" not in factors, "0.5, not 500 m"


@pytest.mark.parametrize("zeros, told, kind", [((0.0, 0.0), ["Halloc: 0 at 16 B to 64 B."], "log"), ((0.0, 1.0), [], None)])
def test_zeros_are_drawn_or_named_as_in_the_static_figure(tmp_path, zeros, told, kind):
    cells = [synthetic.cell(name, {"request_bytes": size}, values={("", "steps_per_malloc"): steps})
             for name, own in (("c_malloc", (1.0, 2.0)), ("halloc", zeros)) for size, steps in zip((16, 64), own)]
    plot = {**LINES["plot"], "y": "", "metric": "steps_per_malloc", "log": "y"}
    shown = lines.resolve(results.read_run(synthetic.write(tmp_path, {**LINES, "allocators": ["c_malloc", "halloc"], "plot": plot}, cells, "cuda")))
    made = graphs.chart(shown)
    assert graphs.without_a_value(shown) == told and made["layout"]["yaxis"].get("type") == kind
    assert {trace["name"]: trace["y"] for trace in made["data"]} == {"CMalloc": [1.0, 2.0], **({} if told else {"Halloc": list(zeros)})}


def test_a_linear_axis_has_one_prefix(tmp_path):
    cells = [synthetic.cell("comb", {"request_bytes": size}, values={("total", "time"): (1e-6 * size, 0.9e-6 * size, 1.2e-6 * size)}) for size in (16, 64)]
    synthetic.write(tmp_path, {**LINES, "allocators": ["comb"], "plot": {**LINES["plot"], "log": "x", "marks": []}}, cells, "cuda")
    chart = _charts(build.page_of(runs_of(tmp_path), []).text)["vinkler2015_fig9_cuda"]
    (line,) = chart["data"]
    assert line["y"] == pytest.approx([16, 64]) and line["error_y"]["array"] == pytest.approx([3.2, 12.8])
    assert chart["layout"]["yaxis"]["ticksuffix"] == " µs" and chart["layout"]["xaxis"]["ticktext"] == ["16 B", "64 B"]
    assert line["text"] == ["16 B: 16 µs ±20 %", "64 B: 64 µs ±20 %"]


def test_one_sentence_is_one():
    assert [quantity.counted(count, "sentence") for count in (0, 1, 2)] == ["0 sentences", "1 sentence", "2 sentences"]


@pytest.mark.parametrize("group", ["beyond", "comb", "current2026"])
def test_charts_of_kept_results(group):
    """The kept results have every kind of plot, drawn as the current configs say."""
    runs, failures = newest.read([str(kept.REFERENCE / "h200" / group)], inputs.Overrides(configs.FOLDER))
    assert runs and not failures
    drawn = {run.name for run in runs if (kind := figures.INTERACTIVE.get(run.plot["kind"])) and kind.chart(kind.resolve(run))}
    assert drawn == {run.name for run in runs if run.plot["kind"] in ("lines", "heatmap")}


def test_the_page_stands_in_the_folder_of_a_file_or_a_pattern(tmp_path, monkeypatch):
    monkeypatch.setattr(build, "page_of", lambda runs, problems, tell: build.Page("the page", []))
    synthetic.write(tmp_path / "a", LINES, [synthetic.cell("comb", {"request_bytes": 16}, values={("total", "time"): 1e-5})], "cuda")
    assert cli.main(["page", str(tmp_path / "*")]) == 0 and cli.main(["page", str(tmp_path / "a" / "results.json")]) == 0
    assert sorted(path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*.html")) == ["a/report.html", "report.html"]


def test_a_page_that_cannot_be_written_is_one_sentence(tmp_path, capsys):
    synthetic.write(tmp_path, LINES, [synthetic.cell("comb", {"request_bytes": 16}, values={("total", "time"): 1e-5})], "cuda")
    assert cli.main(["page", str(tmp_path), "--out", str(tmp_path)]) == 2
    assert f"--out {tmp_path} is a folder. Name the file" in capsys.readouterr().err
    assert cli.main(["page", str(tmp_path), "--out", str(tmp_path / "results.json" / "page.html")]) == 2
    told = capsys.readouterr().err
    assert "cannot be written: " in told and "reading the results" not in told


def test_the_legend_of_scatter_plots_names_the_family_of_every_colour(page):
    for name in ("costs", "setup", "tax"):
        chart = _charts(page.read_text(encoding="utf-8"))[name]
        marks = [trace for trace in chart["data"] if "meta" in trace]
        named = {trace["legendgroup"]: trace for trace in chart["data"] if trace["x"] == [None]}
        assert chart["layout"]["showlegend"] and marks
        assert {trace["legendgroup"] for trace in marks} == set(named) and not any(trace["showlegend"] for trace in marks)
        for trace in marks:
            key = named[trace["legendgroup"]]
            assert key["showlegend"] and key["marker"]["color"] == trace["marker"]["color"]
            assert key["name"] == style.family_names().get(trace["meta"]["family"], "others")
        assert len({trace["marker"]["color"] for trace in marks}) == len(named)
