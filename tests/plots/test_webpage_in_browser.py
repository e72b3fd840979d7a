"""The page in a real browser: it draws without complaint, and ranks as the command line does."""

import os
import re
import shutil
import time

import guide
import pytest
from webpage_runs import runs_of

from plots.advice import engine, question, table

pytest.importorskip("plotly")


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
    found = engine.answer(table.of(runs_of(folder)), asked.data())
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
    shown = wide.execute_script("return [...document.querySelectorAll('.ranking tr[data-allocator]')].map((row) => row.dataset.allocator)")
    found = engine.answer(table.of(runs_of(folder)), question.ask("16", "1k", "1GiB").data())
    assert shown == [each.entry["id"] for each in found.ranked]
    beware = "return Object.fromEntries([...document.querySelectorAll('.ranking .beware')].map((words) => [words.dataset.about, words.textContent]))"
    assert wide.execute_script(beware) == {"corw_reworked": "serves one size of block only"}
    _open(wide, page, "#s=16&t=1k&z=any")
    assert "corw_reworked" not in wide.execute_script("return [...document.querySelectorAll('.ranking tr[data-allocator]')].map((row) => row.dataset.allocator)")
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
    assert (shown, title) == (f"{wide.execute_script(member)} r", "Halloc, reworked"), "the best of the family, its form and its name"
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
    assert means[-1] is None, "KMA has no mean and comes last"
    assert means[:-1] == sorted(means[:-1])


def test_a_mistake_is_told_beside_the_form(wide, page):
    _open(wide, page, "#s=big")
    assert wide.execute_script("return document.getElementById('mistake').textContent").startswith('Request sizes: "big" is not a size')
    _open(wide, page, "#p=1GB")
    assert wide.execute_script("return document.getElementById('mistake').textContent").startswith('Pool: "1GB" is not a size')
    _open(wide, page, "#life=nonsense&t=%3Cb%3E")
    assert "is not a number of threads" in wide.execute_script("return document.getElementById('mistake').textContent")
    assert wide.execute_script("return document.getElementById('ranking').textContent + document.getElementById('asked').textContent") == ""
    assert _complaints(wide) == []
