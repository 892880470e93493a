"""A chapter in a real JupyterLab in a real Chromium, as a learner has it before them.

`JupyterServer` serves copies of the chapters with a configuration of its own. `Lab` is the page that shows it,
`Chapter` one notebook open there: run it, move its controls, read what appears. Nothing here sleeps for a fixed
time; every wait is for something that can be seen.

Why these detours: JupyterLab says that a kernel is idle before it can be talked to, and running all cells then
silently does nothing. So `Lab.open` waits for the connection itself and asks the kernel for its information.
Loading JupyterLab takes most of the time, so one page shows one chapter after the other.
"""

import contextlib
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import urlsplit

from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import Locator, Page, expect

ROOT = Path(__file__).parents[2]
SCREENSHOTS = ROOT / "screenshots"
SOURCES = (ROOT / "notebooks", ROOT / "tests" / "data")

CHROMIUM_OPTIONS = [
    "--no-sandbox",  # a container's root cannot have one; only our own pages are opened
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
SETTINGS = {
    "@jupyterlab/apputils-extension/notification": {"fetchNews": "false", "checkForUpdates": False},
    "@jupyterlab/notebook-extension/tracker": {"windowingMode": "none"},  # every cell is in the page
    "@jupyterlab/docmanager-extension/plugin": {"autosave": False},
}
THEMES = {"light": "JupyterLab Light", "dark": "JupyterLab Dark"}
ACCESSIBILITY_RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"]
FAULTS_OF_STOCK_WIDGETS = {
    "aria-input-field-name": "noUi-handle",  # a slider's label stands beside the handle, but is not tied to it
}
"""What axe finds in ipywidgets itself: the rule, and the only class it is excused for."""

WAIT_MS = 30_000
"""For what a busy machine may take. A wait ends at once when what it waits for is there."""


def find_chromium() -> str | None:
    """The path of a Chromium or Chrome on this machine."""
    names = ("chromium", "chromium-browser", "google-chrome", "chrome", "msedge")
    return next(filter(None, map(shutil.which, names)), None)


class JupyterServer:
    """A JupyterLab server on loopback, on copies of the notebooks, with settings of its own.

    Raises:
        RuntimeError: it did not start; the message holds what it printed.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.served = folder / "served"
        self.settings = folder / "settings"
        self.log = folder / "server.log"
        self.token = "only-for-this-test-run"
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.url = f"http://127.0.0.1:{free.getsockname()[1]}"
        self.served.mkdir(parents=True)
        for plugin, values in SETTINGS.items():
            file = self.settings / f"{plugin}.jupyterlab-settings"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(json.dumps(values))
        places = ("CONFIG_DIR", "DATA_DIR", "RUNTIME_DIR")
        environment = os.environ | {f"JUPYTER_{place}": str(folder / place) for place in places}
        environment |= {
            "IPYTHONDIR": str(folder / "ipython"),
            "JUPYTERLAB_SETTINGS_DIR": str(self.settings),
            "JUPYTERLAB_WORKSPACES_DIR": str(folder / "workspaces"),
            "JUPYTER_PREFER_ENV_PATH": "1",
        }
        command = [
            *(sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root"),
            f"--ServerApp.root_dir={self.served}",
            f"--ServerApp.port={urlsplit(self.url).port}",
            "--ServerApp.port_retries=0",
            f"--IdentityProvider.token={self.token}",
            "--LabApp.expose_app_in_browser=True",  # lets the page's own commands be called
        ]
        with self.log.open("w") as log:
            self.process = subprocess.Popen(command, env=environment, stdout=log, stderr=subprocess.STDOUT)
        self._wait_until_it_answers()

    def serve(self, name: str) -> str:
        """Put a fresh copy of a notebook there and return its path; a name is `00_…` or `solutions/00_…`."""
        (source,) = (folder for folder in SOURCES if (folder / f"{name}.ipynb").exists())
        target = self.served / f"{name}.ipynb"
        target.parent.mkdir(exist_ok=True)
        shutil.copy(source / f"{name}.ipynb", target)
        return target.relative_to(self.served).as_posix()

    def stop(self) -> None:
        """End the server and its kernels."""
        self.process.terminate()
        try:
            self.process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def _wait_until_it_answers(self) -> None:
        deadline = time.monotonic() + WAIT_MS / 1000
        while time.monotonic() < deadline and self.process.poll() is None:
            with contextlib.suppress(OSError, urllib.error.URLError):
                urllib.request.urlopen(f"{self.url}/api/status?token={self.token}").close()
                return
            time.sleep(0.1)
        self.stop()
        raise RuntimeError(f"JupyterLab did not start:\n{self.log.read_text()}")


class Lab:
    """JupyterLab in one page of the browser, with a record of what the page asked for and what went wrong in it."""

    def __init__(self, page: Page, server: JupyterServer) -> None:
        self.page, self.server = page, server
        self.requests: list[str] = []
        self.page_errors: list[str] = []
        page.set_default_timeout(WAIT_MS)
        page.on("request", lambda request: self.requests.append(request.url))
        page.on("websocket", lambda websocket: self.requests.append(websocket.url))
        page.on("pageerror", lambda error: self.page_errors.append(str(error)))
        page.goto(f"{server.url}/lab?reset&token={server.token}")
        page.wait_for_function("() => window.jupyterapp?.started")
        page.evaluate("() => jupyterapp.restored")

    @contextlib.contextmanager
    def open(self, name: str, theme: str = "light") -> Iterator["Chapter"]:
        """A fresh copy of a notebook, connected to a fresh kernel. What holds for every page is checked at the end.

        Raises:
            AssertionError: see `check`.
        """
        page = self.page
        _command(page, "apputils:change-theme", theme=THEMES[theme])
        page.wait_for_selector(f"body[data-jp-theme-name='{THEMES[theme]}']", state="attached")
        path = self.server.serve(name)
        _command(page, "docmanager:open", path=path)
        page.wait_for_function(
            """path => {
                const context = jupyterapp.shell.currentWidget?.sessionContext
                const kernel = context?.path === path && context.session?.kernel
                return kernel && kernel.connectionStatus === 'connected' && kernel.status === 'idle'
            }""",
            arg=path,
        )
        page.evaluate("() => jupyterapp.shell.currentWidget.sessionContext.session.kernel.info")
        try:
            yield Chapter(page, name, theme)
            self.check()
        finally:
            page.evaluate(
                """async () => {
                    const chapter = jupyterapp.shell.currentWidget
                    await chapter.sessionContext.shutdown()
                    chapter.dispose()
                }"""
            )

    def check(self) -> None:
        """No request left this machine and no script of the page failed.

        Raises:
            AssertionError: the addresses, or the errors.
        """
        assert self.requests
        away = [url for url in self.requests if not _stays_here(url)]
        assert not away, f"requests to other machines: {away}"
        assert not self.page_errors, self.page_errors


def _command(page: Page, name: str, **arguments: str) -> None:
    """Execute one of JupyterLab's own commands and wait until it is done."""
    page.evaluate("([name, given]) => jupyterapp.commands.execute(name, given).then(() => {})", [name, arguments])


def _stays_here(url: str) -> bool:
    address = urlsplit(url)
    return address.scheme in ("data", "blob") or address.hostname == "127.0.0.1"


class Chapter:
    """One chapter open in the browser. Cells are named by their ids, controls by their labels."""

    def __init__(self, page: Page, name: str, theme: str) -> None:
        self.page, self.name, self.theme = page, name, theme

    def run(self) -> None:
        """Run all cells; returns when the last one is done and its output is in the page."""
        _command(self.page, "notebook:run-all-cells")

    # --- reading ------------------------------------------------------------------------------------------

    def output(self, cell: str) -> Locator:
        """Everything that a cell shows below its code."""
        ids = "() => jupyterapp.shell.currentWidget.content.widgets.map(cell => cell.model.id)"
        index = self.page.evaluate(ids).index(cell)
        return (
            self.page.locator(".jp-NotebookPanel:not(.lm-mod-hidden) .jp-Cell")
            .nth(index)
            .locator(".jp-OutputArea-output")
        )

    def cells_with_widgets(self) -> list[str]:
        """The ids of the cells that show a widget now."""
        cells = """() => jupyterapp.shell.currentWidget.content.widgets
            .filter(cell => cell.node.querySelector('.jupyter-widgets')).map(cell => cell.model.id)"""
        return list(self.page.evaluate(cells))

    def text(self, cell: str) -> str:
        """What a reader sees below a cell, as text."""
        return "\n".join(self.output(cell).all_inner_texts())

    def wait_for(self, cell: str, text: str) -> None:
        """Wait until a cell's output contains a text.

        Raises:
            AssertionError: it never appears; the message shows what is there.
        """
        expect(self.output(cell).filter(has_text=text).first).to_be_visible(timeout=WAIT_MS)

    # --- driving ------------------------------------------------------------------------------------------

    def move_slider(self, cell: str, label: str, steps: int) -> None:
        """Move a slider by arrow keys, as a person with a keyboard does; a negative number moves it back."""
        handle = self._labelled(cell, label).locator(".noUi-handle")
        handle.focus()
        for _ in range(abs(steps)):
            handle.press("ArrowRight" if steps > 0 else "ArrowLeft")

    def wait_for_slider(self, cell: str, label: str, value: int) -> None:
        """Wait until a slider stands at a value; the kernel moves it, too.

        Raises:
            AssertionError: it stays elsewhere.
        """
        readout = self._labelled(cell, label).locator(".widget-readout")
        expect(readout).to_have_text(str(value), timeout=WAIT_MS)

    def pick(self, cell: str, label: str, option: str) -> None:
        """Pick an option of a dropdown or a list."""
        self._labelled(cell, label).locator("select").select_option(label=option)

    def choose(self, cell: str, label: str, option: str) -> None:
        """Choose one of a row of toggle buttons or of radio buttons."""
        choices = self._labelled(cell, label)
        choices.locator("button, label").filter(has_text=option).first.click()

    def type(self, cell: str, label: str, text: str) -> None:
        """Replace what a text field or text area holds, and leave it."""
        field = self._labelled(cell, label).locator("input, textarea").first
        field.fill(text)
        field.press("Tab")

    def click(self, cell: str, name: str) -> None:
        """Click a button, or a checkbox, by what is written on it."""
        written = self.output(cell).locator("button, label.widget-label-basic, .widget-checkbox label")
        written.filter(has_text=name).first.click()

    def _labelled(self, cell: str, label: str) -> Locator:
        """The ipywidgets control with this description."""
        description = re.compile(f"^{re.escape(label)}$")
        return self.output(cell).locator(".widget-label").filter(has_text=description).locator("..")

    def measure(self, cell: str, change: Callable[[], None], view: str = ".widget-html-content") -> float:
        """Milliseconds from a control's change in the page to the changed view, the kernel's work included.

        Args:
            cell: where both are.
            change: moves a control once.
            view: a CSS selector of what the change is expected to change.

        Raises:
            playwright.sync_api.TimeoutError: the view stays as it was.
        """
        watched = self.output(cell).locator(view).first.element_handle()
        self.page.evaluate(
            """view => {
                window.minicodexMeasured = null
                let began
                const begin = event => { began ??= event.timeStamp }
                for (const kind of ['keydown', 'pointerdown', 'input', 'change']) {
                    document.addEventListener(kind, begin, {capture: true, once: true})
                }
                const observer = new MutationObserver(() => {
                    if (began === undefined) return  // an earlier change is still being drawn
                    observer.disconnect()
                    window.minicodexMeasured = performance.now() - began
                })
                observer.observe(view, {childList: true, characterData: true, subtree: true, attributes: true})
            }""",
            watched,
        )
        change()
        self.page.wait_for_function("() => window.minicodexMeasured !== null")
        return float(self.page.evaluate("() => window.minicodexMeasured"))

    # --- judging ------------------------------------------------------------------------------------------

    def screenshot(self, cell: str, what: str = "") -> Path:
        """Keep a picture of a cell's output as a test artefact; the folder is not in git."""
        SCREENSHOTS.mkdir(exist_ok=True)
        path = SCREENSHOTS / f"{'-'.join(filter(None, (self.name.replace('/', '-'), cell, what, self.theme)))}.png"
        self.output(cell).last.screenshot(path=path)
        return path

    def check_accessibility(self) -> None:
        """Let axe judge the outputs of all cells by the rules of WCAG 2.1 A and AA. JupyterLab itself is not ours.

        Raises:
            AssertionError: a list of what is wrong, where, and what helps.
        """
        self.page.evaluate(AXE_SCRIPT)
        result = self.page.evaluate(
            "options => axe.run({include: [['.jp-OutputArea-output']]}, options)",
            {"runOnly": ACCESSIBILITY_RULES, "resultTypes": ["violations"]},
        )
        wrong = [
            f"{violation['id']} ({violation['impact']}): {node['html']}\n  {node['failureSummary']}"
            for violation in result["violations"]
            for node in violation["nodes"]
            if FAULTS_OF_STOCK_WIDGETS.get(violation["id"], "\0") not in node["html"].partition(">")[0]
        ]
        assert not wrong, "\n".join(wrong)
        assert result["passes"], "axe found nothing to judge"
