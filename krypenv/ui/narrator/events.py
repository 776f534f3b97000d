"""Events of a game as one seat sees them: a play and the points it brings, a new deal, and what is announced."""

from __future__ import annotations

from collections import Counter

from krypenv.cards import parse_card
from krypenv.game.display import announced, last_play
from krypenv.game.game import Game
from krypenv.game.moves import Move
from krypenv.ui.narrator.words import Words, starting


def tell_play(words: Words, before: Game, game: Game) -> str:
    """Tell the last play of a game: what it did, who gets the rest at the end, and whose points it changed.

    `before` is the game before that play, of which only the row is read.
    """
    rest = _rest(words, before, game) if game.is_over else []
    return " ".join([*_of_play(words, before, game, "play"), *rest, *_gains(words, before, game)])


def tell_trial(words: Words, before: Game, game: Game) -> str:
    """Tell what a play would do, which was tried in a copy of the game; nothing of a deal that would follow."""
    sentences = [*_of_play(words, before, game, "if"), *_gains(words, before, game)]
    if not game.is_over and game.deal_number == before.deal_number:
        sentences += filter(None, [tell_sweepers(words, game)])
    return " ".join(sentences)


def _of_play(words: Words, before: Game, game: Game, tense: str) -> list[str]:
    play = last_play(game)
    assert play
    assert not game.pending
    tell = _build if play[1].build else _capture
    return tell(words, before, game, *play, tense)


def _gains(words: Words, before: Game, game: Game) -> list[str]:
    """Tell in a sentence how the scores of the seats changed, if they did."""
    old, new = before.scores(), game.scores()
    return [starting(f"{gains_clause(words, old, new)}.")] if old != new else []


def gains_clause(words: Words, before: list[int], after: list[int]) -> str:
    """Tell within a sentence how the scores of the seats changed: whom a play costs points, and whom it brings some."""
    goal = words.rules.goal
    changes = [(seat, new - old) for seat, (old, new) in enumerate(zip(before, after, strict=True)) if new != old]
    changes.sort(key=lambda change: change[0] != words.seat)
    parts = [
        words.say(
            f"gain.{'more' if points > 0 else 'less'}.{goal}", who=words.whom(seat), points=words.points(abs(points))
        )
        for seat, points in changes
    ]
    return words.say("gain", list=words.listed(parts) or words.say(f"gain.none.{goal}"))


def _capture(words: Words, before: Game, game: Game, seat: int, move: Move, tense: str) -> list[str]:
    """Tell what a play that builds nothing captures, or that its card creeps."""
    who = starting(words.who(seat))
    if not move.takes and not move.builds:
        return [words.say(f"{tense}.stay", who=who, card=words.card(move.card))]
    ending = made_by(words, before, game, seat, move)
    what = what_is_taken(words, before, seat, move)
    sentences = [words.say(f"{tense}.take", who=who, card=words.card(move.card), what=what, made=ending)]
    is_void = move.sweep and game.counted_sweeps(seat) == before.counted_sweeps(seat)
    return sentences + [words.say("play.void")] * bool(is_void)


def made_by(words: Words, before: Game, game: Game, seat: int, move: Move) -> str:
    """Tell at the end of a clause that a play makes mulles or a sweep; empty if neither."""
    made = [words.say("made.mulle")] * (game.mulles(seat) - before.mulles(seat))
    made += [words.say(f"made.{('sweep', 'double')[move.sweep - 1]}")] * bool(move.sweep)
    return words.say("play.made", made=words.listed(made)) if made else ""


def what_is_taken(words: Words, before: Game, seat: int, move: Move) -> str:
    """List the loose cards and the builds that a play captures."""
    captured = [words.taken(move.card, move.takes)] if move.takes else []
    for value, cards, *_ in before.builds:
        if value in move.builds:
            captured.append(
                words.say("build.cards", build=build_of(words, before, value, seat), cards=words.cards(cards))
            )
    return words.listed(captured)


def build_of(words: Words, game: Game, value: int, seat: int) -> str:
    """Name a build on the table by its value and its owner, in a sentence about a seat."""
    owner = next(owner for build, _, owner, _ in game.builds if build == value)
    key = "build.yours" if owner == words.seat else "build.own" if owner == seat else "build.of"
    return words.say(key, who=words.who(owner), value=value)


