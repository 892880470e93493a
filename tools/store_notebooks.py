"""Write notebooks in their one stored form: run from the top, then tidied.

    python tools/store_notebooks.py              every chapter and solution
    python tools/store_notebooks.py FILE…        only these
    python tools/store_notebooks.py --check      run nothing, say which ones are not in stored form

Why a form of our own: a saved notebook holds who ran it, when, how long it took and the state of every widget, so
two runs differ and no reviewer sees what changed. In the stored form two runs give the same bytes, and a viewer
without a kernel shows the text of a widget, not an error in its place.
"""

import argparse
import hashlib
import os
import re
import sys
from collections import Counter
from copy import deepcopy
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from nbformat import NotebookNode
from traitlets.config import Config

NOTEBOOKS = Path(__file__).resolve().parents[1] / "notebooks"

METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}
KEPT_CELL_METADATA = ("tags", "jupyter")
"""Tags steer the comparison, `jupyter` folds cells; all else in a cell's metadata is about one run of it."""

WIDGET = "application/vnd.jupyter.widget-view+json"
CELL_SECONDS = 60


def main(argv: list[str] | None = None) -> int:
    """Store or check notebooks. Returns 0, 1 if a check or a cell failed, 2 for a wrong command line."""
    parser = argparse.ArgumentParser(description="Write notebooks in their one stored form.")
    parser.add_argument("files", nargs="*", type=Path, help="notebooks; without any, every chapter and solution")
    parser.add_argument("--check", action="store_true", help="run and write nothing, name the untidy ones")
    arguments = parser.parse_args(argv)
    failed = False
    for path in arguments.files or sorted(NOTEBOOKS.rglob("[!.]*.ipynb")):
        before = path.read_text(encoding="utf-8")
        notebook = nbformat.reads(before, as_version=4)
        if not arguments.check:
            try:
                run(notebook, path.parent)
            except CellExecutionError as problem:
                print(f"{path}: a cell failed, nothing was written\n{problem}", file=sys.stderr)
                failed = True
                continue
        after = text(tidy(notebook))
        if after == before:
            continue
        if arguments.check:
            print(f"{path}: not in stored form; run: python tools/store_notebooks.py {path}", file=sys.stderr)
            failed = True
        else:
            path.write_text(after, encoding="utf-8", newline="\n")
            print(f"{path}: stored")
    return 1 if failed else 0


def run(notebook: NotebookNode, folder: Path) -> None:
    """Run every cell in a fresh kernel of this very environment, in place.

    Raises:
        CellExecutionError: a cell raised and is not tagged `raises-exception`.
    """
    os.environ["JUPYTER_PREFER_ENV_PATH"] = "1"  # not another kernel of this user that is also called python3
    client = NotebookClient(
        notebook,
        kernel_name="python3",
        timeout=CELL_SECONDS,
        store_widget_state=False,
        record_timing=False,
        config=Config({"KernelManager": {"transport_encryption": "auto"}}),  # without it a kernel prints a warning
        resources={"metadata": {"path": str(folder)}},
    )
    client.execute()


def tidy(notebook: NotebookNode) -> NotebookNode:
    """A copy of a notebook without what belongs to one run of it. Tidying twice changes nothing more.

    Execution counts stay as they are: a notebook that was not run from the top must not look as if it had been.
    """
    tidied = deepcopy(notebook)
    tidied.update(metadata=nbformat.from_dict(METADATA), nbformat=4, nbformat_minor=5)
    seen: Counter[str] = Counter()
    for cell in tidied.cells:
        cell.metadata = {key: cell.metadata[key] for key in KEPT_CELL_METADATA if cell.metadata.get(key)}
        cell.id = _cell_id(cell, seen)
        if cell.cell_type == "code":
            cell.outputs = [output for output in map(_tidy_output, _joined(cell.outputs)) if output]
    return tidied


def text(notebook: NotebookNode) -> str:
    """A notebook as the text of its file."""
    return str(nbformat.writes(notebook)).rstrip("\n") + "\n"


def _cell_id(cell: NotebookNode, seen: Counter[str]) -> str:
    """An id an author chose, else one made from the content: a new cell then changes no id but its own."""
    chosen: str = cell.get("id", "")
    if re.fullmatch(r"|[0-9a-f]{8}[0-9a-f-]*", chosen) or seen[chosen]:
        content = f"{cell.cell_type}\n{cell.source}"
        seen[content] += 1
        chosen = hashlib.sha256(f"{seen[content]}\n{content}".encode()).hexdigest()[:8]
    seen[chosen] += 1
    return chosen


def _joined(outputs: list[NotebookNode]) -> list[NotebookNode]:
    """Outputs with neighbouring pieces of one stream joined: where a stream is cut depends on timing."""
    joined: list[NotebookNode] = []
    for output in outputs:
        if output.output_type == "stream" and joined and joined[-1].get("name") == output.name:
            joined[-1].text += output.text
        else:
            joined.append(output)
    return joined


def _tidy_output(output: NotebookNode) -> NotebookNode | None:
    """One output without widget ids and without the paths of a traceback; None if nothing is left."""
    if output.output_type == "error":
        output.traceback = [f"{output.ename}: {output.evalue}"]
    elif "data" in output:
        output.data.pop(WIDGET, None)
        return output if output.data else None
    return output


if __name__ == "__main__":
    sys.exit(main())
