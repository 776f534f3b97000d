"""Records of a game as text that a person can read and write (docs/notation.md), and back."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from krypenv.cards import STOP, TAKE, card_name
from krypenv.game.moves import MOVE_PATTERN, NO_MOVE, Move, begun_actions, parse_play, staged_actions
from krypenv.game.positions import parse_position, rules_in, session_in
from krypenv.inputs.words import check_text, one_line, shown
from krypenv.notation import Entries, NotationError

if TYPE_CHECKING:
    from krypenv.game.game import Game

_NAMES_PER_LINE = 26  # of a record's deck
_TAG = re.compile(r'\s*\[\s*(?P<name>\w+)\s+"(?P<value>[^"\\]*(?:\\.[^"\\]*)*)"\s*\]', re.DOTALL)
_TOKEN = re.compile(
    rf"\{{(?P<comment>[^}}]*)\}}|(?P<number>(?i:Deal)\s+[0-9]+:|[0-9]+\.)"
    rf"|(?P<move>{MOVE_PATTERN})(?P<begun>\.\.)?(?![^\s{{])"
    r"|(?P<result>\*|-?[0-9]+(?:--?[0-9]+)+)(?!\S)|(?P<other>\{|\S{1,100})"
)
_OWN_TAGS = ("Rules", "Dealer", "Seed", "Game", "Totals", "Deck", "Position")  # in the order in which they are written


def format_record(game: Game) -> str:
    """Write a game's record: tags, the moves deal by deal with the comments, and the final scores or ``*``.

    Raises ValueError for a tag or a comment that can't be written.
    """
    plays = game.plays
    made = len(plays)
    if stray := [ply for ply in game.comments if ply not in range(made + 1)]:
        raise ValueError(f"a comment stands after 0 to {made} moves of this game, and not after {shown(stray[0])}")
    for name in game.tags:
        if not isinstance(name, str) or not re.fullmatch(r"\w+", name) or name in _OWN_TAGS:
            raise ValueError(
                f"{shown(name)} can't be a further tag; its name is one word, and none of {', '.join(_OWN_TAGS)}"
            )
    tags = {"Position": "; ".join(game.origin.splitlines())} if game.origin else _start_tags(game)
    lines = []
    for name, text in (tags | game.tags).items():
        escaped = check_text(text, f"the value of the tag {shown(name)}").replace("\\", "\\\\").replace('"', '\\"')
        lines.append(f'[{name} "{escaped}"]')

    words: list[str] = []
    last_deal = 0
    for ply, (deal, seat, move) in enumerate(plays):
        if deal != last_deal or seat == (game.dealer + 1) % game.rules.players:
            lines.append(" ".join(words))
            words = []
        if deal != last_deal:
            last_deal = deal
            lines += ["", f"Deal {deal}:"] if lines[-1] else [f"Deal {deal}:"]
        words += [] if words else [f"{ply + 1}."]
        words += [*_comment(game, ply), str(move)]
    words += _comment(game, made)
    if game.pending:
        taken = [action - TAKE for action in begun_actions(game) if TAKE <= action < STOP]
        words.append(f"{Move(game.pending, tuple(map(card_name, taken)), 0, game.building)}..")
    result = "-".join(map(str, game.scores())) if game.is_over else "*"
    return "\n".join([*lines, " ".join(words), "", result]) + "\n"


def _start_tags(game: Game) -> dict[str, str]:
    """Make the tags that say how a game was dealt."""
    start = game.rewound()
    deck = game.deck
    rows = [" ".join(deck[at : at + _NAMES_PER_LINE]) for at in range(0, len(deck), _NAMES_PER_LINE)]
    in_session = game.game_number > 1
    return {
        "Rules": str(game.rules),
        "Dealer": str(game.dealer),
        **({} if game.seed is None else {"Seed": str(game.seed)}),
        **({"Game": str(game.game_number), "Totals": " ".join(map(str, start.totals))} if in_session else {}),
        "Deck": "\n".join(rows),
    }


def _comment(game: Game, ply: int) -> list[str]:
    text = check_text(game.comments.get(ply, ""), "a comment").strip()
    if "}" in text:
        raise ValueError(f"a comment can't hold '}}', as {shown(text)} does")
    return [f"{{{text}}}"] if text else []


def parse_record(text: str, kind: type[Game]) -> Game:
    """Read a record and play its moves, in a game that is an instance of `kind`.

    Raises NotationError, with the line and the reason, for a text that is cut off or not a record, for an illegal move
    and for wrong scores. The time it takes is proportional to the length of the text.
    """
    text = check_text(text, "a record")
    tags, end = _read_tags(text)
    game = _start(tags, kind)
    comments: dict[int, list[str]] = {}
    made, result = 0, ""
    for token in _TOKEN.finditer(text, end):
        try:
            if result:
                raise ValueError(f"the record ended with {shown(result)}, and then comes {shown(token[0])}")
            if token["comment"] is not None:
                comments.setdefault(made, []).append(token["comment"].strip())
            elif token["begun"]:
                _begin(game, token["move"])
            elif token["move"]:
                game.push(token["move"])
                made += 1
            elif token["result"]:
                result = _check_result(game, token["result"])
            elif token["other"]:
                is_open = token["other"] == "{"
                raise ValueError(
                    "this comment does not end with }" if is_open else f"{shown(token['other'])} {NO_MOVE}"
                )
        except ValueError as error:
            raise NotationError(_line_at(text, token.start()), error) from None
    if not result:
        raise NotationError(_line_at(text.rstrip(), len(text)), "the record ends without '*' or the final scores")
    game.comments = {ply: joined for ply, texts in comments.items() if (joined := "\n".join(filter(None, texts)))}
    return game


def _line_at(text: str, place: int) -> int:
    """Find the line of a place in a text."""
    return text.count("\n", 0, place) + 1


def _read_tags(text: str) -> tuple[Entries, int]:
    """Read the tags at the beginning of a record; return them, and the place in the text where they end."""
    tags: dict[str, tuple[int, str]] = {}
    line, end = 1, 0
    while tag := _TAG.match(text, end):
        line += text.count("\n", end, tag.start("name"))
        if tag["name"] in tags:
            raise NotationError(line, f"the tag {shown(tag['name'])} is already in line {tags[tag['name']][0]}")
        tags[tag["name"]] = line, re.sub(r"\\(.)", r"\1", tag["value"], flags=re.DOTALL)
        line, end = line + text.count("\n", tag.start("name"), tag.end()), tag.end()
    if text[end:].lstrip().startswith("["):
        raise NotationError(
            _line_at(text, text.index("[", end)), 'this tag does not end with ], as in [Event "Friday"]'
        )
    return Entries(tags, line), end


def _start(tags: Entries, kind: type[Game]) -> Game:
    """Make the game that the tags of a record deal, or begin from their position."""
    own = [name for name in _OWN_TAGS if name in tags.entries]
    if "Position" in own:
        tags.check(own == ["Position"], own[0], f"a record that begins from a position has no tag {own[0]!r}")
        try:
            game = parse_position(tags.value("Position"), kind)
        except NotationError as error:
            raise tags.fail("Position", str(error).partition(": ")[2]) from None
    else:
        is_dealt = "Rules" in own and ("Deck" in own or "Seed" in own)
        tags.check(is_dealt, "", "before the moves there are the tags 'Rules' and 'Deck' (or 'Seed'), or 'Position'")
        rules, deck = rules_in(tags, "Rules"), tags.value("Deck") if "Deck" in own else None
        [dealer], [seed] = tags.numbers("Dealer", 1, rules.players - 1), tags.numbers("Seed", 1)
        number, totals = session_in(tags, rules, "Game", "Totals")
        try:
            game = kind(rules, seed if "Seed" in own else None, deck, dealer, number, totals)
        except ValueError as error:
            raise tags.fail("Dealer" if deck is None else "Deck", error) from None
    game.tags = {name: text for name, (_, text) in tags.entries.items() if name not in own}
    return game


def _begin(game: Game, move: str) -> None:
    """Begin a play, written as a move, or go on with it; raise IllegalMove for an illegal action."""
    card, takes, _, build, builds = parse_play(move)
    for action in staged_actions(card, takes, build, builds)[len(begun_actions(game)) :]:
        game.act(action)


def _check_result(game: Game, result: str) -> str:
    """Check the result of a record against the game and return it; raise ValueError for another."""
    scores = "-".join(map(str, game.scores()))
    if game.is_over and result != scores:
        raise ValueError(f"the final scores are {scores}, not {one_line(result)}")
    if not game.is_over and result != "*":
        raise ValueError(f"the game is not over, so its record ends with '*', not with {one_line(result)}")
    return result
