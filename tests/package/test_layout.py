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

# The rooms, from the lowest floor to the highest. A room is a folder, or a module that lies beside the folders of a
# package; it imports from lower floors only, and what lies in it makes no circle.
FLOORS = [
    {"krypenv.runtime", "krypenv.inputs"},
    {"krypenv.cards"},
    {"krypenv.families", "krypenv.notation"},
    {"krypenv.observation"},
    {"krypenv.rules"},
    {"krypenv.arguments", "krypenv.state"},
    {"krypenv.kernels"},
    {"krypenv.features", "krypenv.whole_state"},
    {"krypenv.worlds"},
    {"krypenv.rewards"},
    {"krypenv.stepping"},
    {"krypenv.engine"},
    {"krypenv.game"},
    {"krypenv.pictures"},
    {"krypenv.envs"},
    {"krypenv.adapters", "krypenv.krypkasino_v0", "krypenv.kasino_v0", "krypenv.mulle_v0"},
    {"krypenv"},
    {"krypenv.agents.base"},
    {"krypenv.agents.moves"},
    {"krypenv.agents.judgement"},
    {"krypenv.agents.workspace"},
    {"krypenv.agents.scripted", "krypenv.agents.own"},
    {"krypenv.agents.search", "krypenv.agents.solved", "krypenv.agents.programs"},
    {"krypenv.agents.neural", "krypenv.agents.oracle"},
    {"krypenv.agents.champion"},
    {"krypenv.agents"},
    {"krypenv.advice"},
    {"krypenv.ui.narrator"},
    {"krypenv.ui"},
    {"krypenv.ui.browser"},
    {"krypenv.ui.study"},
    {"krypenv.training", "krypenv.training.evaluation"},
    {"krypenv.training.runs"},
    {"krypenv.training.settings"},
    {"krypenv.training.evaluation.luck"},
    {"krypenv.training.evaluation.matches"},
    {"krypenv.training.evaluation.arena", "krypenv.training.evaluation.analysis"},
    {
        "krypenv.training.data",
        "krypenv.training.evaluation.score",
        "krypenv.training.learn",
    },
    {"krypenv.training.solving"},
    {
        "krypenv.training.exploiting",
        "krypenv.training.lab",
    },
    {"krypenv.doctor"},
    {"krypenv.training.cli"},
    {"krypenv.training.cli.people", "krypenv.training.examples"},
    {"krypenv.training.cli.research", "krypenv.training.cli.upkeep"},
    {"krypenv.__main__"},
]
FLOOR_OF = {room: floor for floor, rooms in enumerate(FLOORS) for room in rooms}
WINGS = {f"krypenv.training{wing}" for wing in ("", ".evaluation")}
OF_ROOMS = {"krypenv", "krypenv.agents", *WINGS}  # packages whose modules and folders are rooms
MOST_FILES = 15  # of a room
MADE = {"__pycache__", "node_modules"}  # folders that tools make
# What a module looks up by its name when it is needed, though it stands above it; without it the module works too.
LOOKED_UP = {
    "krypenv.game.game": {"krypenv.pictures"},  # a notebook's picture of a game
    "krypenv.envs.opponents": {"krypenv.agents"},  # opponents that are named
    "krypenv.training.cli.commands": {"krypenv.training.cli.*.*"},  # the commands
}

