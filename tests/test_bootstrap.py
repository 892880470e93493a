"""The set-up behind `python3 minicodex lab` and `python3 minicodex test`.

Real processes, real virtual environments, real pip. Only what is set up is small: a clone without
dependencies, so that each run takes seconds and no network.
"""

import ast
import ctypes
import os
import re
import runpy
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from importlib import metadata
from pathlib import Path
from types import SimpleNamespace

import pytest
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

if os.name != "posix":
    pytest.skip("needs POSIX signals, limits and permissions", allow_module_level=True)

import resource

ROOT = Path(__file__).parents[1]
bootstrap = SimpleNamespace(**runpy.run_path(str(ROOT / "minicodex" / "bootstrap.py")))  # as the door loads it

BACKEND = """
import os, zipfile

def build_editable(directory, config_settings=None, metadata_directory=None):
    name, info = "minicodex-1-py3-none-any.whl", "minicodex-1.dist-info"
    with zipfile.ZipFile(os.path.join(directory, name), "w") as wheel:
        wheel.writestr("minicodex.pth", os.getcwd())
        wheel.writestr(info + "/METADATA", "Metadata-Version: 2.1\\nName: minicodex\\nVersion: 1\\n"
                       "Provides-Extra: notebooks\\nProvides-Extra: test\\n")
        wheel.writestr(info + "/WHEEL", "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
        wheel.writestr(info + "/RECORD", "")
    return name
"""
PYPROJECT = """
[build-system]
requires = []
build-backend = "backend"
backend-path = ["."]
[project]
name = "minicodex"
version = "1"
dependencies = []
optional-dependencies = { notebooks = [], test = [] }
"""
REPORT = "import sys\n\ndef run(_):\n    print('run in', sys.prefix)\n    return 0\n"
CLI = (
    "import shutil, sys\n\ndef main(argv):\n    print(*argv, shutil.which('python') == sys.executable)\n    return 1\n"
)


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A clone that has nothing to install; what runs after the set-up only reports where it runs."""
    clone = tmp_path_factory.mktemp("a folder with spaces") / "clone"
    package = clone / "minicodex"
    package.mkdir(parents=True)
    for file in ("__main__.py", "bootstrap.py"):
        shutil.copy(ROOT / "minicodex" / file, package)
    (clone / "backend.py").write_text(BACKEND)
    (clone / "pyproject.toml").write_text(PYPROJECT)
    (package / "__init__.py").touch()
    (package / "launch.py").write_text(REPORT)
    (package / "cli.py").write_text(CLI)
    return clone


@pytest.fixture
def fresh(template: Path, tmp_path: Path) -> Path:
    """A clone in which nothing was set up yet."""
    return Path(shutil.copytree(template, tmp_path / "clone"))


@pytest.fixture(scope="module")
def ready(template: Path) -> Path:
    """A clone in which `lab` has run once. Tests may change it, so each makes sure of what it starts from."""
    clone = Path(shutil.copytree(template, template.with_name("ready")))
    done = minicodex(clone, "lab")
    assert done.returncode == 0, done.stderr
    return clone


def minicodex(
    clone: Path, *arguments: str, before: Callable[[], object] | None = None, **environment: str
) -> subprocess.CompletedProcess[str]:
    """Run `python3 minicodex …` from another folder, as a person would from elsewhere."""
    return subprocess.run(
        [sys.executable, str(clone / "minicodex"), *arguments],
        cwd=clone.parent,
        env=os.environ | environment,
        preexec_fn=before,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )


def touch_pyproject(clone: Path, line: str = "") -> None:
    """Change pyproject.toml, so that what was set up is out of date."""
    pyproject = clone / "pyproject.toml"
    pyproject.write_text(f"{pyproject.read_text()}\n# {time.monotonic_ns()}\n{line}")


# --- it works ---------------------------------------------------------------------------------------------


def test_first_run_sets_up_an_environment_of_its_own_and_the_second_does_not(fresh):
    first = minicodex(fresh, "test")
    assert first.stdout == f"run in {fresh / '.venv'}\n"
    assert re.fullmatch(
        r"Setting up minicodex in .+\.venv .+\n  1/2 Python environment\n  1/2 pip\n"
        r"  1/2 pip: installing \d\n"
        r"  2/2 packages\n  2/2 packages: installing 1\nReady after \d+ s\.\n",
        first.stderr,
    )
    second = minicodex(fresh, "test")
    assert (second.stdout, second.stderr, second.returncode) == (first.stdout, "", 0)
    assert minicodex(fresh, "lab").stderr == "", "`test` installs all that `lab` needs"


def test_other_commands_run_there_too_once_it_is_set_up_and_python_means_that_one(ready):
    done = minicodex(ready, "inspect", "--", "python")
    assert (done.stdout, done.stderr, done.returncode) == ("inspect -- python True\n", "", 1)


def test_other_commands_before_the_set_up_name_the_two_that_do_it(fresh):
    done = minicodex(fresh, "compile")
    assert done.returncode == 2
    assert done.stderr == (
        "minicodex: nothing is set up yet; run `python3 minicodex lab` or `python3 minicodex test` once\n"
    )
    assert not (fresh / ".venv").exists()


@pytest.mark.parametrize(
    ("arguments", "code"), [(["lab", "--help"], 0), (["test", "--al1"], 2), (["lab", "--port", "x"], 2)]
)
def test_help_and_typing_errors_need_no_set_up(fresh, arguments, code):
    done = minicodex(fresh, *arguments)
    assert (done.returncode, "usage: minicodex" in done.stdout + done.stderr) == (code, True)
    assert not (fresh / ".venv").exists()


def test_changed_pyproject_is_set_up_again(ready):
    touch_pyproject(ready)
    assert "Setting up" in minicodex(ready, "lab").stderr
    assert minicodex(ready, "lab").stderr == ""


@pytest.mark.long
def test_interrupted_install_starts_over(ready):
    (ready / ".venv" / bootstrap.STAMP.name).write_text(bootstrap.INTERRUPTED)
    leftover = ready / ".venv" / "half-written"
    leftover.touch()
    done = minicodex(ready, "lab")
    assert (done.returncode, done.stdout) == (0, f"run in {ready / '.venv'}\n")
    assert not leftover.exists()


@pytest.mark.long
def test_environment_of_another_python_is_made_again(ready):
    config = ready / ".venv" / "pyvenv.cfg"
    config.write_text(re.sub(r"version = \S+", "version = 3.9.1", config.read_text()))
    touch_pyproject(ready)
    assert "1/2 Python environment" in minicodex(ready, "lab").stderr
    assert "3.9.1" not in config.read_text()


@pytest.mark.long
def test_running_environment_is_used_if_it_has_this_clone_and_all_it_needs(ready, tmp_path):
    other = tmp_path / "mine"
    subprocess.run([sys.executable, "-m", "venv", other], check=True)
    python = other / "bin" / "python"
    command = [python, ready / "minicodex", "lab"]
    before = subprocess.run(command, check=True, capture_output=True, text=True)
    assert before.stdout == f"run in {ready / '.venv'}\n"
    subprocess.run([python, "-m", "pip", "install", "-q", "-e", ready], check=True)
    after = subprocess.run(command, check=True, capture_output=True, text=True)
    assert (after.stdout, after.stderr) == (f"run in {other}\n", "")


def test_package_modules_do_not_shadow_others(ready):
    (ready / "minicodex" / "json.py").write_text("raise SystemExit('shadowed')")
    try:
        assert minicodex(ready, "lab").returncode == 0
    finally:
        (ready / "minicodex" / "json.py").unlink()


# --- it fails, in one sentence ----------------------------------------------------------------------------


def sentence(done: subprocess.CompletedProcess[str]) -> str:
    """The one sentence that a failed set-up ends with."""
    assert (done.returncode, done.stdout) == (2, "")
    assert "Traceback" not in done.stderr
    *progress, last = done.stderr.splitlines()
    assert all(line.startswith(("Setting up", "  ")) for line in progress), done.stderr
    return last


def test_old_python_can_read_the_door_and_gets_a_sentence():
    door = ROOT / "minicodex" / "__main__.py"
    assert ast.parse(door.read_text(encoding="ascii"), feature_version=(3, 0))
    pretend = f"import runpy, sys; sys.version_info = (3, 8); runpy.run_path({str(door)!r}, None, '__main__')"
    done = subprocess.run([sys.executable, "-c", pretend], capture_output=True, text=True, check=False)
    assert sentence(done) == "minicodex: needs Python 3.11 or newer; this is Python 3.8."


def test_no_package_index(ready):
    touch_pyproject(ready)
    original = (ready / "pyproject.toml").read_text()
    (ready / "pyproject.toml").write_text(original.replace("requires = []", 'requires = ["hatchling"]'))
    try:
        done = minicodex(ready, "lab", PIP_NO_INDEX="1", PIP_FIND_LINKS=str(ready), PIP_CONFIG_FILE=os.devnull)
        assert sentence(done).startswith("minicodex: pip found no hatchling: it may ask no package index")
    finally:
        (ready / "pyproject.toml").write_text(original)
    assert minicodex(ready, "lab").returncode == 0, "the same command goes on once that is mended"


def test_no_network(ready):
    touch_pyproject(ready)
    original = (ready / "pyproject.toml").read_text()
    (ready / "pyproject.toml").write_text(original.replace("requires = []", 'requires = ["hatchling"]'))
    nobody = "http://127.0.0.1:9/simple"  # the discard port: nothing answers there
    try:
        done = minicodex(
            ready,
            "lab",
            PIP_INDEX_URL=nobody,
            PIP_CONFIG_FILE=os.devnull,
            PIP_RETRIES="1",
            PIP_FIND_LINKS=str(ready),
        )
        assert sentence(done) == (
            "minicodex: the package index does not answer; run the same command again when there is a network"
        )
    finally:
        (ready / "pyproject.toml").write_text(original)


def test_no_room(fresh):
    def small_disk() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))

    assert sentence(minicodex(fresh, "lab", before=small_disk)) == (
        "minicodex: the disk is full; make about 1 GB of room and run the same command again"
    )
    assert minicodex(fresh, "lab").returncode == 0, "the same command goes on once there is room"


def test_folder_that_cannot_be_written(fresh):
    def lose_root_powers() -> None:
        drop_from_bounding_set, override_permissions = 24, 1
        ctypes.CDLL(None).prctl(drop_from_bounding_set, override_permissions, 0, 0, 0)

    fresh.chmod(0o555)
    try:
        assert sentence(minicodex(fresh, "lab", before=lose_root_powers)) == (
            f"minicodex: the folder {fresh} cannot be written; put the clone into a folder of your own"
        )
    finally:
        fresh.chmod(0o755)


def test_second_set_up_waits_for_the_first(ready):
    touch_pyproject(ready)
    command = [sys.executable, str(ready / "minicodex"), "lab"]
    with (ready / ".venv.lock").open("a") as lock:
        assert bootstrap._try_lock(lock.fileno())
        second = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        assert second.stderr
        assert second.stderr.readline() == "Another set-up of this folder is running; waiting for it.\n"
        assert second.poll() is None
    output, progress = second.communicate(timeout=300)
    assert (second.returncode, output) == (0, f"run in {ready / '.venv'}\n")
    assert "Ready after" in progress


@pytest.mark.long
@pytest.mark.parametrize("stop", [signal.SIGINT, signal.SIGTERM])
def test_stopped_set_up_ends_with_a_sentence_and_is_done_by_the_next_run(fresh, stop):
    command = [sys.executable, str(fresh / "minicodex"), "lab"]
    running = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert running.stderr
    for line in running.stderr:
        if "2/2" in line:
            break
    running.send_signal(stop)
    _, rest = running.communicate(timeout=300)
    assert (running.returncode, rest.splitlines()[-1]) == (
        2,
        "minicodex: stopped; the same command does the rest.",
    )
    done = minicodex(fresh, "lab")
    assert (done.returncode, done.stdout) == (0, f"run in {fresh / '.venv'}\n")


@pytest.mark.parametrize(
    ("output", "start"),
    [
        (
            "ensurepip is not available.  On Debian/Ubuntu systems, you need to install",
            "this Python cannot make",
        ),
        ("/usr/bin/python3: No module named venv", "this Python cannot make"),
        (
            "ERROR: Could not install packages due to an OSError: [Errno 28] No space left on device",
            "the disk is full",
        ),
        ("OSError: [Errno 122] Disk quota exceeded", "the disk is full"),
        ("[Errno 30] Read-only file system: '.venv.lock'", "the folder "),
        (
            "Failed to establish a new connection: [Errno -3] Temporary failure in name resolution",
            "the package index does",
        ),
        (
            "SSLError(SSLCertVerificationError(1, '[SSL: CERTIFICATE_VERIFY_FAILED]",
            "the package index could not be",
        ),
        (
            "note\nerror: subprocess-exited-with-error\nmore",
            "the set-up failed and said: error: subprocess-exited",
        ),
        ("", "the set-up failed and said: (nothing)"),
    ],
)
def test_what_went_wrong_is_said_in_one_sentence(output, start):
    assert bootstrap._explain(output).startswith(start)
    assert "\n" not in bootstrap._explain(output)


# --- the small readers ------------------------------------------------------------------------------------


@pytest.mark.parametrize("extra", [None, "notebooks", "test"])
def test_requirements_are_read_as_packaging_reads_them(extra):
    for name, bounds in bootstrap._requirements(extra):
        requirement = Requirement(name + bounds)
        assert (requirement.name, requirement.specifier) == (name, SpecifierSet(bounds))
        installed = metadata.version(name)
        assert bootstrap._satisfies(installed, bounds) == requirement.specifier.contains(installed)


@pytest.mark.parametrize(
    "version", ["1", "1.9", "2.0", "2", "2.4", "2.4.1", "2.13.9", "2.14", "3.0.1", "10.0", "2.9.post1"]
)
@pytest.mark.parametrize("bounds", [">=2.4,<3", ">=2,<2.14", ">=0.1.8,<0.2"])
def test_bounds_are_judged_as_packaging_judges_them(version, bounds):
    assert bootstrap._satisfies(version, bounds) == SpecifierSet(bounds).contains(version)


# --- everything at once -----------------------------------------------------------------------------------


@pytest.mark.long
def test_fresh_clone_serves_the_course_with_one_command(tmp_path):
    clone = tmp_path / "clone"
    subprocess.run(["git", "clone", "-q", ROOT, clone], check=True)
    command = [sys.executable, "minicodex", "lab", "--no-browser"]
    with subprocess.Popen(command, cwd=clone, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as lab:
        assert lab.stdout
        seen = []
        for line in lab.stdout:
            seen.append(line)
            if "http://127.0.0.1" in line:
                break
        lab.send_signal(signal.SIGINT)
        rest = lab.stdout.read()
    output = "".join(seen)
    assert "/lab/tree/00_one_call_end_to_end.ipynb?token=" in output
    assert (lab.returncode, "Traceback" in output + rest) == (0, False)
    status = subprocess.run(["git", "status", "--porcelain"], cwd=clone, check=True, capture_output=True, text=True)
    assert status.stdout == "", "a learner's work never dirties the clone"


def test_door_is_the_same_file_once_installed():
    """`minicodex` and `python -m minicodex` call the very function that `python3 minicodex` calls."""
    (script,) = metadata.entry_points(group="console_scripts", name="minicodex")
    assert script.value == "minicodex.__main__:main"
    assert script.load().__code__.co_filename == str(ROOT / "minicodex" / "__main__.py")
