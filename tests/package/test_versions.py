"""The versions that the tests run with: today's, the lowest that pyproject.toml allows, and those of the toolboxes."""

import sys

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version
from support.places import ROOT

from krypenv.inputs import words

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
EXTRAS = PROJECT["optional-dependencies"]
TOOLS = {"docs", "release"}  # extras that `make lowest` does without, as no code of the package needs them
TOOLBOXES, LANGUAGE = {*words.TOOLBOXES}, {*words.LANGUAGE}
FILES = {  # and the extras that are installed by each
    "constraints.txt": EXTRAS.keys() - TOOLBOXES - LANGUAGE,
    "constraints-lowest.txt": EXTRAS.keys() - TOOLBOXES - LANGUAGE - TOOLS,
    "constraints-language.txt": LANGUAGE | {"data", "llm"},
    "constraints-toolboxes.txt": TOOLBOXES | {"train", "dev", "data", "metagame", "openspiel"},
}
UNTESTED = {"torch"}  # below today's version


def wanted(file):
    """What the package and its extras need, of those extras that are installed by a file."""
    extras = [EXTRAS[extra] for extra in FILES[file]]
    needs = [Requirement(text) for texts in (PROJECT["dependencies"], *extras) for text in texts]
    return [need for need in needs if need.name != PROJECT["name"]]  # an extra may be made of others


def pinned(file):
    """The versions that a file pins, by name; a name has several where they depend on the Python."""
    found = {}
    for line in (ROOT / file).read_text().splitlines():
        if line and not line.startswith("#"):
            need = Requirement(line)
            [specifier] = need.specifier
            assert specifier.operator == "=="
            found.setdefault(canonicalize_name(need.name), []).append(Version(specifier.version))
    return found


@pytest.mark.parametrize("file", FILES)
def test_all_that_is_needed_is_pinned_to_a_version_that_is_allowed(file):
    versions = pinned(file)
    for need in wanted(file):
        found = versions[canonicalize_name(need.name)]
        assert all(version in need.specifier for version in found), need


def test_the_lowest_versions_are_the_lower_bounds():
    """To the digits of the bound: 3.6.1 is the lowest of >=3.6, if there is no 3.6.0."""
    versions = pinned("constraints-lowest.txt")
    for need in wanted("constraints-lowest.txt"):
        [bound] = [Version(each.version) for each in need.specifier if each.operator == ">="]
        if need.name not in UNTESTED:
            for found in versions[canonicalize_name(need.name)]:
                assert found.release[: len(bound.release)] == bound.release, need


def test_torch_is_the_same_in_all():
    """Any looser wish for torch brings a CUDA build."""
    assert len({tuple(pinned(file)["torch"]) for file in FILES if "language" not in file}) == 1
