"""What one seat may see of a game, as plain values, for tables outside this process: a function of the record alone."""

from __future__ import annotations

from typing import Any

from krypenv.cards import parse_card
from krypenv.game.display import last_play
from krypenv.game.game import Game
from krypenv.game.moves import Move
from krypenv.ui.narrator.events import tell_sweep, what_is_taken
from krypenv.ui.narrator.facts import hand_values
from krypenv.ui.narrator.narrator import Narrator
from krypenv.ui.narrator.options import group_of, listed_moves
from krypenv.ui.narrator.words import starting

END = "End"  # tag of a game that its people have ended by agreement
MOST_MOVES = 200  # that are listed; of more, a person names the cards that a card takes


def is_over(game: Game) -> bool:
    """Return whether a game has come to its end, or its people have agreed to end it."""
    return game.is_over or END in game.tags


def view(game: Game, words: Narrator, story: Story | None = None) -> dict[str, Any]:
    """Collect all that the narrator's seat may know of a game, as JSON values, and nothing else.

    For a seat of None, who only watches, it holds no hand and no moves. A `story` of the same narrator that was told
    up to an earlier move of the same game spares time.
    """
    seat, story = words.seat, story or Story(words)
    story.follow(game)
    rules, hand = game.rules, [] if seat is None else game.hand(seat)
    return {
        "title": words.title,
        "seat": seat,
        "players": [_player(game, words, each, story.swept[each]) for each in range(game.rules.players)],
        "teams": _teams(game, words),
        "table": game.table,
        "builds": [build._asdict() for build in game.builds],
        "aside": game.set_aside,
        "stock": game.stock_size,
        "deal": {"number": game.deal_number, "of": len(game.rules.deal_sizes())},
        "session": {"number": game.game_number, "of": game.rules.games},
        "turn": None if is_over(game) else game.turn,
        "hand": sorted(hand, key=lambda card: (max(hand_values(rules, parse_card(card)), default=0), parse_card(card))),
        **_choices(game, words),
        "announcement": words.announcement(game),
        "log": list(story.log),
        "last": story.last,
        "over": is_over(game),
        "session_over": game.session_over or END in game.tags,
        **_end(game, words),
    }


def _player(game: Game, words: Narrator, seat: int, swept: list[str]) -> dict[str, Any]:
    """Collect what everybody may know of a seat. Its pile lies face down until the end, but for cards that swept."""
    rules = game.rules
    return {
        "seat": seat,
        "name": starting(words.names[seat]),
        "team": rules.team_of(seat) if rules.teams else None,
        "dealer": seat == game.dealer,
        "cards": len(game.hand(seat)),
        "pile": game.pile_counts(seat)[0],
        "swept": swept,
        "taken": game.captured(seat) if is_over(game) else None,
        "account": words.account(game, seat),
        "score": game.scores()[seat],
        "total": game.totals[seat],
    }


def _teams(game: Game, words: Narrator) -> list[dict[str, Any]]:
    """List the sides of a game of partners with their scores; none where everyone plays alone."""
    scores = game.scores()
    return [
        {
            "name": words.listed([starting(words.who(seat)) for seat in words.members(side)]),
            "seats": words.members(side),
            "score": sum(scores[seat] for seat in words.members(side)),
        }
        for side in range(game.rules.teams or 0)
    ]


# ---------------------------------------------------------------------- what may be chosen


def _choices(game: Game, words: Narrator) -> dict[str, Any]:
    """List the moves of a seat whose turn it is, and tell what each of its cards may do or why it can't be played.

    `moves` is None where there are too many to list.
    """
    if is_over(game) or game.turn != words.seat:
        return {"moves": [], "whys": {}}
    moves = listed_moves(game, MOST_MOVES)
    return {
        "moves": None if moves is None else [_move(game, words, move) for move in moves],
        "whys": {card: words.why_card(game, card) for card in dict.fromkeys(game.hand(game.turn))},
    }


def _move(game: Game, words: Narrator, move: Move) -> dict[str, Any]:
    """Describe a legal move: as records write it, its captures, its worth at once, and a sentence about it."""
    twin, seat = game.copy(), game.turn
    twin.push(move)
    group = group_of(move)
    return {
        "move": str(move),
        "kind": group,
        "card": move.card,
        "takes": list(move.takes),
        "builds": list(move.builds),
        "build": move.build,
        "sweep": move.sweep,
        "what": what_is_taken(words, game, seat, move) if group == "take" else "",
        "gain": words.worth(twin.scores()[seat] - game.scores()[seat]),
        "text": words.why(game, move),
    }


# ---------------------------------------------------------------------- what has happened


class Story:
    """What has happened in a game, told to one seat; when the game has gone on, it goes on where it stopped.

    Args:
        words: the narrator of the seat.

    Attributes:
        log: what has happened so far, told deal by deal.
        last: the last play by itself; None before the first.
        swept: by seat, the cards that swept.
    """

    def __init__(self, words: Narrator) -> None:
        self._words = words
        self._told: Game | None = None
        self._moves: list[Move] = []  # that were told
        self.log: list[dict[str, Any]] = []
        self.last: dict[str, Any] | None = None
        self.swept: list[list[str]] = []

    def follow(self, game: Game) -> None:
        """Tell what is new in a game; if moves were taken back, begin anew."""
        told, moves = self._told, game.moves
        if told is None or moves[: len(self._moves)] != self._moves:
            told = self._told = game.rewound()
            self.log, self.last, self.swept = [], None, [[] for _ in range(game.rules.players)]
            self._moves = []
            self._tell_deal(told, 0)
        for move in moves[len(self._moves) :]:
            before = told.copy()
            told.push(move)
            text = self._words.play(before, told)
            self.log.append({"deal": before.deal_number, "seat": before.turn, "text": text})
            self.last = _last(self._words, before, told, text)
            self.swept[before.turn] += [move.card] * bool(move.sweep)
            self._tell_deal(told, before.deal_number)
        self._moves = moves

    def _tell_deal(self, game: Game, before: int) -> None:
        if game.deal_number != before and not game.is_over:
            self.log.append({"deal": game.deal_number, "seat": None, "text": self._words.deal(game)})


def _last(words: Narrator, before: Game, game: Game, text: str) -> dict[str, Any]:
    play = last_play(game)
    assert play
    seat, move = play
    return {
        "seat": seat,
        "card": move.card,
        "takes": list(move.takes),
        "builds": [
            {"value": value, "cards": cards}
            for value, cards, *_ in before.builds
            if value in move.builds and not move.build
        ],
        "build": move.build,
        "sweep": move.sweep,
        "sums": words.sums(move.card, move.takes) if move.takes and not move.build else "",
        "event": tell_sweep(words, before, game, seat, move),
        "gains": [words.worth(new - old) for new, old in zip(game.scores(), before.scores(), strict=True)],
        "text": text,
    }


def _end(game: Game, words: Narrator) -> dict[str, Any]:
    """Write the score sheet and the result of a game that is over."""
    if not is_over(game):
        return {"sheet": None, "result": ""}
    sheet = words.sheet(game)
    return {
        "sheet": {
            "names": [starting(name) for name in words.names],
            "entries": [{"label": entry.label, "points": list(entry.points)} for entry in sheet.entries],
            "scores": list(sheet.scores),
            "sides": list(sheet.sides),
            "totals": list(sheet.totals),
        },
        "result": words.result(game),
    }
