"""Both pages in a real browser: an instance opens, filters filter, and no text of a model or dataset is run."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer import Typer
from typer.testing import CliRunner

from eval_harness.commands.report import register
from tests.eval_harness.report.conftest import HOSTILE, write_dataset, write_hostile_run

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
DRIVER = shutil.which("chromedriver")


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """A headless Chromium that may load nothing but files."""
    selenium = pytest.importorskip("selenium", reason="the browser test needs selenium: pip install selenium")
    if not CHROMIUM or not DRIVER:
        pytest.skip("the browser test needs Chromium: apt-get install chromium chromium-driver")
    from selenium import webdriver

    assert selenium
    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for argument in ("--headless=new", "--disable-dev-shm-usage", "--disable-background-networking"):
        options.add_argument(argument)
    if os.geteuid() == 0:
        options.add_argument("--no-sandbox")  # Chromium has none for root
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(DRIVER))
    yield driver
    driver.quit()


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with report.html and view.html."""
    here = tmp_path_factory.mktemp("browser")
    dataset = write_dataset(here / "data")
    run = write_hostile_run(here / "run", dataset)
    app = Typer()
    register(app)
    for arguments in (
        ["report", run, "--dataset", dataset, "--out", here, "--format", "html"],
        ["view", dataset, "--out", here / "view.html"],
    ):
        result = CliRunner().invoke(app, list(map(str, arguments)), catch_exceptions=False)
        assert result.exit_code == 0, result.output
    return here


def load(browser: Any, page: Path, width: int = 1280) -> None:
    from selenium.webdriver.support.ui import WebDriverWait

    browser.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride", {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": False}
    )
    browser.get(page.as_uri())
    WebDriverWait(browser, 30).until(lambda driver: driver.execute_script("return document.body.dataset.ready"))


def texts(browser: Any, selector: str) -> list[str]:
    return browser.execute_script(
        "return [...document.querySelectorAll(arguments[0])].map(node => node.textContent)", selector
    )


def choose(browser: Any, name: str, value: str) -> None:
    from selenium.webdriver.support.ui import Select

    Select(browser.find_element("name", name)).select_by_visible_text(value)


def test_filters_narrow_the_list(browser: Any, pages: Path) -> None:
    load(browser, pages / "report.html")
    assert texts(browser, "#count") == ["9 of 9 rows"]
    choose(browser, "status", "unparsed")
    assert texts(browser, "#count") == ["4 of 9 rows"]
    assert set(texts(browser, "#list .open")) == {"fever-1"}
    choose(browser, "method", "vanilla_rag")
    choose(browser, "config", "1k_p100")
    assert texts(browser, "#count") == ["1 of 9 rows"]
    choose(browser, "status", "all")
    browser.find_element("name", "search").send_keys("JANE austen")
    assert texts(browser, "#list .open") == ["nq-1"]
    browser.find_element("name", "search").send_keys(" nowhere")
    assert texts(browser, "#count") == ["0 of 9 rows"]


def test_an_instance_opens_with_its_context(browser: Any, pages: Path) -> None:
    load(browser, pages / "report.html")
    choose(browser, "method", "vanilla_rag")
    choose(browser, "task", "nq")
    browser.find_element("css selector", "#list .open").click()
    assert browser.find_element("id", "detail").is_displayed()
    assert texts(browser, "#detail-title") == ["nq-1 · 1k_p0 · vanilla_rag · tiny"]
    assert texts(browser, "#detail pre") == [f"Jane Austen {HOSTILE}"]
    assert f"who wrote Emma {HOSTILE}" in texts(browser, "#detail dd")
    assert texts(browser, ".passage.gold h4 .role") == ["gold"]
    assert texts(browser, ".passage.confounder h4 .role") == ["confounder, bm25 rank 1"]
    assert texts(browser, ".passage.gold mark") == ["Jane Austen"]
    browser.find_element("id", "after").click()
    assert texts(browser, "#detail-title") == ["nq-1 · 1k_p100 · vanilla_rag · tiny"]
    assert not browser.find_element("id", "after").is_enabled()
    browser.find_element("id", "close").click()
    assert not browser.find_element("id", "detail").is_displayed()


def test_a_condition_dims_what_the_model_did_not_see(browser: Any, pages: Path) -> None:
    load(browser, pages / "report.html")
    choose(browser, "method", "closed_book")
    browser.find_element("css selector", "#list .open").click()
    assert len(texts(browser, ".passage.unseen")) == len(texts(browser, ".passage")) > 0
    browser.find_element("id", "close").click()
    choose(browser, "method", "retrieved_bm25@1")
    browser.find_element("css selector", "#list .open").click()
    assert texts(browser, ".passage:not(.unseen) h4 .role") == ["gold, chosen"]


def test_a_dataset_is_shown_without_runs(browser: Any, pages: Path) -> None:
    load(browser, pages / "view.html")
    assert texts(browser, "#count") == ["4 of 4 rows"]
    assert texts(browser, "#list th") == ["id", "config", "passages", "query"]
    choose(browser, "task", "fever")
    browser.find_element("css selector", "#list .open").click()
    assert texts(browser, "#detail-title") == ["fever-1 · 1k_p0"]
    assert texts(browser, ".passage.gold p") == ["Osmium is dense indeed."]


@pytest.mark.parametrize("page", ["report.html", "view.html"])
def test_no_text_is_run_and_nothing_overflows(browser: Any, pages: Path, page: str) -> None:
    load(browser, pages / page, width=400)
    browser.execute_script("document.querySelector('#list .open').click()")
    assert browser.execute_script("return window.pwned") is None
    assert browser.execute_script("return document.documentElement.scrollWidth") <= 400
    assert browser.execute_script("return document.querySelector('#detail').scrollWidth") <= 400
    loaded = browser.execute_script("return performance.getEntriesByType('resource').map(entry => entry.name)")
    assert all(name.startswith("data:") for name in loaded)
    assert browser.get_log("browser") == []
