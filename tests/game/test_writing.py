"""How files are written: whole, under names that nobody foresees, through links, and only where a file can be."""

from __future__ import annotations

import errno
import os
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from support.small_files import files_of

from krypenv.inputs.files import parse_json, read_json, write_new, write_whole
from krypenv.training.runs import Header, open_run
from krypenv.training.runs.journal import JOURNAL, encode

writers = pytest.mark.parametrize("write", [write_whole, write_new])


@writers
def test_a_link_under_the_name_of_the_partial_file_is_not_followed(write, tmp_path, monkeypatch):
    victim = tmp_path / "victim"
    victim.write_bytes(b"precious")
    (tmp_path / f".x.json.{os.getpid()}.part").symlink_to(victim)
    opened, names, plain = [], set(), os.open

    def spying(path, flags, *more, **named):
        if str(path).endswith(".part"):
            opened.append(flags)
            names.add(path)
        return plain(path, flags, *more, **named)

    monkeypatch.setattr(os, "open", spying)
    for name in ("x.json", "y.json"):
        write(tmp_path / name, b"new")
    assert victim.read_bytes() == b"precious"
    assert (tmp_path / "x.json").read_bytes() == b"new"
    assert len(names) == 2
    assert all(flags & os.O_EXCL for flags in opened)


@writers
def test_a_file_has_the_mode_that_the_umask_gives(write, tmp_path):
    before = os.umask(0o027)
    try:
        write(tmp_path / "x", b"")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "x").stat().st_mode) == 0o640


def test_what_a_link_leads_to_is_written_and_the_link_stays(tmp_path):
    (tmp_path / "far").mkdir()
    target, link = tmp_path / "far" / "target", tmp_path / "link"
    link.symlink_to(Path("far", "target"))
    for data in (b"one", b"two"):  # at first it leads nowhere
        write_whole(link, data)
        assert link.is_symlink()
        assert target.read_bytes() == data
    assert [path.name for path in (tmp_path / "far").iterdir()] == ["target"]
    with pytest.raises(FileExistsError):
        write_new(link, b"three")
    (tmp_path / "round").symlink_to("round")
    with pytest.raises(OSError, match=r".") as error:
        write_whole(tmp_path / "round", b"")
    assert error.value.errno == errno.ELOOP


@writers
@pytest.mark.parametrize("name", [".", "/", "..", "folder", "link", "/dev/null", "file/x", "n" * 300, "a\0b", "\ud800"])
def test_where_no_file_can_be_none_is_written_and_the_name_is_told(write, name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("folder").mkdir()
    Path("link").symlink_to("folder")
    Path("file").write_bytes(b"")
    before = files_of(tmp_path)
    with pytest.raises(OSError, match=r".") as error:
        write(Path(name), b"x")
    assert error.value.filename == name
    assert error.value.strerror
    assert files_of(tmp_path) == before
    assert Path("/dev/null").is_char_device()


def test_a_new_file_has_one_writer_and_no_other_is_touched(tmp_path):
    def attempt(number):
        try:
            write_new(tmp_path / "game", b"%d" % number)
        except FileExistsError as error:
            return error.filename
        return number

    with ThreadPoolExecutor(8) as pool:
        made = list(pool.map(attempt, range(8)))
    [winner] = [each for each in made if isinstance(each, int)]
    assert made.count(str(tmp_path / "game")) == 7
    assert files_of(tmp_path) == {"game": b"%d" % winner}


@pytest.mark.parametrize("content", [b"precious\n", encode({"kind": "sum", "format": 1, "identity": {}, "about": {}})])
def test_a_journal_is_not_written_through_a_link(content, tmp_path):
    victim, path = tmp_path / "victim", tmp_path / "run" / JOURNAL
    victim.write_bytes(content)
    path.parent.mkdir()
    path.symlink_to(victim)
    with pytest.raises(OSError, match="is a link") as error, open_run(path.parent, Header("sum", {}, {"command": "x"})):
        pass
    assert error.value.filename == str(path)
    assert victim.read_bytes() == content


def test_json_is_read_with_a_byte_order_mark_and_refused_in_utf_16(tmp_path):
    (tmp_path / "x.json").write_text("[1]", encoding="utf-8-sig")
    assert read_json(tmp_path / "x.json") == parse_json("\ufeff[1]") == [1]
    (tmp_path / "x.json").write_text("[1]", encoding="utf-16")
    with pytest.raises(ValueError, match=r"x\.json is in UTF-16; write it in UTF-8"):
        read_json(tmp_path / "x.json")
