#!/usr/bin/python3
"""Pictures of the page as a browser shows it: tools/picture-page.py PAGE WIDE.png PHONE.png [#QUESTION]

Needs chromium, chromium-driver and python3-selenium (tools/install-dependencies.sh --dev)."""

import pathlib
import sys
import time

import PIL.Image
from selenium import webdriver
from selenium.webdriver.chrome.service import Service

SIZES = ((1000, 900), (360, 720))


def picture(page: str, question: str, size: tuple[int, int], out: pathlib.Path) -> None:
    options = webdriver.ChromeOptions()
    options.binary_location = "/usr/bin/chromium"
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars"):
        options.add_argument(argument)
    browser = webdriver.Chrome(service=Service("/usr/bin/chromedriver"), options=options)
    try:
        width, height = size
        browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500})
        browser.get(f"file://{pathlib.Path(page).resolve()}{question}")
        time.sleep(1)  # fonts
        browser.save_screenshot(str(out))
    finally:
        browser.quit()
    with PIL.Image.open(out) as image:
        small = image.convert("RGB").quantize(64, dither=PIL.Image.Dither.NONE)
    small.save(out, optimize=True)


def main() -> None:
    if len(sys.argv) not in (4, 5):
        sys.exit(__doc__)
    page, wide, phone = sys.argv[1:4]
    for size, out in zip(SIZES, (wide, phone)):
        picture(page, sys.argv[4] if len(sys.argv) == 5 else "", size, pathlib.Path(out))


if __name__ == "__main__":
    main()
