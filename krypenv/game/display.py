"""A game drawn as text: the present position, and a whole game deal by deal."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, NamedTuple

import numpy as np

from krypenv.cards import ACE, MAX_BUILD, NO_CARD, PICTURES, card_name, card_names
from krypenv.game.core import Core
from krypenv.game.moves import Move
from krypenv.game.records import parse_record
from krypenv.inputs.words import is_whole, shown
from krypenv.kernels.scoring import are_best
from krypenv.observation import extra_blocks, is_plain

TURN, ALL = "turn", "all"  # whose hands are shown: that of the seat to act, or all
_WIDTHS = {"sweeps": 1, "score": 3}  # of what is counted, in digits; of the rest 2
_RANK_WORDS = {ACE: "an ace", 8: "an 8"} | dict(zip(PICTURES, ("a jack", "a queen", "a king"), strict=True))


def format_announcement(game: Core) -> str:
    """Return what must be announced now, as in ``last cards, sweep for a 6 or a queen``; empty if nothing.

    "Last cards" is announced before the first play of the last deal. Where a sweep is forced or costs the seat before,
    one is announced whenever a card could make it.
    """
    is_last, ranks = announced(game)
    said = ["last cards"] if is_last else []
    words = [_RANK_WORDS.get(rank, f"a {rank}") for rank in ranks]
    if words:
        said.append("sweep for " + " or ".join(filter(None, [", ".join(words[:-1]), words[-1]])))
    return ", ".join(said)


def announced(game: Core) -> tuple[bool, list[int]]:
    """Return what must be announced now: whether the last deal begins, and the ranks that could sweep, 1 to 13."""
    last_hands, _ = game.rules.deal_sizes()[-1]
    held = sum(len(game.hand(seat)) for seat in range(game.rules.players))
    warns = game.rules.forced_sweep or game.rules.sweep_payer == "seat_before"
    return game.stock_size == 0 and held == sum(last_hands), game.sweep_ranks() if warns else []


def seats_shown(game: Core, render_seat: int | str | None) -> Collection[int]:
    """Return the seats whose hands are shown: the "turn", a fixed one, "all", or with None none.

    Raises ValueError for anything else.
    """
    players = game.rules.players
    if render_seat is None:
        return ()
    if isinstance(render_seat, str) and render_seat in (TURN, ALL):
        return range(players) if render_seat == ALL else (game.turn,)
    return (check_render_seat(render_seat, players),)


def check_render_seat(render_seat: Any, players: int) -> Any:
    """Return whose hand to show; raise ValueError unless it is a seat, "turn", "all" or None."""
    if render_seat is None or (isinstance(render_seat, str) and render_seat in (TURN, ALL)):
        return render_seat
    if not is_whole(render_seat, 0, players - 1):
        raise ValueError(
            f"render_seat is 'turn', 'all', None or a seat from 0 to {players - 1}, not {shown(render_seat)}"
        )
    return int(render_seat)


def format_game(game: Core, seats: Collection[int] | None = None) -> str:
    """Return a picture of the present position; with `seats`, show only the sizes of all other hands.

    With all hands it is ``str(game)``.
    """
    head = f"{game.rules}, {format_place(game)}, stock {game.stock_size}"
    lines = [head, f"  table      {_cards(game.table)}"]
    lines += [f"  build {value:2}   {_build(game, value)}" for value, *_ in game.builds]
    if game.set_aside:
        lines.append(f"  set aside  {_cards(game.set_aside)}")
    hands = [
        _cards(hand) if seats is None or seat in seats else _closed(len(hand))
        for seat, hand in enumerate(map(game.hand, range(game.rules.players)))
    ]
    width = max(map(len, hands))
    for seat, hand in enumerate(hands):
        mark = ">" if seat == game.turn else " "
        role = " (dealer)" if seat == game.dealer else ""
        counts = [f"{name} {count:{_WIDTHS.get(name, 2)}}" for name, count in seat_counts(game, seat).items()]
        lines.append(f"{mark} seat {seat}     {hand:{width}}  {'  '.join(counts)}{role}")
    lines += [f"  running    {_by_side(game, _running(game))}"] if _shows_running(game) else []
    if game.is_over:
        lines.append(format_result(game))
    elif game.building:
        lines.append(
            f"Seat {game.turn} plays {game.pending} and builds {game.building} with {_cards(game.taken)} so far."
        )
    elif game.pending and game.rules.capture == "optional":
        lines.append(f"Seat {game.turn} plays {game.pending} and takes {' '.join(game.taken) or 'nothing'} so far.")
    elif game.pending:
        lines.append(f"Seat {game.turn} plays {game.pending} and takes {_cards(game.taken)} and more: which?")
    else:
        lines.append(f"Seat {game.turn} is to play." + (f" {_aloud(game)}" if format_announcement(game) else ""))
    return "\n".join(lines)


def format_place(game: Core) -> str:
    """Return which deal is being played, and in a session of several games which game."""
    deal = f"deal {game.deal_number} of {len(game.rules.deal_sizes())}"
    if game.rules.games == 1 and game.game_number == 1:
        return deal
    return f"game {game.game_number}" + (f" of {game.rules.games}" if game.rules.games else "") + f", {deal}"


def seat_counts(game: Core, seat: int) -> dict[str, int]:
    """Return what is counted for a seat, by name: points, sweeps, what else the rules count (K7), and the score."""
    counts = {"points": game.points(seat), "sweeps": game.sweeps(seat)}
    counts |= {name: numbers[seat] for name, numbers in _extra_counts(game).items()}
    return counts | {"score": game.scores()[seat]}


class LastPlay(NamedTuple):
    """The last play, or the one that was begun."""

    seat: int
    card: str
    takes: tuple[str, ...]  # so far, if it was only begun
    sweep: int  # 0, 1 or 2
    is_begun: bool
    build: int  # the value of the build that it makes, raises to or joins, else 0
    builds: tuple[int, ...]  # the values of the builds that it captures, raises or joins


def last_play(game: Core) -> LastPlay | None:
    """Return the last play, or the one that was begun; None before the first."""
    state = game.state
    takes, build = tuple(card_names(state["taken"].tolist())), int(state["build_value"])
    builds = tuple(value for value in range(MAX_BUILD + 1) if state["taken_builds"] >> value & 1)
    if game.pending:
        return LastPlay(game.turn, game.pending, takes, 0, True, build, builds)
    if state["last_card"] == NO_CARD:
        return None
    seat, card, sweep = (int(state[name]) for name in ("last_seat", "last_card", "last_sweep"))
    return LastPlay(seat, card_name(card), takes, sweep, False, build, builds)


def format_verb(play: LastPlay) -> str:
    """Return what a play does beside laying its card, as in "and took" or "and builds 9 with"; empty for nothing."""
    if play.build:
        return f"and {'builds' if play.is_begun else 'built'} {play.build}{' with' if play.takes else ''}"
    if play.takes or play.builds:
        return "and takes" if play.is_begun else "and took"
    return "and takes nothing" if play.is_begun else ""


def format_builds(play: LastPlay) -> str:
    """Return the builds that a play captures, raises or joins, as in "the build of 9"; empty for none."""
    others = [value for value in play.builds if value != play.build]
    return f"the build{'s' * (len(others) > 1)} of {' and '.join(map(str, others))}" if others else ""


def format_playthrough(game: Core | str) -> str:
    """Return a game, or the game of a record's text, deal by deal: hands, moves, announcements, scores, the end."""
    if isinstance(game, str):
        game = parse_record(game, Core)
    players = range(game.rules.players)
    lines = [f"{game.rules}, seat {game.dealer} deals" + (f", game {game.game_number}" if game.game_number > 1 else "")]
    lines += [f"{name}: {text}" for name, text in game.tags.items()]
    twin = game.rewound()
    deal = 0
    for ply, move in enumerate([*game.moves, None]):
        if twin.deal_number != deal and not twin.is_over:
            deal = twin.deal_number
            lines += ["", f"Deal {deal} of {len(game.rules.deal_sizes())}", f"  table   {_cards(twin.table)}"]
            lines += [f"  aside   {_cards(twin.set_aside)}"] if twin.set_aside else []
            lines += [f"  seat {seat}  {_cards(twin.hand(seat))}" for seat in players]
            lines += [f"       {_aloud(twin)}"] if format_announcement(twin) else []
        if game.comments.get(ply):
            lines += [f"       {{{line}}}" for line in game.comments[ply].splitlines()]
        if move:
            lines.append(f"  {ply + 1:3}. seat {twin.turn} {format_playing(twin, move)}")
            if twin.deal_number == deal and format_announcement(twin):
                lines[-1] += f"  {_aloud(twin)}"
            if twin.deal_number != deal or twin.is_over:
                lines.append(f"  scores  {_scores(twin)}")
                lines += [f"  running {_by_side(twin, _running(twin))}"] if _shows_running(twin) else []
    if game.is_over:
        lines += ["", *format_end(game)]
    else:
        lines += ["", "Unfinished.", str(game)]
    return "\n".join(lines) + "\n"


