#!/usr/bin/python3
"""Takes pictures of the HTML page in a browser, on a wide screen and on a phone.

The script needs chromium, chromium-driver and python3-selenium (tools/install-dependencies.sh --dev).
"""

import argparse
import pathlib
import time

SIZES = ((1000, 900), (360, 720))


def picture(page: str, question: str, size: tuple[int, int], out: pathlib.Path) -> None:
    import PIL.Image
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location = "/usr/bin/chromium"
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars"):
        options.add_argument(argument)
    browser = webdriver.Chrome(service=Service("/usr/bin/chromedriver"), options=options)
    try:
        width, height = size
        browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500})
        browser.get(f"file://{pathlib.Path(page).resolve()}{question}")
        time.sleep(1)  # time to load the fonts
        browser.save_screenshot(str(out))
    finally:
        browser.quit()
    with PIL.Image.open(out) as image:
        small = image.convert("RGB").quantize(64, dither=PIL.Image.Dither.NONE)
    small.save(out, optimize=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("page", metavar="PAGE", help="an HTML page of `allocbench report --html`")
    parser.add_argument("wide", metavar="WIDE.png", type=pathlib.Path, help=f"picture of {SIZES[0][0]} x {SIZES[0][1]} pixels")
    parser.add_argument("phone", metavar="PHONE.png", type=pathlib.Path, help=f"picture of {SIZES[1][0]} x {SIZES[1][1]} pixels")
    parser.add_argument("question", metavar="#QUESTION", nargs="?", default="", help="the end of the page's address, such as #s=48&t=1M&p=1GiB")
    given = parser.parse_args()
    for size, out in zip(SIZES, (given.wide, given.phone)):
        picture(given.page, given.question, size, out)


if __name__ == "__main__":
    main()
