"""What `minicodex lab` and `minicodex test` do once their environment is there, run as programs."""

import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
NO_CHROMIUM = {"PATH": os.path.dirname(sys.executable)}  # noqa: PTH120 - a string is what the environment takes


def launch(folder: Path, *arguments: str) -> list[str]:
    """The command line that runs the package found in a folder, with this environment's libraries."""
    code = "import sys; sys.path.insert(0, sys.argv.pop(1)); from minicodex.__main__ import main; sys.exit(main())"
    return [sys.executable, "-P", "-c", code, str(folder), *arguments]


def run(command: list[str], folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    merged = {name: value for name, value in (os.environ | environment).items() if value}
    return subprocess.run(command, cwd=folder, env=merged, capture_output=True, text=True, check=False, timeout=300)


@pytest.fixture
def installed(tmp_path: Path) -> Path:
    """What a wheel puts into an environment: the package and the chapters in it, no clone around them."""
    ignore = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "minicodex", tmp_path / "site" / "minicodex", ignore=ignore)
    (tmp_path / "site/minicodex/notebooks").mkdir()
    shutil.copy(ROOT / "tests/data/tiny.ipynb", tmp_path / "site/minicodex/notebooks/00_tiny.ipynb")
    return tmp_path / "site"


@pytest.fixture
def clone(installed: Path) -> Path:
    """The package with a test and a chapter of its own, as in a clone whose environment is set up."""
    (installed / "minicodex/notebooks").rename(installed / "notebooks")
    shutil.copy(ROOT / "pyproject.toml", installed)
    (installed / "tests").mkdir()
    (installed / "tests/test_one.py").write_text(
        "import pytest\n\ndef test_everyday():\n    assert 1\n\n@pytest.mark.long\ndef test_long():\n    assert 1\n"
    )
    return installed


# --- test -------------------------------------------------------------------------------------------------


def run_tests_of(clone: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """`minicodex test` in that clone, without the set-up, which has tests of its own."""
    code = (
        f"import sys, argparse; sys.path.insert(0, {str(clone)!r}); from minicodex.launch import run; "
        f"sys.exit(run(argparse.Namespace(command='test', all={'--all' in arguments})))"
    )
    return run([sys.executable, "-P", "-c", code], clone)


def test_test_runs_tests_and_chapters_and_leaves_out_long_ones(clone):
    done = run_tests_of(clone)
    assert done.returncode == 0, done.stdout
    assert "tests/test_one.py ." in done.stdout
    assert "notebooks/00_tiny.ipynb ...." in done.stdout
    assert "5 passed, 1 deselected" in done.stdout
    assert "6 passed in" in run_tests_of(clone, "--all").stdout


def test_test_fails_when_a_stored_output_of_a_chapter_is_no_longer_true(clone):
    chapter = clone / "notebooks/00_tiny.ipynb"
    chapter.write_text(chapter.read_text().replace("3 squared is 9", "3 squared is 6"))
    done = run_tests_of(clone)
    assert (done.returncode, "1 failed" in done.stdout) == (1, True)


def test_test_tells_a_failure_from_not_being_able_to_run(clone):
    (clone / "tests/test_one.py").write_text("def test_wrong():\n    assert False\n")
    assert run_tests_of(clone).returncode == 1
    shutil.rmtree(clone / "notebooks")
    assert run_tests_of(clone).returncode == 2


def test_installed_without_a_clone_there_are_no_tests(installed):
    done = run(launch(installed, "test"), installed)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "minicodex: the tests are not installed; they are part of a clone of the repository\n"


def test_missing_chromium_leaves_browser_tests_out_and_says_so():
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "tests/browser"]
    done = run(command, ROOT, CI="", **NO_CHROMIUM)
    assert "browser tests were left out: there is no Chromium. Debian or Ubuntu: sudo apt install" in done.stdout
    assert " deselected" in done.stdout
    assert "passed" not in done.stdout


def test_missing_chromium_is_a_failure_in_ci():
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "tests/browser", "-k", "failing_script"]
    done = run(command, ROOT, CI="true", **NO_CHROMIUM)
    assert done.returncode == 1
    assert "Chromium is missing. Debian or Ubuntu: sudo apt install chromium" in done.stdout