def _cards(names: list[str] | tuple[str, ...]) -> str:
    return " ".join(names) or "-"


def _closed(size: int) -> str:
    return f"{size} card{'' if size == 1 else 's'}"


def _aloud(game: Core) -> str:
    return f'"{format_announcement(game)}"'


def format_playing(game: Core, move: Move) -> str:
    """Make a move and return it in words, as in "plays 8S, takes 2H 6D"."""
    seat = game.turn
    mulles, counted = game.mulles(seat), game.counted_sweeps(seat)
    owned = {value: owner for value, _, owner, _ in game.builds}
    game.push(move)
    if move.build is not None:
        return f"plays {move.card}, {_laid(game, move, owned)}"
    if not move.takes and not move.builds:
        return f"{'trails' if game.rules.capture == 'optional' else 'creeps'} {move.card}"
    made = ["a mulle"] * (game.mulles(seat) - mulles) + ["a sweep", "a double sweep"][move.sweep - 1 : move.sweep]
    what = f", {' and '.join(made)}" if made else ""
    is_void = move.sweep and game.counted_sweeps(seat) == counted
    what += ", which does not count" if is_void else "!" if made else ""
    builds = [f"the build of {value}" for value in move.builds]
    return f"plays {move.card}, takes {' and '.join([*([_cards(move.takes)] if move.takes else []), *builds])}{what}"


