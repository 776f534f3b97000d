"""How files are written: whole, under names that nobody foresees, through links, and only where a file can be."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest
from support.small_files import files_of

from krypenv.inputs.files import read_json, write_whole


def test_a_link_under_the_name_of_a_partial_file_is_not_followed(tmp_path, monkeypatch):
    """Each partial file has a name that nobody foresees, and is made anew."""
    opened, plain = {}, os.open

    def spying(path, flags, *more, **named):
        if str(path).endswith(".part"):
            opened[path] = flags
        return plain(path, flags, *more, **named)

    monkeypatch.setattr(os, "open", spying)
    for name in ("x.json", "y.json"):
        write_whole(tmp_path / name, b"new")
        assert (tmp_path / name).read_bytes() == b"new"
    assert len(opened) == 2
    assert all(flags & os.O_EXCL for flags in opened.values())
    assert len(list(tmp_path.iterdir())) == 2


def test_a_file_has_the_mode_that_the_umask_gives(tmp_path):
    before = os.umask(0o027)
    try:
        write_whole(tmp_path / "x", b"")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "x").stat().st_mode) == 0o640


def test_what_a_link_leads_to_is_written_and_the_link_stays(tmp_path):
    (tmp_path / "far").mkdir()
    link = tmp_path / "link"
    link.symlink_to(Path("far", "target"))
    for data in (b"one", b"two"):  # at first it leads nowhere
        write_whole(link, data)
        assert link.is_symlink()
        assert files_of(tmp_path / "far") == {"target": data}


@pytest.mark.parametrize("name", [".", "/", "..", "folder", "link", "/dev/null", "file/x", "n" * 300, "a\0b", "\ud800"])
def test_where_no_file_can_be_none_is_written_and_the_name_is_told(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("folder").mkdir()
    Path("link").symlink_to("folder")
    Path("file").write_bytes(b"")
    before = files_of(tmp_path)
    with pytest.raises(OSError, match=r".") as error:
        write_whole(Path(name), b"x")
    assert error.value.filename == name
    assert error.value.strerror
    assert files_of(tmp_path) == before
    assert Path("/dev/null").is_char_device()


def test_json_is_read_with_a_byte_order_mark(tmp_path):
    (tmp_path / "x.json").write_text("[1]", encoding="utf-8-sig")
    assert read_json(tmp_path / "x.json") == [1]
