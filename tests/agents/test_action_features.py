"""What networks are told of each legal action: what `Game` shows once a move that begins with it is made."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from support.games import RULES
from support.positions import walk
from support.relatives import BUILDING, GLIMNE, MIXTURES, OPTIONAL, RELATIVES, building_positions

from krypenv import Engine, Game, Move, Rules
from krypenv.agents.neural.action_features import features_of, gather_action_features
from krypenv.cards import STOP, card_name, parse_card
from krypenv.features import shape_of
from krypenv.worlds.determinize import determinize

GAMES = {**RULES, **RELATIVES, **GLIMNE}
SWEDEN_OF_MAXIMAL_CAPTURES = Rules.parse("kasino-sweden players=2 capture=maximal")
VALUES = np.arange(17)


def told_of(game: Game) -> dict[int, dict[str, list[int]]]:
    """The features of each legal action by name."""
    found = gather_action_features(game.rules, game.observation()[None], game.action_mask()[None])
    columns = features_of(game.rules).columns.items()
    rows = [{name: row[part].tolist() for name, part in columns} for row in found.features]
    return dict(zip(found.actions.tolist(), rows, strict=True))


def ends_of(game: Game, action: int) -> Iterator[tuple[Move, Game]]:
    """Every move that begins or goes on with an action, and the game after it."""
    twin = game.copy()
    twin.act(action)
    if len(twin.moves) > len(game.moves):
        yield twin.last_move, twin
        return
    for move in twin.legal_moves():
        after = twin.copy()
        after.push(move)
        yield after.last_move, after


def shown_of(game: Game, move: Move, after: Game) -> dict[str, Any]:
    """What a move wins, lays and leaves; at the end of a game, the last capturer wins what is left too."""
    seat, sides, table = game.turn, game.rules.num_teams, [] if after.is_over else after.table
    own = {value for value, _, owner, _ in after.builds if (owner - seat) % sides == 0}
    lead = [sum(each.scores()[seat::sides]) * 2 - sum(each.scores()) for each in (game, after)]
    shown = {
        "trails": int(not move.takes and not move.builds and move.build is None),
        "loose": len(move.takes),
        "lays": int(move.build is not None),
        "made": np.isin(VALUES, [move.build or -1]).astype(int).tolist(),
        "left": [sum(card[0] == rank for card in table) for rank in "A23456789TJQK"],
        "left_cards": len(table),
        "left_spades": sum(card[1] == "S" for card in table),
        "own_builds": np.isin(VALUES, [*own]).astype(int).tolist(),
        "other_builds": np.isin(VALUES, [*{value for value, *_ in after.builds} - own]).astype(int).tolist(),
    }
    if not after.is_over:
        shown |= {name: getattr(after, name)(seat) - getattr(game, name)(seat) for name in ("points", "sweeps")}
    if not after.is_over and not game.rules.building:
        cards, spades = np.subtract(after.pile_counts(seat), game.pile_counts(seat)).tolist()
        shown |= {"cards": cards, "spades": spades}
    if (
        game.rules.building and sides == 2 and not game.rules.most_cards_points
    ):  # and no share of majorities is in the gain
        shown["gain"] = min(10 * (lead[1] - lead[0]), 127)
    return shown


def is_told(row: dict[str, list[int]], shown: dict[str, Any]) -> bool:
    """Whether features are what is shown, as far as they have it."""
    return all(row.get(name, np.ravel(value).tolist()) == np.ravel(value).tolist() for name, value in shown.items())


@pytest.mark.few(8)
@pytest.mark.parametrize("rules", [*RULES.values(), *OPTIONAL.values(), *BUILDING.values(), *GLIMNE.values()], ids=str)
def test_b2_features_are_those_of_a_move_that_the_action_may_lead_to(rules: Rules) -> None:
    """Where captures are optional, moves alike begin with another action, which is the one that is listed."""
    total, listed, is_main = 0, 0, features_of(rules).version == 1
    games = building_positions(rules, 1) if rules.building else walk(rules, 1)
    for number, game in enumerate(games):
        if number % 4 or (rules.building and (game.pending or game.stock_size == 0)):
            continue
        rows, seen = told_of(game), game.observation()[rules.layout["seen"]]
        for action, row in rows.items():
            kind = parse_card(game.pending) if action == STOP else action % 52
            assert (row["held"], row["seen"]) == ([game.hand(game.turn).count(card_name(kind))], [seen[kind]])
            total += 1
            if is_main or row["listed"] == [1]:
                listed += 1
                shown = [shown_of(game, *end) for end in ends_of(game, action)]
                assert any(is_told(row, each) for each in shown), (game.position(), action, row, shown)
        if not is_main:
            judged = [row for row in rows.values() if row["listed"] == [1]]
            worths = np.array(
                [[row[name][0] for name in ("gain", "reply", "keep", "worth", "behind")] for row in judged]
            )
            gain, reply, keep, worth, behind = worths[abs(worths).max(axis=1) < 127].T  # larger ones are cut off
            assert (abs(gain - reply + keep - worth) <= 2).all()
            assert (abs(worths[:, 3].max() - worth - behind) <= 1).all()
    assert listed > 0.8 * total > 3


@pytest.mark.few(8)
@pytest.mark.parametrize("rules", [*GAMES.values(), *MIXTURES.values(), SWEDEN_OF_MAXIMAL_CAPTURES], ids=str)
def test_features_are_of_legal_actions_and_depend_on_no_hidden_cards_and_no_other_rows(rules: Rules) -> None:
    """In games like Krypkasino the first of them are those of the features block."""
    engine, (rows_of_block, width) = Engine(rules, 12, seed=5, features=True), shape_of(rules)
    stops, is_main = 0, features_of(rules).version == 1
    for step in range(60):
        if step % 7 == 0:
            found = gather_action_features(rules, engine.observation, engine.action_mask)
            rows, actions = np.nonzero(engine.action_mask)
            assert found.counts.tolist() == np.bincount(rows, minlength=engine.num_games).tolist()
            assert found.actions.tolist() == actions.tolist()
            assert found.features.shape == (len(actions), features_of(rules).width)
            block = engine.observation[:, rules.observation_size :].reshape(-1, rows_of_block, width)
            kinds = np.where(actions == STOP, 52, actions % 52)
            assert not is_main or (found.features[:, :width] == block[rows, kinds]).all()
            stops += (actions == STOP).sum()
            world = Engine.from_state(rules, determinize(engine.observation, step, rules))
            other = gather_action_features(rules, world.observation, world.action_mask)
            assert all((mine == its).all() for mine, its in zip(found, other, strict=True))
            for row, end in reversed([*enumerate(np.cumsum(found.counts))]):  # with the scratch as later rows leave it
                one = slice(row, row + 1)
                alone = gather_action_features(rules, engine.observation[one], engine.action_mask[one])
                assert (alone.features == found.features[end - found.counts[row] : end]).all()
        engine.step(engine.sample_actions())
    assert stops > 0 or rules.capture == "maximal"
