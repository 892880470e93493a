"""Every exercise of every chapter: it has a solution that passes, and its stub is told in words that it is not done."""

import ast
import importlib
from pathlib import Path

import nbformat
import pytest

NOTEBOOKS = Path(__file__).parents[2] / "notebooks"
CHAPTERS = sorted(path.stem for path in NOTEBOOKS.glob("[0-9]*.ipynb"))


def checks(path):
    """Cell id to source of every cell that checks an exercise."""
    cells = nbformat.read(path, as_version=4).cells
    return {cell.id: cell.source for cell in cells if cell.id.startswith("exercise-") and cell.id.endswith("-check")}


EXERCISES = [
    pytest.param(name, cell, source, id=f"{name}-{cell}")
    for name in CHAPTERS
    for cell, source in checks(NOTEBOOKS / f"{name}.ipynb").items()
]


@pytest.mark.parametrize("name", CHAPTERS)
def test_a_chapter_has_two_or_three_exercises_and_a_solution_for_each(name):
    asked = checks(NOTEBOOKS / f"{name}.ipynb")
    solved = checks(NOTEBOOKS / "solutions" / f"{name}.ipynb")
    assert list(asked) == [f"exercise-{number}-check" for number in range(1, len(asked) + 1)]
    assert len(asked) in (2, 3)
    assert asked.keys() == solved.keys()
    for cell, source in solved.items():
        assert asked[cell] in source, "the solution asks the very same check"
        assert "assert verdict.done" in source


@pytest.mark.parametrize(("name", "cell", "source"), EXERCISES)
def test_a_stub_is_not_done_and_is_told_what_to_bring(name, cell, source):
    call = ast.parse(source, mode="eval").body
    assert isinstance(call, ast.Call), source
    lab = importlib.import_module(f"minicodex.lab.chapter_{name[:2]}")
    verdict = getattr(lab, call.func.attr)(*(... for _ in call.args))
    assert not verdict.done
    words = verdict.text()
    assert "not done yet" in words
    assert "ellipsis" not in words.lower(), "what is wrong is said in the reader's words"
    assert len(words.split()) >= 8, words
