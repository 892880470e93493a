"""The learner's copy of the chapters: filled, kept up to date, and never overwritten where it was edited.

Why a copy: JupyterLab saves into the files it shows. In the clone every run would be a change to commit. And the copy
is handed out without stored outputs: who reads the answer below a question does not ask it.
A small record in the copy holds the digest of each file as it was handed out; a file that still has it was
not edited and may be replaced by a newer one.
"""

import hashlib
import json
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

RECORD = ".minicodex-chapters.json"
FOR_AUTHORS = "WRITING.md"


def refresh_chapters(source: Path, copy: Path, *, reset: bool = False) -> list[str]:
    """Bring a learner's copy of the chapters up to date.

    What is missing is added, what was not edited is replaced by its newer version, what was edited is kept.
    With `reset` every chapter is fresh again and the edited ones move to a backup folder inside the copy.
    Files that are no chapters are never touched.

    Returns:
        What the learner should know, one sentence each; empty when nothing changed.

    Raises:
        OSError: the copy cannot be written. Every file in it is then either the old or the new one.
    """
    handed_out = _read_record(copy)
    course = {name: _digest(handed_out_form(source / name)) for name in _files(source)}
    edited = {
        name
        for name in handed_out.keys() | course.keys()
        if _digest_of(copy / name) not in (None, handed_out.get(name), course.get(name))
    }
    told = []
    if reset and edited:
        told.append(f"What you had edited is now in {_back_up(copy, edited)}: {_listed(edited)}.")
        edited = set()

    added = [name for name in course if not (copy / name).exists()]
    updated = [name for name in course.keys() - edited - set(added) if _digest_of(copy / name) != course[name]]
    outdated = [name for name in course.keys() & edited if handed_out.get(name) != course[name]]
    for name in added + updated:
        _replace(copy / name, handed_out_form(source / name))
    for withdrawn in handed_out.keys() - course.keys() - edited:
        (copy / withdrawn).unlink(missing_ok=True)
    _write_record(copy, {name: handed_out.get(name) if name in edited else course[name] for name in course})

    if added:
        told.append(f"New in your copy: {_listed(added)}." if handed_out else f"Files copied: {len(added)}.")
    if updated:
        told.append(f"Brought up to date, as you had not edited them: {_listed(updated)}.")
    if outdated:
        told.append(
            f"Kept as you edited them, though the course has newer ones: {_listed(outdated)}. "
            "`lab --reset` takes the newer ones and keeps yours in a backup folder."
        )
    return told


def _back_up(copy: Path, names: Iterable[str]) -> Path:
    backup = copy / time.strftime("backup-%Y-%m-%d-%H%M%S")
    for name in names:
        (backup / name).parent.mkdir(parents=True, exist_ok=True)
        (copy / name).rename(backup / name)
    return backup


def _files(folder: Path) -> Iterator[str]:
    """Every file for learners, as a path relative to its folder; hidden files and caches are none."""
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder)
        is_hidden = any(part.startswith((".", "__pycache__")) for part in name.parts)
        if path.is_file() and path.name != FOR_AUTHORS and not is_hidden:
            yield name.as_posix()


def handed_out_form(path: Path) -> bytes:
    """What a learner gets of a file: a notebook without its outputs, anything else as it is."""
    if path.suffix != ".ipynb":
        return path.read_bytes()
    notebook = json.loads(path.read_text(encoding="utf-8"))
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            cell |= {"outputs": [], "execution_count": None}
    return (json.dumps(notebook, ensure_ascii=False, indent=1) + "\n").encode()


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _digest_of(path: Path) -> str | None:
    return _digest(path.read_bytes()) if path.is_file() else None


def _replace(target: Path, content: bytes) -> None:
    """Write one file so that it is at every moment either the old or the new one."""
    target.parent.mkdir(parents=True, exist_ok=True)
    unfinished = target.with_name(f".{target.name}.new")
    unfinished.write_bytes(content)
    unfinished.replace(target)


def _listed(names: Iterable[str]) -> str:
    return ", ".join(sorted(names))


def _read_record(copy: Path) -> dict[str, str | None]:
    try:
        record = json.loads((copy / RECORD).read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError):
        record = None
    return record if isinstance(record, dict) else {}


def _write_record(copy: Path, handed_out: dict[str, str | None]) -> None:
    copy.mkdir(parents=True, exist_ok=True)
    unfinished = copy / f"{RECORD}.new"
    unfinished.write_text(json.dumps(handed_out, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    unfinished.replace(copy / RECORD)
