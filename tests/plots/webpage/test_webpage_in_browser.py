"""Tests the page in a real browser: it draws without errors, and ranks as the command line does."""

import re

import browser
import guide
import pytest
import synthetic
from webpage_runs import runs_of

from plots.advice import differences, engine, question, table, text
from plots.commands import cli

pytest.importorskip("plotly")
By = pytest.importorskip("selenium.webdriver.common.by").By
Select = pytest.importorskip("selenium.webdriver.support.ui").Select


def test_the_page_loads_and_draws_without_complaint(wide, page):
    browser.show(wide, page)
    browser.draw_all(wide)
    assert wide.execute_script("return document.querySelectorAll('.js-plotly-plot').length") == 5  # costs, set-up, cliffs, tax, one figure
    ticks = wide.execute_script("return [...document.querySelectorAll('.xtick text, .ytick text')].map((each) => each.textContent)")
    assert len(ticks) > 20 and [text for text in ticks if re.search(r"\d[a-zµ%]", text, re.IGNORECASE)] == [], "a space before every unit"
    assert browser.complaints(wide) == []


@pytest.mark.parametrize("width, dark", [(360, False), (360, True)])
def test_a_phone_shows_it_all_without_scrolling_sideways(page, width, dark):
    phone = browser.started(width, dark)
    try:
        browser.show(phone, page)
        browser.draw_all(phone)
        assert phone.execute_script("return document.documentElement.scrollWidth") <= width
        assert phone.execute_script("return [...document.querySelectorAll('.chart')].every((each) => each.scrollWidth <= window.innerWidth)")
        back = phone.execute_script("return getComputedStyle(document.body).backgroundColor")
        assert (sum(map(int, re.findall(r"\d+", back)[:3])) < 150) == dark
        assert browser.complaints(phone) == []
    finally:
        phone.quit()


QUESTIONS = [
    {"sizes": "48", "threads": "1M", "pool": "1GiB"},
    {"sizes": "16-4096", "threads": "100k", "pool": "1GiB", "fill": "90%"},
    {"sizes": "16", "threads": "1000", "pool": "1GiB"},
    {"sizes": "16", "threads": "1M", "pool": "1GiB", "must_free": False},
    {"sizes": "64", "threads": "1M", "pool": "1GiB", "budget": "100MiB"},
    {"sizes": "16-4096", "threads": "100k", "pool": "1GiB", "any_size": True},
    {"sizes": "256", "threads": "10k", "pool": "128MiB", "fill": "0.9"},
    {"sizes": "64", "threads": "20k", "pool": "1GiB", "lifetime": "any"},
    {"sizes": "48", "threads": "50k", "pool": "2GiB", "lifetime": "others"},
    {"sizes": "1", "threads": "1", "pool": "1TiB", "lanes": "1"},
    {"sizes": "16", "threads": "1000", "pool": "1GiB", "forms": question.FORMS},
    {"sizes": "16-16384", "threads": "100k", "pool": "2GiB"},
    {"application": "hash_join"},
    {"application": "hash_join", "any_size": True},
    {"application": "graph"},
    {"sizes": "33-777", "threads": "12,345", "pool": "3GiB", "lanes": "7"},
]


