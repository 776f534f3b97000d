"""Records of a game as text that a person can read and write (docs/notation.md), and back."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from krypenv.engine import IllegalMove
from krypenv.game.moves import MOVE_PATTERN, NO_MOVE, Move, begin_play
from krypenv.game.positions import parse_position, rules_in, session_in
from krypenv.inputs.words import check_text, shown, unquoted
from krypenv.notation import Entries, NotationError

if TYPE_CHECKING:
    from krypenv.game.game import Game

_NAMES_PER_LINE = 26  # of a record's deck
_TAG = r'\[\s*(?P<tag>\w+)\s+"(?P<value>[^"\\]*(?:\\.[^"\\]*)*)"\s*\]'
_TOKEN = re.compile(
    rf"{_TAG}|\{{(?P<comment>[^}}]*)\}}|(?i:Deal)\s+(?P<deal>[0-9]+):|(?P<number>[0-9]+)\."
    rf"|(?P<move>{MOVE_PATTERN})(?P<begun>\.\.)?(?![^\s{{])|(?P<result>\*|-?[0-9]+(?:--?[0-9]+)+)(?!\S)|(?P<other>\S)",
    re.DOTALL,
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
    tags = {"Position": "; ".join(game.origin.splitlines())} if game.origin else _start_tags(game)
    lines = []
    for name, text in [*tags.items(), *game.tags.items()]:
        if (
            not (isinstance(name, str) and re.fullmatch(r"\w+", name))
            or (name in _OWN_TAGS and name not in tags)
            or (name in tags and name in game.tags)
        ):
            raise ValueError(
                f"{shown(name)} can't be a further tag; its name is one word, and none of {', '.join(_OWN_TAGS)}"
            )
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
        words.append(f"{Move(game.pending, tuple(game.taken), 0, game.building)}..")
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
    reader = _Reader(kind)
    for line, token in _tokens(check_text(text, "a record")):
        reader.line = line
        try:
            reader.read(token)
        except NotationError:
            raise
        except ValueError as error:
            raise NotationError(line, error) from None
    if not reader.game or not reader.result:
        raise NotationError(reader.line, "the record ends without '*' or the final scores")
    texts = {ply: "\n".join(filter(None, parts)) for ply, parts in reader.comments.items()}
    reader.game.comments = {ply: text for ply, text in texts.items() if text}
    return reader.game


def _tokens(text: str) -> Iterator[tuple[int, re.Match[str]]]:
    """Yield the tokens of a record with their lines; raise NotationError at anything else."""
    line, counted = 1, 0
    for token in _TOKEN.finditer(text):
        line += text.count("\n", counted, token.start())
        counted = token.start()
        if token["other"]:
            raise NotationError(line, _no_token(text[counted : counted + 1000]))
        yield line, token


def _no_token(text: str) -> str:
    """Explain why no token of a record begins a text."""
    if text[0] == "[":
        return 'this tag does not end with ], as in [Event "Friday"]'
    return "this comment does not end with }" if text[0] == "{" else f"{shown(text.split()[0])} {NO_MOVE}"


class _Reader:
    """A record, read token by token."""

    def __init__(self, kind: type[Game]) -> None:
        self.kind = kind
        self.line = 1
        self.tags: dict[str, tuple[int, str]] = {}  # by name, with the line
        self.comments: dict[int, list[str]] = {}
        self.game: Game | None = None
        self.made = 0  # whole moves
        self.begun = ""  # a play that was only begun, as text
        self.result = ""

    def read(self, token: re.Match[str]) -> None:
        """Read one more token; raise ValueError if it is out of place."""
        if self.result:
            raise ValueError(f"the record ended with {shown(self.result)}, and then comes {shown(token[0])}")
        if name := token["tag"]:
            if self.game or name in self.tags:
                place = "comes after the tags" if self.game else f"is already in line {self.tags[name][0]}"
                raise ValueError(f"the tag {shown(name)} {place}")
            self.tags[name] = self.line, re.sub(r"\\(.)", r"\1", token["value"], flags=re.DOTALL)
            return
        game = self.game = self.game or self.start()
        if token["move"]:
            self.play(game, Move.parse(token["move"]), bool(token["begun"]))
        elif token["comment"] is not None:
            self.comments.setdefault(self.made, []).append(token["comment"].strip())
        elif token["deal"]:
            if token["deal"].lstrip("0") != str(game.deal_number):
                raise ValueError(f"here is deal {game.deal_number}, not {unquoted(token['deal'])}")
        elif token["number"]:
            if token["number"].lstrip("0") != str(self.made + 1):
                raise ValueError(f"the next move is number {self.made + 1}, not {unquoted(token['number'])}")
        else:
            self.result = token["result"]
            scores = "-".join(map(str, game.scores()))
            if game.is_over and self.result != scores:
                raise ValueError(f"the final scores are {scores}, not {unquoted(self.result)}")
            if not game.is_over and self.result != "*":
                raise ValueError(f"the game is not over, so its record ends with '*', not with {unquoted(self.result)}")

    def start(self) -> Game:
        """Make the game that the tags deal."""
        tags = Entries(self.tags, self.line)
        own = [name for name in _OWN_TAGS if name in tags.entries]
        if "Position" in own:
            tags.check(own == ["Position"], own[0], f"a record that begins from a position has no tag {own[0]!r}")
            try:
                game = parse_position(tags.value("Position"), self.kind)
            except NotationError as error:
                raise NotationError(tags.line_of("Position") + error.line - 1, str(error).partition(": ")[2]) from None
        else:
            game = self.deal(tags)
        game.tags = {name: text for name, (_, text) in tags.entries.items() if name not in own}
        return game

    def deal(self, tags: Entries) -> Game:
        """Deal a game by the tags for rules, dealer, seed, session and deck."""
        seed, deck = (tags.value(name) if name in tags.entries else None for name in ("Seed", "Deck"))
        if "Rules" not in tags.entries or (seed is None and deck is None):
            raise NotationError(
                self.line, "before the moves there are the tags 'Rules' and 'Deck' (or 'Seed'), or 'Position'"
            )
        rules = rules_in(tags, "Rules")
        [dealer] = tags.numbers("Dealer", 1, rules.players - 1)
        number, totals = session_in(tags, rules, "Game", "Totals")
        try:
            return self.kind(rules, None if seed is None else tags.numbers("Seed", 1)[0], deck, dealer, number, totals)
        except NotationError:
            raise
        except ValueError as error:
            raise tags.fail("Dealer" if deck is None else "Deck", error) from None

    def play(self, game: Game, move: Move, is_begun: bool) -> None:
        """Make a move, or begin it."""
        if self.begun:
            raise ValueError(f"{unquoted(self.begun)} was only begun, so no move follows it")
        if not is_begun:
            game.push(move)
            self.made += 1
            return
        self.begun = f"{move}.."
        card, takes, _, build, builds = move.kinds()
        if builds or not begin_play(game, card, takes, build):
            raise IllegalMove(game.complaint(f"{unquoted(self.begun)} is no begun play here"))
