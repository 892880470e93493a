"""What `lab` and `test` do once their environment is there: start JupyterLab, or pytest.

`minicodex.bootstrap` reads the command line and makes the environment.
"""

import argparse
import os
import signal
import sys
from importlib.util import find_spec
from pathlib import Path

from minicodex.chapters_copy import handed_out_form, refresh_chapters

PACKAGE = Path(__file__).resolve().parent
CLONE = PACKAGE.parent if (PACKAGE.parent / "pyproject.toml").is_file() else None
"""The folder of the clone, or None where minicodex was installed from a wheel."""

NOTEBOOKS = CLONE / "notebooks" if CLONE else PACKAGE / "notebooks"


def run(arguments: argparse.Namespace) -> int:
    """Run `lab` or `test`. Returns the exit code: 0 good, 1 a test failed, 2 could not run."""
    needed = "jupyterlab" if arguments.command == "lab" else "pytest"
    extra = "notebooks" if arguments.command == "lab" else "test"
    if not CLONE and arguments.command == "test":
        return _cannot("the tests are not installed; they are part of a clone of the repository")
    if not find_spec(needed):
        return _cannot(f'{needed} is not installed: python -m pip install "minicodex[{extra}]"')
    try:
        return _lab(arguments) if arguments.command == "lab" else _test(everything=arguments.all)
    except KeyboardInterrupt:
        return _cannot("stopped")
    except OSError as problem:
        return _cannot(str(problem))


def _lab(arguments: argparse.Namespace) -> int:
    """Serve the learner's copy of the chapters until Ctrl-C."""
    copy = CLONE / "my-chapters" if CLONE else Path.cwd() / "minicodex-chapters"
    for sentence in refresh_chapters(NOTEBOOKS, copy, reset=arguments.reset):
        print(sentence)
    _trust_chapters()
    chapters = sorted(copy.glob("[0-9]*.ipynb"))
    print(f"JupyterLab opens on {copy}. Ctrl-C here ends it.", flush=True)

    # Defaults for this run, below the user's own settings: long lines of code wrap, so that none is cut off, and
    # JupyterLab does not ask whether it may fetch news.
    paths = filter(None, [str(PACKAGE / "jupyter_defaults"), os.environ.get("JUPYTER_CONFIG_PATH")])
    os.environ["JUPYTER_CONFIG_PATH"] = os.pathsep.join(paths)

    from jupyterlab.labapp import LabApp

    # A user's own kernel called python3 must not win over this environment's, which has minicodex.
    os.environ["JUPYTER_PREFER_ENV_PATH"] = "1"
    options = [
        f"--ServerApp.root_dir={copy}",
        "--ServerApp.answer_yes=True",  # the first Ctrl-C ends it, without a question
        "--ServerApp.allow_root=True",  # root is the only user of many containers; the server is on loopback
        "--Application.log_level=WARN",
        "--MappingKernelManager.transport_encryption=auto",  # without it each kernel prints a warning
        '--ServerApp.tornado_settings={"ws_ping_timeout": 30000}',  # ms; its default is too long, which it warns of
        # The course works offline: JupyterLab asks for no news and no newer version of itself.
        "--LabApp.news_url=None",
        "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
        "--LabApp.extension_manager=readonly",
    ]
    if chapters:
        options.append(f"--LabApp.default_url=/lab/tree/{chapters[0].name}")
    if arguments.port is not None:
        options += [f"--ServerApp.port={arguments.port}", "--ServerApp.port_retries=0"]
    if arguments.no_browser:
        options.append("--ServerApp.open_browser=False")
    code = 0
    try:
        LabApp.launch_instance(options)
    except KeyboardInterrupt:
        pass  # while it starts; later the server handles Ctrl-C itself
    except SystemExit as left:
        code = 2 if left.code else 0  # it has said why: the port is taken, for example
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)  # an early Ctrl-C leaves a thread of the server behind, for which Python would wait for ever


def _trust_chapters() -> None:
    """Sign the chapters in the form in which they are handed out: JupyterLab warns of a stranger's notebook."""
    import nbformat
    from nbformat.sign import NotebookNotary

    notary = NotebookNotary()
    for path in NOTEBOOKS.rglob("*.ipynb"):
        notary.sign(nbformat.reads(handed_out_form(path).decode(), as_version=4))


def _test(*, everything: bool) -> int:
    """Run pytest over the tests, and over the chapters with every stored output compared."""
    assert CLONE
    os.chdir(CLONE)

    import pytest

    # Started in the background, a process inherits that Ctrl-C is ignored, and the tests of Ctrl-C would wait for ever.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    options = ["tests", "notebooks", "--nbval", "--nbval-current-env", "--nbval-cell-timeout=60"]
    code = pytest.main(options if everything else [*options, "-m", "not long"])
    return {pytest.ExitCode.OK: 0, pytest.ExitCode.TESTS_FAILED: 1}.get(pytest.ExitCode(code), 2)


def _cannot(sentence: str) -> int:
    print(f"minicodex: {sentence}", file=sys.stderr)
    return 2
