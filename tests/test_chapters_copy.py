"""The learner's copy of the chapters: what `minicodex lab` adds, renews, keeps and backs up."""

import json
from hashlib import sha256
from pathlib import Path

import pytest

from minicodex.chapters_copy import refresh_chapters


def write(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def read(folder: Path) -> dict[str, str]:
    """Every file below a folder that a learner sees."""
    return {
        path.relative_to(folder).as_posix(): path.read_text(encoding="utf-8")
        for path in folder.rglob("[!.]*")
        if path.is_file()
    }


@pytest.fixture
def source(tmp_path: Path) -> Path:
    return write(tmp_path / "notebooks", {"00_first.md": "first", "solutions/00_first.md": "solved"})


@pytest.fixture
def copy(source: Path, tmp_path: Path) -> Path:
    refresh_chapters(source, tmp_path / "copy")
    return tmp_path / "copy"


def test_first_copy_is_complete_and_leaves_hidden_files_behind(source, tmp_path):
    write(source, {".ipynb_checkpoints/00_first.md": "old", "__pycache__/x.pyc": "x"})
    assert refresh_chapters(source, tmp_path / "copy") == ["Files copied: 2."]
    assert read(tmp_path / "copy") == {"00_first.md": "first", "solutions/00_first.md": "solved"}


def test_second_run_says_and_does_nothing(source, copy):
    before = {path: path.stat().st_mtime_ns for path in copy.rglob("*.md")}
    assert refresh_chapters(source, copy) == []
    assert {path: path.stat().st_mtime_ns for path in copy.rglob("*.md")} == before


def test_new_chapter_is_added_and_edited_one_is_kept(source, copy):
    write(copy, {"00_first.md": "my edit"})
    write(source, {"01_second.md": "second"})
    assert refresh_chapters(source, copy) == ["New in your copy: 01_second.md."]
    assert read(copy) == {
        "00_first.md": "my edit",
        "01_second.md": "second",
        "solutions/00_first.md": "solved",
    }


def test_newer_chapter_replaces_one_that_was_not_edited(source, copy):
    write(source, {"00_first.md": "first, mended"})
    assert refresh_chapters(source, copy) == ["Brought up to date, as you had not edited them: 00_first.md."]
    assert read(copy)["00_first.md"] == "first, mended"


def test_newer_chapter_does_not_replace_an_edited_one_and_says_so_each_time(source, copy):
    write(copy, {"00_first.md": "my edit"})
    write(source, {"00_first.md": "first, mended"})
    for _ in range(2):
        (sentence,) = refresh_chapters(source, copy)
        assert sentence.startswith("Kept as you edited them, though the course has newer ones: 00_first.md.")
        assert read(copy)["00_first.md"] == "my edit"


def test_deleted_chapter_comes_back(source, copy):
    (copy / "00_first.md").unlink()
    refresh_chapters(source, copy)
    assert read(copy)["00_first.md"] == "first"


def test_chapter_that_left_the_course_leaves_the_copy_unless_it_was_edited(source, copy):
    write(copy, {"00_first.md": "my edit"})
    (source / "00_first.md").unlink()
    (source / "solutions/00_first.md").unlink()
    assert refresh_chapters(source, copy) == []
    assert read(copy) == {"00_first.md": "my edit"}


def test_reset_renews_every_chapter_and_backs_up_what_was_edited(source, copy):
    write(copy, {"00_first.md": "my edit", "solutions/00_first.md": "my own", "notes.txt": "mine"})
    (sentence,) = refresh_chapters(source, copy, reset=True)[:1]
    (backup,) = copy.glob("backup-*")
    assert sentence == f"What you had edited is now in {backup}: 00_first.md, solutions/00_first.md."
    assert read(backup) == {"00_first.md": "my edit", "solutions/00_first.md": "my own"}
    now = {name: text for name, text in read(copy).items() if not name.startswith("backup-")}
    assert now == {"00_first.md": "first", "solutions/00_first.md": "solved", "notes.txt": "mine"}


def test_reset_of_an_unedited_copy_makes_no_backup(source, copy):
    assert refresh_chapters(source, copy, reset=True) == []
    assert list(copy.glob("backup-*")) == []


@pytest.mark.parametrize("record", ["", "not JSON", "[]"])
def test_lost_record_never_costs_an_edit(source, copy, record):
    write(copy, {"00_first.md": "my edit", ".minicodex-chapters.json": record})
    refresh_chapters(source, copy)
    assert read(copy)["00_first.md"] == "my edit"


def test_a_notebook_is_handed_out_without_its_outputs_and_authors_notes_are_not(tmp_path):
    cell = {"cell_type": "code", "source": "1 + 1", "execution_count": 1, "outputs": [{"data": {"text/plain": "2"}}]}
    notebook = {"cells": [cell, {"cell_type": "markdown", "source": "naïve"}], "nbformat": 4}
    source = write(tmp_path / "notebooks", {"00_first.ipynb": json.dumps(notebook), "WRITING.md": "for authors"})
    assert refresh_chapters(source, tmp_path / "copy") == ["Files copied: 1."]
    (text,) = read(tmp_path / "copy").values()
    assert json.loads(text)["cells"] == [cell | {"execution_count": None, "outputs": []}, notebook["cells"][1]]
    assert "naïve" in text
    assert refresh_chapters(source, tmp_path / "copy") == []
    assert json.loads((source / "00_first.ipynb").read_text(encoding="utf-8")) == notebook


def test_a_copy_that_was_handed_out_with_outputs_is_brought_up_to_date(source, copy):
    write(copy, {".minicodex-chapters.json": json.dumps({"00_first.md": sha256(b"older").hexdigest()})})
    write(copy, {"00_first.md": "older"})
    assert refresh_chapters(source, copy) == ["Brought up to date, as you had not edited them: 00_first.md."]