def _laid(game: Core, move: Move, owned: dict[int, int]) -> str:
    """Return in words what a move that builds has done (B2 to B4); `owned` says who owned the builds before it."""
    raised = next((value for value in move.builds if value != move.build), None)
    verb = "joins the build of" if move.build in owned else "builds"
    said = f"{verb} {move.build}" if raised is None else f"raises {raised} to {move.build}"
    said += f" with {_cards(move.takes)}" if move.takes else ""
    return f"{said}: {_build(game, move.build)}"


def _build(game: Core, value: int | None) -> str:
    """Return the cards of a build, who owns it, and whether it is multiple (B1)."""
    _, cards, owner, is_multiple = next(build for build in game.builds if build[0] == value)
    return f"{_cards(cards)}  (seat {owner}{', multiple' if is_multiple else ''})"


def _scores(game: Core) -> str:
    return ", ".join(f"seat {seat} {score}" for seat, score in enumerate(game.scores()))


def _extra_counts(game: Core) -> dict[str, list[int]]:
    """Return what else the rules count, by name and seat: cards and spades won, sweeps that count, mulles (K7)."""
    seats, needed = range(game.rules.players), extra_blocks(game.rules)
    counts = {
        "cards_won": ("cards", game.state["cards_won"][: len(seats)].tolist()),
        "spades_won": ("spades", game.state["spades_won"][: len(seats)].tolist()),
        "counted_sweeps": ("counted", [game.counted_sweeps(seat) for seat in seats]),
        "mulles": ("mulles", [game.mulles(seat) for seat in seats]),
        "mulle_scores": ("for mulles", [game.mulle_scores(seat) for seat in seats]),
    }
    return dict(told for block, told in counts.items() if block in needed)


def _sums(game: Core, numbers: list[int]) -> list[int]:
    """Return the sums of seats' numbers by side (R16)."""
    return [sum(numbers[side :: game.rules.num_teams]) for side in range(game.rules.num_teams)]


def _running(game: Core) -> list[int]:
    """Return the running score of each side: its total in the session, this game's score so far included (F5)."""
    totals = game.totals
    return _sums(game, totals if game.is_over else [sum(pair) for pair in zip(totals, game.scores(), strict=True)])


def _shows_running(game: Core) -> bool:
    """Return whether running scores matter and are not the scores themselves."""
    rules = game.rules
    matter = rules.sweep_limit is not None or (rules.threshold is not None and not is_plain(rules))
    return matter and _running(game) != game.scores()


def _side(game: Core, side: int) -> str:
    return f"{'seat' if game.rules.teams is None else 'team'} {side}"


def _by_side(game: Core, numbers: list[int]) -> str:
    return ", ".join(f"{_side(game, side)} {number}" for side, number in enumerate(numbers))


def format_result(game: Core) -> str:
    """Return how a game that is over ended, as in "The game is over: seat 0 wins with 12."."""
    return f"{_end(game)}{_result(game)}"


def _end(game: Core) -> str:
    """Return how the game ended, before its result."""
    if not game.ended_at_once:
        return "The game is over: "
    best = max(_running(game))
    return f"The game ends at once, for {_side(game, _running(game).index(best))} has {best}: "


class Outcome(NamedTuple):
    """Who came off best in a game that is over, or in its session."""

    best: list[int]  # the sides; several share the win
    sums: list[int]  # by side: scores of the game, or totals when a session ends
    is_decided: bool  # whether somebody has won: not between the games of a session
    in_session: bool  # whether it is a session that counts
    broken_by: str  # what broke a tie: "spades", "card points" or "cards"; empty if nothing did (K6, F7)


