"""Playthroughs: one random game for each kind of rules, written so that a person can read it."""

from __future__ import annotations

import random
import re

import numpy as np

from krypenv import Game, Move, Rules
from krypenv.cards import STOP, action_name, card_names
from krypenv.features import columns_of, shape_of
from krypenv.game.display import format_cards, seat_counts
from krypenv.observation import is_plain
from krypenv.ui.narrator.score_sheet import outcome, sums_by_side

GAMES = {
    "krypkasino_2": "krypkasino players=2",
    "krypkasino_3": "krypkasino players=3",
    "krypkasino_4_teams": "krypkasino players=4 teams=2",
    "krypkasino_5": "krypkasino players=5",
    "krypkasino_6_teams": "krypkasino players=6 teams=3",
    "six_table": "krypkasino players=2 first_deal=six_table last_capture_points=1",
    "set_aside_spades": "krypkasino players=2 set_aside=spades",
    "howto_3": "howto players=3",
    "howto_house_rules": "howto players=2 forced_sweep=False storan_points=0 packs=1 initial_match_bonus=-5",
    "mini_low": "mini-low players=2",
    "mini_double": "mini-double players=2",
    "mini_high": "mini-high players=3",
    "kasino_sweden_2": "kasino-sweden players=2",
    "kasino_sweden_4_teams": "kasino-sweden players=4 teams=2",
    "overspader_3": "overspader players=3",
    "kasino_finland_2": "kasino-finland players=2",
    "kasino_finland_session_end": "kasino-finland players=2 games=0 threshold=16",
    "laistokasino_2": "laistokasino players=2",
    "laistokasino_session_end": "laistokasino players=2 games=0 threshold=16",
    "mulle_2": "mulle players=2",
    "mulle_3": "mulle players=3",
    "mulle_glimne_2": "mulle-glimne players=2",
    "mulle_glimne_4_teams": "mulle-glimne players=4 teams=2",
    "kasino_finland_building": "kasino-finland players=2 building=True",
    "kasino_misere": "kasino-sweden players=2 goal=low",
    "kasino_maximal": "kasino-sweden players=2 capture=maximal",
}
SPIEL_GAMES = {  # as OpenSpiel plays them
    "mini_sweep": "krypenv(preset=mini-sweep,sorted_deals=True)",
    "mini_high_session": "krypenv(preset=mini-high,rules=games:2)",
    "mini_kasino": "krypenv(preset=mini-kasino)",
}
LOOKS = 4  # decisions whose observation is written out
_CARDS = ("hand", "table", "seen", "set_aside", "pending", "taken")


def playthrough(text: str) -> str:
    """Return the playthrough of a random game, with its record and some observations; of a session its last game."""
    game = Game(Rules.parse(text), seed=1)
    chooser = random.Random(2)  # not numpy's: its streams may change between versions
    looks: list[str] = []
    step = 0
    while not game.session_over:
        if game.is_over:
            game, looks, step = game.next_game(), [], 0
        if step % 9 == 4 and len(looks) < LOOKS:
            looks.append(_look(game, step))
        game.act(chooser.choice(game.legal_actions()))
        step += 1
    return "\n".join([format_playthrough(game), *looks, game.record()]) + "\n"


def _look(game: Game, step: int) -> str:
    """Return what the seat to act sees, part by part, leaving out what is zero."""
    seen = game.observation(features=True)
    lines = [f"Seat {game.turn} before action {step + 1} sees"]
    for name, part in game.rules.layout.items():
        entries = seen[part]
        if entries.any():
            told = " ".join(card_names(entries)) if name in _CARDS else " ".join(map(str, entries))
            lines.append(f"  {name:15} {told}")
    block = seen[game.rules.observation_size :].reshape(shape_of(game.rules))
    for action in game.legal_actions():
        row = block[52 if action == STOP else action % 52]
        facts = ", ".join(
            f"{name} {' '.join(map(str, row[part]))}"
            for name, part in columns_of(game.rules).items()
            if np.any(row[part])
        )
        lines.append(f"  {action_name(action):15} {facts}")
    return "\n".join(lines) + "\n"


