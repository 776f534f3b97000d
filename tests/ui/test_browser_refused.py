"""Whom a table lets in: malformed messages, strangers, other sites and too many guests; and its addresses and keys."""

from __future__ import annotations

import contextlib
import json
import logging
import re
import socket
import stat
from urllib.request import urlopen

import pytest
from starlette.testclient import TestClient
from starlette.websockets import WebSocketDisconnect
from support.browsers import table_at
from support.studies import ANALYST, played, studying
from support.tables import ADDRESS, KEYS, WAIT, WEB, Here, hosted, opens, page, serving, within
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from krypenv.ui.browser import guests as guests_room, pages
from krypenv.ui.browser.app import STATIC, app_of
from krypenv.ui.browser.keys import Keys
from krypenv.ui.browser.pages import Pages
from krypenv.ui.browser.requests import MOST_CHARACTERS
from krypenv.ui.browser.serving import origin_of
from krypenv.ui.seats import PERSON

TWO = (PERSON, PERSON)


# ---------------------------------------------------------------------- what is refused


MALFORMED = {
    "{": "is not JSON",
    "[]": "an object",
    "7" * 5000: f"at most {MOST_CHARACTERS:,} characters",
    "[" * 1500: "is not JSON",
    '{"do": "lesson", "lesson": 1}' + " " * MOST_CHARACTERS: f"at most {MOST_CHARACTERS:,} characters, not",
    '{"do": "win", "edit": 1}': "one of play, stand_in, .*, not 'win'",
    '{"do": "play", "edit": 1}': "move is missing",
    '{"do": "play", "edit": 1, "move": 8}': "move should be a valid string, not 8",
    '{"do": "pace", "edit": 1, "pace": "brisk"}': "one of slow, normal, fast",
    '{"do": "stand_in", "edit": 1, "seat": 9}': "seat should be less than or equal to 5, not 9",
    '{"do": "pause", "edit": 1, "on": 1}': "on should be a valid boolean, not 1",
    '{"do": "undo"}': "edit is missing",
    '{"do": "undo", "edit": true}': "edit should be a valid integer, not True",
    '{"do": "undo", "edit": 1, "move": "8S"}': "move is not known; the keys are do, edit",
}
sockets = pytest.mark.parametrize("path", ["socket", "learn", "study"])


@sockets
def test_malformed_messages_are_told_what_is_wrong_in_one_sentence_and_change_nothing(path):
    with serving(hosted, studied=ANALYST) as client, page(client, path=path) as one:
        before = one.told
        for message, reason in MALFORMED.items():
            one.socket.send_text(message)
            wrong = reason if path == "socket" else ""
            assert re.fullmatch(f"The message was not understood: .*{wrong}.*\\.", one.says())
        one.socket.send_bytes(b"\x00\xff")
        assert "not understood" in one.says()
        assert one.told.get("view") == before.get("view")


@pytest.mark.parametrize("path", ["socket", "learn", "study", "study alone"])
def test_who_has_no_link_gets_no_page_and_other_sites_neither(path):
    closed, (path, *alone) = KEYS._replace(is_open=False), path.split()
    with studying(played, closed) if alone else serving(hosted, closed, studied=ANALYST) as client:
        for key in ("", "guess", "é", *[KEYS.seats[1]] * (not alone)):  # an agent sits at seat 1
            with page(client, key, path=path) as one:
                assert one.told["type"] == "closed"
                assert re.search("leads to no seat|leads nowhere", one.told["say"])
        for key in (KEYS.seats[0], KEYS.watch):
            with page(client, key, path=path) as one:
                assert one.told["type"] in ("table", "hello")
        with client.websocket_connect(f"{WEB}{path}", headers={"origin": ADDRESS}) as socket:
            socket.send_text('{"do": "undo", "edit": 1}')
            assert within(WAIT, socket.receive_json)["type"] == "closed"
        for origin in ("http://evil.example", "http://127.0.0.1:1", "null", "", "http://["):
            with pytest.raises(WebSocketDisconnect), page(client, origin=origin, path=path):
                pass


def test_other_addresses_are_refused():
    with serving(hosted) as client:
        assert client.get("/", headers={"host": "evil.example"}).status_code == 421
        for host in ("localhost:8765", "127.0.0.2:8765", "[::1]:8765"):
            assert client.get("/", headers={"host": host}).status_code == 200
        rebound = {"host": "evil.example", "origin": "http://evil.example"}
        with pytest.raises(WebSocketDisconnect), client.websocket_connect(f"{WEB}socket", headers=rebound):
            pass
    with serving(hosted, is_local=False) as client:
        assert client.get("/", headers={"host": "table.example"}).status_code == 200


def test_an_origin_behind_a_proxy_may_be_allowed():
    public, own = "https://cards.example", {"host": "127.0.0.1:8765"}
    for origins, status in (([], 403), ([public], 405)):  # a post to a socket tells the page whether it is known
        table = Pages(opens(hosted), KEYS, Here(), pause=0.0)
        with TestClient(app_of(table, True, origins=origins), ADDRESS) as client:
            assert client.post("/socket", headers={"origin": public, **own}).status_code == status
            if origins:
                with page(client, origin=public) as one:
                    assert one.told["view"]["seat"] == 0


def test_the_origin_of_an_address():
    assert origin_of("https://cards.example") == origin_of("https://CARDS.example/table/") == "https://cards.example"
    assert origin_of("http://[::1]:80/") == "http://[::1]:80"
    for address in ("cards.example", "ftp://cards.example", "http://[", "https://a b", "https://x/\n", "null", ""):
        with pytest.raises(ValueError, match="--origin is the table's address in browsers, as in"):
            origin_of(address)


