"""The shape of the house: imports go one way, links and guards hold, and nothing is imported before it is needed."""

import ast
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
# What a module looks up by its name when it is needed, though it stands above it; without it the module works too.
LOOKED_UP = {"krypenv.envs.opponents": {"krypenv.agents"}}  # opponents that are named

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


def offered(path: Path) -> dict[str, str]:
    """The names that a package offers by the stub beside its file, and the module that each comes from."""
    stub = (
        ast.parse(path.with_suffix(".pyi").read_text(encoding="utf-8")) if path.with_suffix(".pyi").exists() else None
    )
    nodes = [node for node in ast.walk(stub) if isinstance(node, ast.ImportFrom) and node.module] if stub else []
    return {alias.name: str(node.module) for node in nodes for alias in node.names}


def imported_modules(module: str, path: Path, typing: bool = True) -> set[str]:
    """The modules of the project that a module imports, anywhere in its file; those for a type checker alone, too."""
    package = module if path.name == "__init__.py" else module.rpartition(".")[0]
    found = set()
    tree = ast.parse(path.read_text(encoding="utf-8"))
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


def looked_up(path: Path) -> set[str]:
    """The modules of the project that a module imports by `importlib.import_module`, a name made up of parts by `*`."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[2] in ("import_module", "__import__"):
            name = node.args[0]
            parts = name.values if isinstance(name, ast.JoinedStr) else [name]
            found.add("".join(str(part.value) if isinstance(part, ast.Constant) else "*" for part in parts))
    return {name for name in found if name.split(".")[0] in ("krypenv", "*")}


def run_python(code: str) -> subprocess.CompletedProcess[str]:
    """Run code in a new interpreter."""
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False)


@pytest.mark.parametrize("module", MODULES)
def test_imports_go_one_way(module):
    too_high = {name for name in imported_modules(module, MODULES[module]) if layer_of(name) > layer_of(module)}
    assert not too_high, f"{module} imports from a layer above its own: {sorted(too_high)}"


def test_no_imports_make_a_circle():
    imports = {module: imported_modules(module, path, typing=False) for module, path in MODULES.items()}
    TopologicalSorter(imports).prepare()  # raises CycleError, with the circle


def test_nothing_imports_from_a_test_file():
    importing = re.compile(r"^\s*(?:from|import) +(?:\w+\.)*test_\w+", re.M)  # in code that tests write, too
    assert importing.search("if x:\n    from training.test_runs import HEADER\n")
    files = sorted((ROOT / "tests").rglob("*.py"))
    assert [path.name for path in files if importing.search(path.read_text(encoding="utf-8"))] == []


@pytest.mark.parametrize("module", MODULES)
def test_what_is_looked_up_by_name_is_known(module):
    names = {name for name in looked_up(MODULES[module]) if name != "*"}
    above = {name for name in names if layer_of(name) > layer_of(module)}
    assert above == LOOKED_UP.get(module, set())


def test_imports_and_look_ups_are_seen(tmp_path):
    source = tmp_path / "engine.py"
    source.write_text(
        "import importlib\nfrom typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from krypenv.training import runs\n"
        "def f():\n    from . import cards\n    from krypenv import rules\n"
        "importlib.import_module(f'krypenv.agents.{x}')\n__import__('krypenv.rules')\n"
    )
    assert imported_modules("krypenv.engine", source) == {"krypenv.cards", "krypenv.rules", "krypenv.training.runs"}
    assert imported_modules("krypenv.engine", source, typing=False) == {"krypenv.cards", "krypenv.rules"}
    assert looked_up(source) == {"krypenv.agents.*", "krypenv.rules"}
    (tmp_path / "engine.pyi").write_text("from .a.b import c as c\nfrom . import d as d\n")
    assert offered(source) == {"c": "a.b"}


@pytest.mark.parametrize("package", ["agents", "training"])
def test_a_checkout_is_one_package(package):
    link = ROOT / "krypenv" / package
    assert link.is_symlink()
    assert link.readlink() == Path("..", package)


@pytest.mark.parametrize("package", ["agents", "training"])
def test_guard_against_a_second_name(package):
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
    run = run_python(f"import sys, {module}; print(*sys.modules)")
    assert run.returncode == 0, run.stderr
    names = run.stdout.split()
    assert (OF_TRAINING | HEAVY) & set(names) <= loaded
    if module == "krypenv":
        assert not [name for name in names if name.startswith(("krypenv.agents", "krypenv.training"))]


@pytest.mark.parametrize("package", [name for name in MODULES if offered(MODULES[name])])
def test_the_public_names_are_found_when_they_are_asked_for(package):
    module = importlib.import_module(package)
    assert set(module.__all__) >= offered(MODULES[package]).keys()
    for name, source in offered(MODULES[package]).items():
        assert getattr(module, name) is getattr(importlib.import_module(f"{package}.{source}"), name)
    with pytest.raises(AttributeError, match="nothing"):
        _ = module.nothing
    assert not hasattr(module, "__wrapped__")


@pytest.mark.parametrize("package", ["krypenv", "krypenv.agents", "krypenv.training"])
def test_names_are_listed_that_a_user_may_use_and_no_others(package):
    run = run_python(f"import {package} as it; print(*(name for name in dir(it) if not name.startswith('__')))")
    assert run.returncode == 0, run.stderr
    assert run.stdout.split() == sorted(importlib.import_module(package).__all__)


def test_help_opens_with_an_example():
    run = run_python("import krypenv; help(krypenv)")
    assert run.returncode == 0, run.stderr
    assert run.stdout.split("DESCRIPTION\n")[1].lstrip().startswith(">>> ")
    assert "class Rules(" in run.stdout


def test_a_module_of_the_package_is_found_without_its_own_import():
    run = run_python(
        "import krypenv; print(krypenv.agents.names(), krypenv.observation.LAYOUT, krypenv.training.solving)"
    )
    assert run.returncode == 0, run.stderr


def project_texts() -> list[Path]:
    """The project's own text files, whether or not they are under version control yet."""
    directories = ["krypenv", "agents", "training", "tests", "notebooks", "docs", ".ci"]
    below = [path for name in directories for path in (ROOT / name).rglob("*") if not MADE & {*path.parts}]
    top = [path for path in ROOT.iterdir() if not path.name.startswith(".git")]
    suffixes = {".py", ".md", ".toml", ".txt", ".ipynb", ".json", ".typed", ""}
    return [path for path in top + below if path.is_file() and path.suffix in suffixes]


def test_no_path_of_a_machine():
    machine_path = re.compile(r"(?<![\w.:/])/(work|tmp|root|home|Users|opt)/|\.\./(shared)")
    for path in project_texts():
        found = machine_path.search(path.read_text(encoding="utf-8", errors="replace"))
        assert not found, f"{path.relative_to(ROOT)} names a path of a machine: {found[0]}"
