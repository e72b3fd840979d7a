"""Tests every control of the page as a reader uses it: the list, the address and the page that the address opens must
agree.
"""

import browser
import pytest
from allocbench.errors import UsageError
from webpage_runs import runs_of

from plots.advice import engine, newest, question, table
from plots.figures import inputs
from plots.ledger import claims
from plots.runs import configs, kept
from plots.webpage import ledger

pytest.importorskip("plotly")
By = pytest.importorskip("selenium.webdriver.common.by").By
Keys = pytest.importorskip("selenium.webdriver.common.keys").Keys
Select = pytest.importorskip("selenium.webdriver.support.ui").Select

SHOWN = """
    const chosen = (place) => [...document.querySelectorAll(`${place} input:checked`)].map((each) => each.value);
    return {
      list: [...document.querySelectorAll(".ranking tr[data-allocator]")].map((row) => row.dataset.allocator),
      address: location.hash,
      form: Object.fromEntries([...document.querySelectorAll("#question input, #question select")].map((each) => [each.name, each.value])),
      forms: chosen("#forms"),
      same_forms: chosen("#survival .forms"),
      rows: [...document.querySelectorAll(".heat tbody tr")].filter((row) => !row.hidden).map((row) => row.dataset.allocator || row.dataset.group),
      lists: ["rows", "family", "cliff-allocator"].map((name) => document.getElementById(name).value),
      told: document.getElementById("mistake").hidden ? document.getElementById("asked").textContent : document.getElementById("mistake").textContent};"""


def _write(wide, name, text):
    field = wide.find_element(By.NAME, name)
    field.click()
    field.send_keys(Keys.CONTROL, "a")
    field.send_keys(text or Keys.DELETE)


def _click(wide, css, number=0):
    place = wide.find_elements(By.CSS_SELECTOR, css)[number]
    wide.execute_script("arguments[0].scrollIntoView({block: 'center'})", place)
    place.click()


def _choose(wide, place, value):
    Select(wide.find_element(*place)).select_by_value(value)


STEPS = [
    (lambda wide: _choose(wide, (By.NAME, "application"), "hash_join"), "#app=hash_join"),
    (lambda wide: _choose(wide, (By.NAME, "application"), ""), ""),
    (lambda wide: (_write(wide, "sizes", "16-4096"), _write(wide, "threads", "100k")), "#s=16-4096&t=100k"),
    (lambda wide: _write(wide, "fill", "90%"), "#s=16-4096&t=100k&f=90%25"),
    (lambda wide: (_write(wide, "fill", ""), _write(wide, "pool", "512MiB")), "#s=16-4096&t=100k&p=512MiB"),
    (lambda wide: (_write(wide, "sizes", "16"), _write(wide, "threads", "1k"), _write(wide, "pool", "1GiB")), "#s=16&t=1k"),
    (lambda wide: _write(wide, "lanes", "8"), "#s=16&t=1k&l=8"),
    (lambda wide: (_write(wide, "lanes", "32"), _choose(wide, (By.NAME, "lifetime"), "moment")), "#s=16&t=1k&life=moment"),
    (lambda wide: (_choose(wide, (By.NAME, "lifetime"), "kernel"), _choose(wide, (By.NAME, "free"), "no")), "#s=16&t=1k&free=no"),
    (lambda wide: _write(wide, "sizes", "x"), "#s=x&t=1k&free=no"),
    (lambda wide: (_write(wide, "sizes", "16"), _choose(wide, (By.NAME, "free"), "yes"), _choose(wide, (By.NAME, "blocks"), "any")), "#s=16&t=1k&z=any"),
    (lambda wide: _write(wide, "budget", "20kB"), "#s=16&t=1k&z=any&b=20kB"),
    (lambda wide: _write(wide, "budget", "20KiB"), "#s=16&t=1k&z=any&b=20KiB"),
    (lambda wide: (_write(wide, "budget", ""), _click(wide, "#forms input[value=reworked]")), "#s=16&t=1k&z=any&form=pow"),
    (lambda wide: _click(wide, "#survival .forms input[value=reworked]"), "#s=16&t=1k&z=any"),
    (lambda wide: _choose(wide, (By.ID, "rows"), "mean"), "#s=16&t=1k&z=any&rows=mean"),
    (lambda wide: _choose(wide, (By.ID, "family"), "halloc"), "#s=16&t=1k&z=any&fam=halloc&rows=mean"),
    (lambda wide: (_choose(wide, (By.ID, "family"), ""), _choose(wide, (By.ID, "rows"), "")), "#s=16&t=1k&z=any"),
    (lambda wide: _click(wide, "[data-group=halloc] button"), "#s=16&t=1k&z=any&open=halloc"),
    (lambda wide: _choose(wide, (By.ID, "cliff-allocator"), "c_malloc"), "#s=16&t=1k&z=any&open=halloc&cliff=c_malloc"),
    (lambda wide: _click(wide, ".ranking a", 1), "#s=16&t=1k&z=any&open=halloc&cliff=halloc_reworked"),
    (lambda wide: _click(wide, "nav a", 3), "#s=16&t=1k&z=any&open=halloc&cliff=halloc_reworked"),
]


