"""The browser tests: when they run, and the fixture they use.

Without Chromium they are left out, which one line at the end says. With CI=true a missing Chromium is a failure.
"""

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from jupyter_browser import CHROMIUM_OPTIONS, Chapter, JupyterServer, Lab, find_chromium
from playwright.sync_api import sync_playwright

HERE = Path(__file__).parent
HOW_TO_GET_IT = "Debian or Ubuntu: sudo apt install chromium; elsewhere: install Chrome or Chromium"
LEFT_OUT = pytest.StashKey[int]()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    browser_tests = [item for item in items if item.path.is_relative_to(HERE)]
    for item in browser_tests:
        item.add_marker("browser")
    if not find_chromium() and os.environ.get("CI") != "true":
        items[:] = [item for item in items if item not in browser_tests]
        config.hook.pytest_deselected(items=browser_tests)
        config.stash[LEFT_OUT] = len(browser_tests)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    if left_out := config.stash.get(LEFT_OUT, 0):
        terminalreporter.write_line(
            f"{left_out} browser tests were left out: there is no Chromium. {HOW_TO_GET_IT}.", yellow=True
        )


@pytest.fixture(scope="package")
def chromium() -> str:
    """Its path; only where CI=true does a test get as far as this without one."""
    path = find_chromium()
    if not path:
        pytest.fail(f"Chromium is missing. {HOW_TO_GET_IT}.")
    return path


@pytest.fixture(scope="package")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[JupyterServer]:
    before = signal.signal(signal.SIGTERM, lambda *_: signal.raise_signal(signal.SIGINT))  # so that it is stopped
    server = JupyterServer(tmp_path_factory.mktemp("jupyter"))
    yield server
    server.stop()
    signal.signal(signal.SIGTERM, before)


@pytest.fixture(scope="package")
def lab(chromium: str, server: JupyterServer) -> Iterator[Lab]:
    """JupyterLab in Chromium. Not for the whole session: playwright keeps an event loop that others would meet."""
    with (
        sync_playwright() as playwright,
        playwright.chromium.launch(executable_path=chromium, args=CHROMIUM_OPTIONS) as browser,
        browser.new_page(viewport={"width": 1280, "height": 1000}) as page,
    ):
        yield Lab(page, server)


@pytest.fixture
def open_chapter(lab: Lab) -> Iterator[Callable[..., Chapter]]:
    """`open_chapter(name, theme="light")` opens a fresh copy of a notebook; the test's end checks and closes it."""
    with ExitStack() as stack:
        yield lambda name, theme="light": stack.enter_context(lab.open(name, theme))


@pytest.fixture(params=["light", "dark"])
def chapter(open_chapter: Callable[..., Chapter], request: pytest.FixtureRequest) -> Chapter:
    """The chapter that the test's module names as `CHAPTER`, run to its last exercise."""
    chapter = open_chapter(request.module.CHAPTER, request.param)
    chapter.run()
    chapter.wait_for("exercise-3-check", "not done yet")
    return chapter
