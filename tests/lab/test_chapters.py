"""What makes a notebook a chapter: its head, its predictions, short cells, exercises with twins in the solutions."""

import __future__

import re
from pathlib import Path

import nbformat
import pytest

NOTEBOOKS = Path(__file__).parents[2] / "notebooks"
CHAPTERS = sorted(NOTEBOOKS.glob("[0-9][0-9]_*.ipynb"))
MAX_LINES = 8

every_chapter = pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)


def cells(path, kind):
    return [cell for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == kind]


def checks(path):
    return set(re.findall(r"\blab\.(check_\w+)\(", "\n".join(cell.source for cell in cells(path, "code"))))


def test_there_are_chapters():
    assert len(CHAPTERS) >= 2


@every_chapter
def test_head_asks_one_question_and_says_how_long_it_takes(path):
    head = cells(path, "markdown")[0].source
    assert head.startswith(f"# {int(path.stem[:2])} · ")
    assert len(re.findall(r"\*\*[^*]+\?\*\*", head)) == 1
    assert re.search(r"\d+ minutes", head)


@every_chapter
def test_reader_predicts_and_reads_about_the_real_one(path):
    assert any("predict(" in cell.source for cell in cells(path, "code"))
    assert any("## In the real Codex" in cell.source for cell in cells(path, "markdown"))


@every_chapter
def test_cells_are_short(path):
    for cell in cells(path, "code"):
        lines = [line for line in cell.source.splitlines() if line.strip() and not re.match(r"(from|import) ", line)]
        assert len(lines) <= MAX_LINES, cell.id


@every_chapter
def test_exercises_are_open_in_the_chapter_and_done_in_the_solutions(path):
    solutions = path.parent / "solutions" / path.name
    assert checks(path) == checks(solutions)
    assert checks(path)
    for cell in cells(path, "code"):
        if "lab.check_" in cell.source:
            assert cell.outputs[0].data["text/plain"].startswith("not done yet: "), cell.id
    for cell in cells(solutions, "code"):
        if "lab.check_" in cell.source:
            assert "assert verdict.done" in cell.source, cell.id
            assert cell.outputs[0].data["text/plain"].startswith("done: "), cell.id


def test_examples_of_the_style_page_run():
    page = (NOTEBOOKS / "WRITING.md").read_text(encoding="utf-8")
    names = {}
    exec(PREAMBLE, names)
    flags = __future__.annotations.compiler_flag
    for example in re.findall(r"```python\n(.*?)```", page, re.DOTALL):
        exec(compile(example, "notebooks/WRITING.md", "exec", flags), names)
    dial = names["dial"]()
    dial.children[0].children[0].click()
    assert dial.text() == "the dial stands at 1"
    assert names["check_dial"](dial.state).done
    assert names["check_dial"](1).text() == "not done yet: `dial` must be a `Dial`"


PREAMBLE = """
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any
from minicodex.lab.exercise import exercise
from minicodex.lab.html import Html, heading, panel, tag
from minicodex.lab.view import View
from minicodex.lab.widgets import Live, button, row
"""
