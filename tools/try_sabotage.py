"""Turn each switch of the mutation lab on under the chapters, and list the cells that notice.

    python tools/try_sabotage.py                    every switch, every chapter: a few minutes
    python tools/try_sabotage.py trust_the_model    only this one

Each chapter is copied with one more cell in front, which turns the switch on, and run by nbval. A cell notices if its
output differs from the stored one, or if it fails.
"""

import argparse
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import nbformat

from minicodex.lab.sabotage import SWITCHES

NOTEBOOKS = Path(__file__).resolve().parents[1] / "notebooks"
TURN_ON = "from minicodex.lab.sabotage import sabotaged\nsabotage = sabotaged({switch!r})\nsabotage.__enter__()"


def main(argv: list[str] | None = None) -> int:
    """Print a table. Returns 0, or 1 if a switch was noticed by no chapter."""
    parser = argparse.ArgumentParser(description="Turn each switch on under the chapters.")
    parser.add_argument("switches", nargs="*", choices=[[], *SWITCHES], help="which; without any, all of them")
    unnoticed = [switch for switch in parser.parse_args(argv).switches or SWITCHES if not _try(switch)]
    for switch in unnoticed:
        print(f"{switch}: no chapter notices", file=sys.stderr)
    return 1 if unnoticed else 0


def _try(switch: str) -> bool:
    """Print which cells notice, a line for each chapter."""
    print(switch, flush=True)
    with tempfile.TemporaryDirectory() as folder:
        for path in sorted(NOTEBOOKS.glob("[0-9]*.ipynb")):
            notebook = nbformat.read(path, as_version=4)
            front = nbformat.v4.new_code_cell(TURN_ON.format(switch=switch), id="sabotage", execution_count=1)
            notebook.cells.insert(0, front)
            nbformat.write(notebook, Path(folder) / path.name)
        command = [sys.executable, "-m", "pytest", "-q", "-rf", "--nbval", "--nbval-current-env", folder]
        done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - our own words
        noticed: dict[str, list[str]] = {}
        for name, number in re.findall(r"^FAILED \S*?([\w]+\.ipynb)::Cell (\d+)", done.stdout, re.MULTILINE):
            cells = [
                cell for cell in nbformat.read(Path(folder) / name, as_version=4).cells if cell.cell_type == "code"
            ]
            noticed.setdefault(name, []).append(cells[int(number)].id)
    for name, ids in noticed.items():
        print(f"    {name.removesuffix('.ipynb'):<28}{', '.join(ids)}", flush=True)
    return bool(noticed)


if __name__ == "__main__":
    sys.exit(main())
