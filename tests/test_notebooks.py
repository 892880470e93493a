"""What must hold for every notebook, so that running them with nbval proves something.

nbval compares a cell only if it was stored with an execution count, and cannot compare some kinds of output.
`tools/store_notebooks.py` writes the stored form.
"""

import ast
import re
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
import store_notebooks
from nbformat import NotebookNode

ROOT = Path(__file__).parents[1]
PATHS = sorted([*(ROOT / "notebooks").rglob("[!.]*.ipynb"), *(ROOT / "tests" / "data").glob("*.ipynb")])
IDS = [path.relative_to(ROOT).as_posix() for path in PATHS]

NOT_COMPARED: dict[tuple[str, str], str] = {}
"""Cells whose output nbval may ignore: (notebook, cell id) and the reason."""

IGNORING_TAGS = {"nbval-ignore-output", "nbval-skip"}
FAILS_UNDER_NBVAL = {"Output", "capture", "interact", "interact_manual", "interactive", "interactive_output"}

every_notebook = pytest.mark.parametrize("path", PATHS, ids=IDS)


def read(path: Path) -> NotebookNode:
    return nbformat.read(path, as_version=4)


def code_cells(path: Path) -> list[NotebookNode]:
    return [cell for cell in read(path).cells if cell.cell_type == "code" and cell.source.strip()]


@every_notebook
def test_notebook_is_in_stored_form(path):
    stored = path.read_text(encoding="utf-8")
    tidied = store_notebooks.text(store_notebooks.tidy(nbformat.reads(stored, as_version=4)))
    assert tidied == stored, f"run: python tools/store_notebooks.py {path.relative_to(ROOT)}"


@every_notebook
def test_every_code_cell_was_executed_in_order(path):
    counts = [cell.execution_count for cell in code_cells(path)]
    assert counts == list(range(1, len(counts) + 1))


@every_notebook
def test_every_print_was_stored(path):
    """A cell that prints at its top level has an output, or nbval would compare nothing with something."""
    for cell in code_cells(path):
        prints = any(
            isinstance(line, ast.Expr) and isinstance(line.value, ast.Call) and ast.unparse(line.value.func) == "print"
            for line in ast.parse(re.sub(r"^[%!].*", "", cell.source, flags=re.MULTILINE)).body
        )
        assert cell.outputs or not prints, cell.id


@every_notebook
def test_only_cells_meant_to_fail_hold_an_error_and_none_a_warning(path):
    for cell in code_cells(path):
        fails = any(output.output_type == "error" for output in cell.outputs)
        assert fails == ("raises-exception" in cell.metadata.get("tags", [])), cell.id
        assert not any(output.get("name") == "stderr" for output in cell.outputs), cell.id


@every_notebook
def test_few_cells_are_left_out_of_comparison_and_each_has_a_reason(path):
    name = path.relative_to(ROOT).as_posix()
    left_out = {
        (name, cell.id)
        for cell in code_cells(path)
        if IGNORING_TAGS & set(cell.metadata.get("tags", [])) or re.search(r"#\s*NBVAL_(IGNORE|SKIP)", cell.source)
    }
    assert left_out == {key for key in NOT_COMPARED if key[0] == name}


@every_notebook
def test_no_cell_uses_what_nbval_cannot_compare(path):
    for cell in code_cells(path):
        source = re.sub(r"^[%!].*", "", cell.source, flags=re.MULTILINE)
        used = {node.id for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Name)}
        used |= {node.attr for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Attribute)}
        assert not used & FAILS_UNDER_NBVAL, cell.id


@every_notebook
def test_local_links_lead_somewhere(path):
    for cell in read(path).cells:
        if cell.cell_type != "markdown":
            continue
        for target in re.findall(r"\]\(([^)\s]+)\)|\b(?:src|href)=\"([^\"]+)\"", cell.source):
            link = "".join(target).partition("#")[0]
            if link and not re.match(r"[a-z]+:", link):
                assert (path.parent / link).exists(), f"{cell.id}: {link}"


def test_reasons_for_leaving_out_are_sentences():
    assert all(len(reason.split()) >= 4 for reason in NOT_COMPARED.values())


# --- the tool itself --------------------------------------------------------------------------------------


