"""The report in a real browser: figures render, captions read well, no network is asked."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, sync_playwright

from .checkouts import Checkout

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
FLAGS = (
    *("--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-sync"),
    *("--disable-background-networking", "--disable-component-update"),
)
SHOWN = "[...document.images].map(i => [i.src.match(/filename=([^;]*)/)[1], i.naturalWidth])"

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="Debian's package chromium is missing")


@pytest.fixture(scope="module")
def report(finished: Checkout, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("report") / "report.html"
    outcome = finished.run("--report", str(path))
    assert outcome.returncode == 0, outcome.stdout
    return path


@pytest.fixture
def page(report: Path) -> Iterator[Page]:
    """The opened report; at the end there was no error and no request but for the file."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=list(FLAGS))
        opened = browser.new_page()
        asked, errors = [], []
        opened.on("request", lambda request: asked.append(request.url))
        opened.on("pageerror", lambda error: errors.append(str(error)))
        opened.goto(report.as_uri())
        opened.wait_for_selector("text=Headroom")
        yield opened
        browser.close()
    assert [url for url in asked if not url.startswith("data:")] == [report.as_uri()]
    assert errors == []


def test_a_click_on_a_figure_shows_it(page: Page) -> None:
    page.click("text=Speed-up")
    row = page.locator("tr", has_text="Speed-up over the default schedule").first
    row.locator("a, button").first.click()
    page.wait_for_selector("img[src*='filename=speedup_']")
    widths = dict(page.evaluate(SHOWN))
    assert max(width for name, width in widths.items() if name.startswith("speedup_")) > 100


def test_every_figure_renders(page: Page, finished: Checkout) -> None:
    widths = page.evaluate(
        """Promise.all(Object.entries(results)
            .filter(([path, result]) => result.mime_type == "image/svg+xml")
            .map(async ([path, result]) => {
                const image = new Image();
                image.src = result.data_uri;
                await image.decode();
                return [path, image.naturalWidth];
            }))"""
    )
    figures = {f"results/smoke/figures/{p.name}" for p in finished.results.glob("figures/*.svg")}
    assert {path for path, _ in widths} == figures
    assert all(width > 100 for _, width in widths)


def test_every_result_has_a_caption_without_mistakes(page: Page) -> None:
    assert "System Message" not in page.inner_text("body")
    captions = page.evaluate("Object.entries(results).map(([path, r]) => [path, r.caption])")
    assert captions
    for path, caption in captions:
        assert len(caption) > 40, path
        assert "system-message" not in caption, path


def test_every_category_leads_to_its_results(page: Page) -> None:
    categories = page.evaluate("Object.keys(categories)")
    assert {"Speed-up", "Headroom", "Provenance"} <= set(categories)
    for category in categories:
        page.get_by_text(category, exact=True).first.click()
        page.wait_for_selector("tr:has(a, button)")
        page.locator("tr:has(a, button)").first.locator("a, button").last.click()
        page.wait_for_selector("text=SNAKEMAKE RULE")
        page.evaluate("app.setView({navbarMode: 'menu'})")
        page.wait_for_selector("text=GENERAL")