@sockets
def test_frames_that_are_no_text_and_requests_that_end_in_nonsense_print_no_traceback(path, capfd):
    with table_at(hosted, studied=ANALYST) as address:
        for send in (lambda own: own.protocol.send_text(b"\xff\xfe"), lambda own: own.send(b"\xff")):
            for is_first in (True, False):
                with connect(f"{address.replace('http', 'ws')}{path}", origin=address.rstrip("/")) as own:
                    if not is_first:
                        own.send('{"do": "sit", "key": ""}')
                        own.recv(timeout=WAIT)
                    send(own)
                    with contextlib.suppress(OSError):
                        own.socket.sendall(b"".join(own.protocol.data_to_send()))
                    with contextlib.suppress(ConnectionClosed):
                        while "not understood" not in own.recv(timeout=WAIT):
                            pass
        where = ("127.0.0.1", int(address.split(":")[2].strip("/")))
        with socket.create_connection(where, timeout=20) as one:
            one.sendall(b"POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n")
            while one.recv(1000):
                pass
    assert capfd.readouterr().err == ""


def test_a_table_leaves_the_logs_of_others_alone(tmp_path):
    other = logging.FileHandler(tmp_path / "other.log")
    stream = other.stream
    with table_at(hosted):
        assert not stream.closed
    other.close()


def test_the_page_loads_nothing_from_elsewhere():
    with serving(hosted) as client:
        answer = client.get("/")
        policy = answer.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert "http" not in policy
        for path in STATIC.iterdir():
            assert client.get(f"/{path.name}").headers["content-security-policy"] == policy
            text = path.read_text(encoding="utf-8").replace("http://www.w3.org/2000/svg", "")
            assert not re.search(r"https?://|//[\w-]+\.\w|url\(|@import (?!{)|style=", text), path.name
        assert client.get("/../app.py").status_code == 404


# ---------------------------------------------------------------------- too many guests


def test_a_player_gets_in_whoever_watches_and_an_old_page_of_the_seat_gives_way(monkeypatch):
    monkeypatch.setattr(pages, "MOST_PAGES", 4)
    with serving(lambda: hosted(players=TWO)) as client, contextlib.ExitStack() as held:
        watching = [held.enter_context(page(client, KEYS.watch)) for _ in range(4)]
        other = held.enter_context(page(client, KEYS.seats[1]))
        assert watching[0].read(lambda told: told["type"] == "closed")["say"].startswith("Too many pages")
        mine = [held.enter_context(page(client, KEYS.seats[0])) for _ in range(5)]
        for one in mine[:2]:
            one.read(lambda told: told["type"] == "closed")
        mine[-1].play()
        assert other.until(lambda told: told["moves"] == 1)["here"] == [0, 1]


@pytest.mark.slow
def test_connections_that_never_ask_for_anything_keep_nobody_out(monkeypatch, capfd):
    monkeypatch.setattr(guests_room, "LONGEST_REQUEST", 2.0)
    with table_at(hosted) as address, contextlib.ExitStack() as held:
        where = ("127.0.0.1", int(address.split(":")[2].strip("/")))
        idle = [held.enter_context(socket.create_connection(where)) for _ in range(guests_room.MOST_CONNECTIONS + 30)]
        for one in idle:
            with contextlib.suppress(OSError):  # it had to leave
                one.sendall(b"GET / HTTP/1.1\r\nHost: ")
        assert b"table.js" in urlopen(address, timeout=20).read()
        for one in idle:
            one.settimeout(20)
            with contextlib.suppress(ConnectionError):
                assert one.recv(1) == b"", "it is still open"
    assert capfd.readouterr().err == ""


# ---------------------------------------------------------------------- addresses and keys


def test_keys_are_kept_for_their_owner_alone(tmp_path):
    path = tmp_path / "links.json"
    keys = Keys.kept(path, is_open=False)
    keys.keep(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert Keys.kept(path, is_open=False) == keys
    assert len({*keys.seats, keys.watch, keys.host}) == 8
    assert keys.seat(keys.seats[2], [0, 2]) == 2
    assert keys.seat(keys.watch, [0, 2]) is None
    for key in ("", keys.seats[1], keys.watch[:-1]):
        for asked in (keys, keys._replace(is_open=True)):
            with pytest.raises(LookupError):
                asked.seat(key, [0, 2])


def test_keys_that_others_may_know_or_that_are_none_are_refused(tmp_path, monkeypatch):
    path, link = tmp_path / "links.json", tmp_path / "link.json"
    Keys.new(is_open=False).keep(path)
    link.symlink_to(path)
    refused = pytest.raises(ValueError, match=r"is to be a file that only you may read; remove it, and there are new")
    with refused:
        Keys.kept(link, is_open=False)
    path.chmod(0o640)
    with refused:
        Keys.kept(path, is_open=False)
    path.chmod(0o600)
    for seats in ([], ["s" * 22] * 6):
        path.write_text(json.dumps({"seats": seats, "watch": "w" * 22, "host": "h" * 22}))
        with pytest.raises(ValueError, match=r"links.json holds no keys of a table: .*; remove it"):
            Keys.kept(path, is_open=False)
    monkeypatch.setattr("os.geteuid", lambda: path.stat().st_uid + 1)
    with refused:
        Keys.kept(path, is_open=False)
