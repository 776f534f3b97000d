"""The shape of the house: imports go one way, links and guards hold, and nothing is imported before it is needed."""

import ast
import functools
import importlib
import importlib.util
import re
import subprocess
import sys
from graphlib import TopologicalSorter
from pathlib import Path

import pytest
from support.places import ROOT

PACKAGE_DIRS = {"krypenv": "krypenv", "krypenv.agents": "agents", "krypenv.training": "training"}

MADE = {"__pycache__", "node_modules"}  # folders that tools make

# The layers, from the lowest: a module imports from its own layer and from lower ones. It lies in the layer of the
# longest of these names that it begins with.
LAYERS = [
    ["krypenv.runtime", "krypenv.inputs"],
    ["krypenv.cards", "krypenv.families", "krypenv.notation", "krypenv.observation", "krypenv.rules",
     "krypenv.arguments"],
    ["krypenv.state", "krypenv.kernels", "krypenv.features", "krypenv.whole_state", "krypenv.worlds", "krypenv.rewards",
     "krypenv.stepping", "krypenv.engine"],
    ["krypenv.game", "krypenv.pictures"],
    ["krypenv.envs", "krypenv.adapters", "krypenv.krypkasino_v0", "krypenv.kasino_v0", "krypenv.mulle_v0"],
    ["krypenv.agents", "krypenv.advice"],
    ["krypenv.ui"],
    ["krypenv.training"],
    ["krypenv", "krypenv.training.cli", "krypenv.training.examples", "krypenv.doctor", "krypenv.__main__"],
]  # fmt: skip
# What `[train]` installs, and what a bare package has but does not import before it is needed.
OF_TRAINING = {"torch", "stable_baselines3", "sb3_contrib", "tensorboard"}
HEAVY = {
    "numba", "scipy", "matplotlib", "openskill", "filelock", "ray", "typer", "pydantic", "rich", "pygame",
    "PIL",
}  # fmt: skip


def source_modules() -> dict[str, Path]:
    """The name of every module of the project, and its file."""
    modules = {}
    for package, directory in PACKAGE_DIRS.items():
        for path in sorted((ROOT / directory).rglob("*.py")):
            inner = path.relative_to(ROOT / directory).with_suffix("").parts
            modules[".".join([package, *inner]).removesuffix(".__init__")] = path
    return modules


MODULES = source_modules()
LAYER_OF = {name: layer for layer, names in enumerate(LAYERS) for name in names}


def layer_of(module: str) -> int:
    """The layer that a module lies in."""
    while module not in LAYER_OF:
        module = module.rpartition(".")[0]
    return LAYER_OF[module]


@functools.cache
def offered(path: Path) -> dict[str, str]:
    """The names that a package offers by the stub beside its file, and the module that each comes from."""
    stub = path.with_suffix(".pyi")
    tree = ast.parse(stub.read_text(encoding="utf-8") if stub.exists() else "")
    nodes = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module]
    return {alias.name: str(node.module) for node in nodes for alias in node.names}


@functools.cache
def tree_of(path: Path) -> ast.Module:
    """What a file says, read once."""
    return ast.parse(path.read_text(encoding="utf-8"))


def imported_modules(module: str, path: Path, typing: bool = True) -> set[str]:
    """The modules of the project that a module imports, anywhere in its file; those for a type checker alone, too."""
    package = module if path.name == "__init__.py" else module.rpartition(".")[0]
    found = set()
    tree = tree_of(path)
    checks = [node for node in ast.walk(tree) if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)]
    left_out = set() if typing else {part for check in checks for part in ast.walk(check)}
    for node in ast.walk(tree):
        if node in left_out:
            continue
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            source = importlib.util.resolve_name("." * node.level + (node.module or ""), package)
            offers = offered(MODULES[source]) if source in MODULES else {}
            for alias in node.names:
                name = f"{source}.{offers.get(alias.name, alias.name)}"
                found.add(name if name in MODULES else source)
    return {name for name in found if name in MODULES and name not in ("krypenv", module)}


