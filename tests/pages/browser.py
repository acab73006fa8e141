# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Debian's chromium without a screen, and what tests of pages do in it."""

import base64
import json
import os
import time

from selenium import webdriver
from selenium.webdriver import ActionChains
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By

CHROMIUM, DRIVER = "/usr/bin/chromium", "/usr/bin/chromedriver"


class Browser:
    def __init__(self, width=1100, height=900, script=True):
        options = Options()
        options.binary_location = CHROMIUM
        for argument in ("--headless=new", "--hide-scrollbars", "--disable-gpu", "--force-device-scale-factor=1"):
            options.add_argument(argument)
        if os.geteuid() == 0:
            options.add_argument("--no-sandbox")
        if not script:
            options.add_experimental_option("prefs", {"profile.managed_default_content_settings.javascript": 2})
        options.set_capability("goog:loggingPrefs", {"performance": "ALL", "browser": "ALL"})
        self.driver = webdriver.Chrome(service=Service(DRIVER), options=options)
        self.resize(width, height)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.driver.quit()

    def resize(self, width, height):
        self.command("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def command(self, name, **arguments):
        return self.driver.execute_cdp_cmd(name, arguments)

    def open(self, path, fragment=""):
        self.driver.get("about:blank")
        self.driver.get(f"file://{path}{fragment}")

    def dark(self, dark):
        scheme = "dark" if dark else "light"
        self.command("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def run(self, script, *arguments):
        return self.driver.execute_script(script, *arguments)

    def find(self, selector):
        return self.driver.find_element(By.CSS_SELECTOR, selector)

    def texts(self, selector):
        """Texts of what can be seen"""
        return [e.text for e in self.driver.find_elements(By.CSS_SELECTOR, selector) if e.is_displayed()]

    def click(self, selector):
        element = self.find(selector)
        self.run("arguments[0].scrollIntoView({block: 'center'})", element)
        ActionChains(self.driver).move_to_element(element).click().perform()

    def plot(self, name):
        """The rectangle of a plot's graph, which is in view then"""
        graph = self.find(f"#{name} .graph")
        self.run("arguments[0].scrollIntoView({block: 'center'})", graph)
        return graph

    def at(self, name, x, y, *, drag_to=None, twice=False):
        """Point at a place of a plot, in parts of its width and height; or drag from it, or click twice"""
        graph = self.plot(name)
        left, top = graph.size["width"] / 2, graph.size["height"] / 2
        chain = ActionChains(self.driver)
        chain.move_to_element_with_offset(graph, int((2 * x - 1) * left), int((2 * y - 1) * top))
        if drag_to is not None:
            chain.click_and_hold().move_by_offset(int((drag_to - x) * 2 * left), 0).release()
        if twice:
            chain.double_click()
        chain.perform()
        time.sleep(0.3)

    def requests(self):
        """Addresses that were asked for since the last call"""
        found = []
        for entry in self.driver.get_log("performance"):
            message = json.loads(entry["message"])["message"]
            if message["method"] == "Network.requestWillBeSent":
                found.append(message["params"]["request"]["url"])
        return found

    def complaints(self):
        """Lines of the browser's console"""
        return [entry["message"] for entry in self.driver.get_log("browser")]

    def picture(self, path, selector=None):
        clip = {}
        if selector:
            box = self.run("const b = document.querySelector(arguments[0]).getBoundingClientRect();"
                           "return [b.left + scrollX, b.top + scrollY, b.width, b.height]", selector)  # fmt: skip
            clip = {"clip": dict(zip(("x", "y", "width", "height"), box), scale=1)}
        data = self.command("Page.captureScreenshot", format="png", captureBeyondViewport=bool(selector), **clip)
        path.write_bytes(base64.b64decode(data["data"]))