# What `[train]` installs, and what a bare package has but does not import before it is needed.
OF_TRAINING = {"torch", "stable_baselines3", "sb3_contrib", "tensorboard"}
HEAVY = {
    "numba", "scipy", "matplotlib", "openskill", "jinja2", "filelock", "ray", "typer", "pydantic", "rich", "pygame",
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


def room_of(module: str) -> str:
    """The room that a module lies in, or itself."""
    package = module if MODULES[module].name == "__init__.py" else module.rpartition(".")[0]
    return module if package in OF_ROOMS else package


ROOMS: dict[str, set[str]] = {}
for _module in MODULES:
    ROOMS.setdefault(room_of(_module), set()).add(_module)
PACKAGES = [name for name, path in MODULES.items() if path.name == "__init__.py"]
OFFERING = [
    name
    for name in PACKAGES
    if "importer(" in MODULES[name].read_text(encoding="utf-8") and name not in WINGS - {"krypenv.training"}
]


def is_type_checking(node: ast.AST) -> bool:
    """Whether a node is an `if TYPE_CHECKING:`, whose imports are never run."""
    return isinstance(node, ast.If) and ast.unparse(node.test) in ("TYPE_CHECKING", "typing.TYPE_CHECKING")


def imported_modules(module: str, path: Path, run: bool = False) -> set[str]:
    """The modules of the project that a module imports, anywhere in its file; for a type checker alone unless `run`."""
    package = module if path.name == "__init__.py" else module.rpartition(".")[0]
    found = set()
    nodes: list[ast.AST] = [ast.parse(path.read_text(encoding="utf-8"))]
    while nodes:
        node = nodes.pop()
        if is_type_checking(node) and (run or path.name == "__init__.py"):
            continue  # the names that a package offers, imported when they are asked for
        nodes.extend(ast.iter_child_nodes(node))
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            source = importlib.util.resolve_name("." * node.level + (node.module or ""), package)
            names = {f"{source}.{alias.name}" for alias in node.names}
            found.update(name if name in MODULES else source for name in names)
    return {name for name in found if name in MODULES}


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
    room = room_of(module)
    assert room in FLOOR_OF, f"{module} stands on no floor: add {room} to FLOORS"
    imported = {name for name in imported_modules(module, MODULES[module]) if room_of(name) != room}
    too_high = {name for name in imported if FLOOR_OF[room_of(name)] >= FLOOR_OF[room]}
    assert not too_high, f"{module} imports from its own floor or from above it: {sorted(too_high)}"


def test_nothing_imports_from_a_test_file():
    importing = re.compile(r"^\s*(?:from|import) +(?:\w+\.)*test_\w+", re.M)  # in code that tests write, too
    assert importing.search("if x:\n    from training.test_runs import HEADER\n")
    files = sorted((ROOT / "tests").rglob("*.py"))
    assert [path.name for path in files if importing.search(path.read_text(encoding="utf-8"))] == []


@pytest.mark.parametrize("room", ROOMS)
def test_there_is_no_circle_in_a_room(room):
    imports = {name: imported_modules(name, MODULES[name], run=True) & ROOMS[room] - {name} for name in ROOMS[room]}
    TopologicalSorter(imports).prepare()  # raises CycleError, with the circle


@pytest.mark.parametrize("room", PACKAGES)
def test_a_room_says_its_job_and_lists_what_lies_in_it(room):
    parts = {name for name in ROOMS if name.rpartition(".")[0] == room} if room in WINGS else ROOMS[room] - {room}
    files = {name.rpartition(".")[2] for name in parts}
    assert len(files) <= MOST_FILES
    job, _, listed = ast.get_docstring(ast.parse(MODULES[room].read_text(encoding="utf-8"))).partition("\n\n")
    assert job.endswith(".")
    assert {line.split()[0] for line in listed.splitlines()} == files or listed.startswith(">>> ")


@pytest.mark.parametrize("module", MODULES)
def test_what_is_looked_up_by_name_is_known(module):
    names = {name for name in looked_up(MODULES[module]) if name != "*"}
    floor = FLOOR_OF[room_of(module)]
    above = {name for name in names if "*" in name or FLOOR_OF.get(room_of(name), 99) > floor}
    assert above == LOOKED_UP.get(module, set())


def test_imports_and_look_ups_are_seen(tmp_path):
    source = tmp_path / "engine.py"
    source.write_text(
        "import importlib\nfrom typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from krypenv.training import runs\n"
        "def f():\n    from . import cards\n    from krypenv import rules\n"
        "importlib.import_module(f'krypenv.agents.{x}')\n__import__('krypenv.rules')\n"
    )
    assert imported_modules("krypenv.engine", source) == {"krypenv.cards", "krypenv.rules", "krypenv.training.runs"}
    assert looked_up(source) == {"krypenv.agents.*", "krypenv.rules"}
    offers = source.rename(tmp_path / "__init__.py")
    assert "krypenv.training.runs" not in imported_modules("krypenv.engine", offers)


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


@pytest.mark.parametrize("package", OFFERING)
def test_the_public_names_are_found_when_they_are_asked_for(package):
    module = importlib.import_module(package)
    tree = ast.parse(MODULES[package].read_text(encoding="utf-8"))
    told = {  # what a type checker is told
        alias.name: node.module
        for block in ast.walk(tree)
        if is_type_checking(block)
        for node in block.body
        for alias in node.names
    }
    assert told.keys() == set(module.__all__)
    for name, source in told.items():
        place = importlib.import_module(f"{source}.{name}") if f"{source}.{name}" in MODULES else None
        assert getattr(module, name) is (place or getattr(importlib.import_module(source), name))
    with pytest.raises(AttributeError, match=rf"module '{package}' has no attribute 'nothing'"):
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
        "import krypenv; print(krypenv.agents.names(), krypenv.features.SIZE, krypenv.training.evaluation.matches)"
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