def _asked(given, forms):
    """Returns the question of the form's words. Its usual lifetime is no contradiction of blocks that are never freed."""
    if given["application"]:
        return question.ask_application(given["application"], forms, given["blocks"] == "any")
    lifetime = None if given["lifetime"] == "kernel" else given["lifetime"]
    return question.ask(given["sizes"], given["threads"], given["pool"], given["fill"] or None, given["lanes"], lifetime,
                        given["free"] == "yes", given["budget"] or None, forms, given["blocks"] == "any")


def test_every_control_changes_list_and_address_and_the_address_opens_the_same_page(wide, page, folder):
    measured = table.of(runs_of(folder))
    browser.show(wide, page)
    for act, address in STEPS:
        act(wide)
        shown = wide.execute_script(SHOWN)
        assert shown["address"] == address
        assert shown["forms"] == shown["same_forms"]
        given = shown["form"]
        try:
            asked = _asked(given, shown["forms"])
        except UsageError:
            asked = None
        ranked = engine.answer(measured, asked.data()).ranked if asked else []
        assert shown["list"] == [each.entry["id"] for each in ranked], address
        assert shown["told"] == f"For {question.sentence(asked)}:" if asked else 'is not a size in bytes' in shown["told"]
        wide.refresh()
        assert wide.execute_script(SHOWN) == shown, f"opened again: {address}"
    assert browser.complaints(wide) == []


def test_words_of_another_page_in_the_address_change_nothing(wide, page):
    browser.show(wide, page)
    usual = wide.execute_script(SHOWN)
    browser.show(wide, page, "#fam=none&rows=none&open=none&cliff=none&life=none&z=none&free=none")
    assert wide.execute_script(SHOWN) == usual


def test_what_a_reader_opened_stays_open(wide, page):
    browser.show(wide, page, "#s=16&t=1M")
    _click(wide, "#ranking details summary")
    opened = "return [...document.querySelectorAll('#ranking details[open] summary')].map((each) => each.textContent.split(' (')[0])"
    titles = wide.execute_script(opened)
    assert len(titles) == 1
    _write(wide, "sizes", "17")
    assert wide.execute_script(opened) == titles


def test_without_a_form_the_page_asks_for_one(wide, page):
    browser.show(wide, page, "#form=")
    assert wide.execute_script("return document.getElementById('ranking').textContent") == "No form is chosen. Tick at least one of the boxes above."


def test_filters_hide_rows_of_the_front(wide, page):
    front = "return [...document.querySelectorAll('.numbered tbody tr')].filter((row) => !row.hidden).map((row) => row.dataset.allocator)"
    browser.show(wide, page)
    assert wide.execute_script(front) == ["comb"]
    _click(wide, "#forms input[value=own]")
    assert wide.execute_script(front) == []


