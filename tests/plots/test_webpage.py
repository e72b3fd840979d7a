"""The page: self-contained, honest about what it lacks, and in a real browser the same ranking as the command line."""

import json
import os
import re
import shutil
import sys
import time

from allocbench import stored
import guide
import pytest
import synthetic

import plots.webpage
from plots import cli, heatmap, results
from plots.advice import engine, question, table
from plots.webpage import build, costs, ledger

pytest.importorskip("plotly")

LINES = {
    "name": "vinkler2015/fig9",
    "paper": "Test data",
    "description": "Lines",
    "allocators": ["comb", "halloc"],
    "workload": {"id": "alloc_free"},
    "sweep": {"request_bytes": [16, 64]},
    "plot": {
        "kind": "lines",
        "x": "request_bytes",
        "y": "total",
        "metric": "time",
        "log": "xy",
        "marks": [{"metric": "time", "phase": "total", "where": {"request_bytes": 16}, "value": 1e-5, "source": "fig. 9", "allocator": "halloc"}],
    },
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = guide.write(tmp_path_factory.mktemp("page"))
    cells = [
        synthetic.cell(name, {"request_bytes": size}, values={("total", "time"): 1e-5 * size * factor})
        for name, factor in (("comb", 1), ("halloc", 2))
        for size in (16, 64)
    ]
    synthetic.write(made / "fig9", LINES, cells, "cuda")
    return made


@pytest.fixture(scope="module")
def page(folder):
    out = folder / "report.html"
    assert cli.main(["page", str(folder)]) == 0
    return out


def _runs(folder):
    return [results.read_run(each) for each in stored.find_runs(folder)]


def test_the_page_needs_nothing_else(page):
    text = page.read_text()
    assert not re.search(r'(?:src|href)="(?!data:|#)', text), "nothing is loaded from elsewhere"
    assert "@import" not in text and "url(" not in text


def test_the_same_results_give_the_same_page(folder):
    assert build.page_of(_runs(folder), []).text == build.page_of(_runs(folder), []).text


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
    assert [(star["x"], star["y"], star["name"]) for star in stars] == [([16.0], [1e-5], "paper: fig. 9")]


def test_cliffs_show_the_tail_of_single_calls(page):
    charts = json.loads(re.search(r'id="charts-data">(.*?)</script>', page.read_text(), re.DOTALL)[1])
    tails = {trace["name"]: trace["y"] for trace in charts["cliff comb"]["data"] if trace["yaxis"] == "y3"}
    assert tails["50 % of mallocs, 64 B"] == [6000, 6000] and tails["99.9 % of mallocs, 64 B"] == [54000, 54000]
    assert charts["cliff comb"]["layout"]["yaxis3"]["title"]["text"] == "cycles of a malloc"


def test_a_map_shows_failures_as_words_and_factors_as_colours(tmp_path):
    config = {**LINES, "plot": {"kind": "heatmap", "x": "request_bytes", "y": "total", "reference": "comb"}}
    cells = [synthetic.cell("comb", {"request_bytes": size}, values={("total", "time"): 1e-5}) for size in (16, 64)]
    cells.append(synthetic.cell("halloc", {"request_bytes": 16}, values={("total", "time"): 1e-4}))
    cells.append(synthetic.cell("halloc", {"request_bytes": 64}, status="timeout", reason="too slow"))
    synthetic.write(tmp_path, config, cells, "cuda")
    text = build.page_of(_runs(tmp_path), []).text
    colours, words = json.loads(re.search(r'id="charts-data">(.*?)</script>', text, re.DOTALL)[1])["vinkler2015_fig9_cuda"]["data"]
    assert colours["z"] == [[None, None], [1.0, None]], "ten times is one decade; a reference and a failure have no colour"
    assert words["text"] == ["10", "10", heatmap.SHORT["timeout"]]


def _table_of(text, section):
    """The first table of a section, as lists of the texts of its rows."""
    rows = re.findall(r"<tr>(.*?)</tr>", re.search(rf'<section id="{section}">.*?<tbody>(.*?)</tbody>', text, re.DOTALL)[1], re.DOTALL)
    return [[re.sub("<[^>]+>", " ", cell).strip() for cell in re.findall(r"<t[dh][^>]*>(.*?)</t[dh]>", row)] for row in rows]


def test_the_fronts_stand_in_a_table(page):
    text = page.read_text()
    rows = _table_of(text, "costs")
    assert [row[1] for row in rows] == ["Comb (our own)"], "CoRW takes more of all three, Halloc too; CMalloc is broken, AtomicMalloc never frees"
    assert rows[0][5:7] == ["600 µs", "0.78 %"] and rows[0][8] == "any size"
    marks = {trace["name"]: trace for trace in _charts(text)["costs"]["data"]}
    assert marks["Comb (our own)"]["text"] == ["<b>1</b>"] and marks["Halloc (published)"]["text"] == [""]


def test_a_front_of_one_size_does_not_hide_that_of_any_size():
    def point(name, slower, memory, registers, restrictions=()):
        entry = {"id": name, "registers": registers, "frees": True, "finding": "", "form": "published", "survived": [9, 9], "restrictions": restrictions}
        return costs.Point(entry, slower, memory)

    points = [point("page", 1, 1, 10, [table.ONE_SIZE]), point("any", 2, 2, 20), point("beaten", 3, 3, 30)]
    assert costs.front(points) == {"page"} and costs.numbered(points) == {"page": 1, "any": 2}
    points[1].entry["finding"] = "races"
    assert costs.numbered(points) == {"page": 1, "beaten": 2}, "what the bug search breaks is no rival"


def test_the_tax_names_the_least_and_the_most(page):
    assert _table_of(page.read_text(), "tax") == [["hash join", "Comb (our own)  3  Halloc, reworked  4.5  Halloc (published)  15", "Halloc (published)  15", "1.7"]]


def _charts(text):
    return json.loads(re.search(r'id="charts-data">(.*?)</script>', text, re.DOTALL)[1])


def test_a_line_figure_has_the_stated_band_and_names_what_has_no_value(tmp_path):
    band = {"metric": "time", "between": [2, 4], "of": "comb", "source": "2 to 4 times Comb (paper)"}
    cells = [synthetic.cell("comb", {"request_bytes": size}, values={("total", "time"): 1e-5}) for size in (16, 64)]
    cells += [synthetic.cell("halloc", {"request_bytes": 16}, values={("total", "time"): 1e-4})]
    cells += [synthetic.cell("halloc", {"request_bytes": 64}, status="timeout", reason="too slow")]
    synthetic.write(tmp_path, {**LINES, "plot": {**LINES["plot"], "bands": [band]}}, cells, "cuda")
    text = build.page_of(_runs(tmp_path), []).text
    drawn = {trace.get("fill", "line"): trace["y"] for trace in _charts(text)["vinkler2015_fig9_cuda"]["data"] if trace["name"] == band["source"]}
    assert drawn == {"line": [2e-5, 2e-5], "tonexty": [4e-5, 4e-5]}
    assert "Without a value. Halloc: timeout at 64 B." in text


def test_papers_are_headed_by_their_authors():
    class Run:
        def __init__(self, name, paper=""):
            self.name, self.config = name, {"paper": paper} if paper else {}

    assert ledger.titled(Run("survey2021/scaling", "Winter et al., PPoPP'21, Fig. 9")) == "Winter et al. 2021"
    assert ledger.titled(Run("pham2025/fig2", "Pham et al. 2025, Fig. 2")) == "Pham et al. 2025"
    assert ledger.titled(Run("aa")) == "Beyond the papers: aa"


def test_without_a_guide_the_page_says_not_measured(folder, tmp_path):
    text = build.page_of([results.read_run(folder / "fig9")], []).text
    assert "Not measured: these results hold no guide." in text and 'id="question"' not in text


def test_what_cannot_be_read_is_listed_and_the_rest_is_shown(tmp_path, capsys):
    made = guide.write(tmp_path)
    (made / "guide" / "fill" / "results.json").write_text('{"allocbench": {"format": 2')
    assert cli.main(["page", str(made)]) == 2
    assert "guide/fill/results.json:1 is not JSON" in capsys.readouterr().err
    text = (made / "report.html").read_text()
    assert "guide/fill/results.json:1 is not JSON" in text and 'data-allocator="comb"' in text


def test_another_device_is_left_out_and_named(tmp_path, capsys):
    made = guide.write(tmp_path)
    other = made / "guide" / "fill" / "results.json"
    other.write_text(other.read_text().replace(synthetic.DEVICE, "another device"))
    assert cli.main(["page", str(made)]) == 2
    told = capsys.readouterr().err
    assert "guide/fill: measured on another device (cuda), while this page is about TEST DATA" in told


def test_results_of_another_format_are_named(tmp_path, capsys):
    made = guide.write(tmp_path)
    path = made / "guide" / "mixed" / "results.json"
    path.write_text(path.read_text().replace('"format": 2', '"format": 7'))
    assert cli.main(["page", str(made)]) == 2
    assert "guide/mixed/results.json:1 has the format 7; this version reads 2" in capsys.readouterr().err


def test_nothing_to_show_is_said(tmp_path, capsys):
    (tmp_path / "run").mkdir()
    assert cli.main(["page", str(tmp_path)]) == 3
    assert "contains no results.csv" in capsys.readouterr().err


def test_names_cannot_leave_their_place(tmp_path):
    config = {**LINES, "description": "</script><script>alert(1)</script>"}
    synthetic.write(
        tmp_path / "run", config, [synthetic.cell("comb", {"request_bytes": size}, values={("total", "time"): 1e-5}) for size in (16, 64)], "cuda"
    )
    text = build.page_of(_runs(tmp_path), []).text
    assert "<script>alert" not in text


def test_a_missing_library_names_its_package(folder, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "plotly.offline", None)
    monkeypatch.delitem(sys.modules, "plots.webpage.build")
    monkeypatch.delattr(plots.webpage, "build")
    assert cli.main(["page", str(folder), "--out", str(folder / "none.html")]) == 2
    assert "apt-get install python3-plotly python3-markdown" in capsys.readouterr().err


# In a browser ---------------------------------------------------------------------------------------------------------


def _browser(width: int, dark: bool = False):
    webdriver = pytest.importorskip("selenium.webdriver")
    from selenium.webdriver.chrome.service import Service

    chromium, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if not chromium or not driver:
        pytest.skip("chromium and chromium-driver are not installed: tools/install-dependencies.sh --dev")
    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    for argument in ("--headless=new", "--disable-dev-shm-usage", "--disable-gpu", *(["--no-sandbox"] if os.geteuid() == 0 else [])):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    made = webdriver.Chrome(service=Service(driver), options=options)
    made.set_page_load_timeout(60)
    made.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": width < 500})
    if dark:
        made.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": "dark"}]})
    return made


@pytest.fixture(scope="module")
def wide():
    browser = _browser(1200)
    yield browser
    browser.quit()


def _open(browser, page, fragment=""):
    browser.get("about:blank")
    browser.get(f"file://{page}{fragment}")


def _wait(browser, script: str):
    """Until the script is true; a page that is not ready in 20 seconds is broken."""
    end = time.monotonic() + 20
    while not (made := browser.execute_script(script)):
        assert time.monotonic() < end, f"still not: {script}"
        time.sleep(0.05)
    return made


def _complaints(browser) -> list:
    return [entry for entry in browser.get_log("browser") if entry["level"] in ("SEVERE", "WARNING")]


def _draw_all(browser):
    browser.execute_script(
        "document.querySelectorAll('details').forEach((each) => { each.open = true; });"
        "document.querySelectorAll('.chart').forEach((each) => Charts.draw(each));"
    )
    _wait(browser, "return [...document.querySelectorAll('.chart')].every((each) => each.dataset.drawn === 'yes')")


def test_the_page_loads_and_draws_without_complaint(wide, page):
    _open(wide, page)
    _draw_all(wide)
    assert wide.execute_script("return document.querySelectorAll('.js-plotly-plot').length") == 5  # costs, set-up, cliffs, tax, one figure
    assert _complaints(wide) == []


@pytest.mark.parametrize("width, dark", [(360, False), (360, True)])
def test_a_phone_shows_it_all_without_scrolling_sideways(page, width, dark):
    browser = _browser(width, dark)
    try:
        _open(browser, page)
        _draw_all(browser)
        assert browser.execute_script("return document.documentElement.scrollWidth") <= width
        assert browser.execute_script("return [...document.querySelectorAll('.chart')].every((each) => each.scrollWidth <= window.innerWidth)")
        back = browser.execute_script("return getComputedStyle(document.body).backgroundColor")
        assert (sum(map(int, re.findall(r"\d+", back)[:3])) < 150) == dark
        assert _complaints(browser) == []
    finally:
        browser.quit()


QUESTIONS = [
    {"sizes": "48", "threads": "1M", "pool": "1GiB"},
    {"sizes": "16-4096", "threads": "100k", "pool": "1GiB", "fill": "90%"},
    {"sizes": "16", "threads": "1000", "pool": "1GiB"},
    {"sizes": "16", "threads": "1M", "pool": "1GiB", "must_free": False},
    {"sizes": "64", "threads": "1M", "pool": "1GiB", "budget": "100MiB"},
    {"sizes": "16-4096", "threads": "100k", "pool": "1GiB", "any_size": True},
    {"sizes": "256", "threads": "10k", "pool": "128MiB", "fill": "0.9"},
    {"sizes": "64", "threads": "20k", "pool": "1GiB", "lifetime": "any"},
    {"sizes": "1", "threads": "1", "pool": "1TiB", "lanes": "1"},
    {"sizes": "16", "threads": "1000", "pool": "1GiB", "forms": question.FORMS},
    {"sizes": "33-777", "threads": "12,345", "pool": "3GiB", "lanes": "7"},
]


@pytest.mark.parametrize("words", QUESTIONS, ids=lambda words: "-".join(map(str, words.values()))[:40])
def test_page_and_command_line_rank_alike(wide, page, folder, words):
    asked = question.ask(**words)
    found = engine.answer(table.of(_runs(folder)), asked.data())
    if wide.current_url.split("#")[0] != f"file://{page}":
        _open(wide, page)
    typed = {key: value for key, value in words.items() if key not in ("must_free", "forms")}
    typed |= {"free": "yes" if asked.must_free else "no", "blocks": "any" if typed.pop("any_size", False) else "one"}
    told = wide.execute_script(
        """
        const found = Decision.answer(arguments[0], arguments[1]);
        const told = (group) => group.map((each) =>
          [each.entry.id, each.rank, each.slower, each.low, each.high, each.memory, each.ok, each.failed.length]);
        return {near: found.near.map((each) => [each.number, each.distance]),
                ranked: told(found.ranked), failing: told(found.failing), unsafe: told(found.unsafe),
                unable: told(found.unable), left_out: found.left_out.map((entry) => entry.id), front: [...Rank.front(found.ranked)].sort(),
                unmeasured: found.unmeasured.map((entry) => entry.id), sentence: Decision.sentence(arguments[0], arguments[1])};""",
        typed,
        list(asked.forms),
    )
    assert [number for number, _ in told["near"]] == [each.number for each in found.near]
    assert [distance for _, distance in told["near"]] == pytest.approx([each.distance for each in found.near])
    for group in ("ranked", "failing", "unsafe", "unable"):
        ours = getattr(found, group)
        assert [(each[0], each[1], each[6], each[7]) for each in told[group]] == [
            (each.entry["id"], each.rank, each.ok, len(each.failed)) for each in ours
        ]
        for theirs, each in zip(told[group], ours):
            assert theirs[2:6] == pytest.approx([each.slower, each.low, each.high, each.memory]), each.entry["id"]
    assert told["sentence"] == question.sentence(asked)
    assert told["unmeasured"] == [entry["id"] for entry in found.unmeasured]
    assert told["left_out"] == [entry["id"] for entry in found.left_out]
    assert told["front"] == sorted(engine.front(found.ranked))


def test_the_list_shown_is_the_ranking(wide, page, folder):
    _open(wide, page, "#s=16&t=1k")
    shown = wide.execute_script("return [...document.querySelectorAll('.ranking tbody tr')].map((row) => row.dataset.allocator)")
    found = engine.answer(table.of(_runs(folder)), question.ask("16", "1k", "1GiB").data())
    assert shown == [each.entry["id"] for each in found.ranked]
    beware = "return Object.fromEntries([...document.querySelectorAll('.ranking .beware')].map((words) => [words.closest('tr').dataset.allocator, words.textContent]))"
    assert wide.execute_script(beware) == {"corw_reworked": "serves one size of block only"}
    _open(wide, page, "#s=16&t=1k&z=any")
    assert "corw_reworked" not in wide.execute_script("return [...document.querySelectorAll('.ranking tbody tr')].map((row) => row.dataset.allocator)")
    told = wide.execute_script("return document.getElementById('ranking').textContent")
    assert "CoRW, reworked (serves one size of block only)" in told and "AtomicMalloc (published) (never frees)" in told


def test_the_cliffs_are_of_the_first_until_a_reader_chooses(wide, page, folder):
    _open(wide, page, "#s=16&t=1k&z=any")
    chosen = "return document.getElementById('cliff-allocator').value"
    assert wide.execute_script(chosen) == "comb"
    wide.execute_script("document.querySelector('.ranking tr[data-allocator=halloc] a').click()")
    assert wide.execute_script(chosen) == "halloc"
    wide.execute_script("const form = document.getElementById('question'); form.elements.sizes.value = '64'; form.dispatchEvent(new Event('input'))")
    assert wide.execute_script(chosen) == "halloc"


def test_the_address_keeps_the_question_and_stays_short(wide, page):
    _open(wide, page)
    assert wide.execute_script("return location.hash") == ""
    wide.execute_script(
        "const form = document.getElementById('question'); form.elements.sizes.value = '16-4096'; form.elements.fill.value = '90%';"
        "form.dispatchEvent(new Event('input'));"
    )
    address = wide.execute_script("return location.hash")
    assert address == "#s=16-4096&f=90%25"
    _open(wide, page, address)
    assert wide.execute_script("const form = document.getElementById('question'); return [form.elements.sizes.value, form.elements.fill.value]") == [
        "16-4096",
        "90%",
    ]


def test_filters_hide_rows_and_traces(wide, page):
    _open(wide, page, "#rows=all")
    _draw_all(wide)
    rows = "return [...document.querySelectorAll('.heat tbody tr')].filter((row) => !row.hidden && row.dataset.allocator).map((row) => row.dataset.allocator)"
    assert "c_malloc_no_merge" not in wide.execute_script(rows), "ablations are asked for"
    wide.execute_script("document.querySelector('#forms input[value=published]').click()")
    assert wide.execute_script(rows) == ["comb", "halloc_reworked", "corw_reworked"]
    assert wide.execute_script("return location.hash") == "#form=row&rows=all"
    _wait(wide, "return document.querySelector('[data-chart=costs]').data.every((trace) => trace.visible === ['own', 'reworked'].includes(trace.meta.form))")
    wide.execute_script(
        "const family = document.getElementById('family'); family.value = 'halloc'; family.dispatchEvent(new Event('input', {bubbles: true}))"
    )
    assert wide.execute_script(rows) == ["halloc_reworked"]
    assert _complaints(wide) == []


ROWS = "return [...document.querySelectorAll('.heat tbody tr')].filter((row) => !row.hidden).map((row) => row.dataset.allocator || `family ${row.dataset.group}`)"


def test_families_close_and_open(wide, page):
    _open(wide, page)
    closed = wide.execute_script(ROWS)
    assert "family halloc" in closed and "halloc" not in closed and "halloc_reworked" not in closed and "comb" in closed
    cell = "const cell = document.querySelector('[data-group=halloc]').cells[arguments[0]]; return [cell.textContent, cell.title.split(':')[0]]"
    shown, title = wide.execute_script(cell, 3)
    member = "return document.querySelector('.heat [data-allocator=halloc_reworked]').cells[3].textContent"
    assert (shown, title) == (wide.execute_script(member), "Halloc, reworked"), "the best of the family and its name"
    wide.execute_script("document.querySelector('[data-group=halloc] button').click()")
    opened = wide.execute_script(ROWS)
    assert opened[opened.index("family halloc") :][1:3] == ["halloc", "halloc_reworked"]
    wide.execute_script("document.querySelector('[data-group=halloc] button').click()")
    assert wide.execute_script(ROWS) == closed
    assert _complaints(wide) == []


def test_rows_by_their_mean_have_no_families(wide, page):
    _open(wide, page, "#rows=mean")
    shown = wide.execute_script(ROWS)
    assert not any(name.startswith("family") for name in shown) and len(shown) == len(guide.NAMES) - 1, "all but the ablation"
    means = wide.execute_script(
        "return [...document.querySelectorAll('.heat tbody tr')].filter((row) => !row.hidden).map((row) => Number(row.cells[1].dataset.f))"
    )
    assert means == sorted(means)


def test_what_was_not_measured_is_a_dot_and_few_cells_make_no_mean(tmp_path):
    made = guide.write(tmp_path)
    for name in ("small", "fill", "hash_join"):
        path = made / "guide" / name / "results.csv"
        lines = path.read_text().splitlines(keepends=True)
        path.write_text("".join(line for line in lines if ",halloc_reworked," not in line))
    row = re.search(r'<tr data-allocator="halloc_reworked".*?</tr>', build.page_of(_runs(made), []).text)[0]
    assert row.count('<td class="unknown" title="not measured">·</td>') == 4 + 2 + 1
    assert 'class="few" title="over 2 of 9 cells: not to be compared with the others"' in row


def test_a_mistake_is_told_beside_the_form(wide, page):
    _open(wide, page, "#s=big")
    assert wide.execute_script("return document.getElementById('mistake').textContent").startswith('Request sizes: "big" is not a size')
    _open(wide, page, "#p=1GB")
    assert wide.execute_script("return document.getElementById('mistake').textContent").startswith('Pool: "1GB" is not a size')
    _open(wide, page, "#life=nonsense&t=%3Cb%3E")
    assert "is not a number of threads" in wide.execute_script("return document.getElementById('mistake').textContent")
    assert wide.execute_script("return document.getElementById('ranking').textContent + document.getElementById('asked').textContent") == ""
    assert _complaints(wide) == []