def spiel_playthrough(text: str) -> str:
    """Return OpenSpiel's own playthrough of a random game, without the tensors, which nobody can read."""
    from open_spiel.python.algorithms.generate_playthrough import playthrough_lines

    import krypenv.envs.openspiel  # noqa: F401 (it registers the game)

    lines = playthrough_lines(text, seed=1)
    tensor = re.compile(r"(InformationState|Observation)Tensor(\(|Shape|Layout)|^[◯◉ ]+$")
    return "\n".join(line for line in lines if not tensor.search(line)) + "\n"


# ---------------------------------------------------------------------- a game as text


def format_playthrough(game: Game) -> str:
    """Return a game deal by deal: hands, moves, announcements, scores, the end."""
    players = range(game.rules.players)
    lines = [f"{game.rules}, seat {game.dealer} deals" + (f", game {game.game_number}" if game.game_number > 1 else "")]
    lines += [f"{name}: {text}" for name, text in game.tags.items()]
    twin = game.rewound()
    deal = 0
    for ply, move in enumerate([*game.moves, None]):
        if twin.deal_number != deal and not twin.is_over:
            deal = twin.deal_number
            lines += ["", f"Deal {deal} of {len(game.rules.deal_sizes())}", f"  table   {format_cards(twin.table)}"]
            lines += [f"  aside   {format_cards(twin.set_aside)}"] if twin.set_aside else []
            lines += [f"  seat {seat}  {format_cards(twin.hand(seat))}" for seat in players]
            lines += [f'       "{twin.announcement}"'] if twin.announcement else []
        if game.comments.get(ply):
            lines += [f"       {{{line}}}" for line in game.comments[ply].splitlines()]
        if move:
            lines.append(f"  {ply + 1:3}. seat {twin.turn} {format_playing(twin, move)}")
            if twin.deal_number == deal and twin.announcement:
                lines[-1] += f'  "{twin.announcement}"'
            if twin.deal_number != deal or twin.is_over:
                lines.append(f"  scores  {_scores(twin)}")
                lines += _running(twin)
    if game.is_over:
        lines += ["", *format_end(game)]
    else:
        lines += ["", "Unfinished.", str(game)]
    return "\n".join(lines) + "\n"


def format_playing(game: Game, move: Move) -> str:
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
    taken = " and ".join([*([format_cards(move.takes)] if move.takes else []), *builds])
    return f"plays {move.card}, takes {taken}{what}"


def _laid(game: Game, move: Move, owned: dict[int, int]) -> str:
    """Return in words what a move that builds has done (B2 to B4); `owned` says who owned the builds before it."""
    raised = next((value for value in move.builds if value != move.build), None)
    verb = "joins the build of" if move.build in owned else "builds"
    said = f"{verb} {move.build}" if raised is None else f"raises {raised} to {move.build}"
    said += f" with {format_cards(move.takes)}" if move.takes else ""
    _, cards, owner, is_multiple = next(build for build in game.builds if build[0] == move.build)
    return f"{said}: {format_cards(cards)}  (seat {owner}{', multiple' if is_multiple else ''})"


def _scores(game: Game) -> str:
    return ", ".join(f"seat {seat} {score}" for seat, score in enumerate(game.scores()))


