"""The worked examples A to M of the main rulebook, each laid out as a position and played through `Game`."""

import pytest
from support.games import after, gained, lay, texts

from krypenv import Game


def test_example_a():
    game = lay("8C 9D JH", "6C 8D", "2C 3C")
    assert texts(game) == ["6C", "8Dx8C"]
    assert after(game, "6C").table == ["6C", "8C", "9D", "JH"]
    taken = after(game, "8Dx8C")
    assert taken.table == ["9D", "JH"]
    assert {"8C", "8D"} <= set(taken.captured(0))


def test_example_b():
    game = lay("AC 2D 6H 7S 8C 9D JH", "6C 8D", "2C 3C")
    assert texts(game) == ["6Cx6H", "8DxAC8C2D6H7S"]
    taken = after(game, "8DxAC8C2D6H7S")
    assert taken.table == ["9D", "JH"]
    assert taken.captured(0) == ["AC", "8C", "2D", "8D", "6H", "7S"]


def test_example_c():
    game = lay("2C 3C 4C 5C 8C TD", "AC KC", "2D 3D")
    assert texts(game)[:3] == ["ACx2C3C4C5C", "ACx2C4C8C", "ACx4CTD"]
    assert {move.card for move in game.legal_moves()[3:]} == {"KC"}
    assert after(game, "ACx4CTD").table == ["2C", "3C", "5C", "8C"]


def test_example_d():
    game = lay("AC 4C 6C QC", "AD 7D JD", "2H 3H QD")
    assert texts(game) == ["AD", "7DxAC6C", "JDxAC4C6C"]
    crept = after(game, "AD")
    assert crept.announcement == "sweep for a queen"
    assert texts(crept) == ["QDxAC4C6CQCAD#"]


def test_example_e():
    game = lay("AC 8C", "5C KC", "AD 2D")
    game.push("5C")
    assert game.announcement == "sweep for an ace"
    assert texts(game) == ["ADxAC5C8C#"]


def test_example_f():
    game = lay("2C 5C 6C", "3C QC", "8D 9D")
    assert game.announcement == "sweep for a king"
    game.push("3C")
    assert game.announcement == "sweep for an 8"
    assert texts(game) == ["8Dx2C3C5C6C#"]


@pytest.mark.parametrize(
    ("move", "announcement"),
    [
        ("3Dx3C", "sweep for an ace"),
        ("5Dx5C", "sweep for a queen"),
        ("8Dx3C5C", "sweep for a 9"),
        ("9Dx9C", "sweep for an 8"),
        ("QDx3C9C", "sweep for a 5"),
        ("ADx5C9C", "sweep for a 3"),
    ],
)
def test_example_g(move, announcement):
    game = lay("3C 5C 9C", "AD 3D 5D 8D 9D QD", "2H 3H 4H 6H 7H JH", more="aside: KC; stock: rest")
    assert len(texts(game)) == 6
    assert after(game, move).announcement == announcement


def test_example_h():
    game = lay("JC 6C 4C 2C", "JD KD", "QH 6H")
    game.push("JDxJC")
    assert game.announcement == "sweep for a 6 or a queen"
    assert texts(game) == ["6Hx2C4C6C#", "QHx2C4C6C#"]


def test_example_i():
    game = lay("3H 5S", "3C KC", "5S KD")
    assert game.announcement == "sweep for an 8"
    game.push("3Cx3H")
    assert game.announcement == "sweep for a 5"
    assert texts(game) == ["5Sx5S##"]
    assert gained(game, "5Sx5S##") == [-10, 10 + 2]  # and two spades

    game = lay("3H 5S", "3C KC", "5D 5S")
    game.push("3Cx3H")
    assert texts(game) == ["5Dx5S#", "5Sx5S##"]


def test_example_j():
    game = lay("4C 7S JD", "JD 2C", "2D 3D")
    assert game.announcement == "sweep for a jack"
    assert texts(game) == ["JDx4CJD7S#"]
    game.push("JDx4CJD7S")
    assert game.sweeps(0) == 1


def test_example_k():
    stock = "stock: TD 2C AD 2D 3C 5C 3D 5D"
    game = lay("6C TC JC KC", "-", "4C", more=f"captured 0: rest; {stock}")
    assert game.turn == game.dealer == 1
    game.push("4C")
    assert game.set_aside == ["JC", "KC"]
    assert game.announcement == "last cards, sweep for a 10"
    assert texts(game) == ["TDx4C6CTC#"]
    assert gained(game, "TDx4C6CTC") == [5 + 3, -5]  # and storan


def test_example_l():
    game = Game.from_position(
        "rules: krypkasino players=5; captured 0: 2C 2D; captured 1: 3C 3C 3D 3D 4C 4C; captured 2: 5C 5D;"
        "captured 3: rest; last-capturer: 3; sweeps: 1 3 1 0 0"
    )
    assert game.is_over
    swept = [score - game.points(seat) for seat, score in enumerate(game.scores())]
    assert swept == [-10, 10, 5, 0, -5]
    assert sum(game.scores()) == 42


def test_example_m():
    game = lay("2H 6C QS", "7D 8S JD KC", "2C 3C 4C QS", more="captured 1: 3D 3D 5D 5D 6D; stock: rest")
    assert texts(game) == ["KC", "7D", "JD", "8Sx6C2H"]
    taken = after(game, "8Sx6C2H")
    assert taken.points(0) == 1
    assert taken.announcement == "sweep for a queen"
    assert texts(taken) == ["QSxQS##"]
