"""The rules of a game in words: five lines that follow from its fields, and more of each."""

from __future__ import annotations

from typing import Any

from krypenv.cards import NUM_SUITS, PICTURES, card_name, card_of, rank_of
from krypenv.families.bounds import FIRST_LONER, LILLAN, STORAN
from krypenv.rules import Rules
from krypenv.ui.narrator.examples import examples_of
from krypenv.ui.narrator.facts import counting_cards, hand_values, table_values
from krypenv.ui.narrator.words import Words


def _sections(words: Words) -> dict[str, tuple[str, str, str]]:
    """Tell the five parts of the rules, by name: a heading, what matters most, and the rest, which may be empty."""
    tellers = {"goal": _goal, "points": _points, "turn": _turn, "sweep": _sweep, "end": _end}
    found = {}
    for name, tell in tellers.items():
        line, more = map(" ".join, tell(words, words.rules))
        found[name] = words.say(f"heading.{name}"), line, more
    return found


def five_lines(words: Words) -> list[tuple[str, str]]:
    """Tell a game in five lines, each with its heading."""
    return [(heading, line) for heading, line, _ in _sections(words).values()]


def in_full(words: Words) -> list[tuple[str, list[str]]]:
    """Tell a game in paragraphs under five headings, with examples that were played."""
    examples = examples_of(words)
    return [
        (heading, [*filter(None, (line, more)), *examples.get(name, [])])
        for name, (heading, line, more) in _sections(words).items()
    ]


def title_of(words: Words) -> str:
    """Name the game."""
    key = f"title.{words.rules.name}"
    return words.say(key) if words.has(key) else words.say("title.small", name=words.rules.name)


def table_title_of(words: Words) -> str:
    """Name the game, its players and its teams."""
    rules = words.rules
    return words.say(
        "title.teams" if rules.teams else "title.players",
        title=title_of(words), players=words.number(rules.players), teams=words.number(rules.num_teams),
    )  # fmt: skip


Sentences = tuple[list[str], list[str]]  # of the line, and more of them


def _goal(words: Words, rules: Rules) -> Sentences:
    counts: dict[str, Any] = {"players": words.number(rules.players), "teams": words.number(rules.num_teams)}
    line = [words.say("goal.teams" if rules.teams else "goal.alone", title=title_of(words), **counts)]
    line.append(words.say(f"goal.{rules.goal}"))
    more = []
    if rules.games != 1 or rules.threshold is not None:
        if rules.threshold is None:
            line.append(words.say("end.games", games=rules.games))
        else:
            key = "end.games_threshold" if rules.games else "end.threshold"
            line.append(words.say(key, games=rules.games, threshold=rules.threshold))
        more += [words.say("full.at_once", threshold=rules.threshold)] if rules.threshold_at_once else []
        more.append(words.say("full.dealer"))
    if rules.teams:
        sides = [
            words.say("full.side", seats=words.listed([str(seat) for seat in words.members(side)]))
            for side in range(rules.teams)
        ]
        more.append(words.say("full.partners", sides=words.listed(sides)))
    is_more = rules.goal == "high"
    if rules.tie_break in ("spades", "finnish"):
        more.append(words.say(f"tie.{rules.tie_break}", 1 if is_more else 2))
    else:
        more.append(words.say(f"tie.{rules.tie_break}"))
    return line, more


def _points(words: Words, rules: Rules) -> Sentences:
    found = [f"{class_name(words, each.name)} {each.points}" for each in counting_cards(rules)]
    line = [words.say("points.cards", cards=", ".join(found)) if found else words.say("points.none")]
    others = [
        words.say(f"points.{name}", points=points)
        for name in ("most_spades", "most_cards", "last_capture")
        if (points := getattr(rules, f"{name}_points"))
    ]
    others += [] if rules.spades_above is None else [words.say("points.spades_above", limit=rules.spades_above)]
    others += [words.say("points.mulle", points=rules.mulle_points)] if rules.mulle_points else []
    others += [words.say("points.mulle_by_value")] if rules.mulle_by_value else []
    line += [words.say("points.more", list=words.listed(others))] if others else []
    total = rules.total_points - rules.last_capture_points
    more = [words.say("full.total", total, points=total)] if found else []
    if rules.most_spades_points or rules.most_cards_points:
        shares = rules.spades_tie == "two_share" and rules.most_spades_points and rules.num_teams > 2
        more.append(words.say("full.tie_share" if shares else "full.tie_majority"))
    return line, more