def test_the_keyboard_alone_will_do(wide, page):
    browser.show(wide, page)
    focus = "return document.activeElement.name || document.activeElement.id || document.activeElement.textContent"
    keys = wide.switch_to.active_element
    for _ in range(20):
        keys.send_keys(Keys.TAB)
        keys = wide.switch_to.active_element
        if wide.execute_script(focus) == "survival":
            keys.send_keys(Keys.ENTER)
            break
    assert wide.execute_script(focus) == "survival" and wide.execute_script("return document.activeElement.tagName") == "SECTION", "the keyboard goes on there"
    wide.switch_to.active_element.send_keys(Keys.TAB)
    assert wide.execute_script(focus) == "rows"
    wide.switch_to.active_element.send_keys("e")  # selects every allocator
    assert wide.execute_script("return location.hash") == "#rows=all"
    table = wide.find_element(By.CSS_SELECTOR, "#survival .scroll")
    told = []
    for key in (Keys.ARROW_DOWN, Keys.ARROW_RIGHT, Keys.ARROW_RIGHT, Keys.ARROW_DOWN, Keys.ARROW_LEFT):
        table.send_keys(key)
        told.append(wide.execute_script("return document.getElementById('heat-told').textContent"))
    first = wide.execute_script("const row = document.querySelector('.heat tbody tr:not([hidden])'); return row.cells[0].textContent")
    assert told[0].startswith(f"{first}: ") and "over 9 of 9 cells" in told[0] and told[1].endswith("9 of 9 ok") and told[2].endswith("16 B, 1,000 threads")
    assert told[3] != told[2] and told[4] != told[3]


def test_numbers_of_marks_stand_apart(wide, page):
    browser.show(wide, page)
    marks = [{"x": 40 + number % 3, "y": 60, "size": 12, "number": number} for number in range(1, 13)]
    boxes = wide.execute_script("return Numbers.placed(arguments[0], 300, 200)", marks)
    assert [box["mark"]["number"] for box in boxes] == list(range(1, 13))
    for number, box in enumerate(boxes):
        assert box["width"] / 2 <= box["x"] <= 300 - box["width"] / 2 and box["height"] / 2 <= box["y"] <= 200 - box["height"] / 2
        for other in boxes[:number]:
            assert abs(box["x"] - other["x"]) >= (box["width"] + other["width"]) / 2 or abs(box["y"] - other["y"]) >= (box["height"] + other["height"]) / 2
        assert abs(box["x"] - 41) + abs(box["y"] - 60) > 12, "not over the marks"


def test_the_numbers_are_written_beside_the_marks(wide, page):
    browser.show(wide, page)
    browser.draw_all(wide)
    written = "return [...document.querySelectorAll('[data-chart=costs] .annotation-text')].map((each) => each.textContent)"
    assert wide.execute_script(written) == ["1"]
    _click(wide, "#forms input[value=own]")
    wide.execute_script("document.querySelector('[data-chart=costs]').scrollIntoView()")
    browser.wait(wide, "return document.querySelectorAll('[data-chart=costs] .annotation-text').length === 0")


def test_a_phone_shows_claims_in_full(page):
    """Sentences above their numbers lie within the page, and none overlaps another one or a number."""
    runs, failures = newest.read([str(kept.REFERENCE / "h200" / "xmalloc2010")], inputs.Overrides(configs.FOLDER))
    assert not failures
    (chart,) = ledger.charts_of(claims.ledger(runs)).values()
    phone = browser.started(360)
    try:
        browser.show(phone, page)
        phone.execute_script(
            "Charts.all.forest = arguments[0]; const place = document.createElement('div'); Object.assign(place, {className: 'chart', id: 'forest'});"
            "place.dataset.chart = 'forest'; document.body.append(place); Charts.draw(place);",
            chart,
        )
        browser.wait(phone, "return document.getElementById('forest').dataset.drawn === 'yes'")
        boxes = "return [...document.querySelectorAll(arguments[0])].map((each) => { const box = each.getBoundingClientRect(); return [box.left, box.right, box.top, box.bottom]; })"
        sentences = phone.execute_script(boxes, "#forest .annotation-text")
        numbers = phone.execute_script(boxes, "#forest .scatterlayer .point")
        assert len(sentences) == len(chart["narrow"]["layout"]["annotations"]) > 5 and len(numbers) > 5
        for left, right, top, bottom in sentences:
            assert left >= 0 and right <= 360
            assert all(other_top >= bottom - 1 or other_bottom <= top + 1 for _, _, other_top, other_bottom in [*sentences, *numbers] if (other_top, other_bottom) != (top, bottom))
    finally:
        phone.quit()