def printed_by(code: str) -> list[list[str]]:
    """Run code in a new interpreter, and return the words that it prints, by line."""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return [line.split() for line in done.stdout.splitlines()]


def test_imports_go_one_way_and_in_no_circle():
    imports = {module: imported_modules(module, path) for module, path in MODULES.items()}
    above = {
        module: too_high
        for module, names in imports.items()
        if (too_high := {name for name in names if layer_of(name) > layer_of(module)})
    }
    assert above == {}
    at_run_time = {module: imported_modules(module, path, typing=False) for module, path in MODULES.items()}
    TopologicalSorter(at_run_time).prepare()  # raises CycleError, with the circle


@pytest.mark.parametrize("package", ["agents", "training"])
def test_a_checkout_is_one_package_and_has_no_second_name(package):
    link = ROOT / "krypenv" / package
    assert link.is_symlink()
    assert link.readlink() == Path("..", package)
    spec = importlib.util.spec_from_file_location(package, ROOT / package / "__init__.py")
    with pytest.raises(ImportError, match=rf"krypenv\.{package}"):
        spec.loader.exec_module(importlib.util.module_from_spec(spec))


@pytest.mark.parametrize(
    ("module", "loaded"),
    [
        ("krypenv", set()),
        ("krypenv.training", set()),
        ("krypenv.training.cli.commands", {"typer", "rich"}),
        ("krypenv.agents", {"numba", "scipy"}),  # Numba loads scipy where it is there
    ],
)
def test_nothing_is_imported_before_it_is_needed(module, loaded):
    imported, listed = printed_by(
        f"import sys, {module} as it; print(*sys.modules); print(*(name for name in dir(it) if name[:2] != '__'))"
    )
    assert (OF_TRAINING | HEAVY) & set(imported) <= loaded
    if module == "krypenv":
        assert not [name for name in imported if name.startswith(("krypenv.agents", "krypenv.training"))]
    if module in PACKAGE_DIRS:  # what a user may use and no more
        assert listed == sorted(importlib.import_module(module).__all__)


@pytest.mark.parametrize("package", [name for name in MODULES if offered(MODULES[name])])
def test_the_public_names_are_found_when_they_are_asked_for(package):
    module = importlib.import_module(package)
    assert set(module.__all__) >= offered(MODULES[package]).keys()
    for name, source in offered(MODULES[package]).items():
        assert getattr(module, name) is getattr(importlib.import_module(f"{package}.{source}"), name)
    with pytest.raises(AttributeError, match="nothing"):
        _ = module.nothing
    assert not hasattr(module, "__wrapped__")


def test_a_module_of_the_package_is_found_without_its_own_import():
    assert printed_by("import krypenv; krypenv.agents.names(); print(krypenv.training.solving.__name__)") == [
        ["krypenv.training.solving"]
    ]


def project_texts() -> list[Path]:
    """The project's own text files, whether or not they are under version control yet."""
    directories = ["krypenv", "agents", "training", "tests", "notebooks", "docs", ".ci"]
    below = [path for name in directories for path in (ROOT / name).rglob("*") if not MADE & {*path.parts}]
    top = [path for path in ROOT.iterdir() if not path.name.startswith(".git")]
    suffixes = {".py", ".md", ".toml", ".txt", ".ipynb", ".json", ".typed", ""}
    return [path for path in top + below if path.is_file() and path.suffix in suffixes]


def test_no_text_names_a_path_of_a_machine():
    machine_path = re.compile(r"(?<![\w.:/])/(work|tmp|root|home|Users|opt)/|\.\./(shared)")
    for path in project_texts():
        found = machine_path.search(path.read_text(encoding="utf-8", errors="replace"))
        assert not found, f"{path.relative_to(ROOT)} names a path of a machine: {found[0]}"