# --- lab --------------------------------------------------------------------------------------------------


@contextlib.contextmanager
def served(command: list[str], folder: Path) -> Iterator[tuple[subprocess.Popen[str], str, str]]:
    """A running `lab`: its process, its address, and what it printed until then."""
    settings = {f"JUPYTER_{kind}_DIR": str(folder / kind) for kind in ("CONFIG", "DATA", "RUNTIME")}
    with subprocess.Popen(
        command,
        cwd=folder,
        env=os.environ | settings,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    ) as lab:
        assert lab.stdout
        printed = ""
        for line in lab.stdout:
            printed += line
            if "http://127.0.0.1" in line:
                break
        try:
            yield lab, printed.split()[-1], printed
        finally:
            lab.kill()


def get(address: str) -> int:
    """The status of an address that a server has announced and is about to serve."""
    for _ in range(100):
        with contextlib.suppress(urllib.error.URLError), urllib.request.urlopen(address) as answer:
            return answer.status
        time.sleep(0.1)
    raise AssertionError(f"no answer from {address}")


@pytest.mark.skipif(os.name != "posix", reason="Ctrl-C is no signal there")
def default_setting(address: str, plugin: str, name: str) -> Any:
    """What JupyterLab does unless the user has said otherwise."""
    settings = address.replace("lab/tree/00_tiny.ipynb", f"lab/api/settings/@jupyterlab/{plugin}")
    with urllib.request.urlopen(settings) as answer:
        return json.load(answer)["schema"]["properties"][name]["default"]


def test_lab_serves_a_copy_at_the_first_chapter_and_ends_cleanly(installed, tmp_path):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = launch(installed, "lab", "--no-browser", "--port", str(port))
    with served(command, tmp_path) as (lab, address, printed):
        assert f"JupyterLab opens on {tmp_path / 'minicodex-chapters'}. Ctrl-C here ends it." in printed
        assert address.startswith(f"http://127.0.0.1:{port}/lab/tree/00_tiny.ipynb?token=")
        assert get(address.replace("lab/tree", "api/contents")) == 200
        assert default_setting(address, "notebook-extension:tracker", "codeCellConfig")["lineWrap"] is True
        assert default_setting(address, "apputils-extension:notification", "fetchNews") == "false"
        lab.send_signal(signal.SIGINT)
        assert lab.stdout
        rest = lab.stdout.read()
        assert (lab.wait(timeout=60), rest.strip()) == (0, "")


def test_lab_says_that_its_port_is_taken(installed, tmp_path):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        done = run(launch(installed, "lab", "--no-browser", "--port", str(port)), tmp_path)
    assert done.returncode == 2
    assert f"could not be started because port {port} is not available" in done.stderr


def test_lab_says_what_to_install_where_jupyterlab_is_missing(installed):
    """`-S` leaves out the installed libraries; until `lab` looks for JupyterLab, it needs none."""
    (installed / "minicodex/__init__.py").write_text("")  # its own libraries are as absent as JupyterLab
    command = launch(installed, "lab")
    command.insert(1, "-S")
    done = run(command, installed)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == 'minicodex: jupyterlab is not installed: python -m pip install "minicodex[notebooks]"\n'


def test_lab_says_why_when_its_copy_cannot_be_written(installed, tmp_path):
    (tmp_path / "minicodex-chapters").write_text("a file where the folder should be")
    done = run(launch(installed, "lab", "--no-browser"), tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith("minicodex: ")
    assert "minicodex-chapters" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.long
def test_wheel_holds_the_chapters_and_the_editable_install_no_second_copy(tmp_path):
    build = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", tmp_path, ROOT]
    subprocess.run(build, check=True)
    (wheel,) = tmp_path.glob("*.whl")
    names = subprocess.run(
        [sys.executable, "-m", "zipfile", "-l", wheel], check=True, capture_output=True, text=True
    ).stdout
    for needed in ("minicodex/__main__.py", "minicodex/py.typed", "minicodex/notebooks/00_one_call_end_to_end.ipynb"):
        assert needed in names
