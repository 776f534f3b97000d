"""Records of a game as text that a person can read and write (docs/notation.md), and back."""

from __future__ import annotations

import re

from krypenv.engine import IllegalMove
from krypenv.game import Game
from krypenv.moves import MOVE_PATTERN, Move
from krypenv.notation import NotationError, begin_play, check_session
from krypenv.rules import Rules

_NAMES_PER_LINE = 26  # of a record's deck
_TAG = r'\[\s*(?P<tag>\w+)\s+"(?P<value>(?:[^"\\]|\\.)*)"\s*\]'
_TOKEN = re.compile(
    rf"{_TAG}|\{{(?P<comment>[^}}]*)\}}|Deal\s+(?P<deal>\d+):|(?P<number>\d+)\."
    rf"|(?P<move>{MOVE_PATTERN})(?P<begun>\.\.)?(?![^\s{{])|(?P<result>\*|-?\d+(?:--?\d+)+)(?!\S)",
    re.IGNORECASE | re.DOTALL,
)
_OWN_TAGS = ("Rules", "Dealer", "Seed", "Game", "Totals", "Deck", "Position")  # in the order in which they are written


def format_record(game: Game) -> str:
    """Return a game's record: tags, the moves deal by deal with the comments, and the final scores or ``*``.

    Raises ValueError for a tag or a comment that can't be written.
    """
    own = {"Position": "; ".join(game.origin.splitlines())} if game.origin else _start_tags(game)
    lines = []
    for name, text in [*own.items(), *game.tags.items()]:
        if (
            not re.fullmatch(r"\w+", name)
            or (name in _OWN_TAGS and name not in own)
            or (name in own and name in game.tags)
        ):
            raise ValueError(
                f"{name!r} can't be a further tag; its name is one word, and none of {', '.join(_OWN_TAGS)}"
            )
        escaped = text.replace("\\", "\\\\").replace('"', '\\"')
        lines.append(f'[{name} "{escaped}"]')

    twin = game.rewound()
    words: list[str] = []
    deal = 0
    for ply, move in enumerate(game.moves):
        if twin.deal_number != deal or twin.turn == (twin.dealer + 1) % game.rules.players:
            lines.append(" ".join(words))
            words = []
        if twin.deal_number != deal:
            deal = twin.deal_number
            lines += ["", f"Deal {deal}:"] if lines[-1] else [f"Deal {deal}:"]
        words += [] if words else [f"{ply + 1}."]
        words += [*_comment(game, ply), str(move)]
        twin.push(move)
    words += _comment(game, len(game.moves))
    if game.pending:
        words.append(f"{Move(game.pending, tuple(game.taken))}..")
    result = "-".join(map(str, game.scores())) if game.is_over else "*"
    return "\n".join([*lines, " ".join(words), "", result]) + "\n"


def _start_tags(game: Game) -> dict[str, str]:
    """Return the tags that say how a game was dealt."""
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
    text = game.comments.get(ply, "").strip()
    if "}" in text:
        raise ValueError(f"a comment can't hold '}}', as {text!r} does")
    return [f"{{{text}}}"] if text else []


def parse_record(text: str) -> Game:
    """Return the game of a record, played to its end.

    Raises NotationError, with the line and the reason, for a text that is torn or no record, for an illegal move and
    for wrong scores.
    """
    tags: dict[str, tuple[int, str]] = {}
    game: Game | None = None
    at, line, made, result = 0, 1, 0, ""
    begun = ""  # a play that was only begun, as text
    while text[at:].strip():
        start = at + len(text[at:]) - len(text[at:].lstrip())
        line = text.count("\n", 0, start) + 1
        token = _TOKEN.match(text, start)
        if not token:
            raise NotationError(line, _no_token(text[start:]))
        if result:
            raise NotationError(line, f"the record ended with {result!r}, and then comes {token[0]!r}")
        at = token.end()
        try:
            if token["tag"]:
                if game:
                    raise ValueError(f"the tag {token['tag']!r} comes after the tags")
                _add_tag(tags, line, token["tag"], re.sub(r"\\(.)", r"\1", token["value"], flags=re.DOTALL))
                continue
            game = game or _start_game(tags, line)
            if token["move"]:
                if begun:
                    raise ValueError(f"{begun} was only begun, so no move follows it")
                begun = token[0] if token["begun"] else ""
                made += _replay_move(game, token["move"], bool(begun))
            elif token["comment"] is not None:
                both = [game.comments.get(made, ""), token["comment"].strip()]
                game.comments[made] = "\n".join(filter(None, both))
            elif token["deal"] and int(token["deal"]) != game.deal_number:
                raise ValueError(f"here is deal {game.deal_number}, not {token['deal']}")
            elif token["number"] and int(token["number"]) != made + 1:
                raise ValueError(f"the next move is number {made + 1}, not {token['number']}")
            elif token["result"]:
                result = token["result"]
                _check_result(game, result)
        except NotationError:
            raise
        except ValueError as error:
            raise NotationError(line, error) from None
    if not game or not result:
        raise NotationError(line, "the record ends without '*' or the final scores")
    return game


