"""Our own tools: the plan, and the file tool that cannot leave its folder."""

import json

import pytest

from minicodex import ModelFunctionCall, StepState, collect_tools, dispatch_function_call, plan_tools
from minicodex.sources.builtin import MAX_FILE_BYTES, Builtins, PlanBoard


@pytest.fixture
def read(tmp_path):
    """Call `read_file` on a folder with a secret beside it."""
    folder = tmp_path / "work"
    folder.mkdir()
    (tmp_path / "secret.txt").write_text("secret")
    (folder / "notes.txt").write_text("naïve\n", encoding="utf-8")
    (folder / "inner").mkdir()
    (folder / "way-out").symlink_to(tmp_path / "secret.txt")
    (folder / "loop").symlink_to(folder / "loop")
    step = StepState("s")
    plan = plan_tools(collect_tools([Builtins(PlanBoard(), folder)], step), step)

    def call(path):
        return dispatch_function_call(ModelFunctionCall("c", "read_file", json.dumps({"path": path}), "s"), plan)

    call.folder = folder
    return call


def test_a_file_of_the_folder_is_read(read):
    assert read("notes.txt").output == "naïve\n"
    assert read("inner/../notes.txt").output == "naïve\n"


@pytest.mark.parametrize(
    "path",
    [
        "../secret.txt",
        "way-out",
        "loop",
        "inner",
        "",
        ".",
        "nope",
        "a\0b",
        "x" * 5_000,
        "inner/../../secret.txt",
        "~/x",
    ],
)
def test_nothing_outside_the_folder_is_read(read, path):
    result = read(path)
    assert not result.ok
    assert "at /path: no such file" in result.output
    assert "secret" not in result.output.replace(path, "")


def test_an_absolute_path_is_refused_and_the_folder_is_not_named(read):
    result = read(str(read.folder.parent / "secret.txt"))
    assert not result.ok
    assert str(read.folder) not in result.output


def test_a_long_file_is_cut_and_says_so(read):
    (read.folder / "long.txt").write_bytes(b"x" * (MAX_FILE_BYTES + 1))
    assert read("long.txt").output == "x" * MAX_FILE_BYTES + "\n(cut after 100,000 bytes)"
    (read.folder / "bytes.bin").write_bytes(b"\xff\xfe")
    assert read("bytes.bin").output == "\ufffd\ufffd"


def test_update_plan_has_the_shape_of_the_real_one():
    step = StepState("s")
    plan = plan_tools(collect_tools([Builtins(PlanBoard())], step), step)
    (contract,) = plan.contracts
    schema = contract.to_wire()["parameters"]
    item = schema["properties"]["plan"]["items"]
    assert (schema["required"], schema["additionalProperties"]) == (["plan"], False)
    assert list(schema["properties"]) == ["explanation", "plan"]
    assert item["properties"]["status"] == {"type": "string", "enum": ["pending", "in_progress", "completed"]}
    assert (item["required"], item["additionalProperties"]) == (["step", "status"], False)
