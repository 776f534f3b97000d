"""What SECURITY.md promises of all readers: no file runs code, and none is read that is larger than any of ours."""

import ast
from pathlib import Path

import pytest
from support.places import ROOT

from krypenv.inputs.files import LARGEST, LARGEST_JSON, read_file, read_json

RUNS_CODE = {
    "eval", "exec", "pickle.load", "pickle.loads", "pickle.Unpickler", "cloudpickle.load", "cloudpickle.loads",
    "marshal.load", "marshal.loads", "np.load", "numpy.load", "torch.load", "joblib.load", "MaskablePPO.load",
    "PPO.load", "yaml.load", "shelve.open", "runpy.run_path",
}  # fmt: skip


def calls_of(path: Path) -> set[str]:
    """The names of the functions that a module calls."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return {ast.unparse(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}


def test_no_module_calls_what_runs_the_code_in_a_file():
    sources = [path for folder in ("krypenv", "agents", "training") for path in (ROOT / folder).rglob("*.py")]
    assert len(sources) > 200
    found = {path.relative_to(ROOT).as_posix(): calls_of(path) & RUNS_CODE for path in sources}
    assert {path: calls for path, calls in found.items() if calls} == {
        "krypenv/adapters/sb3.py": {"MaskablePPO.load"},  # `sb3(path='...')`, if a person typed it
        "training/runs/executors.py": {"pickle.loads"},  # what a process sends its own workers
    }


@pytest.mark.parametrize(("read", "most"), [(read_file, LARGEST), (read_json, LARGEST_JSON)])
def test_a_file_that_is_too_large_is_refused_unread(tmp_path, read, most):
    path = tmp_path / "large.json"
    with path.open("wb") as file:
        file.truncate(1 << 40)  # far more than there is memory; a file system keeps such holes in no space
    with pytest.raises(ValueError, match=rf"large\.json is too large: it has {1 << 40:,} bytes, and at most {most:,}"):
        read(path)
    path.write_bytes(b"12345")
    assert read_file(path, most=5) == b"12345"
    with pytest.raises(ValueError, match="it has 5 bytes, and at most 4 are read"):
        read_file(path, most=4)


def test_what_is_no_json_is_told_with_the_name_of_its_file(tmp_path: Path) -> None:
    path = tmp_path / "some.json"
    for data in (b"[" * 100_000, b'{"a":' * 201 + b"1" + b"}" * 201, b"", b"\xff", b"NaN", b"[Infinity]", b'"\\ud800"'):
        path.write_bytes(data)
        with pytest.raises(ValueError, match=r"some\.json is not JSON"):
            read_json(path)
    path.write_bytes(b'{"a": [1, -1e999]}')
    with pytest.raises(ValueError, match=r"some\.json has a number that no float can hold"):
        read_json(path)
    path.write_bytes(b'{"a": [1, 1e300, "\xc3\xa9"], "a": 2}')
    assert read_json(path) == {"a": 2}