@pytest.mark.parametrize("words", QUESTIONS, ids=lambda words: "-".join(map(str, words.values()))[:40])
def test_page_and_command_line_rank_alike(wide, page, folder, words):
    asked = question.ask_application(words["application"], any_size=words.get("any_size", False)) if "application" in words else question.ask(**words)
    found = engine.answer(table.of(runs_of(folder)), asked.data())
    if wide.current_url.split("#")[0] != f"file://{page}":
        browser.show(wide, page)
    typed = {key: value for key, value in words.items() if key not in ("must_free", "forms")}
    typed |= {"free": "yes" if asked.must_free else "no", "blocks": "any" if typed.pop("any_size", False) else "one"}
    told = wide.execute_script(
        """
        const found = Decision.answer(arguments[0], arguments[1]);
        const told = (group) => group.map((each) =>
          [each.entry.id, each.rank, each.slower, each.low, each.high, each.memory, each.ok, each.failed.length, each.seconds, each.nearest && each.nearest.number]);
        return {near: found.near.map((each) => [each.number, each.distance]),
                differs: arguments[0].application ? [] : found.near.map((each) => Question.differences(Decision.table.cases[each.number].job, Question.parsed({...Question.usual, ...arguments[0]}, arguments[1]), each.steps)),
                ranked: told(found.ranked), failing: told(found.failing), unsafe: told(found.unsafe),
                unable: told(found.unable), left_out: found.left_out.map((entry) => entry.id), refusing: found.refusing.map((entry) => entry.id), front: [...Rank.front(found.ranked)].sort(),
                unmeasured: found.unmeasured.map((entry) => entry.id), sentence: Decision.sentence(arguments[0], arguments[1])};""",
        typed,
        list(asked.forms),
    )
    assert [number for number, _ in told["near"]] == [each.number for each in found.near]
    assert [distance for _, distance in told["near"]] == pytest.approx([each.distance for each in found.near])
    cases = table.of(runs_of(folder))["cases"]
    assert told["differs"] == [differences.words(cases[each.number]["job"], asked.data(), each.steps) for each in found.near if asked.job]
    for group in ("ranked", "failing", "unsafe", "unable"):
        ours = getattr(found, group)
        assert [(*each[:2], *each[6:8], each[9]) for each in told[group]] == [
            (each.entry["id"], each.rank, each.ok, len(each.failed), each.nearest and each.nearest.number) for each in ours
        ]
        for theirs, each in zip(told[group], ours):
            assert [*theirs[2:6], theirs[8]] == pytest.approx([each.slower, each.low, each.high, each.memory, each.seconds]), each.entry["id"]
    assert told["sentence"] == question.sentence(asked)
    assert told["unmeasured"] == [entry["id"] for entry in found.unmeasured]
    assert told["left_out"] == [entry["id"] for entry in found.left_out]
    assert told["refusing"] == [entry["id"] for entry in found.refusing]
    assert told["front"] == sorted(engine.front(found.ranked))


def test_the_list_shown_is_the_ranking(wide, page, folder):
    browser.show(wide, page, "#s=16&t=1k")
    shown = wide.execute_script("return [...document.querySelectorAll('.ranking tr[data-allocator]')].map((row) => row.dataset.allocator)")
    found = engine.answer(table.of(runs_of(folder)), question.ask("16", "1k", "1GiB").data())
    assert shown == [each.entry["id"] for each in found.ranked]
    lines = "return [...document.querySelectorAll('#ranking > p')].map((line) => line.textContent)"
    assert wide.execute_script(lines)[0] == "Nearest measured cell of every row: guide/small: 16 B, 1,000 threads (as asked)."
    assert wide.execute_script("return [...document.querySelectorAll('.ranking tr[data-allocator]')].map((row) => row.lastChild.textContent)") == ["0.0"] * len(shown)
    beware = "return Object.fromEntries([...document.querySelectorAll('.ranking .beware')].map((words) => [words.dataset.about, words.textContent]))"
    assert wide.execute_script(beware) == {"corw_reworked": "serves one size of block only"}
    browser.show(wide, page, "#s=16&t=1k&z=any")
    assert "corw_reworked" not in wide.execute_script("return [...document.querySelectorAll('.ranking tr[data-allocator]')].map((row) => row.dataset.allocator)")
    told = wide.execute_script("return document.getElementById('ranking').textContent")
    assert "CoRW, reworked (serves one size of block only)" in told and "AtomicMalloc (published) (never frees)" in told
    browser.show(wide, page, "#s=16-16384&t=100k&p=2GiB")
    told = wide.execute_script("return document.getElementById('ranking').textContent")
    assert "Refuse this request (status unsupported): Halloc (published) (serves at most 4 KiB, in a pool of 128 MiB)." in told


def test_an_application_takes_the_place_of_a_job(wide, page):
    browser.show(wide, page, "#app=hash_join")
    chosen = "const form = document.getElementById('question'); return [form.elements.application.value, form.elements.sizes.disabled, form.elements.blocks.disabled]"
    assert wide.execute_script(chosen) == ["hash_join", True, False]
    assert wide.execute_script("return document.getElementById('asked').textContent") == "For a hash join:"
    told = wide.execute_script("return document.getElementById('ranking').textContent")
    assert "Measured cell of every row: guide/hash_join: 4,096 tuples." in told and "not measured" not in told
    assert wide.execute_script("return [...document.querySelector('.ranking tbody tr').cells].map((cell) => cell.textContent)")[3:5] == ["18 µs", "–"]
    assert wide.execute_script("return document.querySelector('#ground li').textContent") == "guide/hash_join: 4,096 tuples"
    browser.show(wide, page, "#app=graph")
    told = wide.execute_script("return document.getElementById('ranking').textContent")
    assert told == ("Not measured: these results have no cell of guide/graph. Measure it on your card: allocbench study guide --only guide/graph --out results/mine, "
                    "then make the page of that folder: allocbench report results/mine --html")
    browser.show(wide, page, "#app=nonsense")
    assert wide.execute_script(chosen) == ["", False, False]
    assert browser.complaints(wide) == []