def outcome(game: Core, in_session: bool) -> Outcome:
    """Return the outcome by sides, a team by the sum of its seats (R16); `in_session` says that totals decide."""
    rules = game.rules
    is_decided = game.session_over or not in_session
    sums = _sums(game, game.totals if in_session and is_decided else game.scores())
    ties = np.array(game.tie_breaks()[: rules.num_teams]) if is_decided else None
    best = np.flatnonzero(are_best(rules, np.array(sums), ties)).tolist()
    by = _tie_broken_by(game, best[0], sums) if is_decided and len(best) == 1 else ""
    return Outcome(best, sums, is_decided, in_session, by)


def _result(game: Core) -> str:
    """Return who has the best score, or the best total when a session ends."""
    best, sums, is_decided, in_session, by = outcome(game, game.rules.games != 1 and not is_plain(game.rules))
    names, score = " and ".join(_side(game, side) for side in best), sums[best[0]]
    if not is_decided:
        return f"{names} {'has' if len(best) == 1 else 'have'} the best score, {score}."
    ends = f"{names} {'wins' if len(best) == 1 else 'share the win'}{f' by {by}' if by else ''} with {score}"
    return f"{ends} in all, and the session is over." if in_session else f"{ends}."


def _tie_broken_by(game: Core, winner: int, sums: list[int]) -> str:
    """Return what broke a tie for the best score, or an empty text if there was none (K6, F7)."""
    tied = [side for side, total in enumerate(sums) if total == sums[winner] and side != winner]
    seats = range(game.rules.players)
    numbers = {"spades": _sums(game, [game.pile_counts(seat)[1] for seat in seats])}
    if game.rules.tie_break == "finnish":
        points, cards = ([count(seat) for seat in seats] for count in (game.points, lambda s: game.pile_counts(s)[0]))
        numbers = {"card points": _sums(game, points), **numbers, "cards": _sums(game, cards)}
    for name, of_sides in numbers.items():
        rivals = [side for side in tied if of_sides[side] == of_sides[winner]]
        if tied and not rivals:
            return name
        tied = rivals
    return ""


def format_end(game: Core) -> list[str]:
    """Return the last lines of a game that is over: who got what was left, and the score of each seat."""
    rules, seats = game.rules, range(game.rules.players)
    needed, extra = not is_plain(rules), _extra_counts(game)
    columns = {"seat": list(seats), "cards": [len(game.captured(seat)) for seat in seats]}
    columns |= {"spades": extra["spades"]} if "spades" in extra else {}
    columns |= {"points": [game.points(seat) for seat in seats], "sweeps": [game.sweeps(seat) for seat in seats]}
    columns |= {"counted": extra["counted"]} if "counted" in extra else {}
    if rules.sweep_payer == "seat_before":
        columns["set up"] = [game.sweeps((seat + 1) % rules.players) for seat in seats]
    columns |= {name: extra[name] for name in ("mulles", "for mulles") if name in extra}
    columns |= {"bonus": game.state["bonus"][: rules.players].tolist()} if needed else {}
    columns |= {"score": game.scores()} | ({"total": game.totals} if rules.games != 1 else {})
    lines = [*_last_words(game), "", "  ".join(columns)]
    for row in zip(*columns.values(), strict=True):
        lines.append("  ".join(f"{number:{len(name)}}" for name, number in zip(columns, row, strict=True)))
    result = _result(game)
    return [*lines, "", result[0].upper() + result[1:]]


def _last_words(game: Core) -> list[str]:
    """Return in words what the end of a game brings, before its table."""
    rules = game.rules
    if game.ended_at_once:
        return [f"{_end(game)}what is left in the hands, on the table and in the stock counts for nobody."]
    if game.last_capturer is None:
        return ["Nobody captured, so the cards left belong to nobody."]
    seats = range(rules.players)
    if is_plain(rules):
        return [f"Seat {game.last_capturer} made the last capture and has what was left on the table and aside."]
    points = rules.last_capture_points
    sistan = f" (sistan), {points} point{'s' * (points > 1)}," if points else ""
    aside = " and aside" if rules.set_aside != "none" else ""
    lines = [f"Seat {game.last_capturer} made the last capture{sistan} and has what was left on the table{aside}."]
    cards, spades = (_sums(game, [game.pile_counts(seat)[which] for seat in seats]) for which in (0, 1))
    lines += [f"Most spades: {_most(game, spades)}."] if rules.most_spades_points else []
    lines += [f"Most cards: {_most(game, cards)}."] if rules.most_cards_points else []
    fewest = min(_sums(game, [game.counted_sweeps(seat) for seat in seats]))
    if rules.sweeps_cancel and fewest:
        lines.append(f"Sweeps that cancel: {fewest} of each side.")
    return lines


def _most(game: Core, numbers: list[int]) -> str:
    """Return which side has the most of something, or which tie for it."""
    most = max(numbers)
    sides = [_side(game, side) for side, number in enumerate(numbers) if number == most]
    return f"{sides[0]} with {most}" if len(sides) == 1 else f"a tie of {' and '.join(sides)} with {most}"
