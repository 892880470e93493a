"""The public names: what is loaded at run time and what type checkers read are the same."""

import ast
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import minicodex

STUB = ast.parse(Path(minicodex.__file__).with_suffix(".pyi").read_text(encoding="utf-8"))
IMPORTED = {alias.name: node.module for node in STUB.body if isinstance(node, ast.ImportFrom) for alias in node.names}
PROMISED = next(
    ast.literal_eval(node.value) for node in STUB.body if isinstance(node, ast.Assign) and "__all__" in ast.dump(node)
)


def test_stub_and_table_name_the_same():
    assert sorted(IMPORTED) == PROMISED == minicodex.__all__


@pytest.mark.parametrize(("name", "home"), IMPORTED.items())
def test_name_is_the_one_of_its_module(name, home):
    assert getattr(minicodex, name) is getattr(import_module(home), name)
    assert name in dir(minicodex)


def test_unknown_name_is_refused_as_python_does():
    with pytest.raises(AttributeError, match="module 'minicodex' has no attribute 'run_turns'"):
        minicodex.run_turns  # noqa: B018
    with pytest.raises(ImportError):
        from minicodex import run_turns  # noqa: F401


def test_compiling_a_schema_loads_no_turn_loop():
    others = ["minicodex.turn", "minicodex.dispatch", "minicodex.planner", "pydantic"]
    code = f"from minicodex import compile_tool_schema; import sys; print([n for n in {others} if n in sys.modules])"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "[]"