def _no_token(text: str) -> str:
    """Return why a text begins with nothing that stands in a record."""
    if text[0] in "[{":
        what, end = ("tag", ']", as in [Event "Friday"]') if text[0] == "[" else ("comment", "}")
        return f"this {what} does not end with {end}".replace(']"', "]")
    return f"{text.split()[0]!r} is no move; a move is 8S or 8Sx2H6D, with # for a sweep and ## for a double one"


def _add_tag(tags: dict[str, tuple[int, str]], line: int, name: str, text: str) -> None:
    if name == "Deck" and name in tags:
        tags[name] = tags[name][0], f"{tags[name][1]} {text}"
    elif name in tags:
        raise ValueError(f"the tag {name!r} stands in line {tags[name][0]} already")
    else:
        tags[name] = line, text


def _start_game(tags: dict[str, tuple[int, str]], line: int) -> Game:
    """Return the game that the tags deal."""
    own = {name: tags[name] for name in _OWN_TAGS if name in tags}
    if "Position" in own:
        if len(own) > 1:
            other = next(name for name in own if name != "Position")
            raise NotationError(own[other][0], f"beside a position there is no tag {other!r}")
        try:
            game = Game.from_position(own["Position"][1])
        except NotationError as error:
            raise NotationError(own["Position"][0] + error.line - 1, str(error).partition(": ")[2]) from None
    else:
        game = _deal_from(own, line)
    game.tags = {name: text for name, (_, text) in tags.items() if name not in own}
    return game


def _deal_from(own: dict[str, tuple[int, str]], line: int) -> Game:
    """Return the game that is dealt by the tags of the rules, the dealer, the seed, the session and the deck."""
    name = ""

    def numbers(key: str, count: int, default: list[int]) -> list[int]:
        nonlocal name
        name = key
        if key not in own:
            return default
        words = own[key][1].split()
        if len(words) != count or not all(re.fullmatch(r"-?\d{1,20}", word) for word in words):
            raise ValueError(f"the tag {key!r} takes {count} whole number{'s' * (count > 1)}, not {own[key][1]!r}")
        return [int(word) for word in words]

    if "Rules" not in own or not ("Deck" in own or "Seed" in own):
        raise NotationError(line, "before the moves there are the tags 'Rules' and 'Deck' (or 'Seed'), or 'Position'")
    try:
        name = "Rules"
        rules = Rules.parse(own["Rules"][1])
        [dealer] = numbers("Dealer", 1, [rules.players - 1])
        [number], totals = numbers("Game", 1, [1]), numbers("Totals", rules.players, [0] * rules.players)
        if reason := check_session(rules, number, totals):
            raise NotationError(own.get("Game", own.get("Totals", (line,)))[0], reason)
        seed = numbers("Seed", 1, [])[0] if "Seed" in own else None
        name = "Deck" if "Deck" in own else "Dealer"
        return Game.of_session(rules, seed, own["Deck"][1] if "Deck" in own else None, dealer, number, totals)
    except NotationError:
        raise
    except ValueError as error:
        raise NotationError(own.get(name, (line,))[0], error) from None


def _replay_move(game: Game, text: str, begun: bool) -> int:
    """Make a move, or begin it, and return how many whole moves that made."""
    move = Move.parse(text)
    if not begun:
        game.push(move)
    elif not begin_play(game, *move.kinds()[:2]):
        raise IllegalMove(
            f"{move}.. is no begun play here; the legal moves are {', '.join(map(str, game.legal_moves()))}"
        )
    return not begun


def _check_result(game: Game, result: str) -> None:
    scores = "-".join(map(str, game.scores()))
    if game.is_over and result != scores:
        raise ValueError(f"the final scores are {scores}, not {result}")
    if not game.is_over and result != "*":
        raise ValueError(f"the game is not over, so its record ends with '*', not with {result}")
