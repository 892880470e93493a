"""What holds for every chapter and solution in the browser. What a chapter's own widget does has tests of its own."""

import re

import pytest
from jupyter_browser import ROOT

NOTEBOOKS = ROOT / "notebooks"
NAMES = sorted(path.relative_to(NOTEBOOKS).with_suffix("").as_posix() for path in NOTEBOOKS.rglob("[!.]*.ipynb"))
ONCE = [(name, "light") for name in NAMES]
AGAIN = [(name, "dark") for name in NAMES if "/" not in name]  # a solution shows what its chapter shows


@pytest.mark.parametrize(("name", "theme"), ONCE + AGAIN)
def test_chapter_runs_and_can_be_read_by_everyone(open_chapter, name, theme):
    chapter = open_chapter(name, theme)
    chapter.run()
    for cell in chapter.cells_with_widgets():
        if cell.startswith("predict-"):
            every_choice_is_explained(chapter, cell)
        chapter.screenshot(cell)
    shown = chapter.page.locator(".jp-NotebookPanel .jp-OutputArea").all_inner_texts()
    assert not [text for text in shown if "Error displaying widget" in text or "Loading widget" in text]
    chapter.check_accessibility()


def every_choice_is_explained(chapter, cell):
    for letter in re.findall(r"^([a-d])\)", chapter.text(cell), re.MULTILINE):
        chapter.click(cell, letter)
        chapter.wait_for(cell, f"you chose {letter}")
    assert "✓ right" in chapter.text(cell), cell