def test_blocks_that_others_free_are_ranked_alike_or_not_at_all(wide, page, tmp_path):
    browser.show(wide, page, "#s=64&t=100k&life=others")
    told = wide.execute_script("return document.getElementById('ranking').textContent")
    assert told.startswith("Not measured: these results have no cell in which other threads free the blocks. Measure such cells on your card: allocbench study guide")
    assert told.endswith("then make the page of that folder: allocbench report results/mine --html")
    browser.show(wide, page, "#s=16&t=1&l=1&f=99%25")
    told = wide.execute_script("return document.getElementById('ranking').textContent")
    asked = question.ask("16", "1", "1GiB", fill="99%", lanes="1")
    bare = table.of(runs_of(guide.write(tmp_path / "bare")))
    made = " ".join(text.write(bare, asked, engine.answer(bare, asked.data())).split())
    assert told.startswith("Not measured: the nearest cell is") and told in made
    folder, own = guide.write_handed_over(guide.write(tmp_path / "runs")), tmp_path / "page.html"
    assert cli.main(["page", str(folder), "--out", str(own)]) == 0
    browser.show(wide, own, "#s=64&t=100k&life=others")
    found = engine.answer(table.of(runs_of(folder)), question.ask("64", "100k", "1GiB", lifetime="others").data())
    shown = "return [...document.querySelectorAll('.ranking tr[data-allocator]')].map((row) => [row.dataset.allocator, row.cells[0].textContent])"
    assert wide.execute_script(shown) == [[each.entry["id"], str(each.rank)] for each in found.ranked] != []
    assert "guide/handed_over: 64 B, 100,000 threads, freed by anybody (as asked)" in wide.execute_script("return document.getElementById('ground').textContent")


def test_the_cliffs_are_of_the_first_until_a_reader_chooses(wide, page, folder):
    browser.show(wide, page, "#s=16&t=1k&z=any")
    chosen = "return document.getElementById('cliff-allocator').value"
    assert wide.execute_script(chosen) == "comb"
    wide.execute_script("document.querySelector('.ranking tr[data-allocator=halloc] a').click()")
    assert wide.execute_script(chosen) == "halloc"
    wide.execute_script("const form = document.getElementById('question'); form.elements.sizes.value = '64'; form.dispatchEvent(new Event('input'))")
    assert wide.execute_script(chosen) == "halloc"


def test_filters_hide_rows_and_traces(wide, page):
    browser.show(wide, page, "#rows=all")
    browser.draw_all(wide)
    rows = "return [...document.querySelectorAll('.heat tbody tr')].filter((row) => !row.hidden && row.dataset.allocator).map((row) => row.dataset.allocator)"
    assert "c_malloc_no_merge" not in wide.execute_script(rows), "ablations are asked for"
    wide.execute_script("document.querySelector('#forms input[value=published]').click()")
    assert wide.execute_script(rows) == ["comb", "halloc_reworked", "corw_reworked"]
    assert wide.execute_script("return location.hash") == "#form=row&rows=all"
    wide.execute_script("document.querySelector('[data-chart=costs]').scrollIntoView()")
    browser.wait(wide, "return document.querySelector('[data-chart=costs]').data.filter((trace) => trace.meta).every((trace) => trace.visible === ['own', 'reworked'].includes(trace.meta.form))")
    groups = "return [...new Set(document.querySelector('[data-chart=costs]').data.filter((trace) => trace.visible && !{}trace.meta).map((trace) => trace.legendgroup))].sort()"
    assert wide.execute_script(groups.format("")) == wide.execute_script(groups.format("!")) != []
    Select(wide.find_element(By.ID, "family")).select_by_value("halloc")
    assert wide.execute_script(rows) == ["halloc_reworked"]
    assert browser.complaints(wide) == []


ROWS = "return [...document.querySelectorAll('.heat tbody tr')].filter((row) => !row.hidden).map((row) => row.dataset.allocator || `family ${row.dataset.group}`)"