def _build(words: Words, before: Game, game: Game, seat: int, move: Move, tense: str) -> list[str]:
    """Tell which build a play makes, raises or joins, and who owns another seat's build now."""
    assert move.build
    who, cards = starting(words.who(seat)), words.cards([move.card, *move.takes])
    owners = {value: owner for value, _, owner, _ in before.builds}
    raised = next((value for value in move.builds if value != move.build), None)
    if raised is not None:
        key = "raises_join" if move.build in owners else "raises"
        build = build_of(words, before, raised, seat)
    elif move.build in owners:
        key, build = "joins", build_of(words, before, move.build, seat)
    else:
        return [words.say(f"{tense}.builds", who=who, cards=cards, value=move.build)]
    sentence = words.say(f"{tense}.{key}", who=who, cards=cards, build=build, value=move.build)
    is_new = any(owners.get(value, seat) != seat for value in (raised, move.build) if value)
    return [sentence, words.says("play.owner", seat)] if is_new and tense == "play" else [sentence]


def tell_sweep(words: Words, before: Game, game: Game, seat: int, move: Move) -> str:
    """Tell that a play is a sweep, and which points pass from seat to seat; empty if it does not count."""
    rules = words.rules
    points = rules.sweep_points * (game.counted_sweeps(seat) - before.counted_sweeps(seat))
    if not move.sweep or not points:
        return ""

    def whom(seat: int) -> str:
        return words.say("luck.whom.you") if seat == words.seat else starting(words.who(seat))

    key = "event.pays" if rules.sweep_payer == "seat_before" else "event.gains"
    made = starting(words.say("sweep" if move.sweep == 1 else "double_sweep"))
    said = starting(words.say("points.count", points, points=words.number(points)))
    return words.say(key, made=made, points=said, payer=whom((seat - 1) % rules.players), who=whom(seat))


def _rest(words: Words, before: Game, game: Game) -> list[str]:
    """Tell who gets the cards that are left at the end of a game by its last play."""
    play = last_play(game)
    assert play
    _, move = play
    if game.ended_at_once:
        totals = [total + score for total, score in zip(before.totals, game.scores(), strict=True)]
        sums = [sum(totals[seat] for seat in words.members(side)) for side in range(game.rules.num_teams)]
        return [words.say("rest.at_once", who=words.side(sums.index(max(sums))), points=max(sums))]
    if game.last_capturer is None:
        return [words.say("rest.none")]
    left = Counter([*before.table, *before.set_aside])
    left += Counter([move.card]) if not move.takes and not move.builds else Counter()
    cards = sorted((left - Counter(move.takes)).elements(), key=parse_card)
    return [words.says("rest", game.last_capturer, cards=words.cards(cards))] if cards else []


def tell_place(words: Words, game: Game) -> str:
    """Name the deal in play, and in a session the game, within a sentence."""
    games = game.rules.games
    key = "place.deal" if games == 1 and game.game_number == 1 else "place.game_of" if games else "place.game"
    deals = len(game.rules.deal_sizes())
    return words.say(key, game=game.game_number, games=games, number=game.deal_number, deals=deals)


def tell_deal(words: Words, game: Game) -> str:
    """Tell which deal begins, whether it is the last, which cards are set aside, and who leads."""
    counts = {"number": game.deal_number, "deals": len(game.rules.deal_sizes())}
    is_session = game.rules.games != 1
    sentences = [words.say("deal.game" if is_session else "deal.begins", game=game.game_number, **counts)]
    sentences += [words.say("deal.last")] if counts["number"] == counts["deals"] > 1 else []
    if game.set_aside:
        sentences.append(words.say("deal.aside", cards=words.cards(game.set_aside)))
    return " ".join([*sentences, words.says("deal.leads", game.turn)])


def tell_sweepers(words: Words, game: Game) -> str:
    """Tell which ranks could sweep the table, where that must be said; empty if none."""
    _, ranks = announced(game)
    names = words.listed([words.say(f"rank.{rank}") for rank in ranks], "or")
    return starting(words.say("announce.sweep", ranks=names)) if ranks else ""
