"""What runs before anything is installed: the two commands of a clone, and the environment they need.

`python3 minicodex lab` and `python3 minicodex test` work with nothing but Python. They use the running
environment if it has what is needed (conda, CI, a virtual environment of your own), else `.venv` in the
clone, which is made and kept up to date here. A stamp in it says what it was made for; it is written last,
so an install that was interrupted has no valid stamp and is done again.

Standard library only, and `__main__.py` loads this file by its path: the package itself needs pydantic.
"""

import argparse
import contextlib
import hashlib
import importlib
import json
import os
import queue
import re
import signal
import subprocess
import sys
import threading
import time
import tomllib
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path
from types import FrameType
from typing import Any, NoReturn
from urllib.parse import urlsplit
from urllib.request import url2pathname

ROOT = Path(__file__).resolve().parents[1]
PYPROJECT = ROOT / "pyproject.toml"
VENV = ROOT / ".venv"
VENV_PYTHON = VENV / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
STAMP = VENV / "minicodex-stamp"
LOG = VENV / "minicodex-set-up.log"

EXTRAS = {"lab": "notebooks", "test": "test"}
"""What each command needs, as an extra of pyproject.toml. The last one contains all before it."""

INTERRUPTED = "installing"
"""What the stamp says while packages are being installed."""


class CannotSetUpError(Exception):
    """Something on this machine stops the set-up; the message is one sentence for the person there."""


