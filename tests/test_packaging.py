"""What pyproject.toml and environment.yml promise about installing minicodex."""

import re
import tomllib
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

ROOT = Path(__file__).parents[1]
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PROJECT = PYPROJECT["project"]
EXTRAS: dict[str, list[str]] = PROJECT["optional-dependencies"]


def dependency_lines() -> Iterator[str]:
    """Each line of pyproject.toml that holds one dependency, comment included."""
    section = ""
    for line in (ROOT / "pyproject.toml").read_text(encoding="utf-8").splitlines():
        if header := re.fullmatch(r"\[(.+)\]|(dependencies) = \[", line):
            section = header[1] or header[2]
        elif section in ("dependencies", "project.optional-dependencies") and line.lstrip().startswith('"'):
            yield line.strip()


DEPENDENCY_LINES = list(dependency_lines())
OUTSIDE = sorted(
    {
        line
        for group in (PROJECT["dependencies"], *EXTRAS.values())
        for line in group
        if not line.startswith("minicodex[")
    }
)


def test_every_dependency_stands_on_a_line_of_its_own():
    declared = len(PROJECT["dependencies"]) + sum(map(len, EXTRAS.values()))
    assert len(DEPENDENCY_LINES) == declared


@pytest.mark.parametrize("line", DEPENDENCY_LINES)
def test_every_dependency_has_its_reason_beside_it(line):
    reason = line.partition("#")[2].strip()
    assert len(reason.split()) >= 3, f"say why in a comment behind: {line}"


@pytest.mark.parametrize("text", OUTSIDE)
def test_every_dependency_is_bounded_to_what_was_tested(text):
    operators = {specifier.operator for specifier in Requirement(text).specifier}
    assert operators == {">=", "<"}


@pytest.mark.parametrize("text", [text for text in OUTSIDE if text not in EXTRAS["bench"]])
def test_installed_versions_are_the_ones_that_are_declared(text):
    requirement = Requirement(text)
    assert requirement.specifier.contains(metadata.version(requirement.name))


def test_core_needs_three_libraries_only():
    assert [Requirement(text).name for text in PROJECT["dependencies"]] == [
        "pydantic",
        "jsonschema",
        "orjson",
    ]


def test_test_extra_contains_what_lab_needs():
    included = Requirement(EXTRAS["test"][0])
    assert included.name == PROJECT["name"]
    assert included.extras == {"code", "live", "mcp", "notebooks"}


def test_conda_environment_takes_everything_from_pyproject():
    environment = yaml.safe_load((ROOT / "environment.yml").read_text(encoding="utf-8"))
    python, pip, from_pip = environment["dependencies"]
    assert environment["name"] == PROJECT["name"]
    assert pip == "pip"
    (line,) = from_pip["pip"]
    extras = re.fullmatch(r"-e \.\[(.+)\]", line)
    assert extras, "the clone itself is installed, editable, and nothing else"
    assert set(extras[1].split(",")) <= EXTRAS.keys()

    # Binder understands `python=X.Y` only, and falls back to an older Python for anything else.
    version = re.fullmatch(r"python=(3\.\d+)", python)
    assert version
    assert version[1] in SpecifierSet(PROJECT["requires-python"])
    assert f"Programming Language :: Python :: {version[1]}" in PROJECT["classifiers"]


def test_only_the_mcp_extra_and_its_users_bring_the_mcp_sdk():
    assert [name for name, lines in EXTRAS.items() if any(Requirement(line).name == "mcp" for line in lines)] == ["mcp"]