def format_end(game: Game) -> list[str]:
    """Return the last lines of a game that is over: who got what was left, and the score of each seat."""
    rules, seats = game.rules, range(game.rules.players)
    counts = [seat_counts(game, seat) for seat in seats]
    extra = {name: [count[name] for count in counts] for name in counts[0]}
    columns = {"seat": list(seats), "cards": [len(game.captured(seat)) for seat in seats]}
    columns |= {"spades": extra["spades"]} if "spades" in extra else {}
    columns |= {"points": [game.points(seat) for seat in seats], "sweeps": [game.sweeps(seat) for seat in seats]}
    columns |= {"counted": extra["counted"]} if "counted" in extra else {}
    if rules.sweep_payer == "seat_before":
        columns["set up"] = [game.sweeps((seat + 1) % rules.players) for seat in seats]
    columns |= {name: extra[name] for name in ("mulles", "for mulles") if name in extra}
    columns |= {"bonus": game.state["bonus"][: rules.players].tolist()} if not is_plain(rules) else {}
    columns |= {"score": game.scores()} | ({"total": game.totals} if rules.games != 1 else {})
    lines = [*_last_words(game), "", "  ".join(columns)]
    for row in zip(*columns.values(), strict=True):
        lines.append("  ".join(f"{number:{len(name)}}" for name, number in zip(columns, row, strict=True)))
    result = _outcome(game)
    return [*lines, "", result[0].upper() + result[1:]]


def _running_by_side(game: Game) -> list[int]:
    """The running score of each side: its total in the session, this game's score so far included (F5)."""
    return sums_by_side(game, np.add(game.totals, 0 if game.is_over else game.scores()).tolist())


def _running(game: Game) -> list[str]:
    """The line of the running scores, where they decide something and differ from the scores."""
    rules, running = game.rules, _running_by_side(game)
    matter = rules.sweep_limit is not None or (rules.threshold is not None and not is_plain(rules))
    numbers = ", ".join(f"{_side_name(game, side)} {number}" for side, number in enumerate(running))
    return [f"  running {numbers}"] if matter and running != game.scores() else []


def _side_name(game: Game, side: int) -> str:
    return f"{'seat' if game.rules.teams is None else 'team'} {side}"


def _outcome(game: Game) -> str:
    """The sides with the best score, or the best total when a session ends, in words."""
    best, sums, is_decided, in_session, by = outcome(game, game.rules.games != 1 and not is_plain(game.rules))
    names, score = " and ".join(_side_name(game, side) for side in best), sums[best[0]]
    if not is_decided:
        return f"{names} {'has' if len(best) == 1 else 'have'} the best score, {score}."
    ends = f"{names} {'wins' if len(best) == 1 else 'share the win'}{f' by {by}' if by else ''} with {score}"
    return f"{ends} in all, and the session is over." if in_session else f"{ends}."


def _last_words(game: Game) -> list[str]:
    """Return in words what the end of a game brings, before its table."""
    rules = game.rules
    if game.ended_at_once:
        best = max(running := _running_by_side(game))
        ending = f"The game ends at once, for {_side_name(game, running.index(best))} has {best}"
        return [f"{ending}: what is left in the hands, on the table and in the stock counts for nobody."]
    if game.last_capturer is None:
        return ["Nobody captured, so the cards left belong to nobody."]
    seats = range(rules.players)
    if is_plain(rules):
        return [f"Seat {game.last_capturer} made the last capture and has what was left on the table and aside."]
    points = rules.last_capture_points
    sistan = f" (sistan), {points} point{'s' * (points > 1)}," if points else ""
    aside = " and aside" if rules.set_aside != "none" else ""
    lines = [f"Seat {game.last_capturer} made the last capture{sistan} and has what was left on the table{aside}."]
    cards, spades = (sums_by_side(game, [game.pile_counts(seat)[which] for seat in seats]) for which in (0, 1))
    lines += [f"Most spades: {_most(game, spades)}."] if rules.most_spades_points else []
    lines += [f"Most cards: {_most(game, cards)}."] if rules.most_cards_points else []
    fewest = min(sums_by_side(game, [game.counted_sweeps(seat) for seat in seats]))
    if rules.sweeps_cancel and fewest:
        lines.append(f"Sweeps that cancel: {fewest} of each side.")
    return lines


def _most(game: Game, numbers: list[int]) -> str:
    """Return which side has the most of something, or which tie for it."""
    most = max(numbers)
    sides = [_side_name(game, side) for side, number in enumerate(numbers) if number == most]
    return f"{sides[0]} with {most}" if len(sides) == 1 else f"a tie of {' and '.join(sides)} with {most}"