def main(argv: list[str]) -> int:
    """Run one command line in the right environment.

    Returns the exit code: 0 good, 1 judged bad, 2 could not run. On POSIX it does not return when the command
    has to run in `.venv`: that Python takes over this process.
    """
    command = argv[0] if argv else ""
    arguments = _parser().parse_args(argv) if command in EXTRAS else None  # a typing error needs no set-up
    try:
        if PYPROJECT.is_file() and (python := _python_for(command)):
            return _hand_over(python, argv)
    except CannotSetUpError as problem:
        print(f"minicodex: {problem}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("\nminicodex: stopped; the same command does the rest.", file=sys.stderr)
        return 2
    if arguments:
        return int(importlib.import_module("minicodex.launch").run(arguments))
    return int(importlib.import_module("minicodex.cli").main(argv))


def add_commands(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add `lab` and `test` to a program's commands; `main` runs them, `minicodex.cli` lists them."""
    lab = commands.add_parser("lab", help="open the course in JupyterLab, on a copy of the chapters that is yours")
    lab.add_argument(
        "--reset",
        action="store_true",
        help="start again from fresh chapters; edited ones are kept in a backup folder",
    )
    lab.add_argument("--port", type=int, metavar="N", help="serve on this port; otherwise the first free one from 8888")
    lab.add_argument("--no-browser", action="store_true", help="print the address, open nothing")
    test = commands.add_parser("test", help="run the everyday tests and compare every output of the chapters")
    test.add_argument("--all", action="store_true", help="the long tests as well")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="minicodex")
    add_commands(parser.add_subparsers(dest="command", required=True))
    return parser


# --- which environment --------------------------------------------------------------------------------------


def _python_for(command: str) -> Path | None:
    """The Python to run a command with, set up if need be; None if it is the running one.

    Raises:
        CannotSetUpError: no environment has what the command needs, and none could be made.
    """
    extra = EXTRAS.get(command)
    inside = Path(sys.prefix).resolve() == VENV.resolve()
    # Its own `.venv` is judged by the stamp, so that `lab` and `test` follow a changed pyproject.toml; the commands
    # that need no extra run there as long as the core has what it needs.
    if (not inside or extra is None) and _running_environment_has(extra):
        return None
    if not _is_set_up(extra):
        if extra is None:
            raise CannotSetUpError(
                "nothing is set up yet; run `python3 minicodex lab` or `python3 minicodex test` once"
            )
        try:
            _set_up(extra)
        except OSError as problem:
            raise CannotSetUpError(_explain(str(problem))) from problem
    return None if inside else VENV_PYTHON


def _is_set_up(extra: str | None) -> bool:
    """Whether `.venv` was made for this very pyproject.toml, Python and folder, with at least this extra.

    Without an extra, a `.venv` that was once finished is good enough, however old.
    """
    try:
        stamp = STAMP.read_text(encoding="utf-8")
    except OSError:
        return False
    if extra is None:
        return VENV_PYTHON.exists() and stamp != INTERRUPTED
    wide_enough = [_stamp(wider) for wider in EXTRAS.values()]
    return VENV_PYTHON.exists() and stamp in wide_enough[wide_enough.index(_stamp(extra)) :]


def _stamp(extra: str) -> str:
    made_for = (PYPROJECT.read_bytes(), ROOT, sys.version_info[:2])
    return f"{extra} {hashlib.sha256(repr(made_for).encode()).hexdigest()}\n"


def _running_environment_has(extra: str | None) -> bool:
    """Whether the running Python has this very clone installed, with all that the extra asks for."""
    try:
        origin = json.loads(metadata.distribution("minicodex").read_text("direct_url.json") or "{}")
        installed_from = Path(url2pathname(urlsplit(origin.get("url", "")).path)).resolve()
        return installed_from == ROOT and all(
            _satisfies(metadata.version(name), bounds) for name, bounds in _requirements(extra)
        )
    except metadata.PackageNotFoundError:
        return False


def _requirements(extra: str | None) -> Iterator[tuple[str, str]]:
    """Name and version bounds of everything that pyproject.toml asks for, core first."""
    project = tomllib.loads(PYPROJECT.read_text(encoding="utf-8"))["project"]
    lines = list(project["dependencies"]) + ([f"minicodex[{extra}]"] if extra else [])
    for line in lines:  # grows while it is walked: an extra may contain others
        name, extras, bounds = re.fullmatch(r"([\w.-]+)(?:\[(.+)\])?(.*)", line).groups()  # type: ignore[union-attr]
        if name == "minicodex":
            lines += [inner for one in extras.split(",") for inner in project["optional-dependencies"][one]]
        else:
            yield name, bounds


def _satisfies(version: str, bounds: str) -> bool:
    """Whether a version lies within bounds such as `>=2.14,<3`, the only form that pyproject.toml uses."""

    def release(text: str) -> list[int]:
        return [int(number) for number in re.match(r"[\d.]*\d", text)[0].split(".")]  # type: ignore[index]

    lower, upper = re.fullmatch(r">=(.+),<(.+)", bounds).groups()  # type: ignore[union-attr]
    return release(lower) <= release(version) < release(upper)


def _hand_over(python: Path, argv: list[str]) -> int:
    """Run the same command line with the Python of `.venv`, which is then also what `python` means in it."""
    os.environ |= {"VIRTUAL_ENV": str(VENV), "PATH": f"{python.parent}{os.pathsep}{os.environ.get('PATH', '')}"}
    command = [str(python), str(ROOT / "minicodex"), *argv]
    if os.name == "posix":
        os.execv(command[0], command)  # noqa: S606 - our own Python; signals then reach one process, not two
    with subprocess.Popen(command) as child:  # noqa: S603
        while True:
            with contextlib.suppress(KeyboardInterrupt):  # the child got it as well and ends in its own way
                return child.wait()


# --- making it ----------------------------------------------------------------------------------------------


def _set_up(extra: str) -> None:
    """Make `.venv` or bring it up to date, telling the person what is going on.

    Raises:
        CannotSetUpError: with the reason in one sentence. What was downloaded stays in pip's cache.
        OSError: the clone's folder cannot be written.
    """
    with _only_one_at_a_time():
        if _is_set_up(extra):  # by the process that we waited for
            return
        started = time.monotonic()
        print(f"Setting up minicodex in {VENV} (once, one to two minutes).", file=sys.stderr)
        clear = _must_be_cleared()
        STAMP.unlink(missing_ok=True)
        if clear or not _has_pip():
            make = [sys.executable, "-m", "venv", "--without-pip", *(["--clear"] if clear else []), str(VENV)]
            _run("1/2 Python environment", make)
            _run("1/2 pip", [str(VENV_PYTHON), "-m", "ensurepip", "--default-pip"])  # venv hides why it fails
            STAMP.unlink(missing_ok=True)
        pip = [str(VENV_PYTHON), "-m", "pip", "install", "--no-input", "--progress-bar", "off"]
        if not sys.dont_write_bytecode:
            pip.append("--no-compile")  # a quarter faster; Python compiles what it uses when it first does
        _run("2/2 packages", [*pip, "--editable", f".[{extra}]"])
        unfinished = STAMP.with_suffix(".new")
        unfinished.write_text(_stamp(extra), encoding="utf-8")
        unfinished.replace(STAMP)
        print(f"Ready after {time.monotonic() - started:.0f} s.", file=sys.stderr)


def _must_be_cleared() -> bool:
    """Whether what is in `.venv` is of no use: half installed, or made by another version of Python.

    A half-written package looks complete to pip, so an interrupted install starts over, from pip's cache.
    """
    try:
        interrupted = STAMP.is_file() and STAMP.read_text(encoding="utf-8") == INTERRUPTED
        made_by = re.search(
            r"^version\w* *= *(\d+)\.(\d+)", (VENV / "pyvenv.cfg").read_text(encoding="utf-8"), re.MULTILINE
        )
    except FileNotFoundError:
        return VENV.exists()
    return interrupted or not made_by or tuple(map(int, made_by.groups())) != sys.version_info[:2]


def _has_pip() -> bool:
    command = [str(VENV_PYTHON), "-m", "pip", "--version"]
    return VENV_PYTHON.exists() and not subprocess.run(command, capture_output=True, check=False).returncode  # noqa: S603


@contextlib.contextmanager
def _only_one_at_a_time() -> Iterator[None]:
    """Hold this clone's set-up lock, or wait for it. The system frees it if we are killed."""
    with (ROOT / ".venv.lock").open("a") as lock:
        if not _try_lock(lock.fileno()):
            print("Another set-up of this folder is running; waiting for it.", file=sys.stderr)
            while not _try_lock(lock.fileno()):
                time.sleep(0.2)
        yield


def _try_lock(file: int) -> bool:
    lock: Any
    try:
        if os.name == "nt":
            lock = importlib.import_module("msvcrt")
            lock.locking(file, lock.LK_NBLCK, 1)
        else:
            lock = importlib.import_module("fcntl")
            lock.flock(file, lock.LOCK_EX | lock.LOCK_NB)
    except OSError:
        return False
    return True


def _run(step: str, command: list[str]) -> None:
    """Run one step of the set-up and show its progress.

    Raises:
        CannotSetUpError: it failed; all that it printed is in the log, if that can be written.
    """
    environment = os.environ | {
        "PIP_USER": "0",
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        "PYTHONUNBUFFERED": "1",
    }
    with (
        _termination_stops(),
        subprocess.Popen(  # noqa: S603
            command,
            cwd=ROOT,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            errors="replace",
        ) as process,
    ):
        try:
            output = _follow(step, process)
        except BaseException:
            process.terminate()
            raise
    if process.returncode:
        with contextlib.suppress(OSError):
            LOG.write_text(output, encoding="utf-8")
        raise CannotSetUpError(_explain(output))


def _follow(step: str, process: "subprocess.Popen[str]") -> str:
    """Read what a step prints. A terminal gets one line kept up to date, a file one line per change.

    From the moment that packages are written, the stamp says so: being killed then may leave half of one.
    """
    lines: queue.SimpleQueue[str | None] = queue.SimpleQueue()

    def read() -> None:
        for line in process.stdout or ():
            lines.put(line)
        lines.put(None)

    threading.Thread(target=read, daemon=True).start()
    started, output, shown, on_terminal = time.monotonic(), "", "", sys.stderr.isatty()
    while True:
        doing = _doing(step, output)
        if "installing" in doing and doing != shown:
            STAMP.write_text(INTERRUPTED, encoding="utf-8")
        if on_terminal:
            print(
                f"\r  {doing}, {time.monotonic() - started:.0f} s ".ljust(79),
                end="",
                file=sys.stderr,
                flush=True,
            )
        elif shown != doing and "found" not in doing:
            print(f"  {doing}", file=sys.stderr, flush=True)
        shown = doing
        with contextlib.suppress(queue.Empty):
            if (line := lines.get(timeout=1)) is None:
                break
            output += line
    if on_terminal:
        print(file=sys.stderr)
    return output


def _doing(step: str, output: str) -> str:
    """What a step is busy with, read from what pip has printed so far."""
    if installing := re.search(r"^Installing collected packages: (.+)", output, re.MULTILINE):
        return f"{step}: installing {installing[1].count(',') + 1}"
    found = len(re.findall(r"^Collecting ", output, re.MULTILINE))
    return f"{step}: {found} found" if found else step


@contextlib.contextmanager
def _termination_stops() -> Iterator[None]:
    """Treat SIGTERM like Ctrl-C, so that pip does not go on alone."""

    def stop(_signal: int, _frame: FrameType | None) -> NoReturn:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


# --- why it failed ------------------------------------------------------------------------------------------

_REASONS = {
    r"No module named '?(ensurepip|venv)|ensurepip is (not available|disabled)": """
        this Python cannot make virtual environments; on Debian or Ubuntu `sudo apt install python3-venv`
        mends that, elsewhere a Python from python.org""",
    r"Errno (27|28|122)\b|No space left|File too large|quota|not enough space": """
        the disk is full; make about 1 GB of room and run the same command again""",
    r"Errno (1|13|30)\b|Permission denied|Access is denied|Read-only file system": """
        the folder {ROOT} cannot be written; put the clone into a folder of your own""",
    r"CERTIFICATE_VERIFY_FAILED|SSLError": """
        the package index could not be trusted, often because of a company proxy; give pip its certificate
        (PIP_CERT) and run the same command again""",
    r"ConnectionError|Timeout|ProxyError|name resolution|unreachable|Connection (refused|reset)": """
        the package index does not answer; run the same command again when there is a network""",
    r"No matching distribution found for (?P<what>[\w.-]+)": """
        pip found no {what}: it may ask no package index or has none for this version of Python""",
}
"""What a failed step prints, as a pattern, and what that means to a person. The first one that fits counts."""


def _explain(output: str) -> str:
    """One sentence on why a step failed, from what it printed."""
    for pattern, sentence in _REASONS.items():
        if found := re.search(pattern, output):
            return " ".join(sentence.format(ROOT=ROOT, **found.groupdict()).split())
    errors = [line for line in output.splitlines() if "error" in line.lower()] or output.splitlines() or ["(nothing)"]
    return f"the set-up failed and said: {errors[-1].strip()} (all of it: {LOG})"
