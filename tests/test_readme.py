"""What the README says is true: its API table, its map, and the output of its commands."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

import minicodex

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def rows_under(heading):
    section = README.split(f"## {heading}\n")[1].split("\n## ")[0]
    return [re.findall(r"`([^`]+)`", line.split("|")[1]) for line in section.splitlines() if line.startswith("| `")]


def test_the_api_table_lists_every_public_name_once():
    assert sorted(name for row in rows_under("In Python") for name in row) == sorted(minicodex.__all__)


def test_public_names_exist_and_are_sorted():
    assert all(hasattr(minicodex, name) for name in minicodex.__all__)
    assert sorted(minicodex.__all__) == minicodex.__all__


def test_the_map_shows_every_room():
    shown = {room.rstrip("/") for row in rows_under("Map of the house") for room in row} - {"notebooks"}
    package = ROOT / "minicodex"
    rooms = {entry.name for entry in package.iterdir() if entry.suffix == ".py" or (entry / "__init__.py").exists()}
    assert rooms - shown == {"__init__.py", "samples.py"}
    assert shown - rooms == set()


COMMANDS = re.findall(r"```console\n\$ (.+?)\n(.*?)```", README, re.DOTALL)


@pytest.mark.parametrize(("line", "printed"), COMMANDS, ids=[line for line, _ in COMMANDS])
def test_commands_print_what_the_readme_shows(line, printed):
    text, _, command = line.rpartition(" | ")
    words = shlex.split(command)
    words = [sys.executable if word.startswith("python") else word for word in words]
    done = subprocess.run(
        words,
        cwd=ROOT,
        input=shlex.split(text)[1] if text else "",
        capture_output=True,
        encoding="utf-8",
        timeout=120,
        check=False,
    )
    shown = done.stdout.replace(sys.executable, "python")
    assert shown[: len(printed)] == printed


def test_the_python_example_runs_and_shows_feedback(capsys):
    ((example, printed),) = re.findall(r"```python\n(.*?)```\n\n```\n(.*?)```", README, re.DOTALL)
    exec(compile(example, "README.md", "exec"), {})
    assert capsys.readouterr().out == printed


def test_importing_minicodex_is_light():
    heavy = ["ipywidgets", "matplotlib", "mcp", "openai", "jsonschema"]
    code = f"from minicodex import *; import sys; print([name for name in {heavy} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, encoding="utf-8", check=True)
    assert done.stdout == "[]\n"