def test_families_close_and_open(wide, page):
    browser.show(wide, page)
    closed = wide.execute_script(ROWS)
    assert "family halloc" in closed and "halloc" not in closed and "halloc_reworked" not in closed and "comb" in closed
    cell = "const cell = document.querySelector('[data-group=halloc]').cells[arguments[0]]; return [cell.textContent, cell.title.split(':')[0]]"
    shown, title = wide.execute_script(cell, 3)
    member = "return document.querySelector('.heat [data-allocator=halloc_reworked]').cells[3].textContent"
    assert (shown, title) == (f"{wide.execute_script(member)} r", "Halloc, reworked"), "the best of the family, its form and its name"
    wide.execute_script("document.querySelector('[data-group=halloc] button').click()")
    opened = wide.execute_script(ROWS)
    assert opened[opened.index("family halloc") :][1:3] == ["halloc", "halloc_reworked"]
    wide.execute_script("document.querySelector('[data-group=halloc] button').click()")
    assert wide.execute_script(ROWS) == closed
    assert browser.complaints(wide) == []


def test_rows_by_their_mean_have_no_families(wide, page):
    browser.show(wide, page, "#rows=mean")
    shown = wide.execute_script(ROWS)
    assert not any(name.startswith("family") for name in shown) and len(shown) == len(guide.NAMES) - 1, "all but the ablation"
    means = wide.execute_script(
        "return [...document.querySelectorAll('.heat tbody tr')].filter((row) => !row.hidden).map((row) => Number(row.cells[1].dataset.f))"
    )
    assert means[-1] is None, "KMA has no mean and comes last"
    assert means[:-1] == sorted(means[:-1])


def test_a_mistake_is_told_beside_the_form(wide, page):
    browser.show(wide, page, "#s=big")
    assert wide.execute_script("return document.getElementById('mistake').textContent").startswith('Request sizes: "big" is not a size')
    browser.show(wide, page, "#p=1GB")
    assert wide.execute_script("return document.getElementById('mistake').textContent").startswith('Pool: "1GB" is not a size')
    browser.show(wide, page, "#life=others&free=no")
    assert wide.execute_script("return document.getElementById('mistake').textContent").startswith("Blocks live: freed by other threads in a later kernel, but Must free is no.")
    for fragment, told in (("life=any&free=no", "Blocks live: freed after any number of kernels, but Must free is no."), ("f=1%25", "Pool in use: these requests alone take 4.47 %."),
                           ("s=-5", 'Request sizes: "-5" is neither'), ("s=48.5", 'Request sizes: "48.5" is not a whole number'), ("t=1.5", 'Threads: "1.5" is not'), ("t=1%2C5k", 'Threads: "1,5k" is not'),
                           ("s=1-1.5GiB&t=1", "The pool is smaller than the largest request."), ("b=1KiB", "Memory budget: these requests alone take more.")):
        browser.show(wide, page, f"#{fragment}")
        assert wide.execute_script("return document.getElementById('mistake').textContent").startswith(told)
    browser.show(wide, page, "#life=nonsense&t=%3Cb%3E")
    assert "is not a number of threads" in wide.execute_script("return document.getElementById('mistake').textContent")
    assert wide.execute_script("return document.getElementById('ranking').textContent + document.getElementById('asked').textContent") == ""
    assert browser.complaints(wide) == []


def test_provisional_times_and_older_versions_are_told_beside_the_allocator(wide, tmp_path):
    folder = guide.write(tmp_path / "runs")
    for number, name in enumerate(name for name in guide.NAMES for _ in range(4)):
        if name == "comb":
            synthetic.change(folder / "guide" / "small", number, provisional=True, revision="8a360499")
    page = tmp_path / "page.html"
    assert cli.main(["page", str(folder), "--out", str(page)]) == 0
    browser.show(wide, page, "#s=16&t=1k")
    told = dict(wide.execute_script(
        "return [...document.querySelectorAll('.ranking tr[data-allocator]')].map((row) => [row.dataset.allocator, row.cells[2].textContent])"))
    assert told["comb"].endswith(" provisional") and not told["halloc"].endswith("provisional")
    beware = "return Object.fromEntries([...document.querySelectorAll('.ranking .beware')].map((words) => [words.dataset.about, words.textContent]))"
    assert wide.execute_script(beware) == {"comb": "an older version was measured (8a360499), whose malloc kernel has 48 registers instead of about 40",
                                           "corw_reworked": "serves one size of block only"}
    assert wide.execute_script("return document.body.innerHTML.includes('<b>1</b> provisional <small title=\"an older version was measured (8a360499)')")