def class_name(words: Words, name: str, kind: str = "class") -> str:
    """Name a class of cards: a card, or several by a text of a kind."""
    key = f"{kind}.{name}"
    return words.say(key) if words.has(key) else words.card(name)


def _turn(words: Words, rules: Rules) -> Sentences:
    line = [words.say("turn.play"), words.say(f"turn.{rules.capture}")]
    line += [words.say("turn.build")] if rules.building else []
    line.append(words.say("turn.values", values=", ".join(_values(words, rules))))
    pictures = [words.rank(rank) for rank in PICTURES if rank in rules.ranks]
    if pictures and not rules.pictures_in_sums:
        line.append(words.say("turn.pictures", ranks=words.listed(pictures)))
    more = [words.say("full.one_group")]
    more += [words.say("full.maximal")] if rules.capture == "maximal" else []
    more += [words.say("full.build.own"), words.say("full.build.raise")] if rules.building else []
    return line, more


def _values(words: Words, rules: Rules) -> list[str]:
    """List the values of the cards whose value is not their number."""
    values, are_plain = [], False
    special = {kind for kind in (LILLAN, STORAN) if rules.deck_counts[kind]}
    for rank in rules.ranks:
        kinds = [card_of(rank, suit) for suit in range(NUM_SUITS)]
        plain = next((kind for kind in kinds if rules.deck_counts[kind] and kind not in special), None)
        hand = hand_values(rules, kinds[0] if plain is None else plain)
        table = table_values(rules, rank)
        if max(hand + table) >= FIRST_LONER:  # its own rank only
            continue
        if rank not in PICTURES and hand == table == (rank,):
            are_plain = True
        elif hand == table:
            values.append(words.say("value.same", card=words.rank(rank), value=words.either(hand)))
        else:
            values.append(
                words.say("value.hand", card=words.rank(rank), hand=words.either(hand), table=words.either(table))
            )
    for kind in sorted(special):
        if len({hand_values(rules, card_of(rank_of(kind), suit)) for suit in range(NUM_SUITS)}) > 1:
            value = words.either(hand_values(rules, kind))
            values.append(words.say("value.only_hand", card=words.card(card_name(kind)), hand=value))
    return values + [words.say("turn.number")] * are_plain


def _sweep(words: Words, rules: Rules) -> Sentences:
    points, is_paid = rules.sweep_points, rules.sweep_payer == "seat_before"
    key = "sweep.paid" if is_paid else "sweep.unpaid"
    line = [words.say(key, points=words.points(points)) if points else words.say("sweep.nothing")]
    if rules.forced_sweep:
        line.append(words.say("sweep.forced"))
    else:
        line.append(words.say("sweep.maximal" if rules.capture == "maximal" else "sweep.free"))
    if points and (rules.double_sweep == "rank" or (rules.double_sweep == "identical" and rules.packs > 1)):
        line.append(words.say(f"sweep.{rules.double_sweep}"))
    line += [words.say("sweep.cancel")] if points and rules.sweeps_cancel else []
    more = [words.say("sweep.not_last")] if points and not rules.last_deal_sweeps else []
    more += [words.say("sweep.limit", limit=rules.sweep_limit)] if points and rules.sweep_limit else []
    more += [words.say("full.sweep.deal")] if points and is_paid else []
    more += [words.say("full.sweep.say")] if rules.forced_sweep or is_paid else []
    return line, more


def _end(words: Words, rules: Rules) -> Sentences:
    (first, table), *later = rules.deal_sizes()
    counts = {"cards": rules.deck_size, "deals": len(later) + 1, "first": first[0], "table": table}
    if not later:
        line = [words.say("end.one_deal", **counts)]
    else:
        hands, laid = later[0]
        line = [words.say("end.deals.table" if laid else "end.deals", later=hands[0], more=laid, **counts)]
    aside = rules.set_aside != "none" and bool((rules.aside_kinds & (rules.deck_counts > 0)).any()) and bool(later)
    line += [words.say(f"end.aside.{rules.set_aside}")] if aside else []
    line.append(words.say("end.rest.aside" if aside else "end.rest"))
    more = [words.say("full.leader")]
    more += [words.say("full.short")] if len(later) + 1 > len(rules.deal_batches()) else []
    if rules.initial_match_bonus:
        more.append(words.say("full.match", points=words.points(rules.initial_match_bonus)))
    more.append(words.say("full.nobody"))
    return line, more
