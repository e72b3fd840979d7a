"""Starts Chromium for the tests of the page."""

import os
import shutil
import time

import pytest


def started(width: int, dark: bool = False):
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


def show(browser, page, fragment=""):
    browser.get("about:blank")
    browser.get(f"file://{page}{fragment}")


def wait(browser, script: str):
    """Waits until the script returns true. A page that is not ready in 20 seconds is broken."""
    end = time.monotonic() + 20
    while not (made := browser.execute_script(script)):
        assert time.monotonic() < end, f"still not: {script}"
        time.sleep(0.05)
    return made


def complaints(browser) -> list:
    return [entry for entry in browser.get_log("browser") if entry["level"] in ("SEVERE", "WARNING")]


def draw_all(browser):
    browser.execute_script(
        "document.querySelectorAll('details').forEach((each) => { each.open = true; });"
        "document.querySelectorAll('.chart').forEach((each) => Charts.draw(each));"
    )
    wait(browser, "return [...document.querySelectorAll('.chart')].every((each) => each.dataset.drawn === 'yes')")