def as_jupyter_saves_it() -> NotebookNode:
    """A notebook as a person saves it: run out of order, with widget state, timings and pieces of output."""
    cells = [
        nbformat.v4.new_markdown_cell("# Title", metadata={"editable": True}),
        nbformat.v4.new_code_cell(
            "import ipywidgets\nipywidgets.IntSlider(value=1)",
            execution_count=7,
            metadata={"execution": {"iopub.execute_input": "2026-01-01"}, "tags": []},
            outputs=[
                nbformat.v4.new_output(
                    "execute_result",
                    {"text/plain": "IntSlider(value=1)", store_notebooks.WIDGET: {"model_id": "1"}},
                    execution_count=7,
                ),
            ],
        ),
        nbformat.v4.new_code_cell("print(1)\nprint(2)", id="two-lines"),
        nbformat.v4.new_code_cell("1 / 0", metadata={"tags": ["raises-exception"], "collapsed": False}),
        nbformat.v4.new_code_cell("print(1)\nprint(2)"),
        nbformat.v4.new_code_cell("print(1)\nprint(2)"),
    ]
    cells[2].outputs = [nbformat.v4.new_output("stream", text="1\n"), nbformat.v4.new_output("stream", text="2\n")]
    metadata = {
        "widgets": {"state": {}},
        "kernelspec": {"name": "mine", "display_name": "Mine"},
        "language_info": {"name": "python", "version": "3.11.7"},
    }
    return nbformat.v4.new_notebook(cells=cells, metadata=metadata)


def test_tidying_leaves_nothing_of_one_run():
    saved = as_jupyter_saves_it()
    untouched = store_notebooks.text(saved)
    tidied = store_notebooks.tidy(saved)
    assert store_notebooks.text(saved) == untouched, "the input is not changed"
    assert store_notebooks.text(store_notebooks.tidy(tidied)) == store_notebooks.text(tidied)
    assert tidied.metadata == store_notebooks.METADATA
    assert [cell.metadata for cell in tidied.cells] == [{}, {}, {}, {"tags": ["raises-exception"]}, {}, {}]
    assert tidied.cells[1].outputs[0].data == {"text/plain": "IntSlider(value=1)"}
    assert tidied.cells[1].execution_count == 7, "tidying does not pretend that a notebook was run"
    assert [output.text for output in tidied.cells[2].outputs] == ["1\n2\n"]


def test_ids_that_an_author_chose_stay_and_others_follow_the_content():
    saved = as_jupyter_saves_it()
    first = [cell.id for cell in store_notebooks.tidy(saved).cells]
    assert first[2] == "two-lines"
    assert len(set(first)) == len(first)
    again = as_jupyter_saves_it()
    again.cells.insert(1, nbformat.v4.new_markdown_cell("a new cell"))
    second = [cell.id for cell in store_notebooks.tidy(again).cells]
    assert second[:1] + second[2:] == first, "a new cell changes no id but its own"


def test_storing_twice_gives_the_same_bytes(tmp_path):
    path = tmp_path / "saved.ipynb"
    nbformat.write(as_jupyter_saves_it(), path)
    stored = []
    for _ in range(2):
        assert store_notebooks.main([str(path)]) == 0
        stored.append(path.read_bytes())
    assert stored[0] == stored[1]
    assert [cell.execution_count for cell in code_cells(path)] == [1, 2, 3, 4, 5]
    assert code_cells(path)[2].outputs[0].traceback == ["ZeroDivisionError: division by zero"]
    assert store_notebooks.main(["--check", str(path)]) == 0


def test_check_names_an_untidy_notebook_and_writes_nothing(tmp_path):
    path = tmp_path / "saved.ipynb"
    nbformat.write(as_jupyter_saves_it(), path)
    before = path.read_bytes()
    command = [sys.executable, store_notebooks.__file__, "--check", path]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, path.read_bytes() == before) == (1, True)
    assert done.stderr.startswith(f"{path}: not in stored form")


def test_failing_cell_is_named_and_nothing_is_written(tmp_path, capsys):
    path = tmp_path / "failing.ipynb"
    nbformat.write(nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("1 / 0")]), path)
    before = path.read_bytes()
    assert store_notebooks.main([str(path)]) == 1
    assert path.read_bytes() == before
    assert "1 / 0" in capsys.readouterr().err
